//! Threads that answer requests.
//!
//! Only an idle worker is given a snapshot. A queue of jobs with snapshots would be simpler, but the
//! owner could not change the database until the last of them is dropped.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use super::{
    event::{Event, JobResult, Mailbox},
    snapshot::Snapshot,
};
use crate::allocator;

/// The stack size, for the deepest nesting that settings allow.
const STACK: usize = 16 << 20;

/// A job for a worker. The result is sent to the owner.
pub(super) type Job = Box<dyn FnOnce(&Snapshot) -> JobResult + Send>;

/// What a worker does.
enum Task {
    Job(Snapshot, Job),
    /// Takes back what the owner has freed.
    Collect,
}

/// The workers.
pub(super) struct Workers {
    kind: Kind,
    idle: Vec<usize>,
}

enum Kind {
    /// A thread for each worker.
    Threads(Vec<Sender<Task>>),
    /// One worker, which does a job when it is given one.
    Inline(Mailbox),
}

impl Workers {
    /// Starts a worker per core, at least two and at most four.
    pub(super) fn start(mailbox: &Mailbox) -> Workers {
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let threads: Vec<_> = (0..cores.clamp(2, 4))
            .filter_map(|number| {
                let (sender, tasks) = channel();
                let mailbox = mailbox.clone();
                thread::Builder::new()
                    .name(format!("worker-{number}"))
                    .stack_size(STACK)
                    .spawn(move || serve(number, &tasks, &mailbox))
                    .ok()
                    .map(|_| sender)
            })
            .collect();
        let idle = (0..threads.len()).collect();
        Workers { kind: Kind::Threads(threads), idle }
    }

    /// Returns a worker without a thread.
    pub(super) fn inline(mailbox: &Mailbox) -> Workers {
        Workers { kind: Kind::Inline(mailbox.clone()), idle: vec![0] }
    }

    /// Returns true if the worker has no thread.
    pub(super) fn are_inline(&self) -> bool {
        matches!(self.kind, Kind::Inline(_))
    }

    /// Returns the number of busy workers.
    pub(super) fn busy(&self) -> usize {
        let all = match &self.kind {
            Kind::Threads(threads) => threads.len(),
            Kind::Inline(_) => 1,
        };
        all - self.idle.len()
    }

    /// Returns true if a worker is idle.
    pub(super) fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    /// Gives a job to an idle worker.
    pub(super) fn run(&mut self, snapshot: Snapshot, job: Job) {
        // The first one, so that the others do as little as possible: results of one definition on the
        // heaps of several threads leave holes in each.
        let first = (0..self.idle.len()).min_by_key(|&at| self.idle[at]);
        let Some(first) = first else { return };
        let worker = self.idle.swap_remove(first);
        match &self.kind {
            // Workers receive until the process ends.
            Kind::Threads(threads) => drop(threads[worker].send(Task::Job(snapshot, job))),
            Kind::Inline(mailbox) => work(worker, snapshot, job, mailbox),
        }
    }

    /// Makes each worker take back the memory that other threads have freed. A job that is given to it
    /// in the meantime waits for a millisecond.
    pub(super) fn collect(&self) {
        if let Kind::Threads(threads) = &self.kind {
            threads.iter().for_each(|thread| drop(thread.send(Task::Collect)));
        }
    }

    /// Marks a worker as idle.
    pub(super) fn finished(&mut self, worker: usize) {
        self.idle.push(worker);
    }
}

fn serve(number: usize, tasks: &Receiver<Task>, mailbox: &Mailbox) {
    while let Ok(task) = tasks.recv() {
        match task {
            Task::Job(snapshot, job) => work(number, snapshot, job, mailbox),
            Task::Collect => allocator::collect(),
        }
    }
}

fn work(number: usize, snapshot: Snapshot, job: Job, mailbox: &Mailbox) {
    let finished = job(&snapshot);
    // A change in the owner waits for the snapshot: it is dropped before the message is sent.
    drop(snapshot);
    mailbox.send(Event::Finished(number, finished));
}
