//! Executes the block of the README that leads to the first error, in a clone.

use std::{fs, process::Command};

use relay_tests::{client::binary, notes::note};

use super::{executable, readmes::blocks, root, scratch};

/// In the place of Cargo: runs the program of the tests, which was built from the same sources by the command of
/// the block, as far as it is that command.
const CARGO: &str = "#!/bin/sh\n[ \"$1 $2 $3\" = 'run --release --' ] || exit 99\nshift 3\nexec \"$RELAY_PROGRAM\" \"$@\"\n";

/// The block is executed in a clone of the last commit. Another build would take minutes.
#[test]
fn readme_leads_from_the_folder_to_the_first_error() {
    let page = blocks("README.md");
    let is_check =
        |(language, block): &&(_, String)| language == "sh" && block.starts_with("cargo run ");
    let (_, block) = page.iter().find(is_check).expect("a block that checks a module");
    let (_, error) =
        page.iter().find(|(language, _)| language == "text").expect("what the block prints");

    let folder = scratch("readme-clone");
    let programs = folder.join("programs");
    fs::create_dir_all(&programs).expect("a folder in target");
    executable(&programs.join("cargo"), CARGO);
    let source = folder.join("source");
    let address = format!("file://{}", root().display());
    let mut git = Command::new("git");
    git.args(["clone", "--quiet", &address]).arg(&source);
    note("clones the repository");
    assert!(git.status().expect("git runs").success(), "{address} is cloned");

    let path = std::env::var("PATH").expect("the PATH of the tests");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-euc", block]).current_dir(&source);
    shell.env("PATH", format!("{}:{path}", programs.display())).env("RELAY_PROGRAM", binary());
    note("runs the block of the README");
    let output = shell.output().expect("a shell runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    // The exit code of the check is 1 because of the error.
    assert_eq!(output.status.code(), Some(1), "{printed}{said}");
    assert!(printed.starts_with(error), "{printed}{said}");
}
