//! Tensors of a module that no run computes: constants of its metadata section, and its parameters in files of weights.

use std::path::PathBuf;

use interpreter::Tensor;
use semantics::{Database, SourceFile};
use syntax::TextSize;

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

/// Returns the array with the name of the parameter at an offset, if there is a parameter and a file has such an array.
///
/// # Errors
/// The message for a file or an array that cannot be read.
pub(super) fn parameter(
    db: &Database,
    file: SourceFile,
    offset: TextSize,
    files: &[PathBuf],
) -> Option<Result<Weight, String>> {
    let name = ide::live::parameter_at(db, file, offset)?;
    let array = name.trim_start_matches('%');
    Some(match arrays_with(array, files).transpose()? {
        Ok(arrays) => arrays.read(array).map(|tensor| Weight { name, tensor }),
        Err(message) => Err(message),
    })
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
    let Some(name) = ide::live::parameter_at(db, file, offset) else { return false };
    arrays_with(name.trim_start_matches('%'), &files()).is_ok_and(|arrays| arrays.is_some())
}

/// Opens the files of weights, if one of them has an array.
fn arrays_with(array: &str, files: &[PathBuf]) -> Result<Option<NamedArrays>, String> {
    if files.is_empty() {
        return Ok(None);
    }
    let arrays = NamedArrays::open(files)?;
    Ok(arrays.type_of(array)?.is_some().then_some(arrays))
}
