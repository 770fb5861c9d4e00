//! The base protocol, over any pair of streams: the same frames as those of the language server.

use std::{
    io::{self, Read, Write},
    pin::Pin,
    sync::{Arc, mpsc::Sender},
    task::{Context, Poll},
    thread,
};

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, BufReader, ReadBuf};

use super::protocol::{ClientMessage, ServerMessage};
use crate::lsp::framing::{Frame, FrameReader};

/// What a thread tells the session.
pub(super) enum Input {
    /// A message of the client.
    Message(Box<ClientMessage>),
    /// Bytes that are no message, with the reason.
    Malformed(String),
    /// The client has gone.
    Closed,
}

/// A stream whose reads block, on a thread of its own.
struct BlockingReader<R>(R);

impl<R: Read + Unpin> AsyncRead for BlockingReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut bytes = [0; 8 << 10];
        let most = buffer.remaining().min(bytes.len());
        Poll::Ready(self.0.read(&mut bytes[..most]).map(|count| buffer.put_slice(&bytes[..count])))
    }
}

/// Reads messages on a thread of its own until the client closes the stream.
///
/// # Errors
/// The thread cannot be started.
pub(super) fn read<T: Send + 'static>(
    input: impl Read + Unpin + Send + 'static,
    to: Sender<T>,
    wrap: fn(Input) -> T,
) -> io::Result<()> {
    let work = move || {
        let mut frames = FrameReader::new(BufReader::new(BlockingReader(input)));
        loop {
            let next = match futures_executor::block_on(frames.next()) {
                Ok(Frame::Body(body)) => match serde_json::from_slice(body) {
                    Ok(message) => Input::Message(Box::new(message)),
                    Err(error) => Input::Malformed(format!("a message is no request: {error}")),
                },
                Ok(Frame::Malformed(reason)) => Input::Malformed(reason),
                Ok(Frame::Oversized | Frame::End) | Err(_) => Input::Closed,
            };
            let is_last = matches!(next, Input::Closed);
            if to.send(wrap(next)).is_err() || is_last {
                return;
            }
        }
    };
    thread::Builder::new().name("input".into()).spawn(work).map(|_| ())
}

/// Writes messages; shared by threads.
#[derive(Clone)]
pub(super) struct Output(Arc<Mutex<MessageWriter>>);

struct MessageWriter {
    to: Box<dyn Write + Send>,
    seq: i64,
}

#[derive(Serialize)]
struct Message<'m> {
    seq: i64,
    #[serde(flatten)]
    message: &'m ServerMessage,
}

impl Output {
    /// Creates the output of a session.
    pub(super) fn new(to: impl Write + Send + 'static) -> Output {
        Output(Arc::new(Mutex::new(MessageWriter { to: Box::new(to), seq: 0 })))
    }

    /// Sends a message.
    ///
    /// # Errors
    /// The client has closed the stream.
    pub(super) fn send(&self, message: &ServerMessage) -> io::Result<()> {
        let mut writer = self.0.lock();
        writer.seq += 1;
        let text: Box<RawValue> =
            serde_json::value::to_raw_value(&Message { seq: writer.seq, message })?;
        let body = text.get();
        write!(writer.to, "Content-Length: {}\r\n\r\n{body}", body.len())?;
        writer.to.flush()
    }
}
