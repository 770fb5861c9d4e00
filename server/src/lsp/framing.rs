//! Messages off the wire, before `tower-lsp` sees them.
//!
//! tower-lsp ends a session at the first message that it cannot decode. Here each message is cut
//! out of the stream and looked over; what is no message of the protocol is handed on as one that
//! [`super::gate::Gate`] answers with the error that JSON-RPC has for it, and the next message is
//! read as if nothing had been.

use std::num::IntErrorKind;

use serde::{Deserialize, de::IgnoredAny};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tower_lsp::jsonrpc::Id;

/// The method under which an unreadable message is handed on.
pub(super) const UNREADABLE: &str = "$/unreadable";

/// The longest message that is taken, in bytes. The largest text that the server looks into is
/// far smaller. One that is announced as longer ends the session: to read past it could take hours,
/// and what announces it is no client that means well.
pub(super) const MAX_BODY: u64 = 1 << 30;

/// How much room for a body is kept from message to message, in bytes.
const KEPT: usize = 64 << 10;

/// The longest header line that is taken, in bytes.
const MAX_LINE: u64 = 8 << 10;

/// How the input ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// It was closed.
    Closed,
    /// A message was announced that is longer than [`MAX_BODY`].
    Oversized,
}

/// Hands on the messages from `input` to `output` until either ends.
pub(super) async fn forward(
    mut input: impl AsyncBufRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> std::io::Result<End> {
    let mut line = Vec::new();
    let mut body = Vec::new();
    loop {
        let length = match header(&mut input, &mut line).await? {
            Header::End => return Ok(End::Closed),
            Header::Body(length) if length > MAX_BODY => return Ok(End::Oversized),
            Header::Body(length) => length,
            // The next header will be found behind this.
            Header::Broken(reason) => {
                hand_on(&mut output, unreadable(-32700, &reason).as_bytes()).await?;
                continue;
            }
        };
        body.clear();
        // Room is made for what has arrived, not for what is announced.
        let there = (&mut input).take(length).read_to_end(&mut body).await? as u64;
        if there < length {
            return Ok(End::Closed);
        }
        match check(&body) {
            Ok(()) => hand_on(&mut output, &body).await?,
            Err(Some(message)) => hand_on(&mut output, message.as_bytes()).await?,
            Err(None) => {}
        }
        // Whole texts are rare: their room is not kept for the keystrokes behind them.
        body.clear();
        body.shrink_to(KEPT);
    }
}

async fn hand_on(output: &mut (impl AsyncWrite + Unpin), body: &[u8]) -> std::io::Result<()> {
    output.write_all(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes()).await?;
    output.write_all(body).await?;
    output.flush().await
}

enum Header {
    /// The length of the body in bytes.
    Body(u64),
    Broken(String),
    /// The input is at its end.
    End,
}

/// Reads header lines up to the empty one. Lines that are no header line are read past.
async fn header(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> std::io::Result<Header> {
    let mut length = None;
    let mut broken: Option<String> = None;
    loop {
        line.clear();
        if (&mut *input).take(MAX_LINE).read_until(b'\n', line).await? == 0 {
            return Ok(Header::End);
        }
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        if text.is_empty() {
            match (length, broken) {
                (Some(length), None) => return Ok(Header::Body(length)),
                (_, Some(reason)) => return Ok(Header::Broken(reason)),
                // Blank lines between messages mean nothing.
                (None, None) => broken = None,
            }
            continue;
        }
        let Some((name, value)) = text.split_once(':') else {
            broken = Some(format!("`{}` is no header line", text.escape_debug()));
            continue;
        };
        // What stands in front of it on the line is the rest of a body that was longer than said.
        if name.to_ascii_lowercase().ends_with("content-length") {
            match value.trim().parse::<u64>() {
                Ok(value) => (length, broken) = (Some(value), None),
                Err(error) if *error.kind() == IntErrorKind::PosOverflow => {
                    (length, broken) = (Some(u64::MAX), None);
                }
                Err(_) => broken = Some(format!("`{}` is no length", value.trim().escape_debug())),
            }
        }
    }
}

/// What every message has. `params` and the like are only read past here.
#[derive(Deserialize)]
struct Envelope<'m> {
    #[serde(borrow)]
    jsonrpc: std::borrow::Cow<'m, str>,
    #[serde(borrow, default)]
    method: Option<std::borrow::Cow<'m, str>>,
    #[serde(default)]
    id: Option<Id>,
    #[serde(default)]
    result: Option<IgnoredAny>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

/// Whether a body is a message; if not, the one to hand on in its place, if any.
fn check(body: &[u8]) -> Result<(), Option<String>> {
    let unreadable = |code, reason: &str| Some(unreadable(code, reason));
    let text = std::str::from_utf8(body).map_err(|error| unreadable(-32700, &error.to_string()))?;
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| {
        // Sound JSON that is no message is an invalid request, anything else no JSON at all.
        let code = if error.is_data() { -32600 } else { -32700 };
        unreadable(code, &error.to_string())
    })?;
    if envelope.jsonrpc != "2.0" {
        return Err(unreadable(-32600, "`jsonrpc` must be \"2.0\""));
    }
    let method = envelope.method.as_deref();
    let answers = envelope.result.is_some() || envelope.error.is_some();
    match (method, &envelope.id) {
        // The client cannot mean what this stands for: it is any other unknown method.
        (Some(UNREADABLE), Some(id)) => {
            Err(Some(serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": "$/" }).to_string()))
        }
        (Some(UNREADABLE), None) => Err(None),
        (Some(_), _) => Ok(()),
        // `"result": null` reads as none, and is an answer.
        (None, Some(_)) => Ok(()),
        (None, None) if answers => Ok(()),
        (None, None) => Err(unreadable(-32600, "a message has a `method` or answers an `id`")),
    }
}

fn unreadable(code: i64, reason: &str) -> String {
    serde_json::json!({
        "jsonrpc": "2.0", "id": null, "method": UNREADABLE,
        "params": { "code": code, "reason": reason },
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarded(input: &[u8]) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let Ok(runtime) = runtime else { panic!("no runtime") };
        let mut output = Vec::new();
        assert!(runtime.block_on(forward(input, &mut output)).is_ok());
        let text = String::from_utf8_lossy(&output).into_owned();
        text.split("Content-Length: ")
            .filter_map(|part| part.split_once("\r\n\r\n"))
            .map(|(_, body)| body.to_owned())
            .collect()
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn what_is_no_message_is_answered_and_passed() {
        let good = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":null}"#;
        let bad = [
            ("{\"broken\"", -32700),
            ("[]", -32600),
            ("7", -32600),
            ("", -32700),
            ("{\"jsonrpc\":\"2.0\"}", -32600),
            ("{\"jsonrpc\":\"1.0\",\"method\":\"exit\"}", -32600),
        ];
        for (body, code) in bad {
            let all = forwarded((framed(body) + &framed(good) + &framed(answer)).as_bytes());
            assert_eq!(all.len(), 3, "{body}: {all:?}");
            assert!(all[0].contains(&code.to_string()), "{body}: {all:?}");
            assert_eq!(all[1..], [good, answer]);
        }
    }

    #[test]
    fn a_message_that_is_too_long_ends_the_input() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let end = |input: &[u8]| runtime.block_on(forward(input, Vec::new())).expect("no failure");
        for length in ["1073741825", "99999999999", "18446744073709551616", &"9".repeat(400)] {
            let input = format!("Content-Length: {length}\r\n\r\n{{}}");
            assert_eq!(end(input.as_bytes()), End::Oversized, "{length}");
        }
        // The last that is taken; nothing of it arrives.
        assert_eq!(end(b"Content-Length: 1073741824\r\n\r\n{}"), End::Closed);
        assert_eq!(end(b"Content-Length: -1\r\n\r\n{}"), End::Closed);
    }

    #[test]
    fn the_name_for_what_is_unreadable_is_no_method_of_the_client() {
        let with_id = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"{UNREADABLE}"}}"#);
        let without = format!(r#"{{"jsonrpc":"2.0","method":"{UNREADABLE}"}}"#);
        let all = forwarded((framed(&with_id) + &framed(&without)).as_bytes());
        assert_eq!(all, [r#"{"id":5,"jsonrpc":"2.0","method":"$/"}"#]);
    }

    #[test]
    fn broken_headers_are_passed() {
        let good = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        for noise in
            ["\r\n\r\n", "Content-Type: x\r\n", "Content-Length: much\r\n\r\n", "noise\r\n\r\n"]
        {
            let all = forwarded((noise.to_owned() + &framed(good)).as_bytes());
            assert_eq!(all.last().map(String::as_str), Some(good), "{noise:?}: {all:?}");
        }
        assert_eq!(forwarded(b"Content-Length: 100\r\n\r\n{}"), [""; 0]);
        let bytes = [&b"Content-Length: 2\r\n\r\n\xff\xfe"[..], framed(good).as_bytes()].concat();
        assert_eq!(forwarded(&bytes).len(), 2);
    }
}
