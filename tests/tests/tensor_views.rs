//! Views of tensors without the debugger: of results, values, weights, and pairs of a comparison.

use relay_tests::{
    arrays::params,
    client::{Client, at, range},
    command::Folder,
    runs::{URI, client, run},
};
use serde_json::{Value, json};

const PAIR: &str = "\
def @main(%x: Tensor[(2, 2, 2), float32]) {
  let %t = (%x, (exp(%x), 3));
  %t
}
";

fn title(found: &Value) -> &str {
    found["view"]["tensor"]["picture"]["title"].as_str().unwrap_or_default()
}

/// A part of the result is computed again, as are parts of variables that are tuples.
#[test]
fn parts_of_results_have_views() {
    let mut client = client(json!({}), Value::Null);
    client.open(URI, PAIR);
    let view = |client: &mut Client, value: Value, slice: &str| {
        run(client, json!({ "uri": URI, "value": value, "view": { "slice": slice } }))
    };
    let found = view(&mut client, json!({ "part": "result.0" }), "");
    let nothing = "nothing was run in this file since it was opened: run a function first";
    assert_eq!((&found["status"], &found["title"]), (&json!("failed"), &json!(nothing)));
    let x = json!([[[0, 1], [2, 3]], [[4, 5], [6, 7]]]);
    let found = run(&mut client, json!({ "uri": URI, "inputs": { "x": x } }));
    let names: Vec<&str> = found["tensors"]
        .as_array()
        .expect("tensors")
        .iter()
        .filter_map(|tensor| tensor["name"].as_str())
        .collect();
    assert_eq!(names, ["result.0", "result.1.0", "result.1.1"]);
    let found = view(&mut client, json!({ "part": "result.0" }), "[1]");
    assert_eq!(title(&found), "result.0[1, :, :]", "{found}");
    assert_eq!(found["view"]["tensor"]["picture"]["texts"], json!(["4", "5", "6", "7"]));
    let found = view(&mut client, json!({ "part": "result.1.0" }), "[0, 0, 0]");
    assert_eq!(found["view"]["tensor"]["picture"]["texts"], json!(["1"]), "{found}");
    let place = json!({ "line": 1, "character": 7 });
    let found = view(&mut client, json!({ "position": place, "part": "result.1.0" }), "[0, 0]");
    assert_eq!(title(&found), "%t.1.0[0, 0, :]", "{found}");
    // The whole tensor is saved, but not over what the run reads.
    let folder = Folder::new("saved-parts", &[]);
    let file = |name: &str| format!("file://{}", folder.path().join(name).display());
    let save = |client: &mut Client, part: &str, name: &str| {
        let value = json!({ "part": part });
        let found = run(client, json!({ "uri": URI, "value": value, "save": file(name) }));
        found["title"].as_str().unwrap_or_default().to_owned()
    };
    let title_of = save(&mut client, "result.0", "part.npy");
    assert_eq!(title_of, "result.0 (1 of 1): saved Tensor[(2, 2, 2), float32]");
    let bytes = std::fs::read(folder.path().join("part.npy")).expect("an array");
    assert!(bytes.starts_with(b"\x93NUMPY") && bytes.ends_with(&7f32.to_le_bytes()));
    assert!(save(&mut client, "result.0", "part.txt").ends_with("is no `.npy` file: name one"));
    let refused = save(&mut client, "result.1", "part.npy");
    assert_eq!(refused, "only tensors can be saved, not a tuple of 2 fields");
    for (value, message) in [
        (json!({}), "result is a tuple of 2 fields: only tensors have views"),
        (json!({ "part": "result.2" }), "the value has no part `result.2`"),
        (json!({ "part": "result.x" }), "`result.x` is no part of a value, such as `result.0`"),
    ] {
        let found = view(&mut client, value, "");
        assert_eq!((&found["status"], &found["title"]), (&json!("failed"), &json!(message)));
    }
}

