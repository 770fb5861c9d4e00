//! Conversion between byte offsets and lines with columns, in the three encodings of LSP.
//!
//! Line breaks are `\n`, `\r\n` and a lone `\r`. A lookup is a binary search; a scan of the line
//! would be too slow on a `def` header of 186,488 characters.

use rowan::{TextRange, TextSize};

use crate::source::Source;

/// The unit of columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, LSP's default.
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

/// A 0-based line and column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LineColumn {
    /// 0-based line.
    pub line: u32,
    /// 0-based column, in the units of an [`Encoding`].
    pub column: u32,
}

/// A character of more than one byte, with sums over the text up to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct WideChar {
    /// The end offset of the character.
    end: u32,
    /// Bytes minus UTF-16 units of everything up to `end`.
    utf16: u32,
    /// Bytes minus characters of everything up to `end`.
    utf32: u32,
    len: u8,
}

impl WideChar {
    /// Returns the bytes minus the units of everything up to the end of the character.
    fn excess(&self, encoding: Encoding) -> u32 {
        match encoding {
            Encoding::Utf8 => 0,
            Encoding::Utf16 => self.utf16,
            Encoding::Utf32 => self.utf32,
        }
    }
}

/// An index of the lines and the multi-byte characters of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineIndex {
    /// Offset of each line, the first included.
    starts: Vec<u32>,
    wide: Vec<WideChar>,
    len: u32,
}

impl LineIndex {
    /// Builds the index of `text`.
    pub fn new(text: &str) -> LineIndex {
        let mut index = LineIndex { starts: vec![0], wide: Vec::new(), len: text.len() as u32 };
        line_starts(text, text.len(), 0, &mut index.starts);
        if !text.is_ascii() {
            wide_chars(text, 0, &mut index.wide);
        }
        index
    }

    /// Updates the index after an edit that replaced the range `removed` of the old text by
    /// `inserted` bytes and resulted in `text`. Rescans the edited lines and shifts the offsets
    /// after them.
    pub fn edit(&mut self, text: &dyn Source, removed: TextRange, inserted: TextSize) {
        let delta = i64::from(u32::from(inserted)) - i64::from(u32::from(removed.len()));
        let shift = |offset: u32| (i64::from(offset) + delta) as u32;
        // The edit may join or split a `\r\n` at its boundaries.
        let first = self.line_of(u32::from(removed.start()).saturating_sub(1));
        let last = self.line_of((u32::from(removed.end()) + 1).min(self.len));
        let from = self.starts[first];
        let to = self.starts.get(last + 1).map_or(text.byte_len() as u32, |&next| shift(next));

        let mut inside = vec![from];
        // With the next character, which may be the second of a line break.
        let edited = text.part(from as usize..text.boundary_from(to as usize + 1));
        line_starts(&edited.unwrap_or_default(), (to - from) as usize, from, &mut inside);
        // The last break starts a line after the rescanned ones, which is kept.
        if last + 1 < self.starts.len() && inside.len() > 1 {
            inside.pop();
        }
        for start in &mut self.starts[last + 1..] {
            *start = shift(*start);
        }
        self.starts.splice(first..=last, inside);

        let start = u32::from(removed.start());
        let kept = self.wide.partition_point(|w| w.end <= start);
        let after = self.wide.partition_point(|w| w.end <= u32::from(removed.end()));
        let before = self.wide.get(kept.wrapping_sub(1)).copied();
        let old_sum = self.wide.get(after.wrapping_sub(1)).copied();
        let mut between: Vec<WideChar> = before.into_iter().collect();
        let end = (start + u32::from(inserted)) as usize;
        let new = text.part(start as usize..end).unwrap_or_default();
        if !new.is_ascii() {
            wide_chars(&new, start, &mut between);
        }
        let sums = |w: Option<WideChar>| w.map_or((0, 0), |w| (w.utf16, w.utf32));
        let (old16, old32) = sums(old_sum);
        let (new16, new32) = sums(between.last().copied());
        for w in &mut self.wide[after..] {
            w.end = shift(w.end);
            w.utf16 = w.utf16 - old16 + new16;
            w.utf32 = w.utf32 - old32 + new32;
        }
        let from_before = usize::from(before.is_some());
        self.wide.splice(kept..after, between.into_iter().skip(from_before));
        self.len = text.byte_len() as u32;
    }

    /// Returns the number of lines, at least 1.
    pub fn line_count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// Returns the length of the text in bytes.
    pub fn text_len(&self) -> TextSize {
        self.len.into()
    }

    fn line_of(&self, offset: u32) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    /// Returns the line of an offset.
    pub fn line_at(&self, offset: TextSize) -> u32 {
        self.line_of(offset.into()) as u32
    }

