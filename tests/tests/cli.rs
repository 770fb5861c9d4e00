//! The command line.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use relay_tests::{
    client::binary,
    command::{Folder, run},
};
use serde_json::{Value, json};

const GOOD: &str = "#[version = \"0.0.5\"]\ndef @main(%x: int32) -> int32 { %x }\n";
const BAD: &str = "#[version = \"0.0.5\"]\ndef @main(%x: int32) -> int32 { /* ä𝄞 */ %y }\n";

#[test]
fn exit_code_reports_errors_and_missing_files() {
    let folder =
        Folder::new("codes", &[("good.relay", GOOD.as_bytes()), ("bad.rly", BAD.as_bytes())]);
    assert_eq!(folder.run(&["check", "good.relay"]).code, Some(0));
    assert_eq!(folder.run(&["check", "bad.rly"]).code, Some(1));
    assert_eq!(folder.run(&["check", "."]).code, Some(1));
    let missing = folder.run(&["check", "missing.relay"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.contains("missing.relay"), "{}", missing.err);
    assert_eq!(missing.out, "", "nothing is known of it");
    let quiet = folder.run(&["check", "-q", "good.relay"]);
    assert_eq!((quiet.code, quiet.out.as_str()), (Some(0), ""));
    let no_code = folder.run(&["check", "--disable", "unknown-variabl", "bad.rly"]);
    assert_eq!(no_code.code, Some(2));
    assert!(no_code.err.contains("relay-analyzer explain"), "{}", no_code.err);
    assert!(folder.run(&["check", "--color", "always", "bad.rly"]).out.contains("\u{1b}["));
    assert!(!folder.run(&["check", "--color", "never", "bad.rly"]).out.contains('\u{1b}'));
    assert_eq!(folder.run(&["check"]).code, Some(1));
    assert_eq!(folder.run(&["check", "--format", "poem", "good.relay"]).code, Some(2));
    assert_eq!(folder.run(&["frobnicate"]).code, Some(2));
    assert_eq!(folder.run(&["check", "--tvm", "good.relay"]).code, Some(0));
    let manual = Folder::new("manual", &[("a.rly", b"def @main(%x: int32) { %x }")]);
    assert_eq!(manual.run(&["check", "a.rly"]).code, Some(0));
    assert_eq!(manual.run(&["check", "--tvm", "a.rly"]).code, Some(1));
}

#[test]
fn json_has_positions() {
    let folder = Folder::new("json", &[("bad.relay", BAD.as_bytes())]);
    let lines = folder.run(&["check", "--format", "json", "bad.relay"]).lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["path"], "bad.relay");
    let errors: Vec<&Value> = lines[0]["diagnostics"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|d| d["severity"] == "error")
        .collect();
    assert_eq!(errors.len(), 1);
    let error = errors[0];
    let at = BAD.find("%y").expect("the fault");
    assert_eq!(
        (&error["code"], &error["start"], &error["end"]),
        (&json!("unknown-variable"), &json!(at), &json!(at + 2))
    );
    // Lines from 0, columns in utf-16.
    let line_start = BAD.find("def").expect("a line");
    let column = BAD[line_start..at].encode_utf16().count();
    assert_eq!((&error["line"], &error["column"]), (&json!(1), &json!(column)));
    assert!(error["message"].is_string() && error["related"].is_array());
    assert!(error["help"].as_str().is_some_and(|help| help.contains("%x")), "{error}");
}

#[test]
fn sarif_github_and_human_formats() {
    let folder = Folder::new("formats", &[("bad.relay", BAD.as_bytes())]);
    let sarif: Value =
        serde_json::from_str(&folder.run(&["check", "--format", "sarif", "bad.relay"]).out)
            .expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert!(results.iter().any(|r| r["ruleId"] == "unknown-variable" && r["level"] == "error"));
    let github = folder.run(&["check", "--format", "github", "bad.relay"]).out;
    assert!(github.starts_with("::error file=bad.relay,line=2,"), "{github}");
    let human = folder.run(&["check", "bad.relay"]).out;
    assert!(human.contains("error[unknown-variable]") && human.contains("bad.relay:2:"), "{human}");
    assert!(!human.contains('\u{1b}'), "colour goes to terminals only: {human:?}");
}

