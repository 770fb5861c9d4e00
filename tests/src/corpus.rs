//! Texts for tests: example modules, generated modules, and the conformance corpus.

use std::path::{Path, PathBuf};

/// The folder of this package.
pub fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the folder of the conformance corpus, if present.
pub fn conformance() -> Option<PathBuf> {
    let path = std::env::var_os("RELAY_CONFORMANCE")
        .map_or_else(|| here().join("../../shared/conformance"), PathBuf::from);
    path.join("models").is_dir().then_some(path)
}

/// Returns the cases of a file of the corpus, id and text; `None` if it is missing or malformed.
pub fn cases(file: &str) -> Option<Vec<(String, String)>> {
    let text = std::fs::read_to_string(conformance()?.join(file)).ok()?;
    let case = |line: &str| {
        let case: serde_json::Value = serde_json::from_str(line).ok()?;
        Some((case["id"].as_str()?.to_owned(), case["text"].as_str()?.to_owned()))
    };
    text.lines().map(case).collect()
}

/// Relay files under `folder`, by name.
pub fn relay_files(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "relay" || e == "rly"))
        .filter_map(|path| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some((name, std::fs::read_to_string(path).ok()?))
        })
        .collect();
    files.sort();
    files
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
