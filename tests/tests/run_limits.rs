//! Limits of runs, on the command line and in the editor, and the files that a workspace may make them read
//! and write.

use std::{path::Path, process::Command, time::Instant};

use relay_tests::{
    arrays::{Temporary, npy},
    client::{Client, binary},
    corpus::here,
    figures::WATCHDOG,
};
use serde_json::{Value, json};

struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

fn program(folder: &Path, args: &[&str]) -> Run {
    let output = Command::new(binary()).args(args).current_dir(folder).output();
    let output = output.expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn command_line_has_the_limits_of_the_editor() {
    let package = std::fs::read_to_string(here().join("../editors/vscode/package.json"));
    let package: Value = serde_json::from_str(&package.expect("a file")).expect("JSON");
    let help = program(Path::new("."), &["run", "--help"]).out;
    let sections = package["contributes"]["configuration"].as_array().expect("sections");
    let default = |name: &str| {
        let name = format!("relay.run.{name}");
        let setting = sections.iter().find_map(|section| section["properties"].get(&name));
        setting.expect("a setting")["default"].clone()
    };
    for name in ["time", "memory", "fuel", "depth"] {
        let flag = help.split("\n      --").find(|flag| flag.starts_with(name)).expect("a flag");
        let wanted = format!("[default: {}]", default(name));
        assert!(flag.contains(&wanted), "{wanted}: {flag}");
    }
}

#[test]
fn default_limits_apply() {
    let folder = Temporary::new("defaults");
    // More than the memory of the machine.
    folder.file("a.relay", "def @main() { zeros(shape=[1099511627776], dtype=\"int8\") }");
    let ended = program(&folder.0, &["run", "a.relay"]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("the memory limit is 8192 MiB"), "{}", ended.err);
    assert!(ended.err.contains("raise the limit with `--memory`"), "{}", ended.err);
    // Also if the limit allows it.
    let ended = program(&folder.0, &["run", "a.relay", "--memory", "1048576"]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("error[run-memory]"), "{}", ended.err);
}

#[test]
fn invalid_limits_are_rejected() {
    let folder = Temporary::new("senseless");
    folder.file("a.relay", "def @main() { 1 }");
    for (flag, value) in [
        ("--time", "0"),
        ("--time", "-1"),
        ("--time", "nan"),
        ("--time", "soon"),
        ("--memory", "0"),
        ("--memory", "1048577"),
        ("--fuel", "0"),
        ("--depth", "0"),
        ("--depth", "99999999999999999999"),
    ] {
        let ended = program(&folder.0, &["run", "a.relay", &format!("{flag}={value}")]);
        assert_eq!(ended.code, Some(2), "{flag} {value}");
        assert!(ended.err.contains(flag), "{}", ended.err);
    }
    for (flag, value) in [("--time", "1e300"), ("--time", "inf"), ("--depth", "1")] {
        let ended = program(&folder.0, &["run", "a.relay", flag, value]);
        assert_eq!(ended.code, Some(0), "{flag} {value}: {}", ended.err);
    }
}

/// Sixty values, each of which contains the previous one twice, have 2^60 parts, but little memory.
#[test]
fn printing_of_shared_parts_is_limited() {
    let folder = Temporary::new("doubled");
    let text = "\
type Tree { Leaf(int32), Node(Tree, Tree) }
def @double(%n: int32, %tree: Tree) -> Tree {
  if (%n == 0) { %tree } else { @double(%n - 1, Node(%tree, %tree)) }
}
def @main() -> Tree { @double(60, Leaf(1)) }
";
    folder.file("a.relay", text);
    let begin = Instant::now();
    let shown = program(&folder.0, &["run", "a.relay"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert!(shown.out.len() < 4 << 20);
    for args in [&["--format", "json"][..], &["--output", "o.npz"]] {
        let ended = program(&folder.0, &[&["run", "a.relay"], args].concat());
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{args:?}: {}", ended.err);
        assert!(ended.err.contains("parts"), "{}", ended.err);
    }
    assert!(begin.elapsed() < WATCHDOG);
}

/// Endless files are rejected at the size limit.
#[cfg(unix)]
#[test]
fn endless_texts_are_rejected() {
    let begin = Instant::now();
    for (path, code) in [("/dev/zero", "not-text"), ("/dev/urandom", "not-text")] {
        let ended = program(Path::new("."), &["check", path]);
        assert!(ended.err.contains(code) || ended.out.contains(code), "{path}: {}", ended.err);
        assert_eq!(ended.code, Some(1), "{path}");
    }
    let endless = Command::new("sh")
        .args(["-c", "yes 'def @f() { 1 }' | \"$0\" check --max-size 1 -"])
        .arg(binary())
        .output()
        .expect("a shell");
    let said = [endless.stdout, endless.stderr].concat();
    assert!(String::from_utf8_lossy(&said).contains("file-too-large"));
    assert!(begin.elapsed() < WATCHDOG);
}

const MAIN: &str = "def @main(%x: Tensor[(2), float32]) { negative(%x) }";

/// An editor with a workspace.
struct Editor {
    client: Client,
    uri: String,
}

impl Editor {
    fn new(folder: &Path, settings: Value) -> Editor {
        std::fs::write(folder.join("a.relay"), MAIN).expect("a file");
        let mut client = Client::spawn();
        let uri = format!("file://{}", folder.display());
        client.request(
            "initialize",
            json!({
                "processId": null, "rootUri": uri, "initializationOptions": settings,
                "capabilities": { "experimental": { "commands": { "commands": ["relay.run"] } } },
            }),
        );
        client.notify("initialized", json!({}));
        let uri = format!("{uri}/a.relay");
        client.open(&uri, MAIN);
        Editor { client, uri }
    }

    fn run(&mut self, mut argument: Value) -> Value {
        argument["uri"] = json!(self.uri);
        let params = json!({ "command": "relay.run", "arguments": [argument] });
        let answer = self.client.request("workspace/executeCommand", params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Writes saved arguments, as an untrusted workspace may contain them.
    fn remember(&self, folder: &Path, main: Value) {
        let _ = std::fs::create_dir(folder.join(".relay"));
        let all = json!({ "a.relay": { "@main": main } });
        std::fs::write(folder.join(".relay/run.json"), all.to_string()).expect("a file");
    }
}

#[cfg(unix)]
#[test]
fn workspace_cannot_name_outside_files() {
    use std::os::unix::fs::symlink;

    let root = Temporary::new("outside");
    let folder = root.0.join("workspace");
    std::fs::create_dir(&folder).expect("a folder");
    let array = npy("<f4", "(2,)", &[0; 8]);
    let secret = root.file("secret.npy", &array);
    std::fs::write(folder.join("own.npy"), &array).expect("a file");
    symlink(&secret, folder.join("link.npy")).expect("a link");
    symlink("own.npy", folder.join("inner.npy")).expect("a link");
    let mut editor = Editor::new(&folder, Value::Null);
    let outside = |result: &Value| {
        assert_eq!(result["error"]["code"], "run-input", "{result}");
        let text = result["text"].as_str().unwrap_or_default();
        assert!(text.contains("lies outside the workspace"), "{text}");
        assert!(text.contains("`relay.run.outsideFiles`"), "{text}");
    };
    for name in ["own.npy", "inner.npy", "./own.npy"] {
        editor.remember(&folder, json!({ "inputs": { "x": name } }));
        assert_eq!(editor.run(json!({}))["status"], "done", "{name}");
    }
    let secret = secret.display().to_string();
    for name in ["../secret.npy", "link.npy", secret.as_str(), "//server/share/x.npy"] {
        for main in [
            json!({ "inputs": { "x": name } }),
            json!({ "archives": [name] }),
            json!({ "params": [name] }),
        ] {
            editor.remember(&folder, main.clone());
            outside(&editor.run(json!({})));
            // Arguments of the user override saved ones, and may name any file.
            let own = editor.run(json!({ "inputs": { "x": secret } }));
            let is_replaced = main["inputs"].is_object();
            assert_eq!(own["status"] == "done", is_replaced, "{main}: {own}");
        }
    }
    assert_eq!(editor.client.finish(), Some(0));
    // With the setting, all files are read.
    let mut editor = Editor::new(&folder, json!({ "run": { "outsideFiles": true } }));
    for name in ["../secret.npy", "link.npy", secret.as_str()] {
        editor.remember(&folder, json!({ "inputs": { "x": name } }));
        assert_eq!(editor.run(json!({}))["status"], "done", "{name}");
    }
    assert_eq!(editor.client.finish(), Some(0));
}

#[cfg(unix)]
#[test]
fn saved_arguments_do_not_follow_links() {
    use std::os::unix::fs::symlink;

    let root = Temporary::new("links");
    let (folder, other) = (root.0.join("workspace"), root.0.join("other"));
    for path in [&folder, &other] {
        std::fs::create_dir(path).expect("a folder");
    }
    let mut editor = Editor::new(&folder, Value::Null);
    let given = json!({ "inputs": { "x": [1, 2] }, "remember": true });
    let note = |result: &Value| result["text"].as_str().unwrap_or_default().to_owned();
    // The folder is a link.
    symlink(&other, folder.join(".relay")).expect("a link");
    let said = editor.run(given.clone());
    assert_eq!(said["error"]["code"], "run-input", "{said}");
    assert!(note(&said).contains("the folder is a link"), "{said}");
    assert_eq!(std::fs::read_dir(&other).expect("a folder").count(), 0);
    std::fs::remove_file(folder.join(".relay")).expect("a link");
    // The file is a link to a file that must not be read or written.
    let secret = other.join("secret");
    std::fs::write(&secret, "{}").expect("a file");
    std::fs::create_dir(folder.join(".relay")).expect("a folder");
    let file = folder.join(".relay/run.json");
    symlink(&secret, &file).expect("a link");
    let said = editor.run(given.clone());
    assert!(note(&said).contains("the file is a link"), "{said}");
    assert_eq!(std::fs::read_to_string(&secret).expect("a file"), "{}");
    std::fs::remove_file(&file).expect("a link");
    // A link in place of the temporary file is not followed.
    for name in ["run.json.new", "run.json.tmp", ".run.json"] {
        symlink(&secret, folder.join(".relay").join(name)).expect("a link");
    }
    let said = editor.run(given);
    assert_eq!(said["status"], "done", "{said}");
    assert_eq!(std::fs::read_to_string(&secret).expect("a file"), "{}");
    let written = std::fs::read_to_string(&file).expect("it is written");
    let written: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(written["a.relay"]["@main"]["inputs"]["x"], json!([1, 2]));
    assert!(std::fs::symlink_metadata(&file).is_ok_and(|data| data.is_file()));
    let names = std::fs::read_dir(folder.join(".relay")).expect("a folder").count();
    assert_eq!(names, 4, "no temporary files are left");
    assert_eq!(editor.client.finish(), Some(0));
}

/// Editor runs behave like the command line.
#[test]
fn editor_runs_have_warnings_and_limits() {
    let folder = Temporary::new("editor");
    let mut editor = Editor::new(&folder.0, json!({ "run": { "memory": 1 } }));
    let x = npy("<f4", "(2,)", &[0; 8]);
    let path = folder.file("w.npz", relay_tests::arrays::unchecked_npz(&[("weight.npy", &x)]));
    let result = editor.run(json!({ "archives": [path], "inputs": { "x": [1, 2] } }));
    assert_eq!(result["status"], "done", "{result}");
    let warnings = result["warnings"].as_array().expect("warnings");
    let warning = warnings[0].as_str().unwrap_or_default();
    assert!(warning.contains("has an array that no parameter takes: `weight`"), "{warning}");
    assert!(result["text"].as_str().is_some_and(|text| text.contains(warning)), "{result}");
    let text = "def @main(%x: Tensor[(1000000), float32]) { %x }";
    editor.client.replace(&editor.uri.clone(), 2, text);
    let result = editor.run(json!({}));
    assert_eq!(result["error"]["code"], "run-memory", "{result}");
    let text = result["text"].as_str().unwrap_or_default();
    assert!(text.contains("raise the limit with `relay.run.memory`"), "{text}");
    assert_eq!(editor.client.finish(), Some(0));
}
