//! `docs/install.md` and `docs/tour.md`: each line that can run here is run.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use relay_tests::{client::binary, command::Folder, corpus::here};

/// Lines that other tests run, or that build the program anew: where they are run.
const ELSEWHERE: [(&str, &str); 4] = [
    // The same package with the program that was built, by `.ci/package`.
    ("cargo install --path server/program", ".ci/run"),
    ("pip install './python[arrays]'", ".ci/first-minute"),
    ("(cd editors/vscode && npm ci && npm run package &&", "tests/tests/editors.rs"),
    ("mkdir -p ~/.local/share/nvim/", "tests/tests/editors/readmes.rs"),
];

fn page(name: &str) -> String {
    fs::read_to_string(here().join("../docs").join(name)).expect("a page")
}

/// Returns the blocks of a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("\n```{language}\n");
    page.split(&fence).skip(1).map(|rest| rest.split("\n```").next().unwrap_or_default()).collect()
}

/// Runs lines of a shell in a folder, with the program on the path and a home of its own.
fn sh(folder: &Folder, lines: &str) -> (Option<i32>, String) {
    let bin = folder.path().join(".bin");
    fs::create_dir_all(&bin).expect("a folder");
    // It may be there from the line before.
    let _ = symlink(binary(), bin.join("relay-analyzer"));
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.args(["-ec", lines]).current_dir(folder.path());
    let output = command.env("PATH", path).env("HOME", folder.path()).output().expect("sh runs");
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&printed).into_owned())
}

#[test]
fn each_line_of_the_installation_is_run() {
    let page = page("install.md");
    let folder = Folder::new("install", &[]);
    for file in
        [".local/share/bash-completion/completions/x", ".zfunc/x", ".config/fish/completions/x"]
    {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    }
    let mut count = 0;
    for line in blocks(&page, "sh").iter().flat_map(|block| block.lines()) {
        if let Some((_, place)) = ELSEWHERE.iter().find(|(start, _)| line.starts_with(start)) {
            assert!(here().join("..").join(place).exists(), "{line}");
            continue;
        }
        assert!(line.starts_with("relay-analyzer "), "nothing runs `{line}`");
        let (code, printed) = sh(&folder, line);
        assert_eq!(code, Some(0), "{line}: {printed}");
        count += 1;
    }
    assert_eq!(count, 5);
    let written = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
    assert!(written(".local/share/man/man1/relay-analyzer-check.1").contains(".TH"));
    assert!(written(".zfunc/_relay-analyzer").starts_with("#compdef relay-analyzer"));
}

#[test]
fn hooks_and_action_of_the_installation_exist() {
    let page = page("install.md");
    let read = |name: &str| fs::read_to_string(here().join("..").join(name)).expect(name);
    let hooks = read(".pre-commit-hooks.yaml");
    let yaml = blocks(&page, "yaml").join("\n");
    let ids: Vec<&str> = yaml.lines().filter_map(|l| l.trim().strip_prefix("- id: ")).collect();
    assert_eq!(ids, ["relay-check", "relay-fmt"]);
    for id in ids {
        assert!(hooks.contains(&format!("- id: {id}\n")), "{id}");
    }
    assert!(yaml.contains("uses: relay-analyzer/relay-analyzer@v"));
    assert!(read("action.yml").contains("using: composite"));
    // What pre-commit installs is the version of the workspace.
    let version = format!("relay-analyzer=={}", env!("CARGO_PKG_VERSION"));
    assert!(read("pyproject.toml").contains(&version));
}

