//! A hostile workspace: links, pipes, devices, names that are not UTF-8, and modules whose text contains
//! markup and control characters.
#![cfg(unix)]

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    io::{Read, Write},
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use pulldown_cmark::{Event, Options, Parser, Tag};
use relay_tests::{
    bound::{Tensor, section},
    client::{Client, at, binary, range},
    command::{Folder, fresh_folder},
    figures::{WATCHDOG, at_most},
};
use serde_json::{Value, json};

const GOOD: &str = "#[version = \"0.0.5\"]\ndef @good(%x: int32) -> int32 { %x }\n";
const BAD: &str = "#[version = \"0.0.5\"]\ndef @bad(%x: int32) -> int32 { %y }\n";

/// Names of regular files that are interpreted if they are displayed without escaping.
const NAMES: &[&[u8]] = &[
    b"esc\x1b[31m\x07.relay",
    b"new\nline.relay",
    b"carriage\rreturn.relay",
    b"[click](command:workbench.x).relay",
    b"![i](x).relay",
    b"=1+1.relay",
    b"::error::x.relay",
    b"%0A%25.relay",
    b"a b#c?d.relay",
    b"<img src=x>.relay",
    b"not utf-8 \xff\xfe.relay",
    b"\xc2\x9b31m.relay",
    "right to left \u{202e}yaler.relay".as_bytes(),
    b"'\"`$(x).relay",
];

/// The time limit of a command.
const PATIENCE: Duration = WATCHDOG;

struct Workspace {
    root: PathBuf,
    /// The names of the entries that must be reported.
    problems: BTreeSet<String>,
}

impl Workspace {
    fn new(test: &str) -> Workspace {
        let base = fresh_folder(test);
        let root = base.join("workspace");
        fs::create_dir_all(&root).expect("a folder");
        let mut workspace = Workspace { root, problems: BTreeSet::new() };
        workspace.fill();
        workspace
    }

    fn write(&self, name: &[u8], text: &str) {
        let path = self.root.join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    }

    fn problem(&mut self, name: &str) {
        self.problems.insert(name.to_owned());
    }

