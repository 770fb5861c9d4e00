//! Arrays in the formats of numpy: `.npy` holds one, `.npz` is an archive of several.

use std::{
    fs::File,
    io::{BufReader, BufWriter, Read, Seek, Write},
    path::Path,
};

use interpreter::Tensor;
use types::DataType;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The most bytes that are read of one array.
const MAX_BYTES: u64 = 1 << 36;

/// Reads a `.npy` file.
///
/// # Errors
/// What is wrong with the file.
pub(crate) fn read_npy(path: &Path) -> Result<Tensor, String> {
    let file = File::open(path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
    read(BufReader::new(file)).map_err(|error| format!("`{}`: {error}", path.display()))
}

/// Reads every array of a `.npz` file, by name.
///
/// # Errors
/// What is wrong with the file.
pub(crate) fn read_npz(path: &Path) -> Result<Vec<(String, Tensor)>, String> {
    let fail = |error: &dyn std::fmt::Display| format!("`{}`: {error}", path.display());
    let file = File::open(path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(|e| fail(&e))?;
    let mut arrays = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        interpreter::poll();
        let entry = archive.by_index(index).map_err(|e| fail(&e))?;
        let name = entry.name().to_owned();
        let Some(name) = name.strip_suffix(".npy") else { continue };
        let tensor = read(entry).map_err(|error| fail(&format!("{name}: {error}")))?;
        arrays.push((name.to_owned(), tensor));
    }
    Ok(arrays)
}

/// Bytes that are read before the run may end.
const STEP: u64 = 1 << 20;
/// Room that is made at once for what a file says it holds: it may hold less.
const ROOM: u64 = 1 << 30;

/// Up to `most` bytes; ends early, as [`interpreter::poll`] does, where they are not wanted any
/// more.
///
/// # Errors
/// They cannot be read.
pub(super) fn contents(mut from: impl Read, most: u64) -> std::io::Result<Vec<u8>> {
    let mut data = Vec::new();
    // Where there is not as much, what is there may still do.
    let _ = data.try_reserve_exact(usize::try_from(most.min(ROOM)).unwrap_or(0));
    let mut left = most;
    while left > 0 {
        interpreter::poll();
        let read = from.by_ref().take(left.min(STEP)).read_to_end(&mut data)? as u64;
        if read == 0 {
            break;
        }
        left -= read;
    }
    Ok(data)
}

/// Reads one array.
pub(crate) fn read(mut from: impl Read) -> Result<Tensor, String> {
    let short = |_| "the file ends too soon".to_owned();
    let mut start = [0u8; 8];
    from.read_exact(&mut start).map_err(short)?;
    if !start.starts_with(MAGIC) {
        return Err("this is no array of numpy".into());
    }
    if !(1..=3).contains(&start[6]) {
        return Err(format!("version {} of the format of numpy is not known", start[6]));
    }
    let length = if start[6] == 1 {
        let mut bytes = [0u8; 2];
        from.read_exact(&mut bytes).map_err(short)?;
        u32::from(u16::from_le_bytes(bytes))
    } else {
        let mut bytes = [0u8; 4];
        from.read_exact(&mut bytes).map_err(short)?;
        u32::from_le_bytes(bytes)
    };
    let mut header = Vec::new();
    from.by_ref().take(length.into()).read_to_end(&mut header).map_err(|e| e.to_string())?;
    let header = String::from_utf8(header).map_err(|_| "the header is no text".to_owned())?;
    let descr = field(&header, "'descr'").ok_or("the header has no data type")?;
    if descr.starts_with('[') {
        return Err("arrays of records, with a field for each column, are not read: save one \
                    column, as in `np.save(\"x.npy\", table[\"x\"])`"
            .into());
    }
    let descr = descr.trim_start_matches(['\'', '"']);
    let descr = descr.split(['\'', '"']).next().unwrap_or_default();
    let (dtype, swapped) = data_type(descr).ok_or_else(|| unread(descr))?;
    let fortran = field(&header, "'fortran_order'").is_some_and(|text| text.starts_with("True"));
    let shape = field(&header, "'shape'").and_then(shape).ok_or("the header has no shape")?;
    let count = shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size as u64));
    let bytes = count.and_then(|count| count.checked_mul(dtype.bytes()));
    let bytes = bytes.filter(|&bytes| bytes <= MAX_BYTES).ok_or("the array is too large")?;
    let mut data = contents(from, bytes).map_err(|error| error.to_string())?;
    let width = dtype.bytes() as usize;
    if swapped {
        for part in data.chunks_mut(width * SWAPPED) {
            interpreter::poll();
            part.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
    }
    if fortran && shape.len() > 1 {
        data = row_major(&data, &shape, width);
    }
    Tensor::from_le_bytes(dtype, &shape, &data).ok_or_else(|| "the file ends too soon".into())
}

