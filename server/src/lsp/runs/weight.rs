//! Tensors of a module that no run computes: constants of its metadata section, and its parameters in files of weights.

use std::path::PathBuf;

use interpreter::Tensor;
use semantics::{Database, SourceFile, View};
use syntax::{TextRange, TextSize};

use crate::weights::{NamedArrays, decoded, names};

/// A weight with its name.
pub(super) struct Weight {
    pub(super) name: String,
    pub(super) tensor: Tensor,
}

/// Returns the constant of the metadata section at an offset, if there is one.
///
/// # Errors
/// The message for a constant that cannot be decoded.
pub(super) fn constant_at(
    db: &Database,
    file: SourceFile,
    offset: TextSize,
) -> Option<Result<Weight, String>> {
    let (metadata, array) = ide::hover::constant_at(db, file, offset)?;
    let weights = metadata.weights();
    let section = weights.section();
    let name = names(section).get(array).cloned().unwrap_or_default();
    let payload = weights.payload(array)?;
    let tensor = decoded(section, array, &payload);
    Some(match tensor {
        Some(tensor) => Ok(Weight { name, tensor }),
        None => Err(format!("the elements of {name} cannot be decoded")),
    })
}

/// Returns the array with the name of the parameter whose binder is `range`, if `range` is that of a parameter and a file
/// has such an array.
///
/// # Errors
/// The message for a file or an array that cannot be read.
pub(super) fn parameter(
    db: &Database,
    file: SourceFile,
    (range, name): (TextRange, &str),
    files: &[PathBuf],
) -> Option<Result<Weight, String>> {
    let array = name.trim_start_matches('%');
    let arrays = match arrays_with(db, file, (range, array), files).transpose()? {
        Ok(arrays) => arrays,
        Err(message) => return Some(Err(message)),
    };
    Some(arrays.read(array).map(|tensor| Weight { name: name.to_owned(), tensor }))
}

/// Returns true if there is a tensor at an offset that is known without a run: a constant, or a parameter that a file has.
pub(in crate::lsp) fn is_at(
    db: &Database,
    file: SourceFile,
    offset: TextSize,
    files: impl FnOnce() -> Vec<PathBuf>,
) -> bool {
    if ide::hover::constant_at(db, file, offset).is_some() {
        return true;
    }
    let Some(range) = ide::live::variable_at(db, file, offset) else { return false };
    let text = file.text(db);
    let name = text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default();
    let array = name.trim_start_matches('%');
    is_parameter(db, file, range)
        && arrays_with(db, file, (range, array), &files()).is_ok_and(|arrays| arrays.is_some())
}

/// Opens the files of weights, if one of them has the array of a parameter.
fn arrays_with(
    db: &Database,
    file: SourceFile,
    (range, array): (TextRange, &str),
    files: &[PathBuf],
) -> Result<Option<NamedArrays>, String> {
    if files.is_empty() || !is_parameter(db, file, range) {
        return Ok(None);
    }
    let arrays = NamedArrays::open(files)?;
    Ok(arrays.type_of(array)?.is_some().then_some(arrays))
}

/// Returns true if a function has a parameter with its name at `range`.
fn is_parameter(db: &Database, file: SourceFile, range: TextRange) -> bool {
    let def = semantics::def_at(db, file, range.start()).and_then(|(_, def)| View::new(db, def));
    def.is_some_and(|view| {
        view.parameters().into_iter().any(|binding| view.binding_range(binding) == range)
    })
}