    fn fill(&mut self) {
        let root = self.root.clone();
        let outside = root.with_file_name("outside");
        fs::create_dir_all(&outside).expect("a folder");
        fs::write(outside.join("secret.relay"), GOOD.replace("@good", "@secret")).expect("a file");
        self.write(b"good.relay", GOOD);
        self.write(b"bad.relay", BAD);
        self.write(b"folder.relay/inner.relay", &GOOD.replace("@good", "@inner"));
        self.write(b"binary.relay", "\x7fELF\x02\x01\x01\0\0\0\0");
        for name in NAMES {
            self.write(name, GOOD);
        }
        // Links: to the outside, to each other, to nothing, to other files of the folder.
        let link = |to: &str, name: &str| symlink(to, root.join(name)).expect("a link");
        link("../outside/secret.relay", "link_out.relay");
        link("../outside", "link_folder");
        link("../outside", "link_folder.relay");
        link("../outside", ".relay");
        link(".", "self");
        link("two", "one");
        link("one", "two");
        link("good.relay", "link_in.relay");
        link("loop.relay", "loop.relay");
        link("nowhere", "dangling.relay");
        link("/dev/zero", "zero.relay");
        for name in ["loop.relay", "dangling.relay", "zero.relay"] {
            self.problem(name);
        }
        // Entries that are not files.
        let mkfifo = |name: &str| {
            let made = Command::new("mkfifo").arg(root.join(name)).status();
            assert!(made.is_ok_and(|status| status.success()), "no pipe {name}");
        };
        mkfifo("pipe.relay");
        self.problem("pipe.relay");
        UnixListener::bind(root.join("socket.relay")).expect("a socket");
        self.problem("socket.relay");
        let device = root.join("device.relay");
        let made =
            Command::new("mknod").arg(&device).args(["c", "1", "5"]).stderr(Stdio::null()).status();
        if made.is_ok_and(|status| status.success()) {
            self.problem("device.relay");
        }
        // An endless ignore file.
        for (folder, rules) in [
            ("rules_pipe", ".gitignore"),
            ("rules_ignore", ".ignore"),
            ("rules_exclude", ".git/info/exclude"),
        ] {
            self.write(format!("{folder}/x.relay").as_bytes(), GOOD);
            fs::create_dir_all(root.join(folder).join(rules).parent().expect("a folder"))
                .expect("a folder");
            mkfifo(&format!("{folder}/{rules}"));
            self.problem(folder);
        }
        self.write(b"rules_zero/x.relay", GOOD);
        symlink("/dev/zero", root.join("rules_zero/.gitignore")).expect("a link");
        self.problem("rules_zero");
        // Unreadable entries, unless the user may read everything.
        self.write(b"locked.relay", GOOD);
        self.write(b"locked/x.relay", GOOD);
        for name in ["locked.relay", "locked"] {
            let path = root.join(name);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).expect("it is ours");
            let is_closed = match path.is_dir() {
                true => fs::read_dir(&path).is_err(),
                false => fs::File::open(&path).is_err(),
            };
            if is_closed {
                self.problem(name);
            }
        }
        // Large files: more than a tree can address, and more than the limit.
        let huge = fs::File::create(root.join("huge.relay")).expect("a file");
        huge.set_len(5 << 30).expect("disk space");
        let mut long = fs::File::create(root.join("long.relay")).expect("a file");
        long.write_all(&[b' '; (64 << 20) + 1]).expect("disk space");
        // Deep folders, deeper than the maximal length of a path.
        self.write(
            format!("{}deep.relay", "d/".repeat(200)).as_bytes(),
            &GOOD.replace("@good", "@deep"),
        );
        let name = "n".repeat(200);
        let mut deep = root.join("deep");
        while deep.as_os_str().len() < 3_600 {
            deep.push(&name);
        }
        fs::create_dir_all(&deep).expect("a folder");
        let mut part = root.join("part");
        let moved = part.clone();
        for _ in 0..4 {
            part.push(&name);
        }
        fs::create_dir_all(&part).expect("a folder");
        fs::write(part.join("x.relay"), GOOD).expect("a file");
        fs::rename(moved, deep.join("part")).expect("the same disk");
        self.problem("deep");
    }

    /// Returns the names of regular files in JSON, with invalid UTF-8 replaced.
    fn names() -> impl Iterator<Item = String> {
        NAMES.iter().map(|name| String::from_utf8_lossy(name).into_owned())
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, Vec<u8>, String) {
        let mut child = Command::new(binary())
            .args(args)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdout = child.stdout.take().expect("a pipe");
        let mut stderr = child.stderr.take().expect("a pipe");
        let out = std::thread::spawn(move || {
            let mut out = Vec::new();
            stdout.read_to_end(&mut out).map(|_| out).expect("output")
        });
        let err = std::thread::spawn(move || {
            let mut err = String::new();
            stderr.read_to_string(&mut err).map(|_| err).expect("text")
        });
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            if start.elapsed() > PATIENCE {
                child.kill().expect("it runs");
                panic!("{args:?} did not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        (status.code(), out.join().expect("a thread"), err.join().expect("a thread"))
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        for name in ["locked.relay", "locked"] {
            let _ = fs::set_permissions(self.root.join(name), fs::Permissions::from_mode(0o700));
        }
        // A failure only leaves temporary files.
        let _ = fs::remove_dir_all(self.root.parent().expect("a folder"));
    }
}

/// Returns true if a text has no characters that a terminal interprets.
fn is_tame(text: &str) -> bool {
    !text.chars().any(|c| c != '\n' && c.is_control() || matches!(c, '\u{202a}'..='\u{202e}'))
}

#[test]
fn each_problem_of_a_folder_is_one_line() {
    let workspace = Workspace::new("check");
    let (code, out, err) = workspace.run(&["check", "--format", "json", "."]);
    assert_eq!(code, Some(2), "{err}");
    // One line for each problem, and one for the ignored link.
    let (notes, errors): (Vec<&str>, Vec<&str>) =
        err.lines().partition(|line| line.starts_with("note: "));
    assert_eq!(notes.len(), 1, "{err}");
    assert!(notes[0].contains("link_out.relay") && notes[0].contains("secret.relay"), "{err}");
    let mut left = workspace.problems.clone();
    for line in &errors {
        assert!(line.starts_with("error: cannot ") && line.len() < 600, "{line}");
        let about = left.iter().find(|name| line.contains(&format!("`{name}"))).cloned();
        let about = about.unwrap_or_else(|| panic!("{line} is about none of {left:?}"));
        left.remove(&about);
    }
    assert_eq!(left, BTreeSet::new(), "{err}");
    assert!(is_tame(&err), "{err:?}");
    let out = String::from_utf8(out).expect("text");
    let mut seen: Vec<String> = Vec::new();
    for line in out.lines() {
        let answer: Value = serde_json::from_str(line).expect("JSON");
        let path = answer["path"].as_str().expect("a path").to_owned();
        let found = answer["diagnostics"].as_array().expect("a list");
        let codes: Vec<&str> = found
            .iter()
            .filter(|d| d["severity"] == "error")
            .filter_map(|d| d["code"].as_str())
            .collect();
        let wanted = match path.as_str() {
            "bad.relay" => vec!["unknown-variable"],
            "binary.relay" | "huge.relay" => vec!["not-text"],
            "long.relay" => vec!["file-too-large"],
            _ => vec![],
        };
        assert_eq!(codes, wanted, "{path}");
        seen.push(path);
    }
    let mut wanted: Vec<String> = Workspace::names().collect();
    let plain = ["bad", "binary", "folder.relay/inner", "good", "huge", "long"];
    wanted.extend(plain.map(|name| format!("{name}.relay")));
    wanted.push(format!("{}deep.relay", "d/".repeat(200)));
    for (name, path) in [("locked.relay", "locked.relay"), ("locked", "locked/x.relay")] {
        if !workspace.problems.contains(name) {
            wanted.push(path.to_owned());
        }
    }
    seen.sort();
    wanted.sort();
    assert_eq!(seen, wanted);
}

#[test]
fn outputs_have_no_control_characters_and_commands_terminate() {
    let workspace = Workspace::new("outputs");
    for format in ["human", "github", "sarif"] {
        let (code, out, err) =
            workspace.run(&["check", "--format", format, "--severity", "hint", "."]);
        assert_eq!(code, Some(2), "{format}: {err}");
        let out = String::from_utf8(out).expect("text");
        assert!(is_tame(&out) && is_tame(&err), "{format}: {out:?}");
        match format {
            "github" => assert!(out.lines().all(|line| line.starts_with("::")), "{out}"),
            "sarif" => {
                let log: Value = serde_json::from_str(&out).expect("JSON");
                let results = log["runs"][0]["results"].as_array().expect("results");
                for result in results {
                    let place = &result["locations"][0]["physicalLocation"]["artifactLocation"];
                    let uri = place["uri"].as_str().expect("a reference");
                    assert!(
                        uri.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~/%".contains(&b)),
                        "{uri}"
                    );
                }
            }
            _ => {}
        }
    }
    // JSON is for programs and has unescaped names.
    let (code, _, err) = workspace.run(&["types", "."]);
    assert!(code == Some(2) && is_tame(&err), "{code:?}: {err:?}");
    let (code, out, err) = workspace.run(&["fmt", "--check", "."]);
    assert!(code == Some(2) && is_tame(&err), "{code:?}: {err:?}");
    assert!(is_tame(&String::from_utf8(out).expect("text")));
    // As arguments, each is one line immediately. (A pipe blocks, as with `cat`.)
    for name in ["zero.relay", "loop.relay", "dangling.relay", "huge.relay", "long.relay"] {
        let (code, out, err) = workspace.run(&["check", "--format", "json", name]);
        let said = out.iter().filter(|&&b| b == b'\n').count() + err.lines().count();
        assert_eq!(said, 1, "{name}: {err}");
        assert!(matches!(code, Some(1 | 2)), "{name}: {code:?}");
    }
    // Arguments are untrusted, too.
    let evil = "\u{1b}[31m\u{9b}\u{7}\n\u{202e}x";
    for args in [
        &["check", evil][..],
        &["fmt", evil],
        &["types", evil],
        &["shapes", evil],
        &["shapes", "good.relay", "--function", evil],
        &["explain", evil],
        &["operators", evil],
        &[evil],
        &["check", "--format", evil, "good.relay"],
        &["check", &format!("--{evil}"), "good.relay"],
    ] {
        let (code, out, err) = workspace.run(args);
        assert_eq!(code, Some(2), "{args:?}: {err}");
        assert!(is_tame(&err), "{args:?}: {err:?}");
        assert!(is_tame(&String::from_utf8_lossy(&out)) && !err.is_empty(), "{args:?}");
    }
}

#[test]
fn server_survives_a_hostile_workspace() {
    let workspace = Workspace::new("server");
    let uri = |path: &Path| {
        let encode = |b: &u8| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                (*b as char).to_string()
            }
            b => format!("%{b:02X}"),
        };
        format!("file://{}", path.as_os_str().as_bytes().iter().map(encode).collect::<String>())
    };
    let root = uri(&workspace.root);
    let mut client = Client::spawn();
    let answer = client.request(
        "initialize",
        json!({
            "processId": null, "rootUri": root, "capabilities": {},
            "workspaceFolders": [{ "uri": root, "name": "hostile" }],
        }),
    );
    assert!(answer["result"].is_object(), "{answer}");
    client.notify("initialized", json!({}));
    let deadline = Instant::now() + PATIENCE;
    // The first scan may take longer than a request waits for it.
    let symbols = loop {
        let answer = client.request("workspace/symbol", json!({ "query": "" }));
        let symbols = answer["result"].as_array().expect("a list").clone();
        if symbols.iter().any(|symbol| symbol["name"] == "@good") {
            break symbols;
        }
        assert!(Instant::now() < deadline, "{answer}");
        std::thread::sleep(Duration::from_millis(100));
    };
    let names: BTreeSet<&str> =
        symbols.iter().filter_map(|symbol| symbol["name"].as_str()).collect();
    for name in ["@good", "@bad", "@inner", "@deep"] {
        assert!(names.contains(name), "{name} in {names:?}");
    }
    assert!(!names.contains("@secret"), "a link was followed: {names:?}");
    let files: BTreeSet<&str> =
        symbols.iter().filter_map(|s| s["location"]["uri"].as_str()).collect();
    for name in NAMES {
        let file = uri(&workspace.root.join(OsStr::from_bytes(name)));
        let same = |known: &&str| decoded(known) == decoded(&file);
        assert!(files.iter().any(same), "{file} in {files:#?}");
    }
    // Documents with such names are supported.
    for name in NAMES {
        let file = uri(&workspace.root.join(OsStr::from_bytes(name)));
        client.open(&file, BAD);
        let hover = client.request("textDocument/hover", at(&file, 1, 10));
        assert!(hover["result"].is_object(), "{file}: {hover}");
        for method in ["documentLink", "codeLens", "documentSymbol"] {
            let params = json!({ "textDocument": { "uri": file } });
            let answer = client.request(&format!("textDocument/{method}"), params);
            assert!(answer.get("result").is_some(), "{file}: {answer}");
        }
    }
    if let Some(resident) = client.resident() {
        at_most("resident bytes", resident, 512 << 20);
    }
    assert_eq!(client.finish(), Some(0));
}

