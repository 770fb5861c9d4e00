//! Delivery of settings to the server, and of published and pulled diagnostics to clients.

use std::time::Duration;

use relay_tests::client::Client;
use serde_json::{Value, json};

const URI: &str = "file:///work/a.relay";
const BROKEN: &str = "#[version = \"0.0.5\"]\ndef @main() { %z }\n";
const UNUSED: &str = "#[version = \"0.0.5\"]\ndef @main() -> int32 { let %z = 1; 2 }\n";
const WORSE: &str = "#[version = \"0.0.5\"]\ndef @main() { (%z, %y) }\n";
const QUIET: Duration = Duration::from_millis(300);

fn published(messages: &[Value]) -> Vec<usize> {
    let published = messages.iter().filter(|m| m["method"] == "textDocument/publishDiagnostics");
    published.map(|m| m["params"]["diagnostics"].as_array().map_or(0, Vec::len)).collect()
}

fn pull(client: &mut Client) -> usize {
    let answer =
        client.request("textDocument/diagnostic", json!({ "textDocument": { "uri": URI } }));
    answer["result"]["items"].as_array().map_or(0, Vec::len)
}

/// Editors would show both published and pulled diagnostics.
#[test]
fn pulling_client_gets_no_published_diagnostics() {
    let abilities = json!({ "textDocument": { "diagnostic": {} } });
    let mut client = Client::start_with(abilities, Value::Null);
    client.open(URI, BROKEN);
    assert_eq!(pull(&mut client), 1);
    client.replace(URI, 2, WORSE);
    assert_eq!(pull(&mut client), 2);
    assert_eq!(published(&client.drain(QUIET)), [] as [usize; 0]);
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn published_diagnostics_are_cleared_for_a_pulling_client() {
    let mut client = Client::start();
    client.open(URI, BROKEN);
    assert_eq!(client.diagnostics(URI, 1).as_array().map(Vec::len), Some(1));
    for _ in 0..3 {
        assert_eq!(pull(&mut client), 1);
    }
    assert_eq!(published(&client.drain(QUIET)), [0]);
    client.replace(URI, 2, WORSE);
    assert_eq!(pull(&mut client), 2);
    assert_eq!(published(&client.drain(QUIET)), [] as [usize; 0]);
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn delivery_setting_applies_at_any_time() {
    let abilities = json!({
        "textDocument": { "diagnostic": {} },
        "workspace": { "diagnostics": { "refreshSupport": true } },
    });
    let mut client = Client::start_with(abilities, Value::Null);
    client.open(URI, UNUSED);
    assert_eq!(pull(&mut client), 1);
    let set = |client: &mut Client, settings: Value| {
        let settings = json!({ "settings": { "relay": settings } });
        client.notify("workspace/didChangeConfiguration", settings);
        client.drain(QUIET)
    };
    let messages = set(&mut client, json!({ "diagnostics": { "disabled": ["unused-binding"] } }));
    assert_eq!(published(&messages), [] as [usize; 0]);
    assert!(messages.iter().any(|m| m["method"] == "workspace/diagnostic/refresh"), "{messages:?}");
    assert_eq!(pull(&mut client), 0);
    let push = json!({ "diagnostics": { "delivery": "push" } });
    assert_eq!(published(&set(&mut client, push)), [1]);
    assert_eq!(pull(&mut client), 0, "it was published already");
    let ask = json!({ "diagnostics": { "delivery": "pull" } });
    assert_eq!(published(&set(&mut client, ask)), [0]);
    assert_eq!(pull(&mut client), 1);
}

/// Clients cannot respond to requests before they receive the response to `initialize`.
#[test]
fn server_sends_no_requests_before_initialized() {
    let mut client = Client::spawn();
    let abilities = json!({
        "workspace": {
            "configuration": true,
            "didChangeConfiguration": { "dynamicRegistration": true },
        },
    });
    let params = json!({ "processId": null, "rootUri": null, "capabilities": abilities });
    client.request("initialize", params);
    assert_eq!(client.drain(QUIET), [] as [Value; 0]);
    client.notify("initialized", json!({}));
    let asked = client.drain(QUIET);
    let mut asked: Vec<_> = asked.iter().filter_map(|message| message["method"].as_str()).collect();
    // The order of these messages is not determined.
    asked.sort();
    assert_eq!(asked, ["client/registerCapability", "workspace/configuration"]);
}
