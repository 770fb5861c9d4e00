//! `relay/compareValues`, `relay/comparedTensors` and `relay/passErrors`: what both modules of a comparison compute, for editors.

use std::time::Duration;

use relay_tests::{
    client::{Client, range},
    command::Folder,
};
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

/// Another call in line 4, from which the following lines inherit an error.
const B: &str = "\
#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 4), float32]) {
  %0 = tanh(%x);
  // A comment, so that lines differ.
  %1 = sigmoid(%0);
  %2 = add(%1, %0);
  nn.softmax(%2)
}
";

fn client(abilities: Value) -> Client {
    let mut client = Client::start_with(abilities, Value::Null);
    client.open("file:///a.relay", A);
    client.open("file:///b.relay", B);
    client
}

fn compare(client: &mut Client, before: &Value, after: &Value, more: Value) -> Value {
    let mut params = json!({ "before": before, "after": after });
    for (key, value) in more.as_object().expect("an object") {
        params[key] = value.clone();
    }
    client.request("relay/compareValues", params)
}

fn side(text: &str) -> Value {
    json!({ "uri": "file:///a.relay", "text": text, "name": "other.relay" })
}

fn files() -> (Value, Value) {
    (json!({ "uri": "file:///a.relay" }), json!({ "uri": "file:///b.relay" }))
}

/// Returns a field of each pair.
fn each(answer: &Value, field: &str) -> Vec<Value> {
    let pairs = answer["pairs"].as_array().expect("pairs");
    pairs.iter().map(|pair| pair[field].clone()).collect()
}

#[test]
fn pairs_have_places_errors_and_a_heat_on_both_sides() {
    let mut client = client(json!({}));
    let (a, b) = files();
    let found = compare(&mut client, &a, &b, json!({}))["result"].clone();
    assert_eq!(found["equal"], false, "{found}");
    assert_eq!(each(&found, "operator"), ["tanh", "sigmoid", "add", "nn.softmax"]);
    assert_eq!(each(&found, "category"), ["tolerated", "culprit", "inherited", "inherited"]);
    // The first divergence, at its places.
    assert_eq!(found["divergences"], json!([1]));
    let culprit = &found["pairs"][1];
    assert_eq!(culprit["before"], range((3, 7), (3, 14)));
    assert_eq!(culprit["after"], range((4, 7), (4, 18)));
    // Lines are marked on each side; a line whose values are equal is not.
    let marks = |line| {
        [(line, 1), (line + 1, 2), (line + 2, 3)]
            .map(|(line, pair)| json!({ "line": line, "pair": pair }))
    };
    assert_eq!(found["before"], json!(marks(3)));
    assert_eq!(found["after"], json!(marks(4)));
    // An error has a number and a text; what inherits it has no error on the operands of the first side.
    assert_eq!(each(&found, "heat")[0], 0);
    assert_eq!(each(&found, "note")[0], "");
    for pair in found["pairs"].as_array().expect("pairs").iter().skip(1) {
        let error = pair["accumulated"]["value"].as_f64().expect("a number");
        let text: f64 =
            pair["accumulated"]["text"].as_str().and_then(|it| it.parse().ok()).expect("a number");
        assert!((error - text).abs() <= 1e-3 * error && error > 0.0, "{pair}");
        let heat = pair["heat"].as_u64().expect("a number");
        assert!((2..=found["maxHeat"].as_u64().expect("a number")).contains(&heat), "{pair}");
    }
    assert_eq!(found["pairs"][2]["local"], json!({ "value": 0.0, "text": "0" }));
    let note = culprit["note"].as_str().expect("a note");
    assert!(note.starts_with("diverges by "), "{note}");
    // The hover has the values of both.
    let hover = culprit["hover"].as_str().expect("a hover");
    assert!(
        hover.starts_with("`sigmoid` has an error of its own\n\n- accumulated error: max abs"),
        "{hover}"
    );
    assert!(
        hover.contains("\n- before: (2, 4) min") && hover.contains("\n- after: (2, 4) min"),
        "{hover}"
    );
    let inherited = found["pairs"][2]["hover"].as_str().expect("a hover");
    assert!(inherited.starts_with("`add` inherits the error of its operands"), "{inherited}");
    assert!(inherited.contains("- before: "), "{inherited}");
    assert_eq!(found["notes"], json!(["`%x` is random (seed 0)"]));
    let summary = found["summary"].as_str().expect("a summary");
    assert!(summary.contains("; the modules differ; results: max abs"), "{summary}");
    assert!(summary.starts_with("first divergence: `sigmoid` in line 5"), "{summary}");
    assert!(found["report"].as_str().is_some_and(|report| report.contains("first divergence")));
    assert_eq!(client.finish(), Some(0));
}

