//! Answers that are text already.
//!
//! `tower-lsp` makes a tree of values of each answer and then text, on the thread that reads what
//! the client types: for the 90,000 tokens of a long module that takes longer than to find them. A
//! worker that has a long answer writes its text, leaves it here, and answers with a [`Parcel`]'s
//! name; [`super::wire::Pen`] puts the text in its place when the answer goes out.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::value::RawValue;
use tower_lsp::jsonrpc::Id;

/// How long a parcel waits. A request that is cancelled meanwhile never asks for its own.
const PATIENCE: Duration = Duration::from_secs(10);
/// How the name of a parcel begins.
const MARK: &str = "relay-parcel-";
/// The longest answer that can be the name of a parcel, in bytes.
const LONGEST: usize = 512;

/// Texts of results that wait for their answers.
#[derive(Clone, Default)]
pub(super) struct Parcels(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    count: u64,
    texts: HashMap<String, (Instant, String)>,
}

impl Parcels {
    fn with<R>(&self, f: impl FnOnce(&mut Waiting) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Leaves the text of a result, and gives the name to put into the `resultId` of the answer.
    pub(super) fn leave(&self, result: String) -> String {
        self.with(|waiting| {
            let now = Instant::now();
            waiting.texts.retain(|_, (since, _)| now.duration_since(*since) < PATIENCE);
            waiting.count += 1;
            let name = format!("{MARK}{}", waiting.count);
            waiting.texts.insert(name.clone(), (now, result));
            name
        })
    }

    /// The whole message, header and all, that `message` stands for, if it is the name of a parcel.
    pub(super) fn unpack(&self, message: &[u8]) -> Option<Vec<u8>> {
        #[derive(Deserialize)]
        struct Named<'m> {
            #[serde(rename = "resultId")]
            name: &'m str,
        }
        #[derive(Deserialize)]
        struct Answer<'m> {
            id: Id,
            #[serde(borrow)]
            result: &'m RawValue,
        }
        if message.len() > LONGEST || memchr::memmem::find(message, MARK.as_bytes()).is_none() {
            return None;
        }
        let body = memchr::memmem::find(message, b"\r\n\r\n")? + 4;
        let answer: Answer<'_> = serde_json::from_slice(&message[body..]).ok()?;
        let named: Named<'_> = serde_json::from_str(answer.result.get()).ok()?;
        let (_, result) = self.with(|waiting| waiting.texts.remove(named.name))?;
        let id = serde_json::to_string(&answer.id).ok()?;
        let length = "{'jsonrpc':'2.0','id':,'result':}".len() + id.len() + result.len();
        let mut whole = Vec::with_capacity(length + 40);
        whole.extend_from_slice(format!("Content-Length: {length}\r\n\r\n").as_bytes());
        whole
            .extend_from_slice(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":").as_bytes());
        whole.extend_from_slice(result.as_bytes());
        whole.push(b'}');
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &str) -> Vec<u8> {
        format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    #[test]
    fn the_text_takes_the_place_of_the_name() {
        let parcels = Parcels::default();
        let name = parcels.leave(r#"{"data":[1,2]}"#.to_owned());
        let body = format!(
            r#"{{"jsonrpc":"2.0","result":{{"data":[],"resultId":"{name}"}},"id":"a\"b"}}"#
        );
        let whole = parcels.unpack(&message(&body)).expect("a parcel");
        let wanted = r#"{"jsonrpc":"2.0","id":"a\"b","result":{"data":[1,2]}}"#;
        assert_eq!(String::from_utf8_lossy(&whole), String::from_utf8_lossy(&message(wanted)));
        // It is there once.
        assert_eq!(parcels.unpack(&message(&body)), None);
    }

    #[test]
    fn what_only_speaks_of_a_parcel_stays() {
        let parcels = Parcels::default();
        let name = parcels.leave("1".to_owned());
        for body in [
            format!(r#"{{"jsonrpc":"2.0","result":{{"contents":"{name}"}},"id":1}}"#),
            format!(r#"{{"jsonrpc":"2.0","result":{{"resultId":"x{name}"}},"id":1}}"#),
            format!(r#"{{"jsonrpc":"2.0","method":"{name}"}}"#),
        ] {
            assert_eq!(parcels.unpack(&message(&body)), None, "{body}");
        }
    }
}
