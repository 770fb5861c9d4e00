//! Comparison of modules and logs of passes on the command line.

use relay_tests::{
    client::Client,
    command::{Folder, Run},
    corpus,
};
use serde_json::{Value, json};

/// A folder of texts for one test.
fn folder(name: &str, files: &[(&str, &str)]) -> Folder {
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(file, text)| (*file, text.as_bytes())).collect();
    Folder::new(&format!("diff-{name}"), &files)
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err))
}

/// A section of a page: two modules and the report.
struct Section {
    title: String,
    blocks: Vec<String>,
}

fn sections(page: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut block: Option<String> = None;
    for line in page.lines() {
        match &mut block {
            Some(text) if line == "```" => {
                let text = std::mem::take(text);
                sections.last_mut().expect("a section").blocks.push(text);
                block = None;
            }
            Some(text) => {
                text.push_str(line);
                text.push('\n');
            }
            None if line.starts_with("## ") => {
                sections.push(Section { title: line[3..].to_owned(), blocks: Vec::new() });
            }
            None if line.starts_with("```") => block = Some(String::new()),
            None => {}
        }
    }
    sections
}

#[test]
fn reports_of_differences_match_the_pages() {
    let pages = corpus::here().join("differences");
    let mut looked = 0;
    for entry in std::fs::read_dir(&pages).expect("pages").flatten() {
        let page = std::fs::read_to_string(entry.path()).expect("a page");
        let mut written = page.clone();
        let mut faults = Vec::new();
        for section in sections(&page) {
            let [before, after, wanted] = section.blocks.as_slice() else {
                panic!("`{}` has three blocks", section.title)
            };
            let folder = folder("page", &[("before.relay", before), ("after.relay", after)]);
            let ran = folder.run(&["diff", "before.relay", "after.relay"]);
            assert_eq!(ran.err, "", "{}", section.title);
            assert_eq!(ran.code, Some(i32::from(!ran.out.contains("are equal"))));
            if ran.out != *wanted {
                faults.push(format!("{}\n{}", section.title, ran.out));
            }
            let heading = written.find(&format!("## {}\n", section.title)).expect("a heading");
            let (head, tail) = written.split_at(heading);
            let report = |text: &str| format!("```text\n{text}```\n");
            written = head.to_owned() + &tail.replacen(&report(wanted), &report(&ran.out), 1);
            looked += 1;
        }
        if std::env::var_os("RELAY_UPDATE").is_some() {
            std::fs::write(entry.path(), written).expect("a page");
        } else {
            assert!(faults.is_empty(), "{}", faults.join("\n"));
        }
    }
    assert!(looked >= 7);
}

const A: &str = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(4), float32]) {\n  %0 = tanh(%x);\n  negative(%0)\n}\n";
const B: &str = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(4), float32]) {\n  %0 = fast_tanh(%x);\n  negative(%0)\n}\n";

fn log() -> String {
    format!(
        "[10:00:01] /src/ir/transform.cc:629: PrintIR(after InferType):\n{A}\n\
         [10:00:02] /src/ir/transform.cc:629: PrintIR(after FoldConstant):\n{A}\n\
         [10:00:03] warning: not tuned\n\
         [10:00:04] /src/ir/transform.cc:629: PrintIR(after FastMath):\n{B}\n\
         Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nValueError: x\n"
    )
}

#[test]
fn exit_codes_distinguish_equal_different_and_unreadable() {
    let twice = "def @f(%x: int32) { %x }\ndef @f(%x: int32) { negative(%x) }\n";
    let files = [("a.relay", A), ("b.relay", B), ("cut.relay", &A[..60]), ("twice.relay", twice)];
    let folder = folder("codes", &files);
    let code = |args: &[&str]| folder.run(args).code;
    assert_eq!(code(&["diff", "a.relay", "a.relay"]), Some(0));
    assert_eq!(code(&["diff", "a.relay", "b.relay"]), Some(1));
    assert_eq!(code(&["diff", "a.relay", "none.relay"]), Some(2));
    assert_eq!(code(&["diff", "a.relay", "b.relay", "--function", "@none"]), Some(2));
    assert_eq!(code(&["diff", "twice.relay", "twice.relay"]), Some(0));
    assert_eq!(code(&["diff", "twice.relay", "a.relay"]), Some(1));
}

