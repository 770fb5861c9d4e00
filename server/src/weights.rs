//! Tensors of metadata sections.

use std::path::PathBuf;

use arrays::{Archive, Array, FileReader, Source};
use interpreter::Tensor;
use types::{DataType, Type};
use weights::{CONSTANT, Header, Payload, Section, open_file};

use crate::input::{cannot_read, shown};

/// Decodes a tensor from its text.
pub(crate) fn decoded(section: &Section, array: usize, payload: &Payload<'_>) -> Option<Tensor> {
    let header = section.header(array)?;
    // The text is exactly that of the header and the elements.
    let bytes = usize::try_from(header.bytes()?).ok()?.checked_add(header.length)?;
    if payload.len() != bytes.div_ceil(3).checked_mul(4)? {
        return None;
    }
    let data = payload.decode(header).ok()?;
    // Booleans are 0 or 1.
    if header.ty.dtype.is_bool() && data.iter().any(|&byte| byte > 1) {
        return None;
    }
    Tensor::from_le_bytes(header.ty.dtype, &header.shape()?, &data)
}

/// Returns the names of the tensors in an archive, each after the first entry that contains it.
pub(crate) fn names(section: &Section) -> Vec<String> {
    let mut names: Vec<String> =
        (0..section.arrays()).map(|array| format!("array_{array}")).collect();
    for entry in (0..section.entries(CONSTANT).len() as u32).rev() {
        if let Some(name) = section.array_of(CONSTANT, entry).and_then(|at| names.get_mut(at)) {
            *name = format!("constant_{entry}");
        }
    }
    names
}

/// Files that name tensors by arrays with equal contents.
pub(crate) struct NamedArrays(Vec<Archive<FileReader>>);

impl NamedArrays {
    /// Opens `.params` and `.npz` files, whatever they are called.
    ///
    /// # Errors
    /// The message for a file that cannot be read.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<NamedArrays, String> {
        let archive = |path: &PathBuf| {
            let file = open_file(path).map_err(|error| cannot_read(path, &error))?;
            let length = file.metadata().map_err(|error| cannot_read(path, &error))?.len();
            let source = Source::new(FileReader::from(file), length);
            Archive::open(source).map_err(|error| format!("`{}`: {error}", shown(path)))
        };
        Ok(NamedArrays(paths.iter().map(archive).collect::<Result<_, String>>()?))
    }

    /// Finds the last array of a name, as Python does.
    fn find(&self, name: &str) -> Option<(&Archive<FileReader>, usize)> {
        self.0.iter().rev().find_map(|archive| {
            Some((archive, archive.names().iter().rposition(|known| known == name)?))
        })
    }

    /// Returns the data type and the sizes of an array; `None` if there is none of that name.
    ///
    /// # Errors
    /// The message for an array that cannot be read.
    pub(crate) fn type_of(&self, name: &str) -> Result<Option<(DataType, Vec<usize>)>, String> {
        let Some((archive, position)) = self.find(name) else { return Ok(None) };
        let ty = archive.array(position).map(|array| (array.dtype(), array.shape().to_vec()));
        ty.map(Some).map_err(|error| error.to_string())
    }

    /// Reads an array.
    ///
    /// # Errors
    /// The message for an array that is missing or cannot be read.
    pub(crate) fn read(&self, name: &str) -> Result<Tensor, String> {
        let Some((archive, position)) = self.find(name) else {
            return Err(format!("there is no array `{name}`"));
        };
        archive.array(position).and_then(Array::read).map_err(|error| error.to_string())
    }

    /// Returns the name of the first array with the type and elements of a tensor.
    ///
    /// # Errors
    /// The message for an array that cannot be read.
    pub(crate) fn name_of(
        &self,
        header: &Header,
        payload: &Payload<'_>,
    ) -> Result<Option<String>, String> {
        let ty: Type = header.ty.clone().into();
        let Ok(data) = payload.decode(header) else { return Ok(None) };
        for archive in &self.0 {
            for (position, name) in archive.names().iter().enumerate() {
                let array = archive.array(position).map_err(|error| error.to_string())?;
                // Only arrays of the same type are read.
                if array.ty() == ty
                    && array.is_equal_to(&data).map_err(|error| error.to_string())?
                {
                    return Ok(Some(name.clone()));
                }
            }
        }
        Ok(None)
    }
}
