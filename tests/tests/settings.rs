//! `relay.toml` and `allow` comments, on the command line and in the language server.

use std::{
    io::Read,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use relay_tests::{
    client::{Client, PATIENCE, binary, range},
    command::{Folder, run_in},
};
use serde_json::{Value, json};

/// One unused binding, at line 2, column 7.
const UNUSED: &str =
    "#[version = \"0.0.5\"]\ndef @main(%x: int32) -> int32 {\n  let %a = %x;\n  %x\n}\n";
const LINT: &str = "[lints]\nunused-binding = \"error\"\n";

/// Returns the codes and severities of a file, from `check --format json`.
fn found(folder: &Folder, args: &[&str]) -> Vec<(String, String)> {
    let run = folder.run(&[&["check", "--format", "json"], args].concat());
    let lines = run.lines();
    assert_eq!(lines.len(), 1, "{args:?}: {}", run.err);
    pairs(&lines[0]["diagnostics"])
}

fn pairs(found: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = found.as_array().expect("a list").iter();
    found.map(|d| (text(&d["code"]), text(&d["severity"]))).collect()
}

fn pair(code: &str, severity: &str) -> (String, String) {
    (code.to_owned(), severity.to_owned())
}

#[test]
fn nearest_file_sets_levels() {
    let folder = Folder::new(
        "settings-levels",
        &[
            ("relay.toml", LINT.as_bytes()),
            ("a.relay", UNUSED.as_bytes()),
            ("deep/er/b.relay", UNUSED.as_bytes()),
            ("own/relay.toml", b"[lints]\nunused-binding = \"allow\"\n"),
            ("own/c.relay", UNUSED.as_bytes()),
        ],
    );
    assert_eq!(found(&folder, &["a.relay"]), [pair("unused-binding", "error")]);
    assert_eq!(found(&folder, &["deep/er/b.relay"]), [pair("unused-binding", "error")]);
    assert_eq!(found(&folder, &["own/c.relay"]), [], "only the nearest file counts");
    assert_eq!(folder.run(&["check", "-q", "a.relay"]).code, Some(1));
    assert_eq!(folder.run(&["check", "-q", "own/c.relay"]).code, Some(0));
    // Each file has its own settings, also in parallel.
    let all = folder.run(&["check", "--format", "json", "."]).lines();
    let counts: Vec<(&str, usize)> = all
        .iter()
        .map(|line| {
            let count = line["diagnostics"].as_array().expect("a list").len();
            (line["path"].as_str().expect("a path"), count)
        })
        .collect();
    assert_eq!(counts.iter().filter(|(_, count)| *count == 1).count(), 2, "{counts:?}");
    // Standard input uses the settings of the current folder.
    let stdin = run_in(folder.path(), &["check", "-q", "-"], UNUSED.as_bytes());
    assert_eq!(stdin.code, Some(1));
    let batch = |request: Value| {
        let input = format!("{request}\n");
        let run = run_in(folder.path(), &["check", "--batch"], input.as_bytes());
        pairs(&run.lines()[0]["diagnostics"])
    };
    assert_eq!(batch(json!({ "id": 1, "text": UNUSED })), [pair("unused-binding", "error")]);
    assert_eq!(batch(json!({ "id": 1, "text": UNUSED, "path": "own/new.relay" })), []);
}

/// An error of the language has one answer, whoever asks to hide it: an option, the configuration or
/// a comment.
#[test]
fn nothing_hides_an_error() {
    let text = "def @main(%x: int32) -> int32 {\n  %y // relay: allow(CODE)\n}\n";
    for code in ["unknown-variable", "type-mismatch", "syntax-error"] {
        let answer = format!(
            "`{code}` is an error of the language, which has no level: warnings, infos, hints and what TVM \
             rejects have levels: `relay-analyzer explain` lists them"
        );
        let (message, help) = answer.split_once(": ").expect("a help");
        let folder = Folder::new(
            &format!("settings-{code}"),
            &[
                ("a.relay", text.replace("CODE", code).as_bytes()),
                ("hides.toml", format!("[lints]\n{code} = \"allow\"\n").as_bytes()),
            ],
        );
        let level = format!("{code}=allow");
        for args in [["--level", &level], ["--disable", code], ["--config", "hides.toml"]] {
            let run = folder.run(&[&["check", "-q"], &args[..], &["a.relay"]].concat());
            assert_eq!(run.code, Some(2), "{args:?}: {run:?}");
            assert!(run.err.contains(message) && run.err.contains(help), "{args:?}: {run:?}");
        }
        let run = folder.run(&["check", "a.relay"]);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.out.contains(message) && run.out.contains(help), "{run:?}");
    }
}

