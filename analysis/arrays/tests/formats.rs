//! Tests of valid and invalid files of arrays.

use std::{io::Write, sync::Arc};

use arrays::{Archive, Array, Error, Source, write_npz};
use flate2::{Compression, write::DeflateEncoder};
use interpreter::{FaultKind, Limits, Tensor, Watch};
use types::DataType;

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

fn read(file: &[u8]) -> Result<Tensor, Error> {
    Source::of_bytes(file).npy().and_then(Array::read)
}

fn refused(file: &[u8], why: &str) {
    let error = read(file).expect_err(why).to_string();
    assert!(error.contains(why), "{error}");
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Creates an archive with entries that are compressed as by numpy; `lie` changes the size in the
/// directory.
fn zip(entries: &[(&str, &[u8])], packed: bool, lie: impl Fn(u64) -> u64) -> Vec<u8> {
    let mut out = rawzip::ZipArchiveWriter::new(Vec::new());
    for (name, data) in entries {
        let method = match packed {
            true => rawzip::CompressionMethod::DEFLATE,
            false => rawzip::CompressionMethod::STORE,
        };
        let (mut entry, _) =
            out.new_file(*name).compression_method(method).start().expect("an entry");
        let mut crc = flate2::Crc::new();
        crc.update(data);
        if packed {
            let mut encoder = DeflateEncoder::new(&mut entry, Compression::default());
            encoder.write_all(data).expect("it is written");
            encoder.finish().expect("it is written");
        } else {
            entry.write_all(data).expect("it is written");
        }
        let size = lie(data.len() as u64);
        let descriptor = rawzip::DataDescriptorOutput::new(crc.sum(), size);
        entry.finish(descriptor).expect("it is written");
    }
    out.finish().expect("it is written")
}

fn one<'a>(archive: &'a Archive<&[u8]>, name: &str) -> Result<Array<'a>, Error> {
    let at = archive.names().iter().position(|known| known == name);
    archive.array(at.expect("there is such an array"))
}

fn of_npz(bytes: &[u8], name: &str) -> Result<Tensor, Error> {
    one(&Archive::npz(Source::of_bytes(bytes))?, name)?.read()
}

fn watch(memory: u64) -> Watch {
    Watch::new(&Limits { memory: Some(memory), ..Limits::default() }, Arc::default())
}

#[test]
fn written_arrays_are_read_back() {
    let number = |k: usize| (k % 2) as i64;
    for dtype in [
        DataType::BOOL,
        DataType::INT8,
        DataType::INT16,
        DataType::INT32,
        DataType::INT64,
        DataType::UINT8,
        DataType::UINT16,
        DataType::UINT32,
        DataType::UINT64,
        DataType::FLOAT16,
        DataType::BFLOAT16,
        DataType::FLOAT32,
        DataType::FLOAT64,
    ] {
        for shape in [&[][..], &[3], &[2, 0, 5], &[0, 1 << 62], &[40, 50, 30]] {
            let count = shape.iter().product();
            let numbers = (0..count).map(number).collect();
            let tensor = Tensor::from_i64s(dtype, shape, numbers).expect("a tensor");
            let mut file = Vec::new();
            let named = [("a".to_owned(), &tensor), ("b".to_owned(), &tensor)];
            write_npz(&mut file, named.into_iter().map(Ok)).expect("it is written");
            let archive = Archive::npz(Source::of_bytes(&file[..])).expect("an archive");
            assert_eq!(archive.names(), ["a", "b"]);
            let array = one(&archive, "b").expect("an array");
            assert_eq!((array.dtype(), array.shape()), (dtype, shape));
            let read = array.read().expect("its elements");
            assert_eq!((read.ty(), read.to_f64s()), (tensor.ty(), tensor.to_f64s()));
        }
    }
}

