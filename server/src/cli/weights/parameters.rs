//! The parameters of a saved model, which lie beside the module in its archive.

use std::{ops::Range, path::Path};

use arrays::Archive;
use interpreter::Tensor;
use rustc_hash::FxHashMap;
use weights::{Header, Payload};

use super::{Row, Saves, describe};
use crate::{input, run::files::ArgumentFile};

/// Describes the parameters of an archive, and writes them to a folder.
///
/// # Errors
/// The message if they cannot be read or written.
pub(super) fn rows(
    path: &Path,
    part: Range<u64>,
    code: &str,
    mut files: Option<&mut Saves>,
) -> Result<Vec<Row>, String> {
    let shown = input::shown(path);
    let file = ArgumentFile { path: path.to_owned(), within: None, part: Some(part) };
    let archive = Archive::params(file.open()?).map_err(|error| format!("`{shown}`: {error}"))?;
    let uses = uses(code);
    let mut rows = Vec::new();
    for (number, name) in archive.names().iter().enumerate() {
        // The first one is where it is declared.
        let uses = uses.get(name.as_str()).map_or(0, |count| count.saturating_sub(1));
        let mut row = Row { uses, name: Some(name.clone()), ..Row::default() };
        match archive.array(number).and_then(arrays::Array::read) {
            Ok(tensor) => {
                describe_tensor(&mut row, &tensor);
                if let Some(files) = &mut files {
                    // Names may be no names of files.
                    files.write(&format!("parameter_{number}.npy"), &tensor)?;
                }
            }
            Err(error) => row.problem = Some(error.to_string()),
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Counts the variables of a text by their names.
fn uses(code: &str) -> FxHashMap<&str, u64> {
    let mut uses = FxHashMap::default();
    let mut start = 0;
    for (_, end) in syntax::tokens(code) {
        let end = usize::from(end);
        if let Some(name) = code[start..end].strip_prefix('%') {
            *uses.entry(name).or_default() += 1;
        }
        start = end;
    }
    uses
}

/// Describes a tensor as one of a metadata section, whose text has the same header and elements.
fn describe_tensor(row: &mut Row, tensor: &Tensor) {
    let text = Header::write(tensor.dtype(), tensor.shape()).and_then(|header| {
        let mut text = Vec::new();
        weights::encode(&mut text, &header, |to| tensor.write_le(|part| to.write_all(part)))
            .ok()?;
        String::from_utf8(text).ok()
    });
    match text.as_ref().and_then(|text| Some((Header::read(text.as_bytes())?, text))) {
        Some((header, text)) => describe(row, &header, &Payload::Text(text)),
        None => row.problem = Some("its elements are no numbers".to_owned()),
    }
}