/// The bytes of a URI.
fn decoded(uri: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digit = |b: Option<u8>| b.and_then(|b| (b as char).to_digit(16)).expect("a digit");
            let (high, low) = (digit(bytes.next()), digit(bytes.next()));
            out.push((high * 16 + low) as u8);
        } else {
            out.push(byte);
        }
    }
    out
}

const EVIL: &str = "![i](http://e.example/p.png) [c](command:relay.whyShape?x) <img src=x> </code> ``` ` \
    https://e.example \u{1b}[31m\u{202e} &lt;b&gt; \\";

/// Returns a module with markup in comments, spans and strings.
fn evil_module() -> String {
    format!(
        "#[version = \"0.0.5\"]\n// # {EVIL}\n// {EVIL}\n/* ```\n{EVIL}\n--- */\n\
         def @evil(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {{\n\
         \x20 %0 = nn.dense(%x, %w, units=4) /* ty=Tensor[(2, 4), float32] span={span} */;\n\
         \x20 let %y = transpose(%0, /* {EVIL} */ axes=[1, 0]);\n  let %c = cast(%y, dtype=\"{string}\");\n  @evil(%y, %w)\n}}\n\
         type Evil /* {EVIL}\n```\n\n{EVIL} */ {{ Bad(int32) }}\n",
        string = EVIL.replace('"', ""),
        span = EVIL,
    )
}