#[test]
fn arguments_precede_the_file() {
    let manual = "def @main(%x: int32) { %x } # a comment\n";
    let folder = Folder::new(
        "settings-arguments",
        &[
            ("relay.toml", format!("tvm = true\n{LINT}").as_bytes()),
            ("other.toml", b"[lints]\nunused-binding = \"hint\"\n"),
            ("a.relay", UNUSED.as_bytes()),
            ("manual.relay", manual.as_bytes()),
        ],
    );
    let level = |args: &[&str]| found(&folder, &[args, &["a.relay"]].concat());
    assert_eq!(level(&["--level", "unused-binding=info"]), [pair("unused-binding", "info")]);
    assert_eq!(level(&["--disable", "unused-binding"]), []);
    assert_eq!(level(&["--config", "other.toml"]), [pair("unused-binding", "hint")]);
    assert_eq!(level(&["--isolated"]), [pair("unused-binding", "warning")]);
    assert_eq!(folder.run(&["check", "-q", "manual.relay"]).code, Some(1));
    assert_eq!(folder.run(&["check", "-q", "--tvm=false", "manual.relay"]).code, Some(0));
    assert_eq!(folder.run(&["check", "-q", "--isolated", "--tvm", "manual.relay"]).code, Some(1));
    for (args, part) in [
        (["--level", "unused-bindin=error"], "did you mean `unused-binding`?"),
        (["--level", "unused-binding"], "CODE=LEVEL"),
        (["--level", "unused-binding=loud"], "allow, hint, info, warning, error"),
        (["--level", "type-mismatch=hint"], "error of the language"),
        (["--config", "none.toml"], "none.toml"),
    ] {
        let run = folder.run(&[&["check"], &args[..], &["a.relay"]].concat());
        assert_eq!(run.code, Some(2), "{args:?}");
        assert!(run.err.contains(part), "{args:?}: {}", run.err);
    }
}

#[test]
fn fmt_and_run_use_settings() {
    let header: String = (0..12).map(|i| format!("%p{i}: Tensor[(2, 3), float32], ")).collect();
    let long = format!(
        "#[version = \"0.0.5\"]\ndef @main({}) {{\n  %p0\n}}\n",
        header.trim_end_matches(", ")
    );
    let endless = "def @f(%n: int32) -> int32 { @f(%n + 1) }\ndef @main() -> int32 { @f(0) }\n";
    let folder = Folder::new(
        "settings-others",
        &[
            ("long.relay", long.as_bytes()),
            ("endless.relay", endless.as_bytes()),
            ("relay.toml", b"format.style = \"reading\"\nrun.fuel = 50\n"),
        ],
    );
    let format = |args: &[&str]| {
        let args = [&["fmt", "-"], args].concat();
        run_in(folder.path(), &args, long.as_bytes()).out
    };
    assert!(format(&[]).contains("def @main(\n"), "{}", format(&[]));
    assert!(!format(&["--style", "tvm"]).contains("def @main(\n"));
    assert!(!format(&["--isolated"]).contains("def @main(\n"));
    let out_of_fuel = folder.run(&["run", "endless.relay"]);
    assert!(out_of_fuel.err.contains("run-fuel"), "{}", out_of_fuel.err);
    let limited = folder.run(&["run", "--fuel", "1000000", "--time", "0.05", "endless.relay"]);
    assert!(!limited.err.contains("50 calls"), "{}", limited.err);
}

