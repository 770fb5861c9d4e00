//! Seeds of inputs: the texts of this repository, and small files of arrays.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::PathBuf,
};

use flate2::{Compression, write::DeflateEncoder};

use crate::{
    arrays::{npy, params},
    corpus, generators, mdtest, operator_calls,
};

pub(super) mod saved;

/// The form of inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A text.
    Text,
    /// A text, and edits of the form `position length replacement`, each after the byte 1.
    Edits,
    /// A file of one array.
    Npy,
    /// An archive of arrays.
    Npz,
    /// A file of parameters.
    Params,
    /// A module as `tvm.ir.save_json` writes it, or the plan of a compiled module.
    Json,
    /// An archive of a saved model, or of the model library format.
    Archive,
    /// The choices of a generator, two bytes each; see [`calls`](fn@super::calls).
    Choices,
    /// Messages to the server; see [`session`](fn@super::session).
    Session,
}

/// Texts and files to mutate.
pub struct Seeds {
    /// At least one text, the shortest first.
    pub texts: Vec<String>,
    npy: Vec<Vec<u8>>,
    npz: Vec<Vec<u8>>,
    params: Vec<Vec<u8>>,
    json: Vec<Vec<u8>>,
    archives: Vec<Vec<u8>>,
}

/// The maximal length of a seed.
const MAX_SEED: usize = 3000;

impl Seeds {
    /// Returns the texts of the examples and of the markdown tests, generated texts of a few repetitions,
    /// and earlier failures.
    pub fn of_repository() -> Seeds {
        operator_calls::read_seeds();
        let mut texts = BTreeSet::new();
        texts.extend(corpus::examples().into_iter().map(|(_, text)| text));
        for folder in ["mdtest/language", "mdtest/operators", "mdtest/pasted", "mdtest/releases"] {
            for (_, page) in mdtest::pages(&corpus::here().join(folder)) {
                texts.extend(mdtest::blocks(&page).into_iter().map(|block| block.text));
            }
        }
        for generator in generators::all() {
            texts.extend([1, 2, 4].map(|n| (generator.text)(n)));
        }
        texts.extend(failures("text").into_iter().map(|(_, text)| text));
        texts.retain(|text| text.len() <= MAX_SEED);
        let mut texts: Vec<String> = texts.into_iter().collect();
        texts.sort_by_key(String::len);
        let (npy, npz, params) = (one_array(), archives(), parameters());
        Seeds { texts, npy, npz, params, json: saved::json(), archives: saved::archives() }
    }

    /// Returns the same, but for the texts, which are those of `tests/fuzz/seeds.txt`: a text that is added to the
    /// repository changes no input, and one that is changed or removed only the inputs that were derived from it.
    ///
    /// # Panics
    /// The list cannot be read, or a tenth of its texts has changed.
    pub fn of_list() -> Seeds {
        let seeds = Seeds::of_repository();
        if std::env::var_os("RELAY_WRITE").is_some() {
            let list = seeds.texts.iter().fold(String::new(), |mut list, text| {
                let _ = writeln!(list, "{}", digest(text));
                list
            });
            std::fs::write(list_path(), list).expect("the list is written");
        }
        let list = std::fs::read_to_string(list_path()).expect("the list of seeds");
        let known: BTreeMap<String, String> =
            seeds.texts.into_iter().map(|text| (digest(&text).to_string(), text)).collect();
        // A missing text is replaced by the one before it.
        let mut texts: Vec<String> = Vec::new();
        let mut missing = 0;
        for line in list.lines() {
            missing += usize::from(!known.contains_key(line));
            texts.extend(known.get(line).or(texts.last()).cloned());
        }
        assert!(
            missing * 10 <= texts.len(),
            "{missing} texts of tests/fuzz/seeds.txt have changed: run this test with RELAY_WRITE=1"
        );
        Seeds { texts, ..seeds }
    }

    /// Returns the files of a kind; none for other kinds.
    pub(super) fn files(&self, kind: Kind) -> &[Vec<u8>] {
        match kind {
            Kind::Npy => &self.npy,
            Kind::Npz => &self.npz,
            Kind::Params => &self.params,
            Kind::Json => &self.json,
            Kind::Archive => &self.archives,
            Kind::Text | Kind::Edits | Kind::Choices | Kind::Session => &[],
        }
    }
}

/// The digests of the texts of [`Seeds::of_list`], a line each, the shortest text first.
fn list_path() -> PathBuf {
    corpus::here().join("fuzz/seeds.txt")
}

/// Returns the 64 bits of FNV-1a, which are the same everywhere.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Returns inputs on which a target has failed: the files in `tests/fuzz/regressions/<folder>`.
pub fn failures(folder: &str) -> Vec<(String, String)> {
    corpus::files(&corpus::here().join("fuzz/regressions").join(folder), &[""])
}

fn one_array() -> Vec<Vec<u8>> {
    let bytes: Vec<u8> = (0..64).collect();
    [
        ("<f4", "(2, 3)", 24),
        ("<f8", "()", 8),
        ("|b1", "(5,)", 5),
        ("<i8", "(0, 3)", 0),
        (">i2", "(1, 2, 2)", 8),
        ("<V2", "(4,)", 8),
        ("|u1", "(2, 2)", 4),
        ("<f2", "(3,)", 6),
    ]
    .into_iter()
    .map(|(descr, shape, length)| npy(descr, shape, &bytes[..length]))
    .collect()
}

fn archives() -> Vec<Vec<u8>> {
    let arrays = one_array();
    let of = |packed: bool, count: usize| -> Vec<u8> {
        let mut out = rawzip::ZipArchiveWriter::new(Vec::new());
        for (number, array) in arrays.iter().take(count).enumerate() {
            let method = if packed {
                rawzip::CompressionMethod::DEFLATE
            } else {
                rawzip::CompressionMethod::STORE
            };
            let name = format!("x{number}.npy");
            let file = out.new_file(&name).compression_method(method);
            let (mut entry, config) = file.start().expect("an entry in memory");
            let descriptor = if packed {
                let mut writer =
                    config.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
                std::io::copy(&mut &array[..], &mut writer).expect("memory takes it");
                let (encoder, descriptor) = writer.finish().expect("memory takes it");
                encoder.finish().expect("memory takes it");
                descriptor
            } else {
                let mut writer = config.wrap(&mut entry);
                std::io::copy(&mut &array[..], &mut writer).expect("memory takes it");
                writer.finish().expect("memory takes it").1
            };
            entry.finish(descriptor).expect("memory takes it");
        }
        out.finish().expect("memory takes it")
    };
    vec![of(false, 0), of(false, 1), of(false, 3), of(true, 1), of(true, 3)]
}

fn parameters() -> Vec<Vec<u8>> {
    let bytes: Vec<u8> = (0..64).collect();
    vec![
        params(&[]),
        params(&[("x", &[2, 3], &bytes[..24])]),
        params(&[("a", &[], &bytes[..4]), ("weight", &[4], &bytes[..16]), ("e", &[0], &[])]),
    ]
}