/// The summary names the releases of TVM that printed a module, if 0.14 is none of them.
#[test]
fn summary_names_the_releases() {
    let old = "v0.0.4\ndef @main(%x: Tensor[(2), float32]) { nn.pad(%x, pad_width=[[1, 1]]) }\n";
    let folder =
        Folder::new("releases", &[("old.relay", old.as_bytes()), ("new.relay", GOOD.as_bytes())]);
    let summary = |files: &[&str]| folder.run(&[&["check"], files].concat()).out;
    assert!(summary(&["new.relay"]).starts_with("no errors in 1 file\n"));
    let one = summary(&["old.relay"]);
    assert!(one.starts_with("no errors in 1 file, printed by TVM 0.5 to 0.6"), "{one}");
    let both = summary(&["old.relay", "new.relay"]);
    assert!(both.starts_with("no errors in 2 files (1 printed by TVM 0.5 to 0.6)"), "{both}");
}

/// Every format names the place of each diagnostic, also in a line of which the excerpt shows a part.
#[test]
fn all_formats_name_the_same_places() {
    // One line of 3,000 characters, as TVM prints headers and calls, with faults at its start, middle and end,
    // and characters of one, two and four bytes before them.
    let sums = "%x + ".repeat(300);
    let pads = ["", "/* é */ ", "/* 😀 */ "];
    let defs = pads.iter().enumerate().map(|(number, pad)| {
        format!("def @f{number}(%x: int32) {{ %a{number} + {pad}{sums}%b{number} + {sums}{pad}%c{number} }}\n")
    });
    let text: String = std::iter::once("#[version = \"0.0.5\"]\n".to_owned()).chain(defs).collect();
    let folder = Folder::new("places", &[("long.relay", text.as_bytes())]);
    let check = |format: &str| folder.run(&["check", "--format", format, "long.relay"]).out;

    let json: Value = serde_json::from_str(&check("json")).expect("JSON");
    let diagnostics = json["diagnostics"].as_array().expect("diagnostics");
    assert_eq!(diagnostics.len(), 9, "{json}");
    let number = |value: &Value| value.as_u64().expect("a number") as usize;
    let mut characters = Vec::new();
    let mut units = Vec::new();
    for diagnostic in diagnostics {
        let (line, start) = (number(&diagnostic["line"]), number(&diagnostic["start"]));
        let before = &text[text[..start].rfind('\n').map_or(0, |at| at + 1)..start];
        assert_eq!(number(&diagnostic["column"]), before.encode_utf16().count());
        characters.push((line + 1, before.chars().count() + 1));
        units.push((line + 1, before.encode_utf16().count() + 1));
    }

    let sarif: Value = serde_json::from_str(&check("sarif")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results").iter();
    let region = |result: &Value| {
        let region = &result["locations"][0]["physicalLocation"]["region"];
        (number(&region["startLine"]), number(&region["startColumn"]))
    };
    assert_eq!(results.map(region).collect::<Vec<_>>(), units);

    let pair = |line: &str, column: &str| {
        (line.parse().expect("a line"), column.parse().expect("a column"))
    };
    let github = check("github");
    let command = |line: &str| {
        let value = |name: &str| {
            line.split([',', ':'])
                .find_map(|part| part.strip_prefix(name))
                .expect("a value")
                .to_owned()
        };
        pair(&value("line="), &value("col="))
    };
    assert_eq!(github.lines().map(command).collect::<Vec<_>>(), characters);

    let human = check("human");
    let heading = |line: &str| {
        let (line, column) = line.split_once("╭▸ long.relay:")?.1.split_once(':')?;
        Some(pair(line, column))
    };
    assert_eq!(human.lines().filter_map(heading).collect::<Vec<_>>(), characters, "{human}");
}

#[test]
fn folders_are_searched_by_gitignore() {
    let folder = Folder::new(
        "ignore",
        &[
            (".git/HEAD", b"ref: refs/heads/main\n"),
            (".gitignore", b"out/\n"),
            ("a/one.relay", GOOD.as_bytes()),
            ("a/b/two.rly", GOOD.as_bytes()),
            ("out/three.relay", BAD.as_bytes()),
            ("a/notes.txt", b"no Relay"),
        ],
    );
    let lines = folder.run(&["check", "--format", "json", "."]).lines();
    let mut paths: Vec<&str> = lines.iter().filter_map(|line| line["path"].as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["a/b/two.rly", "a/one.relay"]);
    // Without a path, the current folder is checked.
    assert_eq!(folder.run(&["check", "--format", "json"]).lines(), lines);
    assert_eq!(folder.run(&["check"]).out, folder.run(&["check", "."]).out);
    // A file is checked once, and its path is the one that was written first.
    let named = ["check", "--format", "json", "./a/one.relay", "a", "a/b/two.rly", "a/one.relay"];
    let lines = folder.run(&named).lines();
    let paths: Vec<&str> = lines.iter().filter_map(|line| line["path"].as_str()).collect();
    assert_eq!(paths, ["./a/one.relay", "a/b/two.rly"]);
    let formatted = folder.run(&["types", "a/one.relay", "a/one.relay"]).lines();
    assert_eq!(formatted.len(), 1);
}

#[test]
fn types_are_printed_as_by_tvm() {
    let folder = Folder::new("types", &[("good.relay", GOOD.as_bytes())]);
    let lines = folder.run(&["types", "good.relay"]).lines();
    let types = lines[0]["types"].as_array().expect("a list");
    let use_of_x = GOOD.rfind("%x").expect("a use");
    let wanted = json!({ "start": use_of_x, "end": use_of_x + 2, "type": "int32" });
    assert!(types.contains(&wanted), "{types:?}");
    assert_eq!(types.len(), 2, "the parameter and its use: {types:?}");
}

#[test]
fn batches_are_answered_in_order() {
    let input: String = (0..200)
        .map(|i| json!({ "id": i, "text": if i % 2 == 0 { GOOD } else { BAD } }).to_string() + "\n")
        .collect();
    let answers = run(&["check", "--batch", "--types"], &input).lines();
    assert_eq!(answers.len(), 200);
    for (i, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], i);
        let errors = answer["diagnostics"].as_array().expect("a list");
        let errors = errors.iter().filter(|d| d["severity"] == "error").count();
        assert_eq!(errors, i % 2);
        assert!(answer["types"].is_array());
    }
    let odd = run(
        &["check", "--batch"],
        &format!("{{\"id\": 1\nnonsense\n{}\n", json!({ "id": "z", "text": GOOD })),
    );
    let last = odd.lines().pop().expect("an answer");
    assert_eq!(last["id"], "z", "{}", odd.out);
}

