//! The messages of the client, decoded from JSON.
//!
//! `tower-lsp` could decode them, but its identifiers are strings and integers of 64 bits, those that can be
//! cancelled have 32, and a message that is not valid is answered without its identifier, so that a client
//! waits for it forever. Here an [`Identifier`] is the text that the client wrote, and comes back as it was
//! sent; the service has a key for it.

use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::{Value, json, value::RawValue};
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

/// The notification that cancels a request.
const CANCEL: &str = "$/cancelRequest";

/// A message of the client.
pub(super) enum Message {
    /// A request, or a notification, which has no identifier.
    Call(Request, Option<Identifier>),
    /// The response to a request of the server.
    Response(Response),
}

/// The answer to a message that is not valid.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) error: Error,
    /// The identifier of the message, or null if it has none.
    pub(super) id: Identifier,
}

impl Refusal {
    /// Creates the answer to a message whose identifier is not known.
    pub(super) fn anonymous(code: ErrorCode, reason: &str) -> Refusal {
        Refusal::new(code, reason, None)
    }

    fn new(code: ErrorCode, reason: &str, id: Option<Identifier>) -> Refusal {
        let message = format!("not a message of the protocol: {reason}");
        let id = id.unwrap_or_else(|| Identifier(RawValue::NULL.to_owned()));
        Refusal { error: Error { code, message: message.into(), data: None }, id }
    }
}

/// The identifier of a request, as the client wrote it: a string, a number or null.
#[derive(Clone, Debug)]
pub(super) struct Identifier(Box<RawValue>);

impl Identifier {
    fn of(value: &RawValue) -> Option<Identifier> {
        let is_valid = value.get().starts_with(|c: char| matches!(c, '"' | '-' | '0'..='9' | 'n'));
        is_valid.then(|| Identifier(value.to_owned()))
    }

    /// Returns the JSON text.
    pub(super) fn text(&self) -> &str {
        self.0.get()
    }

    /// Returns the JSON value.
    pub(super) fn value(&self) -> &RawValue {
        &self.0
    }

    /// Returns the identifier by which the service knows the request: a number that it can cancel, or else
    /// the text, in which strings have quotes and numbers none.
    fn key(&self) -> Id {
        let text = self.text();
        match (text.parse::<i32>(), serde_json::from_str::<String>(text)) {
            (Ok(number), _) => Id::Number(number.into()),
            // A client may escape a character in one message and not in another.
            (_, Ok(string)) => Id::String(Value::String(string).to_string()),
            _ => Id::String(text.to_owned()),
        }
    }
}

/// The members of a message. Those that are absent are `None`, and those that are null are not.
#[derive(Deserialize)]
struct Members<'m> {
    #[serde(default, deserialize_with = "present")]
    jsonrpc: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    method: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    params: Option<Value>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'m RawValue>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    error: Option<Value>,
}

fn present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Decodes a message. What has a method is a request or a notification, anything else a response.
///
/// # Errors
/// The answer to what is not a message.
pub(super) fn decode(body: &[u8]) -> Result<Message, Refusal> {
    let text = std::str::from_utf8(body)
        .map_err(|error| Refusal::anonymous(ErrorCode::ParseError, &error.to_string()))?;
    if text.trim_start().starts_with('[') {
        serde_json::from_str::<IgnoredAny>(text).map_err(|error| unreadable(&error))?;
        let reason = "a batch is not part of it; send each message on its own";
        return Err(Refusal::anonymous(ErrorCode::InvalidRequest, reason));
    }
    let members: Members<'_> = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
    let is_version = members.jsonrpc.as_ref().is_some_and(|version| version == "2.0");
    let Some(method) = members.method else {
        // Its identifier is one of the server, and not one that the client waits for.
        let reason = "a message has a `method`, or an `id` and a `result` or an `error`";
        let response = is_version.then(|| response(members.id?, members.result, members.error));
        return response
            .flatten()
            .map(Message::Response)
            .ok_or_else(|| Refusal::anonymous(ErrorCode::InvalidRequest, reason));
    };
    let id = members.id.map(|id| {
        let reason = "its `id` is not a string, a number or null";
        Identifier::of(id).ok_or_else(|| Refusal::anonymous(ErrorCode::InvalidRequest, reason))
    });
    let id = id.transpose()?;
    let refuse = |reason| Err(Refusal::new(ErrorCode::InvalidRequest, reason, id.clone()));
    if !is_version {
        return refuse("its `jsonrpc` is not \"2.0\"");
    }
    let Value::String(method) = method else { return refuse("its `method` is not a string") };
    let params = match members.params {
        // Emacs ends a session with `null`, which `tower-lsp` rejects.
        None | Some(Value::Null) => None,
        Some(Value::Object(_)) if method == CANCEL => cancelled(text).or(members.params),
        Some(params @ (Value::Object(_) | Value::Array(_))) => Some(params),
        Some(_) => return refuse("its `params` are neither an object nor an array"),
    };
    let mut request = Request::build(method);
    if let Some(params) = params {
        request = request.params(params);
    }
    if let Some(id) = &id {
        request = request.id(id.key());
    }
    Ok(Message::Call(request.finish(), id))
}

/// Returns the answer to a text that is not JSON, or not a message.
fn unreadable(error: &serde_json::Error) -> Refusal {
    let code = if error.is_data() { ErrorCode::InvalidRequest } else { ErrorCode::ParseError };
    Refusal::anonymous(code, &error.to_string())
}

fn response(id: &RawValue, result: Option<Value>, error: Option<Value>) -> Option<Response> {
    let id: Id = serde_json::from_str(id.get()).ok()?;
    match (result, error) {
        (Some(result), _) => Some(Response::from_ok(id, result)),
        (None, Some(error)) => Some(Response::from_error(id, serde_json::from_value(error).ok()?)),
        (None, None) => None,
    }
}

