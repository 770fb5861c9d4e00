//! The values of the last run in hints, hovers and tooltips, and where its time went.

use relay_tests::{
    client::{Client, at, range},
    runs::{NET, URI, client, marks, run, values},
};
use serde_json::{Value, json};

/// Of a variable with several values, the label says which one it shows, and the hover lists them.
#[test]
fn several_values_are_listed() {
    let mut client = client(json!({}), Value::Null);
    let text = "\
def @down(%n: int32, %x: Tensor[(2), float32]) -> Tensor[(2), float32] {
  let %y = %x * 2f;
  if (%n == 0) { %y } else { @down(%n - 1, %y) }
}
def @main(%x: Tensor[(2), float32]) { @down(199, %x) }
";
    client.open(URI, text);
    let given = json!({ "uri": URI, "function": "@main", "inputs": { "x": [1, 2] } });
    assert_eq!(run(&mut client, given)["status"], "done");
    let hover = |client: &mut Client, line, column| {
        let hover = client.request("textDocument/hover", at(URI, line, column));
        hover["result"]["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let text = hover(&mut client, 0, 11);
    assert!(text.contains("200 values in the last run"), "{text}");
    for row in ["\n  1: 199\n  2: 198\n", "\n 64: 136\n…\n200: 0"] {
        assert!(text.contains(row), "{row}{text}");
    }
    let text = hover(&mut client, 1, 7);
    assert!(text.contains("\n…\n200: (2,), 2 Inf"), "{text}");
    let text = hover(&mut client, 4, 11);
    assert!(text.contains("in the last run: `(2,) min 1 mean 1.5 max 2`"), "{text}");
    assert!(!text.contains("values"), "{text}");
    let labels = values(&mut client);
    assert!(labels.contains(&(0, "199 (1 of 200)".to_owned())), "{labels:?}");
    // Each of the others is computed again.
    assert!(hover(&mut client, 0, 11).contains("not kept: 65 to 199; "));
    let value = |client: &mut Client, number: u64| {
        let position = json!({ "line": 0, "character": 11 });
        run(client, json!({ "uri": URI, "value": { "position": position, "number": number } }))
    };
    for (number, text) in [(1, "199"), (65, "135"), (100, "100"), (200, "0")] {
        let found = value(&mut client, number);
        assert_eq!(
            found["value"]["data"],
            json!([text.parse::<i64>().expect("a number")]),
            "{found}"
        );
        assert_eq!(found["title"], format!("%n ({number} of 200): {text} (int32)"), "{found}");
    }
    for number in [0, 201] {
        let found = value(&mut client, number);
        let message = format!("%n has 200 values in the last run: there is no value {number}");
        assert_eq!((&found["status"], &found["title"]), (&json!("failed"), &json!(message)));
    }
    // A view of a value is part of its result.
    let view = |client: &mut Client, (line, character): (u32, u32), slice: &str| {
        let position = json!({ "line": line, "character": character });
        let value = json!({ "position": position, "number": 3 });
        run(client, json!({ "uri": URI, "value": value, "view": { "slice": slice } }))
    };
    let found = view(&mut client, (1, 7), "[1]");
    let shown = &found["view"];
    assert_eq!((&shown["number"], &shown["count"]), (&json!(3), &json!(200)), "{found}");
    let picture = &shown["tensor"]["picture"];
    assert_eq!((&picture["title"], &picture["texts"]), (&json!("%y[1]"), &json!(["16"])));
    let found = view(&mut client, (1, 7), "[2]");
    assert_eq!(found["title"], "axis 0 has 2 elements: there is no index 2");
    // It is no run of its own: the values stay.
    assert_eq!(values(&mut client), labels);
    // Nothing is infinite in the first hundred calls.
    assert_eq!(marks(&mut client), [("run-not-finite".to_owned(), 1)]);
}

/// The values of any call of a function can be shown, after the run has ended.
#[test]
fn values_of_one_call_are_shown() {
    let mut client = client(json!({}), Value::Null);
    let text = "\
def @down(%n: int32, %x: int32) -> int32 {
  let %y = %x * 2;
  if (%n == 0) {
    let %last = %y + 1;
    %last
  } else {
    let %deep = @down(%n - 1, %y);
    let %z = %deep - %n;
    %z
  }
}
def @main(%x: int32) {
  let %a = @down(99, %x);
  let %b = @down(0, 5);
  %a + %b
}
def @never(%x: int32) { %x }
";
    client.open(URI, text);
    let given = json!({ "uri": URI, "function": "@main", "inputs": { "x": 0 } });
    assert_eq!(run(&mut client, given)["status"], "done");
    let call = |client: &mut Client, line: u32, which: Value| {
        let mut call = which;
        call["position"] = json!({ "line": line, "character": 7 });
        let found = run(client, json!({ "uri": URI, "call": call }));
        (found["status"].clone(), found["title"].as_str().unwrap_or_default().to_owned())
    };
    let first = values(&mut client);
    assert!(first.contains(&(0, "99 (1 of 101)".to_owned())), "{first:?}");
    let done = |title: &str| (json!("done"), title.to_owned());
    assert_eq!(call(&mut client, 1, json!({ "number": 3 })), done("@down: call 3 of 101"));
    // Recursive calls inside of it have ended when it gets `%z`, which is one of the last values of that variable.
    let labels = |texts: &[(u64, &str)]| -> Vec<(u64, String)> {
        texts.iter().map(|(line, text)| (*line, (*text).to_owned())).collect()
    };
    let of_main = [(11, "0"), (12, "-4949"), (13, "11")];
    let shown = [
        &[
            (0, "97 (3 of 101)"),
            (0, "0 (3 of 101)"),
            (1, "0 (3 of 101)"),
            (3, "no value (call 3 of 101)"),
            (6, "-4655 (97 of 99)"),
            (7, "-4752 (97 of 99)"),
        ][..],
        &of_main,
    ];
    assert_eq!(values(&mut client), labels(&shown.concat()));
    let hover = client.request("textDocument/hover", at(URI, 7, 9));
    let text = hover["result"]["contents"]["value"].as_str().unwrap_or_default();
    assert!(text.contains("in call 3 of 101: value 97 of 99, `-4752`"), "{text}");
    assert!(text.contains("99 values in the last run"), "{text}");
    // The calls before and after it.
    assert_eq!(call(&mut client, 1, json!({ "step": 1 })), done("@down: call 4 of 101"));
    assert!(values(&mut client).contains(&(0, "96 (4 of 101)".to_owned())));
    assert_eq!(call(&mut client, 1, json!({ "step": -3 })), done("@down: call 1 of 101"));
    let failed = |title: &str| (json!("failed"), title.to_owned());
    let none = "@down has 101 calls in the last run: there is no call 0";
    assert_eq!(call(&mut client, 1, json!({ "step": -1 })), failed(none));
    assert_eq!(call(&mut client, 1, json!({ "number": 101 })), done("@down: call 101 of 101"));
    assert!(values(&mut client).contains(&(3, "11 (2 of 2)".to_owned())));
    assert!(values(&mut client).contains(&(7, "no value (call 101 of 101)".to_owned())));
    // The values of other functions stay.
    assert_eq!(call(&mut client, 11, json!({ "number": 1 })), done("@main: call 1 of 1"));
    assert!(values(&mut client).contains(&(3, "11 (2 of 2)".to_owned())));
    // Another run begins with the first values, and an edit ends it.
    let given = json!({ "uri": URI, "function": "@main", "inputs": { "x": 0 } });
    assert_eq!(run(&mut client, given)["status"], "done");
    assert_eq!(values(&mut client), first);
    let nowhere = "there is no function here that was called in the last run";
    assert_eq!(call(&mut client, 16, json!({ "number": 1 })), failed(nowhere));
}

