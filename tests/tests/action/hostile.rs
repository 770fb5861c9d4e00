//! Pull requests that attack the action: names that Markdown, HTML or the log of a workflow would interpret,
//! links to files outside of the repository, modules of Python where it installs the program.

use std::{
    ffi::OsStr,
    fs,
    io::Write,
    os::unix::{ffi::OsStrExt, fs::symlink},
    process::{Command, Stdio},
};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use relay_tests::{command::Folder, corpus::here};
use serde_json::{Value, json};

use super::{NET, api, git, review, review_with, run_step, step};

/// Names that are interpreted somewhere if they are not escaped.
const NAMES: &[&[u8]] = &[
    b"@everyone #1.relay",
    b"a`b``c.relay",
    b"`.relay",
    b"a|b\\|c\\.relay",
    b"line\n# heading\n- [x] task.relay",
    b"carriage\rreturn.relay",
    b"![image](x).relay",
    b"[link](x) [![a].relay",
    b"<img src=x onerror=alert(1)>.relay",
    b"</code><script>alert(1)<.relay",
    b"<!-- relay.relay",
    b"www.example.org.relay",
    b"a:b,c%0A%25::error::x.relay",
    b"::set-output name=a::b.relay",
    b"**bold** _it_ ~~no~~ $x$.relay",
    b"&lt;&#64;everyone.relay",
    b"esc\x1b[31m\x07\x7f.relay",
    b"not utf-8 \xff\xfe.relay",
    b"\xc2\x85\xc2\x9b31m.relay",
    "right to left \u{202e}\u{2066}yaler.relay".as_bytes(),
    "separator\u{2028}\u{2029}.relay".as_bytes(),
    b" spaces .relay",
    b"-rf.relay",
    b"--isolated.relay",
    "Gr\u{f6}\u{df}e \u{6a21}\u{578b}.relay".as_bytes(),
];

/// The content of files outside of the repository.
const SECRET: &str = "SECRET_0f3a";

/// Returns true for characters that terminals interpret, and line separators.
fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn markdown(text: &str) -> Vec<Event<'_>> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES;
    Parser::new_ext(text, options).collect()
}

/// Returns the cells of each row of the tables in Markdown, as their events.
fn rows(text: &str) -> Vec<Vec<Vec<Event<'_>>>> {
    let (mut rows, mut is_cell) = (Vec::new(), false);
    for event in markdown(text) {
        match event {
            Event::Start(Tag::TableRow) => rows.push(Vec::new()),
            Event::Start(Tag::TableCell) => {
                is_cell = true;
                if let Some(row) = rows.last_mut() {
                    row.push(Vec::new());
                }
            }
            Event::End(TagEnd::TableCell) => is_cell = false,
            event if is_cell => {
                if let Some(cell) = rows.last_mut().and_then(|row| row.last_mut()) {
                    cell.push(event);
                }
            }
            _ => {}
        }
    }
    rows
}

/// Calls a function of the script with each text.
fn called(function: &str, texts: &[String]) -> Vec<String> {
    let script = "import json, sys\n\
        sys.path.insert(0, sys.argv[1])\n\
        import review\n\
        print(json.dumps([getattr(review, sys.argv[2])(text) for text in json.load(sys.stdin)]))";
    let mut python = Command::new("python3");
    python.args(["-B", "-c", script]).arg(here().join("../action")).arg(function);
    let mut child =
        python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3 runs");
    let input = serde_json::to_string(texts).expect("JSON");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{function}");
    serde_json::from_slice(&output.stdout).expect("a list of texts")
}

/// Returns hostile texts: each special character alone and at both ends of a word, and hostile names.
fn texts() -> Vec<String> {
    let special =
        (0..0x180u32).chain(0x2000..0x2070).chain([0x61c, 0x1f600]).filter_map(char::from_u32);
    let around =
        |c: char| [format!("{c}"), format!("{c}a"), format!("a{c}"), format!("a{c}{c}b {c}")];
    let names = NAMES.iter().map(|name| String::from_utf8_lossy(name).into_owned());
    let pairs = ["\\", "|", "`", "\n", "@", "<", "!", "[", "]", "(", "#", "%", ":", ","];
    let pairs =
        pairs.iter().flat_map(|a| pairs.iter().map(move |b| format!("{a}{b}{a}x{b}{b}{a}")));
    special.flat_map(around).chain(names).chain(pairs).chain([String::new()]).collect()
}

