//! Files of arrays, as numpy and TVM write them, and folders to put them in.

use std::{
    fs::File,
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use crate::command::fresh_folder;

/// A temporary folder for one test.
pub struct Temporary(pub PathBuf);

impl Temporary {
    /// Creates an empty folder.
    pub fn new(name: &str) -> Temporary {
        // Resolved, so that paths can be compared.
        Temporary(fresh_folder(name).canonicalize().expect("a folder"))
    }

    /// Writes a file, and returns its path.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // A failure only leaves temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns a file of one array, as written by `numpy.save`.
pub fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

/// Returns a file of parameters in single precision, as written by TVM's `save_param_dict`, from names,
/// shapes and elements.
pub fn params(arrays: &[(&str, &[u64], &[u8])]) -> Vec<u8> {
    let mut file = params_head(&arrays.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
    for (_, shape, data) in arrays {
        file.extend(array_head(shape, data.len() as u64));
        file.extend(*data);
    }
    file
}

fn numbers(numbers: &[u64]) -> impl Iterator<Item = u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes())
}

fn params_head(names: &[&str]) -> Vec<u8> {
    let count = names.len() as u64;
    let mut file: Vec<u8> = numbers(&[0xF7E5_8D4F_0504_9CB7, 0, count]).collect();
    for name in names {
        file.extend(numbers(&[name.len() as u64]));
        file.extend(name.as_bytes());
    }
    file.extend(numbers(&[count]));
    file
}

fn array_head(shape: &[u64], bytes: u64) -> Vec<u8> {
    // The device, then the number of axes, then the data type.
    let mut head: Vec<u8> = numbers(&[0xDD5E_40F0_96B4_A13F, 0, 1]).collect();
    head.extend((shape.len() as u32).to_le_bytes());
    head.extend([2u8, 32, 1, 0]);
    head.extend(numbers(shape));
    head.extend(numbers(&[bytes]));
    head
}

/// Returns an archive with uncompressed entries, as written by `numpy.savez`. The checksums are wrong;
/// they are verified after an entry has been read.
pub fn unchecked_npz(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut directory = Vec::new();
    for (name, data) in entries {
        let entry = Entry { name, size: data.len() as u32, at: file.len() as u32 };
        file.extend(entry.local());
        file.extend(*data);
        directory.extend(entry.central());
    }
    let end = end(entries.len() as u16, &directory, file.len() as u32);
    [file, directory, end].concat()
}

struct Entry<'n> {
    name: &'n str,
    size: u32,
    at: u32,
}

impl Entry<'_> {
    /// The common fields of both headers: versions, flags, method, time, checksum, sizes, length of the name.
    fn common(&self) -> Vec<u8> {
        let size = self.size.to_le_bytes();
        let length = (self.name.len() as u16).to_le_bytes();
        [&[20, 0, 0, 0, 0, 0, 0, 0, 33, 0, 0, 0, 0, 0][..], &size, &size, &length, &[0, 0]].concat()
    }

    fn local(&self) -> Vec<u8> {
        [b"PK\x03\x04", &self.common()[..], self.name.as_bytes()].concat()
    }

    fn central(&self) -> Vec<u8> {
        let rest = [&[0; 10][..], &self.at.to_le_bytes()].concat();
        [b"PK\x01\x02\x14\x00", &self.common()[..], &rest, self.name.as_bytes()].concat()
    }
}

fn end(count: u16, directory: &[u8], at: u32) -> Vec<u8> {
    let count = count.to_le_bytes();
    let (size, at) = ((directory.len() as u32).to_le_bytes(), at.to_le_bytes());
    [b"PK\x05\x06\0\0\0\0", &count[..], &count, &size, &at, &[0, 0]].concat()
}

/// Creates sparse files of `count` zeros in single precision, named `x`: `.npy`, `.npz`, `.params`.
pub fn sparse(folder: &Path, count: usize) -> (PathBuf, PathBuf, PathBuf) {
    let bytes = 4 * count as u64;
    let array = npy("<f4", &format!("({count},)"), &[]);
    let size = u32::try_from(array.len() as u64 + bytes).expect("less than four gigabytes");
    let entry = Entry { name: "x.npy", size, at: 0 };
    let tail =
        [entry.central(), end(1, &entry.central(), entry.local().len() as u32 + size)].concat();
    let head = [params_head(&["x"]), array_head(&[count as u64], bytes)].concat();
    let write = |name: &str, head: &[u8], tail: &[u8]| {
        let path = folder.join(name);
        let mut file = File::create(&path).expect("a file");
        file.write_all(head).expect("its beginning");
        file.set_len(head.len() as u64 + bytes).expect("its length");
        file.seek(SeekFrom::End(0)).expect("its end");
        file.write_all(tail).expect("its end");
        path
    };
    let npz = [entry.local(), array.clone()].concat();
    (write("x.npy", &array, &[]), write("x.npz", &npz, &tail), write("x.params", &head, &[]))
}
