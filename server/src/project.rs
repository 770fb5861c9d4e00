//! The settings of a project: the nearest `relay.toml` above a file.
//!
//! The command line and the language server read the same file. Arguments of a command and settings of
//! an editor take precedence over it.

mod read;

pub(crate) use read::KEYS;

use std::{
    collections::BTreeMap,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use semantics::{Code, DeclaredOperators, Diagnostic, Levels, Rules, Setup, Severity};
use syntax::{TextRange, format::Style};

use crate::report::{self, CheckReport};

/// The name of the file.
pub(crate) const FILE_NAME: &str = "relay.toml";
/// The largest size of the file in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// The settings of a project. Those that its file does not have are `None`.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Project {
    /// True if modules that TVM rejects have errors.
    pub(crate) tvm: Option<Rules>,
    /// True if modules see the prelude.
    pub(crate) prelude: Option<bool>,
    /// The levels of codes.
    pub(crate) levels: Levels,
    /// The style of formatting.
    pub(crate) style: Option<Style>,
    /// The largest code size in bytes, without the metadata section.
    pub(crate) code_size: Option<u64>,
    /// The largest nesting.
    pub(crate) nesting: Option<u32>,
    /// The limits of runs.
    pub(crate) run: interpreter::Limits,
    /// The operators that it declares.
    pub(crate) operators: DeclaredOperators,
}

impl Project {
    /// Returns the settings that apply to all files.
    pub(crate) fn setup(&self) -> Setup {
        let default = Setup::default();
        Setup {
            rules: self.tvm.unwrap_or(default.rules),
            prelude: self.prelude.unwrap_or(default.prelude),
            operators: self.operators.clone(),
            ..default
        }
    }

    /// Returns the limits of runs, by default those of non-interactive runs.
    pub(crate) fn run_limits(&self) -> interpreter::Limits {
        interpreter::Limits::generous().overlaid(&self.run)
    }
}

/// A `relay.toml` that was read.
#[derive(Debug)]
pub(crate) struct ProjectFile {
    /// The path.
    pub(crate) path: PathBuf,
    /// The valid settings.
    pub(crate) project: Arc<Project>,
    /// The problems, with ranges in the text.
    pub(crate) problems: Vec<Diagnostic>,
    /// The text.
    pub(crate) text: String,
}

impl ProjectFile {
    /// Reads a file. One that cannot be read has no settings and one problem.
    pub(crate) fn read(path: &Path) -> ProjectFile {
        let (text, error) = match text_of(path) {
            Ok(text) => (text, None),
            Err(error) => (String::new(), Some(error)),
        };
        let (project, mut problems) = read::read(&text);
        if let Some(error) = error {
            let message = format!("this file cannot be read: {error}");
            problems = vec![Diagnostic::new(Code::InvalidSettings, TextRange::default(), message)];
        }
        ProjectFile { path: path.to_owned(), project: Arc::new(project), problems, text }
    }

    /// Reads a file that was found. The problems of a link do not quote its target, which may be any file:
    /// a log of a build is more widely read than the files of the machine.
    fn found(path: &Path) -> ProjectFile {
        let mut loaded = ProjectFile::read(path);
        if path.is_symlink() && !loaded.problems.is_empty() {
            let message = "this link does not lead to a file with valid settings";
            let problem = Diagnostic::new(Code::InvalidSettings, TextRange::default(), message);
            loaded.problems = vec![problem.help(
                "`relay-analyzer check --config` with the path of its target shows what is wrong",
            )];
            loaded.text.clear();
        }
        loaded
    }

    /// Returns the path for messages: relative to the current folder if it is in it.
    pub(crate) fn shown_path(&self) -> String {
        let folder = std::env::current_dir().ok();
        let relative = folder.and_then(|folder| self.path.strip_prefix(folder).ok());
        relative.unwrap_or(&self.path).display().to_string()
    }

    /// Formats the problems as excerpts; empty if there are none.
    pub(crate) fn excerpts(&self) -> String {
        let parse = Arc::new(syntax::parse(""));
        let (path, text) = (self.shown_path(), self.text.clone());
        let problems = self.problems.clone();
        report::human(&CheckReport::new(path, text, parse, problems, Severity::Error))
    }
}

fn text_of(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(MAX_SIZE + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_SIZE {
        return Err(format!("it is larger than {} MiB", MAX_SIZE >> 20));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not UTF-8; save it as UTF-8")
    })
}

/// The projects of files: each `relay.toml` is read once.
#[derive(Default)]
pub(crate) struct Projects {
    /// The nearest `relay.toml` of each folder.
    folders: BTreeMap<PathBuf, Option<Arc<ProjectFile>>>,
}

impl Projects {
    /// Returns the nearest `relay.toml` in a folder and those above it.
    pub(crate) fn of_folder(&mut self, folder: &Path) -> Option<Arc<ProjectFile>> {
        let mut visited: Vec<&Path> = Vec::new();
        let mut found = None;
        for folder in folder.ancestors() {
            if let Some(known) = self.folders.get(folder) {
                found = known.clone();
                break;
            }
            visited.push(folder);
            let file = folder.join(FILE_NAME);
            if file.is_file() {
                found = Some(Arc::new(ProjectFile::found(&file)));
                break;
            }
        }
        for folder in visited {
            self.folders.insert(folder.to_owned(), found.clone());
        }
        found
    }

    /// Returns the files that were read, in order.
    pub(crate) fn files(&self) -> Vec<Arc<ProjectFile>> {
        let mut files: Vec<Arc<ProjectFile>> = self.folders.values().flatten().cloned().collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        files
    }
}
