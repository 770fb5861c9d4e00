//! Modules that TVM saved as JSON or in archives, as their text.

use std::{fs::File, io::Read, ops::Range, path::Path};

use saved::{Error, Plan};
use semantics::{Code, Diagnostic};
use syntax::TextRange;

use super::{Input, text_of};

/// The content of a saved file besides the text of its module.
#[derive(Default)]
pub(crate) struct SavedContent {
    /// The range of the parameters in the file, as `save_param_dict` writes them.
    pub(crate) params: Option<Range<u64>>,
    /// The memory plan of the compiled module.
    pub(crate) plan: Option<Plan>,
    /// True if it contains no module.
    pub(crate) is_plan_only: bool,
}

/// Reads an archive; `None` for other files.
pub(super) fn archived(path: &Path, file: &File, length: u64, max_code: u64) -> Option<Input> {
    let mut head = Vec::new();
    // If it cannot be read, the caller cannot read it either, and reports the error.
    let read = file.take(512).read_to_end(&mut head);
    if read.is_err() || !saved::is_archive(&head) {
        use std::io::Seek;
        let mut file = file;
        file.rewind().ok()?;
        return None;
    }
    let path = path.display().to_string();
    let package = match saved::open(file, length) {
        Ok(package) => package,
        Err(error) => return Some(refused(path, &error)),
    };
    let is_plan_only = package.text.is_none();
    let saved = SavedContent { params: package.params, plan: package.plan, is_plan_only };
    Some(match package.text {
        Some(text) => Input { saved: Some(saved), ..text_of(path, text.into_bytes(), max_code) },
        None => plan_only(path, saved),
    })
}

/// Reads the output of `tvm.ir.save_json`, or the plan of a compiled module.
pub(super) fn converted(path: String, bytes: Vec<u8>, max_code: u64) -> Input {
    let Ok(json) = String::from_utf8(bytes) else {
        return problem(path, "it is not UTF-8 [not-json]", "save the module again");
    };
    if saved::is_plan(json.as_bytes()) {
        return match Plan::read(&json) {
            Ok(plan) => plan_only(
                path,
                SavedContent { plan: Some(plan), is_plan_only: true, ..SavedContent::default() },
            ),
            Err(error) => refused(path, &error),
        };
    }
    match saved::convert(&json) {
        Ok(text) => {
            drop(json);
            let input = text_of(path, text.into_bytes(), max_code);
            Input { saved: Some(SavedContent::default()), ..input }
        }
        Err(error) => refused(path, &error),
    }
}

fn refused(path: String, error: &Error) -> Input {
    let place = if error.place.is_empty() { String::new() } else { format!("{}: ", error.place) };
    problem(path, &format!("{place}{} [{}]", error.message, error.code), error.help)
}

fn plan_only(path: String, saved: SavedContent) -> Input {
    let message = "it contains no Relay module, only the memory plan of a compiled one [no-module]";
    let help = "`relay-analyzer shapes` shows the plan; `tvmc compile --dump-code relay` writes the module";
    Input { saved: Some(saved), ..problem(path, message, help) }
}

fn problem(path: String, message: &str, help: &str) -> Input {
    let message = format!("this saved module cannot be read: {message}");
    let diagnostic = Diagnostic::new(Code::UnreadableSavedModule, TextRange::default(), message);
    let diagnostic = if help.is_empty() { diagnostic } else { diagnostic.help(help) };
    let saved = Some(SavedContent::default());
    Input { path, text: String::new(), problem: Some(diagnostic), saved, stamp: None }
}
