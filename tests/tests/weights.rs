//! Weights on the command line, in hovers and diagnostics, and code views.

use std::fs;

use relay_tests::{
    bound::{Tensor, section},
    client::{Client, at},
    command::{Folder, Run, run},
};
use serde_json::{Value, json};

/// Addresses of files.
mod url {
    use std::path::Path;

    /// The address of a file, with the letters escaped that may not be in one.
    pub(super) fn of(path: &Path) -> String {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
        let escaped = path.to_str().expect("text").bytes().map(|byte| match byte {
            byte if is_plain(byte) => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        });
        format!("file://{}", escaped.collect::<String>())
    }
}

const CODE: &str = "\
#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 300), float32]) {
  %0 = add(%x, meta[relay.Constant][0]);
  %1 = add(%0, meta[relay.Constant][2]);
  add(%1, meta[relay.Constant][3])
}

";

/// Returns four constants: the second is unused, the fourth equals the first.
fn tensors() -> Vec<Tensor> {
    let mut random = fastrand::Rng::with_seed(7);
    let first = Tensor::drawn(&[2, 300], &mut random);
    let odd = Tensor { shape: vec![4], elements: vec![f32::NAN, 0.0, f32::INFINITY, -2.5] };
    let third = Tensor::drawn(&[300], &mut random);
    vec![first.clone(), odd, third, first]
}

fn module() -> String {
    CODE.to_owned() + &section(&tensors())
}

fn works(run: &Run) -> &str {
    assert_eq!(run.code, Some(0), "{run:?}");
    &run.out
}

fn refused(run: &Run, what: &str) {
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains(what), "{run:?}");
}

#[test]
fn strip_and_merge_are_a_round_trip() {
    let text = module();
    let folder = Folder::new("strip", &[("net.relay", text.as_bytes())]);
    let at = |name: &str| folder.path().join(name);
    works(&folder.run(&["strip", "net.relay", "-o", "code.relay", "--weights", "w.npz"]));
    let code = fs::read_to_string(at("code.relay")).expect("the code");
    let bytes = text.len() - CODE.len();
    let line = format!("#[metadata] folded: 4 constants, {:.1} MB\n", bytes as f64 / 1e6);
    assert_eq!(code, CODE.to_owned() + &line);
    for weights in ["net.relay", "w.npz"] {
        works(&folder.run(&["merge", "code.relay", "--weights", weights, "-o", "again.relay"]));
        assert!(fs::read(at("again.relay")).expect("a module") == text.as_bytes(), "{weights}");
    }
    // The code has no errors without the section, with types from comments.
    works(&folder.run(&["check", "code.relay", "--quiet", "--severity", "error"]));
}

#[test]
fn merge_keeps_the_section_after_random_edits() {
    let text = module();
    let folder = Folder::new("edits", &[("net.relay", text.as_bytes())]);
    let at = |name: &str| folder.path().join(name);
    works(&folder.run(&["strip", "net.relay", "-o", "code.relay", "--weights", "w.npz"]));
    let stripped = fs::read_to_string(at("code.relay")).expect("the code");
    let (_, line) = stripped.split_at(CODE.len());
    let mut random = fastrand::Rng::with_seed(11);
    for case in 0..24 {
        let mut code = CODE.to_owned();
        for _ in 0..random.usize(1..6) {
            let [from, to] = [random.usize(..code.len()), random.usize(..code.len())];
            let (from, to) = (from.min(to), from.max(to).min(from + 20).max(from.min(to)));
            // The section is a token, and not found inside strings or comments.
            let insert = ["", "%y", "\r\n", "é", "add(", "}", "1f", "meta[relay.Constant][9]"];
            code.replace_range(from..to, insert[random.usize(..insert.len())]);
        }
        fs::write(at("edited.relay"), code.clone() + line).expect("a file");
        let weights = if case % 2 == 0 { "net.relay" } else { "w.npz" };
        let merged =
            folder.run(&["merge", "edited.relay", "--weights", weights, "-o", "out.relay"]);
        // An unclosed string or comment contains the line.
        if merged.code == Some(0) {
            let found = fs::read_to_string(at("out.relay")).expect("a module");
            let expected = code.clone() + &text[CODE.len()..];
            assert!(found == expected || found.starts_with(&(code + line)), "case {case}");
        }
    }
}