#[test]
fn every_package_has_one_version() {
    let run = |version: &str| {
        let mut command = Command::new("python3");
        command.arg(here().join("../.ci/versions")).arg(version).output().expect("python3 runs")
    };
    let output = run(env!("CARGO_PKG_VERSION"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!run("99.0.0").status.success());
}

/// The files that a release changes or reads.
const RELEASED: [&str; 14] = [
    ".ci/release",
    ".ci/versions",
    "Cargo.toml",
    "CHANGELOG.md",
    "README.md",
    "docs/install.md",
    "editors/emacs/relay-mode.el",
    "editors/emacs/relay-ts-mode.el",
    "editors/tree-sitter/package.json",
    "editors/tree-sitter/tree-sitter.json",
    "editors/vscode/CHANGELOG.md",
    "editors/vscode/package-lock.json",
    "editors/vscode/package.json",
    "pyproject.toml",
];

#[test]
fn a_release_is_prepared_by_one_command() {
    let files: Vec<(&str, Vec<u8>)> = RELEASED
        .into_iter()
        .chain(["python/README.md"])
        .map(|name| (name, fs::read(here().join("..").join(name)).expect(name)))
        .collect();
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (*name, text.as_slice())).collect();
    let folder = Folder::new("release", &files);
    let prepare = |arguments: &[&str]| {
        let mut command = Command::new("python3");
        command.arg(folder.path().join(".ci/release")).args(arguments);
        let output = command.output().expect("python3 runs");
        let printed = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&printed).into_owned())
    };
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
    let version = env!("CARGO_PKG_VERSION");
    // Once published, it is prepared for the next date only.
    if read("README.md").contains("**No release is published yet**") {
        let (is_prepared, printed) = prepare(&["--check"]);
        assert!(!is_prepared && printed.contains("docs/install.md"), "{printed}");
    }
    for wrong in [&["2026-13-01"][..], &["tomorrow"], &["2026-12-24", "2026-12-25"]] {
        assert!(!prepare(wrong).0, "{wrong:?}");
    }
    let (is_prepared, printed) = prepare(&["2026-12-24"]);
    assert!(is_prepared && printed.contains(&format!("git tag v{version}")), "{printed}");
    assert!(prepare(&["--check"]).0);
    for page in ["README.md", "docs/install.md", "python/README.md"] {
        assert_eq!(read(page).matches(&format!("**Version {version} is published**")).count(), 1);
        assert!(!read(page).contains("No release"), "{page}");
    }
    assert!(read("CHANGELOG.md").contains(&format!("\n## {version} - 2026-12-24\n")));
    // A version in one package alone.
    let manifest = read("Cargo.toml");
    let next = manifest.replacen(&format!("version = \"{version}\""), "version = \"99.0.0\"", 1);
    fs::write(folder.path().join("Cargo.toml"), next).expect("a file");
    let (is_prepared, printed) = prepare(&["2026-12-24"]);
    assert!(!is_prepared && printed.contains(".ci/versions --write"), "{printed}");
    let mut write = Command::new("python3");
    write.arg(folder.path().join(".ci/versions")).arg("--write");
    assert!(write.output().expect("python3 runs").status.success());
    for name in &RELEASED[2..] {
        let is_old = read(name).contains(version);
        // Its entry in the pages of changes and the sentence stay.
        assert!(!is_old || name.ends_with(".md") || name.ends_with("lock.json"), "{name}");
    }
}

#[test]
fn the_page_of_releases_lists_what_the_workflow_publishes() {
    let read = |name: &str| fs::read_to_string(here().join("..").join(name)).expect(name);
    let workflow = read(".github/workflows/release.yml");
    assert!(workflow.contains("run: .ci/release --check"));
    let field = |line: &str, name: &str| {
        let rest = line.split(&format!("{name}: ")).nth(1)?;
        Some(rest.split(',').next()?.to_owned())
    };
    let row = |line: &str| Some((field(line, "{ target")?, field(line, "vscode")?));
    let built: Vec<(String, String)> = workflow.lines().filter_map(row).collect();
    let releasing = read("docs/releasing.md");
    let listed = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split("` | `");
        Some((cells.next()?.to_owned(), cells.next()?.strip_suffix("` |")?.to_owned()))
    };
    let listed: Vec<(String, String)> = releasing.lines().filter_map(listed).collect();
    assert!(built.len() >= 9, "{built:?}");
    assert_eq!(listed, built);
    for rest in workflow.split("secrets.").skip(1) {
        let secret = rest.split(' ').next().expect("a name");
        assert!(releasing.contains(&format!("`{secret}`")), "{secret}");
    }
}

