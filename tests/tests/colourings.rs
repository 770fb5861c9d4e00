//! The colours of the dataflow graph by run time, by error and by difference, in `relay/shapes` and in pages.

use relay_tests::{client::Client, command::Folder};
use serde_json::{Value, json};

const A: &str = "\
#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 4), float32]) {
  %0 = tanh(%x);
  %1 = exp(%0);
  %2 = add(%1, %0);
  nn.softmax(%2)
}
";

/// Another call in line 4, from which the following lines inherit an error, and one call more.
const B: &str = "\
#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 4), float32]) {
  %0 = tanh(%x);
  %1 = sigmoid(%0);
  %2 = add(%1, %0);
  nn.relu(nn.softmax(%2))
}
";

fn client() -> Client {
    let mut client = Client::start_with(json!({}), Value::Null);
    client.open("file:///a.relay", A);
    client.open("file:///b.relay", B);
    client
}

fn report(client: &mut Client, uri: &str, before: Option<&str>) -> Value {
    let mut params = json!({ "textDocument": { "uri": uri } });
    if let Some(before) = before {
        params["before"] = json!({ "uri": before });
    }
    let answer = client.request("relay/shapes", params);
    answer["result"]["functions"][0].clone()
}

/// Returns the operator and the category of each call that a colouring marks, and the text of its mark.
fn marks<'r>(function: &'r Value, key: &str) -> Vec<(&'r str, &'r str, &'r str)> {
    let colourings = function["colourings"].as_array().map_or(&[][..], Vec::as_slice);
    let Some(found) = colourings.iter().find(|one| one["key"] == key) else { return Vec::new() };
    let marks = found["marks"].as_array().expect("marks").iter();
    let of_calls = marks.filter_map(|mark| {
        let (start, end) = (mark["rows"][0].as_u64()?, mark["rows"][1].as_u64()?);
        let weight = mark["weight"].as_f64().expect("a weight");
        assert!((0.0..=1.0).contains(&weight), "{mark}");
        let row = &function["rows"][start as usize];
        let text = mark["text"].as_str()?;
        (end == start + 1).then_some((row["operator"].as_str()?, mark["category"].as_str()?, text))
    });
    of_calls.collect()
}

#[test]
fn a_graph_is_coloured_by_the_times_of_the_last_run_until_an_edit() {
    let mut client = client();
    assert!(report(&mut client, "file:///a.relay", None)["colourings"].is_null());
    let run =
        json!({ "command": "relay.run", "arguments": [{ "uri": "file:///a.relay", "seed": 1 }] });
    let ran = client.request("workspace/executeCommand", run.clone());
    assert_eq!(ran["result"]["status"], "done", "{ran}");
    let function = report(&mut client, "file:///a.relay", None);
    let timed: Vec<&str> = marks(&function, "time").iter().map(|mark| mark.0).collect();
    assert_eq!(timed, ["tanh", "exp", "add", "nn.softmax"], "{function}");
    assert!(marks(&function, "time").iter().all(|mark| mark.2.contains("% of the calls")));
    assert_eq!(function["colourings"][0]["title"], "by run time");
    // Another document has none, and values that are hidden take the times with them.
    assert!(report(&mut client, "file:///b.relay", None)["colourings"].is_null());
    let clear = json!({ "command": "relay.clearValues", "arguments": ["file:///a.relay"] });
    client.request("workspace/executeCommand", clear);
    assert!(report(&mut client, "file:///a.relay", None)["colourings"].is_null());
    client.request("workspace/executeCommand", run);
    client.notify(
        "textDocument/didChange",
        json!({
            "textDocument": { "uri": "file:///a.relay", "version": 7 },
            "contentChanges": [{ "text": A.replace("exp", "tanh") }],
        }),
    );
    assert!(report(&mut client, "file:///a.relay", None)["colourings"].is_null());
    assert_eq!(client.finish(), Some(0));
}

