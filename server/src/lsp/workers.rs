//! Threads that answer requests.
//!
//! Only an idle worker is given a snapshot. A queue of jobs with snapshots would be simpler, but the
//! owner could not change the database until the last of them is dropped.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use super::{
    event::{Event, Finished, Mailbox},
    snapshot::Snapshot,
};

/// The stack size, for the deepest nesting that settings allow.
const STACK: usize = 16 << 20;

/// A job for a worker. The result is sent to the owner.
pub(super) type Job = Box<dyn FnOnce(&Snapshot) -> Finished + Send>;

/// The workers.
pub(super) struct Workers {
    threads: Vec<Sender<(Snapshot, Job)>>,
    idle: Vec<usize>,
}

impl Workers {
    /// Starts a worker per core, at least two and at most four.
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

    /// Returns the number of busy workers.
    pub(super) fn busy(&self) -> usize {
        self.threads.len() - self.idle.len()
    }

    /// Returns true if a worker is idle.
    pub(super) fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    /// Gives a job to an idle worker.
    pub(super) fn run(&mut self, snapshot: Snapshot, job: Job) {
        if let Some(worker) = self.idle.pop() {
            // Workers receive until the process ends.
            let _ = self.threads[worker].send((snapshot, job));
        }
    }

    /// Marks a worker as idle.
    pub(super) fn finished(&mut self, worker: usize) {
        self.idle.push(worker);
    }
}

fn work(number: usize, jobs: &Receiver<(Snapshot, Job)>, mailbox: &Mailbox) {
    while let Ok((snapshot, job)) = jobs.recv() {
        let finished = job(&snapshot);
        // A change in the owner waits for the snapshot: it is dropped before the message is sent.
        drop(snapshot);
        mailbox.send(Event::Finished(number, finished));
    }
}