/// Asserts that a text is shown: one character for each, and other ones for active characters only.
fn assert_shown(shown: &str, text: &str) {
    assert!(!shown.contains(is_active), "{shown:?}");
    assert_eq!(shown.chars().count(), text.chars().count(), "{shown:?} for {text:?}");
    for (shown, c) in shown.chars().zip(text.chars()) {
        assert!(shown == c || is_active(c) || c == '|', "{shown:?} for {c:?}");
    }
}

#[test]
fn a_name_in_a_table_is_one_code_span() {
    let texts = texts();
    for (text, code) in texts.iter().zip(called("code", &texts)) {
        let table = format!("| a | b |\n|---|---|\n| {code} | x |\n");
        let rows = rows(&table);
        assert!(rows.len() == 1 && rows[0].len() == 2, "{text:?}: {table}");
        let [Event::Code(shown)] = &rows[0][0][..] else { panic!("{text:?}: {table}") };
        assert_eq!(rows[0][1], [Event::Text("x".into())], "{table}");
        match text.trim_matches(' ').is_empty() {
            true => assert!(shown.trim_matches(' ').is_empty()),
            false => assert_shown(shown, text),
        }
    }
}

#[test]
fn a_plain_text_is_shown_as_it_is() {
    let texts = texts();
    for (text, plain) in texts.iter().zip(called("plain", &texts)) {
        let events = markdown(&plain);
        let [Event::Start(Tag::Paragraph), shown, Event::End(TagEnd::Paragraph)] = &events[..]
        else {
            assert!(text.trim_matches(' ').is_empty(), "{text:?}: {events:?}");
            continue;
        };
        match shown {
            Event::Code(_) => {}
            Event::Text(shown) => {
                assert!(!shown.contains(['@', '#', '.', ':', '/']), "{text:?}");
                assert_eq!(shown.trim(), text.trim());
            }
            other => assert!(text.trim_matches(' ').is_empty(), "{text:?}: {other:?}"),
        }
    }
    let headline = "1 call was expanded to 3; 2 expressions changed (1 before, 2 after)".to_owned();
    assert_eq!(called("plain", std::slice::from_ref(&headline)), [headline]);
}

#[test]
fn a_name_in_html_has_no_tags() {
    let texts = texts();
    for (text, html) in texts.iter().zip(called("summary", &texts)) {
        let inner = html.strip_prefix("<summary><code>").expect("a tag");
        let inner = inner.strip_suffix("</code></summary>").expect("a tag");
        assert!(!inner.contains(['<', '>', '"', '\'']), "{inner:?}");
        let inner = inner.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        assert_shown(&inner.replace("&#x27;", "'").replace("&amp;", "&"), text);
    }
}

#[test]
fn a_block_of_code_ends_at_its_end() {
    let texts: Vec<String> = texts()
        .iter()
        .flat_map(|text| [format!("{text}\n~~~\n```\n{text}\n"), text.clone()])
        .collect();
    for (text, block) in texts.iter().zip(called("fenced", &texts)) {
        let events = markdown(&block);
        assert!(
            matches!(events.first(), Some(Event::Start(Tag::CodeBlock(_)))),
            "{text:?}: {block}"
        );
        assert!(matches!(events.last(), Some(Event::End(TagEnd::CodeBlock))), "{text:?}: {block}");
        let inner = &events[1..events.len() - 1];
        assert!(inner.iter().all(|event| matches!(event, Event::Text(_))), "{text:?}: {block}");
        assert!(!block.contains(|c| is_active(c) && c != '\n' && c != '\t'), "{block:?}");
    }
}