/// The hover of a value links to its view and to the calls beside the one that is shown, in clients with these commands.
#[test]
fn hovers_of_values_have_links() {
    let text = "\
def @down(%n: int32, %x: Tensor[(2), float32]) -> Tensor[(2), float32] {
  if (%n == 0) { %x } else { @down(%n - 1, %x) }
}
def @main(%x: Tensor[(2), float32]) { @down(3, %x) }
";
    let hovers = |commands: Value| {
        let capabilities = json!({
            "textDocument": { "hover": { "contentFormat": ["markdown"] } },
            "experimental": { "commands": { "commands": commands } },
        });
        let mut client = Client::start_with(capabilities, Value::Null);
        client.open(URI, text);
        let given = json!({ "uri": URI, "function": "@main", "inputs": { "x": [1, 2] } });
        assert_eq!(run(&mut client, given)["status"], "done");
        [(0, 21), (3, 10)].map(|(line, column)| {
            let hover = client.request("textDocument/hover", at(URI, line, column));
            let text = hover["result"]["contents"]["value"].as_str().unwrap_or_default();
            let links = text.split("](command:").skip(1);
            let names = links.map(|link| link.split('?').next().unwrap_or_default().to_owned());
            names.collect::<Vec<String>>()
        })
    };
    assert_eq!(hovers(json!(["relay.run"])), [const { Vec::<String>::new() }; 2]);
    let [several, single] =
        hovers(json!(["relay.run", "relay.viewTensor", "relay.previousCall", "relay.nextCall"]));
    assert_eq!(several, ["relay.viewTensor", "relay.previousCall", "relay.nextCall"]);
    assert_eq!(single, ["relay.viewTensor"]);
}