#[test]
fn invalid_settings_have_a_place_and_help() {
    let settings = "tvm = true\n[lints]\nunused-bindin = \"error\"\nshape-mismatch = \"hint\"\n";
    let folder = Folder::new(
        "settings-mistakes",
        &[("relay.toml", settings.as_bytes()), ("a.relay", UNUSED.as_bytes())],
    );
    let checked = folder.run(&["check", "a.relay"]);
    assert_eq!((checked.code, checked.out.as_str()), (Some(2), ""), "nothing is checked");
    for part in [
        "error[invalid-settings]: there is no code `unused-bindin`",
        "relay.toml:3:1",
        "did you mean `unused-binding`?",
        "`shape-mismatch` is an error of the language",
        "2 problems",
        "--isolated",
    ] {
        assert!(checked.err.contains(part), "{part}: {}", checked.err);
    }
    for args in [&["fmt", "--check", "a.relay"][..], &["run", "a.relay"], &["check", "--batch"]] {
        let input = format!("{}\n", json!({ "id": 1, "text": UNUSED }));
        let run = run_in(folder.path(), args, input.as_bytes());
        assert_eq!(run.code, Some(2), "{args:?}");
        assert!(format!("{}{}", run.out, run.err).contains("unused-bindin"), "{args:?}");
    }
    let broken = Folder::new(
        "settings-broken",
        &[("relay.toml", b"tvm = \n\xff"), ("a.relay", UNUSED.as_bytes())],
    );
    let checked = broken.run(&["check", "a.relay"]);
    assert_eq!(checked.code, Some(2));
    assert!(checked.err.contains("line 2 is not UTF-8"), "{}", checked.err);
}

#[cfg(unix)]
#[test]
fn mistakes_behind_a_link_are_not_quoted() {
    let outside = Folder::new(
        "settings-outside",
        &[("secret", b"[core]\n  SECRET = SECRET\n"), ("valid", LINT.as_bytes())],
    );
    let folder = Folder::new("settings-link", &[("a.relay", UNUSED.as_bytes())]);
    let link = folder.path().join("relay.toml");
    std::os::unix::fs::symlink(outside.path().join("secret"), &link).expect("a link");
    for args in [&["check", "a.relay"][..], &["check", "--format", "github", "."]] {
        let run = folder.run(args);
        assert_eq!(run.code, Some(2), "{args:?}");
        let said = run.out + &run.err;
        assert!(!said.contains("SECRET") && !said.contains("core"), "{args:?}: {said}");
        assert!(said.contains("this link does not lead to a file with valid settings"), "{said}");
    }
    // A link to valid settings is one to settings.
    std::fs::remove_file(&link).expect("a link");
    std::os::unix::fs::symlink(outside.path().join("valid"), &link).expect("a link");
    assert_eq!(found(&folder, &["a.relay"]), [pair("unused-binding", "error")]);
}

#[test]
fn allow_comments_hide_diagnostics() {
    let allowed = UNUSED.replace("let %a = %x;", "let %a = %x; // relay: allow(unused-binding)");
    let unused = UNUSED.replace("  let %a = %x;\n", "  // relay: allow(unused-binding)\n");
    let folder = Folder::new(
        "settings-comments",
        &[("a.relay", allowed.as_bytes()), ("b.relay", unused.as_bytes())],
    );
    assert_eq!(found(&folder, &["a.relay"]), []);
    assert_eq!(found(&folder, &["b.relay"]), [pair("unused-allow", "hint")]);
    let input = format!("{}\n", json!({ "id": 1, "text": allowed }));
    let batch = run_in(folder.path(), &["check", "--batch"], input.as_bytes());
    assert_eq!(pairs(&batch.lines()[0]["diagnostics"]), []);
    assert_eq!(folder.run(&["check", "--fix", "a.relay", "b.relay"]).code, Some(0));
    assert_eq!(folder.text("a.relay"), allowed);
    assert_eq!(folder.text("b.relay"), UNUSED.replace("  let %a = %x;\n", ""));
}

/// A running `check --watch`, and what it has printed.
struct Watch {
    child: Child,
    printed: Arc<Mutex<String>>,
}

impl Watch {
    fn start(folder: &Folder, args: &[&str]) -> Watch {
        let mut child = Command::new(binary())
            .args(["check", "--watch"])
            .args(args)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let printed: Arc<Mutex<String>> = Arc::default();
        let out: Box<dyn Read + Send> = Box::new(child.stdout.take().expect("a pipe"));
        let err: Box<dyn Read + Send> = Box::new(child.stderr.take().expect("a pipe"));
        for mut pipe in [out, err] {
            let printed = printed.clone();
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                    let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
                    printed.lock().expect("no panic").push_str(&text);
                }
            });
        }
        Watch { child, printed }
    }

    /// Waits until all of `parts` were printed since the last call, and the command waits again.
    fn expect(&self, parts: &[&str]) -> String {
        let begin = Instant::now();
        loop {
            let mut printed = self.printed.lock().expect("no panic");
            let is_done = |part: &&str| printed.contains(part);
            if parts.iter().all(is_done) {
                return std::mem::take(&mut printed);
            }
            assert!(begin.elapsed() < PATIENCE, "{parts:?}: {printed}");
            drop(printed);
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Interrupts the command, and returns its exit code.
    fn interrupt(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.is_ok_and(|status| status.success()));
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.code();
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        panic!("the command does not end");
    }
}