/// The editor's answer has the numbers of the command line, whose run it is.
#[test]
fn errors_are_those_of_the_command_line() {
    let mut client = client(json!({}));
    let (a, b) = files();
    let found = compare(&mut client, &a, &b, json!({ "seed": 7 }))["result"].clone();
    let folder =
        Folder::new("compared-values", &[("a.relay", A.as_bytes()), ("b.relay", B.as_bytes())]);
    let run = folder.run(&["compare", "a.relay", "b.relay", "--random", "7", "--format", "json"]);
    let document: Value = serde_json::from_str(&run.out).expect("a document");
    let errors = |found: &Value, field: &str| -> Vec<Value> {
        let pairs = found["pairs"].as_array().expect("pairs");
        pairs
            .iter()
            .flat_map(|pair| ["local", "accumulated"].map(|of| pair[of][field].clone()))
            .collect()
    };
    assert_eq!(errors(&found, "value"), errors(&document, "max_abs"), "{found} {document}");
    assert_eq!(found["result"]["value"], document["result"]["max_abs"]);
}

#[test]
fn equal_modules_have_no_marks() {
    let mut client = client(json!({}));
    let (a, _) = files();
    let renamed = A.replace("%0", "%7");
    let found = compare(&mut client, &a, &side(&renamed), json!({}))["result"].clone();
    assert_eq!((&found["equal"], &found["divergences"]), (&json!(true), &json!([])), "{found}");
    assert_eq!((&found["before"], &found["after"]), (&json!([]), &json!([])));
    assert_eq!(found["summary"], "the results agree (4 pairs of calls compared)");
    let hover = found["pairs"][0]["hover"].as_str().expect("a hover");
    assert!(
        hover.starts_with("`tanh` has the same value on both sides\n\n- before: (2, 4)"),
        "{hover}"
    );
}

/// Modules with the same parameters and little else in common are compared, with a note.
#[test]
fn unrelated_modules_say_that_their_pairs_are_a_guess() {
    let mut client = client(json!({}));
    let (a, _) = files();
    let chain = (1..12).map(|at| format!("  %{at} = sqrt(%{});\n", at - 1)).collect::<String>();
    let other = format!(
        "def @main(%x: Tensor[(2, 4), float32]) {{\n  %0 = abs(%x);\n{chain}  sum(%11)\n}}\n"
    );
    let found = compare(&mut client, &a, &side(&other), json!({}))["result"].clone();
    let notes = found["notes"].as_array().expect("notes");
    assert!(
        notes[0].as_str().is_some_and(|note| note.ends_with("the pairs are a guess")),
        "{found}"
    );
    assert_eq!((&found["equal"], &found["result"]), (&json!(false), &Value::Null));
    let summary = found["summary"].as_str().expect("a summary");
    assert!(
        summary.starts_with("the modules differ: their results have different types"),
        "{summary}"
    );
}