#[test]
fn standard_input_is_checked() {
    let read = run(&["check", "--format", "json", "-"], BAD);
    assert_eq!(read.code, Some(1));
    assert!(read.out.contains("unknown-variable"), "{}", read.out);
}

#[test]
fn unreadable_files_are_reported() {
    let deep = format!("def @main(%x: int32) {{ {}%x{} }}", "(".repeat(50_000), ")".repeat(50_000));
    let large = format!("{GOOD}// {}\n", "x".repeat(1_200_000));
    let folder = Folder::new(
        "bad",
        &[
            ("program.relay", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0"),
            ("wide.relay", b"\xff\xfed\0e\0f\0"),
            ("latin.relay", b"def @main(%x: int32) { %x } // \xe4\xf6\n"),
            ("nul.relay", b"def @main(%x: int32) { \0 %x }\n"),
            ("empty.relay", b""),
            (
                "crlf.relay",
                b"#[version = \"0.0.5\"]\r\ndef @main(%x: int32) -> int32 {\r\n  %x\r\n}\r\n",
            ),
            ("cr.relay", b"def @main(%x: int32) -> int32 {\r  %x\r}\r"),
            (
                "bom.relay",
                "\u{FEFF}#[version = \"0.0.5\"]\ndef @main(%x: int32) -> int32 { %x }\n".as_bytes(),
            ),
            ("comment.relay", b"def @main(%x: int32) { %x } /* open"),
            ("string.relay", b"def @main(%x: int32) { cast(%x, dtype=\"int8) }"),
            ("deep.relay", deep.as_bytes()),
            ("large.relay", large.as_bytes()),
        ],
    );
    let errors = |args: &[&str]| -> Vec<String> {
        let run = folder.run(args);
        assert!(matches!(run.code, Some(0 | 1)), "{args:?}: {:?} {}", run.code, run.err);
        let lines = run.lines();
        let found = lines[0]["diagnostics"].as_array().expect("a list").iter();
        let errors = found.filter(|d| d["severity"] == "error");
        errors.map(|d| d["code"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let json = |file: &str| errors(&["check", "--format", "json", file]);
    assert_eq!(json("program.relay"), ["not-text"]);
    assert_eq!(json("wide.relay"), ["not-text"]);
    assert_eq!(json("latin.relay"), ["invalid-utf8"]);
    assert_eq!(json("nul.relay"), ["unknown-character"]);
    assert_eq!(json("comment.relay"), ["unclosed-comment"]);
    assert_eq!(json("string.relay").first().map(String::as_str), Some("unclosed-string"));
    assert_eq!(json("deep.relay"), ["nested-too-deep"]);
    for sound in ["empty.relay", "crlf.relay", "cr.relay", "bom.relay", "large.relay"] {
        assert_eq!(json(sound), [""; 0], "{sound}");
    }
    assert_eq!(errors(&["check", "--format", "json", "--tvm", "crlf.relay"]), [""; 0]);
    assert_eq!(
        errors(&["check", "--format", "json", "--max-size", "1", "large.relay"]),
        ["file-too-large"]
    );
}

#[test]
fn codes_are_explained() {
    let page = run(&["explain", "shape-mismatch"], "");
    assert_eq!(page.code, Some(0));
    assert!(page.out.contains("shape-mismatch"), "{}", page.out);
    let all = run(&["explain"], "");
    assert!(all.out.contains("unknown-variable") && all.out.contains("tvm-version"));
    let unknown = run(&["explain", "shape-mismatc"], "");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("shape-mismatch"), "{}", unknown.err);
}

#[test]
fn operators_are_shown() {
    let page = run(&["operators", "nn.conv2d"], "");
    assert_eq!(page.code, Some(0));
    assert!(
        page.out.contains("data_layout=\"NCHW\"") && page.out.contains("Conv2D"),
        "{}",
        page.out
    );
    let all = run(&["operators"], "");
    assert!(all.out.lines().count() >= 305, "{}", all.out.lines().count());
    let unknown = run(&["operators", "conv2d"], "");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("`nn.conv2d`"), "{}", unknown.err);
}

/// The reference page in the repository equals the output of the program.
#[test]
fn operator_reference_is_up_to_date() {
    let page = run(&["operators", "--markdown"], "").out;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/operators/OPERATORS.md");
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == there,
        "update it: relay-analyzer operators --markdown > analysis/operators/OPERATORS.md"
    );
}

/// The page of each release in the book ends with the output of the program; the first release changed nothing.
#[test]
fn pages_of_releases_are_up_to_date() {
    for release in types::Release::all().skip(1) {
        let changes = run(&["operators", "--changes", &release.to_string()], "").out;
        let page = format!("../docs/release-{release}.md");
        let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page))
            .expect("a page");
        assert!(page.ends_with(&changes), "docs/release-{release}.md should end with\n{changes}");
    }
    let unknown = run(&["operators", "--changes", "0.4"], "");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("a release from 0.5 to 0.19"), "{}", unknown.err);
}

