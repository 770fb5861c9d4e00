//! Standard output, written by a separate thread.
//!
//! The thread that reads the client's messages thus never blocks on a client that does not read.
//! Diagnostics, which can be a hundred kilobytes per keystroke, are serialised by their sender and
//! written from here: through `tower_lsp::Client` they would become a tree of values first.

use std::{
    io::{self, Write},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

use serde::Serialize;

use super::exit::{ExitReason, ExitSender};

/// A handle for writing whole messages, as bodies without headers. `None` ends the thread.
#[derive(Clone)]
pub(super) struct StdoutWriter(Sender<Option<Vec<u8>>>);

/// The thread that writes. It never sends on the channel: the channel closes when it ends.
pub(super) struct StdoutThread(Receiver<()>);

impl StdoutWriter {
    /// Starts the thread that writes. It reports [`ExitReason::OutputClosed`] if a write fails.
    pub(super) fn start(exits: ExitSender) -> io::Result<(StdoutWriter, StdoutThread)> {
        let (writer, messages) = StdoutWriter::channel();
        let (done, ended) = channel::<()>();
        thread::Builder::new().name("stdout".into()).spawn(move || {
            let mut out = io::stdout().lock();
            let written = messages.iter().map_while(|message| message).try_for_each(|message| {
                out.write_all(&framed(&message))?;
                out.flush()
            });
            if written.is_err() {
                let _ = exits.send(ExitReason::OutputClosed);
            }
            drop(done);
        })?;
        Ok((writer, StdoutThread(ended)))
    }

    /// Returns a writer and what is written to it.
    pub(super) fn channel() -> (StdoutWriter, Receiver<Option<Vec<u8>>>) {
        let (sender, messages) = channel();
        (StdoutWriter(sender), messages)
    }

    /// Writes a notification.
    pub(super) fn notify(&self, method: &str, params: &impl Serialize) {
        #[derive(Serialize)]
        struct Notification<'n, P> {
            jsonrpc: &'n str,
            method: &'n str,
            params: &'n P,
        }
        self.write(&Notification { jsonrpc: "2.0", method, params });
    }

    /// Writes a message.
    pub(super) fn write(&self, message: &impl Serialize) {
        // The types of the protocol serialise without errors.
        if let Ok(body) = serde_json::to_vec(message) {
            self.write_body(body);
        }
    }

    /// Writes a message that is serialised already.
    pub(super) fn write_body(&self, body: Vec<u8>) {
        // Fails after the thread has ended: the session is ending.
        let _ = self.0.send(Some(body));
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
        let _ = writer.0.send(None);
        let _: Result<(), RecvTimeoutError> = self.0.recv_timeout(timeout);
    }
}
