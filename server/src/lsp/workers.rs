//! Threads that answer requests.
//!
//! A worker is given a snapshot only when it is idle. A snapshot that waits in a queue would keep
//! the owner from ever writing to the database again.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use super::{
    event::{Event, Mailbox},
    snapshot::Snapshot,
};

/// Room for the stack of the deepest nesting that settings allow.
const STACK: usize = 16 << 20;

/// Something to do with a snapshot; what it gives goes back to the owner.
pub(super) type Job = Box<dyn FnOnce(&Snapshot) -> Finished + Send>;

/// What a worker tells the owner at the end of a job.
pub(super) enum Finished {
    /// A request, which may have to be tried again.
    Request(Option<super::request::Request>),
    /// Diagnostics of a document.
    Diagnostics(Box<super::handlers::diagnostics::Checked>),
}

/// The workers, and who of them is idle.
pub(super) struct Workers {
    threads: Vec<Sender<(Snapshot, Job)>>,
    idle: Vec<usize>,
}

impl Workers {
    /// As many workers as the machine has cores, between two and four.
    pub(super) fn start(mailbox: &Mailbox) -> Workers {
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let threads: Vec<_> = (0..cores.clamp(2, 4))
            .filter_map(|number| {
                let (sender, jobs) = channel();
                let mailbox = mailbox.clone();
                thread::Builder::new()
                    .name(format!("worker-{number}"))
                    .stack_size(STACK)
                    .spawn(move || work(number, &jobs, &mailbox))
                    .ok()
                    .map(|_| sender)
            })
            .collect();
        let idle = (0..threads.len()).collect();
        Workers { threads, idle }
    }

    /// How many workers are at work.
    pub(super) fn busy(&self) -> usize {
        self.threads.len() - self.idle.len()
    }

    /// Whether a worker is idle.
    pub(super) fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    /// Gives an idle worker something to do.
    pub(super) fn run(&mut self, snapshot: Snapshot, job: Job) {
        if let Some(worker) = self.idle.pop() {
            // A worker ends with the process only.
            let _ = self.threads[worker].send((snapshot, job));
        }
    }

    /// A worker has finished.
    pub(super) fn finished(&mut self, worker: usize) {
        self.idle.push(worker);
    }
}

fn work(number: usize, jobs: &Receiver<(Snapshot, Job)>, mailbox: &Mailbox) {
    while let Ok((snapshot, job)) = jobs.recv() {
        let finished = job(&snapshot);
        // The owner waits for the snapshot, not for the message.
        drop(snapshot);
        mailbox.send(Event::Finished(number, finished));
    }
}
