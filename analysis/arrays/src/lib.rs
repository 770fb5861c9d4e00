//! Files of arrays: `.npy`, `.npz` and `.params`.
//!
//! Nothing that a file says of itself is believed before it is held against what the file holds:
//! a header that announces more bytes than follow it is refused before any memory is allocated for
//! them, and an entry of an archive gives no more bytes than its directory says. What is allocated is
//! tried, and held against the memory limit of the run that the thread works for; see
//! [`interpreter::Watch::within`]. So is the time, which is looked at for each piece that is read.
//!
//! Only the arrays that are asked for are read. The description of one is there before its elements:
//! who wants another shape or data type need not read them.
//!
//! Absent on purpose: opening files. Bytes come from a [`Source`], which is a file or a slice.

mod archive;
mod npy;
mod params;
mod write;

use std::{fmt, io};

use interpreter::Tensor;
use types::{DataType, Dim, Type};

pub use archive::Archive;
pub use rawzip::{FileReader, ReaderAt};
pub use write::{write_npy, write_npz};

/// The most axes that an array may have; numpy has 64.
const MOST_AXES: usize = 256;
/// The most arrays that a file may have.
const MOST_ARRAYS: usize = 1 << 20;
/// The most bytes that the names of all arrays of a file may have together.
const MOST_NAMES: usize = 64 << 20;

/// Bytes that can be read at any place, and how many there are.
pub struct Source<R> {
    reader: Polled<R>,
    length: u64,
}

impl<R: ReaderAt> Source<R> {
    /// The first `length` bytes of what a reader gives.
    pub fn new(reader: R, length: u64) -> Source<R> {
        Source { reader: Polled(reader), length }
    }

    /// All bytes of a slice.
    pub fn of_bytes(bytes: R) -> Source<R>
    where
        R: AsRef<[u8]>,
    {
        let length = bytes.as_ref().len() as u64;
        Source::new(bytes, length)
    }

    /// Reads the description of the array in a `.npy` file; what follows the array is not looked at,
    /// as numpy does it.
    ///
    /// # Errors
    /// The bytes are not a numpy array, or hold less than the header declares.
    pub fn npy(&self) -> Result<Array<'_>, Error> {
        let from = rawzip::RangeReader::new(&self.reader, 0..self.length);
        npy::array(io::BufReader::with_capacity(BUFFER, from), self.length, npy::Rest::Ignored)
    }
}

/// Bytes that are read from a source at once.
const BUFFER: usize = 1 << 16;

/// A reader that looks, before it reads, whether the run is to go on: also where another crate reads.
struct Polled<R>(R);

impl<R: ReaderAt> ReaderAt for Polled<R> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        interpreter::poll();
        self.0.read_at(buf, offset)
    }
}

/// An array whose description has been read.
pub struct Array<'s> {
    /// Empty where it is alone in its file.
    name: &'s str,
    dtype: DataType,
    shape: Vec<usize>,
    layout: Layout,
    from: Box<dyn io::Read + 's>,
    /// Called when the elements have been read: what must follow them, if anything.
    end: Option<End<'s>>,
}

type End<'s> = Box<dyn FnOnce(&mut dyn io::Read) -> Result<(), Error> + 's>;

/// The layout of the elements of an array in a file.
#[derive(Clone, Copy, Default)]
struct Layout {
    /// The most significant byte is the first.
    big_endian: bool,
    /// Neighbours along the first axis are neighbours in the file.
    columns_first: bool,
}

impl Array<'_> {
    /// The data type of the elements.
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// The sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The type, with every size.
    pub fn ty(&self) -> Type {
        Type::tensor(self.shape.iter().map(|&size| Dim::known(size as i64)), self.dtype)
    }

    /// Reads the elements.
    ///
    /// # Errors
    /// They cannot be read, or are not those that were written.
    pub fn read(self) -> Result<Tensor, Error> {
        let name = self.name;
        self.elements().map_err(|error| if name.is_empty() { error } else { error.of(name) })
    }

    /// Returns true if the elements are these: little-endian, the last axis first. Reads as far as the
    /// first piece that differs.
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

/// The bytes of an array.
///
/// # Errors
/// There are more than can be counted, or no arrays of the data type.
fn bytes_of(dtype: DataType, shape: &[usize]) -> Result<u64, Error> {
    if shape.len() > MOST_AXES {
        return Err(Error(format!("the array has {} axes, more than {MOST_AXES}", shape.len())));
    }
    if Tensor::zeros(dtype, &[]).is_none() {
        return Err(no_arrays(dtype));
    }
    let count = interpreter::count_of(shape).map(|count| count as u64);
    let bytes = count.and_then(|count| count.checked_mul(dtype.bytes()));
    bytes.ok_or_else(|| Error(format!("an array of shape {shape:?} is too large")))
}

fn no_arrays(dtype: DataType) -> Error {
    Error(format!("there are no arrays of {dtype} here"))
}

/// Why an array cannot be read: a sentence that follows the name of the file and a colon.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(String);

impl Error {
    /// The failure that a file is shorter than it says.
    fn short() -> Error {
        Error("the file ends too soon".to_owned())
    }

    /// The failure of one of several arrays.
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
