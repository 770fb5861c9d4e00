//! The base protocol: headers and bodies of messages.
//!
//! `tower-lsp`'s codec ends the session at the first header that it cannot parse. This reader
//! reports such a header and continues with the next message.

use std::num::IntErrorKind;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// The largest body that is accepted, in bytes, far above the size limit of documents. A longer one
/// ends the session: to skip it could take hours.
pub(crate) const MAX_BODY: u64 = 1 << 30;

/// The capacity of the body buffer that is kept between messages, in bytes.
const BUFFER: usize = 64 << 10;

/// The longest header line that is accepted, in bytes.
const MAX_LINE: u64 = 8 << 10;

/// One step of reading the input.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Frame<'f> {
    /// The body of a message.
    Body(&'f [u8]),
    /// A header that cannot be parsed, with the reason.
    Malformed(String),
    /// The header of a body longer than [`MAX_BODY`].
    Oversized,
    /// The end of the input, also within a message.
    End,
}

/// Reads messages from a stream of bytes.
pub(crate) struct FrameReader<I> {
    input: I,
    line: Vec<u8>,
    body: Vec<u8>,
}

impl<I: AsyncBufRead + Unpin> FrameReader<I> {
    pub(crate) fn new(input: I) -> FrameReader<I> {
        FrameReader { input, line: Vec::new(), body: Vec::new() }
    }

    /// Reads the next message.
    ///
    /// # Errors
    /// The input cannot be read.
    pub(crate) async fn next(&mut self) -> std::io::Result<Frame<'_>> {
        let length = match self.header().await? {
            Ok(length) if length > MAX_BODY => return Ok(Frame::Oversized),
            Ok(length) => length,
            Err(frame) => return Ok(frame),
        };
        // Whole documents are rare: their capacity is not kept for the keystrokes that follow.
        self.body.clear();
        self.body.shrink_to(BUFFER);
        // Memory grows with the bytes that arrive, not with the length that the header claims.
        let read = (&mut self.input).take(length).read_to_end(&mut self.body).await? as u64;
        if read < length {
            return Ok(Frame::End);
        }
        Ok(Frame::Body(&self.body))
    }

    /// Reads header lines up to the empty one. Malformed lines are skipped until a valid
    /// `Content-Length` follows. Returns the length of the body in bytes, or why none follows.
    async fn header(&mut self) -> std::io::Result<Result<u64, Frame<'static>>> {
        let mut length = None;
        let mut malformed: Option<String> = None;
        loop {
            self.line.clear();
            let mut input = (&mut self.input).take(MAX_LINE);
            if input.read_until(b'\n', &mut self.line).await? == 0 {
                return Ok(Err(Frame::End));
            }
            let text = String::from_utf8_lossy(&self.line);
            let text = text.trim_end();
            if text.is_empty() {
                match (length, malformed) {
                    (Some(length), None) => return Ok(Ok(length)),
                    (_, Some(reason)) => return Ok(Err(Frame::Malformed(reason))),
                    // Blank lines between messages are ignored.
                    (None, None) => malformed = None,
                }
                continue;
            }
            let Some((name, value)) = text.split_once(':') else {
                malformed = Some(format!("`{}` is not a header line", text.escape_debug()));
                continue;
            };
            // The name may follow the rest of a body that was longer than its header said.
            if name.to_ascii_lowercase().ends_with("content-length") {
                let value = value.trim();
                match value.parse::<u64>() {
                    Ok(value) => (length, malformed) = (Some(value), None),
                    Err(error) if *error.kind() == IntErrorKind::PosOverflow => {
                        (length, malformed) = (Some(u64::MAX), None);
                    }
                    Err(_) => {
                        malformed = Some(format!("`{}` is not a length", value.escape_debug()));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = r#"{"jsonrpc":"2.0","method":"exit"}"#;

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    /// Returns the bodies in `input` (`None` for a malformed header), and the last frame.
    fn frames(input: &[u8]) -> (Vec<Option<String>>, Frame<'static>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let mut reader = FrameReader::new(input);
            let mut bodies = Vec::new();
            loop {
                match reader.next().await.expect("bytes in memory can be read") {
                    Frame::Body(body) => bodies.push(Some(String::from_utf8_lossy(body).into())),
                    Frame::Malformed(_) => bodies.push(None),
                    Frame::Oversized => return (bodies, Frame::Oversized),
                    Frame::End => return (bodies, Frame::End),
                }
            }
        })
    }

    #[test]
    fn oversized_body_ends_the_input() {
        for length in ["1073741825", "99999999999", "18446744073709551616", &"9".repeat(400)] {
            let input = format!("Content-Length: {length}\r\n\r\n{{}}");
            assert_eq!(frames(input.as_bytes()), (vec![], Frame::Oversized), "{length}");
        }
        // The largest length that is accepted, and a truncated body.
        let largest = b"Content-Length: 1073741824\r\n\r\n{}";
        assert_eq!(frames(largest), (vec![], Frame::End));
        assert_eq!(frames(b"Content-Length: 100\r\n\r\n{}"), (vec![], Frame::End));
    }

    #[test]
    fn malformed_headers_are_skipped() {
        for header in
            ["\r\n\r\n", "Content-Type: x\r\n", "Content-Length: much\r\n\r\n", "noise\r\n\r\n"]
        {
            let (bodies, _) = frames((header.to_owned() + &framed(MESSAGE)).as_bytes());
            assert_eq!(bodies.last(), Some(&Some(MESSAGE.to_owned())), "{header:?}: {bodies:?}");
        }
        assert_eq!(frames(b"Content-Length: -1\r\n\r\n{}"), (vec![None], Frame::End));
    }

    #[test]
    fn body_longer_than_its_header_loses_no_message() {
        let input = format!("Content-Length: 2\r\n\r\n{{}} \r\n{}", framed(MESSAGE));
        let (bodies, _) = frames(input.as_bytes());
        assert_eq!(bodies.last(), Some(&Some(MESSAGE.to_owned())), "{bodies:?}");
    }
}
