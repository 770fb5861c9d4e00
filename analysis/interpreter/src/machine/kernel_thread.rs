//! A thread for large calls of kernels.
//!
//! When `sort(%x)` on a hundred million numbers is cancelled, releasing the gigabytes of its buffers
//! takes longer (a tenth of a millisecond per megabyte) than the user should wait. So large calls run on a separate thread: the machine waits for the result and polls
//! for cancellation. When cancelled it returns at once, while the call ends at its own next check
//! and releases its memory in the background. Large values that are no longer used are dropped on
//! the same thread, which works in order, so that their memory is free before the next call begins.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::Duration,
};

use types::Type;

use crate::{
    fault::{Fault, FaultKind},
    limits::{Discards, Watch},
    value::Value,
};

/// The number of elements above which a call is large: releasing them takes one to two milliseconds.
/// The weights of a layer are less: handing calls to the thread takes a hundred microseconds each.
pub(super) const LARGE: usize = 1 << 22;
/// The interval at which the machine polls for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// The stack size for kernels.
const STACK: usize = 16 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// The thread for large calls, which starts with the first of them.
#[derive(Default)]
pub(super) struct LazyKernelThread {
    thread: Option<KernelThread>,
    discards: Arc<Discards>,
}

impl LazyKernelThread {
    /// Starts the thread if need be; `None` if the system allows no more of them.
    pub(super) fn get(&mut self) -> Option<&KernelThread> {
        if self.thread.is_none() {
            self.thread = KernelThread::new(self.discards.clone());
        }
        self.thread.as_ref()
    }

    /// Returns the values that the thread is about to drop.
    pub(super) fn discards(&self) -> &Arc<Discards> {
        &self.discards
    }

    /// Waits until the queue of the thread is empty, if it has started.
    pub(super) fn wait(&self) {
        if let Some(thread) = &self.thread {
            thread.wait();
        }
    }
}

/// The thread. It ends when this is dropped and its queue is empty.
pub(super) struct KernelThread {
    jobs: Sender<Job>,
    discards: Arc<Discards>,
}

impl KernelThread {
    /// Starts the thread; `None` if the system allows no more of them.
    pub(super) fn new(discards: Arc<Discards>) -> Option<KernelThread> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let work = move || queue.into_iter().for_each(|job| job());
        let thread = thread::Builder::new().name("kernels".into()).stack_size(STACK);
        thread.spawn(work).ok()?;
        Some(KernelThread { jobs, discards })
    }

    /// Runs work on the thread and polls for cancellation meanwhile.
    ///
    /// # Errors
    /// The run was cancelled. The work ends by itself, and its result is dropped on the thread.
    pub(super) fn call<R: Send + 'static>(
        &self,
        watch: &Watch,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, Fault> {
        // A rendezvous channel, so that a result that nobody receives is dropped on the thread.
        let (sender, receiver) = mpsc::sync_channel::<Result<R, Box<dyn Any + Send>>>(0);
        let job = move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            let _ = sender.send(done);
        };
        let gone = || Fault::new(FaultKind::Missing, "the thread that runs kernels is gone");
        self.jobs.send(Box::new(job)).map_err(|_| gone())?;
        loop {
            match receiver.recv_timeout(POLL_INTERVAL) {
                Ok(Ok(done)) => return Ok(done),
                Ok(Err(payload)) => resume_unwind(payload),
                Err(RecvTimeoutError::Timeout) => watch.poll()?,
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            }
        }
    }

    /// Drops values after the jobs that are already queued.
    pub(super) fn discard(&self, values: impl Send + 'static) {
        let discards = self.discards.clone();
        discards.begin();
        let job: Job = Box::new(move || {
            drop(values);
            discards.end();
        });
        // If the thread is gone, they are dropped here.
        if let Err(unsent) = self.jobs.send(job) {
            (unsent.0)();
        }
    }

    /// Waits until the queue is empty.
    pub(super) fn wait(&self) {
        let (sender, receiver) = mpsc::sync_channel(0);
        if self.jobs.send(Box::new(move || drop(sender))).is_ok() {
            let _: Result<(), _> = receiver.recv();
        }
    }
}

