//! Files of several named arrays.

use std::io::{self, BufReader, Read};

use flate2::{CrcReader, bufread::DeflateDecoder};
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder};

use crate::{
    Array, BUFFER, CancellableReader, Error, MAX_ARRAYS, MAX_NAMES, ReaderAt, Source,
    npy::{self, Rest},
    params,
};

/// The distance from the end of an archive within which its directory is searched: that of the longest
/// longest comment.
const MAX_COMMENT: u64 = (1 << 16) + 22;
/// The largest compression ratio of `DEFLATE`.
const MAX_RATIO: u64 = 1032;

/// A file of several arrays.
pub struct Archive<R> {
    names: Vec<String>,
    arrays: Arrays<R>,
}

enum Arrays<R> {
    Npz(ZipArchive<CancellableReader<R>>, u64, Vec<Entry>),
    Params(Source<R>, Vec<params::Entry>),
}

/// An entry in the directory of an archive.
struct Entry {
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    crc: u32,
    encrypted: bool,
    /// True for a link.
    link: bool,
}

impl<R: ReaderAt> Archive<R> {
    /// Reads the directory of a `.npz` archive or of a `.params` file. The content decides, and not the
    /// name: whatever writes a file, anything that reads arrays by name takes it.
    ///
    /// # Errors
    /// The file has neither format, or is damaged.
    pub fn open(source: Source<R>) -> Result<Archive<R>, Error> {
        let mut head = [0; 8];
        let read = source.reader.read_at(&mut head, 0)?;
        if params::begins(&head[..read]) {
            return Archive::params(source);
        }
        let is_zip = head.starts_with(b"PK");
        // Other bytes may precede an archive.
        Archive::npz(source).map_err(|error| match is_zip {
            true => error,
            false => Error(format!(
                "it is no `.npz` archive, and contains no parameters of TVM: {error}"
            )),
        })
    }

    /// Reads the directory of a `.npz` archive.
    ///
    /// # Errors
    /// The bytes are not an archive, or the archive is damaged.
    pub fn npz(source: Source<R>) -> Result<Archive<R>, Error> {
        let mut buffer = vec![0u8; rawzip::MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let Source { reader, length } = source;
        let archive = ZipArchive::with_max_search_space(MAX_COMMENT)
            .locate_in_reader(reader, &mut buffer, length)
            .map_err(|(_, error)| broken(error))?;
        let mut left = MAX_NAMES;
        let (mut names, mut arrays) = (Vec::new(), Vec::new());
        let mut found = 0u64;
        let mut entries = archive.entries(&mut buffer);
        while let Some(entry) = entries.next_entry().map_err(broken)? {
            interpreter::poll();
            found += 1;
            let path = entry.file_path();
            let Some(name) = path.as_bytes().strip_suffix(b".npy") else { continue };
            left = left
                .checked_sub(name.len())
                .filter(|_| arrays.len() < MAX_ARRAYS)
                .ok_or_else(|| Error(format!("it has more than {MAX_ARRAYS} arrays")))?;
            names.push(String::from_utf8_lossy(name).into_owned());
            arrays.push(Entry {
                place: entry.wayfinder(),
                method: entry.compression_method(),
                crc: entry.crc32(),
                encrypted: entry.flags().is_encrypted(),
                link: entry.mode().is_symlink(),
            });
        }
        if found != archive.entries_hint() {
            return Err(Error("its directory is damaged".to_owned()));
        }
        Ok(Archive { names, arrays: Arrays::Npz(archive, length, arrays) })
    }

    /// Reads the directory of a `.params` file.
    ///
    /// # Errors
    /// The file has another format, or is damaged.
    pub fn params(source: Source<R>) -> Result<Archive<R>, Error> {
        let (names, entries) = params::entries(&source)
            .map_err(|error| Error(format!("it contains no parameters of TVM: {error}")))?;
        Ok(Archive { names, arrays: Arrays::Params(source, entries) })
    }

    /// Returns the names of the arrays, in the order of the file. Of several equal names Python uses the
    /// last.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads the description of the array at `position`.
    ///
    /// # Errors
    /// The array does not exist, is damaged, or declares more elements than it has.
    pub fn array(&self, position: usize) -> Result<Array<'_>, Error> {
        let name = self.names.get(position).map_or("", String::as_str);
        let none = || Error(format!("there are {} arrays", self.names.len()));
        let array = match &self.arrays {
            Arrays::Npz(archive, length, entries) => {
                entries.get(position).ok_or_else(none)?.array(archive, *length)
            }
            Arrays::Params(source, entries) => {
                entries.get(position).ok_or_else(none)?.array(&source.reader)
            }
        };
        let mut array = array.map_err(|error| error.of(name))?;
        array.name = name;
        Ok(array)
    }
}

impl Entry {
    fn array<'s, R: ReaderAt>(
        &self,
        archive: &'s ZipArchive<CancellableReader<R>>,
        length: u64,
    ) -> Result<Array<'s>, Error> {
        let (packed, size) =
            (self.place.compressed_size_hint(), self.place.uncompressed_size_hint());
        if self.encrypted {
            return Err(Error("it is encrypted".to_owned()));
        }
        if self.link {
            return Err(Error("it is a link, not an array".to_owned()));
        }
        let stored = match self.method {
            CompressionMethod::STORE => true,
            CompressionMethod::DEFLATE => false,
            other => {
                let message = "`numpy.savez` and `numpy.savez_compressed` use other methods";
                return Err(Error(format!(
                    "it is compressed by method {}: {message}",
                    other.as_u16()
                )));
            }
        };
        let entry = archive.get_entry(self.place).map_err(broken)?;
        if entry.compressed_data_range().1 > length {
            return Err(Error::short());
        }
        let most = if stored { packed } else { packed.saturating_mul(MAX_RATIO) };
        if size > most || stored && size != packed {
            return Err(Error(format!(
                "it declares {size} bytes, but has only {packed} compressed ones"
            )));
        }
        let packed = BufReader::with_capacity(BUFFER, entry.reader());
        let from: Box<dyn Read + 's> =
            if stored { Box::new(packed) } else { Box::new(DeflateDecoder::new(packed)) };
        let mut array =
            npy::array(ChecksumReader(CrcReader::new(from), self.crc), size, Rest::Nothing)?;
        array.end = Some(Box::new(move |from| {
            // The last byte has been read; the next call checks the checksum.
            match from.read(&mut [0])? {
                0 => Ok(()),
                _ => Err(Error(format!("it contains more than the declared {size} bytes"))),
            }
        }));
        Ok(array)
    }
}

/// A reader that verifies the checksum at the end.
struct ChecksumReader<R>(CrcReader<R>, u32);

impl<R: Read> Read for ChecksumReader<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(to)?;
        if count == 0 && !to.is_empty() && self.0.crc().sum() != self.1 {
            let message = "its checksum is wrong";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(count)
    }
}

/// Converts an error of an archive.
fn broken(error: rawzip::Error) -> Error {
    match error.into_kind() {
        rawzip::ErrorKind::IO(error) => error.into(),
        rawzip::ErrorKind::Eof => Error::short(),
        rawzip::ErrorKind::MissingEndOfCentralDirectory => {
            Error("this is not an archive of arrays, or it is truncated".to_owned())
        }
        other => Error(format!("the archive is damaged: {other}")),
    }
}
