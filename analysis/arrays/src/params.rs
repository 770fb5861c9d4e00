//! `.params`: parameters of networks as TVM saves them with `save_param_dict`.
//!
//! A list of names, then the arrays in the same order. Each array declares the size of its elements in
//! bytes, so that arrays that are not requested can be skipped.

use types::{DataType, ElementKind};

use crate::{
    Array, BUFFER, CancellableReader, Error, Layout, MAX_ARRAYS, MAX_AXES, MAX_NAMES, ReaderAt,
    Source, bytes_of,
};

/// The magic number before the list of names.
pub(crate) const LIST_MAGIC: u64 = 0xF7E5_8D4F_0504_9CB7;
/// The magic number before each array.
pub(crate) const ARRAY_MAGIC: u64 = 0xDD5E_40F0_96B4_A13F;

/// The codes of the kinds of elements.
pub(crate) const KINDS: [(u8, ElementKind); 4] = [
    (0, ElementKind::Int),
    (1, ElementKind::UInt),
    (2, ElementKind::Float),
    (4, ElementKind::BFloat),
];

/// The place of an array in a file, and its type.
pub(crate) struct Entry {
    /// The range of the elements in the file.
    from: u64,
    bytes: u64,
    /// The data type; `None` if it is not supported.
    dtype: Option<DataType>,
    shape: Vec<usize>,
}

/// Returns true if a file that begins with these bytes is a list of parameters.
pub(crate) fn begins(head: &[u8]) -> bool {
    head == LIST_MAGIC.to_le_bytes()
}

/// Reads the names, and the place of the array of each.
pub(crate) fn entries<R: ReaderAt>(source: &Source<R>) -> Result<(Vec<String>, Vec<Entry>), Error> {
    let mut from = Cursor { source, at: 0 };
    if from.u64().ok() != Some(LIST_MAGIC) {
        return Err(Error("it does not begin like the output of `save_param_dict`".to_owned()));
    }
    from.u64()?;
    let count = from.count(8)?;
    let mut remaining = MAX_NAMES;
    let mut names = Vec::new();
    for _ in 0..count {
        let length = from.count(1)?;
        remaining = remaining.checked_sub(length).ok_or_else(|| {
            Error(format!("the names of its arrays have more than {MAX_NAMES} bytes"))
        })?;
        let mut name = vec![0; length];
        from.bytes(&mut name)?;
        let name = String::from_utf8(name).map_err(|_| Error("a name is not UTF-8".to_owned()))?;
        names.push(name);
    }
    let arrays = from.u64()?;
    if arrays != count as u64 {
        return Err(Error(format!("it has {count} names and {arrays} arrays")));
    }
    let entry = |name: &String| entry(&mut from).map_err(|error| error.of(name));
    let entries = names.iter().map(entry).collect::<Result<Vec<Entry>, Error>>()?;
    Ok((names, entries))
}

fn entry<R: ReaderAt>(from: &mut Cursor<'_, R>) -> Result<Entry, Error> {
    if from.u64()? != ARRAY_MAGIC {
        return Err(Error("an array is missing".to_owned()));
    }
    // Reserved, then the device.
    from.u64()?;
    from.u64()?;
    let [rank, code] = [from.u32()?, from.u32()?];
    let rank = usize::try_from(rank).unwrap_or(usize::MAX);
    if rank > MAX_AXES {
        return Err(Error(format!("the array has {rank} axes, more than {MAX_AXES}")));
    }
    let [code, bits, low, high] = code.to_le_bytes();
    let kind = KINDS.iter().find(|(known, _)| *known == code).map(|(_, kind)| *kind);
    let dtype = kind.map(|kind| DataType { kind, bits, lanes: u16::from_le_bytes([low, high]) });
    let mut shape = Vec::with_capacity(rank);
    for _ in 0..rank {
        let size = from.u64()?;
        let is_size = usize::try_from(size).ok().filter(|&size| isize::try_from(size).is_ok());
        shape.push(is_size.ok_or_else(|| Error(format!("the size {size} is invalid")))?);
    }
    let bytes = from.u64()?;
    let at = from.at;
    from.pass(bytes)?;
    Ok(Entry { from: at, bytes, dtype, shape })
}

impl Entry {
    /// Returns the array, whose elements are read from the source on demand.
    pub(crate) fn array<'s, R: ReaderAt>(
        &self,
        reader: &'s CancellableReader<R>,
    ) -> Result<Array<'s>, Error> {
        let dtype = self.dtype.ok_or_else(|| Error("its data type is not supported".to_owned()))?;
        let shape = self.shape.clone();
        if bytes_of(dtype, &shape)? != self.bytes {
            return Err(Error(format!(
                "{} bytes are not a {dtype} array of shape {shape:?}",
                self.bytes
            )));
        }
        // The range is inside the file.
        let range = self.from..self.from + self.bytes;
        let from =
            std::io::BufReader::with_capacity(BUFFER, rawzip::RangeReader::new(reader, range));
        Ok(Array {
            name: "",
            dtype,
            shape,
            layout: Layout::default(),
            from: Box::new(from),
            end: None,
        })
    }
}

/// A place in a source.
struct Cursor<'s, R> {
    source: &'s Source<R>,
    at: u64,
}

impl<R: ReaderAt> Cursor<'_, R> {
    fn left(&self) -> u64 {
        self.source.length.saturating_sub(self.at)
    }

    fn pass(&mut self, count: u64) -> Result<(), Error> {
        if count > self.left() {
            return Err(Error::short());
        }
        self.at += count;
        Ok(())
    }

    fn bytes(&mut self, to: &mut [u8]) -> Result<(), Error> {
        let from = self.at;
        self.pass(to.len() as u64)?;
        Ok(self.source.reader.read_exact_at(to, from)?)
    }

    fn u64(&mut self) -> Result<u64, Error> {
        let mut bytes = [0; 8];
        self.bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn u32(&mut self) -> Result<u32, Error> {
        let mut bytes = [0; 4];
        self.bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Reads the number of entries that follow, each of which takes at least `width` bytes.
    fn count(&mut self, width: u64) -> Result<usize, Error> {
        let count = self.u64()?;
        if count.checked_mul(width).is_none_or(|bytes| bytes > self.left()) {
            return Err(Error::short());
        }
        if width > 1 && count > MAX_ARRAYS as u64 {
            return Err(Error(format!("it has {count} arrays, more than {MAX_ARRAYS}")));
        }
        usize::try_from(count).map_err(|_| Error::short())
    }
}