#[test]
fn modules_with_syntax_errors_are_not_compared() {
    let cut = A.replace("tanh(%x);", "tanh(%x");
    // Types do not count: the structure is that of the text.
    let typed = A.replace("negative(%0)", "add(%0, %nowhere)");
    let text = log() + &format!("[10:00:05] x.cc:629: PrintIR(after Cut):\n{cut}");
    let folder = folder(
        "broken",
        &[
            ("a.relay", A),
            ("cut.relay", &cut),
            ("words.relay", "hello world\n"),
            ("types.relay", &typed),
            ("empty.relay", ""),
            ("run.log", &text),
        ],
    );
    let at =
        |name: &str, role: &str| format!("error: `{name}`, {role}, has a syntax error in line ");
    let (before, after, both) =
        ("the module before", "the module after", "the module of both sides");
    for (a, b, errors, files) in [
        ("cut.relay", "cut.relay", vec![at("cut.relay", both)], "cut.relay"),
        ("cut.relay", "a.relay", vec![at("cut.relay", before)], "cut.relay"),
        ("a.relay", "cut.relay", vec![at("cut.relay", after)], "cut.relay"),
        ("cut.relay", "types.relay", vec![at("cut.relay", before)], "cut.relay"),
        (
            "cut.relay",
            "words.relay",
            vec![at("cut.relay", before), at("words.relay", after)],
            "cut.relay words.relay",
        ),
        ("run.log#0", "run.log#Cut", vec![at("run.log#Cut", after)], "run.log"),
        (
            "run.log#3",
            "run.log#Cut",
            vec![at("run.log#3", before), at("run.log#Cut", after)],
            "run.log",
        ),
    ] {
        for format in ["human", "json", "html"] {
            let run = folder.run(&["diff", a, b, "--format", format]);
            assert_eq!((run.code, &*run.out), (Some(2), ""), "{a} {b}: {}", run.err);
            let lines: Vec<&str> = run.err.lines().collect();
            assert_eq!(lines.len(), errors.len() + 1, "{a} {b}: {}", run.err);
            for (line, error) in lines.iter().zip(&errors) {
                assert!(line.starts_with(error), "{a} {b}: {}", run.err);
            }
            let check = format!("`relay-analyzer check {files}` shows all errors");
            assert!(lines.last().is_some_and(|note| note.ends_with(&check)), "{}", run.err);
        }
    }
    let said = folder.run(&["diff", "a.relay", "cut.relay"]).err;
    let error = "has a syntax error in line 3, column 15: expected `,`, found `negative`";
    assert!(said.contains(error), "{said}");
    // Lines are those of the log.
    let line = text.lines().position(|line| line.ends_with("tanh(%x")).expect("a line") + 1;
    let said = folder.run(&["diff", "a.relay", "run.log#Cut"]).err;
    assert!(said.contains(&format!("in line {line}, column")), "{said}");
    // Errors of types, and empty modules.
    for (a, b, code) in [
        ("types.relay", "types.relay", 0),
        ("a.relay", "types.relay", 1),
        ("empty.relay", "empty.relay", 0),
        ("a.relay", "empty.relay", 1),
    ] {
        let run = folder.run(&["diff", a, b]);
        assert_eq!((run.code, &*run.err), (Some(code), ""), "{a} {b}: {}", run.out);
    }
}

/// The result `add(` of a truncated text does not replace the calls before it. An editor compares while the
/// user types.
#[test]
fn truncated_call_is_not_a_replacement() {
    let whole = "def @main(%x: Tensor[(4), float32]) {\n  %0 = tanh(%x);\n  %1 = exp(%0);\n  \
                 %2 = add(%0, %1);\n  %3 = sqrt(%2);\n  add(%3, %2)\n}\n";
    let mut client = Client::start();
    for end in ["add(", "add(%0", "add(%0,", "add(%0, "] {
        let cut = whole.split_once(end).map_or(whole, |(before, _)| before).to_owned() + end;
        for sides in [[whole, &cut], [&cut, whole]] {
            let side = |text: &str| json!({ "uri": "untitled:a", "text": text });
            let sides = json!({ "before": side(sides[0]), "after": side(sides[1]) });
            let found = client.request("relay/compare", sides);
            let kinds: Vec<Value> = found["result"]["functions"][0]["pairs"]
                .as_array()
                .expect("pairs")
                .iter()
                .map(|pair| pair["kind"].clone())
                .collect();
            assert!(kinds.iter().all(|kind| kind != "expanded"), "{end}: {kinds:?}");
            assert!(kinds.iter().any(|kind| kind == "same"), "{end}: {kinds:?}");
        }
    }
}

