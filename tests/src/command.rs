//! The command line, run in folders of files.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
};

use serde_json::Value;

use crate::client::binary;

/// The result of a run of the program.
#[derive(Debug)]
pub struct Run {
    /// Its exit code.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Run {
    /// Standard output as JSON Lines.
    pub fn lines(&self) -> Vec<Value> {
        let lines = self.out.lines();
        lines.map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }
}

/// Runs the program in a folder.
pub fn run_in(folder: &Path, args: &[&str], input: &[u8]) -> Run {
    let mut child = Command::new(binary())
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // A program that does not read its input may have ended.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    Run {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Runs the program in the current folder.
pub fn run(args: &[&str], input: &str) -> Run {
    run_in(Path::new("."), args, input.as_bytes())
}

/// Creates an empty folder, of which the name ends with `name`.
pub fn fresh_folder(name: &str) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let own = format!("relay-test-{}-{number}-{name}", std::process::id());
    let path = std::env::temp_dir().join(own);
    // It may be left over from an earlier process with this number.
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

/// A temporary folder with files for one test.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Creates a folder with files.
    pub fn new(name: &str, files: &[(&str, &[u8])]) -> Folder {
        let path = fresh_folder(name);
        for (file, bytes) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, bytes).expect("a file");
        }
        Folder(path)
    }

    /// Runs the program in the folder.
    pub fn run(&self, args: &[&str]) -> Run {
        run_in(&self.0, args, b"")
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Reads one of the files.
    pub fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).expect("the file")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A failure only leaves temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