/// Returns true if the arguments or the result of a call are large. Small calls with results of an
/// unknown size are not: the thread is for large buffers, not for long computations.
pub(super) fn is_large(args: &[Value], result: &Type) -> bool {
    let mut left = LARGE;
    !args.iter().all(|arg| within(arg, &mut left, 4)) || !type_within(result, &mut left, 4)
}

/// Returns true if a value is large enough to be dropped on the thread.
pub(super) fn is_large_value(value: &Value) -> bool {
    let mut left = LARGE;
    !within(value, &mut left, 1)
}

/// Subtracts the number of elements of a value from `left`; returns false if there are more. Of
/// data, only tensors near the root are counted.
fn within(value: &Value, left: &mut usize, depth: u32) -> bool {
    let mut take = |count: usize| match left.checked_sub(count) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    };
    match value {
        Value::Tensor(tensor) => take(tensor.len()),
        Value::Tuple(_) if depth > 0 => {
            let fields = value.as_tuple().unwrap_or_default();
            take(fields.len()) && fields.iter().all(|field| within(field, left, depth - 1))
        }
        Value::Data(data) if depth > 0 => {
            data.fields().iter().all(|field| within(field, left, depth - 1))
        }
        _ => true,
    }
}

/// Like [`within`], for a type. Unknown sizes are not counted.
fn type_within(ty: &Type, left: &mut usize, depth: u32) -> bool {
    match ty {
        Type::Tensor(tensor) => {
            let lengths: Option<Vec<usize>> = tensor.lengths();
            let count =
                lengths.map(|lengths| lengths.iter().try_fold(1, |n: usize, &k| n.checked_mul(k)));
            match count {
                Some(count) => {
                    count.and_then(|count| left.checked_sub(count)).is_some_and(|rest| {
                        *left = rest;
                        true
                    })
                }
                None => true,
            }
        }
        Type::Tuple(fields) if depth > 0 => {
            fields.iter().all(|field| type_within(field, left, depth - 1))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        time::Instant,
    };

    use types::DataType;

    use super::*;
    use crate::{limits::Limits, tensor::Tensor};

    #[test]
    fn cancelled_calls_return_at_once() {
        let thread = KernelThread::new(Arc::default()).expect("a thread");
        let flag = Arc::new(AtomicBool::new(false));
        let watch = Watch::new(&Limits::default(), flag.clone());
        assert_eq!(thread.call(&watch, || 3).ok(), Some(3));
        // This job never checks for cancellation.
        let (begun, wait) = mpsc::channel::<()>();
        let (go, gone) = mpsc::channel::<()>();
        let stop = flag.clone();
        std::thread::spawn(move || {
            let _ = wait.recv();
            stop.store(true, Ordering::Relaxed);
        });
        let ended = thread.call(&watch, move || {
            let _ = begun.send(());
            let _ = gone.recv_timeout(Duration::from_secs(60));
        });
        assert_eq!(ended.map_err(|fault| fault.kind), Err(FaultKind::Cancelled));
        // The value is dropped after the job before it.
        let begin = Instant::now();
        let value = Arc::new(0);
        thread.discard(value.clone());
        assert_eq!(Arc::strong_count(&value), 2);
        drop(go);
        thread.wait();
        assert_eq!(Arc::strong_count(&value), 1);
        assert!(begin.elapsed() < Duration::from_secs(30));
    }

    #[test]
    #[should_panic(expected = "original message")]
    fn panics_are_propagated() {
        let thread = KernelThread::new(Arc::default()).expect("a thread");
        let watch = Watch::new(&Limits::default(), Arc::default());
        let _ = thread.call(&watch, || panic!("original message"));
    }

    #[test]
    fn large_calls() {
        let tensor =
            |count: usize| Value::from(Tensor::zeros(DataType::INT8, &[count]).expect("zeros"));
        let ty = |count: i64| Type::tensor([types::Dim::known(count)], DataType::INT8);
        assert!(!is_large(&[tensor(9), tensor(9)], &ty(9)));
        assert!(!is_large(&[], &Type::Error));
        assert!(is_large(&[], &ty(1 << 40)));
        assert!(is_large(&[], &Type::tuple([ty(3), ty(i64::MAX)])));
        assert!(is_large(&[tensor(LARGE / 2), tensor(LARGE / 2 + 1)], &Type::Error));
        assert!(is_large(&[Value::tuple([tensor(LARGE)])], &ty(1)));
    }
}
