//! The action of GitHub in a repository and with an API of its own: annotations, outputs, the comment.
//!
//! Its steps are read from `action.yml` and run in bash, with the variables of a runner.

#[path = "action/hostile.rs"]
mod hostile;
#[path = "action/pins.rs"]
mod pins;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    path::Path,
    process::{Command, Output},
    sync::mpsc::{Receiver, channel},
    thread,
};

use relay_tests::{client::binary, command::Folder, corpus::here};
use serde_json::{Value, json};

/// A request to the API: its method, path and body.
type ApiRequest = (String, String, Value);

/// Serves an API with these comments, and tells what it was asked.
fn api(comments: Value) -> (String, Receiver<ApiRequest>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let (sender, asked) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.expect("a connection"));
            let mut first = String::new();
            stream.read_line(&mut first).expect("a request");
            let mut length = 0;
            loop {
                let mut header = String::new();
                stream.read_line(&mut header).expect("a header");
                if header.trim().is_empty() {
                    break;
                }
                if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().expect("a number");
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).expect("a body");
            let mut words = first.split_whitespace().map(str::to_owned);
            let (method, path) =
                (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let answer = if method == "GET" { comments.to_string() } else { "{}".to_owned() };
            let body = serde_json::from_slice(&body).unwrap_or_default();
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length:";
            let written = write!(stream.get_mut(), "{head} {}\r\n\r\n{answer}", answer.len());
            written.expect("an answer");
            if sender.send((method, path, body)).is_err() {
                return;
            }
        }
    });
    (address, asked)
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "-c",
        "init.defaultBranch=main",
    ]);
    let output = command.args(arguments).current_dir(folder).output().expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

const NET: &str =
    "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 3), float32]) {\n  nn.relu(%x)\n}\n";

/// A repository in which a branch changes one module, lays one out anew, adds one and removes one.
fn repository(name: &str) -> (Folder, String) {
    // Unlike the module that is added, which git would take for the removed one under another name.
    let gone = "def @gone() -> int32 {\n  let %a = 1;\n  let %b = 2;\n  add(%a, %b)\n}\n";
    let files = [("net.relay", NET), ("same.relay", NET), ("gone.relay", gone)];
    let folder = Folder::new(name, &files.map(|(file, text)| (file, text.as_bytes())));
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "--message", "base"]);
    let base = git(folder.path(), &["rev-parse", "HEAD"]);
    let write =
        |file: &str, text: &str| std::fs::write(folder.path().join(file), text).expect("a file");
    write("net.relay", &NET.replace("nn.relu", "tanh"));
    write("same.relay", &NET.replace("\n  ", "\n      "));
    write("new.relay", &NET.replace("%x)", "%y)"));
    git(folder.path(), &["rm", "--quiet", "gone.relay"]);
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "--message", "change"]);
    (folder, base)
}

/// A step of the action: its environment and its script.
struct Step {
    env: Vec<(String, String)>,
    script: String,
}

/// Reads a step of `action.yml`. Inputs that are not given have their defaults.
fn step(name: &str, inputs: &[(&str, &str)]) -> Step {
    let yaml = std::fs::read_to_string(here().join("../action.yml")).expect("the action");
    let default = |input: &str| {
        let (_, rest) = yaml.split_once(&format!("\n  {input}:\n")).expect(input);
        let (_, value) = rest.split_once("default: ").expect(input);
        value.lines().next().unwrap_or_default().trim_matches('"').to_owned()
    };
    let (_, rest) = yaml.split_once(&format!("    - name: {name}\n")).expect(name);
    let step = rest.split("\n    - name: ").next().unwrap_or_default();
    let (head, run) = step.split_once("\n      run: ").expect("a script");
    let variable = |line: &str| {
        let (key, value) = line.strip_prefix("        ")?.split_once(": ${{ inputs.")?;
        let input = value.strip_suffix(" }}").expect("an input");
        let given = inputs.iter().find(|(name, _)| *name == input);
        Some((key.to_owned(), given.map_or_else(|| default(input), |given| given.1.to_owned())))
    };
    let env = head.lines().filter_map(variable).collect();
    let lines = run.strip_prefix("|\n").unwrap_or(run).lines();
    let lines: Vec<&str> = lines.map(|l| l.strip_prefix("        ").unwrap_or(l)).collect();
    Step { env, script: lines.join("\n") }
}

/// Runs a step in a repository as a runner does.
fn run_step(folder: &Folder, step: &Step, event: &Value, api: &str) -> Output {
    // Outside of what is checked and committed.
    let aside = folder.path().join(".git");
    std::fs::write(aside.join("event.json"), event.to_string()).expect("a file");
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step.script]);
    command.current_dir(folder.path()).env("GITHUB_WORKSPACE", folder.path());
    command.env("CI", "true").env("GITHUB_ACTIONS", "true").env("RUNNER_TEMP", &aside);
    command.env("GITHUB_ACTION_PATH", here().join(".."));
    command.env("RELAY_ANALYZER", binary()).env("GITHUB_EVENT_PATH", aside.join("event.json"));
    for (variable, file) in
        [("ENV", "env"), ("OUTPUT", "output"), ("STEP_SUMMARY", "summary"), ("PATH", "path")]
    {
        command.env(format!("GITHUB_{variable}"), aside.join(file));
    }
    command.env("GITHUB_API_URL", api).env("GITHUB_REPOSITORY", "a/b");
    command.envs(step.env.iter().map(|(name, value)| (name, value)));
    command.env_remove("http_proxy").env_remove("HTTP_PROXY").output().expect("bash runs")
}