#[cfg(unix)]
#[test]
fn watched_files_are_checked_again() {
    let folder = Folder::new("watch", &[("a.relay", UNUSED.as_bytes())]);
    let write = |file: &str, text: &str| {
        std::fs::write(folder.path().join(file), text).expect("a file");
    };
    const WAITING: &str = "waiting for changes";
    let watch = Watch::start(&folder, &["."]);
    let first = watch.expect(&["1 warning in 1 file", WAITING]);
    assert!(!first.contains('\u{1b}'), "only the screen of a terminal is cleared: {first:?}");
    write("a.relay", &UNUSED.replace("  %x\n", "  %y\n"));
    watch.expect(&["error[unknown-variable]", "1 error", WAITING]);
    // The database of the file is cached from here on.
    write("a.relay", &UNUSED.replace("  %x\n", "  %z\n"));
    watch.expect(&["there is no variable `%z`", "1 error", WAITING]);
    write("a.relay", UNUSED);
    watch.expect(&["1 warning in 1 file", WAITING]);
    write("relay.toml", LINT);
    watch.expect(&["error[unused-binding]", "1 error in 1 file", WAITING]);
    write("relay.toml", "[lints]\nunused = 1\n");
    watch.expect(&["there is no code `unused`", "relay.toml:2:1"]);
    write("relay.toml", "[lints]\nunused-binding = \"allow\"\n");
    watch.expect(&["no errors in 1 file", WAITING]);
    write("b.relay", UNUSED);
    watch.expect(&["no errors in 2 files", WAITING]);
    std::fs::remove_file(folder.path().join("relay.toml")).expect("a file");
    watch.expect(&["2 warnings in 2 files", WAITING]);
    // An editor replaces the file by another one.
    write("b.tmp", &UNUSED.replace("  %x\n", "  %y\n"));
    std::fs::rename(folder.path().join("b.tmp"), folder.path().join("b.relay")).expect("a file");
    watch.expect(&["1 error", "in 2 files", WAITING]);
    assert_eq!(watch.interrupt(), Some(1), "the outcome of the last check");
}

#[cfg(unix)]
#[test]
fn watch_exits_with_the_last_outcome() {
    let folder = Folder::new("watch-clean", &[("named.txt", UNUSED.as_bytes())]);
    let watch = Watch::start(&folder, &["named.txt"]);
    watch.expect(&["1 warning in 1 file", "waiting"]);
    std::fs::write(folder.path().join("named.txt"), UNUSED.replace("%a", "%_a")).expect("a file");
    watch.expect(&["no errors in 1 file", "waiting"]);
    assert_eq!(watch.interrupt(), Some(0));
    let stdin = run_in(folder.path(), &["check", "--watch", "-"], b"");
    assert_eq!(stdin.code, Some(2));
}

/// Starts a server in a folder. `watches` is set if the client can watch files.
fn server(folder: &Folder, watches: bool, options: Value) -> Client {
    let uri = format!("file://{}", folder.path().display());
    let mut client = Client::spawn();
    let abilities = json!({
        "general": { "positionEncodings": ["utf-8"] },
        "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": watches } },
    });
    let params = json!({
        "processId": null, "rootUri": null, "capabilities": abilities,
        "initializationOptions": options, "workspaceFolders": [{ "uri": uri, "name": "folder" }],
    });
    client.request("initialize", params);
    client.notify("initialized", json!({}));
    client
}

fn uri(folder: &Folder, file: &str) -> String {
    format!("file://{}/{file}", folder.path().display())
}

/// Returns the codes and severities (1 is an error) of published diagnostics.
fn published(diagnostics: &Value) -> Vec<(String, u64)> {
    let found = diagnostics.as_array().expect("a list").iter();
    let found = found.map(|d| {
        (d["code"].as_str().unwrap_or_default().to_owned(), d["severity"].as_u64().unwrap_or(0))
    });
    found.collect()
}

