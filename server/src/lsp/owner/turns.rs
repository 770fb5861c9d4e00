//! The turns of the owner: one event or one job after another.

use std::{
    sync::mpsc::{RecvTimeoutError, TryRecvError},
    time::Duration,
};

use super::Owner;
use crate::{
    allocator,
    lsp::{event::Event, outgoing::Message},
};

impl Owner {
    /// Handles events until the mailbox is closed.
    pub(super) fn run(mut self) {
        loop {
            let event = match self.deferred.pop_front() {
                Some(event) => event,
                None => match self.until_due() {
                    None => match self.next_or_collect() {
                        Some(event) => event,
                        None => return,
                    },
                    Some(wait) => match self.inbox.recv_timeout(wait) {
                        Ok(event) => event,
                        Err(RecvTimeoutError::Timeout) => {
                            self.dispatch(true);
                            continue;
                        }
                        Err(RecvTimeoutError::Disconnected) => return,
                    },
                },
            };
            self.handle_guarded(event);
            // Requests are dispatched in order, diagnostics after all events that have arrived.
            self.dispatch(false);
            if self.deferred.is_empty() {
                match self.inbox.try_recv() {
                    Ok(event) => self.deferred.push_back(event),
                    Err(_) => self.dispatch(true),
                }
            }
        }
    }

    /// Waits for an event, and frees replaced memos if there is none yet and nothing is running.
    fn next_or_collect(&mut self) -> Option<Event> {
        if let Ok(event) = self.inbox.try_recv() {
            return Some(event);
        }
        self.collect();
        self.inbox.recv().ok()
    }

    /// Handles the next event; without one, gives a job to a worker. Returns the time until there is
    /// more to do, zero if there is now, or `None` if that is after another event.
    ///
    /// This is a turn of [`run`](Self::run) where nothing may block: the worker has done its job when it
    /// was given one, and the event that says so is the next.
    pub(in crate::lsp) fn advance(&mut self) -> Option<Duration> {
        let arrived = self.deferred.pop_front().or_else(|| self.inbox.try_recv().ok());
        if let Some(event) = arrived {
            self.handle_guarded(event);
            self.dispatch(false);
            return Some(Duration::ZERO);
        }
        self.dispatch(true);
        if self.workers.busy() > 0 {
            return Some(Duration::ZERO);
        }
        let wait = self.until_due();
        if wait.is_none() {
            self.collect();
        }
        wait
    }

    /// Returns the next event, for which it waits if workers have threads.
    pub(super) fn next_within(&self, time: Duration) -> Option<Event> {
        match self.inbox.try_recv() {
            Ok(event) => Some(event),
            Err(TryRecvError::Empty) if !self.workers.are_inline() => {
                self.inbox.recv_timeout(time).ok()
            }
            Err(_) => None,
        }
    }

    /// Frees replaced memos if nothing is running, and what is left of closed files.
    fn collect(&mut self) {
        if self.has_garbage && self.workers.busy() == 0 && self.queue.is_empty() {
            self.has_garbage = false;
            if self.just_closed.is_empty() {
                self.db.free_replaced();
                return;
            }
            self.db.free_closed(&self.just_closed);
            self.closed_files.append(&mut self.just_closed);
            // A text comes from the thread of the transport, and what follows from it from workers.
            allocator::collect();
            self.workers.collect();
            self.outgoing.send(Message::Collect);
        }
    }
}