/// The first command of the README, without the build, prints what the README says, in the width of a terminal.
#[test]
fn the_first_example_of_the_readme_is_current() {
    let readme = fs::read_to_string(here().join("../README.md")).expect("the README");
    let build = "cargo run --release -- ";
    let command = blocks(&readme, "sh")[0];
    assert!(command.starts_with(build), "{command}");
    let folder = Folder::new("readme", &[]);
    let (code, printed) = sh(&folder, &command.replacen(build, "relay-analyzer ", 1));
    assert_eq!(code, Some(1));
    assert_eq!(printed.trim_end(), blocks(&readme, "text")[0]);
    let shown = [command, printed.as_str()];
    let long = shown.iter().flat_map(|text| text.lines()).find(|line| line.chars().count() > 80);
    assert_eq!(long, None);
}

/// `.ci/pictures` writes the texts of the message that it has taken a picture of.
#[test]
fn the_picture_of_an_error_shows_the_message_of_today() {
    let media = here().join("../docs/media/errors.txt");
    let pictured = fs::read_to_string(media).expect("the texts").replace('\u{a0}', " ");
    let module = fs::read(here().join("examples/broken-attention.relay")).expect("the module");
    let name = "tests/examples/broken-attention.relay";
    let folder = Folder::new("pictures", &[(name, module.as_slice())]);
    // The page of the extension shows the excerpt.
    let (_, excerpt) = sh(&folder, &format!("relay-analyzer check {name}"));
    let excerpt = excerpt.split("\n\n").next().expect("an excerpt");
    let extension = fs::read_to_string(here().join("../editors/vscode/README.md")).expect("a page");
    assert!(extension.contains(&format!("```\n{excerpt}\n```")), "{excerpt}");
    let (_, printed) = sh(&folder, &format!("relay-analyzer check --format json {name}"));
    let line = printed.lines().next().expect("a line");
    let checked: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
    let error = &checked["diagnostics"][0];
    let related = error["related"].as_array().expect("the related places");
    assert!(related.len() > 2, "{printed}");
    let messages =
        related.iter().chain([error]).map(|one| one["message"].as_str().expect("a text"));
    for line in messages.flat_map(str::lines) {
        assert!(
            pictured.contains(line),
            "take the pictures anew with `.ci/pictures`: {line}\n{pictured}"
        );
    }
}

#[test]
fn the_page_of_commands_has_each_command() {
    let page = page("commands.md");
    let folder = Folder::new("commands", &[]);
    let (code, printed) = sh(&folder, "relay-analyzer --help");
    assert_eq!(code, Some(0));
    let listed = printed.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    let names = listed.expect("commands").lines().filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let is_there = page.lines().any(|line| {
            let usage =
                line.strip_prefix("relay-analyzer ").and_then(|rest| rest.strip_prefix(name));
            usage.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        });
        assert!(is_there, "docs/commands.md has no `relay-analyzer {name}`");
    }
}

#[test]
fn the_tour_is_walked() {
    let page = page("tour.md");
    let module = blocks(&page, "relay")[0].to_owned() + "\n";
    let folder = Folder::new("tour", &[("attention.relay", module.as_bytes())]);
    let lines: Vec<&str> = blocks(&page, "sh").iter().flat_map(|block| block.lines()).collect();
    let wanted = [
        "relay-analyzer check attention.relay",
        "relay-analyzer explain shape-mismatch",
        "relay-analyzer shapes attention.relay",
        "relay-analyzer run attention.relay --random 0",
        "relay-analyzer passes run.log",
        "relay-analyzer diff before.relay after.relay",
    ];
    assert_eq!(lines, wanted);
    let (code, printed) = sh(&folder, lines[0]);
    assert!(code == Some(1) && printed.contains("error[shape-mismatch]"), "{printed}");
    let mended = module.replace("transpose_b=True", "transpose_b=False");
    assert_ne!(mended, module);
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("attention.relay", &mended);
    write("before.relay", &module);
    write("after.relay", &mended);
    write("run.log", &format!("PrintIR(after A):\n{module}\nPrintIR(after B):\n{mended}"));
    for (line, (code, part)) in lines[1..].iter().zip([
        (0, "shape-mismatch"),
        (0, "nn.batch_matmul"),
        (0, "(12, 128, 128)"),
        (0, "B"),
        (1, "transpose_b"),
    ]) {
        let (found, printed) = sh(&folder, line);
        assert!(found == Some(code) && printed.contains(part), "{line}: {found:?}\n{printed}");
    }
    assert!(Path::new(&here().join("../docs/media/neovim.png")).exists());
}
