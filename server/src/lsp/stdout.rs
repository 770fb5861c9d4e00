//! Standard output, written by a separate thread.
//!
//! The thread that reads the client's messages thus never blocks on a client that does not read.
//! Diagnostics, which can be a hundred kilobytes per keystroke, are serialised by their sender and
//! written from here: through `tower_lsp::Client` they would become a tree of values first.
//!
//! Messages wait in a queue, in order. Each response and request has to reach the client. Of the
//! diagnostics of a document only the newest wait, in their place in the order: a client that edits for
//! half a minute and does not read would otherwise make the server keep a gigabyte of them.

use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Write},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use parking_lot::{Condvar, Mutex};
use serde::Serialize;
use tower_lsp::lsp_types::Url;

use super::exit::{ExitReason, ExitSender};

/// A handle for writing whole messages, as bodies without headers.
#[derive(Clone)]
pub(super) struct StdoutWriter(Arc<Queue>);

/// The messages that are not written yet, for the one who writes them. When it is dropped, they are too,
/// and so are later ones.
pub(super) struct PendingMessages(Arc<Queue>);

/// The thread that writes. It never sends on the channel: the channel closes when it ends.
pub(super) struct StdoutThread(Receiver<()>);

#[derive(Default)]
struct Queue {
    messages: Mutex<Messages>,
    arrived: Condvar,
}

/// The messages in a queue.
#[derive(Default)]
struct Messages {
    /// The messages by their numbers, which ascend.
    waiting: BTreeMap<u64, Message>,
    /// The numbers of the waiting diagnostics of documents.
    diagnostics: HashMap<Url, u64>,
    /// The number of messages so far.
    count: u64,
    /// True if no message follows the waiting ones.
    is_ended: bool,
}

struct Message {
    body: Vec<u8>,
    /// The document whose diagnostics it publishes.
    document: Option<Url>,
}

impl Queue {
    /// Adds a message, unless the queue has ended.
    fn push(&self, message: Message) {
        let superseded = {
            let mut messages = self.messages.lock();
            if messages.is_ended {
                return;
            }
            messages.push(message)
        };
        // A large one is freed without the lock.
        drop(superseded);
        self.arrived.notify_one();
    }

    /// Ends the queue: later messages are dropped.
    fn end(&self) {
        self.messages.lock().is_ended = true;
        self.arrived.notify_one();
    }
}

impl Messages {
    /// Adds a message, and returns the one that it supersedes.
    fn push(&mut self, message: Message) -> Option<Message> {
        let number = self.count;
        self.count += 1;
        let document = message.document.clone();
        self.waiting.insert(number, message);
        let older = self.diagnostics.insert(document?, number)?;
        self.waiting.remove(&older)
    }

    fn pop(&mut self) -> Option<Vec<u8>> {
        let (_, Message { body, document }) = self.waiting.pop_first()?;
        if let Some(document) = document {
            self.diagnostics.remove(&document);
        }
        Some(body)
    }
}

impl StdoutWriter {
    /// Starts the thread that writes. It reports [`ExitReason::OutputClosed`] if a write fails.
    pub(super) fn start(exits: ExitSender) -> io::Result<(StdoutWriter, StdoutThread)> {
        let (writer, unwritten) = StdoutWriter::channel();
        let (done, ended) = channel::<()>();
        thread::Builder::new().name("stdout".into()).spawn(move || {
            let mut out = io::stdout().lock();
            let written = std::iter::from_fn(|| unwritten.next()).try_for_each(|message| {
                out.write_all(&framed(&message))?;
                out.flush()
            });
            if written.is_err() {
                let _ = exits.send(ExitReason::OutputClosed);
            }
            drop(unwritten);
            drop(done);
        })?;
        Ok((writer, StdoutThread(ended)))
    }

    /// Returns a writer and what is written to it.
    pub(super) fn channel() -> (StdoutWriter, PendingMessages) {
        let queue = Arc::<Queue>::default();
        (StdoutWriter(queue.clone()), PendingMessages(queue))
    }

