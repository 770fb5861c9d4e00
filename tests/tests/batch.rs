//! A panic in one item of many affects only that item, and is reported once.

use std::{
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use relay_tests::{client::binary, command::fresh_folder};
use serde_json::{Value, json};

const GOOD: &str = "#[version = \"0.0.5\"]\ndef @main(%x: int32) -> int32 { %x }\n";
const BAD: &str = "#[version = \"0.0.5\"]\ndef @main(%x: int32) -> int32 { %y }\n";
const BOOM: &str = "#[version = \"0.0.5\"]\ndef @main(%x: int32) -> int32 { @boom(%x) }\n\
    def @boom(%x: int32) -> int32 { %x }\n";

/// The stages in which a test can cause a panic: the parser, outside of any query, and the queries for
/// lowering and inference.
const STAGES: [&str; 3] = ["parse:@boom(%x:", "lower:@boom", "infer:@boom"];

fn command(stage: &str, args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(args).env("RELAY_TEST_PANIC", stage).env_remove("RUST_BACKTRACE");
    command
}

fn lines(output: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(output).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// A file with settings that cannot be used is one error, not one for each text.
#[test]
fn missing_settings_are_one_error() {
    let folder = Folder::new("batch-settings", &[("bad.toml", "[run]\nfuel = \"much\"\n")]);
    for name in ["nope.toml", "bad.toml"] {
        let mut command = command("", &["check", "--batch", "--config", name]);
        command.current_dir(&folder.0).stdin(Stdio::piped());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut input = child.stdin.take().expect("an input");
        for id in 0..3 {
            // The program may have ended.
            let _ = writeln!(input, "{}", json!({ "id": id, "text": GOOD }));
        }
        drop(input);
        let output = child.wait_with_output().expect("an end");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]), "{name}: {err}");
        assert_eq!(err.matches(&format!("`{name}`")).count(), 1, "{err}");
    }
}

/// Asserts that a message has the panic, its place in the source, and how to report it.
fn assert_reportable(message: &str) {
    for part in ["internal error", ".rs:", "/issues", env!("CARGO_PKG_VERSION")] {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert!(message.chars().count() <= 600, "{message}");
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let path = fresh_folder(name);
        for (file, text) in files {
            std::fs::write(path.join(file), text).expect("a file");
        }
        Folder(path)
    }

    fn run(&self, stage: &str, args: &[&str]) -> Output {
        command(stage, args).current_dir(&self.0).output().expect("the program starts")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A failure only leaves temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn panic_in_a_batch_item_affects_only_that_item() {
    for stage in STAGES {
        let mut child = command(stage, &["check", "--batch", "--types"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let texts = [GOOD, BOOM, BAD, BOOM, BOOM, GOOD];
        for (id, text) in texts.into_iter().enumerate() {
            writeln!(stdin, "{}", json!({ "id": id, "text": text })).expect("it reads");
            // Each result arrives before the next text is sent.
            let mut line = String::new();
            stdout.read_line(&mut line).expect("an answer");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            assert_eq!(answer["id"], id);
            if text == BOOM {
                assert_reportable(answer["error"].as_str().expect("an error"));
                let keys: Vec<&String> = answer.as_object().expect("an object").keys().collect();
                assert_eq!(keys, ["error", "id"], "{stage}: {answer}");
            } else {
                let found = answer["diagnostics"].as_array().expect("diagnostics");
                let errors = found.iter().filter(|d| d["severity"] == "error").count();
                assert_eq!(errors, usize::from(text == BAD), "{stage}: {answer}");
                assert_eq!(answer["types"].as_array().map(Vec::len), Some(2));
            }
        }
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(2), "{stage}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{stage}: reported once");
    }
}

#[test]
fn panic_in_a_file_affects_only_that_file() {
    let mut files: Vec<(String, &str)> =
        (0..30).map(|i| (format!("good{i}.relay"), GOOD)).collect();
    files.extend((0..30).map(|i| (format!("bad{i}.relay"), BAD)));
    files.push(("boom.relay".into(), BOOM));
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let folder = Folder::new("many", &files);
    for stage in STAGES {
        let json = folder.run(stage, &["check", "--format", "json", "."]);
        assert_eq!(json.status.code(), Some(2), "{stage}");
        let answers = lines(&json.stdout);
        assert_eq!(answers.len(), 61);
        for answer in answers {
            let path = answer["path"].as_str().expect("a path");
            let found = answer["diagnostics"].as_array().expect("diagnostics");
            let codes: Vec<&Value> =
                found.iter().filter(|d| d["severity"] == "error").map(|d| &d["code"]).collect();
            if path.ends_with("boom.relay") {
                assert_eq!(codes, ["internal-error"], "{stage}");
                let text = format!("{} {}", found[0]["message"], found[0]["help"]);
                assert_reportable(&text);
                // The parser has no definitions.
                let start =
                    if stage.starts_with("parse") { 0 } else { BOOM.find("@main").unwrap_or(0) };
                let own = BOOM.rfind("@boom").unwrap_or(0);
                let start_found = found[0]["start"].as_u64().map_or(0, |at| at as usize);
                assert!([start, own].contains(&start_found), "{stage}: {}", found[0]);
            } else {
                let wanted = if path.contains("bad") { vec!["unknown-variable"] } else { vec![] };
                assert_eq!(codes, wanted, "{stage}: {path}");
            }
        }
        for format in ["human", "github", "sarif"] {
            let output = folder.run(stage, &["check", "--format", format, "."]);
            assert_eq!(output.status.code(), Some(2), "{stage}: {format}");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.contains("internal-error"), "{stage}: {text}");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{stage}: {format}");
        }
        let types = folder.run(stage, &["types", "."]);
        assert_eq!((lines(&types.stdout).len(), types.status.code()), (60, Some(2)), "{stage}");
        let said = String::from_utf8_lossy(&types.stderr);
        assert_eq!(said.lines().count(), 1, "{stage}: {said}");
        assert!(said.contains("boom.relay"), "{stage}: {said}");
        assert_reportable(&said);
        let shapes = folder.run(stage, &["shapes", "boom.relay"]);
        assert_eq!(shapes.status.code(), Some(2), "{stage}");
        assert_reportable(&String::from_utf8_lossy(&shapes.stderr));
    }
    // A command with one item reports the same.
    let run = folder.run("infer:@boom", &["run", "boom.relay", "--input", "x=1"]);
    assert_eq!(run.status.code(), Some(101));
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_reportable(&said);
}