/// A call that cannot be run says why, and so does what depends on it.
#[test]
fn what_cannot_be_run_has_a_reason() {
    let mut client = client(json!({}));
    let (a, _) = files();
    let other = A.replace("nn.softmax(%2)", "nn.softmax(%2, axis=7)");
    let found = compare(&mut client, &a, &side(&other), json!({}))["result"].clone();
    let last = found["pairs"].as_array().and_then(|pairs| pairs.last()).expect("a pair");
    assert_eq!(
        (&last["category"], &last["note"]),
        (&json!("notRun"), &json!("not compared")),
        "{found}"
    );
    assert_eq!((&last["local"], &last["accumulated"]), (&Value::Null, &Value::Null));
    let hover = last["hover"].as_str().expect("a hover");
    assert!(hover.starts_with("Not compared: ") && hover.contains("axis 7"), "{hover}");
    assert_eq!(found["result"], Value::Null);
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_reason() {
    let mut client = client(json!({}));
    let (a, b) = files();
    let unrelated =
        "def @main(%p: Tensor[(3), float32], %q: Tensor[(3), float32]) { add(%p, %q) }\n";
    let broken = "def @main(%x: Tensor[(2, 4), float32]) {\n  tanh(%x\n}\n";
    let wrong = json!({ "inputs": { "x": "missing.npy" } });
    for (after, more, reason) in [
        (
            side(unrelated),
            json!({}),
            "the functions have different parameters: only the second one has `%p`, `%q`",
        ),
        (side(broken), json!({}), "`other.relay` has a syntax error in line 2, column 10"),
        (side(""), json!({}), "there is no `@main` in this file"),
        (b.clone(), json!({ "function": "@other" }), "`@other`"),
        (b.clone(), wrong, "missing.npy"),
        (b.clone(), json!({ "inputs": { "y": 1 } }), "`y`"),
    ] {
        let answer = compare(&mut client, &a, &after, more);
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(reason), "{reason}: {answer}");
    }
    assert_eq!(client.finish(), Some(0));
}

/// Runs have the limits of the settings, whose names the message has.
#[test]
fn limits_are_those_of_runs() {
    let mut client = Client::start_with(json!({}), json!({ "run": { "fuel": 2 } }));
    client.open("file:///a.relay", A);
    client.open("file:///b.relay", B);
    let (a, b) = files();
    let answer = compare(&mut client, &a, &b, json!({}));
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("relay.run.fuel"), "{answer}");
}