#[test]
fn version_and_help_are_printed() {
    let version = run(&["--version"], "");
    assert_eq!(version.out.trim(), format!("relay-analyzer {}", env!("CARGO_PKG_VERSION")));
    for args in [&["--help"][..], &["check", "--help"], &["types", "--help"], &["lsp", "--help"]] {
        let help = run(args, "");
        assert!(help.code == Some(0) && help.out.contains("Usage"), "{args:?}: {}", help.err);
    }
}

/// Each command line that editors use.
#[test]
fn server_starts_with_each_command_line() {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
    let exit = r#"{"jsonrpc":"2.0","method":"exit"}"#;
    let framed = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    for args in [&["lsp"][..], &["lsp", "--stdio"], &["--stdio"], &[]] {
        let session = run(args, &(framed(request) + &framed(exit)));
        // A subsequent `exit` may cancel the request, which is answered in either case.
        assert!(session.out.contains("\"id\":1"), "{args:?}: {} {}", session.out, session.err);
        assert_eq!(session.code, Some(1), "exit without shutdown");
    }
}

#[test]
fn fixes_are_written_back() {
    let stale = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 3), float32]) {\n  \
                 nn.relu(%x) /* ty=Tensor[(2, 4), float32] */\n}\n";
    let fixed = stale.replace("(2, 4)", "(2, 3)");
    let folder = Folder::new("fix", &[("a.relay", stale.as_bytes()), ("b.relay", BAD.as_bytes())]);
    let found = folder.run(&["check", "--fix", "a.relay", "b.relay"]);
    assert_eq!(folder.text("a.relay"), fixed);
    // Problems without an automatic fix are reported.
    assert_eq!(folder.text("b.relay"), BAD);
    assert_eq!(found.code, Some(1));
    assert!(found.err.contains("`a.relay`: 1 problem fixed"), "{}", found.err);
    assert!(found.out.contains("unknown-variable"), "{}", found.out);
    let again = folder.run(&["check", "--fix", "a.relay"]);
    assert_eq!((again.code, again.err.as_str()), (Some(0), ""));
    let stdin = run(&["check", "--fix", "-"], stale);
    assert_eq!(stdin.code, Some(2));
    assert!(stdin.err.contains("standard input"), "{}", stdin.err);
}

