//! Relay text as people paste it: out of mail, web pages, text processors and terminals.
//!
//! ```text
//! > def @main(%x: Tensor[(2),␣float32]) -&gt; Tensor[(2), float32] {   quoted, a no-break space, an entity
//! >   nn.relu(%x) / ty=Tensor[(2), float32] /                         asterisks that Markdown took
//! > }
//! ```
//!
//! Such a text is read as if it were not damaged. The lexer and the parser meet a token that a clean text
//! cannot have (a no-break space, `&lt;`, a `>` at the start of a line, a number before `def`); only then the
//! whole text is searched for damage, once. [`masked`] writes what the damaged places stand for over them in a
//! copy of equal length, which is parsed in place of the text: offsets stay those of the text, and the tree
//! contains every byte of it. [`cleaning`] returns the edits that repair the text.
//!
//! Three kinds need no copy, because the lexer recognises them on its own: `...`, where somebody cut, a comment
//! without its asterisks, and a remark behind an arrow.

mod lines;

use std::ops::Range;

use crate::{
    Damage, Parse, SyntaxErrorKind, TextRange,
    damage::chars,
    error::range,
    format::{apply, difference},
    lexer::Tokens,
};

/// A damaged place, and what it stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Mend {
    start: u32,
    end: u32,
    damage: Damage,
    /// The number of damaged characters or lines.
    count: u32,
    with: &'static str,
    /// True if what it stands for belongs to the text after it: `“` before a name, `–` before a number.
    is_before: bool,
    /// True if it is nothing inside of a name, which it must not divide.
    is_in_name: bool,
}