#[test]
fn strip_and_merge_refuse_to_lose_weights() {
    let text = module();
    let several = format!("{text}#[version = \"0.0.5\"]\ndef @main() {{ 1 }}\n");
    let folder = Folder::new(
        "refused",
        &[
            ("net.relay", text.as_bytes()),
            ("plain.relay", b"def @main() { 1 }\n"),
            ("log.relay", several.as_bytes()),
            ("bytes.relay", b"def @main() { 1 } // \xff\n"),
        ],
    );
    let fails = |args: &[&str], what: &str| refused(&folder.run(args), what);
    fails(&["strip", "net.relay", "-o", "net.relay"], "its content would be lost");
    fails(&["strip", "plain.relay", "-o", "code.relay"], "there is nothing to strip");
    fails(&["strip", "log.relay", "-o", "code.relay"], "it contains several modules");
    fails(&["strip", "bytes.relay", "-o", "code.relay"], "the byte at 21 is not UTF-8");
    fails(&["strip", "none.relay", "-o", "code.relay"], "cannot read `none.relay`");
    works(&folder.run(&["strip", "net.relay", "-o", "code.relay"]));
    fails(&["strip", "code.relay", "-o", "more.relay"], "there is nothing to strip");
    let merge = |code: &str, weights: &str, what: &str| {
        fails(&["merge", code, "--weights", weights, "-o", "out.relay"], what);
    };
    merge("net.relay", "net.relay", "it has a metadata section of its own");
    merge("code.relay", "plain.relay", "there is nothing to merge");
    merge("code.relay", "code.relay", "there is nothing to merge");
    assert!(!folder.path().join("out.relay").exists());
    let code = fs::read_to_string(folder.path().join("code.relay")).expect("the code");
    fs::write(folder.path().join("after.relay"), code + "def @f() { 1 }\n").expect("a file");
    merge("after.relay", "net.relay", "text follows the line of the metadata section");
}

#[test]
fn weights_are_listed_and_saved() {
    let folder = Folder::new("list", &[("net.relay", module().as_bytes())]);
    let found = folder.run(&["weights", "net.relay", "--format", "json"]);
    let found: Value = serde_json::from_str(works(&found)).expect("JSON");
    let rows = found["weights"].as_array().expect("a list");
    assert_eq!(rows.len(), 4);
    let odd = &rows[1];
    let shape = (&odd["dtype"], &odd["shape"], &odd["bytes"], &odd["uses"]);
    assert_eq!(shape, (&json!("float32"), &json!("(4)"), &json!(16), &json!(0)));
    let stats = &odd["statistics"];
    let numbers = ["min", "max", "mean", "zeros", "nans", "infinities"].map(|key| &stats[key]);
    assert_eq!(json!(numbers), json!([-2.5, 0.0, -1.25, 1, 1, 1]));
    assert_eq!((&rows[3]["sameAs"], &rows[0]["sameAs"]), (&json!(0), &Value::Null));
    let table = folder.run(&["weights", "net.relay"]);
    let table = works(&table);
    let cells = |line: usize| -> Vec<&str> {
        table.lines().nth(line).unwrap_or_default().split_whitespace().take(5).collect()
    };
    assert_eq!(cells(0), ["entry", "type", "shape", "bytes", "min"], "{table}");
    assert_eq!(cells(2), ["1", "float32", "(4)", "16", "bytes"], "{table}");
    assert!(table.contains("same as 0") && table.contains("1 NaN  1 infinite"), "{table}");
    let csv = folder.run(&["weights", "net.relay", "--format", "csv"]);
    assert!(works(&csv).contains("1,float32,(4),16,-2.5,0,-1.25,1,1,1,0,,"), "{csv:?}");
    works(&folder.run(&["weights", "net.relay", "--save", "arrays"]));
    let array = fs::read(folder.path().join("arrays/constant_1.npy")).expect("an array");
    assert!(array.starts_with(b"\x93NUMPY") && array.ends_with(&(-2.5f32).to_le_bytes()));
    refused(&run(&["weights", "-"], ""), "`-` has no metadata section");
}

