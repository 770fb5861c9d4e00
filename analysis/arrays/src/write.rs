//! Writing arrays.

use std::{
    borrow::Borrow,
    io::{self, Write},
};

use interpreter::Tensor;
use rawzip::path::{EntryPath, ZipFilePath};

use crate::params::{ARRAY_MAGIC, KINDS, LIST_MAGIC};

/// Writes arrays to a `.npz` archive. Arrays of `bfloat16` are written as numpy does with the package
/// `ml_dtypes`: as two untyped bytes, `<V2`.
///
/// # Errors
/// They cannot be written.
pub fn write_npz<T: Borrow<Tensor>>(
    to: impl Write,
    arrays: impl Iterator<Item = io::Result<(String, T)>>,
) -> io::Result<()> {
    let mut archive = rawzip::ZipArchiveWriter::new(to);
    for array in arrays {
        let (name, tensor) = array?;
        let (mut entry, config) =
            archive.new_file(path_of(&name)).start().map_err(io::Error::other)?;
        let mut out = config.wrap(&mut entry);
        write_npy(&mut out, tensor.borrow())?;
        let (_, descriptor) = out.finish().map_err(io::Error::other)?;
        entry.finish(descriptor).map_err(io::Error::other)?;
    }
    archive.finish().map_err(io::Error::other)?.flush()
}

/// Returns the path of an array in an archive, which is its name as it is, as numpy writes it: the name
/// `aten::b` contains no drive, and `a//b` is not `a/b`.
fn path_of(name: &str) -> EntryPath<'static> {
    let path = format!("{name}.npy");
    match ZipFilePath::from_str(&path).as_str() == path {
        true => EntryPath::conformant(path),
        false => EntryPath::verbatim(path.into_bytes()),
    }
}

/// Writes arrays as TVM does with `save_param_dict`. The names precede all arrays.
///
/// # Errors
/// They cannot be written.
pub fn write_params<T: Borrow<Tensor>>(
    mut to: impl Write,
    names: &[&str],
    arrays: impl Iterator<Item = io::Result<T>>,
) -> io::Result<()> {
    to.write_all(&LIST_MAGIC.to_le_bytes())?;
    to.write_all(&0u64.to_le_bytes())?;
    to.write_all(&(names.len() as u64).to_le_bytes())?;
    for name in names {
        to.write_all(&(name.len() as u64).to_le_bytes())?;
        to.write_all(name.as_bytes())?;
    }
    to.write_all(&(names.len() as u64).to_le_bytes())?;
    for array in arrays {
        let array = array?;
        let tensor = array.borrow();
        let dtype = tensor.dtype();
        let code = KINDS.iter().find(|(_, kind)| *kind == dtype.kind).map(|(code, _)| *code);
        let code = code.ok_or_else(|| io::Error::other(format!("an array is of {dtype}")))?;
        to.write_all(&ARRAY_MAGIC.to_le_bytes())?;
        to.write_all(&0u64.to_le_bytes())?;
        // The first device of the kind CPU.
        to.write_all(&1u32.to_le_bytes())?;
        to.write_all(&0u32.to_le_bytes())?;
        to.write_all(&(tensor.shape().len() as u32).to_le_bytes())?;
        to.write_all(&[code, dtype.bits])?;
        to.write_all(&dtype.lanes.to_le_bytes())?;
        for &size in tensor.shape() {
            to.write_all(&(size as u64).to_le_bytes())?;
        }
        to.write_all(&(tensor.bytes() as u64).to_le_bytes())?;
        tensor.write_le(|bytes| to.write_all(bytes))?;
    }
    to.flush()
}

/// Writes one array as a `.npy` file, with the data types of [`write_npz`].
///
/// # Errors
/// It cannot be written.
pub fn write_npy(out: &mut impl Write, tensor: &Tensor) -> io::Result<()> {
    let code = match tensor {
        Tensor::Bool(_) => "|b1",
        Tensor::I8(_) => "|i1",
        Tensor::I16(_) => "<i2",
        Tensor::I32(_) => "<i4",
        Tensor::I64(_) => "<i8",
        Tensor::U8(_) => "|u1",
        Tensor::U16(_) => "<u2",
        Tensor::U32(_) => "<u4",
        Tensor::U64(_) => "<u8",
        Tensor::F16(_) => "<f2",
        Tensor::BF16(_) => "<V2",
        Tensor::F32(_) => "<f4",
        Tensor::F64(_) => "<f8",
    };
    let sizes: Vec<String> = tensor.shape().iter().map(|size| format!("{size},")).collect();
    let mut header =
        format!("{{'descr': '{code}', 'fortran_order': False, 'shape': ({}), }}", sizes.join(" "));
    // The header with its prefix and a line break has a multiple of 64 bytes.
    const BEFORE: usize = 10;
    let length = (BEFORE + header.len() + 1).next_multiple_of(64) - BEFORE;
    header.extend(std::iter::repeat_n(' ', length - 1 - header.len()));
    header.push('\n');
    let length = u16::try_from(length).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidInput, "the array has too many axes for a file")
    })?;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    tensor.write_le(|bytes| out.write_all(bytes))
}