#[test]
fn modules_of_a_log_are_selected_by_number_and_pass() {
    let text = log();
    let folder = folder("named", &[("run.log", &text)]);
    let found = folder.run(&["diff", "run.log#FoldConstant", "run.log#2", "--format", "json"]);
    assert_eq!(found.code, Some(1));
    let pairs = json(&found)["functions"][0]["pairs"].clone();
    let changed: Vec<&Value> =
        pairs.as_array().expect("pairs").iter().filter(|pair| pair["kind"] != "same").collect();
    assert_eq!(changed.len(), 1);
    let slice = |side: &str| {
        let at = |end: usize| changed[0][side][end].as_u64().expect("an offset") as usize;
        &text[at(0)..at(1)]
    };
    // Positions are relative to the log.
    assert_eq!((slice("before"), slice("after")), ("tanh(%x)", "fast_tanh(%x)"));
    assert_eq!(folder.run(&["diff", "run.log#0", "run.log#1"]).code, Some(0));
    for (name, reason) in
        [("run.log#9", "3 modules"), ("run.log#Nope", "FastMath"), ("run.log", "#2")]
    {
        let refused = folder.run(&["diff", "run.log#0", name]);
        assert_eq!(refused.code, Some(2));
        assert!(refused.err.contains(reason), "{}", refused.err);
    }
}

#[test]
fn passes_lists_modules_with_changed_functions() {
    let text = log();
    let folder = folder("passes", &[("run.log", &text), ("none.log", "nothing\n")]);
    let found = folder.run(&["passes", "run.log", "--format", "json"]);
    assert_eq!(found.code, Some(0));
    let modules = json(&found)["modules"].as_array().expect("modules").clone();
    let passes: Vec<&str> = modules.iter().filter_map(|m| m["pass"].as_str()).collect();
    assert_eq!(passes, ["InferType", "FoldConstant", "FastMath"]);
    let changed: Vec<usize> =
        modules.iter().map(|m| m["changed"].as_array().map_or(9, Vec::len)).collect();
    assert_eq!(changed, [0, 0, 1]);
    for (module, wanted) in modules.iter().zip([A, A, B]) {
        let at = |name: &str| module[name].as_u64().expect("an offset") as usize;
        assert_eq!(&text[at("start")..at("end")], wanted);
        let line = text[..at("start")].lines().count() + 1;
        assert_eq!(at("line"), line);
    }
    assert_eq!(folder.run(&["passes", "none.log"]).code, Some(2));
}

#[test]
fn history_follows_an_expression_in_both_directions() {
    let text = log();
    let folder = folder("history", &[("run.log", &text)]);
    let line = text.lines().position(|line| line.contains("fast_tanh")).expect("a line") + 1;
    let found = folder.run(&["history", "run.log", "--at", &format!("{line}:9")]);
    assert_eq!(found.code, Some(0), "{}", found.err);
    assert!(
        found.out.contains("changed by `FastMath`: operator tanh → fast_tanh"),
        "{}",
        found.out
    );
    assert_eq!(found.out.matches("tanh(%x)").count(), 3);
    let back = folder.run(&["history", "run.log", "--at", "4:9"]);
    assert_eq!(back.out.matches("tanh(%x)").count(), 3);
    for (at, reason) in [
        ("1:1", "there is no module at this position: modules start at lines"),
        ("999:1", "there is no line 999"),
    ] {
        let refused = folder.run(&["history", "run.log", "--at", at]);
        assert_eq!(refused.code, Some(2));
        assert!(refused.err.contains(reason), "{}", refused.err);
    }
}

#[test]
fn run_compares_values_of_structurally_different_functions() {
    let one = "def @main(%x: Tensor[(4), float32]) { add(%x, %x) }";
    let same = "def @main(%x: Tensor[(4), float32]) { multiply(%x, 2f) }";
    let other = "def @main(%x: Tensor[(4), float32]) { multiply(%x, 3f) }";
    let shape = "def @main(%x: Tensor[(5), float32]) { multiply(%x, 3f) }";
    let files =
        [("one.relay", one), ("same.relay", same), ("other.relay", other), ("shape.relay", shape)];
    let folder = folder("values", &files);
    let told = |file: &str| {
        let found = folder.run(&["diff", "one.relay", file, "--run", "--format", "json"]);
        json(&found)["runs"][0]["equal"].clone()
    };
    assert_eq!(told("same.relay"), true);
    assert_eq!(told("other.relay"), false);
    assert_eq!(told("shape.relay"), Value::Null);
}