#[test]
fn unused_and_repeated_constants_are_found_and_removed() {
    let folder = Folder::new("lints", &[("net.relay", module().as_bytes())]);
    let found = folder.run(&["check", "net.relay"]).out;
    assert!(!found.contains("constant"), "hints are not shown: {found}");
    let found = folder.run(&["check", "net.relay", "--severity", "hint"]).out;
    assert!(found.contains("`meta[relay.Constant][1]` is never used (16 bytes)"), "{found}");
    let same = "`meta[relay.Constant][3]` has the content of an earlier entry (2.4 kB)";
    assert!(found.contains(same) && found.contains("3 is 0"), "{found}");
    // The result is the module without the second entry.
    folder.run(&["check", "net.relay", "--fix", "--quiet"]);
    let text = fs::read_to_string(folder.path().join("net.relay")).expect("a module");
    let code = CODE.replace("[2]", "[1]").replace("[3]", "[2]");
    assert!(text.starts_with(&code), "{}", &text[..300]);
    let found = folder.run(&["weights", "net.relay", "--format", "json"]);
    let found: Value = serde_json::from_str(works(&found)).expect("JSON");
    let rows = found["weights"].as_array().expect("a list");
    let shapes: Vec<&Value> = rows.iter().map(|row| &row["shape"]).collect();
    assert_eq!(json!(shapes), json!(["(2, 300)", "(300)", "(2, 300)"]));
    let found = folder.run(&["check", "net.relay", "--severity", "hint"]).out;
    assert!(!found.contains("never used"), "{found}");
}