#[test]
fn a_workflow_command_is_one_line_with_its_properties() {
    let texts = texts();
    let (properties, data) = (called("escaped_property", &texts), called("escaped_data", &texts));
    for (text, (property, data)) in texts.iter().zip(properties.iter().zip(&data)) {
        assert!(!property.contains([':', ',']) && !property.contains(is_active), "{property:?}");
        assert!(!data.contains(is_active), "{data:?}");
        let decoded = |text: &str| {
            let text = text.replace("%0A", "\n").replace("%0D", "\r");
            text.replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
        };
        for shown in [decoded(property), decoded(data)] {
            let kept = |text: &str| text.replace(|c| is_active(c) && !matches!(c, '\n' | '\r'), "");
            let shown: String =
                shown.chars().filter(|c| !('␀'..='␡').contains(c) && *c != '\u{fffd}').collect();
            let text: String = text.chars().filter(|c| *c != '\u{fffd}').collect();
            assert_eq!(shown, kept(&text), "{text:?}");
        }
    }
}

/// Commits everything in a repository, which is created if there is none. Returns the commit.
fn committed(folder: &Folder, message: &str) -> String {
    if !folder.path().join(".git").exists() {
        git(folder.path(), &["init", "--quiet"]);
    }
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "--message", message]);
    git(folder.path(), &["rev-parse", "HEAD"])
}

/// Reviews the last commit. Returns its exit code, and everything that others can read: the log, the summary,
/// and the comment.
fn published(folder: &Folder, base: &str, inputs: &[(&str, &str)]) -> (Option<i32>, [String; 3]) {
    let (address, asked) = api(json!([]));
    let output = review_with(folder, Some(base), &address, inputs);
    let log = String::from_utf8(output.stdout).expect("UTF-8");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!errors.contains("Traceback"), "{errors}");
    let summary = fs::read_to_string(folder.path().join(".git/summary")).unwrap_or_default();
    let comment: Vec<String> = asked
        .try_iter()
        .filter(|(method, ..)| method != "GET")
        .map(|(.., body): (_, _, Value)| body["body"].as_str().unwrap_or_default().to_owned())
        .collect();
    (output.status.code(), [log + &errors, summary, comment.concat()])
}

/// Asserts that nothing in the comment is interpreted, apart from what the action writes.
fn assert_inert(comment: &str) {
    let (mut headings, mut is_code) = (0, false);
    for event in markdown(comment) {
        match event {
            Event::Start(Tag::Heading { .. }) => headings += 1,
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Start(
                Tag::Link { .. } | Tag::Image { .. } | Tag::Emphasis | Tag::Strong | Tag::List(_),
            ) => {
                panic!("{event:?}: {comment}")
            }
            Event::InlineHtml(_) | Event::TaskListMarker(_) => panic!("{event:?}: {comment}"),
            Event::Html(html) => {
                let html = html.trim_end();
                let inner = html.strip_prefix("<details><summary><code>");
                let inner = inner.and_then(|rest| rest.strip_suffix("</code></summary>"));
                let is_own = matches!(html, "" | "</details>" | "<!-- relay-analyzer -->");
                assert!(
                    is_own || inner.is_some_and(|inner| !inner.contains(['<', '>'])),
                    "{html:?}"
                );
            }
            Event::Text(text) if !is_code => {
                assert!(
                    !text.contains(['@', '#']) && !text.contains("www."),
                    "{text:?}: {comment}"
                );
            }
            _ => {}
        }
    }
    assert_eq!(headings, 1, "{comment}");
    assert!(rows(comment).iter().all(|row| row.len() == 2), "{comment}");
    assert!(!comment.contains(|c| is_active(c) && c != '\n' && c != '\t'), "{comment:?}");
}

