//! The positions of a block in its host.

use syntax::{TextRange, TextSize};

/// A part of the host that gives a part of the block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Segment {
    /// The start in the block.
    inner: u32,
    inner_len: u32,
    /// The start in the host.
    outer: u32,
    outer_len: u32,
}

impl Segment {
    /// Returns true if both parts have the same bytes. The others are escapes, and have no places
    /// inside.
    fn is_verbatim(self) -> bool {
        self.inner_len == self.outer_len
    }

    fn inner_end(self) -> u32 {
        self.inner + self.inner_len
    }

    fn outer_end(self) -> u32 {
        self.outer + self.outer_len
    }

    fn outer_range(self) -> TextRange {
        TextRange::new(self.outer.into(), self.outer_end().into())
    }
}

/// The way in which a host writes the text of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Notation {
    /// Every line begins with a prefix, except the first.
    Lines { prefix: String },
    /// A literal of Python.
    Literal { is_raw: bool, quote: char, is_triple: bool },
    /// Strings of JSON with a text in another notation.
    Json(Box<Notation>),
}

/// The places of a block in its host, in both directions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mapping {
    /// Ordered in both texts.
    segments: Vec<Segment>,
    /// The start of the block in the host.
    start: u32,
    /// The end of the block in the host.
    end: u32,
    notation: Notation,
}

impl Mapping {
    /// Returns the range of the block in the host.
    pub(crate) fn host_range(&self) -> TextRange {
        TextRange::new(self.start.into(), self.end.into())
    }

    /// Returns the place in the host of the character at an offset.
    pub(crate) fn to_host(&self, offset: TextSize) -> TextSize {
        let offset = u32::from(offset);
        let at = self.segments.partition_point(|segment| segment.inner_end() <= offset);
        match self.segments.get(at) {
            Some(segment) if segment.is_verbatim() => segment.outer + (offset - segment.inner),
            Some(segment) => segment.outer,
            None => self.end,
        }
        .into()
    }

    /// Returns the place in the host at which the character before an offset ends.
    fn end_to_host(&self, offset: TextSize) -> TextSize {
        let offset = u32::from(offset);
        let at = self.segments.partition_point(|segment| segment.inner_end() < offset);
        match self.segments.get(at) {
            Some(_) if offset == 0 => self.start,
            Some(segment) if segment.is_verbatim() => segment.outer + (offset - segment.inner),
            Some(segment) => segment.outer_end(),
            None => self.end,
        }
        .into()
    }

    /// Returns the range in the host of a range in the block.
    pub(crate) fn range_to_host(&self, range: TextRange) -> TextRange {
        let start = self.to_host(range.start());
        if range.is_empty() {
            return TextRange::empty(start);
        }
        TextRange::new(start, self.end_to_host(range.end()).max(start))
    }

    /// Returns the offset in the block of a place in the host; `None` outside of the block and in what
    /// the host writes between its parts, such as indentation.
    pub(crate) fn to_block(&self, offset: TextSize) -> Option<TextSize> {
        let offset = u32::from(offset);
        if offset > self.end {
            return None;
        }
        let at = self.segments.partition_point(|segment| segment.outer_end() < offset);
        match self.segments.get(at) {
            Some(segment) if segment.outer <= offset => Some(match segment.is_verbatim() {
                true => (segment.inner + (offset - segment.outer)).into(),
                false if offset == segment.outer_end() => segment.inner_end().into(),
                false => segment.inner.into(),
            }),
            None if self.segments.is_empty() && offset == self.start => Some(TextSize::new(0)),
            _ => None,
        }
    }

    /// Returns the part of the block that lies in a range of the host; `None` if they do not meet.
    pub(crate) fn part_in(&self, range: TextRange) -> Option<TextRange> {
        self.host_range().intersect(range)?;
        let (from, to) = (u32::from(range.start()), u32::from(range.end()));
        let first = self.segments.partition_point(|segment| segment.outer_end() < from);
        let after = self.segments.partition_point(|segment| segment.outer <= to);
        let (Some(first), Some(last)) = (
            self.segments.get(first),
            after.checked_sub(1).and_then(|last| self.segments.get(last)),
        ) else {
            return Some(TextRange::default());
        };
        let inside = |segment: &Segment, place: u32| match segment.is_verbatim() {
            true => segment.inner + place.clamp(segment.outer, segment.outer_end()) - segment.outer,
            false if place < segment.outer_end() => segment.inner,
            false => segment.inner_end(),
        };
        let (start, end) = (inside(first, from), inside(last, to));
        Some(TextRange::new(start.into(), end.max(start).into()))
    }

