//! The encoding of semantic tokens, and the tokens that the client has of each document.
//!
//! The protocol encodes the position of each token relative to the previous token. The tokens of a
//! segment (a top-level definition such as `def @main(%x: int32) { %x }`), encoded relative to its
//! start, depend on its text alone; only its first token depends on the text before. Segments that
//! an edit does not change are therefore neither encoded nor sent again.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use ide::highlight::{Highlights, Segment, Words};
use parking_lot::Mutex;
use syntax::{Encoding, LineColumn, LineIndex, LineWalk};
use tower_lsp::lsp_types::{SemanticToken, SemanticTokensEdit, Url};

/// The tokens that the client was last sent of each document.
#[derive(Default)]
pub(super) struct TokenCache {
    last: Mutex<HashMap<Url, Arc<EncodedTokens>>>,
    count: AtomicU64,
}

impl TokenCache {
    /// Returns the tokens of a document that were last sent.
    pub(super) fn get(&self, uri: &Url) -> Option<Arc<EncodedTokens>> {
        self.last.lock().get(uri).cloned()
    }

    /// Encodes the tokens of a document and stores them under a new identifier.
    pub(super) fn encode(
        &self,
        uri: &Url,
        highlights: Highlights,
        lines: &LineIndex,
        form: Form,
        previous: Option<&EncodedTokens>,
    ) -> Arc<EncodedTokens> {
        let segments = encode_segments(&highlights, lines, form, previous);
        let id = self.count.fetch_add(1, Ordering::Relaxed).to_string();
        let encoded = Arc::new(EncodedTokens { id, form, highlights, segments });
        self.last.lock().insert(uri.clone(), encoded.clone());
        encoded
    }

    /// Evicts a document.
    pub(super) fn forget(&self, uri: &Url) {
        self.last.lock().remove(uri);
    }
}

/// The encoded tokens of a document.
pub(super) struct EncodedTokens {
    /// The `resultId`, a number.
    pub(super) id: String,
    pub(super) highlights: Highlights,
    form: Form,
    segments: Vec<EncodedSegment>,
}

/// The form of the tokens that a client takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Form {
    /// The unit of columns.
    pub(super) encoding: Encoding,
    /// Set for a client with a grammar, which gets only the tokens that a grammar cannot classify.
    /// Half of the tokens of a printed module are comments and numbers.
    pub(super) without_syntax: bool,
}

/// The tokens of a segment.
#[derive(Clone)]
struct EncodedSegment {
    words: Arc<Words>,
    /// The tokens, the first relative to the start of the segment.
    tokens: Arc<[SemanticToken]>,
    /// The start of the last token, relative to the start of the segment.
    last: LineColumn,
    /// The first token, relative to the last token before the segment.
    first: SemanticToken,
}

impl EncodedSegment {
    fn is_same(&self, other: &EncodedSegment) -> bool {
        Arc::ptr_eq(&self.words, &other.words) && self.first == other.first
    }

    fn tokens(&self) -> impl DoubleEndedIterator<Item = SemanticToken> {
        std::iter::once(self.first).chain(self.tokens.iter().skip(1).copied())
    }
}

/// Returns `to` relative to `from`: the column is relative only on the same line.
fn distance(from: LineColumn, to: LineColumn) -> LineColumn {
    let line = to.line.saturating_sub(from.line);
    let column = if line == 0 { to.column.saturating_sub(from.column) } else { to.column };
    LineColumn { line, column }
}

/// Returns the position at `distance` from `from`, the inverse of [`distance`].
fn advance(from: LineColumn, distance: LineColumn) -> LineColumn {
    let column = if distance.line == 0 { from.column + distance.column } else { distance.column };
    LineColumn { line: from.line + distance.line, column }
}

/// Returns the tokens of a segment at `start`, where `walk` is, and the distance from `start` to the last
/// token.
fn encode_segment(
    segment: &Segment,
    start: LineColumn,
    mut walk: LineWalk<'_>,
    form: Form,
) -> (Arc<[SemanticToken]>, LineColumn) {
    let mut previous = start;
    let words = segment.words.list.iter();
    let words = words.filter(|word| !(form.without_syntax && word.kind.is_syntax()));
    let tokens = words.map(|word| {
        let range = word.range + segment.start;
        let at = walk.line_column(range.start());
        let end = walk.line_column(range.end());
        let delta = distance(previous, at);
        previous = at;
        SemanticToken {
            delta_line: delta.line,
            delta_start: delta.column,
            length: end.column.saturating_sub(at.column),
            token_type: word.kind as u32,
            token_modifiers_bitset: u32::from(word.modifiers),
        }
    });
    let tokens = tokens.collect();
    (tokens, distance(start, previous))
}

