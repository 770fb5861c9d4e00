//! The tensors of a section, by entry.

use std::{
    borrow::Cow,
    hash::Hasher,
    io,
    ops::{ControlFlow, Range},
    sync::{Arc, OnceLock},
};

use rustc_hash::{FxHashMap, FxHasher};

use crate::{
    file::FileText,
    payload::Payload,
    section::{CONSTANT, Section},
};

/// A section with the text of its tensors.
#[derive(Debug)]
pub struct Weights {
    section: Section,
    text: Text,
    repeated: OnceLock<Vec<(u32, u32)>>,
}

#[derive(Debug)]
enum Text {
    Memory(Arc<str>),
    File(FileText),
}

impl Default for Weights {
    fn default() -> Weights {
        Weights::of_text("")
    }
}

impl PartialEq for Weights {
    fn eq(&self, other: &Weights) -> bool {
        // The section is computed from the text.
        match (&self.text, &other.text) {
            (Text::Memory(own), Text::Memory(other)) => Arc::ptr_eq(own, other) || own == other,
            (Text::File(own), Text::File(other)) => {
                let state = |text: &FileText| (text.file().stamp(), text.start());
                own.file().path() == other.file().path() && state(own) == state(other)
            }
            _ => false,
        }
    }
}

impl Eq for Weights {}

impl Weights {
    /// Scans a section in memory, which begins with `#[metadata]`.
    pub fn of_text(section: &str) -> Weights {
        let (section, text) = (Section::scan(section.as_bytes()), Text::Memory(section.into()));
        Weights { section, text, repeated: OnceLock::new() }
    }

    /// Creates the weights of a scanned section in a file.
    pub fn of_file(section: Section, text: FileText) -> Weights {
        Weights { section, text: Text::File(text), repeated: OnceLock::new() }
    }

    /// Returns the scanned section.
    pub fn section(&self) -> &Section {
        &self.section
    }

    /// Returns the file from which the tensors are read, unless they are in memory.
    pub fn file(&self) -> Option<&FileText> {
        match &self.text {
            Text::Memory(_) => None,
            Text::File(file) => Some(file),
        }
    }

    /// Returns the length of the section in bytes.
    pub fn len(&self) -> usize {
        match &self.text {
            Text::Memory(text) => text.len(),
            Text::File(file) => usize::try_from(file.length()).unwrap_or(usize::MAX),
        }
    }

    /// Returns true if there is no section.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a part of the section.
    ///
    /// # Errors
    /// It is outside of the section or not UTF-8, or the file cannot be read or has changed.
    pub fn text(&self, range: Range<usize>) -> io::Result<Cow<'_, str>> {
        match &self.text {
            Text::Memory(text) => {
                let part = text.get(range).ok_or(io::ErrorKind::UnexpectedEof)?;
                Ok(part.into())
            }
            Text::File(file) => {
                if range.start > range.end || range.end > self.len() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(range.len())?;
                bytes.resize(range.len(), 0);
                file.read_exact_at(&mut bytes, range.start as u64)?;
                Ok(String::from_utf8(bytes).map_err(io::Error::other)?.into())
            }
        }
    }

    /// Fails if the section is in a file that has changed.
    ///
    /// # Errors
    /// It has changed.
    pub fn check_unchanged(&self) -> io::Result<()> {
        self.file().map_or(Ok(()), |text| text.file().check_unchanged())
    }

    /// Returns the text of a tensor.
    pub fn payload(&self, array: usize) -> Option<Payload<'_>> {
        let range = self.section.range(array)?;
        match &self.text {
            Text::Memory(text) => text.get(range).map(Payload::Text),
            Text::File(file) => Some(Payload::File(file, range.start as u64..range.end as u64)),
        }
    }

    /// Returns a hash of the content of a tensor: equal for equal type and elements.
    pub fn content_hash(&self, array: usize) -> Option<u64> {
        let mut hasher = FxHasher::default();
        let hashed = self.payload(array)?.pieces(|piece| {
            hasher.write(piece);
            ControlFlow::Continue(())
        });
        hashed.ok().map(|()| hasher.finish())
    }

    /// Returns true if two tensors have the same type and elements.
    pub fn is_same(&self, one: usize, other: usize) -> bool {
        if one == other {
            return true;
        }
        let Some((one, other)) = self.payload(one).zip(self.payload(other)) else { return false };
        match (&one, &other) {
            (Payload::Text(one), Payload::Text(other)) => one == other,
            (Payload::File(file, from), Payload::File(_, to)) if one.len() == other.len() => {
                let mut at = to.start;
                let mut buffer = Vec::new();
                let mut is_same = true;
                let compared = Payload::File(file, from.clone()).pieces(|piece| {
                    buffer.resize(piece.len(), 0);
                    is_same = file.read_exact_at(&mut buffer, at).is_ok() && buffer == piece;
                    at += piece.len() as u64;
                    if is_same { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                });
                compared.is_ok() && is_same
            }
            _ => false,
        }
    }

    /// Returns the constants with the same content as an earlier constant, each with the first such
    /// constant, in order. The result is cached.
    pub fn repeated(&self) -> &[(u32, u32)] {
        self.repeated.get_or_init(|| {
            let count = self.section.entries(CONSTANT).len() as u32;
            let mut by_length: FxHashMap<usize, Vec<(u32, usize)>> = FxHashMap::default();
            for entry in 0..count {
                if let Some(array) = self.section.array_of(CONSTANT, entry)
                    && let Some(range) = self.section.range(array)
                {
                    by_length.entry(range.len()).or_default().push((entry, array));
                }
            }
            let mut found = Vec::new();
            // Only texts of equal length are compared.
            for group in by_length.into_values().filter(|group| group.len() > 1) {
                let mut known: FxHashMap<u64, Vec<(u32, usize)>> = FxHashMap::default();
                for (entry, array) in group {
                    let Some(hash) = self.content_hash(array) else { continue };
                    let same = known.entry(hash).or_default();
                    match same.iter().find(|(_, first)| self.is_same(*first, array)) {
                        Some(&(first, _)) => found.push((entry, first)),
                        None => same.push((entry, array)),
                    }
                }
            }
            found.sort_unstable();
            found
        })
    }
}