#[test]
fn server_follows_the_file() {
    let folder =
        Folder::new("settings-server", &[("relay.toml", LINT.as_bytes()), ("own/x.relay", b"")]);
    let mut client = server(&folder, true, Value::Null);
    let register = client.expect("client/registerCapability");
    let registration = &register["params"]["registrations"][0];
    assert_eq!(registration["method"], "workspace/didChangeWatchedFiles");
    assert_eq!(registration["registerOptions"]["watchers"][0]["globPattern"], "**/relay.toml");
    let document = uri(&folder, "a.relay");
    client.open(&document, UNUSED);
    let error = [("unused-binding".to_owned(), 1)];
    assert_eq!(published(&client.diagnostics(&document, 1)), error);
    // A document without a file uses the settings of the workspace.
    client.open("untitled:Untitled-1", UNUSED);
    assert_eq!(published(&client.diagnostics("untitled:Untitled-1", 1)), error);
    let mut change = |text: &str| {
        std::fs::write(folder.path().join("relay.toml"), text).expect("a file");
        let changes = json!([{ "uri": uri(&folder, "relay.toml"), "type": 2 }]);
        client.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
        published(&client.diagnostics(&document, 1))
    };
    assert_eq!(change("[lints]\nunused-binding = \"hint\"\n"), [("unused-binding".to_owned(), 4)]);
    assert_eq!(change("[lints]\nunused-binding = \"allow\"\n"), []);
    assert_eq!(change("tvm = true\n"), [("unused-binding".to_owned(), 2)]);
    client.open(&uri(&folder, "own/x.relay"), "def @main(%x: int32) { %x }\n");
    let strict = published(&client.diagnostics(&uri(&folder, "own/x.relay"), 1));
    assert_eq!(strict, [("tvm-version".to_owned(), 1)]);
}

#[test]
fn server_reports_invalid_settings() {
    let settings = "[lints]\nunused-binding = \"hint\"\nunused-bindin = 1\n";
    let folder = Folder::new("settings-server-mistakes", &[("relay.toml", settings.as_bytes())]);
    let mut client = server(&folder, true, Value::Null);
    let file = uri(&folder, "relay.toml");
    let of_file = |message: &Value| {
        message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == file
    };
    let reported = client.wait_for("problems", of_file)["params"]["diagnostics"].clone();
    assert_eq!(reported[0]["code"], "invalid-settings");
    assert_eq!(reported[0]["range"], range((2, 0), (2, 13)));
    let message = reported[0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("did you mean `unused-binding`?"), "{message}");
    let shown = client.expect("window/showMessage");
    let shown = shown["params"]["message"].as_str().unwrap_or_default();
    assert!(shown.contains("relay.toml:3:1: there is no code"), "{shown}");
    // The other settings are used.
    let document = uri(&folder, "a.relay");
    client.open(&document, UNUSED);
    let found = published(&client.diagnostics(&document, 1));
    assert_eq!(found, [("unused-binding".to_owned(), 4)]);
    std::fs::write(folder.path().join("relay.toml"), "").expect("a file");
    let changes = json!([{ "uri": file, "type": 2 }]);
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    let reported = client.wait_for("no problems", of_file);
    assert_eq!(reported["params"]["diagnostics"], json!([]));
}

#[test]
fn client_precedes_the_file() {
    let folder =
        Folder::new("settings-client", &[("relay.toml", format!("tvm = true\n{LINT}").as_bytes())]);
    let options = json!({ "tvm": false, "diagnostics": { "disabled": ["unused-binding"] } });
    let mut client = server(&folder, true, options);
    let document = uri(&folder, "a.relay");
    client.open(&document, &UNUSED.replace("#[version = \"0.0.5\"]\n", ""));
    let found = published(&client.diagnostics(&document, 1));
    assert_eq!(found, [("tvm-version".to_owned(), 4)]);
}