#[test]
fn names_of_files_are_shown_and_not_interpreted() {
    let folder = Folder::new("action-names", &[("x", b"")]);
    let write = |name: &[u8], text: &str| {
        let path = folder.path().join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    NAMES.iter().for_each(|name| write(name, NET));
    let base = committed(&folder, "base");
    for (number, name) in NAMES.iter().enumerate() {
        // Changed, with a finding, moved, and new in a folder with such a name.
        match number % 3 {
            0 => write(name, &NET.replace("nn.relu", "tanh")),
            1 => write(name, &NET.replace("(%x)", "(%y)")),
            _ => fs::remove_file(folder.path().join(OsStr::from_bytes(name))).expect("a file"),
        }
        write(&[b"d", *name, b"/new.relay"].concat(), NET);
    }
    committed(&folder, "change");
    let (code, [log, summary, comment]) = published(&folder, &base, &[]);
    assert_eq!(code, Some(1), "{log}");
    assert_eq!(summary, comment);
    assert_inert(&comment);
    assert_eq!(rows(&comment).len(), 2 * NAMES.len() - NAMES.len() / 3, "{comment}");
    let mut files = 0;
    for line in log.lines() {
        assert!(
            ["::error ", "::warning ", "::notice "].iter().any(|start| line.starts_with(start)),
            "{line}"
        );
        assert!(!line.contains(is_active), "{line:?}");
        let (properties, _) =
            line.split_once("::").and_then(|(_, rest)| rest.split_once("::")).expect("a command");
        let keys: Vec<&str> =
            properties.split([' ', ',']).filter_map(|p| p.split_once('=')).map(|p| p.0).collect();
        assert!(keys.starts_with(&["file"]) || keys.is_empty(), "{line}");
        files += usize::from(line.starts_with("::error file="));
    }
    assert_eq!(files, (NAMES.len() + 1) / 3, "{log}");
}

#[test]
fn links_of_a_pull_request_are_not_followed() {
    let secret = format!("def @{SECRET}(%x: int32) -> int32 {{ %{SECRET} }}\n");
    let outside = Folder::new(
        "action-outside",
        &[("secret.relay", secret.as_bytes()), ("a.relay", secret.as_bytes())],
    );
    let net = NET.as_bytes();
    let folder = Folder::new(
        "action-links",
        &[
            ("net.relay", net),
            ("models/a.relay", net),
            ("models/b.relay", net),
            ("own.relay", net),
            ("dir.relay", net),
        ],
    );
    let link = |to: &std::path::Path, name: &str| {
        // It may not be there.
        let _ = fs::remove_file(folder.path().join(name));
        symlink(to, folder.path().join(name)).expect("a link");
    };
    let target = outside.path().join("secret.relay");
    link(&target, "was.relay");
    link(&target, "still.relay");
    link(&target, "gone.relay");
    let base = committed(&folder, "base");
    link(&target, "net.relay");
    link(std::path::Path::new("/etc/hostname"), "new.relay");
    link(outside.path(), "dir.relay");
    link(&outside.path().join("a.relay"), "still.relay");
    fs::remove_dir_all(folder.path().join("models")).expect("a folder");
    link(outside.path(), "models");
    fs::remove_file(folder.path().join("gone.relay")).expect("a link");
    fs::remove_file(folder.path().join("was.relay")).expect("a link");
    fs::write(folder.path().join("was.relay"), NET).expect("a file");
    fs::write(folder.path().join("own.relay"), NET.replace("nn.relu", "tanh")).expect("a file");
    committed(&folder, "change");
    git(
        folder.path(),
        &["update-index", "--add", "--cacheinfo", &format!("160000,{base},sub.relay")],
    );
    git(folder.path(), &["commit", "--quiet", "--message", "submodule"]);

    let (code, said) = published(&folder, &base, &[]);
    let [log, summary, comment] = &said;
    assert_eq!(code, Some(0), "{log}");
    for text in &said {
        assert!(!text.contains(SECRET), "{text}");
    }
    assert_eq!(summary, comment);
    assert_inert(comment);
    for row in [
        "| `dir.relay` | became a link, which is not followed |",
        "| `gone.relay` | a link that was removed |",
        "| `models/a.relay` | removed: `models` became a link, which is not followed |",
        "| `models/b.relay` | removed: `models` became a link, which is not followed |",
        "| `net.relay` | became a link, which is not followed |",
        "| `new.relay` | a new link, which is not followed |",
        "| `own.relay` | 1 expression changed; nothing else changed |",
        "| `still.relay` | a link, which is not followed |",
        "| `sub.relay` | a submodule, which is not compared |",
        "| `was.relay` | was a link, which is not followed |",
    ] {
        assert!(comment.contains(row), "{row}: {comment}");
    }
    assert!(
        log.contains(
            "::warning file=net.relay::`net.relay`: became a link, which is not followed\n"
        ),
        "{log}"
    );
    assert!(
        log.contains("::warning file=models::`models` became a link, which is not followed\n"),
        "{log}"
    );
    let output = fs::read_to_string(folder.path().join(".git/output")).expect("the output");
    assert_eq!(output, "errors=0\nchanged=3\n");
}

#[test]
fn a_path_that_leads_through_a_link_is_an_error() {
    let secret = format!("def @f() {{ %{SECRET} }}\n");
    let outside = Folder::new("action-paths-outside", &[("a.relay", secret.as_bytes())]);
    let folder = Folder::new("action-paths", &[("own/a.relay", NET.as_bytes())]);
    let base = committed(&folder, "base");
    symlink(outside.path(), folder.path().join("models")).expect("a link");
    symlink(outside.path().join("a.relay"), folder.path().join("a.relay")).expect("a link");
    committed(&folder, "change");
    let absolute = folder.path().join("models").display().to_string();
    for path in ["models", "models/a.relay", "./models/../models/", "a.relay", &absolute] {
        for paths in [path.to_owned(), format!("own {path}")] {
            let (code, [log, ..]) = published(&folder, &base, &[("paths", &paths)]);
            assert_eq!(code, Some(1), "{paths}: {log}");
            assert!(!log.contains(SECRET), "{log}");
            assert!(log.contains("is a link, which is not followed"), "{log}");
        }
    }
    let (code, [log, ..]) = published(&folder, &base, &[("paths", "own")]);
    assert_eq!((code, log.contains("::error")), (Some(0), false), "{log}");
}

#[test]
fn settings_behind_a_link_are_not_quoted() {
    let secret = format!("[core]\n\t{SECRET} = {SECRET}\n");
    let outside = Folder::new("action-settings-outside", &[("config", secret.as_bytes())]);
    let folder = Folder::new("action-settings", &[("net.relay", NET.as_bytes())]);
    let base = committed(&folder, "base");
    symlink(outside.path().join("config"), folder.path().join("relay.toml")).expect("a link");
    committed(&folder, "change");
    let (code, [log, ..]) = published(&folder, &base, &[]);
    assert_eq!(code, Some(2), "{log}");
    assert!(!log.contains(SECRET), "{log}");
    assert!(log.contains("this link does not lead to a file with valid settings"), "{log}");
}

#[test]
fn versions_in_git_lfs_are_not_compared() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
    let folder = Folder::new("action-lfs", &[("net.relay", NET.as_bytes())]);
    let base = committed(&folder, "base");
    fs::write(folder.path().join("net.relay"), pointer).expect("a file");
    committed(&folder, "change");
    let (_, [_, _, comment]) = published(&folder, &base, &[]);
    assert!(
        comment.contains("| `net.relay` | it is in Git LFS, and is not compared |"),
        "{comment}"
    );
}