/// Encodes all segments, reusing those of `previous` with the same words.
fn encode_segments(
    highlights: &Highlights,
    lines: &LineIndex,
    form: Form,
    previous: Option<&EncodedTokens>,
) -> Vec<EncodedSegment> {
    let known: HashMap<*const Words, &EncodedSegment> = match previous {
        Some(previous) if previous.form == form => {
            let segments = previous.segments.iter();
            segments.map(|segment| (Arc::as_ptr(&segment.words), segment)).collect()
        }
        _ => HashMap::new(),
    };
    let mut walk = lines.walk(form.encoding);
    let mut last = LineColumn { line: 0, column: 0 };
    let mut encoded = Vec::with_capacity(highlights.segments.len());
    for segment in &highlights.segments {
        let start = walk.line_column(segment.start);
        let (tokens, end) = match known.get(&Arc::as_ptr(&segment.words)) {
            Some(known) => (known.tokens.clone(), known.last),
            // A walk from the start of the text would pass all lines before the segment.
            None => encode_segment(segment, start, walk.clone(), form),
        };
        let Some(&first) = tokens.first() else { continue };
        let at = LineColumn { line: first.delta_line, column: first.delta_start };
        let delta = distance(last, advance(start, at));
        let first = SemanticToken { delta_line: delta.line, delta_start: delta.column, ..first };
        last = advance(start, end);
        encoded.push(EncodedSegment { words: segment.words.clone(), tokens, last: end, first });
    }
    encoded
}

/// Encodes tokens that are not cached.
pub(super) fn encode_once(
    highlights: &Highlights,
    lines: &LineIndex,
    form: Form,
) -> Vec<SemanticToken> {
    let segments = encode_segments(highlights, lines, form, None);
    segments.iter().flat_map(EncodedSegment::tokens).collect()
}

impl EncodedTokens {
    /// Returns the JSON text of the tokens as a `SemanticTokens`.
    pub(super) fn json(&self) -> String {
        let count: usize = self.segments.iter().map(|segment| segment.tokens.len()).sum();
        // Most of the five numbers of a token have one or two digits.
        let mut text = String::with_capacity(count * 13 + 64);
        text.push_str("{\"resultId\":\"");
        text.push_str(&self.id);
        text.push_str("\",\"data\":[");
        let mut digits = itoa::Buffer::new();
        let mut comma = false;
        for token in self.segments.iter().flat_map(EncodedSegment::tokens) {
            for number in [
                token.delta_line,
                token.delta_start,
                token.length,
                token.token_type,
                token.token_modifiers_bitset,
            ] {
                if std::mem::replace(&mut comma, true) {
                    text.push(',');
                }
                text.push_str(digits.format(number));
            }
        }
        text.push_str("]}");
        text
    }

    /// Returns the edits from `old` to these tokens, at most one.
    pub(super) fn edits_from(&self, old: &EncodedTokens) -> Vec<SemanticTokensEdit> {
        let (old, new) = (&old.segments, &self.segments);
        let same = |(a, b): &(&EncodedSegment, &EncodedSegment)| a.is_same(b);
        let front = old.iter().zip(new).take_while(same).count();
        let rest = old[front..].iter().rev().zip(new[front..].iter().rev());
        let back = rest.take_while(same).count();
        let all = |segments: &[EncodedSegment]| -> Vec<SemanticToken> {
            segments.iter().flat_map(EncodedSegment::tokens).collect()
        };
        let removed = all(&old[front..old.len() - back]);
        let inserted = all(&new[front..new.len() - back]);
        let head = removed.iter().zip(&inserted).take_while(|(a, b)| a == b).count();
        let tails = removed[head..].iter().rev().zip(inserted[head..].iter().rev());
        let tail = tails.take_while(|(a, b)| a == b).count();
        let inserted = inserted[head..inserted.len() - tail].to_vec();
        let delete = removed.len() - head - tail;
        if delete == 0 && inserted.is_empty() {
            return Vec::new();
        }
        let before: usize = old[..front].iter().map(|segment| segment.tokens.len()).sum();
        // The protocol counts numbers, five per token.
        vec![SemanticTokensEdit {
            start: ((before + head) * 5) as u32,
            delete_count: (delete * 5) as u32,
            data: (!inserted.is_empty()).then_some(inserted),
        }]
    }
}