#[test]
fn shapes_reports_several_files() {
    let one = "def @main(%x: Tensor[(2, 3), float32]) { nn.relu(%x) }\n";
    let two = "def @main(%x: Tensor[(5, 7), float32]) { exp(%x) }\n";
    let folder =
        Folder::new("shapes", &[("a.relay", one.as_bytes()), ("sub/b.relay", two.as_bytes())]);
    let table = folder.run(&["shapes", "."]);
    assert_eq!(table.code, Some(0), "{}", table.err);
    let at = |text: &str| table.out.find(text).unwrap_or_else(|| panic!("{text}: {}", table.out));
    assert!(at("a.relay\n") < at("nn.relu") && at("nn.relu") < at("b.relay\n"));
    assert!(at("b.relay\n") < at("exp"));
    let json = folder.run(&["shapes", "--format", "json", "a.relay", "sub/b.relay"]);
    let rows: Vec<Value> = json
        .lines()
        .iter()
        .map(|line| line["functions"][0]["rows"][0]["operator"].clone())
        .collect();
    assert_eq!(rows, ["nn.relu", "exp"]);
    let html = folder.run(&["shapes", "--format", "html", "."]);
    assert_eq!(html.code, Some(2));
    assert!(html.err.contains("takes one file, found 2"), "{}", html.err);
    // A missing file does not affect the others.
    let missing = folder.run(&["shapes", "none.relay", "a.relay"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.out.contains("nn.relu") && missing.err.contains("none.relay"));
}

#[test]
fn fixes_are_shown_as_a_diff() {
    let stale = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 3), float32]) {\n  \
                 nn.relu(%x) /* ty=Tensor[(2, 4), float32] */\n}";
    let folder = Folder::new("diff", &[("a.relay", stale.as_bytes()), ("b.relay", BAD.as_bytes())]);
    let shown = folder.run(&["check", "--fix", "--diff", "a.relay", "b.relay"]);
    assert_eq!(shown.code, Some(1));
    assert_eq!(folder.text("a.relay"), stale, "nothing is written");
    let diff = "--- a.relay\n+++ a.relay\n@@ -1,4 +1,4 @@\n #[version = \"0.0.5\"]\n \
                def @main(%x: Tensor[(2, 3), float32]) {\n\
                -  nn.relu(%x) /* ty=Tensor[(2, 4), float32] */\n\
                +  nn.relu(%x) /* ty=Tensor[(2, 3), float32] */\n }\n\\ No newline at end of file\n";
    assert_eq!(shown.out, diff);
    assert!(shown.err.contains("would change 1 file"), "{}", shown.err);
    // The diff equals the changes of `--fix`.
    assert_eq!(folder.run(&["check", "-q", "--fix", "a.relay"]).code, Some(0));
    assert_eq!(folder.text("a.relay"), stale.replace("(2, 4)", "(2, 3)"));
    let nothing = folder.run(&["check", "--diff", "a.relay", "b.relay"]);
    assert_eq!((nothing.code, nothing.out.as_str(), nothing.err.as_str()), (Some(0), "", ""));
    let missing = folder.run(&["check", "--diff", "none.relay"]);
    assert_eq!(missing.code, Some(2));
}

