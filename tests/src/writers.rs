//! Commands that write files, each with its files: for tests of what happens to the files.

use std::process::Command;

use crate::{
    bound::{Tensor, section},
    client::binary,
    command::Folder,
    corpus::here,
};

/// A command that writes.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// The arguments of the program.
    pub args: &'static [&'static str],
    /// The file that it writes, which existed before.
    pub output: &'static str,
}

const fn writer(args: &'static [&'static str], output: &'static str) -> Writer {
    Writer { args, output }
}

/// A command of each kind that writes a file. All of them work, in a folder that [`files`] fills.
pub const WRITERS: &[Writer] = &[
    writer(&["fmt", "plain.relay"], "plain.relay"),
    writer(&["check", "--fix", "plain.relay"], "plain.relay"),
    writer(&["strip", "net.relay", "-o", "out.relay"], "out.relay"),
    writer(&["strip", "net.relay", "-o", "code2.relay", "--weights", "out.npz"], "out.npz"),
    writer(&["merge", "code.relay", "--weights", "w.npz", "-o", "code.relay"], "code.relay"),
    writer(&["merge", "edited.relay", "--weights", "net.relay", "-o", "net.relay"], "net.relay"),
    writer(&["lift", "net.relay", "-o", "out.relay"], "out.relay"),
    writer(&["lift", "net.relay", "-o", "net.relay", "--params", "p2.npz"], "net.relay"),
    writer(&["bind", "lifted.relay", "--params", "p.npz", "-o", "lifted.relay"], "lifted.relay"),
    writer(&["convert", "saved.json", "-o", "out.relay"], "out.relay"),
    writer(&["run", "net.relay", "--random", "1", "--output", "out.npy"], "out.npy"),
    writer(&["run", "net.relay", "--random", "1", "--output", "out.npz"], "out.npz"),
    writer(&["weights", "net.relay", "--save", "all"], "all/constant_0.npy"),
    writer(&["man", "-o", "pages"], "pages/relay-analyzer.1"),
];

/// The code of the module with weights.
pub const CODE: &str = "\
#[version = \"0.0.5\"]
def @main(%x: Tensor[(2, 300), float32]) {
  %0 = add(%x, meta[relay.Constant][0]);
  %1 = add(%0, meta[relay.Constant][1]);
  add(%1, meta[relay.Constant][2])
}

";

/// Returns the module with weights, a few kilobytes of them.
pub fn net() -> String {
    let mut random = fastrand::Rng::with_seed(7);
    let tensors = [[2, 300], [2, 300], [1, 300]].map(|shape| Tensor::drawn(&shape, &mut random));
    CODE.to_owned() + &section(&tensors)
}

/// Creates a folder with the files of all writers. Names must be unique within a test program.
///
/// # Panics
/// A file that is derived from others cannot be written.
pub fn files(name: &str) -> Folder {
    let old = "the old content, which another program has written\n".repeat(40);
    let old = old.as_bytes();
    let cases = here().join("../analysis/saved/tests/cases.jsonl");
    let cases = std::fs::read_to_string(cases).expect("modules that TVM saved");
    let case: serde_json::Value =
        serde_json::from_str(cases.lines().next().expect("a case")).expect("JSON");
    // Longer than the smallest limit on the size of a file.
    let mut plain = String::from("def @main(%x: int32) {\n");
    for number in 0..200 {
        plain += &format!("let %a{number}=sub(%x,%x);\n");
    }
    plain += "%a0\n}\n";
    let folder = Folder::new(
        name,
        &[
            ("plain.relay", plain.as_bytes()),
            ("net.relay", net().as_bytes()),
            ("saved.json", case["json"].as_str().expect("a module").as_bytes()),
            ("out.relay", old),
            ("out.npy", old),
            ("out.npz", old),
            ("all/constant_0.npy", old),
            ("pages/relay-analyzer.1", old),
        ],
    );
    let make = |args: &[&str]| {
        let run = folder.run(args);
        assert_eq!(run.code, Some(0), "{args:?}: {run:?}");
    };
    make(&["strip", "net.relay", "-o", "code.relay", "--weights", "w.npz"]);
    make(&["lift", "net.relay", "-o", "lifted.relay", "--params", "p.npz"]);
    let edited = folder.text("code.relay").replace("add(%x", "subtract(%x");
    std::fs::write(folder.path().join("edited.relay"), edited).expect("a file");
    folder
}

impl Writer {
    /// Returns the command in a folder.
    pub fn command(&self, folder: &Folder) -> Command {
        let mut command = Command::new(binary());
        command.args(self.args).current_dir(folder.path());
        command
    }

    /// Returns the content of the output.
    ///
    /// # Panics
    /// There is none.
    pub fn content(&self, folder: &Folder) -> Vec<u8> {
        std::fs::read(folder.path().join(self.output)).expect("the output")
    }
}
