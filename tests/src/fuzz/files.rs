//! Fuzz targets of readers of arrays: reading terminates quickly within the memory limit of a run, and
//! survives a round trip through writing.

use std::{sync::Arc, time::Duration};

use arrays::{Archive, Array, Source, write_npz};
use interpreter::{Limits, Tensor, Watch};

/// The memory limit of the run that reads, in bytes.
const MEMORY: u64 = 4 << 20;
/// The largest number of arrays that are read from one file.
const MAX_READ: usize = 100;

fn limits() -> Limits {
    Limits { memory: Some(MEMORY), time: Some(Duration::from_secs(1)), ..Limits::default() }
}

/// Reads within the limits of a run; exceeding a limit is not a failure.
fn reading(read: impl FnOnce() -> Vec<(String, Tensor)>) {
    let watch = Watch::new(&limits(), Arc::default());
    let Ok(read) = watch.within(read) else { return };
    // An element takes at most eight bytes in memory for one byte in the file.
    let bytes: usize = read.iter().map(|(_, tensor)| tensor.bytes()).sum();
    assert!(bytes as u64 <= MEMORY * MAX_READ as u64, "{bytes} bytes are read");
    write_and_read(&read);
}

fn bytes_of(tensor: &Tensor) -> Vec<u8> {
    let mut bytes = Vec::new();
    let put = |piece: &[u8]| -> Result<(), std::convert::Infallible> {
        bytes.extend(piece);
        Ok(())
    };
    tensor.write_le(put).unwrap_or_else(|never| match never {});
    bytes
}

fn write_and_read(tensors: &[(String, Tensor)]) {
    // Names that are invalid as file names are not written.
    let numbered = tensors.iter().enumerate();
    let named = numbered.map(|(number, (_, tensor))| (format!("o{number}"), tensor));
    let mut file = Vec::new();
    // The format limits headers to 65,535 bytes: arrays with longer ones are rejected.
    if write_npz(&mut file, named.map(Ok)).is_err() {
        return;
    }
    let archive = Archive::npz(Source::of_bytes(file)).expect("what was written can be read");
    assert_eq!(archive.names().len(), tensors.len());
    for (number, (_, tensor)) in tensors.iter().enumerate() {
        let again = archive.array(number).and_then(Array::read).expect("an array that was written");
        assert_eq!((again.dtype(), again.shape()), (tensor.dtype(), tensor.shape()));
        assert!(bytes_of(&again) == bytes_of(tensor), "the elements differ");
    }
}

fn everything(archive: Result<Archive<&[u8]>, arrays::Error>) -> Vec<(String, Tensor)> {
    let archive = match archive {
        Ok(archive) => archive,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Vec::new();
        }
    };
    let count = archive.names().len().min(MAX_READ);
    let read = |at: usize| {
        let array = archive.array(at).ok()?;
        let (dtype, shape) = (array.dtype(), array.shape().to_vec());
        let tensor = array.read().ok()?;
        assert_eq!(
            (tensor.dtype(), tensor.shape()),
            (dtype, &shape[..]),
            "the head said otherwise"
        );
        Some((archive.names()[at].clone(), tensor))
    };
    let read = (0..count).filter_map(read).collect();
    assert!(archive.array(archive.names().len()).is_err());
    read
}

/// Reads a file of one array.
pub fn npy(input: &[u8]) {
    reading(|| {
        let source = Source::of_bytes(input);
        let tensor = source.npy().and_then(Array::read);
        tensor.map(|tensor| (String::new(), tensor)).into_iter().collect()
    });
}

/// Reads an archive of arrays.
pub fn npz(input: &[u8]) {
    reading(|| everything(Archive::npz(Source::of_bytes(input))));
}

/// Reads a file of parameters.
pub fn params(input: &[u8]) {
    reading(|| everything(Archive::params(Source::of_bytes(input))));
}