/// Reviews a pull request from a base commit, or a push without one.
fn review(folder: &Folder, base: Option<&str>, api: &str) -> Output {
    review_with(folder, base, api, &[])
}

fn review_with(folder: &Folder, base: Option<&str>, api: &str, inputs: &[(&str, &str)]) -> Output {
    let event = match base {
        Some(base) => json!({ "pull_request": { "number": 7, "base": { "sha": base } } }),
        None => json!({ "ref": "refs/heads/main" }),
    };
    let inputs = [&[("token", "t")], inputs].concat();
    run_step(folder, &step("Review", &inputs), &event, api)
}

#[test]
fn a_pull_request_is_annotated_and_commented() {
    let (folder, base) = repository("action");
    let (address, asked) = api(json!([{ "id": 1, "body": "another" }]));
    let output = review(&folder, Some(&base), &address);
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{out}{}", String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("::error file=new.relay,line=3,"), "{out}");
    let (method, path, _) = asked.recv().expect("the comments are read");
    assert_eq!(
        (method.as_str(), path.as_str()),
        ("GET", "/repos/a/b/issues/7/comments?per_page=100&page=1")
    );
    let (method, path, body) = asked.recv().expect("a comment is written");
    assert_eq!((method.as_str(), path.as_str()), ("POST", "/repos/a/b/issues/7/comments"));
    let comment = body["body"].as_str().expect("a text");
    for part in [
        "found 1 error",
        "| `gone.relay` | removed |",
        "| `new.relay` | new |",
        "| `same.relay` | the same structure |",
        "<summary><code>net.relay</code></summary>",
        "| `net.relay` | 1 expression changed; nothing else changed |",
        "`before.relay` → `after.relay`: 1 expression changed",
        "tanh",
    ] {
        assert!(comment.contains(part), "{part}: {comment}");
    }
    let read =
        |name: &str| std::fs::read_to_string(folder.path().join(".git").join(name)).expect(name);
    assert_eq!(read("output"), "errors=1\nchanged=3\n");
    assert_eq!(read("summary"), comment);
}

#[test]
fn an_earlier_comment_is_written_anew() {
    let (folder, base) = repository("action-again");
    let (address, asked) = api(json!([{ "id": 5, "body": "<!-- relay-analyzer -->\nold" }]));
    review(&folder, Some(&base), &address);
    asked.recv().expect("the comments are read");
    let (method, path, _) = asked.recv().expect("a comment is written");
    assert_eq!((method.as_str(), path.as_str()), ("PATCH", "/repos/a/b/issues/comments/5"));
}

#[test]
fn what_cannot_be_done_is_said() {
    let (folder, base) = repository("action-bad");
    // Nobody listens: the review itself counts.
    let output = review(&folder, Some(&base), "http://127.0.0.1:9");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("::warning::relay-analyzer: the comment was not written"), "{out}");
    assert_eq!(output.status.code(), Some(1), "{out}");
    // A base that is not there, and a push, which has none.
    let missing = "1".repeat(40);
    let out = review(&folder, Some(&missing), "http://127.0.0.1:9").stdout;
    assert!(String::from_utf8_lossy(&out).contains("cannot be fetched"));
    let out = review(&folder, None, "http://127.0.0.1:9").stdout;
    let out = String::from_utf8_lossy(&out);
    assert!(out.contains("::error file=new.relay") && !out.contains("::warning::"), "{out}");
}

/// Without the input `version`, the action installs the release that it is a part of: a newer one may find other
/// errors, although the action is pinned.
#[test]
fn the_action_installs_its_own_version() {
    let (folder, _) = repository("action-version");
    let aside = folder.path().join(".git/programs");
    std::fs::create_dir(&aside).expect("a folder");
    let (python, log) = (aside.join("python3"), aside.join("log"));
    // The module `venv` makes a Python, which writes what it is asked to install.
    let script = format!(
        "#!/bin/sh\nmkdir -p \"$4/bin\"\nprintf '#!/bin/sh\\necho \"$@\" > {}' > \"$4/bin/python\"\n\
         chmod +x \"$4/bin/python\"\n",
        log.display()
    );
    std::fs::write(&python, script).expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&python, mode).expect("a program");
    }
    let path = format!("{}:{}", aside.display(), std::env::var("PATH").expect("a path"));
    let installed = |inputs: &[(&str, &str)]| {
        let mut step = step("Install relay-analyzer", inputs);
        step.env.push(("PATH".to_owned(), path.clone()));
        let output = run_step(&folder, &step, &json!({}), "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(&log).expect("a log")
    };
    let own = format!("relay-analyzer=={}\n", env!("CARGO_PKG_VERSION"));
    assert!(installed(&[]).ends_with(&own), "{}", installed(&[]));
    assert!(installed(&[("version", "0.0.7")]).ends_with("relay-analyzer==0.0.7\n"));
}
