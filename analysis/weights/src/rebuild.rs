//! Separates the tensors of a section from its other text, and joins them again.
//!
//! [`cut`] replaces the text of a tensor by `=name:header`, where the header is in base64. No base64
//! text begins with `=`, so remaining base64 texts need no mark.

use std::{
    io::{self, Write},
    ops::Range,
};

use base64::{Engine, engine::general_purpose::STANDARD, write::EncoderWriter};

use crate::{section::Header, store::Weights};

/// A part of the output of [`cut`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part<'t> {
    /// Text to copy unchanged.
    Text(&'t str),
    /// A tensor.
    Array {
        /// Its name.
        name: &'t str,
        /// Its header in bytes.
        bytes: Vec<u8>,
        /// The parsed header.
        header: Header,
    },
}

/// Returns a section without the tensors for which `name` returns a name.
///
/// # Errors
/// The file of the section cannot be read, or has changed.
pub fn cut(weights: &Weights, name: impl Fn(usize) -> Option<String>) -> io::Result<String> {
    let section = weights.section();
    let mut out = String::new();
    let mut from = 0;
    let mut arrays: Vec<(Range<usize>, usize)> =
        (0..section.arrays()).filter_map(|array| Some((section.range(array)?, array))).collect();
    arrays.sort_by_key(|(range, _)| range.start);
    for (range, array) in arrays {
        let part = || {
            let header = section.header(array)?;
            let length = header.length.div_ceil(3) * 4;
            let front = range.start..range.start.checked_add(length)?.min(range.end);
            let bytes = STANDARD.decode(weights.text(front).ok()?.as_bytes()).ok()?;
            Some((name(array)?, STANDARD.encode(bytes.get(..header.length)?)))
        };
        if let Some((name, header)) = part() {
            out += &weights.text(from..range.start)?;
            out += &format!("={name}:{header}");
            from = range.end;
        }
    }
    out += &weights.text(from..weights.len())?;
    Ok(out)
}

/// Splits the output of [`cut`] into parts; `None` for other texts.
pub fn parts(text: &str) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\"=") {
        parts.push(Part::Text(&rest[..at + 1]));
        let inner = &rest[at + 2..];
        let (array, _) = inner.split_once('"')?;
        let (name, encoded) = array.split_once(':')?;
        let header = Header::read(encoded.as_bytes())?;
        parts.push(Part::Array { name, bytes: STANDARD.decode(encoded).ok()?, header });
        rest = &inner[array.len()..];
    }
    parts.push(Part::Text(rest));
    Some(parts)
}

/// Writes a tensor in base64: its header, then the elements that `elements` writes.
///
/// # Errors
/// It cannot be written.
pub fn encode(
    out: &mut impl Write,
    header: &[u8],
    elements: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut encoder = EncoderWriter::new(out, &STANDARD);
    encoder.write_all(header)?;
    elements(&mut encoder)?;
    encoder.finish()?;
    Ok(())
}