#[test]
fn a_base_is_a_commit_and_no_option() {
    let folder = Folder::new("action-base", &[("net.relay", NET.as_bytes())]);
    committed(&folder, "base");
    for base in ["--upload-pack=touch pwned", "HEAD", "main;touch pwned"] {
        let output = review(&folder, Some(base), "http://127.0.0.1:9");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(!folder.path().join("pwned").exists());
    }
}

#[test]
fn modules_of_the_repository_are_not_run() {
    let evil = b"import os, pathlib\npathlib.Path(os.environ['RUNNER_TEMP'], 'pwned').touch()\n";
    let names =
        ["venv.py", "pip.py", "json.py", "re.py", "ensurepip.py", "pip/__main__.py", "review.py"];
    let folder = Folder::new("action-modules", &names.map(|name| (name, &evil[..])));
    let base = committed(&folder, "base");
    let mut install = step("Install relay-analyzer", &[("version", "0.0.0")]);
    // No index: pip itself is run, and finds nothing.
    install.env.push(("PIP_NO_INDEX".to_owned(), "1".to_owned()));
    let output = run_step(&folder, &install, &json!({}), "");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("relay-analyzer==0.0.0") || errors.contains("ensurepip"), "{errors}");
    review(&folder, Some(&base), "http://127.0.0.1:9");
    assert!(!folder.path().join(".git/pwned").exists());
}