    /// Returns the mapping of a block in a cell to the notebook in which `cell` places the cell.
    pub(super) fn within(&self, cell: &Mapping) -> Mapping {
        let mut segments = Vec::new();
        for &segment in &self.segments {
            if !segment.is_verbatim() {
                let outer = cell.range_to_host(segment.outer_range());
                let (outer, outer_len) = (outer.start().into(), outer.len().into());
                segments.push(Segment { outer, outer_len, ..segment });
                continue;
            }
            let first = cell.segments.partition_point(|part| part.inner_end() <= segment.outer);
            for part in &cell.segments[first..] {
                let start = segment.outer.max(part.inner);
                let end = segment.outer_end().min(part.inner_end());
                if start >= end {
                    break;
                }
                let inner = segment.inner + (start - segment.outer);
                let (outer, outer_len) = match part.is_verbatim() {
                    true => (part.outer + (start - part.inner), end - start),
                    // A character has one escape.
                    false => (part.outer, part.outer_len),
                };
                segments.push(Segment { inner, inner_len: end - start, outer, outer_len });
            }
        }
        let range = cell.range_to_host(self.host_range());
        let (start, end) = (range.start().into(), range.end().into());
        Mapping { segments, start, end, notation: Notation::Json(Box::new(self.notation.clone())) }
    }

    /// Returns a text as the host writes it inside of the block; `None` if it cannot.
    pub(crate) fn written(&self, text: &str) -> Option<String> {
        self.notation.written(text)
    }
}

impl Notation {
    fn written(&self, text: &str) -> Option<String> {
        match self {
            Notation::Json(inner) => {
                let quoted = serde_json::to_string(&inner.written(text)?).ok()?;
                Some(quoted[1..quoted.len() - 1].to_owned())
            }
            Notation::Lines { prefix } => Some(text.replace('\n', &format!("\n{prefix}"))),
            &Notation::Literal { is_raw, quote, is_triple } => {
                let closing = if is_triple { quote.to_string().repeat(3) } else { quote.into() };
                let ends_it = text.contains(&closing) || (!is_triple && text.contains('\n'));
                if is_raw {
                    return (!ends_it && !text.ends_with('\\')).then(|| text.to_owned());
                }
                let mut out = text.replace('\\', "\\\\");
                if ends_it {
                    out = out.replace(quote, &format!("\\{quote}"));
                }
                if !is_triple {
                    out = out.replace('\n', "\\n");
                }
                Some(out)
            }
        }
    }
}

/// Collects the text of a block together with its places.
#[derive(Default)]
pub(super) struct Builder {
    text: String,
    segments: Vec<Segment>,
    start: Option<usize>,
    end: usize,
}

impl Builder {
    /// Extends the range of the block in the host.
    pub(super) fn cover(&mut self, start: usize, end: usize) {
        self.start.get_or_insert(start);
        self.end = self.end.max(end);
    }

    /// Adds a part that the host writes as it is.
    pub(super) fn verbatim(&mut self, part: &str, outer: usize) {
        if part.is_empty() {
            return;
        }
        let (inner, length) = (self.text.len() as u32, part.len() as u32);
        self.text.push_str(part);
        if let Some(last) = self.segments.last_mut()
            && last.is_verbatim()
            && last.outer_end() == outer as u32
        {
            last.inner_len += length;
            last.outer_len += length;
            return;
        }
        let outer = outer as u32;
        self.segments.push(Segment { inner, inner_len: length, outer, outer_len: length });
    }

    /// Adds a character that the host writes as an escape.
    pub(super) fn escape(&mut self, character: char, outer: usize, outer_len: usize) {
        let inner = self.text.len() as u32;
        self.text.push(character);
        let (outer, outer_len) = (outer as u32, outer_len as u32);
        let inner_len = character.len_utf8() as u32;
        self.segments.push(Segment { inner, inner_len, outer, outer_len });
    }

    pub(super) fn finish(self, notation: Notation) -> super::Block {
        let (start, end) = (self.start.unwrap_or(self.end) as u32, self.end as u32);
        let mapping = Mapping { segments: self.segments, start, end, notation };
        super::Block { text: self.text, mapping }
    }
}
