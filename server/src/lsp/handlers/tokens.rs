//! `textDocument/semanticTokens/full`, `…/full/delta` and `…/range`
//!
//! The protocol counts each token from the one before. What a segment's tokens are, counted from
//! its start, depends on its text alone; only its first token depends on what stands in front. So
//! segments that are as they were are neither encoded nor sent a second time.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use ide::highlight::{Highlights, Segment, TokenKind, Words, highlight, highlight_range};
use syntax::{Encoding, LineColumn, LineIndex, TextRange};
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{
        ClientCapabilities, SemanticToken, SemanticTokenModifier, SemanticTokenType,
        SemanticTokens, SemanticTokensDelta, SemanticTokensDeltaParams, SemanticTokensEdit,
        SemanticTokensFullDeltaResult, SemanticTokensFullOptions, SemanticTokensLegend,
        SemanticTokensOptions, SemanticTokensParams, SemanticTokensRangeParams,
        SemanticTokensRangeResult, SemanticTokensResult, Url,
    },
};

use crate::lsp::{documents::Document, snapshot::Snapshot};

/// What the server can do, and what its numbers mean.
pub(in crate::lsp) fn options() -> SemanticTokensOptions {
    let token_types = TokenKind::ALL.map(|kind| match kind {
        TokenKind::Operator => SemanticTokenType::OPERATOR,
        TokenKind::Function => SemanticTokenType::FUNCTION,
        TokenKind::Variable => SemanticTokenType::VARIABLE,
        TokenKind::Parameter => SemanticTokenType::PARAMETER,
        TokenKind::Constructor => SemanticTokenType::ENUM_MEMBER,
        TokenKind::Type => SemanticTokenType::TYPE,
        TokenKind::TypeParameter => SemanticTokenType::TYPE_PARAMETER,
        TokenKind::Attribute => SemanticTokenType::PROPERTY,
        TokenKind::Keyword => SemanticTokenType::KEYWORD,
        TokenKind::Number => SemanticTokenType::NUMBER,
        TokenKind::String => SemanticTokenType::STRING,
        TokenKind::Comment => SemanticTokenType::COMMENT,
        TokenKind::Meta => SemanticTokenType::MACRO,
    });
    // In the order of the bits of `ide::highlight::modifier`.
    let token_modifiers = vec![
        SemanticTokenModifier::DECLARATION,
        SemanticTokenModifier::DEFINITION,
        SemanticTokenModifier::READONLY,
        SemanticTokenModifier::DEFAULT_LIBRARY,
        SemanticTokenModifier::new("shadowed"),
        SemanticTokenModifier::new("unused"),
    ];
    SemanticTokensOptions {
        legend: SemanticTokensLegend { token_types: token_types.into(), token_modifiers },
        range: Some(true),
        full: Some(SemanticTokensFullOptions::Delta { delta: Some(true) }),
        ..SemanticTokensOptions::default()
    }
}

/// Whether a client colours words by a grammar, too, and says so.
pub(in crate::lsp) fn has_grammar(client: &ClientCapabilities) -> bool {
    let document = client.text_document.as_ref();
    let tokens = document.and_then(|document| document.semantic_tokens.as_ref());
    tokens.and_then(|tokens| tokens.augments_syntax_tokens).unwrap_or(false)
}

/// What each document's client was sent last.
#[derive(Default)]
pub(in crate::lsp) struct Sent {
    last: Mutex<HashMap<Url, Arc<Encoded>>>,
    count: AtomicU64,
}

