//! The requests for comparison, passes and history.

use std::path::PathBuf;

use relay_tests::client::{Client, range};
use serde_json::{Value, json};

const A: &str = "\
#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 4), float32]) {
  %0 = tanh(%x);
  %1 = nn.softmax(%0, axis=1);
  add(%1, %0)
}
";

/// `A` with other names and numbers.
const OTHER_NAMES: &str = "\
#[version = \"0.0.5\"]
def @main(%input: Tensor[(2, 4), float32]) {
  %7 = tanh(%input);
  %8 = nn.softmax(%7, axis=1);
  add(%8, %7)
}
";

/// `A` with other names, in the other notation.
const RENAMED: &str = "\
#[version = \"0.0.5\"]
def @main(%input: Tensor[(2, 4), float32]) {
  let %a = tanh(%input);
  let %b = nn.softmax(%a, axis=1);
  add(%b, %a)
}
";

const B: &str = "\
#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 4), float32]) {
  %0 = tanh(%x);
  %1 = nn.softmax(%0, axis=0);
  add(%1, exp(%0))
}
";

fn log() -> String {
    format!(
        "[10:00:00] a.cc:1: PrintIR(InferType):\n{A}\n[10:00:01] a.cc:1: PrintIR(Other):\n{OTHER_NAMES}\n\
         [10:00:02] a.cc:1: PrintIR(Last):\n{B}\n"
    )
}

fn client() -> Client {
    let abilities = json!({ "general": { "positionEncodings": ["utf-8"] } });
    Client::start_with(abilities, Value::Null)
}

fn result(client: &mut Client, method: &str, params: Value) -> Value {
    let answer = client.request(method, params);
    assert!(answer["error"].is_null(), "{method}: {answer}");
    answer["result"].clone()
}

/// Returns the marks of an editor: the pairs that differ, with the ranges of the differences.
fn marked(comparison: &Value) -> Vec<Value> {
    let functions = comparison["functions"].as_array().expect("functions");
    let pairs = functions.iter().flat_map(|f| f["pairs"].as_array().expect("pairs"));
    pairs.filter(|pair| pair["kind"] != "same").cloned().collect()
}

#[test]
fn open_documents_and_texts_are_compared() {
    let mut client = client();
    client.open("file:///a.relay", A);
    client.open("file:///b.relay", B);
    let before = json!({ "uri": "file:///a.relay" });
    let ask = |after: Value| json!({ "before": before, "after": after });

    let text = json!({ "uri": "file:///a.relay", "text": RENAMED, "name": "clipboard" });
    let equal = result(&mut client, "relay/compare", ask(text));
    assert_eq!(equal["equal"], true, "{equal}");
    assert_eq!(equal["report"], "`a.relay` and `clipboard` are equal in structure\n");
    // Every expression has a counterpart, even without changes.
    assert!(marked(&equal).is_empty());
    assert_eq!(
        equal["functions"][0]["pairs"].as_array().map(Vec::len),
        Some(4),
        "with the parameter: {equal}"
    );

    let changed = result(&mut client, "relay/compare", ask(json!({ "uri": "file:///b.relay" })));
    assert_eq!(changed["equal"], false);
    let softmax = &marked(&changed)[0];
    assert_eq!(softmax["kind"], "changed");
    assert_eq!(softmax["changes"][0]["text"], "attribute axis 1 → 0");
    assert_eq!(softmax["changes"][0]["after"], range((3, 22), (3, 28)), "{softmax}");
    let added = &changed["functions"][0]["added"];
    assert_eq!(added[0]["operator"], "exp");
    assert_eq!(added[0]["range"], range((4, 10), (4, 17)));

    // Each place in the report leads to the expressions of its change.
    let report: Vec<&str> = changed["report"].as_str().expect("a report").lines().collect();
    let links = changed["links"].as_array().expect("links").iter().map(|link| {
        let (start, end) = (&link["range"]["start"], &link["range"]["end"]);
        let at = |place: &Value| place.as_u64().expect("a number") as usize;
        let text = &report[at(&start["line"])][at(&start["character"])..at(&end["character"])];
        json!([text, link["before"]["start"]["line"], link["after"]["start"]["line"]])
    });
    let links: Vec<Value> = links.collect();
    assert_eq!(links, [json!(["4:8", 3, 3]), json!(["4:8", 3, 3]), json!(["5:11", null, 4])]);
    assert_eq!(changed["fillers"], json!([]));
    let text = B.replacen("  %1 =", "  // One\n  // two.\n  %1 =", 1);
    let moved = result(
        &mut client,
        "relay/compare",
        ask(json!({ "uri": "file:///b.relay", "text": text })),
    );
    assert_eq!(moved["fillers"], json!([{ "side": "before", "line": 3, "count": 2 }]));

    // The comparison is of the current text.
    client.replace("file:///b.relay", 2, RENAMED);
    let again = result(&mut client, "relay/compare", ask(json!({ "uri": "file:///b.relay" })));
    assert_eq!(again["equal"], true);
    client.replace("file:///b.relay", 3, "def @main( {");
    let broken = result(&mut client, "relay/compare", ask(json!({ "uri": "file:///b.relay" })));
    assert_eq!(broken["broken"], json!(["b.relay"]));
    // A text with syntax errors is not equal to any, also not to itself.
    let side = json!({ "uri": "file:///b.relay" });
    let own = result(&mut client, "relay/compare", json!({ "before": side, "after": side }));
    assert_eq!((&own["equal"], &own["broken"]), (&json!(false), &json!(["b.relay", "b.relay"])));
    assert_eq!(own["headline"], "the valid parts are equal in structure");
    assert_eq!(own["report"], "`b.relay` → `b.relay`: the valid parts are equal in structure\n");
    assert_eq!(client.finish(), Some(0));
}