/// Elements that are put in order before the run may end.
const SWAPPED: usize = 1 << 16;

/// Why arrays of a type are not read.
fn unread(descr: &str) -> String {
    let kind = descr.trim_start_matches(['<', '>', '|', '=']);
    let what = match kind.chars().next() {
        Some('c') => "complex numbers",
        Some('O') => "Python objects",
        Some('S' | 'U' | 'a') => "texts",
        Some('M' | 'm') => "times",
        _ => {
            return format!("arrays of the type `{descr}` are not read: Relay has no such numbers");
        }
    };
    format!("arrays of {what} (`{descr}`) are not read: Relay has none")
}

/// What stands behind a key of the header, which is a dictionary of Python.
fn field<'t>(header: &'t str, key: &str) -> Option<&'t str> {
    let rest = &header[header.find(key)? + key.len()..];
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

/// `(2, 3), }`
fn shape(text: &str) -> Option<Vec<usize>> {
    let inner = text.strip_prefix('(')?.split(')').next()?;
    let sizes = inner.split(',').map(str::trim).filter(|size| !size.is_empty());
    sizes.map(|size| size.trim_end_matches('L').parse().ok()).collect()
}

/// `<f4`: the data type, and whether its bytes stand the other way round.
fn data_type(text: &str) -> Option<(DataType, bool)> {
    let (order, code) = match text.as_bytes().first()? {
        b'<' | b'>' | b'|' | b'=' => text.split_at(1),
        _ => ("=", text),
    };
    let dtype = match code {
        "b1" | "?" => DataType::BOOL,
        "i1" => DataType::INT8,
        "i2" => DataType::INT16,
        "i4" => DataType::INT32,
        "i8" => DataType::INT64,
        "u1" => DataType::UINT8,
        "u2" => DataType::UINT16,
        "u4" => DataType::UINT32,
        "u8" => DataType::UINT64,
        "f2" => DataType::FLOAT16,
        "f4" => DataType::FLOAT32,
        "f8" => DataType::FLOAT64,
        // As extensions of numpy save it.
        "V2" | "bfloat16" => DataType::BFLOAT16,
        _ => return None,
    };
    Some((dtype, order == ">"))
}

/// Elements with the first axis fastest, put in the order with the last axis fastest.
fn row_major(data: &[u8], shape: &[usize], width: usize) -> Vec<u8> {
    let mut strides = vec![width; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let mut out = Vec::with_capacity(data.len());
    let mut index = vec![0usize; shape.len()];
    for number in 0..data.len() / width.max(1) {
        if number % SWAPPED == 0 {
            interpreter::poll();
        }
        let at: usize = index.iter().zip(&strides).map(|(i, stride)| i * stride).sum();
        out.extend_from_slice(data.get(at..at + width).unwrap_or_default());
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    out
}

/// Writes arrays into an archive.
///
/// # Errors
/// What went wrong with the file.
pub(crate) fn write_npz<'t>(
    path: &Path,
    arrays: impl Iterator<Item = (String, &'t Tensor)>,
) -> std::io::Result<()> {
    let mut archive = zip::ZipWriter::new(BufWriter::new(File::create(path)?));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Stored)
        .large_file(true);
    for (name, tensor) in arrays {
        archive.start_file(format!("{name}.npy"), options)?;
        write(&mut archive, tensor)?;
    }
    archive.finish()?.flush()
}

fn write<W: Write + Seek>(out: &mut zip::ZipWriter<W>, tensor: &Tensor) -> std::io::Result<()> {
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
        // numpy has no brain floating point; single precision holds every value.
        Tensor::BF16(_) | Tensor::F32(_) => "<f4",
        Tensor::F64(_) => "<f8",
    };
    let sizes: Vec<String> = tensor.shape().iter().map(|size| format!("{size},")).collect();
    let mut header =
        format!("{{'descr': '{code}', 'fortran_order': False, 'shape': ({}), }}", sizes.join(" "));
    let length = (MAGIC.len() + 4 + header.len() + 1).next_multiple_of(64) - MAGIC.len() - 4;
    header.extend(std::iter::repeat_n(' ', length - 1 - header.len()));
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    out.write_all(&bytes(tensor))
}