/// Which of several calls ran what is not measured: each has the same part.
#[test]
fn a_call_of_a_function_has_the_time_of_what_the_function_ran() {
    let text = "\
def @inner(%x: Tensor[(64, 64), float32]) { tanh(%x) }
def @often(%x: Tensor[(64, 64), float32]) { exp(@inner(%x)) }
def @main(%x: Tensor[(64, 64), float32]) {
  let %f = fn (%y: Tensor[(64, 64), float32]) { nn.relu(%y) };
  let %a = @often(%x);
  let %b = @often(%a);
  %f(%b)
}
";
    let mut client = Client::start_with(json!({}), Value::Null);
    client.open("file:///a.relay", text);
    let run = json!({ "command": "relay.run", "arguments": [{ "uri": "file:///a.relay", "function": "@main", "seed": 1 }] });
    let ran = client.request("workspace/executeCommand", run);
    assert_eq!(ran["result"]["status"], "done", "{ran}");
    let params = json!({ "textDocument": { "uri": "file:///a.relay" } });
    let answer = client.request("relay/shapes", params);
    let functions = answer["result"]["functions"].as_array().expect("functions");
    let main = marks(&functions[2], "time");
    let timed: Vec<&str> = main.iter().map(|mark| mark.0).collect();
    assert_eq!(timed, ["@often", "@often", "%f"], "{main:?}");
    assert!(main[0].2.contains(" on average: ") && main[0].2.contains(" in 2 calls of `@often`, "));
    assert_eq!(main[0], main[1]);
    assert!(!main[2].2.contains("average"), "{main:?}");
    let often: Vec<&str> = marks(&functions[1], "time").iter().map(|mark| mark.0).collect();
    assert_eq!(often, ["@inner", "exp"]);
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn a_graph_is_coloured_by_the_errors_of_a_comparison() {
    let mut client = client();
    let (a, b) = (json!({ "uri": "file:///a.relay" }), json!({ "uri": "file:///b.relay" }));
    let compared = client.request("relay/compareValues", json!({ "before": a, "after": b }));
    assert_eq!(compared["result"]["equal"], false, "{compared}");
    let function = report(&mut client, "file:///b.relay", None);
    let found = marks(&function, "error");
    let categories: Vec<_> = found.iter().map(|mark| (mark.0, mark.1)).collect();
    let expected = [
        ("tanh", "tolerated"),
        ("sigmoid", "culprit"),
        ("add", "inherited"),
        ("nn.softmax", "inherited"),
    ];
    assert_eq!(categories, expected, "{function}");
    assert!(found[1].2.starts_with("diverges by "), "{found:?}");
    let other = report(&mut client, "file:///a.relay", None);
    assert_eq!(marks(&other, "error")[1].0, "exp");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn a_graph_of_two_versions_has_what_was_removed() {
    let mut client = client();
    let function = report(&mut client, "file:///a.relay", Some("file:///b.relay"));
    let rows = function["rows"].as_array().expect("rows");
    let operators: Vec<&str> = rows.iter().filter_map(|row| row["operator"].as_str()).collect();
    assert_eq!(operators, ["tanh", "exp", "add", "nn.softmax", "nn.relu"]);
    let found = marks(&function, "difference");
    let categories: Vec<_> = found.iter().map(|mark| (mark.0, mark.1)).collect();
    let expected = [
        ("tanh", "same"),
        ("exp", "changed"),
        ("add", "same"),
        ("nn.softmax", "same"),
        ("nn.relu", "removed"),
    ];
    assert_eq!(categories, expected);
    // What was removed takes what is left, costs nothing, and leads to the call before it.
    assert_eq!(rows[4]["inputs"], json!([{ "row": 3 }]));
    assert_eq!(rows[4]["bytes"]["value"], 0);
    assert_eq!(rows[4]["range"], rows[3]["range"]);
    assert_eq!(function["results"], json!([{ "row": 3 }]));
    assert_eq!(client.finish(), Some(0));
}

/// They cost nothing, and have the groups that they had. Functions that were added are marked, too.
#[test]
fn a_graph_of_two_versions_has_the_functions_that_were_removed() {
    let mut lost = "def @lost(%x: Tensor[(4, 8), float32]".to_owned();
    let mut calls = String::new();
    for at in 0..6 {
        lost += &format!(", %w{at}: Tensor[(8, 8), float32]");
        let last = if at == 0 { "%x".to_owned() } else { format!("%r{}", at - 1) };
        calls += &format!(
            "  %u{at} = nn.dense({last}, %w{at}, units=8);\n  %r{at} = nn.relu(%u{at});\n"
        );
    }
    lost += &format!(") {{\n{calls}  %r5\n}}\n");
    let new = "def @new(%x: Tensor[(4, 8), float32]) { tanh(%x) }\n";
    let mut client = Client::start_with(json!({}), Value::Null);
    client.open("file:///before.relay", &format!("{A}{lost}"));
    client.open("file:///after.relay", &format!("{A}{new}"));
    let params = json!({
        "textDocument": { "uri": "file:///after.relay" },
        "before": { "uri": "file:///before.relay" },
    });
    let answer = client.request("relay/shapes", params);
    let functions = answer["result"]["functions"].as_array().expect("functions");
    let names: Vec<&str> = functions.iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["@main", "@new", "@lost"]);
    let removed = marks(&functions[2], "difference");
    assert_eq!(removed.len(), 12);
    assert!(removed.iter().all(|mark| mark.1 == "removed"), "{removed:?}");
    assert_eq!(marks(&functions[1], "difference"), [("tanh", "added", "added")]);
    let lost = &functions[2];
    assert_eq!(lost["total"]["macs"]["value"], 0);
    assert!(!lost["groups"].as_array().expect("groups").is_empty(), "{lost}");
    // What is in no function of the document leads to its end.
    let lines = format!("{A}{new}").lines().count();
    assert_eq!(lost["rows"][3]["range"]["start"], json!({ "line": lines, "character": 0 }));
    assert_eq!(client.finish(), Some(0));
}

/// The layers around a call that was removed are those of the version after; what took its result takes it.
#[test]
fn layers_of_two_versions_have_the_calls_that_were_removed() {
    let mut text = "def @main(%x: Tensor[(4, 8), float32]".to_owned();
    for at in 0..4 {
        text += &format!(", %layer{at}.up.weight: Tensor[(8, 8), float32]");
        text += &format!(", %layer{at}.down.weight: Tensor[(8, 8), float32]");
    }
    text += ") {\n";
    for at in 0..4 {
        let last = if at == 0 { "%x".to_owned() } else { format!("%d{}", at - 1) };
        text += &format!("  %u{at} = nn.dense({last}, %layer{at}.up.weight, units=8);\n");
        text += &format!("  %r{at} = nn.relu(%u{at});\n");
        text += &format!("  %d{at} = nn.dense(%r{at}, %layer{at}.down.weight, units=8);\n");
    }
    text += "  %d3\n}\n";
    let after = text.replace("  %r2 = nn.relu(%u2);\n", "").replace("(%r2,", "(%u2,");
    let mut client = Client::start_with(json!({}), Value::Null);
    client.open("file:///before.relay", &text);
    client.open("file:///after.relay", &after);
    let plain = report(&mut client, "file:///after.relay", None);
    let merged = report(&mut client, "file:///after.relay", Some("file:///before.relay"));
    let count = |function: &Value| function["rows"].as_array().map_or(0, Vec::len);
    assert_eq!((count(&plain), count(&merged)), (11, 12));
    let removed: Vec<_> =
        marks(&merged, "difference").into_iter().filter(|mark| mark.1 == "removed").collect();
    assert_eq!(removed, [("nn.relu", "removed", "removed")]);
    let taken = &merged["rows"][8]["inputs"];
    assert!(taken.as_array().expect("inputs").contains(&json!({ "row": 7 })), "{taken}");
    // Every group covers rows that exist, in order.
    let mut groups: Vec<&Value> = merged["groups"].as_array().expect("groups").iter().collect();
    assert!(!groups.is_empty(), "{merged}");
    while let Some(group) = groups.pop() {
        for rows in group["rows"].as_array().expect("rows") {
            let (start, end) = (rows[0].as_u64().expect("a row"), rows[1].as_u64().expect("a row"));
            assert!(start < end && end <= 12, "{group}");
        }
        groups.extend(group["groups"].as_array().expect("groups"));
    }
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn pages_of_comparisons_have_graphs_in_these_colours() {
    let files = [("a.relay", A.as_bytes()), ("b.relay", B.as_bytes())];
    let folder = Folder::new("colourings", &files);
    for (command, key) in [("diff", "difference"), ("compare", "error")] {
        let page = folder.run(&[command, "a.relay", "b.relay", "--format", "html"]);
        let (_, data) = page.out.split_once("id=\"graphs\">").expect("graphs");
        let (data, _) = data.split_once("</script>").expect("the end of the data");
        let functions: Value = serde_json::from_str(data).expect("a document");
        assert_eq!(functions[0]["colourings"][0]["key"], key);
        assert!(!marks(&functions[0], key).is_empty(), "{functions}");
        let same = folder.run(&[command, "a.relay", "a.relay", "--format", "html"]);
        let has_graphs = same.out.contains("id=\"graphs\">");
        // Equal modules have nothing to show.
        assert_eq!(has_graphs, command == "compare", "{command}");
    }
}