/// The values of a pair are shown beside each other, with their difference, in a slice that is chosen.
#[test]
fn tensors_of_a_pair_are_shown() {
    let mut client = client(json!({ "general": { "positionEncodings": ["utf-8"] } }));
    let (a, b) = files();
    let found =
        compare(&mut client, &a, &b, json!({ "inputs": { "x": [[0, 0, 0, 0], [1, 1, 1, 1]] } }));
    let pair = found["result"]["pairs"]
        .as_array()
        .and_then(|pairs| pairs.iter().find(|pair| pair["operator"] == "sigmoid"))
        .expect("a pair")
        .clone();
    let mut view = |pair: &Value, slice: &str| {
        let params = json!({
            "before": a, "after": b, "inputs": { "x": [[0, 0, 0, 0], [1, 1, 1, 1]] },
            "pair": pair, "view": { "slice": slice },
        });
        client.request("relay/comparedTensors", params)
    };
    let answer = view(&pair, "[0, :2]");
    let tensor = &answer["result"];
    let of = |picture: &str| (tensor[picture]["title"].clone(), tensor[picture]["texts"].clone());
    assert_eq!(of("picture"), (json!("a.relay[0, :2]"), json!(["1", "1"])), "{answer}");
    assert_eq!(of("other"), (json!("b.relay[0, :2]"), json!(["0.5", "0.5"])));
    assert_eq!(of("difference"), (json!("a.relay − b.relay"), json!(["0.5", "0.5"])));
    let message =
        |answer: &Value| answer["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message(&view(&pair, "[7]")).contains("there is no index 7"));
    let other = json!({ "before": range((2, 2), (2, 4)), "after": range((2, 2), (2, 4)) });
    assert!(message(&view(&other, "")).contains("the calls were not computed on both sides"));
    let nowhere = json!({ "before": range((99, 0), (99, 4)), "after": range((2, 2), (2, 4)) });
    assert!(message(&view(&nowhere, "")).contains("`a.relay` has no call there"));
}

/// An endless run ends when its progress or its request is cancelled, and the server goes on.
#[test]
fn a_comparison_is_cancelled() {
    let endless = "def @f(%x: Tensor[(2, 4), float32]) -> Tensor[(2, 4), float32] { @f(tanh(%x)) }\n\
                   def @main(%x: Tensor[(2, 4), float32]) { @f(%x) }\n";
    let mut client = client(json!({ "window": { "workDoneProgress": true } }));
    let params = json!({ "before": side(endless), "after": side(endless) });
    let id = client.ask("relay/compareValues", params.clone());
    let create = client.expect("window/workDoneProgress/create");
    client.send(&json!({ "jsonrpc": "2.0", "id": create["id"], "result": null }));
    let token = create["params"]["token"].clone();
    let begin = client.wait_for("the begin of a progress", |message| {
        message["params"]["value"]["kind"] == "begin"
    });
    let title = begin["params"]["value"]["title"].as_str().unwrap_or_default();
    assert_eq!(title, "Running other.relay and other.relay");
    client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    assert_eq!(client.answer(id)["error"]["code"], -32800);
    client.wait_for("the end of the progress", |message| {
        message["params"]["token"] == token && message["params"]["value"]["kind"] == "end"
    });
    // By its request: there is room for four runs at once, so that five in a row end.
    for _ in 0..5 {
        let id = client.ask("relay/compareValues", params.clone());
        client.notify("$/cancelRequest", json!({ "id": id }));
        assert_eq!(client.answer(id)["error"]["code"], -32800);
        client.drain(Duration::from_millis(300));
    }
    let (a, b) = files();
    assert_eq!(compare(&mut client, &a, &b, json!({}))["error"], Value::Null);
    assert_eq!(client.finish(), Some(0));
}

fn log(modules: &[&str]) -> String {
    let module =
        |(at, text): (usize, &&str)| format!("[10:00:0{at}] a.cc:1: PrintIR(Pass{at}):\n{text}\n");
    modules.iter().enumerate().map(module).collect()
}

#[test]
fn passes_have_the_error_of_their_result() {
    let broken = A.replace("nn.softmax(%2)", "nn.softmax(%2, axis=7)");
    let folder = Folder::new("pass-errors", &[("run.log", log(&[A, &broken, A, B]).as_bytes())]);
    let uri = format!("file://{}/run.log", folder.path().display());
    let mut client = Client::start();
    let params = json!({ "textDocument": { "uri": uri } });
    let found = client.request("relay/passErrors", params)["result"].clone();
    let rows = found["modules"].as_array().expect("modules");
    let states: Vec<_> = rows.iter().map(|row| (&row["index"], &row["state"])).collect();
    let wanted = ["equal", "notRun", "equal", "differs"].map(Value::from);
    let wanted: Vec<_> =
        wanted.iter().enumerate().map(|(at, state)| (Value::from(at), state)).collect();
    assert_eq!(
        states,
        wanted.iter().map(|(at, state)| (at, *state)).collect::<Vec<_>>(),
        "{found}"
    );
    assert_eq!((&rows[0]["text"], &rows[1]["text"]), (&json!("0"), &json!("not run")));
    assert_eq!(rows[1]["error"], Value::Null);
    let detail = rows[1]["detail"].as_str().expect("a detail");
    assert!(detail.starts_with("line 16: ") && detail.contains("axis 7"), "{detail}");
    let error = rows[3]["error"]["value"].as_f64().expect("a number");
    assert!(error > 0.0 && rows[3]["text"] == rows[3]["error"]["text"], "{found}");
    // The numbers are those of `bisect --all`.
    let run = folder.run(&["bisect", "run.log", "--all", "--format", "json"]);
    let document: Value = serde_json::from_str(&run.out).expect("a document");
    assert_eq!(rows[3]["error"]["value"], document["modules"][3]["result"]["max_abs"]);
    assert_eq!(found["summary"], "module 3 (`Pass3`) is the first that differs from module 0");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn a_log_that_cannot_be_run_is_refused_with_a_reason() {
    let broken = A.replace("nn.softmax(%2)", "nn.softmax(%2, axis=7)");
    let folder =
        Folder::new("pass-errors-none", &[("run.log", log(&[&broken, &broken]).as_bytes())]);
    let uri = format!("file://{}/run.log", folder.path().display());
    let mut client = Client::start();
    let answer = client.request("relay/passErrors", json!({ "textDocument": { "uri": uri } }));
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("no module can be run; module 0: line 7: "), "{answer}");
}