/// Returns the parameters that cancel a request, with the key of its identifier.
fn cancelled(text: &str) -> Option<Value> {
    #[derive(Deserialize)]
    struct Cancel<'m> {
        #[serde(borrow)]
        params: CancelParams<'m>,
    }
    #[derive(Deserialize)]
    struct CancelParams<'m> {
        #[serde(borrow)]
        id: &'m RawValue,
    }
    let cancel: Cancel<'_> = serde_json::from_str(text).ok()?;
    let id = Identifier::of(cancel.params.id)?;
    Some(json!({ "id": id.key() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: &[&str] = &[
        "0",
        "-1",
        "2147483648",
        "9007199254740993",
        "9223372036854775808",
        "-9223372036854775809",
        "18446744073709551616",
        "123456789012345678901234567890",
        "1.5",
        "-0.0",
        "1e3",
        "1E400",
        "null",
        "\"\"",
        "\"1\"",
        "\"1.5\"",
        "\"null\"",
        r#""a\"b\\ä\u00e4\ud800""#,
    ];

    fn decoded(text: &str) -> Result<Message, Refusal> {
        decode(text.as_bytes())
    }

    #[test]
    fn identifier_is_the_text_of_the_client() {
        let mut keys = Vec::new();
        for id in IDS {
            let text = format!(r#"{{ "id" : {id} , "jsonrpc":"2.0","method":"m" }}"#);
            let Ok(Message::Call(request, Some(known))) = decoded(&text) else { panic!("{id}") };
            assert_eq!(known.text(), *id);
            let key = request.id().cloned().expect("a key");
            assert!(!keys.contains(&key), "{id}");
            keys.push(key.clone());
            // Half of a character, and a number beyond all floats.
            if serde_json::from_str::<Value>(id).is_err() {
                continue;
            }
            // A cancellation names the request by the same key.
            let cancel =
                format!(r#"{{"jsonrpc":"2.0","method":"$/cancelRequest","params":{{"id":{id}}}}}"#);
            let Ok(Message::Call(cancel, None)) = decoded(&cancel) else { panic!("{id}") };
            assert_eq!(cancel.params(), Some(&json!({ "id": key })));
        }
    }

    #[test]
    fn message_that_is_not_valid_is_refused_with_its_identifier() {
        for id in IDS {
            for members in [
                r#""jsonrpc":"2.0","method":1"#,
                r#""jsonrpc":"2.0","method":null"#,
                r#""jsonrpc":"2.0","method":["m"]"#,
                r#""jsonrpc":"2.0","method":"m","params":"text""#,
                r#""jsonrpc":"2.0","method":"m","params":7"#,
                r#""jsonrpc":"2.0","method":"m","params":true"#,
                r#""method":"m""#,
                r#""jsonrpc":"1.0","method":"m""#,
                r#""jsonrpc":2.0,"method":"m""#,
                r#""jsonrpc":null,"method":"m""#,
            ] {
                let Err(refusal) = decoded(&format!(r#"{{{members},"id":{id}}}"#)) else {
                    panic!("{members}")
                };
                assert_eq!(refusal.id.text(), *id, "{members}");
                assert_eq!(refusal.error.code, ErrorCode::InvalidRequest, "{members}");
                // Without an identifier it is no valid notification, either.
                let Err(refusal) = decoded(&format!("{{{members}}}")) else { panic!("{members}") };
                assert_eq!(refusal.id.text(), "null", "{members}");
            }
        }
        for (text, code) in [
            ("[]", ErrorCode::InvalidRequest),
            (r#" [{"jsonrpc":"2.0","id":1,"method":"m"}]"#, ErrorCode::InvalidRequest),
            (r#"[{"jsonrpc":"2.0","id":1,"#, ErrorCode::ParseError),
            ("7", ErrorCode::InvalidRequest),
            ("{}", ErrorCode::InvalidRequest),
            ("", ErrorCode::ParseError),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, ErrorCode::InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, ErrorCode::InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, ErrorCode::InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, ErrorCode::InvalidRequest),
            // The identifier would be one of the server.
            (r#"{"jsonrpc":"2.0","id":1}"#, ErrorCode::InvalidRequest),
            (r#"{"id":1,"result":null}"#, ErrorCode::InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":1.5,"result":null}"#, ErrorCode::InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":1,"error":7}"#, ErrorCode::InvalidRequest),
        ] {
            let Err(refusal) = decoded(text) else { panic!("{text}") };
            assert_eq!((refusal.id.text(), refusal.error.code), ("null", code), "{text}");
        }
    }

    #[test]
    fn parameters_are_structured_or_absent() {
        for (params, expected) in [
            ("", None),
            (r#","params":null"#, None),
            (r#","params":[]"#, Some(json!([]))),
            (r#","params":{"a":1}"#, Some(json!({ "a": 1 }))),
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","method":""{params}}}"#);
            let Ok(Message::Call(request, None)) = decoded(&text) else { panic!("{params}") };
            assert_eq!((request.method(), request.params().cloned()), ("", expected));
        }
    }

    #[test]
    fn response_has_a_result_or_an_error() {
        let result = decoded(r#"{"jsonrpc":"2.0","id":3,"result":null}"#);
        let Ok(Message::Response(response)) = result else { panic!() };
        assert_eq!(response, Response::from_ok(Id::Number(3), Value::Null));
        let error = decoded(r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"m"}}"#);
        let Ok(Message::Response(response)) = error else { panic!() };
        assert!(response.is_error() && *response.id() == Id::String("a".to_owned()));
    }
}