#[test]
fn hover_describes_a_tensor_and_definition_goes_to_its_entry() {
    let mut client = Client::start();
    let uri = "file:///weights/net.relay";
    client.open(uri, &module());
    let hover = |client: &mut Client, line: u32| {
        let at = json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": 20 } });
        let found = client.request("textDocument/hover", at);
        found["result"]["contents"]["value"].as_str().expect("a hover").to_owned()
    };
    let text = hover(&mut client, 2);
    for part in [
        "Tensor[(2, 300), float32]",
        "600 elements, 2.3 KiB",
        "min -0.9",
        "max 0.9",
        "▕",
        "by `add` in `@main`",
        "same content as `meta[relay.Constant][3]`",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let at = json!({ "textDocument": { "uri": uri }, "position": { "line": 3, "character": 20 } });
    let found = client.request("textDocument/definition", at);
    let start = &found["result"][0]["range"]["start"];
    let line = start["line"].as_u64().expect("a line") as usize;
    let text = module();
    assert!(text.lines().nth(line).is_some_and(|line| line.contains("relay.Constant")), "{found}");
    // After two entries with nine lines each.
    let first = text.lines().position(|line| line.ends_with("\"type_key\": \"relay.Constant\", "));
    assert_eq!(line, first.expect("a node") + 2 * 9);
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn hover_names_equal_arrays_of_the_files_in_the_settings() {
    let folder = Folder::new("names", &[("net.relay", module().as_bytes())]);
    works(&folder.run(&["lift", "net.relay", "-o", "lifted.relay", "--params", "known.npz"]));
    let uri = format!("file://{}", folder.path().join("net.relay").display());
    let root = format!("file://{}", folder.path().display());
    let files = json!(["known.npz", "missing.params"]);
    let mut client =
        Client::spawn().shake_hands(json!({}), json!({ "weights": { "files": files } }));
    let params = json!({ "event": { "added": [{ "uri": root, "name": "names" }], "removed": [] } });
    client.notify("workspace/didChangeWorkspaceFolders", params);
    client.open(&uri, &module());
    let hover = client.request("textDocument/hover", at(&uri, 2, 20));
    let text = hover["result"]["contents"]["value"].as_str().expect("a hover");
    assert!(text.contains("equal to `constant_0` of `") && text.contains("known.npz`"), "{text}");
    assert!(text.contains("not compared with `") && text.contains("cannot read"), "{text}");
    // Other expressions are not compared.
    let hover = client.request("textDocument/hover", at(&uri, 2, 8));
    assert!(!hover.to_string().contains("compared"), "{hover}");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn code_view_has_types_and_saves_only_code() {
    let text = module();
    let folder = Folder::new("view", &[("net.relay", text.as_bytes())]);
    let path = folder.path().join("net.relay");
    let mut client = Client::start();
    let file = format!("file://{}", path.display());
    let uri = format!("relay-code:{}", path.display());
    let opened = client.request("relay/codeView", json!({ "uri": file }));
    let view = &opened["result"];
    let code = view["text"].as_str().expect("a text").to_owned();
    assert!(code.starts_with(&format!("{CODE}#[metadata] folded: 4 constants,")), "{code}");
    client.open(&uri, &code);
    let found = client.diagnostics(&uri, 1);
    let codes: Vec<&Value> =
        found.as_array().into_iter().flatten().map(|found| &found["code"]).collect();
    assert_eq!(json!(codes), json!(["duplicate-constant", "unused-constant"]));
    let at = json!({ "textDocument": { "uri": uri }, "position": { "line": 2, "character": 20 } });
    let hover = client.request("textDocument/hover", at);
    let hover = hover["result"]["contents"]["value"].as_str().expect("a hover").to_owned();
    assert!(hover.contains("Tensor[(2, 300), float32]") && hover.contains("▕"), "{hover}");
    let mut stamp = view["stamp"].clone();
    let mut random = fastrand::Rng::with_seed(3);
    let mut edited = CODE.to_owned();
    let line = code[CODE.len()..].to_owned();
    for _ in 0..8 {
        let place = edited.rfind("}\n").expect("an end");
        edited.insert_str(place, &format!("// {}\n", random.u32(..)));
        let params = json!({ "uri": uri, "stamp": stamp, "text": edited.clone() + &line });
        let saved = client.request("relay/saveCode", params);
        stamp = saved["result"]["stamp"].clone();
        assert!(stamp.is_string(), "{saved}");
        let found = fs::read_to_string(&path).expect("a module");
        assert!(found == edited.clone() + &text[CODE.len()..]);
    }
    // A file that another program has changed is not overwritten.
    let other = text.replace("add(%x", "subtract(%x");
    fs::write(&path, &other).expect("a file");
    let save = |client: &mut Client, stamp: &Value, text: &str| {
        client.request("relay/saveCode", json!({ "uri": uri, "stamp": stamp, "text": text }))
    };
    let saved = save(&mut client, &stamp, &(edited.clone() + &line));
    assert_eq!(saved["result"], json!({ "stamp": null }));
    assert_eq!(fs::read_to_string(&path).expect("a module"), other);
    let opened = client.request("relay/codeView", json!({ "uri": file }));
    let stamp = &opened["result"]["stamp"];
    let after = format!("{edited}{line}def @f() {{ 1 }}\n");
    let saved = save(&mut client, stamp, &after);
    let message = saved["error"]["message"].as_str().expect("a message");
    assert!(message.contains("would be lost"), "{message}");
    // Without the line, the whole text is code.
    assert!(save(&mut client, stamp, CODE)["result"]["stamp"].is_string());
    assert_eq!(fs::read_to_string(&path).expect("a module"), text);
    assert_eq!(client.finish(), Some(0));
}

/// An editor may show the code in the document of the file itself, and write copies of the module.
#[test]
fn code_view_may_have_the_name_of_the_file() {
    let text = module();
    let folder = Folder::new("named", &[("net.relay", text.as_bytes())]);
    let of = |name: &str| url::of(&folder.path().join(name));
    let uri = of("net.relay");
    let mut client = Client::start();
    let opened = client.request("relay/codeView", json!({ "uri": uri }));
    let view = &opened["result"];
    let code = view["text"].as_str().expect("a text").to_owned();
    client.open(&uri, &code);
    let has_values = |client: &mut Client, uri: &str| {
        let hover = client.request("textDocument/hover", at(uri, 2, 20));
        let hover = hover["result"]["contents"]["value"].as_str().expect("a hover").to_owned();
        hover.contains("600 elements") && hover.contains("▕")
    };
    assert!(has_values(&mut client, &uri));
    let line = &code[CODE.len()..];
    let edited = CODE.replace("add(%x", "subtract(%x");
    let params = json!({ "uri": uri, "stamp": view["stamp"], "text": edited.clone() + line,
        "output": of("copy.relay") });
    let saved = client.request("relay/saveCode", params);
    assert!(saved["result"]["stamp"].is_string(), "{saved}");
    assert_eq!(folder.text("copy.relay"), edited.clone() + &text[CODE.len()..]);
    assert_eq!(folder.text("net.relay"), text);
    let params = json!({ "uri": uri, "stamp": view["stamp"], "text": edited.clone() + line });
    let saved = client.request("relay/saveCode", params);
    assert!(saved["result"]["stamp"].is_string(), "{saved}");
    assert_eq!(folder.text("net.relay"), edited + &text[CODE.len()..]);
    // A document with the whole file is one as before, and so is a file with such a line of its own.
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    client.open(&uri, &text);
    assert!(has_values(&mut client, &uri));
    works(&folder.run(&["strip", "net.relay", "-o", "code.relay"]));
    client.open(&of("code.relay"), &code);
    let hover = client.request("textDocument/hover", at(&of("code.relay"), 2, 20));
    assert!(!hover.to_string().contains("▕"), "{hover}");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn parameters_are_bound_and_constants_lifted() {
    let code = "\
#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 300), float32], %w: Tensor[(300), float32], %b: Tensor[(2, 300), float32]) {
  %0 = multiply(%b, %x);
  %1 = add(%0, %w);
  add(%1, %b)
}
";
    let folder = Folder::new("bind", &[("net.relay", code.as_bytes())]);
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).expect("a file");
    // The tensors of a module with constants, by name.
    let constants = module();
    fs::write(folder.path().join("constants.relay"), &constants).expect("a file");
    let lift = ["lift", "constants.relay", "-o", "lifted.relay", "--params", "p.npz"];
    works(&folder.run(&lift));
    let lifted = text("lifted.relay");
    let types = "%constant_0: Tensor[(2, 300), float32], %constant_2: Tensor[(300), float32]";
    assert!(lifted.contains(types) && lifted.contains("add(%x, %constant_0)"), "{lifted}");
    // The unused entry is kept.
    assert!(lifted.contains("#[metadata]"), "{lifted}");
    works(&folder.run(&["check", "lifted.relay", "--quiet"]));
    // Binding lifted parameters restores the constants in text order.
    works(&folder.run(&["bind", "lifted.relay", "--params", "p.npz", "-o", "bound.relay"]));
    let bound = text("bound.relay");
    assert!(bound.contains("add(%x, meta[relay.Constant][1] "), "{bound}");
    assert!(bound.contains("def @main(%x: Tensor[(2, 300), float32]) {"), "{bound}");
    works(&folder.run(&["check", "bound.relay", "--quiet"]));
    let inputs = ["--random", "1", "--format", "json"];
    let value = |file: &str| {
        let ran = folder.run(&[&["run", file][..], &inputs].concat());
        works(&ran).to_owned()
    };
    assert_eq!(value("bound.relay"), value("constants.relay"));
    // A section is created if the module has none.
    let renamed = lifted.split("#[metadata]").next().expect("code").to_owned();
    fs::write(folder.path().join("plain.relay"), renamed).expect("a file");
    works(&folder.run(&["bind", "plain.relay", "--params", "p.npz", "-o", "new.relay"]));
    assert!(text("new.relay").contains("add(%x, meta[relay.Constant][0])"));
    assert_eq!(value("new.relay"), value("constants.relay"));
    works(&folder.run(&["lift", "new.relay", "-o", "again.relay"]));
    assert!(!text("again.relay").contains("#[metadata]"));
    refused(
        &folder.run(&["bind", "net.relay", "--params", "p.npz", "-o", "out.relay"]),
        "no parameter of `@main` has the name of an array",
    );
    refused(&folder.run(&["lift", "net.relay", "-o", "out.relay"]), "no metadata section");
}

/// Whatever is done to the code, each save keeps every byte of the section, and the code is that of
/// the editor: over sections that end without a line break, with other line breaks, and with code of
/// other lengths.
#[test]
fn saves_under_random_edits_change_nothing_but_code() {
    let mut random = fastrand::Rng::with_seed(17);
    let section = section(&tensors());
    let windows = section.replace('\n', "\r\n");
    let sections = [section.trim_end(), &section, &windows, &format!("{section}\n \t\n")];
    let folder = Folder::new("random", &[]);
    fs::create_dir_all(folder.path()).expect("a folder");
    let mut client = Client::start();
    for (number, section) in sections.into_iter().enumerate() {
        let path = folder.path().join(format!("net {number} é.relay"));
        fs::write(&path, CODE.to_owned() + section).expect("a file");
        let uri = json!(url::of(&path));
        let opened = client.request("relay/codeView", json!({ "uri": uri }));
        let view = opened["result"].clone();
        let (mut stamp, shown) = (view["stamp"].clone(), view["text"].as_str().expect("a text"));
        let line = shown.strip_prefix(CODE).expect("the code").to_owned();
        let mut code = CODE.to_owned();
        let mut saves = 0;
        for _ in 0..40 {
            for _ in 0..random.usize(1..4) {
                let boundary = |random: &mut fastrand::Rng, code: &str| {
                    let at = random.usize(..=code.len());
                    (0..=at).rev().find(|&at| code.is_char_boundary(at)).unwrap_or_default()
                };
                let from = boundary(&mut random, &code);
                let to = boundary(&mut random, &code).clamp(from, code.len().min(from + 30));
                let to = (from..=to).rev().find(|&at| code.is_char_boundary(at)).unwrap_or(from);
                let inserts = [
                    "",
                    "%y",
                    "\r\n",
                    "é",
                    "add(",
                    "}",
                    "// 🚀\n",
                    "meta[relay.Constant][9]",
                    "\t",
                ];
                code.replace_range(from..to, inserts[random.usize(..inserts.len())]);
            }
            let params = json!({ "uri": uri, "stamp": stamp, "text": code.clone() + &line });
            let saved = client.request("relay/saveCode", params);
            let found = fs::read_to_string(&path).expect("a module");
            // A comment or string that was opened takes the line in: then the section would be lost.
            if saved["result"]["stamp"].is_string() {
                stamp = saved["result"]["stamp"].clone();
                saves += 1;
                assert!(found.ends_with(section), "the section of {number} has changed");
                let written = &found[..found.len() - section.len()];
                assert!(written == code || written == code.clone() + &line, "{written}");
            } else {
                assert!(found.ends_with(section), "{saved}");
                code = found[..found.len() - section.len()].to_owned();
            }
        }
        assert!(saves > 10, "{saves} saves of {number}");
    }
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn the_type_view_gets_the_histogram_of_a_constant() {
    let mut client = Client::start();
    let uri = "file:///weights/type.relay";
    client.open(uri, &module());
    let found = client.request("relay/typeAt", at(uri, 2, 20));
    let elements = &found["result"]["elements"];
    let facts = elements["facts"].as_str().expect("facts");
    assert!(facts.starts_with("min -0.9") && facts.contains(", mean "), "{facts}");
    assert!(elements["first"].as_str().is_some_and(|first| first.ends_with(", …")), "{elements}");
    let distribution = &elements["distribution"];
    let counts: Vec<u64> =
        serde_json::from_value(distribution["histogram"].clone()).expect("counts");
    assert_eq!((counts.len(), counts.iter().sum::<u64>()), (weights::BINS, 600));
    assert!(distribution["min"].as_f64() < Some(-0.9), "{distribution}");
    assert!(distribution["high"].as_str().is_some_and(|high| high.starts_with("0.9")));
    // An expression that is no constant has none.
    let found = client.request("relay/typeAt", at(uri, 2, 8));
    assert!(found["result"]["type"].is_array() && found["result"]["elements"].is_null(), "{found}");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn editors_bind_and_lift_by_code_actions() {
    let text = module();
    let folder = Folder::new("actions", &[("net.relay", text.as_bytes())]);
    let of = |name: &str| url::of(&folder.path().join(name));
    let commands = json!(["relay.bindParameters", "relay.liftConstants"]);
    let capabilities = json!({ "experimental": { "commands": { "commands": commands } } });
    let mut client = Client::start_with(capabilities, Value::Null);
    let actions = |client: &mut Client, uri: &str, line: u32, character: u32| {
        let place = json!({ "line": line, "character": character });
        let found = client.request(
            "textDocument/codeAction",
            json!({ "textDocument": { "uri": uri }, "range": { "start": place, "end": place },
                "context": { "diagnostics": [], "only": ["refactor"] } }),
        );
        let names = found["result"].as_array().into_iter().flatten();
        names
            .filter_map(|action| action["command"]["command"].as_str())
            .map(str::to_owned)
            .collect()
    };
    // In the code view, whose text has no section.
    let view = of("net.relay").replace("file://", "relay-code:");
    let opened = client.request("relay/codeView", json!({ "uri": of("net.relay") }));
    client.open(&view, opened["result"]["text"].as_str().expect("a text"));
    let found: Vec<String> = actions(&mut client, &view, 2, 20);
    assert_eq!(found, ["relay.liftConstants"]);
    let lift = |client: &mut Client, output: &str| {
        let params = json!({ "uri": view, "output": of(output), "params": of("net.npz") });
        client.request("relay/liftConstants", params)
    };
    let lifted = lift(&mut client, "lifted.relay");
    let names = json!(["constant_0", "constant_2", "constant_3"]);
    assert_eq!(lifted["result"]["names"], names, "{lifted}");
    works(&folder.run(&["check", "lifted.relay", "--quiet"]));
    // The file itself is never written.
    let refused = lift(&mut client, "net.relay");
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(message.contains("its content would be lost"), "{message}");
    assert_eq!(folder.text("net.relay"), text);
    let refused = lift(&mut client, "net.npz");
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(message.contains("is named for two outputs"), "{message}");

    let uri = of("lifted.relay");
    client.open(&uri, &folder.text("lifted.relay"));
    let found: Vec<String> = actions(&mut client, &uri, 1, 20);
    assert_eq!(found, ["relay.bindParameters"]);
    let params = json!({ "uri": uri, "files": [of("net.npz")], "output": of("bound.relay") });
    let bound = client.request("relay/bindParameters", params);
    assert_eq!(bound["result"]["names"], names, "{bound}");
    let value = |file: &str| {
        let ran = folder.run(&["run", file, "--random", "1", "--format", "json"]);
        works(&ran).to_owned()
    };
    assert_eq!(value("bound.relay"), value("net.relay"));
    // What is in the way is said.
    let params = json!({ "uri": uri, "files": [of("none.npz")], "output": of("bound.relay") });
    let missing = client.request("relay/bindParameters", params);
    assert!(missing["error"]["message"].as_str().is_some_and(|m| m.contains("cannot read")));
    assert_eq!(client.finish(), Some(0));

    // A client without the commands is offered neither.
    let mut client = Client::start();
    client.open(&of("net.relay"), &text);
    let found: Vec<String> = actions(&mut client, &of("net.relay"), 2, 20);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(client.finish(), Some(0));
}