/// Asserts that Markdown has no links, images, HTML or headings from the module.
fn assert_inert(markdown: &str, what: &str) {
    for event in Parser::new_ext(markdown, Options::all()) {
        let is_inert = match &event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                dest_url.starts_with("command:relay.whyShape?") && dest_url.contains("%22")
            }
            Event::Start(
                Tag::Image { .. } | Tag::Heading { .. } | Tag::HtmlBlock | Tag::Table(_),
            )
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::Rule => false,
            _ => true,
        };
        assert!(is_inert, "{event:?} in {what}: {markdown}");
    }
}

#[test]
fn document_text_is_escaped_in_all_responses() {
    let formats = json!(["markdown"]);
    let mut client = Client::start_with(
        json!({
            "textDocument": {
                "hover": { "contentFormat": formats },
                "completion": { "completionItem": { "documentationFormat": formats } },
                "signatureHelp": { "signatureInformation": { "documentationFormat": formats } },
            },
            "experimental": { "commands": { "commands": ["relay.whyShape"] } },
        }),
        Value::Null,
    );
    let uri = "file:///evil.relay";
    let text = evil_module();
    client.open(uri, &text);
    let mut hovers = 0;
    for (line, content) in text.lines().enumerate() {
        for column in (0..content.encode_utf16().count()).step_by(2) {
            let answer = client.request("textDocument/hover", at(uri, line as u32, column as u32));
            if let Some(markdown) = answer["result"]["contents"]["value"].as_str() {
                // The server itself adds one rule, between the call and the documentation of the operator.
                let operators = ["nn.dense", "transpose", "cast"];
                let mut inert = markdown.to_owned();
                for operator in operators {
                    let signature = format!("```relay\n{operator}(%data");
                    inert = inert.replacen(&format!("---\n\n{signature}"), &signature, 1);
                }
                assert_inert(&inert, "a hover");
                hovers += 1;
            }
        }
    }
    assert!(hovers > 20, "{hovers} hovers");
    for (kind, name) in [("global", "@evil"), ("type", "Evil"), ("constructor", "Bad")] {
        let data = json!({ "uri": uri, "kind": kind, "name": name, "of": null });
        let item = client.request("completionItem/resolve", json!({ "label": name, "data": data }));
        let markdown = item["result"]["documentation"]["value"].as_str().expect("documentation");
        assert_inert(markdown, name);
    }
    let line = text.lines().position(|line| line.contains("@evil(%y")).expect("a call") as u32;
    let help = client.request("textDocument/signatureHelp", at(uri, line, 9));
    let markdown = help["result"]["signatures"][0]["documentation"]["value"].as_str();
    assert_inert(markdown.expect("documentation"), "signature help");
    for (line, column) in [(line - 2, 7), (line - 3, 3)] {
        let why = client.request("relay/whyShape", at(uri, line, column));
        assert_inert(why["result"]["markdown"].as_str().expect("an answer"), "why");
    }
}