#[test]
fn orders_of_axes_and_bytes() {
    let rows = [0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0];
    let file = npy("<f4", "(2, 3)", &floats(&[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]));
    let text = file.windows(5).position(|bytes| bytes == b"False").expect("the order");
    let mut columns = file.clone();
    columns[text..text + 5].copy_from_slice(b"True ");
    let tensor = read(&columns).expect("an array");
    assert_eq!(
        (tensor.shape(), tensor.to_f64s()),
        (&[2usize, 3][..], rows.map(f64::from).to_vec())
    );
    let big: Vec<u8> = rows.iter().flat_map(|x| x.to_be_bytes()).collect();
    assert_eq!(read(&npy(">f4", "(6,)", &big)).expect("an array").to_f64s(), rows.map(f64::from));
    // An empty array has every order.
    let huge = npy("<f8", "(4611686018427387904, 0)", &[]);
    let mut columns = huge.clone();
    columns[text..text + 5].copy_from_slice(b"True ");
    for file in [huge, columns] {
        assert_eq!(read(&file).expect("an array").shape(), [1 << 62, 0]);
    }
}

#[test]
fn headers_that_declare_more_than_follows_are_rejected() {
    refused(b"", "the file is truncated");
    refused(b"\x93NUMPY\x01\x00\x05\x00{'de", "the file is truncated");
    refused(b"PK\x03\x04 and more", "this is not a numpy array");
    refused(b"\x93NUMPY\x09\x00\x05\x00{'de'}", "version 9");
    refused(&npy("<f4", "(2,)", &[0; 7]), "declares 8 bytes of elements, but 7 follow");
    refused(&npy("<f4", "(1000000000000,)", &[0; 7]), "declares 4000000000000 bytes");
    refused(&npy("<f4", "(99999999999, 99999999999)", &[]), "is too large");
    refused(&npy("<f8", "(4611686018427387904,)", &[]), "is too large");
    refused(&npy("<f4", &format!("({})", "1, ".repeat(400)), &[0; 4]), "has 400 axes");
    // A header of four gigabytes, in a file of that length and in a shorter one.
    let long = b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': ";
    refused(long, "the file is truncated");
    struct Long;
    impl arrays::ReaderAt for Long {
        fn read_at(&self, to: &mut [u8], offset: u64) -> std::io::Result<usize> {
            let start = b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': ";
            for (to, at) in to.iter_mut().zip(offset..) {
                *to = start.get(at as usize).copied().unwrap_or(b' ');
            }
            Ok(to.len())
        }
    }
    let error = Source::new(Long, 5 << 30).npy().err().expect("it is refused").to_string();
    assert!(error.contains("its header has 4294967295 bytes"), "{error}");
    // Another array follows.
    let two = [npy("<f4", "(1,)", &floats(&[1.0])), npy("<f4", "(1,)", &floats(&[2.0]))].concat();
    assert_eq!(read(&two).expect("the first").to_f64s(), [1.0]);
}

