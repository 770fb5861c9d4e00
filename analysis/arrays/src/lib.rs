//! Files of arrays: `.npy`, `.npz` and `.params`.
//!
//! Files are untrusted: a header that declares more bytes than follow is rejected before memory is
//! allocated for them, and an entry of an archive yields at most the bytes in its directory.
//! Allocations are fallible, and count towards the memory limit of the thread's run; see
//! [`interpreter::Watch::within`]. The time limit is checked for each piece that is read.
//!
//! Only requested arrays are read. The type of an array is available before its elements, so that an
//! array of another type need not be read.
//!
//! The crate deliberately does not open files. Bytes come from a [`Source`], which is a file or a slice.

mod archive;
mod npy;
mod params;
mod write;

use std::{
    fmt,
    io::{self, Read as _},
};

use interpreter::Tensor;
use types::{DataType, Dim, Type};

pub use archive::Archive;
pub use rawzip::{FileReader, ReaderAt};
pub use write::{write_npy, write_npz, write_params};

/// The largest number of axes of an array; numpy allows 64.
const MAX_AXES: usize = 256;
/// The maximum number of arrays in a file.
const MAX_ARRAYS: usize = 1 << 20;
/// The maximum size of the names of all arrays of a file, in bytes.
const MAX_NAMES: usize = 64 << 20;

/// A reader with random access, and its length.
pub struct Source<R> {
    reader: CancellableReader<R>,
    length: u64,
}

impl<R: ReaderAt> Source<R> {
    /// Creates a source from the first `length` bytes of a reader.
    pub fn new(reader: R, length: u64) -> Source<R> {
        Source { reader: CancellableReader(reader), length }
    }

    /// Creates a source from all bytes of a slice.
    pub fn of_bytes(bytes: R) -> Source<R>
    where
        R: AsRef<[u8]>,
    {
        let length = bytes.as_ref().len() as u64;
        Source::new(bytes, length)
    }

    /// Reads a text of at most `limit` bytes.
    ///
    /// # Errors
    /// It is longer, is not UTF-8, or cannot be read.
    pub fn text(&self, limit: u64) -> Result<String, Error> {
        if self.length > limit {
            return Err(Error(format!("it has more than {limit} bytes")));
        }
        let mut text = String::new();
        rawzip::RangeReader::new(&self.reader, 0..self.length).read_to_string(&mut text)?;
        Ok(text)
    }

    /// Reads the description of the array in a `.npy` file. Like numpy, it ignores bytes after the
    /// array.
    ///
    /// # Errors
    /// The bytes are not a numpy array, or fewer than the header declares.
    pub fn npy(&self) -> Result<Array<'_>, Error> {
        let from = rawzip::RangeReader::new(&self.reader, 0..self.length);
        npy::array(io::BufReader::with_capacity(BUFFER, from), self.length, npy::Rest::Ignored)
    }
}

/// The number of bytes that are read at once.
const BUFFER: usize = 1 << 16;

/// A reader that checks for cancellation before each read, including those by other crates.
struct CancellableReader<R>(R);

impl<R: ReaderAt> ReaderAt for CancellableReader<R> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        interpreter::poll();
        self.0.read_at(buf, offset)
    }
}

/// An array whose description has been read.
pub struct Array<'s> {
    /// The name; empty for the only array of a file.
    name: &'s str,
    dtype: DataType,
    shape: Vec<usize>,
    layout: Layout,
    from: Box<dyn io::Read + 's>,
    /// A check after the elements, of the bytes that must follow.
    end: Option<End<'s>>,
}

type End<'s> = Box<dyn FnOnce(&mut dyn io::Read) -> Result<(), Error> + 's>;

/// The layout of the elements of an array in a file.
#[derive(Clone, Copy, Default)]
struct Layout {
    /// True if the most significant byte is the first.
    big_endian: bool,
    /// True for column-major order.
    columns_first: bool,
}

impl Array<'_> {
    /// Returns the data type of the elements.
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Returns the sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the type.
    pub fn ty(&self) -> Type {
        Type::tensor(self.shape.iter().map(|&size| Dim::known(size as i64)), self.dtype)
    }

    /// Reads the elements.
    ///
    /// # Errors
    /// They cannot be read, or their checksum is wrong.
    pub fn read(self) -> Result<Tensor, Error> {
        let name = self.name;
        self.elements().map_err(|error| if name.is_empty() { error } else { error.of(name) })
    }

    /// Returns true if the elements equal `data`, which is little-endian and row-major. Reading stops at
    /// the first piece that differs.
    ///
    /// # Errors
    /// The elements cannot be read.
    pub fn is_equal_to(mut self, data: &[u8]) -> Result<bool, Error> {
        if self.layout.columns_first {
            let tensor = self.read()?;
            let mut rest = data;
            let compared = tensor.write_le(|part| {
                let (now, later) = rest.split_at_checked(part.len()).ok_or(())?;
                rest = later;
                if now == part { Ok(()) } else { Err(()) }
            });
            return Ok(compared.is_ok() && rest.is_empty());
        }
        if bytes_of(self.dtype, &self.shape)? != data.len() as u64 {
            return Ok(false);
        }
        let mut buffer = [0; 4096];
        for part in data.chunks(buffer.len()) {
            let read = &mut buffer[..part.len()];
            self.next(read)?;
            if read != part {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads the next elements as little-endian bytes.
    fn next(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.from.read_exact(bytes)?;
        if self.layout.big_endian {
            bytes.chunks_exact_mut(self.dtype.bytes() as usize).for_each(<[u8]>::reverse);
        }
        Ok(())
    }

    fn elements(mut self) -> Result<Tensor, Error> {
        let columns_first = self.layout.columns_first;
        let mut shape = self.shape.clone();
        if columns_first {
            shape.reverse();
        }
        let tensor = Tensor::read_le(self.dtype, &shape, |bytes| self.next(bytes))?;
        let Some(tensor) = tensor else { return Err(no_arrays(self.dtype)) };
        if let Some(end) = self.end {
            end(&mut self.from)?;
        }
        Ok(if columns_first { tensor.transposed() } else { tensor })
    }
}

/// Returns the number of bytes of an array.
///
/// # Errors
/// It overflows, or arrays of the data type are not supported.
fn bytes_of(dtype: DataType, shape: &[usize]) -> Result<u64, Error> {
    if shape.len() > MAX_AXES {
        return Err(Error(format!("the array has {} axes, more than {MAX_AXES}", shape.len())));
    }
    if Tensor::zeros(dtype, &[]).is_none() {
        return Err(no_arrays(dtype));
    }
    let count = interpreter::count_of(shape).map(|count| count as u64);
    let bytes = count.and_then(|count| count.checked_mul(dtype.bytes()));
    bytes.ok_or_else(|| Error(format!("an array of shape {shape:?} is too large")))
}

fn no_arrays(dtype: DataType) -> Error {
    Error(format!("arrays of {dtype} are not supported"))
}

/// The reason that an array cannot be read: a sentence that follows the name of the file and a colon.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(String);

impl Error {
    /// Returns the error of a truncated file.
    fn short() -> Error {
        Error("the file is truncated".to_owned())
    }

    /// Adds the name of an array to the error.
    fn of(self, name: &str) -> Error {
        Error(format!("`{name}`: {}", self.0))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::short(),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Error(format!("it is damaged: {error}"))
            }
            _ => Error(error.to_string()),
        }
    }
}