/// The completions of every shell contain every command.
#[test]
fn completions_name_commands_and_flags() {
    let commands = ["check", "fmt", "run", "diff", "passes", "explain", "completions", "man"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&["completions", shell], "");
        assert_eq!((script.code, script.err.as_str()), (Some(0), ""), "{shell}");
        for word in commands.iter().chain(&["watch", "isolated"]) {
            assert!(script.out.contains(word), "{shell}: {word}");
        }
    }
    let bash = run(&["completions", "bash"], "").out;
    assert!(bash.contains("complete -F _relay__analyzer"), "{bash}");
    let unknown = run(&["completions", "tcsh"], "");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("bash"), "{}", unknown.err);
}

#[test]
fn manual_pages_are_written() {
    let page = run(&["man"], "");
    assert_eq!(page.code, Some(0));
    assert!(
        page.out.contains(".TH relay-analyzer 1") && page.out.contains("relay\\-analyzer\\-check")
    );
    let folder = Folder::new("manual-pages", &[("x", b"")]);
    let written = folder.run(&["man", "--output", "pages"]);
    assert_eq!((written.code, written.out.as_str()), (Some(0), ""), "{}", written.err);
    let names: Vec<String> = std::fs::read_dir(folder.path().join("pages"))
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.contains(&"relay-analyzer.1".to_owned()), "{names:?}");
    let help = run(&["--help"], "").out;
    let listed = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let listed = listed.take_while(|line| !line.trim().is_empty());
    let listed = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let mut count = 0;
    for command in listed.filter_map(|line| line.split_whitespace().next()) {
        if command != "help" {
            count += 1;
            assert!(names.contains(&format!("relay-analyzer-{command}.1")), "{command}: {names:?}");
        }
    }
    assert!(count >= 18, "{help}");
    let check = folder.text("pages/relay-analyzer-check.1");
    assert!(check.contains("\\-\\-watch"), "{check}");
    let file = folder.run(&["man", "--output", "x"]);
    assert_eq!(file.code, Some(2), "a file is not a folder");
    assert!(file.err.contains('x'), "{}", file.err);
}

#[test]
fn batches_write_excerpts_and_tokens_on_request() {
    let input = format!("{}\n", json!({ "id": 7, "text": BAD, "path": "bad.relay" }));
    let plain = &run(&["check", "--batch"], &input).lines()[0];
    assert!(plain["diagnostics"][0]["rendered"].is_null() && plain["tokens"].is_null());
    let answer = &run(&["check", "--batch", "--rendered", "--tokens"], &input).lines()[0];
    let found = answer["diagnostics"].as_array().expect("a list");
    let error = found.iter().find(|d| d["code"] == "unknown-variable").expect("the error");
    let rendered = error["rendered"].as_str().expect("an excerpt");
    assert!(rendered.contains("error[unknown-variable]"), "{rendered}");
    assert!(rendered.contains("bad.relay:2:") && rendered.contains("help:"), "{rendered}");
    assert!(!rendered.contains('\u{1b}'), "an excerpt has no colour");
    let tokens = answer["tokens"].as_array().expect("a list");
    let text = |token: &Value| {
        let at = |i: usize| token[i].as_u64().expect("an offset") as usize;
        (BAD[at(0)..at(1)].to_owned(), token[2].as_str().expect("a kind").to_owned())
    };
    let tokens: Vec<(String, String)> = tokens.iter().map(text).collect();
    assert!(tokens.iter().any(|(text, kind)| text == "@main" && kind == "function"), "{tokens:?}");
    assert!(tokens.iter().any(|(text, kind)| text == "%x" && kind == "parameter"), "{tokens:?}");
    let folder = Folder::new("batch-only", &[("x.relay", GOOD.as_bytes())]);
    for option in ["--types", "--tokens", "--rendered"] {
        let refused = folder.run(&["check", option, "x.relay"]);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
        assert!(refused.err.contains("requires `--batch`"), "{}", refused.err);
    }
}