impl Mend {
    fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A text of equal length as the damaged one, in which every damaged place is readable.
pub(crate) struct MaskedText {
    pub(crate) text: String,
    mends: Vec<Mend>,
}

/// Returns the readable form of a text; `None` if nothing in it is damaged.
pub(crate) fn masked(text: &str) -> Option<MaskedText> {
    readable(text, lines::mends(text))
}

/// Returns the readable form of the metadata section of a damaged text: JSON without the `>` in front of its
/// lines. `None` for a section that is not damaged, as its first lines tell.
pub fn readable_section(section: &str) -> Option<String> {
    let head = section.char_indices().nth(SECTION_HEAD).map_or(section, |(end, _)| &section[..end]);
    let is_prefixed = head.lines().skip(1).any(|line| {
        line.starts_with(['>', '&']) || line.trim_start().starts_with(|c: char| c.is_ascii_digit())
    });
    if !is_prefixed && head.is_ascii() && !head.contains(['&', '\\']) {
        return None;
    }
    readable(section, lines::mends_of_section(section)).map(|masked| masked.text)
}

/// The most characters of a section that are searched for damage.
const SECTION_HEAD: usize = 200;

fn readable(text: &str, mends: Vec<Mend>) -> Option<MaskedText> {
    if mends.is_empty() {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    for mend in &mends {
        let place = &mut bytes[mend.range()];
        let length = place.len();
        match mend.damage {
            // A line begins after its prefix, as the grammar sees it.
            Damage::Quoted | Damage::Numbered => begin_line(place),
            Damage::Escape if mend.with.is_empty() && mend.is_before => begin_line(place),
            // The fence becomes a comment. Its line feed stays.
            Damage::Fence => {
                let line = place.strip_suffix(b"\n").map_or(length, <[u8]>::len);
                place[..line].fill(b' ');
                place[..2].fill(b'/');
            }
            _ => {
                place.fill(if mend.is_in_name { b'_' } else { b' ' });
                let with = mend.with.as_bytes();
                let at = if mend.is_before { length - with.len() } else { 0 };
                place[at..at + with.len()].copy_from_slice(with);
            }
        }
    }
    // Whole characters were replaced by ASCII.
    Some(MaskedText { text: String::from_utf8(bytes).ok()?, mends })
}

/// Overwrites what is in front of a line.
fn begin_line(place: &mut [u8]) {
    place.fill(b' ');
    if let Some(last) = place.last_mut() {
        *last = b'\n';
    }
}

impl MaskedText {
    /// Extends the tokens of the readable text over the whole of the places that they stand for: `&lt;` is
    /// one token. Takes time in proportion to the tokens and the places.
    pub(crate) fn join(&self, tokens: &mut Tokens) {
        let mut places = self.mends.iter().peekable();
        let (kinds, ends) = (std::mem::take(&mut tokens.kinds), std::mem::take(&mut tokens.ends));
        let mut last = 0;
        for (kind, mut end) in kinds.into_iter().zip(ends) {
            while places.next_if(|place| place.end <= end).is_some() {}
            if let Some(place) = places.peek().filter(|place| place.start < end) {
                // No token may end inside of a character, and one of white space ends before the place.
                let anchor = match (place.with.trim().is_empty(), place.is_before) {
                    (true, _) => place.end,
                    (false, true) => place.end - place.with.len() as u32,
                    (false, false) => place.start,
                };
                end = if end <= anchor { place.start } else { place.end };
            }
            if end > last {
                tokens.kinds.push(kind);
                tokens.ends.push(end);
                last = end;
            }
        }
    }

    /// Extends the range of an error of the lexer over the whole of the places that it touches.
    pub(crate) fn widen(&self, found: TextRange) -> TextRange {
        let around = |at: u32| {
            let next = self.mends.partition_point(|place| place.end <= at);
            self.mends.get(next).filter(|place| place.start < at)
        };
        let (start, end) = (u32::from(found.start()), u32::from(found.end()));
        let start = around(start).map_or(start, |place| place.start);
        let end = around(end).map_or(end, |place| place.end);
        range(start as usize, end as usize)
    }

    /// Returns the errors that record the damage.
    pub(crate) fn errors(&self) -> impl Iterator<Item = crate::SyntaxError> {
        self.mends.iter().map(|mend| crate::SyntaxError {
            range: range(mend.start as usize, mend.end as usize),
            kind: SyntaxErrorKind::Pasted { damage: mend.damage, count: mend.count },
        })
    }
}

/// The most rounds of a repair: what one of them uncovers, as in `&amp;` before an invisible character and
/// `lt;`, is the damage of the next one.
const MAX_ROUNDS: usize = 8;

/// Returns the edits that repair a damaged text, in order and without overlaps. The repaired text has no
/// damage but cuts, unless it was damaged more often than [`MAX_ROUNDS`] times.
pub fn cleaning(parse: &Parse) -> Vec<(TextRange, String)> {
    let before = parse.green.to_string();
    let first = edits(&before, parse);
    let mut after = apply(&before, &first);
    for round in 0..MAX_ROUNDS {
        let parse = crate::parse_with(&after, parse.limits());
        let more = edits(&after, &parse);
        if more.is_empty() {
            return match round {
                0 => first,
                _ => difference(&before, &after),
            };
        }
        after = apply(&after, &more);
    }
    difference(&before, &after)
}

/// Returns the edits of one round.
fn edits(text: &str, parse: &Parse) -> Vec<(TextRange, String)> {
    let mends = if parse.is_pasted { lines::mends(text) } else { Vec::new() };
    let mut edits: Vec<(TextRange, String)> = mends
        .iter()
        .map(|mend| (range(mend.start as usize, mend.end as usize), mend.with.to_owned()))
        .collect();
    let mut has_comments = false;
    for error in &parse.errors {
        if let SyntaxErrorKind::Pasted { damage: Damage::Asterisks, .. } = error.kind {
            let (start, end) = (usize::from(error.range.start()), usize::from(error.range.end()));
            edits.push((range(start, start + 1), "/*".to_owned()));
            edits.push((range(end - 1, end), "*/".to_owned()));
            has_comments = true;
        }
        if let SyntaxErrorKind::Pasted { damage: Damage::Remark, .. } = error.kind {
            let start = usize::from(error.range.start());
            edits.push((range(start, start), "// ".to_owned()));
            has_comments = true;
        }
    }
    if has_comments {
        edits.sort_by_key(|(range, _)| (range.start(), range.end()));
        edits.dedup_by(|later, earlier| later.0.start() < earlier.0.end());
    }
    edits
}

/// The most characters of the beginning of an item or a statement.
const BEGINNING: usize = 24;

/// Returns true at what can only be the beginning of an item or a statement.
fn begins_item(line: &str) -> bool {
    // `def` may have a no-break space after it.
    let read =
        |c: char| chars::meaning(c).map_or(c, |(_, with)| with.chars().next().unwrap_or(' '));
    let line: String = line.trim_start().chars().take(BEGINNING).map(read).collect();
    const BEGINS: &[&str] =
        &["def @", "#[", "fn (", "fn(", "type ", "let %", "free_var ", "v0.0.", "}"];
    let is_binding = || {
        let name = line.strip_prefix('%')?;
        let digits = name.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0 && name[digits..].starts_with(" = ")).then_some(())
    };
    BEGINS.iter().any(|begin| line.starts_with(begin)) || is_binding().is_some()
}

/// Returns the content of a string, whose quotes may be damaged: `“NCHW”`, `&quot;NCHW&quot;`.
pub fn unquoted(string: &str) -> &str {
    if let Some(inner) = string.strip_prefix("\\\"") {
        return inner.strip_suffix("\\\"").or(inner.strip_suffix('"')).unwrap_or(inner);
    }
    if let Some(inner) = string.strip_prefix('"') {
        return inner.strip_suffix('"').unwrap_or(inner);
    }
    let is_quote = |with: &str| with == "\"";
    let first = string.chars().next();
    let opening = match (chars::entity(string), first) {
        (Some((length, with)), _) if is_quote(with) => length,
        (_, Some(c)) if chars::meaning(c).is_some_and(|(_, with)| is_quote(with)) => c.len_utf8(),
        _ => 0,
    };
    let inner = &string[opening..];
    let last = inner.chars().next_back();
    let closing = match (inner.rfind('&').map(|at| (at, chars::entity(&inner[at..]))), last) {
        (Some((at, Some((length, with)))), _) if at + length == inner.len() && is_quote(with) => at,
        (_, Some('"')) => inner.len() - 1,
        (_, Some(c)) if chars::meaning(c).is_some_and(|(_, with)| is_quote(with)) => {
            inner.len() - c.len_utf8()
        }
        _ => inner.len(),
    };
    &inner[..closing]
}

impl Parse {
    /// Returns true if the text was read in a repaired form.
    pub fn is_pasted(&self) -> bool {
        self.is_pasted
    }
}

#[cfg(test)]
mod tests;
