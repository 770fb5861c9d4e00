//! Finds the modules in folders. A folder may come from an untrusted source, with special files,
//! links to anywhere, and names that are not UTF-8.

use std::{
    collections::HashSet,
    error::Error as _,
    fs::{self, FileType, Metadata},
    path::{Path, PathBuf},
    sync::Arc,
};

use ignore::{DirEntry, WalkBuilder};
use parking_lot::Mutex;

use super::shown;

/// The largest ignore file in bytes: its rules stay in memory while its folder is searched.
const MAX_RULES: u64 = 1 << 20;
/// The largest `.git` file in bytes: it contains one path.
const MAX_POINTER: u64 = 8 << 10;

/// The modules of a folder, and problems with its entries.
#[derive(Default)]
pub(crate) struct Contents {
    /// The regular files with the extension of a module, sorted.
    pub(crate) files: Vec<PathBuf>,
    /// A message for each module or folder that cannot be read.
    pub(crate) problems: Vec<String>,
    /// The links to modules that are not among the files, with their targets.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
}

/// Finds the modules in a folder and its subfolders by the rules of `.gitignore`. Links are not
/// followed, so that the walk terminates. Only regular files are opened.
///
/// At most `limit` entries are visited.
pub(crate) fn contents(folder: &Path, limit: usize) -> Contents {
    let mut contents = Contents::default();
    if let Err(message) = rules_are_readable(folder) {
        contents.problems.push(message);
        return contents;
    }
    let refused: Arc<Mutex<Vec<String>>> = Arc::default();
    let mut walk = WalkBuilder::new(folder);
    let refuse = refused.clone();
    walk.require_git(false).sort_by_file_path(Path::cmp).filter_entry(move |entry| {
        // The walk reads the rules of a folder after this check, without a limit.
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        match is_folder.then(|| rules_are_readable(without_dot(entry.path()))) {
            Some(Err(message)) => {
                refuse.lock().push(message);
                false
            }
            _ => true,
        }
    });
    let absolute = fs::canonicalize(folder).unwrap_or_default();
    let above = absolute.ancestors().skip(1).find_map(|above| rules_are_readable(above).err());
    walk.parents(above.is_none());
    let mut links = Vec::new();
    // Without links each entry is visited once.
    for entry in walk.build().take(limit) {
        match entry {
            Ok(entry) => classify(entry, &mut contents, &mut links),
            Err(error) => contents.problems.push(walk_error(&error)),
        }
    }
    contents.problems.append(&mut refused.lock());
    if !links.is_empty() {
        let known = contents.files.iter().filter_map(|file| fs::canonicalize(file).ok());
        let known: HashSet<PathBuf> = known.collect();
        contents.links.extend(links.into_iter().filter(|(_, target)| !known.contains(target)));
    }
    contents
}

fn classify(entry: DirEntry, contents: &mut Contents, links: &mut Vec<(PathBuf, PathBuf)>) {
    let Some(kind) = entry.file_type().filter(|_| is_module(entry.path())) else { return };
    let path = without_dot(entry.path()).to_owned();
    if kind.is_file() {
        contents.files.push(path);
    } else if kind.is_symlink() {
        // A link to a folder is not followed.
        match fs::metadata(&path) {
            Ok(data) if data.is_file() => match fs::canonicalize(&path) {
                Ok(target) => links.push((path, target)),
                Err(error) => contents.problems.push(cannot_read(&path, &error)),
            },
            Ok(data) if data.is_dir() => {}
            Ok(data) => contents.problems.push(no_file(&path, data.file_type())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let message = format!("cannot read `{}`: the link leads nowhere", shown(&path));
                contents.problems.push(message);
            }
            Err(error) => contents.problems.push(cannot_read(&path, &error)),
        }
    } else if !kind.is_dir() {
        contents.problems.push(no_file(&path, kind));
    }
}

/// Returns the path of an entry as git and other tools name it: `a.relay` for that of `.`.
fn without_dot(path: &Path) -> &Path {
    path.strip_prefix(".").ok().filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(path)
}

fn is_module(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "relay" || extension == "rly")
}

/// Returns the message for a path that cannot be read.
pub(crate) fn cannot_read(path: &Path, error: &std::io::Error) -> String {
    format!("cannot read `{}`: {error}", shown(path))
}

/// Returns the message for a path that is not a file.
fn no_file(path: &Path, kind: FileType) -> String {
    format!("cannot read `{}`: it is {}, not a file", shown(path), name_of(kind))
}

#[cfg(unix)]
fn name_of(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "something else"
    }
}

#[cfg(not(unix))]
fn name_of(_: FileType) -> &'static str {
    "something else"
}

/// Returns the message for an entry that cannot be read: the path and the innermost error, without
/// the wrappers, which repeat the path.
fn walk_error(error: &ignore::Error) -> String {
    let mut path = None;
    let mut layer = error;
    // Each step unwraps one layer, here and below.
    loop {
        layer = match layer {
            ignore::Error::WithPath { path: of, err } => {
                path = Some(without_dot(of));
                err
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => err,
            _ => break,
        };
    }
    let mut reason: &dyn std::error::Error = layer;
    if let ignore::Error::Io(error) = layer {
        reason = error;
        let inner = error.get_ref().map(|inner| inner as &dyn std::error::Error);
        let mut next = inner.or_else(|| error.source());
        while let Some(source) = next {
            reason = source;
            next = source.source();
        }
    }
    match path {
        Some(path) => format!("cannot read `{}`: {reason}", shown(path)),
        None => format!("cannot read all of the folder: {reason}"),
    }
}

/// Checks the ignore files of a folder: `ignore` opens them unconditionally, and would block on a
/// pipe or read a device forever.
///
/// # Errors
/// The message for the first that is not a regular file of a reasonable size.
fn rules_are_readable(folder: &Path) -> Result<(), String> {
    for name in [".ignore", ".gitignore"] {
        check_rules(folder, &folder.join(name), MAX_RULES)?;
    }
    let git = folder.join(".git");
    let Ok(data) = fs::metadata(&git) else { return Ok(()) };
    if data.is_dir() {
        return check_rules(folder, &git.join("info/exclude"), MAX_RULES);
    }
    // A linked work tree: `.git` is a file with the path of its folder, which has a file with that
    // of the common folder.
    check_rules(folder, &git, MAX_POINTER)?;
    let own = pointed_at(folder, &git, "gitdir: ");
    let common = own.join("commondir");
    check_rules(folder, &common, MAX_POINTER)?;
    let common = pointed_at(&own, &common, "");
    check_rules(folder, &common.join("info/exclude"), MAX_RULES)
}

fn pointed_at(folder: &Path, pointer: &Path, prefix: &str) -> PathBuf {
    let text = fs::read_to_string(pointer).unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    folder.join(line.strip_prefix(prefix).unwrap_or_default())
}

fn check_rules(folder: &Path, rules: &Path, longest: u64) -> Result<(), String> {
    let is_ordinary = |data: &Metadata| data.is_file() && data.len() <= longest;
    match fs::metadata(rules) {
        Ok(data) if !is_ordinary(&data) && !data.is_dir() => Err(format!(
            "cannot search `{}`: its `{}` is not a regular file of at most {} KB",
            shown(folder),
            shown(rules.strip_prefix(folder).unwrap_or(rules)),
            longest >> 10,
        )),
        // A missing file has no rules.
        _ => Ok(()),
    }
}
