//! Executes the block of the README from `git clone` to the first error.

use std::{fs, process::Command};

use relay_tests::{client::binary, notes::note};

use super::{executable, readmes::blocks, root, scratch};

/// In the place of Cargo: runs the program of the tests, which was built from the same sources by the command of
/// the block, as far as it is that command.
const CARGO: &str = "#!/bin/sh\n[ \"$1 $2 $3\" = 'run --release --' ] || exit 99\nshift 3\nexec \"$RELAY_PROGRAM\" \"$@\"\n";

/// Git is configured to clone this repository instead of the URL in the block, at the last commit. Another build
/// would take minutes.
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

    let folder = scratch("readme-clone");
    let programs = folder.join("programs");
    fs::create_dir_all(&programs).expect("a folder in target");
    executable(&programs.join("cargo"), CARGO);
    let path = std::env::var("PATH").expect("the PATH of the tests");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-euc", block]).current_dir(&folder);
    shell.env("PATH", format!("{}:{path}", programs.display())).env("RELAY_PROGRAM", binary());
    for (name, value) in [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", &*format!("url.file://{}.insteadOf", root().display())),
        ("GIT_CONFIG_VALUE_0", address),
    ] {
        shell.env(name, value);
    }
    note("clones the repository as the README says");
    let output = shell.output().expect("a shell runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    // The exit code of the check is 1 because of the error.
    assert_eq!(output.status.code(), Some(1), "{printed}{said}");
    assert!(printed.starts_with(error), "{printed}{said}");
}