/// A run compares the values of each pair of changed calls.
#[test]
fn values_of_changed_pairs_are_compared() {
    let module = |power: &str, operator: &str| {
        format!(
            "def @main(%x: Tensor[(4), float32]) {{\n  let %p = {power};\n  let %t = {operator}(%p);\n  add(%t, %p)\n}}\n"
        )
    };
    let (before, after) =
        (module("nn.relu(%x)", "tanh"), module("clip(%x, a_min=0f, a_max=1e9f)", "sigmoid"));
    let folder = folder("pairs", &[("a.relay", &before), ("b.relay", &after)]);
    let found = json(&folder.run(&["diff", "a.relay", "b.relay", "--run", "--format", "json"]));
    let run = &found["runs"][0];
    assert_eq!(run["equal"], false, "{run}");
    let pairs: Vec<(&str, &Value)> = run["pairs"]
        .as_array()
        .expect("pairs")
        .iter()
        .map(|pair| {
            let end = |end: usize| pair["before"][end].as_u64().expect("an offset") as usize;
            (&before[end(0)..end(1)], &pair["equal"])
        })
        .collect();
    assert_eq!(pairs, [("nn.relu(%x)", &Value::from(true)), ("tanh(%p)", &Value::from(false))]);
    let shown = folder.run(&["diff", "a.relay", "b.relay", "--run"]).out;
    assert!(shown.contains("values of 1 of 2 changed pairs are equal"), "{shown}");
    assert!(shown.contains("`sigmoid` 3:12 → 3:12: not equal, with differences up to"), "{shown}");
}

#[test]
fn two_functions_of_different_names_are_compared() {
    let text = "def @f(%x: int32) { negative(%x) }\ndef @g(%y: int32) { negative(%y) }\ndef @h(%y: int32) { abs(%y) }\n";
    let folder = folder("two", &[("a.relay", text)]);
    let code = |names: &str| folder.run(&["diff", "a.relay", "a.relay", "--function", names]).code;
    assert_eq!(code("@f=@g"), Some(0));
    assert_eq!(code("f=g"), Some(0));
    assert_eq!(code("@f=@h"), Some(1));
    assert_eq!(code("@f"), Some(0));
}

#[test]
fn html_page_escapes_both_texts() {
    let evil = "def @main(%x: Tensor[(4), float32]) { /* <script>alert(1)</script> */ tanh(%x) }\n";
    let folder = folder("page-html", &[("a.relay", evil), ("b.relay", B)]);
    let page = folder.run(&["diff", "a.relay", "b.relay", "--format", "html"]).out;
    assert!(page.contains("fast_tanh") && page.contains("&lt;script&gt;alert(1)"));
    assert!(!page.contains("<script>alert(1)"));
    assert_eq!(page.matches("<span").count(), page.matches("</span>").count());
}

/// Programs read the document: its fields, their order and their values stay.
#[test]
fn json_document_has_its_fields() {
    let before = "def @main(%x: Tensor[(2, 3), float32]) { nn.softmax(nn.relu(%x), axis=1) }\n\
                  type T { A(int32) }\n";
    let after = "def @main(%x: Tensor[(2, 3), float32]) { nn.softmax(nn.relu(tanh(%x)), axis=-1) }\n\
                 type T { A(int64) }\n";
    let folder = folder("document", &[("a.relay", before), ("b.relay", after)]);
    let pairs = r#"[{"before":[10,37],"after":[10,37],"kind":"same"},{"before":[41,72],"after":[41,79],"kind":"changed","changes":[{"what":"attribute","name":"axis","before":1,"after":-1}]},{"before":[52,63],"after":[52,69],"kind":"same"}]"#;
    let costs = r#""params":{"value":0,"text":"0"},"macs":{"value":0,"text":"0"},"peak":{"value":48,"text":"48 bytes"}"#;
    let total = |calls| {
        format!(r#"{{"function":"@main","calls":{{"value":{calls},"text":"{calls}"}},{costs}}}"#)
    };
    let (old, new) = (total(2), total(3));
    let expected = format!(
        r#"{{"equal":false,"functions":[{{"before":"@main","after":"@main","equal":false,"pairs":{pairs},"removed":[],"added":[[60,68]]}}],"types":[{{"after":[82,101],"before":[75,94],"name":"T"}}],"totals":{{"before":{old},"after":{new}}}}}"#
    );
    let run = folder.run(&["diff", "a.relay", "b.relay", "--format", "json"]);
    assert_eq!(run.out.trim_end(), expected);
}
