//! Texts for tests: example modules, generated modules, and three corpora: of texts that TVM judged, of modules
//! before and after passes, and of other releases.
//!
//! A corpus is required if a variable names its folder. Otherwise it is read where it is beside the repository,
//! and tests without it note that they are skipped. A file that a corpus lacks is an error.

use std::path::{Path, PathBuf};

use crate::notes;

/// The folder of this package.
pub fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the folder of the conformance corpus, if present: modules that TVM printed, rejected and
/// ran.
pub fn conformance() -> Option<PathBuf> {
    folder_of("RELAY_CONFORMANCE", "conformance", "models")
}

/// Returns the folder of modules before and after passes, if present.
pub fn between() -> Option<PathBuf> {
    folder_of("RELAY_BETWEEN", "between", "logs")
}

/// Returns the folder of what other releases of TVM printed, if present.
pub fn versions() -> Option<PathBuf> {
    folder_of("RELAY_VERSIONS", "versions", "samples")
}

/// Returns the folder of a corpus, which has the folder `part`. It is named by a variable, or is beside
/// the repository; a variable that is set to nothing says that there is none. Without it, the tests that
/// read it are skipped, with one note in each program.
fn folder_of(variable: &str, name: &str, part: &str) -> Option<PathBuf> {
    let path = match std::env::var_os(variable) {
        Some(path) if path.is_empty() => None,
        Some(path) => {
            let path = PathBuf::from(path);
            assert!(path.join(part).is_dir(), "{variable}: there is no {name} corpus at {path:?}");
            Some(path)
        }
        None => Some(here().join("../../shared").join(name)).filter(|it| it.join(part).is_dir()),
    };
    if path.is_none() {
        notes::note_skipped(&format!("there is no {name} corpus; {variable} names its folder"));
    }
    path
}

/// Returns the cases of a file of the conformance corpus, id and text; `None` without the corpus.
///
/// # Panics
/// The file is missing or malformed.
pub fn cases(file: &str) -> Option<Vec<(String, String)>> {
    let path = conformance()?.join(file);
    let text = std::fs::read_to_string(&path).expect("a file of the corpus");
    let case = |line: &str| {
        let case: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let text_of = |key: &str| case[key].as_str().expect("a text").to_owned();
        (text_of("id"), text_of("text"))
    };
    Some(text.lines().map(case).collect())
}

/// Returns the networks of the conformance corpus by name; `None` without the corpus.
pub fn models() -> Option<Vec<(String, String)>> {
    Some(relay_files(&conformance()?.join("models")))
}

/// Returns a network of the conformance corpus, `lstm500` for example; `None` without the corpus.
///
/// # Panics
/// The corpus has no such network.
pub fn model(name: &str) -> Option<String> {
    let path = conformance()?.join("models").join(format!("{name}.relay"));
    Some(std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}")))
}

/// Returns the longest network of the corpus, or a chain of as many bindings.
pub fn longest() -> String {
    model("lstm500").unwrap_or_else(|| chain(14_500))
}

/// Returns the files of a folder with one of the extensions, by name. The extension of a name without a dot
/// is empty.
///
/// # Panics
/// There are none, or one of them is unreadable or not UTF-8.
pub fn files(folder: &Path, extensions: &[&str]) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let paths = entries.map(|entry| entry.expect("an entry of a folder").path());
    let is_wanted = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default();
        extensions.iter().any(|wanted| extension == *wanted)
    };
    let mut files: Vec<_> = paths
        .filter(is_wanted)
        .map(|path| {
            let text = std::fs::read_to_string(&path);
            let text = text.unwrap_or_else(|error| panic!("{path:?}: {error}"));
            let name = path.file_name().expect("a file of a folder has a name");
            (name.to_string_lossy().into_owned(), text)
        })
        .collect();
    assert!(!files.is_empty(), "{folder:?} has no file of {extensions:?}");
    files.sort();
    files
}

/// Returns the Relay files of a folder by name.
pub fn relay_files(folder: &Path) -> Vec<(String, String)> {
    files(folder, &["relay", "rly"])
}

/// Returns the example modules, in all three notations.
pub fn examples() -> Vec<(String, String)> {
    relay_files(&here().join("examples"))
}

/// Returns a module with a chain of `n` graph bindings.
pub fn chain(n: usize) -> String {
    let ty = "Tensor[(1, 64), float32]";
    let mut text = format!("#[version = \"0.0.5\"]\ndef @main(%x: {ty}, %w: {ty}) -> {ty} {{\n");
    let mut last = String::from("%x");
    for i in 0..n {
        text += &match i % 3 {
            0 => format!("  %{i} = add({last}, %w) /* ty={ty} */;\n"),
            1 => format!("  %{i} = nn.relu({last}) /* ty={ty} */;\n"),
            _ => format!("  %{i} = multiply({last}, %w) /* ty={ty} */;\n"),
        };
        last = format!("%{i}");
    }
    text + &format!("  {last}\n}}\n")
}