/// Runs the program in a folder on a terminal of 100 columns. Returns its output.
#[cfg(target_os = "linux")]
fn on_terminal(folder: &Folder, arguments: &str) -> String {
    on_terminal_of(100, folder, arguments)
}

/// Runs the program on a terminal, created by `script` of util-linux.
#[cfg(target_os = "linux")]
fn on_terminal_of(columns: usize, folder: &Folder, arguments: &str) -> String {
    let command = format!("stty rows 24 cols {columns}; '{}' {arguments}", binary().display());
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(folder.path())
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output()
        .expect("`script` of util-linux runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn progress_is_drawn_on_a_terminal() {
    let endless = "def @f(%n: int32) -> int32 { let %m = %n + 1; @f(%m) }\n\
                   def @main() -> int32 { @f(0) }\n";
    let folder = Folder::new("progress", &[("endless.relay", endless.as_bytes())]);
    let drawn = on_terminal(&folder, "run --isolated --time 1.5 endless.relay");
    assert!(drawn.contains(" bindings"), "{drawn:?}");
    let short = on_terminal(&folder, "run --isolated --time 0.1 endless.relay");
    assert!(short.contains("run-time") && !short.contains(" bindings"), "{short:?}");
    let piped = folder.run(&["run", "--isolated", "--time", "1.5", "endless.relay"]);
    assert!(piped.err.contains("run-time") && !piped.err.contains(" bindings"), "{}", piped.err);
    let json = on_terminal(&folder, "run --isolated --format json --time 1.5 endless.relay");
    assert!(!json.contains(" bindings"), "{json:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn diffs_have_colour_on_a_terminal() {
    let stale = "def @f(%x: int32) {\n  %x /* ty=int64 */\n}\n";
    let folder = Folder::new("colours", &[("a.relay", stale.as_bytes())]);
    let drawn = on_terminal(&folder, "check --isolated --diff a.relay");
    assert!(drawn.contains("\u{1b}[31m-  %x /* ty=int64 */"), "{drawn:?}");
    assert!(drawn.contains("\u{1b}[32m+  %x /* ty=int32 */"), "{drawn:?}");
}

/// Columns of text are shortened to the width of the terminal; numbers, and tables in a pipe, are not.
#[cfg(target_os = "linux")]
#[test]
fn shapes_fit_the_terminal() {
    let text = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(1, 1000, 2000, 3000), float32]) {\n  \
                let %a_rather_long_name_of_a_variable = nn.relu(%x);\n  \
                layout_transform(%a_rather_long_name_of_a_variable, src_layout=\"NCHW\", dst_layout=\"NHWC\")\n}\n";
    let folder = Folder::new("width", &[("a.relay", text.as_bytes())]);
    let piped = folder.run(&["shapes", "a.relay"]).out;
    assert!(piped.contains("%a_rather_long_name_of_a_variable nn.relu"), "{piped}");
    let wide = on_terminal_of(200, &folder, "shapes a.relay");
    assert_eq!(wide.replace('\r', ""), piped);
    let drawn = on_terminal_of(80, &folder, "shapes a.relay");
    let table: Vec<&str> = drawn.lines().filter(|line| line.starts_with("  ")).collect();
    assert!(table.len() > 4, "{drawn}");
    for line in table {
        assert!(line.trim_end().chars().count() <= 80, "{drawn}");
    }
    assert!(drawn.contains('…') && drawn.contains("22.4 GiB"), "{drawn}");
}
