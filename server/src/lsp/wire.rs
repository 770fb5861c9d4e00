//! Standard output: one thread writes whole messages to it.
//!
//! What `tower-lsp` sends arrives through [`Pen`]. Diagnostics, which can be a hundred kilobytes at
//! each keystroke, do not take its way: it would make a tree of values of them first and then text,
//! on the thread that reads what the client types.

use std::{
    io::{self, Write},
    pin::Pin,
    sync::mpsc::{Receiver, Sender, channel},
    task::{Context, Poll},
    thread,
    time::Duration,
};

use serde::Serialize;
use tokio::io::AsyncWrite;

use super::{
    farewell::{Ends, Farewell},
    parcels::Parcels,
};

/// The way to standard output. Each piece is whole messages; nothing is the end.
#[derive(Clone)]
pub(super) struct Wire(Sender<Option<Vec<u8>>>);

/// The thread that writes, seen from outside: nothing arrives, and the other side goes with it.
pub(super) struct Writing(Receiver<()>);

/// Starts the thread that writes.
pub(super) fn start(ends: Ends) -> io::Result<(Wire, Writing)> {
    let (sender, messages) = channel::<Option<Vec<u8>>>();
    let (done, end) = channel::<()>();
    thread::Builder::new().name("wire".into()).spawn(move || {
        let mut out = io::stdout().lock();
        let written = messages.iter().map_while(|message| message).try_for_each(|message| {
            out.write_all(&message)?;
            out.flush()
        });
        if written.is_err() {
            // A client that reads no more has no use for the rest, nor for the session.
            let _ = ends.send(Farewell::Unread);
        }
        drop(done);
    })?;
    Ok((Wire(sender), Writing(end)))
}

impl Writing {
    /// Writes what has been sent, and no more; gives a client that does not read `patience`.
    pub(super) fn finish(self, wire: &Wire, patience: Duration) {
        let _ = wire.0.send(None);
        let _ = self.0.recv_timeout(patience);
    }
}

impl Wire {
    /// Sends a notification.
    pub(super) fn notify(&self, method: &str, params: &impl Serialize) {
        #[derive(Serialize)]
        struct Notification<'n, P> {
            jsonrpc: &'n str,
            method: &'n str,
            params: &'n P,
        }
        // Types of the protocol are serialised without fail.
        let Ok(body) = serde_json::to_vec(&Notification { jsonrpc: "2.0", method, params }) else {
            return;
        };
        let mut message = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        message.extend_from_slice(&body);
        self.put(message);
    }

    fn put(&self, message: Vec<u8>) {
        // The thread has ended: nobody reads.
        let _ = self.0.send(Some(message));
    }
}

/// What `tower-lsp` writes to. It flushes between messages and never within one.
pub(super) struct Pen {
    wire: Wire,
    parcels: Parcels,
    written: Vec<u8>,
}

impl Pen {
    pub(super) fn new(wire: Wire, parcels: Parcels) -> Pen {
        Pen { wire, parcels, written: Vec::new() }
    }
}

impl AsyncWrite for Pen {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().written.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let pen = self.get_mut();
        if !pen.written.is_empty() {
            let written = std::mem::take(&mut pen.written);
            let whole = pen.parcels.unpack(&written);
            pen.wire.put(whole.unwrap_or(written));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}
