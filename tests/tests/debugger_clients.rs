//! The configurations that the manual gives for clients of the debugger start a session as they are.

use std::path::PathBuf;

use relay_tests::{corpus, debug_session::DebugSession};
use serde_json::{Map, Value, json};

/// Returns the code block after a heading of the page about debugging.
fn block<'p>(page: &'p str, heading: &str, language: &str) -> &'p str {
    let section = page.split_once(&format!("\n## {heading}\n")).expect(heading).1;
    let section = section.split("\n## ").next().unwrap_or_default();
    let code = section.split_once(&format!("```{language}\n")).expect(language).1;
    code.split_once("```").expect("the end of the block").0
}

/// Reads `name = value` pairs, or `:name value` ones if `separator` is a blank. Texts are quoted; other words, such as
/// `dape-buffer-default`, are texts, too.
fn pairs(text: &str, separator: char) -> Map<String, Value> {
    let mut found = Map::new();
    let mut rest = text;
    while let Some(at) = rest.find(separator) {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let before = rest[..at].trim_end();
        let name = before.rsplit(|c| !is_letter(c)).next().unwrap_or_default();
        let is_name =
            !name.is_empty() && (separator == '=' || before.ends_with(&format!(":{name}")));
        rest = rest[at + 1..].trim_start();
        if !is_name {
            continue;
        }
        let quote = rest.chars().next().filter(|c| "\"'".contains(*c));
        let (value, after) = match quote {
            Some(quote) => {
                let (value, after) = rest[1..].split_once(quote).expect("a closing quote");
                (json!(value), after)
            }
            None => {
                let (word, after) =
                    rest.split_at(rest.find(|c| !is_letter(c)).unwrap_or(rest.len()));
                (serde_json::from_str(word).unwrap_or(json!(word)), after)
            }
        };
        found.insert(name.to_owned(), value);
        rest = after;
    }
    found
}

/// Starts a session with a configuration, in which `file` stands for the program, and runs to a breakpoint and to the end.
fn debug(client: &str, mut configuration: Map<String, Value>, file: &str) {
    let folder = std::env::temp_dir().join(format!("relay-clients-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path: PathBuf = folder.join(format!("{client}.relay"));
    std::fs::write(
        &path,
        "def @main(%x: Tensor[(2), float32]) {\n  let %y = exp(%x);\n  sum(%y)\n}\n",
    )
    .expect("the program can be written");
    assert_eq!(configuration.get("program"), Some(&json!(file)), "{client}: {configuration:?}");
    configuration.insert("program".to_owned(), json!(path));
    let mut session = DebugSession::start(path.clone());
    let launched = session.launch(&Value::Object(configuration));
    assert_eq!(launched["success"], true, "{client}: {launched}");
    let breakpoints = json!({ "source": { "path": path }, "breakpoints": [{ "line": 3 }] });
    session.request("setBreakpoints", breakpoints);
    let stopped = session.resume("configurationDone", json!({}));
    assert!(stopped.contains("`%x` is random (seed 0)"), "{client}: {stopped}");
    assert!(stopped.ends_with("stopped: breakpoint\n  @main 3:3\n"), "{client}: {stopped}");
    assert!(session.resume("continue", json!({})).ends_with("ended\n"), "{client}");
    session.request("disconnect", json!({}));
    assert_eq!(session.finish(), Some(0), "{client}");
}

#[test]
fn documented_configurations_start_sessions() {
    let page = corpus::here().join("../docs/debugging.md");
    let page = std::fs::read_to_string(page).expect("the page about debugging");

    let lua = block(&page, "Neovim", "lua");
    let (adapter, configurations) = lua.split_once("dap.configurations").expect("two tables");
    assert!(adapter.contains("command = 'relay-analyzer', args = { 'dap' }"), "{adapter}");
    let configuration = configurations.lines().find(|line| line.contains("program")).expect("one");
    debug("neovim", pairs(configuration, '='), "${file}");

    let toml = block(&page, "Helix", "toml");
    let adapter = pairs(toml.split_once("[[language.debugger").expect("a template").0, '=');
    assert_eq!(
        (&adapter["command"], &adapter["transport"]),
        (&json!("relay-analyzer"), &json!("stdio"))
    );
    assert!(toml.contains("args = [\"dap\"]\n"), "{toml}");
    let given = toml.lines().find_map(|line| line.strip_prefix("args = {")).expect("arguments");
    let mut configuration = pairs(given, '=');
    let template = pairs(toml.split_once("[[language.debugger").expect("a template").1, '=');
    configuration.insert("request".to_owned(), template["request"].clone());
    assert_eq!(template["request"], "launch");
    debug("helix", configuration, "{0}");

    let elisp = block(&page, "Emacs", "elisp");
    assert!(elisp.contains("command \"relay-analyzer\"\n"), "{elisp}");
    assert!(elisp.contains("command-args (\"dap\")\n"), "{elisp}");
    debug("emacs", pairs(elisp, ' '), "dape-buffer-default");
}