/// For a client that cannot watch files, edits make the server read the settings again.
#[test]
fn settings_are_read_again_with_edits() {
    let folder = Folder::new("settings-edits", &[("relay.toml", LINT.as_bytes())]);
    let mut client = server(&folder, false, Value::Null);
    let document = uri(&folder, "a.relay");
    client.open(&document, UNUSED);
    assert_eq!(published(&client.diagnostics(&document, 1)), [("unused-binding".to_owned(), 1)]);
    std::fs::write(folder.path().join("relay.toml"), "").expect("a file");
    // At most every two seconds.
    let begin = Instant::now();
    for version in 2.. {
        client.edit(&document, version, (4, 1), (4, 1), "\n");
        // Diagnostics that are the same are not always published again.
        let params = json!({ "textDocument": { "uri": document } });
        let answer = client.request("textDocument/diagnostic", params);
        let found = published(&answer["result"]["items"]);
        if found == [("unused-binding".to_owned(), 2)] {
            break;
        }
        assert_eq!(found, [("unused-binding".to_owned(), 1)]);
        assert!(begin.elapsed() < PATIENCE, "the settings are not read again");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn unused_comment_has_a_quick_fix() {
    let folder = Folder::new("settings-fix", &[("x", b"")]);
    let mut client = server(&folder, true, Value::Null);
    let document = uri(&folder, "a.relay");
    client.open(&document, &UNUSED.replace("let %a = %x;", "// relay: allow(unused-binding)"));
    let found = client.diagnostics(&document, 1);
    assert_eq!(published(&found), [("unused-allow".to_owned(), 4)]);
    assert_eq!(found[0]["range"], range((2, 2), (2, 33)));
    let params = json!({
        "textDocument": { "uri": document },
        "range": range((2, 5), (2, 5)),
        "context": { "diagnostics": [] },
    });
    let actions = client.request("textDocument/codeAction", params);
    let edit = &actions["result"][0]["edit"]["changes"][&document][0];
    assert_eq!(edit["range"], range((2, 0), (3, 0)), "{actions}");
    assert_eq!(edit["newText"], "");
}

/// `vendor.topk` on line 2, from column 7.
const DECLARED: &str = "def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {\n  \
                        %0 = vendor.topk(%x, k=1);\n  nn.relu(%0)\n}\n";

#[test]
fn operators_of_the_project_are_known() {
    let declared = "[operators.\"vendor.topk\"]\nargs = [\"data\"]\nsame-as = 0\n";
    let folder = Folder::new(
        "settings-operators",
        &[("own/relay.toml", declared.as_bytes()), ("own/a.relay", DECLARED.as_bytes())],
    );
    let other = DECLARED.replace("(%x, k=1)", "(%x, %x)");
    std::fs::write(folder.path().join("own/b.relay"), other).expect("a file");
    std::fs::write(folder.path().join("a.relay"), DECLARED).expect("a file");
    let errors = |args: &[&str]| {
        let found = found(&folder, args).into_iter();
        found.filter(|(_, severity)| severity == "error").map(|(code, _)| code).collect::<Vec<_>>()
    };
    assert!(errors(&["own/a.relay"]).is_empty());
    assert!(errors(&["--tvm=0.8", "--disable=tvm-version", "own/a.relay"]).is_empty());
    assert_eq!(errors(&["own/b.relay"]), ["argument-count"]);
    assert_eq!(errors(&["a.relay"]), ["unknown-name"]);
    let run = folder.run(&["run", "--random", "0", "own/a.relay"]);
    assert!(run.err.contains("vendor.topk"), "{}", run.err);

    let own = Folder::new(
        "settings-operators-server",
        &[("relay.toml", declared.as_bytes()), ("a.relay", DECLARED.as_bytes())],
    );
    let mut client = server(&own, true, Value::Null);
    let document = uri(&own, "a.relay");
    client.open(&document, DECLARED);
    let errors = |diagnostics: &Value| {
        let found = published(diagnostics).into_iter();
        found.filter(|(_, severity)| *severity == 1).map(|(code, _)| code).collect::<Vec<_>>()
    };
    assert!(errors(&client.diagnostics(&document, 1)).is_empty());
    let at =
        json!({ "textDocument": { "uri": document }, "position": { "line": 1, "character": 12 } });
    let hover = client.request("textDocument/hover", at.clone());
    let hover = hover["result"]["contents"]["value"].as_str().unwrap_or_default();
    assert!(hover.contains("vendor.topk(data) -> the type of data"), "{hover}");
    let items = client.request("textDocument/completion", at);
    let items = items["result"]["items"].as_array().cloned().unwrap_or_default();
    let found = items.iter().find(|item| item["label"] == "vendor.topk").expect("a completion");
    assert_eq!(found["detail"], "(data) -> the type of data");

    // Without the declaration, the name is unknown again.
    std::fs::write(own.path().join("relay.toml"), "").expect("a file");
    let changes = json!([{ "uri": uri(&own, "relay.toml"), "type": 2 }]);
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    assert_eq!(errors(&client.diagnostics(&document, 1)), ["unknown-name"]);
}