/// An editor stops at each change in order, with a place on both sides: also at functions of one side.
#[test]
fn stops_are_the_changes_in_order() {
    let after = B.replace("def @main", "def @new(%x: int32) { %x }\n\ndef @main");
    let mut client = client();
    client.open("file:///a.relay", A);
    client.open("file:///b.relay", &after);
    let sides =
        json!({ "before": { "uri": "file:///a.relay" }, "after": { "uri": "file:///b.relay" } });
    let found = result(&mut client, "relay/compare", sides);
    let stops = found["stops"].as_array().expect("stops");
    let kinds: Vec<_> = stops.iter().map(|stop| stop["kind"].as_str().expect("a kind")).collect();
    assert_eq!(kinds, ["added", "changed", "added"], "{found}");
    assert_eq!(stops[0]["after"], range((1, 0), (1, 8)), "the name of the function");
    assert_eq!(stops[0]["without"], "before");
    assert_eq!(stops[1]["without"], Value::Null);
    // The call that was added is in the sum, which the other side has.
    assert_eq!(stops[2]["before"], range((4, 2), (4, 13)));
    assert_eq!(marked(&found)[0]["changes"][0]["note"], "axis 1 → 0");
    assert_eq!(client.finish(), Some(0));
}

/// Comparisons after edits equal those of a new server, although analyses of the other side are cached,
/// also with more sides than the cache has entries.
#[test]
fn comparison_is_independent_of_earlier_ones() {
    let bases = [A, OTHER_NAMES, RENAMED, B, "def @main( {", ""];
    let mut client = client();
    client.open("file:///a.relay", A);
    for (version, text) in (2..).zip([B, RENAMED, &A.replace("tanh", "exp"), "def @main(", A]) {
        client.replace("file:///a.relay", version, text);
        let mut fresh = self::client();
        fresh.open("file:///a.relay", text);
        for base in bases.iter().chain(bases.iter().rev()) {
            let before = json!({ "uri": "file:///a.relay", "text": base, "name": "base" });
            let params = json!({ "before": before, "after": { "uri": "file:///a.relay" } });
            let found = result(&mut client, "relay/compare", params.clone());
            assert_eq!(found, result(&mut fresh, "relay/compare", params), "{base} {text}");
        }
        assert_eq!(fresh.finish(), Some(0));
    }
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn modules_of_a_log_are_listed_opened_and_traced() {
    // It is not open in the editor: the server reads it from disk.
    let path = std::env::temp_dir().join(format!("relay-between-{}.log", std::process::id()));
    std::fs::write(&path, log()).expect("a file");
    let _gone = Gone(path.clone());
    let uri = format!("file://{}", path.display());
    let document = json!({ "uri": uri });
    let mut client = client();

    let passes = result(&mut client, "relay/passes", json!({ "textDocument": document }));
    let modules = passes["modules"].as_array().expect("modules").clone();
    let row = |module: &Value| json!([module["pass"], module["changed"]]);
    let rows: Vec<Value> = modules.iter().map(row).collect();
    assert_eq!(rows, [json!(["InferType", []]), json!(["Other", []]), json!(["Last", ["@main"]])]);

    for (module, wanted) in [(json!(1), OTHER_NAMES), (json!("Last"), B)] {
        let params = json!({ "textDocument": document, "module": module });
        let text = result(&mut client, "relay/moduleText", params);
        assert_eq!(text["text"].as_str().map(str::trim_end), Some(wanted.trim_end()));
    }

    let side = |module: Value| json!({ "uri": uri, "module": module });
    let params = json!({ "before": side(json!(0)), "after": side(json!("Last")) });
    let compared = result(&mut client, "relay/compare", params);
    assert_eq!(marked(&compared)[0]["before"]["start"]["line"], 3, "in lines of the module");

    // `nn.softmax` of the module in the middle.
    let place = json!({ "line": 3, "character": 12 });
    let params = json!({ "textDocument": document, "module": 1, "position": place });
    let history = result(&mut client, "relay/history", params);
    let stops = history["stops"].as_array().expect("stops");
    let texts: Vec<&str> = stops.iter().filter_map(|stop| stop["text"].as_str()).collect();
    assert_eq!(
        texts,
        ["nn.softmax(%0, axis=1)", "nn.softmax(%7, axis=1)", "nn.softmax(%0, axis=0)"]
    );
    assert_eq!(history["here"], 1);
    assert_eq!(stops[1]["kind"], "same");
    assert_eq!(stops[2]["changes"], json!(["attribute axis 1 → 0"]));
    // The history of a binding's name is that of its value.
    for character in [2, 3, 4] {
        let place = json!({ "line": 3, "character": character });
        let params = json!({ "textDocument": document, "module": 1, "position": place });
        assert_eq!(result(&mut client, "relay/history", params), history);
    }

    for (method, params, reason) in [
        ("relay/moduleText", json!({ "textDocument": document, "module": 9 }), "3 modules"),
        ("relay/moduleText", json!({ "textDocument": document, "module": "No" }), "InferType"),
        ("relay/passes", json!({ "textDocument": { "uri": "untitled:x" } }), "neither open"),
        ("relay/passes", json!({ "textDocument": { "uri": "file:///none.log" } }), "none.log"),
    ] {
        let answer = client.request(method, params);
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(reason), "{answer}");
    }
    assert_eq!(client.finish(), Some(0));
}

/// Deletes a file at the end of a test.
struct Gone(PathBuf);

impl Drop for Gone {
    fn drop(&mut self) {
        // Other processes may still have it open.
        let _ = std::fs::remove_file(&self.0);
    }
}