#[test]
fn reports_of_a_hostile_module_are_well_formed() {
    let folder = fresh_folder("report");
    let name = "<script>alert(1)</script>&amp;\"'.relay".replace('/', "_");
    let path = folder.join(&name);
    fs::write(&path, evil_module()).expect("a file");
    let report = |format: &str| {
        let output = Command::new(binary())
            .args(["shapes", "--format", format])
            .arg(&path)
            .output()
            .expect("the program starts");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let html = report("html");
    assert_eq!(html.matches("<script>").count(), 1, "{html}");
    assert!(!html.contains("<img") && html.contains("\\u003cimg src=x>"), "{html}");
    let table = report("table");
    assert!(is_tame(&table), "{table:?}");
    let dot = report("dot");
    assert!(is_tame(&dot) && dot.ends_with("}\n}\n"), "{dot}");
    // Unescaped quotes are paired.
    let quotes = dot.replace("\\\\", "").replace("\\\"", "").matches('"').count();
    assert_eq!(quotes % 2, 0, "{dot}");
    let csv = report("csv");
    for cell in csv
        .split("\r\n")
        .skip(1)
        .filter(|row| !row.is_empty())
        .filter_map(|row| row.split(',').next())
    {
        assert_eq!(cell, "evil", "{csv}");
    }
    let json: Value = serde_json::from_str(&report("json")).expect("JSON");
    assert!(json["functions"][0]["rows"].is_array());
    fs::remove_dir_all(&folder).expect("it is ours");
}

/// A request never waits for a pipe, which another program may have made where a client expects a file.
#[test]
fn requests_do_not_open_pipes() {
    let code = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(300), float32]) {\n  add(%x, meta[relay.Constant][0])\n}\n\n";
    let tensor = Tensor::drawn(&[300], &mut fastrand::Rng::with_seed(1));
    let text = code.to_owned() + &section(&[tensor]);
    let folder = Folder::new("pipes", &[("net.relay", text.as_bytes())]);
    let pipe = folder.path().join("pipe.npz");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "no pipe");
    let uri = |name: &str| format!("file://{}", folder.path().join(name).display());
    let (net, named, free) = (uri("net.relay"), uri("pipe.npz"), uri("new.relay"));
    let mut client = Client::start();
    client.open(&net, &text);
    let document = json!({ "uri": named });
    let pair = json!({ "before": range((0, 0), (0, 1)), "after": range((0, 0), (0, 1)) });
    for (method, params) in [
        ("relay/codeView", json!({ "uri": named })),
        ("relay/convertFile", json!({ "uri": named })),
        ("relay/shapesOfFile", json!({ "uri": named })),
        ("relay/passes", json!({ "textDocument": document })),
        ("relay/moduleText", json!({ "textDocument": document, "module": 0 })),
        (
            "relay/history",
            json!({ "textDocument": document, "position": { "line": 0, "character": 0 } }),
        ),
        ("relay/compare", json!({ "before": { "uri": named }, "after": { "uri": net } })),
        ("relay/compare", json!({ "before": { "uri": net }, "after": { "uri": named } })),
        ("relay/compareValues", json!({ "before": { "uri": named }, "after": { "uri": net } })),
        ("relay/comparedTensors", json!({ "before": document, "after": document, "pair": pair })),
        ("relay/passErrors", json!({ "textDocument": document })),
        ("relay/bindParameters", json!({ "uri": net, "files": [named], "output": free })),
    ] {
        let answer = client.request(method, params);
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("not a regular file"), "{method}: {answer}");
    }
    let view = client.request("relay/codeView", json!({ "uri": net }))["result"].clone();
    let params =
        json!({ "uri": net, "stamp": view["stamp"], "text": view["text"], "output": named });
    let saved = client.request("relay/saveCode", params);
    let message = saved["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("not a regular file"), "{saved}");
    assert!(!fs::metadata(&pipe).expect("a pipe").is_file(), "it is replaced");
    assert_eq!(client.finish(), Some(0));
}