    /// Returns the bytes minus the units of the text before `offset`.
    fn excess(&self, offset: u32, encoding: Encoding) -> u32 {
        let at = self.wide.partition_point(|w| w.end <= offset);
        at.checked_sub(1).map_or(0, |last| self.wide[last].excess(encoding))
    }

    /// Returns the line and column of a byte offset. An offset after the end of the text is clamped
    /// to it; an offset inside a character is rounded down to its start.
    pub fn line_column(&self, offset: TextSize, encoding: Encoding) -> LineColumn {
        let mut offset = u32::from(offset).min(self.len);
        let at = self.wide.partition_point(|w| w.end <= offset);
        if let Some(w) = self.wide.get(at)
            && w.end - u32::from(w.len) < offset
        {
            offset = w.end - u32::from(w.len);
        }
        let line = self.line_of(offset);
        let start = self.starts[line];
        let excess = self.excess(offset, encoding) - self.excess(start, encoding);
        LineColumn { line: line as u32, column: offset - start - excess }
    }

    /// Returns a cursor that converts ascending offsets faster than [`LineIndex::line_column`].
    pub fn walk(&self, encoding: Encoding) -> LineWalk<'_> {
        LineWalk { index: self, encoding, line: 0, wide: 0 }
    }

    /// Returns the byte offset of a line and column. A column after the end of its line is clamped
    /// to it; a line after the last one has no offset.
    pub fn offset(&self, position: LineColumn, encoding: Encoding) -> Option<TextSize> {
        let line = position.line as usize;
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).map_or(self.len, |&next| next - 1);
        let mut offset = start.saturating_add(position.column).min(end);
        if encoding != Encoding::Utf8 && !self.wide.is_empty() {
            offset = self.widen(start, end, position.column, encoding);
        }
        Some(offset.into())
    }

    /// Returns the offset at column `column` of the line `start..end`.
    fn widen(&self, start: u32, end: u32, column: u32, encoding: Encoding) -> u32 {
        let base = self.excess(start, encoding);
        let from = self.wide.partition_point(|w| w.end <= start);
        let to = self.wide.partition_point(|w| w.end <= end);
        let units = |w: &WideChar| w.end - start - (w.excess(encoding) - base);
        let passed = from + self.wide[from..to].partition_point(|w| units(w) <= column);
        let last = self.wide[from..passed].last();
        let excess = last.map_or(base, |w| w.excess(encoding)) - base;
        let offset = start.saturating_add(column).saturating_add(excess).min(end);
        // Round down to a character boundary.
        match self.wide.get(passed) {
            Some(w) if w.end - u32::from(w.len) < offset && offset < w.end => {
                w.end - u32::from(w.len)
            }
            _ => offset,
        }
    }

    /// Returns the byte range of a line including its line break.
    pub fn line_range(&self, line: u32) -> Option<TextRange> {
        let start = *self.starts.get(line as usize)?;
        let end = self.starts.get(line as usize + 1).copied().unwrap_or(self.len);
        Some(TextRange::new(start.into(), end.into()))
    }

    /// Returns the byte range of a line of `text` without its line break.
    pub fn line_content<S>(&self, text: &S, line: u32) -> Option<TextRange>
    where
        S: Source + ?Sized,
    {
        let range = self.line_range(line)?;
        let content = text.part(range.into())?;
        let content = content.strip_suffix('\n').unwrap_or(&content);
        let content = content.strip_suffix('\r').unwrap_or(content);
        Some(TextRange::at(range.start(), TextSize::of(content)))
    }
}

/// A cursor over a text. Moving it forward is linear in the lines and wide characters passed,
/// instead of a binary search in the whole index.
#[derive(Clone, Debug)]
pub struct LineWalk<'i> {
    index: &'i LineIndex,
    encoding: Encoding,
    /// The line of the last offset.
    line: usize,
    /// Number of wide characters that end at or before the last offset.
    wide: usize,
}

impl LineWalk<'_> {
    /// Returns the line and column of an offset, which must be a character boundary. An offset
    /// before the previous one costs a binary search.
    pub fn line_column(&mut self, offset: TextSize) -> LineColumn {
        let index = self.index;
        let at = u32::from(offset).min(index.len);
        if index.starts[self.line] > at {
            self.line = index.line_of(at);
            self.wide = index.wide.partition_point(|w| w.end <= at);
        }
        while index.starts.get(self.line + 1).is_some_and(|&next| next <= at) {
            self.line += 1;
        }
        while index.wide.get(self.wide).is_some_and(|w| w.end <= at) {
            self.wide += 1;
        }
        let start = index.starts[self.line];
        let before = self.wide.checked_sub(1).map(|last| index.wide[last]);
        let excess = before
            .filter(|wide| wide.end > start)
            .map_or(0, |wide| wide.excess(self.encoding) - index.excess(start, self.encoding));
        LineColumn { line: self.line as u32, column: at - start - excess }
    }
}

