//! Reading the file of a module.

use std::{fmt, io};

use rayon::prelude::*;

use crate::{
    file::{FileText, ModuleFile},
    outline::{Outline, Outliner},
    section::Section,
    split::{HEAD, MARKER, SplitError, first_section, split},
    store::Weights,
};

/// The size of a block that a thread reads, in bytes: it stays in the cache until it has been examined.
const BLOCK: usize = 1 << 20;
/// The number of blocks that are read at once by each thread.
const AT_ONCE: usize = 2;
/// The largest code of a file in bytes, which is read into memory.
const MAX_CODE: usize = 1 << 30;

/// A module in a file: its code, and its section without the texts of its tensors.
#[derive(Debug)]
pub struct Module {
    /// The text before the section.
    pub code: String,
    /// The section, scanned; empty if there is none.
    pub section: Section,
    /// The text of the section without its tensors.
    pub outline: Outline<'static>,
    /// The text of the section in the file.
    pub text: FileText,
}

/// The reason that a file cannot be read as a module.
#[derive(Debug)]
pub enum ReadError {
    /// It cannot be read, or changed meanwhile.
    Io(io::Error),
    /// It is not one module.
    Split(SplitError),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => error.fmt(f),
            ReadError::Split(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::Io(error)
    }
}

impl From<SplitError> for ReadError {
    fn from(error: SplitError) -> ReadError {
        ReadError::Split(error)
    }
}

impl Module {
    /// Reads a file once, on all threads. The tensors of the section are not kept in memory.
    ///
    /// # Errors
    /// It cannot be read or changes meanwhile, is not UTF-8 or too large, or contains several modules.
    pub fn read(file: ModuleFile) -> Result<Module, ReadError> {
        let length = file.stamp().length;
        if u32::try_from(length).is_err() {
            return Err(SplitError::TooLarge.into());
        }
        let (mut code, start) = code_of(&file)?;
        let mut outliner = Outliner::default();
        let read = code.split_off(start.unwrap_or(code.len()));
        let at = code.len() as u64 + read.len() as u64;
        outliner.add(&read, read.is_ascii());
        if start.is_some() {
            outline_from(&file, at, &mut outliner)?;
        }
        // An earlier byte of the code is the first that is not UTF-8.
        let code = String::from_utf8(code)
            .map_err(|error| SplitError::NotText(error.utf8_error().valid_up_to()))?;
        let outline = outliner.finish().map_err(|at| SplitError::NotText(code.len() + at))?;
        file.check_unchanged()?;
        let section = match outline.text().is_empty() {
            true => Section::default(),
            false => Section::of_outline(&outline),
        };
        // A section with one valid JSON text contains no other module.
        if section.error().is_some() && syntax::next_module(outline.text().as_bytes()).is_some() {
            return Err(SplitError::Several.into());
        }
        let text = FileText::new(file, code.len() as u64);
        Ok(Module { code, section, outline, text })
    }

    /// Returns the code, and the weights if there is a section.
    pub fn into_parts(self) -> (String, Option<Weights>) {
        let has_section = !self.outline.text().is_empty();
        let weights = has_section.then(|| Weights::of_file(self.section, self.text));
        (self.code, weights)
    }
}

/// Reads the start of a file up to its section. Returns what was read, and the offset of the section in it
/// if there is one.
fn code_of(file: &ModuleFile) -> Result<(Vec<u8>, Option<usize>), ReadError> {
    let length = usize::try_from(file.stamp().length).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    // The offset before which there is no marker; `None` if the first one is in a comment or a string.
    let mut search = Some(0);
    while bytes.len() < length {
        let from = bytes.len();
        if from >= MAX_CODE {
            return Err(SplitError::TooLarge.into());
        }
        // Doubled, so that searching again costs no more than reading.
        let until = length.min(from.saturating_mul(2).max(BLOCK / 4));
        bytes.try_reserve_exact(until - from).map_err(io::Error::from)?;
        bytes.resize(until, 0);
        file.read_exact_at(&mut bytes[from..], from as u64)?;
        let Some(start) = search else { continue };
        search = match memchr::memmem::find(&bytes[start..], MARKER) {
            Some(at) if start + at + HEAD <= until || until == length => {
                if let Some(at) = first_section(&bytes) {
                    return Ok((bytes, Some(at)));
                }
                None
            }
            Some(at) => Some(start + at),
            // The marker may be across both parts.
            None => Some(until.saturating_sub(MARKER.len())),
        };
    }
    let start = split(&bytes)?.code.len();
    Ok((bytes, (start < length).then_some(start)))
}

/// A part of a file.
struct Block {
    bytes: Vec<u8>,
    is_ascii: bool,
    /// True if it contains a quote or a backslash.
    is_marked: bool,
}

/// Adds the blocks of a file from an offset on to an outline.
fn outline_from(file: &ModuleFile, from: u64, outliner: &mut Outliner) -> io::Result<()> {
    let count = AT_ONCE * rayon::current_num_threads().clamp(1, 16);
    let block = || Block { bytes: Vec::new(), is_ascii: true, is_marked: true };
    let mut blocks: Vec<Block> = std::iter::repeat_with(block).take(count).collect();
    let length = file.stamp().length;
    let mut at = from;
    while at < length {
        let part_of = |number: usize| {
            let start = length.min(at + (number * BLOCK) as u64);
            (start, (length - start).min(BLOCK as u64) as usize)
        };
        blocks.par_iter_mut().enumerate().try_for_each(|(number, block)| {
            let (start, size) = part_of(number);
            block.bytes.resize(size, 0);
            file.read_exact_at(&mut block.bytes, start)?;
            block.is_ascii = block.bytes.is_ascii();
            block.is_marked = memchr::memchr2(b'"', b'\\', &block.bytes).is_some();
            Ok::<(), io::Error>(())
        })?;
        for block in &blocks {
            match block.is_ascii && !block.is_marked && outliner.skips() {
                true => outliner.skip(block.bytes.len()),
                false => outliner.add(&block.bytes, block.is_ascii),
            }
        }
        at += (count * BLOCK) as u64;
    }
    Ok(())
}
