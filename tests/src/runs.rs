//! A module with functions to run, and a client that runs them.

use serde_json::{Value, json};

use crate::client::{Client, range};

/// The URI of [`NET`].
pub const URI: &str = "file:///work/a.relay";

/// A module that turns a negative number into NaN, with a function that cannot be run.
pub const NET: &str = "\
#[version = \"0.0.5\"]
def @layer(%x: Tensor[(1, 2), float32]) -> Tensor[(1, 2), float32] {
  %0 = nn.relu(%x);
  %1 = log(%0);
  %1
}
def @other(%n: int32) -> int32 {
  let %m = %n + 1;
  %m
}
def @main(%x: Tensor[(1, 2), float32]) {
  %0 = @layer(%x);
  %1 = exp(%0);
  (%1, @other(1))
}
def @open(%x: Tensor[(?), float32]) { %x }
";

/// Starts a client that shows runs itself, with additional capabilities of its window.
pub fn client(window: Value, options: Value) -> Client {
    let capabilities = json!({
        "general": { "positionEncodings": ["utf-8"] },
        "window": window,
        "workspace": { "inlayHint": { "refreshSupport": true }, "codeLens": { "refreshSupport": true } },
        "experimental": { "commands": { "commands": ["relay.run"] } },
    });
    Client::start_with(capabilities, options)
}

/// Requests a run; returns the id of the request.
pub fn ask_run(client: &mut Client, argument: Value) -> i64 {
    client
        .ask("workspace/executeCommand", json!({ "command": "relay.run", "arguments": [argument] }))
}

/// Runs a function and returns the result, which may be a failure.
pub fn run(client: &mut Client, argument: Value) -> Value {
    let id = ask_run(client, argument);
    let answer = client.answer(id);
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"].clone()
}

/// Returns the hints of values in a document, each with its line.
pub fn values(client: &mut Client) -> Vec<(u64, String)> {
    let params = json!({ "textDocument": { "uri": URI }, "range": range((0, 0), (100, 0)) });
    let answer = client.request("textDocument/inlayHint", params);
    let hints = answer["result"].as_array().cloned().unwrap_or_default();
    let shown = hints.iter().filter_map(|hint| {
        let label = hint["label"].as_str()?.strip_prefix("= ")?;
        Some((hint["position"]["line"].as_u64()?, label.to_owned()))
    });
    shown.collect()
}

/// Returns the codes of the diagnostics of the document, each with its line.
pub fn marks(client: &mut Client) -> Vec<(String, u64)> {
    let params = json!({ "textDocument": { "uri": URI } });
    let answer = client.request("textDocument/diagnostic", params);
    let items = answer["result"]["items"].as_array().cloned().unwrap_or_default();
    let shown = items.iter().filter_map(|item| {
        let code = item["code"].as_str()?.to_owned();
        Some((code, item["range"]["start"]["line"].as_u64()?))
    });
    shown.filter(|(code, _)| code.starts_with("run-")).collect()
}