/// The label of a tensor opens its view in clients that announce the command.
#[test]
fn labels_of_tensors_are_clickable() {
    let capabilities = json!({
        "general": { "positionEncodings": ["utf-8"] },
        "experimental": { "commands": { "commands": ["relay.run", "relay.viewTensor"] } },
    });
    let mut client = Client::start_with(capabilities, Value::Null);
    client.open(URI, PAIR);
    assert_eq!(run(&mut client, json!({ "uri": URI }))["status"], "done");
    let params = json!({ "textDocument": { "uri": URI }, "range": range((0, 0), (9, 0)) });
    let hints = client.request("textDocument/inlayHint", params)["result"].clone();
    let hints = hints.as_array().expect("hints");
    let part = hints.iter().map(|hint| &hint["label"][0]).find(|part| part.is_object());
    let part = part.expect("a label with parts");
    assert!(part["value"].as_str().is_some_and(|text| text.starts_with("= ")), "{part}");
    assert_eq!(part["command"]["command"], "relay.viewTensor");
    let place = json!({ "line": 0, "character": 10 });
    assert_eq!(part["command"]["arguments"], json!([URI, place, 1]));
    // A tuple has no view.
    let is_text = |hint: &Value| hint["label"].as_str().is_some_and(|text| text.starts_with("= ("));
    assert!(hints.iter().any(is_text), "{hints:?}");
}

/// Constants and arrays of parameters need no run. Their hovers link to the views.
#[test]
fn weights_have_views() {
    let bound = "\
#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(2, 3), float32]) {
  %0 = add(%x, %w);
  %0
}
";
    let elements: Vec<u8> =
        [0f32, 1., 2., 3., 4., 5.].iter().flat_map(|x| x.to_le_bytes()).collect();
    let array = params(&[("w", &[2, 3], &elements)]);
    let files: [(&str, &[u8]); 2] = [("net.relay", bound.as_bytes()), ("net.params", &array)];
    let folder = Folder::new("tensor-views", &files);
    let bind = folder.run(&["bind", "net.relay", "--params", "net.params", "-o", "bound.relay"]);
    assert_eq!(bind.code, Some(0), "{bind:?}");
    let capabilities = json!({
        "general": { "positionEncodings": ["utf-8"] },
        "textDocument": { "hover": { "contentFormat": ["markdown"] } },
        "experimental": { "commands": { "commands": ["relay.run", "relay.viewTensor"] } },
    });
    let mut client = Client::start_with(capabilities, Value::Null);
    for (name, (line, column), wanted) in
        [("net.relay", (2, 15), "%w[1, :]"), ("bound.relay", (2, 20), "constant_0[1, :]")]
    {
        let uri = format!("file://{}", folder.path().join(name).display());
        let text = std::fs::read_to_string(folder.path().join(name)).expect("a module");
        client.open(&uri, &text);
        let hover = client.request("textDocument/hover", at(&uri, line, column));
        let hover = hover["result"]["contents"]["value"].as_str().unwrap_or_default();
        assert!(hover.contains("[View Tensor](command:relay.viewTensor?"), "{text}{hover}");
        let value = json!({ "position": { "line": line, "character": column } });
        let view = json!({ "slice": "[1]", "listing": true });
        let found = run(&mut client, json!({ "uri": uri, "value": value, "view": view }));
        assert_eq!(title(&found), wanted, "{found}");
        let tensor = &found["view"]["tensor"];
        assert_eq!(tensor["picture"]["texts"], json!(["3", "4", "5"]));
        assert_eq!(tensor["listing"]["previous"], "[0, :]", "{tensor}");
        // Other parameters have no array.
        let hover = client.request("textDocument/hover", at(&uri, line, 12));
        assert!(!hover.to_string().contains("viewTensor"), "{hover}");
    }
    let uri = format!("file://{}", folder.path().join("net.relay").display());
    let value = json!({ "position": { "line": 1, "character": 11 } });
    let found = run(&mut client, json!({ "uri": uri, "value": value, "view": {} }));
    assert!(found["title"].as_str().is_some_and(|text| text.starts_with("nothing was run")));
    // A value of the last run comes before the file.
    let given = json!({ "x": [[0, 0, 0], [0, 0, 0]], "w": [[9, 9, 9], [9, 9, 9]] });
    assert_eq!(run(&mut client, json!({ "uri": uri, "inputs": given }))["status"], "done");
    let value = json!({ "position": { "line": 2, "character": 15 } });
    let view = json!({ "slice": "[0, 0]" });
    let found = run(&mut client, json!({ "uri": uri, "value": value, "view": view }));
    assert_eq!(found["view"]["tensor"]["picture"]["texts"], json!(["9"]), "{found}");
}
