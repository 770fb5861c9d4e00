//! The parts of a run's response for views: tensors, profile, values that are not finite, and the time in
//! the lens.

use relay_tests::{
    client::{Client, range},
    runs::{NET, URI, client, run},
};
use serde_json::{Value, json};

/// Runs a function and returns the result of a successful run.
fn done(client: &mut Client, argument: Value) -> Value {
    let result = run(client, argument);
    assert_eq!(result["status"], "done", "{result}");
    result
}

/// Returns the numbers of hints with values and of diagnostics after a run.
fn left(client: &mut Client) -> [usize; 2] {
    let params = json!({ "textDocument": { "uri": URI }, "range": range((0, 0), (100, 0)) });
    let hints = client.request("textDocument/inlayHint", params);
    let hints = hints["result"].as_array().cloned().unwrap_or_default();
    let is_value = |hint: &&Value| hint["label"].as_str().is_some_and(|l| l.starts_with("= "));
    let params = json!({ "textDocument": { "uri": URI } });
    let report = client.request("textDocument/diagnostic", params);
    let items = report["result"]["items"].as_array().cloned().unwrap_or_default();
    let is_mark = |item: &&Value| item["code"] == "run-not-finite";
    [hints.iter().filter(is_value).count(), items.iter().filter(is_mark).count()]
}

/// The tables for views and the lens of a run, and clearing them.
#[test]
fn run_response_has_tables_for_views() {
    let mut client = client(json!({}), Value::Null);
    client.open(URI, NET);
    let given = json!({ "uri": URI, "function": "@main", "inputs": { "x": [[-1, 1]] } });
    let result = done(&mut client, given);
    let tensors = &result["tensors"];
    assert_eq!(
        (&tensors[0]["name"], &tensors[1]["name"]),
        (&json!("result.0"), &json!("result.1"))
    );
    assert_eq!(tensors[0]["type"], "Tensor[(1, 2), float32]");
    assert_eq!((&tensors[0]["text"], &tensors[0]["scores"]), (&json!("[[0. 1.]]"), &Value::Null));
    let odd: Vec<(&Value, &Value)> = result["notFinite"]
        .as_array()
        .expect("a trail")
        .iter()
        .map(|odd| (&odd["name"], &odd["range"]["start"]["line"]))
        .collect();
    // Variables bound inside a call precede the variable of its result.
    assert_eq!(odd, [(&json!("%1"), &json!(3)), (&json!("%0"), &json!(11))]);
    let profile = &result["profile"];
    let mut operators: Vec<&str> = profile["operators"]
        .as_array()
        .expect("operators")
        .iter()
        .map(|operator| operator["operator"].as_str().unwrap_or_default())
        .collect();
    operators.sort_unstable();
    assert_eq!(operators, ["add", "exp", "log", "nn.relu"]);
    assert_eq!(profile["layers"], json!([]));
    assert_eq!(profile["total"]["calls"]["value"], 4);
    let log = profile["bindings"].as_array().expect("bindings").iter();
    let log = log.clone().find(|row| row["operator"] == "log").expect("the logarithm");
    assert_eq!((&log["binding"], &log["at"]), (&json!("%1"), &range((3, 7), (3, 14))));
    client.expect("workspace/codeLens/refresh");
    let titles = |client: &mut Client| -> Vec<String> {
        let params = json!({ "textDocument": { "uri": URI } });
        let lenses = client.request("textDocument/codeLens", params);
        let lenses = lenses["result"].as_array().cloned().unwrap_or_default();
        let titles = lenses.iter().filter_map(|lens| lens["command"]["title"].as_str());
        titles.filter(|title| title.starts_with('▶')).map(str::to_owned).collect()
    };
    let shown = titles(&mut client);
    assert_eq!(shown[..2], ["▶ Run", "▶ Run"]);
    assert!(shown[2].starts_with("▶ Run · ") && shown[2].ends_with('s'), "{shown:?}");
    assert!(left(&mut client).iter().all(|count| *count > 0));
    let clear = json!({ "command": "relay.clearValues", "arguments": [URI] });
    assert_eq!(client.request("workspace/executeCommand", clear)["result"], Value::Null);
    assert_eq!(titles(&mut client), ["▶ Run"; 3]);
    assert_eq!(left(&mut client), [0, 0]);
    let nothing = json!({ "command": "relay.clearValues" });
    assert_eq!(client.request("workspace/executeCommand", nothing)["error"]["code"], -32602);
    assert_eq!(client.finish(), Some(0));
}

/// `span=` comments name layers; tensors that look like scores list their largest elements.
#[test]
fn profile_has_layers_and_results_have_scores() {
    let mut client = client(json!({}), Value::Null);
    let text = "\
def @main(%x: Tensor[(1, 12), float32]) {
  %0 = nn.relu(%x) /* ty=Tensor[(1, 12), float32] span=aten::relu_0:1:2 */;
  %1 = exp(%0) /* ty=Tensor[(1, 12), float32] span=aten::softmax_1:3:4 */;
  nn.softmax(%1) /* ty=Tensor[(1, 12), float32] span=aten::softmax_1:5:6 */
}
";
    client.open(URI, text);
    let x: Vec<i32> = (0..12).map(|at| (at * 7) % 11).collect();
    let result = done(&mut client, json!({ "uri": URI, "inputs": { "x": [x] } }));
    let layers = result["profile"]["layers"].as_array().expect("layers");
    let mut layers: Vec<(&str, u64)> = layers
        .iter()
        .filter_map(|layer| Some((layer["layer"].as_str()?, layer["calls"]["value"].as_u64()?)))
        .collect();
    layers.sort_unstable();
    assert_eq!(layers, [("aten::relu_0", 1), ("aten::softmax_1", 2)]);
    let scores = result["tensors"][0]["scores"].as_array().expect("scores");
    assert_eq!(scores.len(), 5);
    assert_eq!(
        scores[0],
        json!({ "position": [0, 3], "place": "[0, 3]", "value": 1.0, "text": "1.0000" })
    );
}

/// Only the start of a loop over scalars is measured, so that the rest runs at full speed.
#[test]
fn long_loops_are_measured_partially() {
    let mut client = client(json!({}), Value::Null);
    let text = "def @count(%n: int32, %sum: int32) -> int32 {\n  if (%n == 0) { %sum } else { \
                @count(%n - 1, %sum + %n) }\n}\n\
                def @main() { @count(200000, 0) }\ndef @short() { @count(20, 0) }\n";
    client.open(URI, text);
    for (function, calls, is_cut) in [("@main", 1 << 17, true), ("@short", 61, false)] {
        let result = done(&mut client, json!({ "uri": URI, "function": function }));
        let total = &result["profile"]["total"];
        assert_eq!(total["cut"], is_cut, "{total}");
        // The limit is checked only occasionally.
        let measured = total["calls"]["value"].as_u64().expect("a number");
        assert!((calls..calls + 2_000).contains(&measured), "{total}");
    }
    assert_eq!(client.finish(), Some(0));
}
