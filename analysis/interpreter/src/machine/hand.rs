//! The thread that computes large calls.
//!
//! A run that is stopped in the middle of `sort(%x)` on a hundred million numbers leaves buffers of
//! gigabytes behind, and to give their pages back takes longer (a tenth of a millisecond for each
//! megabyte) than anybody wants to wait who has asked for an end. So large calls are computed on a
//! thread beside that of the machine: the machine waits for the value, and looks in between whether
//! it is still wanted. If it is not, the machine goes, and the call ends where it looks itself, with
//! nobody waiting for what it clears away. Large values that are not used any more go to the same
//! thread: what it is given is done in order, so that they are gone when the next call begins.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use types::Type;

use crate::{
    fault::{Fault, FaultKind},
    limits::Watch,
    value::Value,
};

/// Tensors together of more elements than this make a call a large one: a millisecond or so for the
/// pages.
pub(super) const LARGE: usize = 1 << 20;
/// Time between two looks of the machine.
const LOOK: Duration = Duration::from_millis(2);
/// Room for what a kernel keeps on the stack.
const STACK: usize = 16 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// The thread; it ends when it has done what it was given, and this is dropped.
pub(super) struct Hand {
    jobs: Sender<Job>,
}

impl Hand {
    /// Starts the thread; `None` where there can be no more of them.
    pub(super) fn new() -> Option<Hand> {
        let (jobs, given) = mpsc::channel::<Job>();
        let work = move || given.into_iter().for_each(|job| job());
        let thread = thread::Builder::new().name("kernels".into()).stack_size(STACK);
        thread.spawn(work).ok()?;
        Some(Hand { jobs })
    }

    /// Does work, and looks now and then whether it is still wanted.
    ///
    /// # Errors
    /// It is not wanted any more: the work ends by itself, and what it gives is dropped there.
    pub(super) fn call<R: Send + 'static>(
        &self,
        watch: &Watch,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, Fault> {
        // Without room in between: what nobody takes stays where it was made.
        let (give, take) = mpsc::sync_channel::<Result<R, Box<dyn Any + Send>>>(0);
        let job = move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            let _ = give.send(done);
        };
        let gone = || Fault::new(FaultKind::Missing, "the thread that computes is gone");
        self.jobs.send(Box::new(job)).map_err(|_| gone())?;
        loop {
            match take.recv_timeout(LOOK) {
                Ok(Ok(done)) => return Ok(done),
                Ok(Err(payload)) => resume_unwind(payload),
                Err(RecvTimeoutError::Timeout) => watch.poll()?,
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            }
        }
    }

    /// Drops something after what was given before.
    pub(super) fn clear(&self, values: impl Send + 'static) {
        // If the thread is gone, they go here.
        let _ = self.jobs.send(Box::new(move || drop(values)));
    }

    /// Waits until everything has been done that was given.
    pub(super) fn wait(&self) {
        let (give, take) = mpsc::sync_channel(0);
        if self.jobs.send(Box::new(move || drop(give))).is_ok() {
            let _: Result<(), _> = take.recv();
        }
    }
}

/// Returns true if a call is a large one, by its arguments and by the type of its result. A small
/// one that gives something of an unknown size is not: the thread is for buffers, not for work.
pub(super) fn is_large(args: &[Value], result: &Type) -> bool {
    let mut room = LARGE;
    !args.iter().all(|arg| within(arg, &mut room, 4)) || !given(result, &mut room, 4)
}

/// Returns true if a value is worth the way to the thread that clears away.
pub(super) fn is_large_value(value: &Value) -> bool {
    let mut room = LARGE;
    !within(value, &mut room, 1)
}

/// Takes the elements of a value from `room`; whether there was enough. Of data only the tensors
/// near its top are looked at.
fn within(value: &Value, room: &mut usize, depth: u32) -> bool {
    let mut take = |count: usize| match room.checked_sub(count) {
        Some(rest) => {
            *room = rest;
            true
        }
        None => false,
    };
    match value {
        Value::Tensor(tensor) => take(tensor.len()),
        Value::Tuple(_) if depth > 0 => {
            let fields = value.as_tuple().unwrap_or_default();
            take(fields.len()) && fields.iter().all(|field| within(field, room, depth - 1))
        }
        Value::Data(data) if depth > 0 => {
            data.fields().iter().all(|field| within(field, room, depth - 1))
        }
        _ => true,
    }
}

/// The same for a type; sizes that are not known count nothing.
fn given(ty: &Type, room: &mut usize, depth: u32) -> bool {
    match ty {
        Type::Tensor(tensor) => {
            let size = |dim: &types::Dim| usize::try_from(dim.as_known()?).ok();
            let sizes: Option<Vec<usize>> = tensor.shape.iter().map(size).collect();
            let count =
                sizes.map(|sizes| sizes.iter().try_fold(1, |n: usize, &k| n.checked_mul(k)));
            match count {
                Some(count) => {
                    count.and_then(|count| room.checked_sub(count)).is_some_and(|rest| {
                        *room = rest;
                        true
                    })
                }
                None => true,
            }
        }
        Type::Tuple(fields) if depth > 0 => {
            fields.iter().all(|field| given(field, room, depth - 1))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        time::Instant,
    };

    use types::DataType;

    use super::*;
    use crate::{limits::Limits, tensor::Tensor};

    #[test]
    fn nobody_waits_for_what_is_not_wanted() {
        let hand = Hand::new().expect("a thread");
        let flag = Arc::new(AtomicBool::new(false));
        let watch = Watch::new(&Limits::default(), flag.clone());
        assert_eq!(hand.call(&watch, || 3).ok(), Some(3));
        // This one does not look for itself.
        let (begun, wait) = mpsc::channel::<()>();
        let (go, gone) = mpsc::channel::<()>();
        let stop = flag.clone();
        thread::spawn(move || {
            let _ = wait.recv();
            stop.store(true, Ordering::Relaxed);
        });
        let ended = hand.call(&watch, move || {
            let _ = begun.send(());
            let _ = gone.recv_timeout(Duration::from_secs(60));
        });
        assert_eq!(ended.map_err(|fault| fault.kind), Err(FaultKind::Cancelled));
        // Dropping the value of one comes after it.
        let begin = Instant::now();
        let value = Arc::new(0);
        hand.clear(value.clone());
        assert_eq!(Arc::strong_count(&value), 2);
        drop(go);
        hand.wait();
        assert_eq!(Arc::strong_count(&value), 1);
        assert!(begin.elapsed() < Duration::from_secs(30));
    }

    #[test]
    #[should_panic(expected = "as it is")]
    fn panics_come_through() {
        let hand = Hand::new().expect("a thread");
        let watch = Watch::new(&Limits::default(), Arc::default());
        let _ = hand.call(&watch, || panic!("as it is"));
    }

    #[test]
    fn what_is_large() {
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