/// Appends the offset after each line break in `text[..to]`, which begins at offset `base`.
fn line_starts(text: &str, to: usize, base: u32, out: &mut Vec<u32>) {
    let text = text.as_bytes();
    // One byte is found faster than two, and few texts have the other.
    if memchr::memchr(b'\r', &text[..to]).is_none() {
        out.extend(memchr::memchr_iter(b'\n', &text[..to]).map(|at| base + at as u32 + 1));
        return;
    }
    for at in memchr::memchr2_iter(b'\n', b'\r', &text[..to]) {
        if text[at] == b'\n' || text.get(at + 1) != Some(&b'\n') {
            out.push(base + at as u32 + 1);
        }
    }
}

/// Appends the multi-byte characters of `text`, which begins at offset `base`, and continues the
/// sums of the last element.
fn wide_chars(text: &str, base: u32, out: &mut Vec<WideChar>) {
    let (mut utf16, mut utf32) = out.last().map_or((0, 0), |w| (w.utf16, w.utf32));
    for (at, c) in text.char_indices() {
        let len = c.len_utf8();
        if len > 1 {
            utf16 += (len - c.len_utf16()) as u32;
            utf32 += (len - 1) as u32;
            out.push(WideChar { end: base + (at + len) as u32, utf16, utf32, len: len as u8 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(line: u32, column: u32) -> LineColumn {
        LineColumn { line, column }
    }

    #[test]
    fn columns_round_trip_in_all_encodings() {
        let text = "%权重 = add;\r\n\"🚀\" x";
        let index = LineIndex::new(text);
        let eq = TextSize::new(text.find('=').unwrap() as u32);
        assert_eq!(index.line_column(eq, Encoding::Utf8), position(0, 8));
        assert_eq!(index.line_column(eq, Encoding::Utf16), position(0, 4));
        assert_eq!(index.line_column(eq, Encoding::Utf32), position(0, 4));
        let x = TextSize::new(text.find('x').unwrap() as u32);
        assert_eq!(index.line_column(x, Encoding::Utf8), position(1, 7));
        assert_eq!(index.line_column(x, Encoding::Utf16), position(1, 5));
        assert_eq!(index.line_column(x, Encoding::Utf32), position(1, 4));
        for offset in (0..=text.len()).filter(|&o| text.is_char_boundary(o)) {
            let offset = TextSize::new(offset as u32);
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                let there = index.line_column(offset, encoding);
                let back = index.offset(there, encoding);
                assert!(
                    back == Some(offset) || text[..offset.into()].ends_with('\r'),
                    "{offset:?}"
                );
            }
        }
    }

    #[test]
    fn walk_equals_binary_search() {
        let text = "one é\r\n\ntwo 🚀 é x\rthree\n🚀";
        let index = LineIndex::new(text);
        let offsets: Vec<usize> = (0..=text.len()).filter(|&o| text.is_char_boundary(o)).collect();
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            for step in 1..5 {
                let mut walk = index.walk(encoding);
                // The last two offsets move the cursor backwards.
                for &offset in offsets.iter().step_by(step).chain([&0, &4]) {
                    let offset = TextSize::new(offset as u32);
                    let found = walk.line_column(offset);
                    assert_eq!(found, index.line_column(offset, encoding), "{offset:?}");
                }
            }
        }
    }

    #[test]
    fn positions_after_the_end_are_clamped() {
        let index = LineIndex::new("ab\ncd");
        assert_eq!(index.offset(position(0, 99), Encoding::Utf16), Some(2.into()));
        assert_eq!(index.offset(position(1, 99), Encoding::Utf16), Some(5.into()));
        assert_eq!(index.offset(position(2, 0), Encoding::Utf16), None);
        assert_eq!(index.line_column(99.into(), Encoding::Utf16), position(1, 2));
    }

    #[test]
    fn edited_index_equals_a_new_one() {
        let mut text = String::from("one\r\ntwo é\nthree\rfour 🚀\n");
        let mut index = LineIndex::new(&text);
        let edits: &[(usize, usize, &str)] = &[
            (3, 4, ""),
            (3, 3, "\r"),
            (0, 0, "é\n"),
            (5, 9, "x\ry"),
            (2, 2, "🚀🚀"),
            (0, 12, ""),
            (0, 0, "\n"),
            (1, 1, "\r"),
        ];
        for &(from, to, insert) in edits {
            let to = to.min(text.len());
            text.replace_range(from..to, insert);
            index.edit(
                &text,
                TextRange::new((from as u32).into(), (to as u32).into()),
                TextSize::of(insert),
            );
            assert_eq!(index, LineIndex::new(&text), "after {from}..{to} {insert:?} in {text:?}");
        }
    }
}