impl Sent {
    fn with<R>(&self, f: impl FnOnce(&mut HashMap<Url, Arc<Encoded>>) -> R) -> R {
        f(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Forgets a document that has been closed.
    pub(in crate::lsp) fn forget(&self, uri: &Url) {
        self.with(|last| last.remove(uri));
    }
}

/// The tokens of a document.
struct Encoded {
    id: String,
    form: Form,
    highlights: Highlights,
    parts: Vec<Part>,
}

/// How a client wants its tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Form {
    /// The units of columns.
    encoding: Encoding,
    /// Only what a grammar cannot know: the client has one. Half of the tokens of a printed module
    /// are comments and numbers.
    meaning_only: bool,
}

impl Form {
    fn of(snapshot: &Snapshot) -> Form {
        Form { encoding: snapshot.encoding, meaning_only: snapshot.session.has_grammar() }
    }
}

/// The tokens of a segment.
#[derive(Clone)]
struct Part {
    words: Arc<Words>,
    /// The tokens; the first is counted from the start of the segment.
    tokens: Arc<[SemanticToken]>,
    /// Where the last token begins, counted from the start of the segment.
    last: LineColumn,
    /// The first token, counted from the token in front of the segment.
    first: SemanticToken,
}

impl Part {
    fn is_same(&self, other: &Part) -> bool {
        Arc::ptr_eq(&self.words, &other.words) && self.first == other.first
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = SemanticToken> {
        std::iter::once(self.first).chain(self.tokens.iter().skip(1).copied())
    }
}

/// `to`, counted from `from`: a column counts from the line's start where the line is another.
fn distance(from: LineColumn, to: LineColumn) -> LineColumn {
    let line = to.line.saturating_sub(from.line);
    let column = if line == 0 { to.column.saturating_sub(from.column) } else { to.column };
    LineColumn { line, column }
}

/// The other way round.
fn behind(from: LineColumn, distance: LineColumn) -> LineColumn {
    let column = if distance.line == 0 { from.column + distance.column } else { distance.column };
    LineColumn { line: from.line + distance.line, column }
}

/// The tokens of a segment that begins at `start`, and where the last begins.
fn encode(
    segment: &Segment,
    start: LineColumn,
    lines: &LineIndex,
    form: Form,
) -> (Arc<[SemanticToken]>, LineColumn) {
    let mut walk = lines.walk(form.encoding);
    let mut before = start;
    let words = segment.words.list.iter();
    let words = words.filter(|word| !(form.meaning_only && word.kind.is_syntax()));
    let tokens = words.map(|word| {
        let range = word.range + segment.start;
        let at = walk.line_column(range.start());
        let end = walk.line_column(range.end());
        let delta = distance(before, at);
        before = at;
        SemanticToken {
            delta_line: delta.line,
            delta_start: delta.column,
            length: end.column.saturating_sub(at.column),
            token_type: word.kind as u32,
            token_modifiers_bitset: u32::from(word.modifiers),
        }
    });
    let tokens = tokens.collect();
    (tokens, distance(start, before))
}

/// The tokens of all segments; those that `before` has are taken over.
fn parts(
    highlights: &Highlights,
    lines: &LineIndex,
    form: Form,
    before: Option<&Encoded>,
) -> Vec<Part> {
    let known: HashMap<*const Words, &Part> = match before {
        Some(before) if before.form == form => {
            before.parts.iter().map(|part| (Arc::as_ptr(&part.words), part)).collect()
        }
        _ => HashMap::new(),
    };
    let mut walk = lines.walk(form.encoding);
    let mut last = LineColumn { line: 0, column: 0 };
    let mut parts = Vec::with_capacity(highlights.segments.len());
    for segment in &highlights.segments {
        let start = walk.line_column(segment.start);
        let (tokens, end) = match known.get(&Arc::as_ptr(&segment.words)) {
            Some(part) => (part.tokens.clone(), part.last),
            None => encode(segment, start, lines, form),
        };
        let Some(&first) = tokens.first() else { continue };
        let at = LineColumn { line: first.delta_line, column: first.delta_start };
        let delta = distance(last, behind(start, at));
        let first = SemanticToken { delta_line: delta.line, delta_start: delta.column, ..first };
        last = behind(start, end);
        parts.push(Part { words: segment.words.clone(), tokens, last: end, first });
    }
    parts
}

/// The tokens of a document as it is, remembered for the next time, and those of the last time.
fn current(
    snapshot: &Snapshot,
    uri: &Url,
    document: &Document,
) -> (Arc<Encoded>, Option<Arc<Encoded>>) {
    let sent = &snapshot.session.tokens;
    let before = sent.with(|last| last.get(uri).cloned());
    let old = before.as_ref().map(|before| &before.highlights);
    let highlights = highlight(&snapshot.db, document.file, old);
    let form = Form::of(snapshot);
    let parts = parts(&highlights, &document.lines, form, before.as_deref());
    let id = sent.count.fetch_add(1, Ordering::Relaxed).to_string();
    let encoded = Arc::new(Encoded { id, form, highlights, parts });
    sent.with(|last| last.insert(uri.clone(), encoded.clone()));
    (encoded, before)
}

/// All tokens, which wait as text for the answer to go out.
fn whole(snapshot: &Snapshot, encoded: &Encoded) -> SemanticTokens {
    let name = snapshot.session.parcels.leave(text(encoded));
    SemanticTokens { result_id: Some(name), data: Vec::new() }
}

/// The answer as it goes over the wire.
fn text(encoded: &Encoded) -> String {
    let count: usize = encoded.parts.iter().map(|part| part.tokens.len()).sum();
    // Most of the five numbers have one digit or two.
    let mut text = String::with_capacity(count * 13 + 64);
    // Identities are numbers.
    text.push_str("{\"resultId\":\"");
    text.push_str(&encoded.id);
    text.push_str("\",\"data\":[");
    let mut digits = itoa::Buffer::new();
    let mut comma = false;
    for token in encoded.parts.iter().flat_map(Part::all) {
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

pub(in crate::lsp) fn full(
    snapshot: &Snapshot,
    params: SemanticTokensParams,
) -> Result<Option<SemanticTokensResult>> {
    let uri = &params.text_document.uri;
    let document = snapshot.document(uri)?;
    let (encoded, _) = current(snapshot, uri, document);
    Ok(Some(SemanticTokensResult::Tokens(whole(snapshot, &encoded))))
}

pub(in crate::lsp) fn delta(
    snapshot: &Snapshot,
    params: SemanticTokensDeltaParams,
) -> Result<Option<SemanticTokensFullDeltaResult>> {
    let uri = &params.text_document.uri;
    let document = snapshot.document(uri)?;
    let (encoded, before) = current(snapshot, uri, document);
    let known = before.filter(|before| before.id == params.previous_result_id);
    Ok(Some(match known {
        Some(before) => SemanticTokensFullDeltaResult::TokensDelta(SemanticTokensDelta {
            result_id: Some(encoded.id.clone()),
            edits: difference(&before.parts, &encoded.parts),
        }),
        None => SemanticTokensFullDeltaResult::Tokens(whole(snapshot, &encoded)),
    }))
}

/// What makes `new` of `old`: at most one edit.
fn difference(old: &[Part], new: &[Part]) -> Vec<SemanticTokensEdit> {
    let same = |(a, b): &(&Part, &Part)| a.is_same(b);
    let front = old.iter().zip(new).take_while(same).count();
    let rest = old[front..].iter().rev().zip(new[front..].iter().rev());
    let back = rest.take_while(same).count();
    let count = |parts: &[Part]| parts.iter().map(|part| part.tokens.len()).sum::<usize>();
    let all = |parts: &[Part]| parts.iter().flat_map(Part::all).collect::<Vec<SemanticToken>>();
    let (gone, come) = (all(&old[front..old.len() - back]), all(&new[front..new.len() - back]));
    let head = gone.iter().zip(&come).take_while(|(a, b)| a == b).count();
    let tails = gone[head..].iter().rev().zip(come[head..].iter().rev());
    let tail = tails.take_while(|(a, b)| a == b).count();
    let come = come[head..come.len() - tail].to_vec();
    let delete = gone.len() - head - tail;
    if delete == 0 && come.is_empty() {
        return Vec::new();
    }
    // The protocol counts numbers, five a token.
    vec![SemanticTokensEdit {
        start: ((count(&old[..front]) + head) * 5) as u32,
        delete_count: (delete * 5) as u32,
        data: (!come.is_empty()).then_some(come),
    }]
}

pub(in crate::lsp) fn range(
    snapshot: &Snapshot,
    params: SemanticTokensRangeParams,
) -> Result<Option<SemanticTokensRangeResult>> {
    let document = snapshot.document(&params.text_document.uri)?;
    let encoding = snapshot.encoding;
    let Some(start) = document.offset(params.range.start, encoding) else { return Ok(None) };
    let end = document.offset(params.range.end, encoding).unwrap_or(document.lines.text_len());
    let wanted = TextRange::new(start, end.max(start));
    let mut highlights = highlight_range(&snapshot.db, document.file, wanted);
    for segment in &mut highlights.segments {
        let range = wanted.checked_sub(segment.start);
        let is_inside = |range: TextRange| {
            let range = range + segment.start;
            range.start() < wanted.end() && wanted.start() < range.end()
        };
        // A segment that lies in the range whole needs no look at its words.
        if range.is_none() || !segment.words.list.iter().all(|word| is_inside(word.range)) {
            segment.words = Arc::new(segment.words.only(is_inside));
        }
    }
    let parts = parts(&highlights, &document.lines, Form::of(snapshot), None);
    let data = parts.iter().flat_map(Part::all).collect();
    Ok(Some(SemanticTokensRangeResult::Tokens(SemanticTokens { result_id: None, data })))
}

#[cfg(test)]
mod tests {
    use semantics::Database;
    use syntax::{Edit, ParseLimits, TextSize};

    use super::*;

    fn encoded(
        db: &Database,
        file: semantics::SourceFile,
        text: &str,
        old: Option<&Encoded>,
    ) -> Encoded {
        let highlights = highlight(db, file, old.map(|old| &old.highlights));
        let form = Form { encoding: Encoding::Utf16, meaning_only: false };
        let parts = parts(&highlights, &LineIndex::new(text), form, old);
        Encoded { id: String::new(), form, highlights, parts }
    }

    /// All tokens, read back from the text.
    fn data(encoded: &Encoded) -> Vec<SemanticToken> {
        let tokens: SemanticTokens = serde_json::from_str(&text(encoded)).expect("tokens");
        assert_eq!(tokens.result_id.as_ref(), Some(&encoded.id));
        tokens.data
    }

    /// Where each token stands, as an editor finds it.
    fn decoded(tokens: &[SemanticToken]) -> Vec<(u32, u32, u32, u32)> {
        let mut at = LineColumn { line: 0, column: 0 };
        let tokens = tokens.iter().map(|token| {
            let delta = LineColumn { line: token.delta_line, column: token.delta_start };
            at = behind(at, delta);
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
        let wanted = [(0, 0, 8), (0, 9, 3), (0, 13, 2), (0, 16, 2), (0, 20, 5)];
        assert_eq!(places[..5], wanted);
        assert_eq!(places[5..], [(1, 2, 4), (2, 0, 5), (2, 6, 2)]);
    }

    #[test]
    fn a_delta_makes_the_new_tokens_of_the_old() {
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
            let at = text.find(from).expect("the text is there") as u32;
            let range = TextRange::at(at.into(), TextSize::of(from));
            let edit = Edit { range, insert: to.into() };
            edit.apply(&mut text);
            let parse = file.parse(&db).reparse(&text, &edit, ParseLimits::default());
            db.set_parse(file, Arc::new(parse));
            let new = encoded(&db, file, &text, Some(&old));
            let anew = encoded(&db, file, &text, None);
            assert_eq!(data(&new), data(&anew), "{to}");
            let mut patched = data(&old);
            for edit in difference(&old.parts, &new.parts) {
                let start = edit.start as usize / 5;
                let end = start + edit.delete_count as usize / 5;
                patched.splice(start..end, edit.data.unwrap_or_default());
            }
            assert_eq!(patched, data(&anew), "{to}");
            old = new;
        }
        assert_eq!(difference(&old.parts, &old.parts), []);
    }
}
