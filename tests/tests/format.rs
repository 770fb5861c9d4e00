//! Layout: TVM's own prints stay as they are, and no text changes its meaning.

use std::process::{Command, Stdio};

use fastrand::Rng;
use relay_tests::{client::binary, corpus, edits};
use semantics::{Database, check_file, types_in};
use syntax::{
    ParseLimits,
    format::{Style, formatted},
};

const STYLES: [Style; 2] = [Style::Tvm, Style::Reading];

/// What TVM printed: the modules of the corpus, where it is present.
fn printed() -> Vec<(String, String)> {
    let Some(folder) = corpus::conformance() else { return Vec::new() };
    let mut texts = corpus::relay_files(&folder.join("models"));
    for name in ["typed.jsonl", "printonly.jsonl"] {
        let lines = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        for line in lines.lines() {
            let case: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
            let field = |name: &str| case[name].as_str().unwrap_or_default().to_owned();
            texts.push((field("id"), field("text")));
        }
    }
    texts
}

#[test]
fn what_tvm_printed_stays() {
    let printed = printed();
    for (name, text) in &printed {
        assert_eq!(formatted(text, Style::Tvm), *text, "{name}");
        let reading = formatted(text, Style::Reading);
        assert_eq!(formatted(&reading, Style::Reading), reading, "{name}: once more");
        assert_eq!(formatted(&reading, Style::Tvm), *text, "{name}: and back");
    }
}

/// The lines of a module without their indentation, and without what TVM puts between words where
/// nothing is needed: laid out again, it is what TVM printed.
#[test]
fn what_tvm_printed_comes_back() {
    for (name, text) in printed() {
        if text.contains("#[metadata]") || text.contains('"') || text.len() > 300_000 {
            continue;
        }
        // What is in a comment is not laid out.
        let squeezed: String =
            text.lines().map(|line| format!("{}\n", line.trim_start())).collect();
        assert_eq!(formatted(&squeezed, Style::Tvm), text, "{name}: without indentation");
        if !text.contains("/*") {
            let tight = squeezed.replace(", ", ",").replace(" = ", "=").replace(" {\n", "{");
            assert_eq!(formatted(&tight, Style::Tvm), text, "{name}: squeezed");
        }
    }
}

#[test]
fn no_line_of_the_reading_style_is_longer_than_it_has_to_be() {
    for (name, text) in printed() {
        let comments = text.contains("/*");
        if comments || text.contains("#[metadata]") {
            continue;
        }
        for line in formatted(&text, Style::Reading).lines() {
            // One name, number, string or type cannot be broken.
            let longest = line.split(", ").map(str::len).max().unwrap_or_default();
            assert!(line.len() <= 100 || longest > 40 || line.contains("->"), "{name}: {line}");
        }
    }
}

/// What a text means: the types in it in order, and what is wrong with it.
fn meaning(text: &str) -> (Vec<String>, Vec<&'static str>) {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    let types = types_in(&db, file).into_iter().map(|at| at.ty.to_string()).collect();
    let mut codes: Vec<_> = check_file(&db, file).iter().map(|d| d.code.name()).collect();
    codes.sort_unstable();
    (types, codes)
}

#[test]
fn a_layout_changes_no_meaning() {
    let mut texts = corpus::examples();
    texts.push(("chain".into(), corpus::chain(30)));
    texts.extend(printed().into_iter().filter(|(_, text)| text.len() < 4_000).step_by(9));
    for (name, text) in &texts {
        for style in STYLES {
            let after = formatted(text, style);
            assert_eq!(meaning(&after), meaning(text), "{name} in {}", style.name());
        }
    }
}

/// Texts that somebody is in the middle of writing.
#[test]
fn nor_does_that_of_broken_texts() {
    let mut rng = Rng::with_seed(11);
    let mut texts = corpus::examples();
    texts.push(("chain".into(), corpus::chain(12)));
    texts.extend(printed().into_iter().filter(|(_, text)| text.len() < 2_000).step_by(60));
    let mut changed = 0;
    for round in 0..400 {
        let (name, text) = &texts[rng.usize(0..texts.len())];
        let mut text = text.clone();
        for _ in 0..rng.usize(1..6) {
            edits::random(&mut rng, &text.clone()).apply(&mut text);
        }
        for style in STYLES {
            let after = formatted(&text, style);
            changed += usize::from(after != text);
            assert_eq!(formatted(&after, style), after, "{name}, round {round}: {text:?}");
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(bare(&after), bare(&text), "{name}, round {round}");
            assert_eq!(
                meaning(&after),
                meaning(&text),
                "{name}, round {round}: {text:?}\n{after:?}"
            );
        }
    }
    assert!(changed > 100, "the texts were laid out already: {changed}");
}

#[test]
fn the_command() {
    let folder = std::env::temp_dir().join(format!("relay-fmt-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("a.relay");
    let untidy = "def @main( %x:int32 ){%x}\n";
    std::fs::write(&file, untidy).expect("a file");
    let run = |args: &[&str]| {
        let output = Command::new(binary()).arg("fmt").args(args).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let path = file.to_string_lossy().into_owned();
    let (code, said) = run(&["--check", &path]);
    assert_eq!((code, said.trim()), (Some(1), path.as_str()));
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), untidy);
    assert_eq!(run(&["--style", "reading", &path]), (Some(0), String::new()));
    let tidy = "def @main(%x: int32) {\n  %x\n}\n";
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), tidy);
    assert_eq!(run(&["--check", &path]).0, Some(0));
    // What cannot be read is not laid out.
    let broken = "def @main( ) { add(1, }\n";
    std::fs::write(&file, broken).expect("a file");
    assert_eq!(run(&[&path]), (Some(1), String::new()));
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), broken);
    // Bytes that are no text are not written back.
    std::fs::write(&file, b"def @main( ) { \xff }\n").expect("a file");
    assert_eq!(run(&[&path]).0, Some(2));
    assert_eq!(std::fs::read(&file).expect("it is there"), b"def @main( ) { \xff }\n");
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1, "nothing is left over");
    let mut child = Command::new(binary())
        .args(["fmt", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut stdin, untidy.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), tidy);
    std::fs::remove_dir_all(&folder).expect("a folder");
}
