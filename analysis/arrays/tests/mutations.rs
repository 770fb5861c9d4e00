//! Tests of random mutations of files of arrays: reading terminates quickly without a panic, within the
//! memory limit of the run.

use std::{
    alloc::System,
    sync::Arc,
    time::{Duration, Instant},
};

use arrays::{Archive, Array, Source, write_npz};
use cap::Cap;
use fastrand::Rng;
use flate2::{Compression, write::DeflateEncoder};
use interpreter::{Limits, Tensor, Watch};
use types::DataType;

/// The memory limit of the run.
const MEMORY: u64 = 4 << 20;
/// The memory limit of the process: that of the run plus the memory of the tests. An infallible allocation
/// above this aborts the process.
const PROCESS: usize = 32 << 20;
/// The number of files of each kind.
const ROUNDS: usize = 20_000;
/// The time limit for each file, even on a busy machine.
const LATE: Duration = Duration::from_secs(120);

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, PROCESS);

/// Values for sizes, lengths and positions.
const NUMBERS: &[u64] = &[
    0,
    1,
    2,
    0x7F,
    0xFF,
    0x7FFF,
    0xFFFF,
    1 << 20,
    1 << 22,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
    1 << 32,
    1 << 40,
    1 << 61,
    1 << 62,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// Text to insert into headers.
const WORDS: &[&str] = &[
    "(0, 4611686018427387904)",
    "(9223372036854775807,)",
    "(-1,)",
    "(,)",
    "(1, (2, 3))",
    "'fortran_order': True",
    "'descr': '>f8'",
    "'<c16'",
    "'|O'",
    "'<V2'",
    "'|b1'",
    "99999999999999999999999999",
    "'shape': (4194304,)",
    "'shape': (1048577,)",
    "{",
    "}",
    "'",
];

fn mutated(rng: &mut Rng, file: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    for _ in 0..rng.usize(1..5) {
        let at = rng.usize(0..=file.len());
        match rng.usize(0..9) {
            0 if at < file.len() => file[at] ^= 1 << rng.u32(0..8),
            1 if at < file.len() => file[at] = rng.u8(..),
            // Replace a number of some width.
            2 | 3 => {
                let width = [1, 2, 4, 8][rng.usize(0..4)];
                let number = NUMBERS[rng.usize(0..NUMBERS.len())].to_le_bytes();
                let end = file.len().min(at + width);
                file[at..end].copy_from_slice(&number[..end - at]);
            }
            4 => file.truncate(at),
            5 => {
                let word = WORDS[rng.usize(0..WORDS.len())];
                let end = file.len().min(at + rng.usize(0..=word.len()));
                file.splice(at..end, word.bytes());
            }
            // Copy a part to another place.
            6 => {
                let end = file.len().min(at + rng.usize(0..200));
                let part = file[at..end].to_vec();
                let to = rng.usize(0..=file.len());
                file.splice(to..to, part);
            }
            7 => {
                let end = file.len().min(at + rng.usize(0..50));
                file.drain(at..end);
            }
            _ => file.splice(at..at, (0..rng.usize(0..20)).map(|_| 0)).for_each(drop),
        }
    }
    file
}

/// Reads all readable arrays of a file and returns their number.
fn everything(open: impl FnOnce() -> Result<Archive<Vec<u8>>, arrays::Error>) -> usize {
    let Ok(archive) = open() else { return 0 };
    let read = |at| archive.array(at).and_then(Array::read).is_ok();
    (0..archive.names().len().min(1000)).filter(|&at| read(at)).count()
}

/// Reads changed files. Fails if too few of them, or too many, can be read.
fn survive(file: &[u8], seed: u64, read: impl Fn(Vec<u8>) -> usize) {
    assert!(read(file.to_vec()) > 0, "the file itself can be read");
    let mut rng = Rng::with_seed(seed);
    let (mut arrays, mut faults) = (0, 0);
    let before = ALLOCATOR.allocated();
    for round in 0..ROUNDS {
        let changed = mutated(&mut rng, file);
        let limits = Limits {
            memory: Some(MEMORY),
            time: Some(Duration::from_secs(10)),
            ..Limits::default()
        };
        let watch = Watch::new(&limits, Arc::default());
        let begin = Instant::now();
        match watch.within(|| read(changed)) {
            Ok(count) => arrays += count,
            Err(_) => faults += 1,
        }
        assert!(begin.elapsed() < LATE, "round {round} takes {:?}", begin.elapsed());
    }
    // No memory is leaked.
    assert!(ALLOCATOR.allocated() < before + (1 << 20));
    // Some mutated files remain readable.
    assert!(arrays > ROUNDS / 50 && faults < ROUNDS / 2, "{arrays} arrays, {faults} faults");
}

fn tensors() -> Vec<(String, Tensor)> {
    let of = |name: &str, dtype, shape: &[usize]| {
        let count = shape.iter().product::<usize>() as i64;
        let tensor = Tensor::from_i64s(dtype, shape, (0..count).collect());
        (name.to_owned(), tensor.expect("a tensor"))
    };
    vec![
        of("x", DataType::FLOAT32, &[2, 3]),
        of("weight", DataType::INT8, &[40]),
        of("i0", DataType::BFLOAT16, &[3, 1, 2]),
        of("empty", DataType::FLOAT64, &[0, 5]),
    ]
}

fn npy() -> Vec<u8> {
    let mut npz = Vec::new();
    let tensors = tensors();
    let first = tensors.iter().take(1).map(|(name, tensor)| (name.clone(), tensor));
    write_npz(&mut npz, first.map(Ok)).expect("it is written");
    // The entry is not compressed.
    let start = npz.windows(6).position(|bytes| bytes == b"\x93NUMPY").expect("an array");
    npz[start..start + 128 + 24].to_vec()
}

fn npz(packed: bool) -> Vec<u8> {
    let mut out = rawzip::ZipArchiveWriter::new(Vec::new());
    for name in ["x.npy", "y.npy", "z.npy"] {
        let method = match packed {
            true => rawzip::CompressionMethod::DEFLATE,
            false => rawzip::CompressionMethod::STORE,
        };
        let file = out.new_file(name).compression_method(method);
        let (mut entry, config) = file.start().expect("an entry");
        let descriptor = if packed {
            let encoder = DeflateEncoder::new(&mut entry, Compression::default());
            let mut writer = config.wrap(encoder);
            std::io::copy(&mut &npy()[..], &mut writer).expect("it is written");
            let (encoder, descriptor) = writer.finish().expect("it is written");
            encoder.finish().expect("it is written");
            descriptor
        } else {
            let mut writer = config.wrap(&mut entry);
            std::io::copy(&mut &npy()[..], &mut writer).expect("it is written");
            writer.finish().expect("it is written").1
        };
        entry.finish(descriptor).expect("it is written");
    }
    out.finish().expect("it is written")
}

fn params() -> Vec<u8> {
    let tensors = tensors();
    let mut file = Vec::new();
    let number = |file: &mut Vec<u8>, number: u64| file.extend(number.to_le_bytes());
    for n in [0xF7E5_8D4F_0504_9CB7, 0, tensors.len() as u64] {
        number(&mut file, n);
    }
    for (name, _) in &tensors {
        number(&mut file, name.len() as u64);
        file.extend(name.as_bytes());
    }
    number(&mut file, tensors.len() as u64);
    for (_, tensor) in &tensors {
        for n in [0xDD5E_40F0_96B4_A13F, 0, 1] {
            number(&mut file, n);
        }
        file.extend((tensor.rank() as u32).to_le_bytes());
        let dtype = tensor.dtype();
        let kind = match dtype {
            dtype if dtype.is_bfloat() => 4,
            dtype if dtype.is_float() => 2,
            _ => 0,
        };
        file.extend([kind, dtype.bits, 1, 0]);
        tensor.shape().iter().for_each(|&size| number(&mut file, size as u64));
        number(&mut file, tensor.bytes() as u64);
        let put = |bytes: &[u8]| -> Result<(), std::convert::Infallible> {
            file.extend(bytes);
            Ok(())
        };
        tensor.write_le(put).unwrap_or_else(|never| match never {});
    }
    file
}

/// One test, because the allocator is that of the whole process.
#[test]
fn mutated_files_are_rejected_or_read_within_limits() {
    let one = |file: Vec<u8>| {
        usize::from(Source::of_bytes(&file[..]).npy().and_then(Array::read).is_ok())
    };
    survive(&npy(), 1, one);
    survive(&npz(false), 2, |file| everything(|| Archive::npz(Source::of_bytes(file))));
    survive(&npz(true), 3, |file| everything(|| Archive::npz(Source::of_bytes(file))));
    survive(&params(), 4, |file| everything(|| Archive::params(Source::of_bytes(file))));
    // The allocator has one limit for the process.
    let all = std::panic::catch_unwind(|| {
        let mut all: Vec<u8> = Vec::new();
        all.try_reserve_exact(PROCESS).is_err()
    });
    assert!(matches!(all, Ok(true)));
}
