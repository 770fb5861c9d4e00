//! Relay within Python and Markdown, as a client sees it: answers about the blocks, in positions of the
//! whole text, and no answers about anything else.

use relay_tests::{
    client::{Client, at, range},
    command::Folder,
};
use serde_json::{Value, json};

const PYTHON: &str = "file:///work/model.py";
const MODEL: &str = r####"from tvm import relay

%comment = "an operator: add(%x, %nowhere)"
é = 1; mod = relay.fromtext("""#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  add(%x, %nowhere)
}
""")
small = relay.parse_expr("let %ä = \"\u00e9\";\n  let %b = nn.dense(1f, 2f);" 'add(%ä, 1)')
unknown = relay.fromtext(f"{x}")
"####;

const MARKDOWN: &str = "file:///work/page.md";
const PAGE: &str = "# Page\n\n```relay\n#[version = \"0.0.5\"]\ndef @f(%x: int32) { %x }\n```\n\n\
                    1. A list\n\n   ```relay\n   #[version = \"0.0.5\"]\n   def @g(%x: int32) { @f(%x) }\n   ```\n";

/// Starts a server for a client that counts columns in UTF-16, as VS Code does.
fn start() -> Client {
    Client::start_with(json!({}), Value::Null)
}

fn open(client: &mut Client, uri: &str, language: &str, text: &str) {
    let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
}

/// Returns the position of a text in a line of another.
fn place(text: &str, line: &str, part: &str) -> (u32, u32) {
    let number = text.lines().position(|found| found.contains(line)).expect(line);
    let found = text.lines().nth(number).unwrap_or_default();
    let column = found[..found.find(part).expect(part)].encode_utf16().count();
    (number as u32, column as u32)
}

/// Returns `code at text` for each diagnostic of a text.
fn shown(text: &str, found: &Value) -> Vec<String> {
    let found = found.as_array().expect("diagnostics");
    let slice = |range: &Value| {
        let (start, end) = (&range["start"], &range["end"]);
        assert_eq!(start["line"], end["line"], "{range}");
        let line = text.lines().nth(start["line"].as_u64().unwrap() as usize).unwrap();
        let units: Vec<u16> = line.encode_utf16().collect();
        let column = |at: &Value| at["character"].as_u64().unwrap() as usize;
        String::from_utf16(&units[column(start)..column(end)]).unwrap()
    };
    found
        .iter()
        .map(|d| format!("{} at {}", d["code"].as_str().unwrap(), slice(&d["range"])))
        .collect()
}

