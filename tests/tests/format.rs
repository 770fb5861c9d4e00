//! Formatting: output of TVM is unchanged, and the meaning of texts is preserved.

use std::process::{Command, Stdio};

use fastrand::Rng;
use relay_tests::{client::binary, corpus, edits};
use semantics::{Database, check_file, types_in};
use syntax::{
    ParseLimits,
    format::{Style, formatted},
};

const STYLES: [Style; 2] = [Style::Tvm, Style::Reading];

/// Returns modules that TVM printed, if the corpus is present.
fn printed() -> Vec<(String, String)> {
    let mut texts: Vec<_> = corpus::models().into_iter().flatten().collect();
    for name in ["typed.jsonl", "printonly.jsonl"] {
        texts.extend(corpus::cases(name).into_iter().flatten());
    }
    texts
}

#[test]
fn formatting_preserves_output_of_tvm() {
    let printed = printed();
    for (name, text) in &printed {
        assert_eq!(formatted(text, Style::Tvm), *text, "{name}");
        let reading = formatted(text, Style::Reading);
        assert_eq!(formatted(&reading, Style::Reading), reading, "{name}: once more");
        assert_eq!(formatted(&reading, Style::Tvm), *text, "{name}: and back");
    }
}

/// Removes indentation and optional spaces from modules that TVM printed: formatting restores them.
#[test]
fn formatting_restores_output_of_tvm() {
    for (name, text) in printed() {
        if text.contains("#[metadata]") || text.contains('"') || text.len() > 300_000 {
            continue;
        }
        // Comments are not formatted.
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
fn reading_style_wraps_long_lines() {
    for (name, text) in printed() {
        let comments = text.contains("/*");
        if comments || text.contains("#[metadata]") {
            continue;
        }
        for line in formatted(&text, Style::Reading).lines() {
            // Single names, numbers, strings and types cannot be wrapped.
            let longest = line.split(", ").map(str::len).max().unwrap_or_default();
            assert!(line.len() <= 100 || longest > 40 || line.contains("->"), "{name}: {line}");
        }
    }
}

/// Returns the types in a text in order, and the codes of its diagnostics except those about missing spaces, which
/// formatting adds.
fn meaning(text: &str) -> (Vec<String>, Vec<&'static str>) {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    let types = types_in(&db, file).into_iter().map(|at| at.ty.to_string()).collect();
    let mut codes: Vec<_> = check_file(&db, file).iter().map(|d| d.code.name()).collect();
    codes.retain(|code| !matches!(*code, "tvm-glued-minus" | "tvm-glued-number"));
    codes.sort_unstable();
    (types, codes)
}

#[test]
fn formatting_preserves_meaning() {
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

/// Incomplete texts.
#[test]
fn formatting_preserves_errors_of_invalid_texts() {
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
    assert!(changed > 100, "the texts were already formatted: {changed}");
}

#[test]
fn fmt_command_formats_files() {
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
    // Texts with syntax errors are not formatted.
    let broken = "def @main( ) { add(1, }\n";
    std::fs::write(&file, broken).expect("a file");
    assert_eq!(run(&[&path]), (Some(1), String::new()));
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), broken);
    // Invalid UTF-8 is not written back.
    std::fs::write(&file, b"def @main( ) { \xff }\n").expect("a file");
    assert_eq!(run(&[&path]).0, Some(2));
    assert_eq!(std::fs::read(&file).expect("it is there"), b"def @main( ) { \xff }\n");
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1, "no temporary files");
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
