//! A section without the texts of its tensors.

use std::{borrow::Cow, ops::ControlFlow};

/// The number of bytes that are kept of each tensor: more than the longest header in base64.
const KEPT: usize = 1 << 10;
/// The key of the list of tensors.
const ARRAYS: &[u8] = b"b64ndarrays";

/// Returns the offset of the JSON in a section: after `#[metadata]`, or the first brace after the markers of
/// TVM 0.6 and before.
pub(crate) fn json_start(text: &[u8]) -> usize {
    match text.starts_with(b"#[") {
        true => memchr::memchr(b']', text).map_or(text.len(), |at| at + 1),
        false => memchr::memchr(b'{', text).unwrap_or(text.len()),
    }
}

/// The text of a section in which the middle of each tensor is left out. The tensors of BERT are 580 MB
/// and the rest of its section 0.3 MB.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outline<'t> {
    text: Cow<'t, str>,
    /// The parts that are left out, in order.
    cuts: Vec<Cut>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cut {
    /// The offset in the outline.
    at: usize,
    /// The bytes that are left out until there, including this part.
    removed: usize,
}

impl<'t> Outline<'t> {
    /// Returns the outline of a section in memory, which is all of it.
    pub fn whole(section: &'t str) -> Outline<'t> {
        Outline { text: section.into(), cuts: Vec::new() }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the offset in the section of an offset in the outline: after what is left out there.
    pub fn offset_in_section(&self, at: usize) -> usize {
        let before = self.cuts.partition_point(|cut| cut.at <= at);
        at + before.checked_sub(1).map_or(0, |last| self.cuts[last].removed)
    }
}

/// Builds an outline from the blocks of a section.
#[derive(Default)]
pub(crate) struct Outliner {
    text: Vec<u8>,
    cuts: Vec<Cut>,
    state: State,
    /// The number of open brackets and braces.
    depth: usize,
    /// True if the last string was the key of the list of tensors.
    is_after_key: bool,
    /// True in the list of tensors.
    is_in_arrays: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// In `#[metadata]`.
    #[default]
    Marker,
    Outside,
    /// In a string that began at an offset of the outline.
    String(usize),
    /// After a backslash in such a string.
    Escape(usize),
}

impl Outliner {
    /// Returns true if nothing of a block without quotes and backslashes has to be kept.
    pub(crate) fn skips(&self) -> bool {
        matches!(self.state, State::String(start) if self.is_left_out(start))
    }

    fn is_left_out(&self, start: usize) -> bool {
        self.is_in_arrays && self.depth == 2 && self.text.len() - start > KEPT
    }

    /// Leaves out `length` bytes of a tensor.
    pub(crate) fn skip(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        let removed = self.cuts.last().map_or(0, |cut| cut.removed) + length;
        let at = self.text.len();
        match self.cuts.last_mut() {
            Some(last) if last.at == at => last.removed = removed,
            _ => self.cuts.push(Cut { at, removed }),
        }
    }

    /// Adds a block. Only ASCII is left out, so that no character is divided. The outline is the same for all
    /// sizes of blocks.
    pub(crate) fn add(&mut self, block: &[u8], is_ascii: bool) {
        let mut at = 0;
        // Each round consumes at least one byte.
        while at < block.len() {
            let rest = &block[at..];
            at += match self.state {
                State::Marker => {
                    let end = memchr::memchr(b']', rest);
                    let length = end.map_or(rest.len(), |at| at + 1);
                    if end.is_some() {
                        self.state = State::Outside;
                    }
                    self.keep(&rest[..length])
                }
                State::Outside => self.outside(rest),
                State::Escape(start) => {
                    self.state = State::String(start);
                    self.keep(&rest[..1])
                }
                State::String(start) => self.in_string(rest, start, is_ascii),
            };
        }
    }

    fn keep(&mut self, part: &[u8]) -> usize {
        self.text.extend_from_slice(part);
        part.len()
    }

    /// Reads up to the start of a string.
    fn outside(&mut self, rest: &[u8]) -> usize {
        let step = rest.iter().enumerate().try_for_each(|(at, byte)| {
            match byte {
                b'"' => return ControlFlow::Break(at + 1),
                b'[' => {
                    self.is_in_arrays |= self.is_after_key && self.depth == 1;
                    self.depth += 1;
                }
                b'{' => self.depth += 1,
                b']' | b'}' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_in_arrays &= self.depth > 1;
                }
                _ => {}
            }
            self.is_after_key &= matches!(byte, b':' | b' ' | b'\n' | b'\r' | b'\t');
            ControlFlow::Continue(())
        });
        let length = step.break_value().unwrap_or(rest.len());
        self.keep(&rest[..length]);
        if step.is_break() {
            self.state = State::String(self.text.len());
        }
        length
    }

    /// Reads up to the end of a string, a backslash, or between ASCII and other characters.
    fn in_string(&mut self, rest: &[u8], start: usize, is_ascii: bool) -> usize {
        let starts_in_ascii = is_ascii || rest[0].is_ascii();
        let is_end = |at: &usize| matches!(rest[*at], b'"' | b'\\');
        let stop = match is_ascii {
            true => memchr::memchr2(b'"', b'\\', rest),
            false => {
                (0..rest.len()).find(|at| is_end(at) || rest[*at].is_ascii() != starts_in_ascii)
            }
        };
        let length = stop.unwrap_or(rest.len());
        if starts_in_ascii && self.is_in_arrays && self.depth == 2 {
            let kept = (KEPT + 1).saturating_sub(self.text.len() - start).min(length);
            self.keep(&rest[..kept]);
            self.skip(length - kept);
        } else {
            self.keep(&rest[..length]);
        }
        let Some(end) = stop.filter(is_end) else { return length };
        if rest[end] == b'\\' {
            // JSON with escapes in a tensor is rejected: they are kept.
            self.state = State::Escape(start);
        } else {
            self.is_after_key = self.depth == 1 && self.text[start..] == *ARRAYS;
            self.state = State::Outside;
        }
        length + self.keep(&rest[end..=end])
    }

    /// Returns the outline.
    ///
    /// # Errors
    /// The offset in the section of the first byte that is not UTF-8.
    pub(crate) fn finish(self) -> Result<Outline<'static>, usize> {
        let Outliner { text, cuts, .. } = self;
        let mut from = 0;
        let ends = cuts.iter().map(|cut| cut.at).chain([text.len()]);
        let mut removed = 0;
        // Bytes on both sides of a cut are not one character.
        for (number, end) in ends.enumerate() {
            if let Err(error) = std::str::from_utf8(&text[from..end]) {
                return Err(removed + from + error.valid_up_to());
            }
            from = end;
            removed = cuts.get(number).map_or(removed, |cut| cut.removed);
        }
        // Valid by the loop: each part is.
        let text = String::from_utf8(text).map_err(|error| error.utf8_error().valid_up_to())?;
        Ok(Outline { text: text.into(), cuts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::{Header, Section};

    fn outline_of(text: &[u8], size: usize) -> Result<Outline<'static>, usize> {
        let mut outliner = Outliner::default();
        for block in text.chunks(size) {
            let is_plain = block.is_ascii() && memchr::memchr2(b'"', b'\\', block).is_none();
            if is_plain && outliner.skips() {
                outliner.skip(block.len());
            } else {
                outliner.add(block, block.is_ascii());
            }
        }
        outliner.finish()
    }

    /// Whatever the size of the blocks, the section that is scanned in the outline is that of the text.
    #[test]
    fn outlines_describe_the_same_section() {
        let mut random = fastrand::Rng::with_seed(11);
        let header = Header::write(types::DataType::FLOAT32, &[3]).expect("a header");
        let parts = [
            "\"",
            "\\",
            "\\\"",
            "é",
            "[",
            "]",
            "{",
            "}",
            ",",
            ":",
            " ",
            "\n",
            "b64ndarrays",
            "0",
            "\"b64ndarrays\": [",
            "\"root\": 0, ",
            "\"nodes\": [{\"type_key\": \"\"}], ",
        ];
        for round in 0..2_000 {
            let mut arrays = Vec::new();
            for _ in 0..random.usize(..4) {
                let mut array = Vec::new();
                crate::encode(&mut array, &header, |to| {
                    to.write_all(&vec![random.u8(..); random.usize(..3_000)])
                })
                .expect("memory");
                arrays.push(format!("\"{}\"", String::from_utf8(array).expect("base64")));
            }
            let mut text = format!(
                "#[metadata]\n{{\"root\": 0, \"nodes\": [{{\"type_key\": \"{}\"}}], \"b64ndarrays\": [{}], \"attrs\": {{}}}}\n",
                "x".repeat(random.usize(..2_000)),
                arrays.join(", ")
            );
            // Most of the time it is damaged.
            for _ in 0..(round % 3) {
                let from = random.usize(..text.len());
                let to = (from + random.usize(..40)).min(text.len());
                let part = parts[random.usize(..parts.len())];
                if text.is_char_boundary(from) && text.is_char_boundary(to) {
                    text.replace_range(from..to, part);
                }
            }
            let size = random.usize(1..900);
            let outline = outline_of(text.as_bytes(), size).expect("UTF-8");
            assert_eq!(outline, outline_of(text.as_bytes(), usize::MAX).expect("UTF-8"), "{text}");
            let (whole, scanned) = (Section::scan(text.as_bytes()), Section::of_outline(&outline));
            assert_eq!(whole.error().is_some(), scanned.error().is_some(), "{text}");
            assert_eq!(
                (whole.arrays(), whole.nodes().len()),
                (scanned.arrays(), scanned.nodes().len())
            );
            for array in 0..whole.arrays() {
                assert_eq!(whole.range(array), scanned.range(array), "{text}");
                assert_eq!(whole.header(array), scanned.header(array), "{text}");
            }
        }
    }

    #[test]
    fn invalid_utf8_is_found_where_it_is() {
        let long = "A".repeat(5_000);
        let text =
            format!("#[metadata] {{\"b64ndarrays\": [\"{long}\", \"{long}\"]}}").into_bytes();
        for at in [13, 40, 3_000, 5_100, 10_000, text.len() - 1] {
            for size in [1, 7, 512, 4_096, usize::MAX] {
                let mut text = text.clone();
                text[at] = 0xFF;
                assert_eq!(outline_of(&text, size).err(), Some(at), "{at}, blocks of {size}");
                // The first byte of a character whose second is left out.
                text[at] = 0xC3;
                assert_eq!(outline_of(&text, size).err(), Some(at), "{at}, blocks of {size}");
            }
        }
        // Outlines of large tensors are short.
        assert!(outline_of(&text, 512).expect("UTF-8").text().len() < 4_000);
    }
}