/// Variables of patterns have values. A constructor without fields is its name, and other values show their fields.
#[test]
fn values_of_data_types_are_shown() {
    let capabilities = json!({
        "textDocument": { "hover": { "contentFormat": ["markdown"] } },
        "experimental": { "commands": { "commands": ["relay.run"] } },
    });
    let mut client = Client::start_with(capabilities, Value::Null);
    let text = "\
type T { L, N(T, int32, T) }
def @main(%n: int32) -> int32 {
  let %e = L;
  let %t = N(N(%e, 30000001, L), %n, N(L, 4, N(L, 5, N(L, 6, L))));
  match (%t) {
    N(%l, %v, _) => %v,
    L => 0,
  }
}
";
    client.open(URI, text);
    let result = run(&mut client, json!({ "uri": URI, "inputs": { "n": 30_000_002 } }));
    assert_eq!(result["status"], "done", "{result}");
    let labels = values(&mut client);
    let wanted = [
        (1, "30000002"),
        (2, "L"),
        (3, "N(N(L, 30000001, L), 30000002, N(L, 4, N(…)))"),
        (5, "N(L, 30000001, L)"),
        (5, "30000002"),
    ];
    assert_eq!(labels, wanted.map(|(line, label)| (line, label.to_owned())));
    let hover = client.request("textDocument/hover", at(URI, 3, 7));
    let text = hover["result"]["contents"]["value"].as_str().unwrap_or_default();
    let whole = "N(N(L, 30000001, L), 30000002, N(L, 4, N(L, 5, N(L, 6, L))))";
    assert!(text.contains(&format!("```relay\n{whole}\n```")), "{text}");
}

/// A value has the elements and the distribution that a constant has, and tooltips are Markdown.
#[test]
fn values_show_elements_and_their_distribution() {
    let capabilities = json!({
        "textDocument": { "hover": { "contentFormat": ["markdown"] } },
        "experimental": { "commands": { "commands": ["relay.run"] } },
    });
    let mut client = Client::start_with(capabilities, Value::Null);
    client.open(URI, "def @main(%x: Tensor[(4), float32]) {\n  let %y = %x * 2f;\n  %y\n}\n");
    let result = run(&mut client, json!({ "uri": URI, "inputs": { "x": [0, 1, 2, 4] } }));
    assert_eq!(result["status"], "done", "{result}");
    let shown =
        "`(4,) min 0 mean 3.5 max 8`\n\nmin 0, max 8, mean 3.5, 1 zero\n\nelements: 0, 2, 4, 8";
    let hover = client.request("textDocument/hover", at(URI, 1, 7));
    let text = hover["result"]["contents"]["value"].as_str().unwrap_or_default();
    assert!(text.contains(shown) && text.contains("▏ 8"), "{text}");
    let params = json!({ "textDocument": { "uri": URI }, "range": range((0, 0), (9, 0)) });
    let hints = client.request("textDocument/inlayHint", params);
    let hints = hints["result"].as_array().expect("hints").iter();
    let values: Vec<&Value> = hints.filter(|h| h["label"] == "= min 0 mean 3.5 max 8").collect();
    let [value] = values.as_slice() else { panic!("{values:?}") };
    assert_eq!(value["tooltip"]["kind"], "markdown");
    assert!(value["tooltip"]["value"].as_str().is_some_and(|text| text.contains(shown)), "{value}");
}

/// The parts of the time of a run sum to it.
#[test]
fn times_of_a_run_add_up() {
    let mut client = client(json!({}), Value::Null);
    client.open(URI, NET);
    let result = run(&mut client, json!({ "uri": URI, "function": "@main" }));
    let total = &result["profile"]["total"];
    let number = |time: &Value| time["value"].as_f64().expect("seconds");
    let parts = total["parts"].as_array().expect("parts");
    let names: Vec<&str> = parts.iter().filter_map(|part| part["what"].as_str()).collect();
    assert_eq!(names, ["operators", "values for the editor", "interpreter"], "{total}");
    let sum: f64 = parts.iter().map(|part| number(&part["time"])).sum();
    assert!((sum - number(&total["wall"])).abs() < 1e-6, "{total}");
    assert_eq!(number(&parts[0]["time"]), number(&total["time"]));
}