#[cfg(test)]
mod tests {
    use ide::highlight::highlight;
    use semantics::Database;
    use syntax::{Edit, ParseLimits, TextRange, TextSize};
    use tower_lsp::lsp_types::SemanticTokens;

    use super::*;

    fn encoded(
        db: &Database,
        file: semantics::SourceFile,
        text: &str,
        old: Option<&EncodedTokens>,
    ) -> EncodedTokens {
        let highlights = highlight(db, file, old.map(|old| &old.highlights));
        let form = Form { encoding: Encoding::Utf16, without_syntax: false };
        let segments = encode_segments(&highlights, &LineIndex::new(text), form, old);
        EncodedTokens { id: String::new(), form, highlights, segments }
    }

    /// Parses the JSON text of tokens.
    fn data(encoded: &EncodedTokens) -> Vec<SemanticToken> {
        let tokens: SemanticTokens = serde_json::from_str(&encoded.json()).expect("tokens");
        assert_eq!(tokens.result_id.as_ref(), Some(&encoded.id));
        tokens.data
    }

    /// Decodes the line, column, length and type of each token, as an editor does.
    fn decoded(tokens: &[SemanticToken]) -> Vec<(u32, u32, u32, u32)> {
        let mut at = LineColumn { line: 0, column: 0 };
        let tokens = tokens.iter().map(|token| {
            let delta = LineColumn { line: token.delta_line, column: token.delta_start };
            at = advance(at, delta);
            (at.line, at.column, token.length, token.token_type)
        });
        tokens.collect()
    }

    #[test]
    fn columns_are_utf16() {
        let text = "/* 🚀 */ def @f(%é: int32) {\n  /* a\n é */ %é }";
        let db = Database::new();
        let file = db.add_file(text, ParseLimits::default());
        let tokens = data(&encoded(&db, file, text, None));
        let places: Vec<_> = decoded(&tokens).iter().map(|t| (t.0, t.1, t.2)).collect();
        // The comment, `def`, `@f`, `%é`, `int32`; two lines of a comment; `%é`.
        let expected = [(0, 0, 8), (0, 9, 3), (0, 13, 2), (0, 16, 2), (0, 20, 5)];
        assert_eq!(places[..5], expected);
        assert_eq!(places[5..], [(1, 2, 4), (2, 0, 5), (2, 6, 2)]);
    }

    #[test]
    fn edits_turn_old_tokens_into_new_ones() {
        let mut text = String::from("def @f(%x: int32) {\n");
        for i in 0..20 {
            text += &format!("  %{i} = add(%x, {i});\n");
        }
        text += "  %x\n}\n";
        let mut db = Database::new();
        let file = db.add_file(&text, ParseLimits::default());
        let mut old = encoded(&db, file, &text, None);
        for (from, to) in [
            ("add(%x, 7)", "subtract(%x, 7)"),
            ("\n  %9", "\n\n  %9"),
            ("  %3 = add(%x, 3);\n", ""),
            ("add(%x, 12)", "add(%x,\n12)"),
            ("%x: int32", "%é: int32"),
            ("}\n", "}\ndef @g() { 1 }"),
        ] {
            let at = text.find(from).expect("the text contains it") as u32;
            let range = TextRange::at(at.into(), TextSize::of(from));
            let edit = Edit { range, insert: to.into() };
            edit.apply(&mut text);
            db.apply(file, &edit);
            let new = encoded(&db, file, &text, Some(&old));
            let fresh = encoded(&db, file, &text, None);
            assert_eq!(data(&new), data(&fresh), "{to}");
            let mut patched = data(&old);
            for edit in new.edits_from(&old) {
                let start = edit.start as usize / 5;
                let end = start + edit.delete_count as usize / 5;
                patched.splice(start..end, edit.data.unwrap_or_default());
            }
            assert_eq!(patched, data(&fresh), "{to}");
            old = new;
        }
        assert_eq!(old.edits_from(&old), []);
    }
}