/// The elements as little-endian bytes.
fn bytes(tensor: &Tensor) -> Vec<u8> {
    macro_rules! all {
        ($array:expr) => {
            $array.iter().flat_map(|x| x.to_le_bytes()).collect()
        };
    }
    match tensor {
        Tensor::Bool(array) => array.iter().map(|&x| u8::from(x)).collect(),
        Tensor::I8(array) => all!(array),
        Tensor::I16(array) => all!(array),
        Tensor::I32(array) => all!(array),
        Tensor::I64(array) => all!(array),
        Tensor::U8(array) => all!(array),
        Tensor::U16(array) => all!(array),
        Tensor::U32(array) => all!(array),
        Tensor::U64(array) => all!(array),
        Tensor::F16(array) => all!(array),
        Tensor::BF16(array) => array.iter().flat_map(|x| x.to_f32().to_le_bytes()).collect(),
        Tensor::F32(array) => all!(array),
        Tensor::F64(array) => all!(array),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    use super::*;

    #[test]
    fn headers() {
        assert_eq!(shape("(), }"), Some(vec![]));
        assert_eq!(shape("(3,), }"), Some(vec![3]));
        assert_eq!(shape("(2, 3), }"), Some(vec![2, 3]));
        assert_eq!(data_type(">f4"), Some((DataType::FLOAT32, true)));
        assert_eq!(data_type("|b1"), Some((DataType::BOOL, false)));
        assert_eq!(data_type("<c8"), None);
    }

    #[test]
    fn columns_first() {
        let bytes: Vec<u8> = vec![1, 4, 2, 5, 3, 6];
        assert_eq!(row_major(&bytes, &[2, 3], 1), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn files_that_nobody_waits_for() {
        let flag = Arc::new(AtomicBool::new(false));
        // It never ends, and is never the end of the file.
        struct Endless(Arc<AtomicBool>, usize);
        impl Read for Endless {
            fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
                self.1 += to.len();
                if self.1 > 8 << 20 {
                    self.0.store(true, Ordering::Relaxed);
                }
                to.fill(1);
                Ok(to.len())
            }
        }
        let header = b"\x93NUMPY\x01\x00\x42\x00{'descr': '<f4', 'fortran_order': False, 'shape': (5999999999,), }";
        let file = header.chain(Endless(flag.clone(), 0));
        let read = interpreter::while_wanted(&flag, || read(file));
        assert!(read.is_err_and(|fault| fault.kind == interpreter::FaultKind::Cancelled));
        // What says that it is larger than it is has no more than that.
        assert_eq!(contents(&b"abc"[..], MAX_BYTES).expect("bytes"), b"abc");
        assert_eq!(contents(&b"abc"[..], 2).expect("bytes"), b"ab");
    }

    #[test]
    fn broken_files() {
        assert!(read(&b""[..]).is_err());
        assert!(read(&b"\x93NUMPY\x01\x00\x05\x00{'de"[..]).is_err());
        let huge = b"\x93NUMPY\x01\x00\x47\x00{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999)}";
        assert!(read(&huge[..]).is_err());
    }
}