#[test]
fn strings_of_python_are_analysed_where_they_are() {
    let mut client = start();
    open(&mut client, PYTHON, "python", MODEL);
    let found = client.diagnostics(PYTHON, 1);
    let errors = shown(MODEL, &found);
    assert!(errors.contains(&"unknown-variable at %nowhere".to_owned()), "{errors:?}");
    let nowhere = found.as_array().unwrap().iter().find(|d| d["code"] == "unknown-variable");
    assert_eq!(nowhere.unwrap()["range"]["start"]["line"], 5, "not the one of the other string");
    // Through escapes, in the string that is joined to the first, and beside letters of several bytes.
    assert!(errors.iter().any(|error| error.ends_with("%b")), "{errors:?}");

    let (line, column) = place(MODEL, "add(%x, %nowhere)\n".trim_end(), "an operator");
    let nothing = client.request("textDocument/hover", at(PYTHON, line, column));
    assert_eq!(nothing["result"], Value::Null, "outside of the blocks");
    let nothing = client.request("textDocument/completion", at(PYTHON, line, column));
    assert_eq!(nothing["result"], Value::Null, "outside of the blocks");

    let hover = client.request("textDocument/hover", at(PYTHON, 5, 7));
    assert!(hover["result"]["contents"]["value"].as_str().unwrap().contains("%x: Tensor[(2, 3)"));
    assert_eq!(hover["result"]["range"], range((5, 6), (5, 8)));
    let jump = client.request("textDocument/definition", at(PYTHON, 5, 7));
    assert_eq!(jump["result"][0]["uri"], PYTHON);
    assert_eq!(jump["result"][0]["range"], range((4, 10), (4, 12)));
    let highlights = client.request("textDocument/documentHighlight", at(PYTHON, 5, 7));
    assert_eq!(highlights["result"].as_array().map(Vec::len), Some(2));

    let last = place(MODEL, "small =", "add(%ä");
    let hover = client.request("textDocument/hover", at(PYTHON, last.0, last.1 + 5));
    assert_eq!(hover["result"]["range"], range((last.0, last.1 + 4), (last.0, last.1 + 6)));

    let items = client.request("textDocument/completion", at(PYTHON, 5, 4));
    let items = items["result"]["items"].as_array().expect("completions in a block");
    let add = items.iter().find(|item| item["label"] == "add").expect("the operator");
    assert_eq!(add["textEdit"]["range"]["start"], json!({ "line": 5, "character": 2 }));
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn nothing_is_offered_for_the_whole_of_another_language() {
    let mut client = start();
    open(&mut client, PYTHON, "python", MODEL);
    client.diagnostics(PYTHON, 1);
    let document = json!({ "textDocument": { "uri": PYTHON } });
    let mut format = document.clone();
    format["options"] = json!({ "tabSize": 2, "insertSpaces": true });
    for (method, params) in [
        ("textDocument/documentSymbol", &document),
        ("textDocument/foldingRange", &document),
        ("textDocument/codeLens", &document),
        ("textDocument/documentLink", &document),
        ("textDocument/semanticTokens/full", &document),
        ("textDocument/formatting", &format),
    ] {
        let answer = client.request(method, params.clone());
        let result = answer["result"].get("data").unwrap_or(&answer["result"]);
        let is_empty = result.is_null() || result.as_array().is_some_and(Vec::is_empty);
        assert!(is_empty && answer.get("error").is_none(), "{method}: {answer}");
    }
    let (line, column) = place(MODEL, "unknown =", "unknown");
    let rename = client.request("textDocument/prepareRename", at(PYTHON, line, column));
    assert_eq!(rename["result"], Value::Null, "{rename}");
    assert!(rename.get("error").is_none(), "{rename}");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn edits_are_followed_and_written_as_the_literal_needs() {
    let mut client = start();
    let text = "m = relay.fromtext(\"#[version = \\\"0.0.5\\\"]\\ndef @main(%x: int32) { add(%y, %x) }\")\n";
    open(&mut client, PYTHON, "python", text);
    assert_eq!(shown(text, &client.diagnostics(PYTHON, 1)), ["unknown-variable at %y"]);
    let (_, column) = place(text, "m =", "%y");
    client.edit(PYTHON, 2, (0, column), (0, column + 2), "%x");
    assert_eq!(client.diagnostics(PYTHON, 2), json!([]));

    let mut rename = at(PYTHON, 0, column);
    rename["newName"] = json!("%value");
    let renamed = client.request("textDocument/rename", rename);
    let edits = renamed["result"]["changes"][PYTHON].as_array().expect("edits").clone();
    assert_eq!(edits.len(), 3, "{edits:?}");
    // A line before the string moves it; Python that is broken in between does no harm.
    client.edit(PYTHON, 3, (0, 0), (0, 0), "def f(: '\n");
    let hover = client.request("textDocument/hover", at(PYTHON, 1, column));
    assert_eq!(hover["result"]["range"], range((1, column), (1, column + 2)));
    // Without the string there is nothing left.
    client.replace(PYTHON, 4, "m = 1\n");
    assert_eq!(client.request("textDocument/hover", at(PYTHON, 0, 0))["result"], Value::Null);

    let quoted = "e = relay.parse(\"nn.conv2d(%x, %w, data_layout=)\")\n";
    client.replace(PYTHON, 5, quoted);
    let (_, column) = place(quoted, "e =", ")\")");
    let items = client.request("textDocument/completion", at(PYTHON, 0, column));
    let items = items["result"]["items"].as_array().expect("layouts").iter();
    let texts: Vec<&str> = items.filter_map(|item| item["textEdit"]["newText"].as_str()).collect();
    assert!(texts.contains(&"\\\"NHWC\\\""), "{texts:?}");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn fences_of_markdown_are_modules_of_their_own() {
    let mut client = start();
    open(&mut client, MARKDOWN, "markdown", PAGE);
    assert_eq!(shown(PAGE, &client.diagnostics(MARKDOWN, 1)), ["unknown-global at @f"]);
    let (line, column) = place(PAGE, "@g", "@g");
    let hover = client.request("textDocument/hover", at(MARKDOWN, line, column));
    assert_eq!(hover["result"]["range"], range((line, column), (line, column + 2)));
    let nothing = client.request("textDocument/hover", at(MARKDOWN, line, 1));
    assert_eq!(nothing["result"], Value::Null, "in the indentation");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn a_fix_is_offered_in_a_block() {
    let mut client = start();
    let text = "```relay\n#[version = \"0.0.5\"]\ndef @f(%value: int32) { %valu }\n```\n";
    open(&mut client, MARKDOWN, "markdown", text);
    client.diagnostics(MARKDOWN, 1);
    let (line, column) = place(text, "%valu }", "%valu }");
    let params = |range: Value| json!({ "textDocument": { "uri": MARKDOWN }, "range": range, "context": { "diagnostics": [] } });
    let actions =
        client.request("textDocument/codeAction", params(range((line, column), (line, column))));
    let edits: Vec<&Value> =
        actions["result"].as_array().expect("actions").iter().map(|a| &a["edit"]).collect();
    let wanted =
        json!([{ "range": range((line, column), (line, column + 5)), "newText": "%value" }]);
    assert!(edits.iter().any(|edit| edit["changes"][MARKDOWN] == wanted), "{actions}");
    let actions = client.request("textDocument/codeAction", params(range((0, 0), (0, 0))));
    assert!(actions["result"].as_array().is_none_or(Vec::is_empty), "{actions}");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn the_setting_turns_it_off_and_on() {
    let mut client = Client::start_with(json!({}), json!({ "embedded": { "enabled": false } }));
    open(&mut client, PYTHON, "python", MODEL);
    assert_eq!(client.diagnostics(PYTHON, 1), json!([]));
    assert_eq!(client.request("textDocument/hover", at(PYTHON, 5, 7))["result"], Value::Null);
    let settings = json!({ "settings": { "relay": { "embedded": { "enabled": true } } } });
    client.notify("workspace/didChangeConfiguration", settings);
    let errors = shown(MODEL, &client.diagnostics(PYTHON, 1));
    assert!(errors.contains(&"unknown-variable at %nowhere".to_owned()), "{errors:?}");
    assert_eq!(client.finish(), Some(0));
}

/// Returns the errors of `check --format json`: each code with the marked text, line and column.
fn checked(folder: &Folder, file: &str) -> Vec<(String, String, u64, u64)> {
    let run = folder.run(&["check", "--format", "json", file]);
    let text = folder.text(file);
    let found = run.lines()[0]["diagnostics"].as_array().expect("diagnostics").clone();
    let errors = found.iter().filter(|d| d["severity"] == "error").map(|d| {
        let number = |name: &str| d[name].as_u64().expect(name);
        let marked = &text[number("start") as usize..number("end") as usize];
        let code = d["code"].as_str().unwrap_or_default().to_owned();
        (code, marked.to_owned(), number("line"), number("column"))
    });
    errors.collect()
}

/// A notebook with a string of Python, a cell of Relay and a page.
const NOTEBOOK: &str = r##"{
 "cells": [
  {"cell_type": "code", "source": ["from tvm import relay\n", "relay.fromtext(\"\"\"\n",
    "def @main(%x: int32) { add(%x, %nowhere) }\n", "\"\"\")"]},
  {"cell_type": "markdown", "source": "```relay\ndef @f() { %é1 }\n```\n"},
  {"cell_type": "code", "source": ["%%relay\n", "def @f(%x: int32) -> int32 { %x + 1 }"]}
 ],
 "metadata": {}, "nbformat": 4, "nbformat_minor": 5
}
"##;

/// The command line finds what an editor shows, at the same places of the whole file.
#[test]
fn check_reads_the_relay_in_other_files() {
    let files: [(&str, &[u8]); 4] = [
        ("model.py", MODEL.as_bytes()),
        ("page.md", PAGE.as_bytes()),
        ("a.ipynb", NOTEBOOK.as_bytes()),
        ("plain.py", b"print('%x')\n"),
    ];
    let folder = Folder::new("hosts", &files);
    for (uri, language, file, text) in
        [(PYTHON, "python", "model.py", MODEL), (MARKDOWN, "markdown", "page.md", PAGE)]
    {
        let mut client = start();
        open(&mut client, uri, language, text);
        let found = client.diagnostics(uri, 1);
        let errors = found.as_array().expect("a list").iter().filter(|d| d["severity"] == 1);
        let shown: Vec<(&str, u64, u64)> = errors
            .map(|d| {
                let start = &d["range"]["start"];
                let number = |name: &str| start[name].as_u64().expect(name);
                (d["code"].as_str().expect("a code"), number("line"), number("character"))
            })
            .collect();
        let printed = checked(&folder, file);
        let printed: Vec<(&str, u64, u64)> =
            printed.iter().map(|(code, _, line, column)| (code.as_str(), *line, *column)).collect();
        assert!(!shown.is_empty());
        assert_eq!(printed, shown, "{file}");
    }
    let errors = checked(&folder, "a.ipynb");
    let errors: Vec<(&str, &str, u64)> =
        errors.iter().map(|(code, text, line, _)| (code.as_str(), text.as_str(), *line)).collect();
    assert_eq!(
        errors,
        [("unknown-variable", "%nowhere", 3), ("unknown-variable", "%é1", 4)],
        "in places of the file"
    );
    let human = folder.run(&["check", "model.py"]);
    assert_eq!(human.code, Some(1));
    assert!(human.out.contains("model.py:6:11"), "{}", human.out);
    assert_eq!(folder.run(&["check", "plain.py"]).code, Some(0));
    // A folder has modules; other files are named.
    assert!(folder.run(&["check", "."]).err.contains("there is no `.relay`"));
}

/// What is no notebook, or too large to be searched, is an error instead of a file without Relay.
#[test]
fn check_refuses_files_that_cannot_be_searched() {
    let large = "# é\n".repeat(2 << 20);
    let files: [(&str, &[u8]); 3] = [
        ("cut.ipynb", &NOTEBOOK.as_bytes()[..300]),
        ("other.ipynb", b"{\"cells\": {}}"),
        ("large.py", large.as_bytes()),
    ];
    let folder = Folder::new("refused", &files);
    for (file, code) in
        [("cut.ipynb", "not-text"), ("other.ipynb", "not-text"), ("large.py", "file-too-large")]
    {
        let run = folder.run(&["check", file]);
        assert_eq!(run.code, Some(1), "{}", run.err);
        assert!(run.out.contains(&format!("error[{code}]")), "{}", run.out);
    }
}

/// Fixes are written as the other language writes them.
#[test]
fn check_fixes_the_relay_in_other_files() {
    const STALE: &str = "nn.relu(%x) /* ty=Tensor[(2, 4), float32] */";
    let module = format!(
        "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 3), float32]) {{\n  {STALE}\n}}\n"
    );
    let escaped = module.replace('"', "\\\"").replace('\n', "\\n");
    let python =
        format!("m = relay.fromtext(\"{escaped}\")\nn = relay.fromtext(\"\"\"{module}\"\"\")\n");
    let page =
        format!("- a\n\n  ```relay\n{}  ```\n", module.replace("\n", "\n  ").trim_end_matches(' '));
    let page = page.replacen("#[version", "  #[version", 1);
    let notebook = json!({
        "cells": [{ "cell_type": "code", "source": [python.clone()] }], "nbformat": 4,
    });
    let notebook = notebook.to_string();
    let files: [(&str, &str); 3] = [("a.py", &python), ("a.md", &page), ("a.ipynb", &notebook)];
    let folder = Folder::new("fixed", &files.map(|(name, text)| (name, text.as_bytes())));
    for (file, text) in files {
        let fixed = folder.run(&["check", "--fix", file]);
        assert_eq!(fixed.code, Some(0), "{file}: {} {}", fixed.out, fixed.err);
        assert!(text.contains("(2, 4)"));
        assert_eq!(folder.text(file), text.replace("(2, 4)", "(2, 3)"), "{file}");
    }
}
