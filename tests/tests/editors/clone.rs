//! Executes the block of the README from `git clone` to the first error.

use std::{path::PathBuf, process::Command};

use relay_tests::notes::note;

use super::{readmes::blocks, root, scratch};

/// Returns the target folder of the build: `RELAY_README_TARGET`, or one that persists between runs, so
/// that dependencies are not built again.
fn target() -> PathBuf {
    std::env::var_os("RELAY_README_TARGET")
        .map_or_else(|| root().join("target/readme"), PathBuf::from)
}

/// Git is configured to clone this repository instead of the URL in the block, at the last commit. The
/// build is not optimised, which takes a tenth of the time.
#[test]
fn readme_leads_from_clone_to_first_error() {
    let page = blocks("README.md");
    let is_clone =
        |(language, block): &&(_, String)| language == "sh" && block.starts_with("git clone ");
    let (_, block) = page.iter().find(is_clone).expect("a block that begins with a clone");
    let (_, error) =
        page.iter().find(|(language, _)| language == "text").expect("what the block prints");
    let address = block.lines().next().and_then(|line| line.strip_prefix("git clone "));
    let address = address.expect("the address is all of the first line");

    let mut shell = Command::new("/bin/sh");
    shell.args(["-euc", block]).current_dir(scratch("readme-clone"));
    shell.env("CARGO_TARGET_DIR", target());
    for (name, value) in [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", &*format!("url.file://{}.insteadOf", root().display())),
        ("GIT_CONFIG_VALUE_0", address),
        ("CARGO_PROFILE_RELEASE_LTO", "off"),
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
        ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ] {
        shell.env(name, value);
    }
    note("clones and builds relay-analyzer as the README says, without optimisation");
    let output = shell.output().expect("a shell runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    // The exit code of the check is 1 because of the error.
    assert_eq!(output.status.code(), Some(1), "{printed}{said}");
    assert!(printed.starts_with(error), "{printed}{said}");
}
