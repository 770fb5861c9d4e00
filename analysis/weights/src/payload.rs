//! The elements of a tensor, decoded piece by piece.

use std::{fmt, io, ops::ControlFlow, ops::Range};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{file::FileText, section::Header};

/// The number of characters that are decoded at once. The decoded length is a multiple of the longest
/// element.
const PIECE: usize = 1 << 16;
/// The number of decoded bytes of a piece.
const DECODED: usize = PIECE / 4 * 3;

/// The reason that a tensor cannot be decoded.
#[derive(Debug)]
pub enum DecodeError {
    /// Its text is not base64, or its length differs from that in the header.
    Damaged,
    /// The file was replaced or cannot be read.
    File(io::Error),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Damaged => f.write_str("its text does not match its type"),
            DecodeError::File(error) => write!(f, "the file cannot be read: {error}"),
        }
    }
}

impl std::error::Error for DecodeError {}

impl From<io::Error> for DecodeError {
    fn from(error: io::Error) -> DecodeError {
        DecodeError::File(error)
    }
}

/// The text of a tensor in base64, in memory or in a file.
#[derive(Clone, Debug)]
pub enum Payload<'s> {
    /// In memory.
    Text(&'s str),
    /// In a file, at a range of its bytes.
    File(&'s FileText, Range<u64>),
}

impl Payload<'_> {
    /// Returns the length of the text in bytes.
    pub fn len(&self) -> usize {
        match self {
            Payload::Text(text) => text.len(),
            Payload::File(_, range) => {
                usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX)
            }
        }
    }

    /// Returns true if there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `f` with the pieces of the text in order.
    ///
    /// # Errors
    /// The file cannot be read, or has been replaced.
    pub fn pieces(&self, mut f: impl FnMut(&[u8]) -> ControlFlow<()>) -> io::Result<()> {
        match self {
            Payload::Text(text) => {
                let _ = text.as_bytes().chunks(PIECE).try_for_each(f);
            }
            Payload::File(file, range) => {
                let mut buffer = vec![0; PIECE];
                let mut at = range.start;
                while at < range.end {
                    let length = (range.end - at).min(PIECE as u64) as usize;
                    file.read_exact_at(&mut buffer[..length], at)?;
                    if f(&buffer[..length]).is_break() {
                        break;
                    }
                    at += length as u64;
                }
            }
        }
        Ok(())
    }

    /// Calls `f` with the bytes of the elements in order, in slices of whole elements.
    ///
    /// # Errors
    /// The text does not match the header.
    pub fn elements(&self, header: &Header, mut f: impl FnMut(&[u8])) -> Result<(), DecodeError> {
        let expected = header.bytes().and_then(|bytes| usize::try_from(bytes).ok());
        let expected = expected.ok_or(DecodeError::Damaged)?;
        // Four characters decode to three bytes.
        if expected > self.len() / 4 * 3 {
            return Err(DecodeError::Damaged);
        }
        let (mut left, mut begin, mut sound) = (expected, header.length, true);
        // Most tensors in a printed module are a few bytes long.
        let mut decoded = vec![0; DECODED.min(self.len().div_ceil(4).saturating_mul(3))];
        self.pieces(|piece| {
            let Ok(count) = STANDARD.decode_slice(piece, &mut decoded) else {
                sound = false;
                return ControlFlow::Break(());
            };
            let all = &decoded[..count];
            let bytes = &all[begin.min(count)..];
            begin = begin.saturating_sub(count);
            let bytes = &bytes[..bytes.len().min(left)];
            left -= bytes.len();
            if !bytes.is_empty() {
                f(bytes);
            }
            // Padding in the middle of the text would shift the following bytes.
            sound &= count == DECODED || left == 0;
            if sound && left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        if sound && left == 0 { Ok(()) } else { Err(DecodeError::Damaged) }
    }

    /// Decodes the elements: row-major, little-endian.
    ///
    /// # Errors
    /// The text does not match the header, or there is not enough memory.
    pub fn decode(&self, header: &Header) -> Result<Vec<u8>, DecodeError> {
        let length = header.bytes().and_then(|bytes| usize::try_from(bytes).ok());
        let length = length.filter(|&length| length <= self.len() / 4 * 3);
        let mut out = Vec::new();
        let reserved = length.is_some_and(|length| out.try_reserve_exact(length).is_ok());
        if !reserved {
            return Err(DecodeError::Damaged);
        }
        self.elements(header, |bytes| out.extend_from_slice(bytes))?;
        Ok(out)
    }
}
