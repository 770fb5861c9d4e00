//! Quick fixes in code views: after a save, the file has the bytes that the fix in the whole file gives.

use std::{collections::BTreeSet, fs};

use relay_tests::{
    bound::{Tensor, section},
    client::{Client, at},
    command::Folder,
};
use serde_json::{Value, json};

/// Returns a module with `uses` of `tensors`, which it refers to in this order, and its section.
fn module(tensors: &[Tensor], uses: &[usize]) -> (String, String) {
    let mut code = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(300), float32]) {\n".to_owned();
    for (number, constant) in uses.iter().enumerate() {
        let before = if number == 0 { "%x".to_owned() } else { format!("%{}", number - 1) };
        // Comments and strings are not references.
        let comment = if number % 3 == 0 { " // meta[relay.Constant][0]" } else { "" };
        code +=
            &format!("  %{number} = add({before}, meta[relay.Constant][{constant}]);{comment}\n");
    }
    code += &format!("  %{}\n}}\n\n", uses.len().saturating_sub(1));
    (code, section(tensors))
}

/// A document of a client.
struct OpenDocument {
    uri: String,
    text: String,
    version: i64,
}

impl OpenDocument {
    fn new(client: &mut Client, uri: String, text: String) -> OpenDocument {
        client.open(&uri, &text);
        OpenDocument { uri, text, version: 1 }
    }

    fn set(&mut self, client: &mut Client, text: &str) {
        self.version += 1;
        text.clone_into(&mut self.text);
        client.replace(&self.uri, self.version, text);
    }

    /// Returns the edits of the quick fix whose title starts with `title`.
    fn offered(&self, client: &mut Client, title: &str) -> Option<Value> {
        let line = self.text.lines().position(|line| line.starts_with("#[metadata]"));
        let start = json!({ "line": line.expect("a section"), "character": 0 });
        let params = json!({ "textDocument": { "uri": self.uri },
            "range": { "start": start, "end": start },
            "context": { "diagnostics": [], "only": ["quickfix"] } });
        let found = client.request("textDocument/codeAction", params);
        let mut actions = found["result"].as_array().into_iter().flatten();
        let is_wanted =
            |action: &&Value| action["title"].as_str().is_some_and(|t| t.starts_with(title));
        let edit = &actions.find(is_wanted)?["edit"];
        Some(match edit["documentChanges"].as_array() {
            Some(changes) => changes[0]["edits"].clone(),
            None => edit["changes"][&self.uri].clone(),
        })
    }

    /// Applies such a fix; false if there is none.
    fn fix(&mut self, client: &mut Client, title: &str) -> bool {
        let Some(edits) = self.offered(client, title) else { return false };
        let text = applied(&self.text, &edits);
        self.set(client, &text);
        true
    }
}

/// Applies edits to a text of ASCII letters.
fn applied(text: &str, edits: &Value) -> String {
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let offset = |place: &Value| {
        let number = |name: &str| place[name].as_u64().expect("a number") as usize;
        starts[number("line")] + number("character")
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .expect("edits")
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            let text = edit["newText"].as_str().expect("a text");
            (offset(&range["start"]), offset(&range["end"]), text)
        })
        .collect();
    edits.sort_unstable();
    let mut out = text.to_owned();
    for (from, to, new) in edits.into_iter().rev() {
        out.replace_range(from..to, new);
    }
    out
}

fn of(folder: &Folder, name: &str) -> String {
    format!("file://{}", folder.path().join(name).display())
}

fn view(client: &mut Client, uri: &str) -> (OpenDocument, Value) {
    let opened = client.request("relay/codeView", json!({ "uri": uri }));
    let text = opened["result"]["text"].as_str().expect("a text").to_owned();
    let view = OpenDocument::new(client, uri.replace("file://", "relay-code:"), text);
    (view, opened["result"]["stamp"].clone())
}

fn save(client: &mut Client, view: &OpenDocument, stamp: &Value) -> Value {
    let params = json!({ "uri": view.uri, "stamp": stamp, "text": view.text });
    client.request("relay/saveCode", params)
}