    /// Writes the diagnostics of a document, in place of those that are not written yet.
    pub(super) fn publish(&self, document: &Url, params: &impl Serialize) {
        #[derive(Serialize)]
        struct Notification<'n, P> {
            jsonrpc: &'n str,
            method: &'n str,
            params: &'n P,
        }
        let method = "textDocument/publishDiagnostics";
        // The types of the protocol serialise without errors.
        if let Ok(body) = serde_json::to_vec(&Notification { jsonrpc: "2.0", method, params }) {
            self.0.push(Message { body, document: Some(document.clone()) });
        }
    }

    /// Writes a message.
    pub(super) fn write(&self, message: &impl Serialize) {
        if let Ok(body) = serde_json::to_vec(message) {
            self.write_body(body);
        }
    }

    /// Writes a message that is serialised already.
    pub(super) fn write_body(&self, body: Vec<u8>) {
        self.0.push(Message { body, document: None });
    }
}

impl PendingMessages {
    /// Waits for the next message; `None` after the last one.
    fn next(&self) -> Option<Vec<u8>> {
        let mut messages = self.0.messages.lock();
        loop {
            if let Some(body) = messages.pop() {
                return Some(body);
            }
            if messages.is_ended {
                return None;
            }
            self.0.arrived.wait(&mut messages);
        }
    }

    /// Returns the next message if there is one.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        self.0.messages.lock().pop()
    }
}

impl Drop for PendingMessages {
    fn drop(&mut self) {
        self.0.end();
        *self.0.messages.lock() = Messages { is_ended: true, ..Messages::default() };
    }
}

/// Returns a message with its header, so that it is written at once.
fn framed(body: &[u8]) -> Vec<u8> {
    let mut message = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    message.extend_from_slice(body);
    message
}

impl StdoutThread {
    /// Writes all messages sent so far and ends the thread. Gives up after `timeout` on a client
    /// that does not read.
    pub(super) fn finish(self, writer: &StdoutWriter, timeout: Duration) {
        writer.0.end();
        let _: Result<(), RecvTimeoutError> = self.0.recv_timeout(timeout);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(name: &str) -> Url {
        Url::parse(&format!("file:///{name}")).expect("a URL")
    }

    fn numbers(unwritten: &PendingMessages) -> Vec<u32> {
        let bodies = std::iter::from_fn(|| unwritten.take());
        let number = |body: Vec<u8>| {
            let message: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
            message["params"].as_u64().or_else(|| message.as_u64()).expect("a number") as u32
        };
        bodies.map(number).collect()
    }

    /// The newest diagnostics of each document wait, and nothing changes places.
    #[test]
    fn newer_diagnostics_supersede_waiting_ones() {
        let (writer, unwritten) = StdoutWriter::channel();
        let (a, b) = (document("a"), document("b"));
        writer.publish(&a, &1);
        assert_eq!(numbers(&unwritten), [1]);
        writer.publish(&a, &2);
        writer.write(&3);
        writer.publish(&b, &4);
        writer.publish(&a, &5);
        writer.write(&6);
        writer.publish(&a, &7);
        assert_eq!(writer.0.messages.lock().waiting.len(), 4);
        assert_eq!(numbers(&unwritten), [3, 4, 6, 7]);
        assert!(writer.0.messages.lock().diagnostics.is_empty());
        writer.publish(&a, &8);
        assert_eq!(numbers(&unwritten), [8]);
    }

    #[test]
    fn nothing_waits_for_a_writer_that_has_ended() {
        let (writer, unwritten) = StdoutWriter::channel();
        writer.write(&1);
        writer.0.end();
        writer.write(&2);
        assert_eq!(unwritten.next().as_deref(), Some(&b"1"[..]));
        assert_eq!(unwritten.next(), None);
        let (writer, unwritten) = StdoutWriter::channel();
        writer.write(&1);
        drop(unwritten);
        writer.publish(&document("a"), &2);
        assert!(writer.0.messages.lock().waiting.is_empty());
    }
}