#[test]
fn entries_match_the_directory() {
    let array = npy("<f4", "(2,)", &floats(&[1.0, -2.0]));
    let zeros = npy("<f4", "(1000000,)", &[0; 4_000_000]);
    for packed in [false, true] {
        let file = zip(&[("x.npy", &array), ("y.npy", &zeros), ("z.txt", b"text")], packed, |n| n);
        let archive = Archive::npz(Source::of_bytes(&file[..])).expect("an archive");
        assert_eq!(archive.names(), ["x", "y"]);
        assert_eq!(of_npz(&file, "x").expect("an array").to_f64s(), [1.0, -2.0]);
        // Zeros compress well, and are not a bomb.
        assert_eq!(of_npz(&file, "y").expect("an array").len(), 1_000_000);
        let refused = |file: &[u8], why: &str| {
            let error = of_npz(file, "x").expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        };
        // It contains less, and more, than the directory declares.
        let more = if packed { "declares" } else { "compressed" };
        let less = zip(&[("x.npy", &array)], packed, |n| n - 4);
        refused(&less, more);
        let much = zip(&[("x.npy", &array)], packed, |n| n + 4);
        refused(&much, if packed { "4 bytes follow the array" } else { "compressed" });
        refused(&zip(&[("x.npy", &array)], packed, |_| u64::MAX / 2), "compressed");
        // A header that declares missing elements.
        let hollow = npy("<f4", "(1000000000,)", &[0; 7]);
        refused(&zip(&[("x.npy", &hollow)], packed, |n| n), "declares 4000000000 bytes");
        // The header matches the directory; the compressed data are longer, or shorter.
        let bomb = [&npy("<f4", "(2,)", &[])[..], &[0; 1 << 20]].concat();
        let short = array.len() as u64;
        if packed {
            refused(&zip(&[("x.npy", &bomb)], packed, |_| short), "contains more than the");
            let padded = npy("<f4", "(100,)", &[0; 300]);
            refused(&zip(&[("x.npy", &padded)], packed, |n| n + 100), "the file is truncated");
        }
        // A byte of the elements is changed.
        let mut damaged = zip(&[("x.npy", &array)], packed, |n| n);
        let at = damaged.windows(4).rposition(|bytes| bytes == b"PK\x07\x08").expect("an end");
        damaged[at - 1] ^= 1;
        let error = of_npz(&damaged, "x").expect_err("it is damaged").to_string();
        assert!(error.starts_with("`x`: "), "{error}");
        // The end of the archive is missing.
        for end in [0, 1, file.len() / 2, file.len() - 1] {
            assert!(Archive::npz(Source::of_bytes(&file[..end])).is_err());
        }
    }
}

#[test]
fn sizes_count_towards_the_memory_limit() {
    let zeros = npy("<f4", "(1000000,)", &[0; 4_000_000]);
    let file = zip(&[("x.npy", &zeros)], true, |n| n);
    assert!(file.len() < 20_000);
    let read = |memory| watch(memory).within(|| of_npz(&file, "x"));
    assert!(read(4_000_000).is_ok_and(|read| read.is_ok()));
    assert!(read(3_999_999).is_err_and(|fault| fault.kind == FaultKind::Memory));
    let read = |memory| watch(memory).within(|| self::read(&zeros));
    assert!(read(4_000_000).is_ok_and(|read| read.is_ok()));
    assert!(read(3_999_999).is_err_and(|fault| fault.kind == FaultKind::Memory));
}

/// Reading stops in the middle of an array when the run is cancelled.
#[test]
fn reading_is_cancelled_with_the_run() {
    struct Stopping(Arc<std::sync::atomic::AtomicBool>);
    impl arrays::ReaderAt for Stopping {
        fn read_at(&self, to: &mut [u8], offset: u64) -> std::io::Result<usize> {
            let start = npy("<f4", "(1000000000,)", &[]);
            for (to, at) in to.iter_mut().zip(offset..) {
                *to = start.get(at as usize).copied().unwrap_or_default();
            }
            if offset > 8 << 20 {
                self.0.store(true, std::sync::atomic::Ordering::Relaxed);
            }
            Ok(to.len())
        }
    }
    let flag = Arc::default();
    let watch = Watch::new(&Limits::default(), Arc::clone(&flag));
    let source = Source::new(Stopping(flag), 5 << 30);
    let fault = watch.within(|| source.npy().and_then(Array::read)).expect_err("it is stopped");
    assert_eq!(fault.kind, FaultKind::Cancelled);
}

/// Name, data type, shape and elements.
type Param<'a> = (&'a str, [u8; 4], &'a [u64], &'a [u8]);