/// Modules with random tensors, of which some are equal and some unused, in sections with line breaks of
/// both kinds: whatever is fixed, in one save or in several, with the whole file and with its code.
#[test]
fn fixes_in_a_code_view_write_what_they_write_in_the_file() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut client = Client::start();
    let mut fixed = BTreeSet::new();
    for case in 0..24 {
        let different: Vec<Tensor> = (0..4).map(|_| Tensor::drawn(&[300], &mut random)).collect();
        let count = random.usize(2..9);
        let tensors: Vec<Tensor> =
            (0..count).map(|_| different[random.usize(..4)].clone()).collect();
        let uses: Vec<usize> = (0..random.usize(1..8)).map(|_| random.usize(..count)).collect();
        let (code, section) = module(&tensors, &uses);
        let text = code + &section;
        let folder = Folder::new("fixes", &[("net.relay", text.as_bytes())]);
        let uri = of(&folder, "net.relay");
        let mut whole = OpenDocument::new(&mut client, of(&folder, "whole.relay"), text.clone());
        let (mut view, mut stamp) = view(&mut client, &uri);
        for title in [["Drop", "Share"], ["Share", "Drop"]][case % 2] {
            let is_fixed = whole.fix(&mut client, title);
            let before = view.text.clone();
            assert_eq!(view.fix(&mut client, title), is_fixed, "{title} of {case}: {}", view.text);
            if !is_fixed {
                continue;
            }
            fixed.insert(title);
            // Before a save, undo takes the fix back, and it is found to be fixed.
            let (after, disk) = (view.text.clone(), folder.text("net.relay"));
            view.set(&mut client, &before);
            let saved = save(&mut client, &view, &stamp);
            stamp = saved["result"]["stamp"].clone();
            assert!(saved["result"]["text"].is_null(), "{saved}");
            assert_eq!(folder.text("net.relay"), disk, "undo of {title} in {case}");
            view.set(&mut client, &after);
            assert!(!view.fix(&mut client, title), "{title} again in {case}");
            let saved = save(&mut client, &view, &stamp);
            stamp = saved["result"]["stamp"].clone();
            let shown = saved["result"]["text"].as_str().unwrap_or_else(|| panic!("{saved}"));
            assert_eq!(folder.text("net.relay"), whole.text, "{title} of {case}");
            let read = client.request("relay/codeView", json!({ "uri": uri }));
            assert_eq!(read["result"]["text"], shown);
            assert_eq!(read["result"]["stamp"], stamp);
            view.set(&mut client, shown);
        }
        for title in ["Drop", "Share"] {
            let [file, code] = [&whole, &view].map(|open| open.offered(&mut client, title));
            assert_eq!(file.is_some(), code.is_some(), "{title} after {case}");
        }
        for open in [&whole, &view] {
            client.notify("textDocument/didClose", json!({ "textDocument": { "uri": open.uri } }));
        }
    }
    assert_eq!(fixed, BTreeSet::from(["Drop", "Share"]));
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn several_fixes_may_be_saved_at_once() {
    let mut random = fastrand::Rng::with_seed(6);
    let tensors: Vec<Tensor> = (0..3).map(|_| Tensor::drawn(&[300], &mut random)).collect();
    let tensors: Vec<Tensor> = [0, 1, 0, 2, 1, 1].map(|at: usize| tensors[at].clone()).into();
    let (code, section) = module(&tensors, &[0, 1, 2, 4]);
    let text = code + &section;
    let folder = Folder::new("several", &[("net.relay", text.as_bytes())]);
    let uri = of(&folder, "net.relay");
    let mut client = Client::start();
    let mut whole = OpenDocument::new(&mut client, of(&folder, "whole.relay"), text);
    let (mut view, stamp) = view(&mut client, &uri);
    for title in ["Share", "Drop"] {
        assert!(whole.fix(&mut client, title) && view.fix(&mut client, title), "{title}");
    }
    assert!(view.text.ends_with("6 constants, 0.0 MB; saving drops 2-5\n"), "{}", view.text);
    // Until then, the constants have their numbers and values.
    let hover = client.request("textDocument/hover", at(&view.uri, 3, 20));
    assert!(hover.to_string().contains("entry 1 of `relay.Constant`"), "{hover}");
    for title in ["Share", "Drop"] {
        assert!(view.offered(&mut client, title).is_none(), "{title}");
    }
    // A copy is the fixed module; the file is written afterwards.
    let copy = of(&folder, "copy.relay");
    let params = json!({ "uri": view.uri, "stamp": stamp, "text": view.text, "output": copy });
    assert!(client.request("relay/saveCode", params)["result"]["text"].is_string());
    let saved = save(&mut client, &view, &stamp);
    assert!(saved["result"]["text"].is_string(), "{saved}");
    assert_eq!(folder.text("net.relay"), whole.text);
    assert_eq!(folder.text("copy.relay"), whole.text);
    // The text from before the save has other numbers, and is not saved.
    let stamp = &saved["result"]["stamp"];
    let refused = save(&mut client, &view, stamp);
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(message.contains("6 constants, and the file has 2: read it again"), "{message}");
    assert_eq!(folder.text("net.relay"), whole.text);
    // The command line merges in the same way.
    fs::write(folder.path().join("code.relay"), &view.text).expect("a file");
    let run = folder.run(&["merge", "code.relay", "--weights", "net.relay", "-o", "out.relay"]);
    assert!(run.code == Some(2) && run.err.contains("the file has 2"), "{run:?}");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn constants_that_are_used_again_are_kept() {
    let mut random = fastrand::Rng::with_seed(8);
    let tensors: Vec<Tensor> = (0..3).map(|_| Tensor::drawn(&[300], &mut random)).collect();
    let (code, section) = module(&tensors, &[1]);
    let text = code.clone() + &section;
    let folder = Folder::new("again", &[("net.relay", text.as_bytes())]);
    let mut client = Client::start();
    let (mut view, stamp) = view(&mut client, &of(&folder, "net.relay"));
    assert!(view.fix(&mut client, "Drop"));
    let used = view.text.replace(
        "add(%x, meta[relay.Constant][1])",
        "add(meta[relay.Constant][2], meta[relay.Constant][1])",
    );
    view.set(&mut client, &used);
    let saved = save(&mut client, &view, &stamp);
    let text = saved["result"]["text"].as_str().expect("a text");
    assert!(text.contains("add(meta[relay.Constant][1], meta[relay.Constant][0])"), "{text}");
    assert!(text.contains("// meta[relay.Constant][0]"), "a comment has changed: {text}");
    assert!(text.ends_with("#[metadata] folded: 2 constants, 0.0 MB\n"), "{text}");
    let weights = folder.run(&["weights", "net.relay", "--format", "json"]);
    let weights: Value = serde_json::from_str(&weights.out).expect("JSON");
    assert_eq!(weights["weights"].as_array().map(Vec::len), Some(2), "{weights}");
    // A list of constants that do not exist is refused.
    let stamp = &saved["result"]["stamp"];
    let wrong = text.replace(" MB\n", " MB; saving drops 2\n");
    view.set(&mut client, &wrong);
    let refused = save(&mut client, &view, stamp);
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(message.contains("constants to drop that do not exist"), "{message}");
    assert_eq!(client.finish(), Some(0));
}