/// Creates a file of parameters.
fn params(arrays: &[Param<'_>]) -> Vec<u8> {
    let mut file = Vec::new();
    for number in [0xF7E5_8D4F_0504_9CB7u64, 0, arrays.len() as u64] {
        file.extend(number.to_le_bytes());
    }
    for (name, ..) in arrays {
        file.extend((name.len() as u64).to_le_bytes());
        file.extend(name.as_bytes());
    }
    file.extend((arrays.len() as u64).to_le_bytes());
    for (_, dtype, shape, data) in arrays {
        file.extend([0xDD5E_40F0_96B4_A13F_u64, 0, 1].iter().flat_map(|n| n.to_le_bytes()));
        file.extend((shape.len() as u32).to_le_bytes());
        file.extend(dtype);
        file.extend(shape.iter().flat_map(|size| size.to_le_bytes()));
        file.extend((data.len() as u64).to_le_bytes());
        file.extend(*data);
    }
    file
}

const FLOAT: [u8; 4] = [2, 32, 1, 0];

#[test]
fn parameters_of_tvm() {
    let (w, b) = (floats(&[1.5, -2.0]), [1u8, 0, 1]);
    let file = params(&[("w", FLOAT, &[2, 1], &w), ("b", [1, 1, 1, 0], &[3], &b)]);
    let archive = Archive::params(Source::of_bytes(&file[..])).expect("parameters");
    assert_eq!(archive.names(), ["w", "b"]);
    let w = one(&archive, "w").and_then(Array::read).expect("an array");
    assert_eq!((w.shape(), w.to_f64s()), (&[2usize, 1][..], vec![1.5, -2.0]));
    let b = one(&archive, "b").and_then(Array::read).expect("an array");
    assert_eq!((b.dtype(), b.to_f64s()), (DataType::BOOL, vec![1.0, 0.0, 1.0]));
    for end in 0..file.len() {
        assert!(Archive::params(Source::of_bytes(&file[..end])).is_err(), "{end}");
    }
    // Arrays that are not requested may have any data type.
    let odd = params(&[("w", FLOAT, &[1], &floats(&[7.0])), ("v", [2, 32, 4, 0], &[9], &[0; 3])]);
    let archive = Archive::params(Source::of_bytes(&odd[..])).expect("parameters");
    assert_eq!(one(&archive, "w").and_then(Array::read).expect("an array").to_f64s(), [7.0]);
    let told = one(&archive, "v").err().expect("vectors are not read").to_string();
    assert_eq!(told, "`v`: arrays of float32x4 are not supported");
}

#[test]
fn invalid_parameters_are_rejected() {
    let refused = |file: &[u8], why: &str| {
        let archive = Archive::params(Source::of_bytes(file));
        let read = archive.and_then(|archive| archive.array(0)?.read());
        let error = read.expect_err(why).to_string();
        assert!(error.contains(why), "{error}");
    };
    refused(b"nothing", "it does not begin like the output of `save_param_dict`");
    let good = params(&[("w", FLOAT, &[1], &floats(&[1.0]))]);
    let with = |at: usize, number: u64| {
        let mut file = good.clone();
        file[at..at + 8].copy_from_slice(&number.to_le_bytes());
        file
    };
    // Names, the length of a name, arrays, and bytes: each much larger than the file.
    refused(&with(16, u64::MAX), "the file is truncated");
    refused(&with(16, 1 << 40), "the file is truncated");
    refused(&with(24, 1 << 40), "the file is truncated");
    refused(&with(33, 1 << 40), "1 names and 1099511627776 arrays");
    refused(&with(good.len() - 12, 1 << 40), "the file is truncated");
    refused(&with(good.len() - 20, u64::MAX), "is invalid");
    refused(&with(good.len() - 20, 1 << 62), "is too large");
    refused(&with(good.len() - 20, 2), "4 bytes are not a float32 array of shape [2]");
    let mut rank = good.clone();
    let at = good.len() - 28;
    rank[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    refused(&rank, "has 4294967295 axes");
    let mut many = good;
    many.extend(vec![0; 16 << 20]);
    many[16..24].copy_from_slice(&(1u64 << 21).to_le_bytes());
    refused(&many, "it has 2097152 arrays, more than 1048576");
}
