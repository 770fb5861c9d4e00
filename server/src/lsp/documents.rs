//! Open documents: their text as the client sent it, and how edits change it.

mod hosts;
mod text;

use std::{collections::HashMap, sync::Arc};

use semantics::{Code, Diagnostic, SourceFile, test_panic::panic_if_requested};
use syntax::{
    Edit, Encoding, LineColumn, LineIndex, Parse, ParseLimits, Source, TextRange, TextSize,
};
use tower_lsp::lsp_types::{Position, Range, TextDocumentContentChangeEvent, Url};

use crate::{panics, project::Project};
pub(super) use hosts::{Host, Origin};
pub(super) use text::Text;

/// An open document.
#[derive(Clone)]
pub(super) struct Document {
    /// The file in the database.
    pub(super) file: SourceFile,
    /// The number of documents opened before this one. Opening the same URI again gives another
    /// number.
    pub(super) opened: u64,
    /// The version, as the client counts it.
    pub(super) version: i32,
    pub(super) text: Text,
    /// The line starts of the text.
    pub(super) lines: Arc<LineIndex>,
    /// The syntax tree; empty if the text exceeds the size limit.
    pub(super) parse: Arc<Parse>,
    /// The last good parse: the one before an edit that added syntax errors. A typed `/` or `"` can
    /// change the tree of half of the module until the comment or string is completed. The next
    /// parse without these errors shares its nodes with this one, so that memos stay valid;
    /// sharing with the broken parse alone would lose them, and keep equal nodes twice.
    pub(super) last_good: Option<Arc<Parse>>,
    /// The settings of its project.
    pub(super) project: Arc<Project>,
    /// The reason that the text is not analysed, as a diagnostic.
    pub(super) problem: Option<Arc<Diagnostic>>,
    /// The blocks, if the document is of another language. Its own tree is empty then.
    pub(super) host: Option<Arc<Host>>,
    /// The place of a block in the document that it is embedded in.
    pub(super) origin: Option<Arc<Origin>>,
}

/// The open documents, by the URI that the client uses.
#[derive(Clone, Default)]
pub(super) struct Documents {
    open: HashMap<Url, Document>,
}

impl Documents {
    pub(super) fn get(&self, uri: &Url) -> Option<&Document> {
        self.open.get(uri)
    }

    pub(super) fn get_mut(&mut self, uri: &Url) -> Option<&mut Document> {
        self.open.get_mut(uri)
    }

    pub(super) fn insert(&mut self, uri: Url, document: Document) {
        self.open.insert(uri, document);
    }

    pub(super) fn remove(&mut self, uri: &Url) -> Option<Document> {
        self.open.remove(uri)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Url, &Document)> {
        self.open.iter()
    }

    /// Returns the open document, or the block of one, of a file in the database.
    pub(super) fn of_file(&self, file: SourceFile) -> Option<(&Url, &Document)> {
        self.open.iter().find_map(|(uri, document)| {
            let part = document.parts().iter().find(|part| part.file == file)?;
            Some((uri, part))
        })
    }
}

/// Limits on the texts that are analysed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Limits {
    /// The largest code size in bytes, without the metadata section.
    pub(super) code: usize,
    /// The limits on nesting.
    pub(super) parse: ParseLimits,
}

/// Parses a text. If it exceeds a limit or the parser panics, returns an empty tree and a diagnostic
/// with the reason.
pub(super) fn parse(text: &str, limits: Limits) -> (Arc<Parse>, Option<Arc<Diagnostic>>) {
    let code = memchr::memmem::find(text.as_bytes(), b"#[metadata]").unwrap_or(text.len());
    if code <= limits.code {
        let parsed = panics::caught(|| {
            panic_if_requested("parse", text);
            syntax::parse_with(text, limits.parse)
        });
        return match parsed {
            Ok(parse) => (Arc::new(parse), None),
            Err(panicked) => {
                let problem = panicked.diagnostic(TextRange::default());
                (Arc::new(syntax::parse("")), Some(Arc::new(problem)))
            }
        };
    }
    let message =
        format!("this file has more than {} MB of code, the limit for analysis", limits.code >> 20);
    let problem = Diagnostic::new(Code::FileTooLarge, TextRange::default(), message)
        .help("raise the setting `relay.limits.codeSize`, in megabytes");
    (Arc::new(syntax::parse("")), Some(Arc::new(problem)))
}

/// The largest distance in bytes between changes that are reparsed together. The text between them
/// is parsed again; for changes that are further apart, two separate reparses cost less.
const NEAR: u32 = 2_048;

/// The range in which the text differs from the text of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Span {
    /// The start, in both texts.
    start: TextSize,
    /// The end in the text of the tree.
    old_end: TextSize,
    /// The end in the current text.
    new_end: TextSize,
}

impl Span {
    fn at(offset: TextSize) -> Span {
        Span { start: offset, old_end: offset, new_end: offset }
    }

    /// Returns true if a change of `range` in the current text is reparsed together with this span.
    fn is_near(self, range: TextRange) -> bool {
        let near = TextSize::new(NEAR);
        range.start() <= self.new_end + near && self.start <= range.end() + near
    }

    /// Extends the span by an edit that has not been applied to the text yet.
    fn add(&mut self, edit: &Edit) {
        let (start, end) = (edit.range.start(), edit.range.end());
        // Both texts are equal after the span.
        self.old_end += end.checked_sub(self.new_end).unwrap_or_default();
        self.start = self.start.min(start);
        let end = self.new_end.max(end);
        self.new_end = end - edit.range.len() + TextSize::of(edit.insert.as_str());
    }

    /// Returns the edit from the text of the tree to `text`.
    fn edit(self, text: &Text) -> Edit {
        let inserted = text.part(TextRange::new(self.start, self.new_end).into());
        let insert = inserted.unwrap_or_default().into_owned();
        Edit { range: TextRange::new(self.start, self.old_end), insert }
    }
}

/// A message about an edit outside the text. The edit was clamped to the text and applied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct InvalidEdit(pub(super) String);

/// Converts a position. A column past the end of its line is clamped to the end of the line; a line
/// past the last has no offset.
fn offset<S: Source + ?Sized>(
    text: &S,
    lines: &LineIndex,
    position: Position,
    encoding: Encoding,
) -> Option<TextSize> {
    let at = LineColumn { line: position.line, column: position.character };
    let offset = lines.offset(at, encoding)?;
    // The end of a line precedes its break, and `\r\n` is one break.
    let content = lines.line_content(text, position.line)?;
    let offset = usize::from(offset.min(content.end()));
    // A column in bytes may be inside a character.
    let start = (0..=offset).rev().find(|&at| text.is_boundary(at)).unwrap_or_default();
    Some(TextSize::new(start as u32))
}

impl Document {
    /// Converts a position; see [`offset`].
    pub(super) fn offset(&self, position: Position, encoding: Encoding) -> Option<TextSize> {
        match &self.origin {
            None => offset(&self.text, &self.lines, position, encoding),
            Some(origin) => origin.offset(position, encoding),
        }
    }

    /// Applies changes in order. Changes close to one another are reparsed once, not one by one: some
    /// editors send bursts, and a single edit can invalidate the tree of half of the module.
    pub(super) fn edit(
        &mut self,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
        limits: Limits,
    ) -> Vec<InvalidEdit> {
        let mut invalid = Vec::new();
        // A replacement of the whole text discards the changes before it.
        let from = changes.iter().rposition(|change| change.range.is_none()).unwrap_or(0);
        let mut pending: Option<Span> = None;
        for change in changes.into_iter().skip(from) {
            let Some(range) = change.range else {
                self.replace(change.text, limits);
                continue;
            };
            let range = self.resolve(range, encoding, &mut invalid);
            let edit = Edit { range, insert: change.text };
            if usize::from(range.len()) == edit.insert.len()
                && self.text.part(range.into()).is_some_and(|old| old == edit.insert)
            {
                continue;
            }
            if let Some(span) = pending.take_if(|span| !span.is_near(range)) {
                self.reparse(span, limits);
            }
            let span = pending.get_or_insert_with(|| Span::at(range.start()));
            span.add(&edit);
            self.splice(&edit);
        }
        if let Some(span) = pending {
            self.reparse(span, limits);
        }
        invalid
    }

    /// Replaces the whole text.
    fn replace(&mut self, text: String, limits: Limits) {
        if text == *self.text {
            return;
        }
        if self.host.is_none() {
            let (parse, problem) = parse(&text, limits);
            let installed = panics::caught(|| self.install((*parse).clone().reusing(&self.parse)));
            if installed.is_err() {
                // Sharing is an optimisation only.
                (self.parse, self.last_good) = (parse, None);
            }
            self.problem = problem;
        }
        self.lines = Arc::new(LineIndex::new(&text));
        self.text = text.into();
    }

    /// Changes the text to another one of which most is the same.
    pub(super) fn set_text(&mut self, text: &str, limits: Limits) {
        let old = &*self.text;
        if old == text {
            return;
        }
        let common = |pairs: &mut dyn Iterator<Item = (char, char)>| {
            pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>()
        };
        let start = common(&mut old.chars().zip(text.chars()));
        let end = common(&mut old[start..].chars().rev().zip(text[start..].chars().rev()));
        let range = TextRange::new((start as u32).into(), ((old.len() - end) as u32).into());
        let edit = Edit { range, insert: text[start..text.len() - end].to_owned() };
        let mut span = Span::at(range.start());
        span.add(&edit);
        self.splice(&edit);
        self.reparse(span, limits);
    }

    /// Edits the text and its line index. The tree remains that of the previous text.
    fn splice(&mut self, edit: &Edit) {
        self.text.edit(edit);
        let inserted = TextSize::of(edit.insert.as_str());
        let updated = panics::caught(|| {
            Arc::make_mut(&mut self.lines).edit(&self.text, edit.range, inserted);
        });
        if updated.is_err() {
            self.lines = Arc::new(LineIndex::new(&self.text));
        }
    }

    /// Updates the tree for the text, which differs from it in `span`.
    fn reparse(&mut self, span: Span, limits: Limits) {
        if self.host.is_some() {
            return;
        }
        let _reparse = tracing::debug_span!("reparse").entered();
        let text = self.text.clone();
        let has_limits = self.parse.limits() == limits.parse && text.len() <= limits.code;
        if self.problem.is_none() && has_limits {
            let edit = span.edit(&text);
            let updated = panics::caught(|| {
                if cfg!(debug_assertions) {
                    panic_if_requested("edit", &text);
                }
                self.install(self.parse.reparse(&text, &edit));
            });
            if updated.is_ok() {
                return;
            }
            self.last_good = None;
        }
        (self.parse, self.problem) = parse(&text, limits);
    }

    /// Installs a parse, and updates the last good parse.
    fn install(&mut self, mut parse: Parse) {
        let is_as_good = |good: &mut Arc<Parse>| parse.errors.len() <= good.errors.len();
        if let Some(good) = self.last_good.take_if(is_as_good) {
            parse = parse.reusing(&good);
        }
        let previous = std::mem::replace(&mut self.parse, Arc::new(parse));
        if self.last_good.is_none() && self.parse.errors.len() > previous.errors.len() {
            self.last_good = Some(previous);
        }
    }

    /// Converts a range from the client, clamped to the text.
    fn resolve(
        &self,
        range: Range,
        encoding: Encoding,
        invalid: &mut Vec<InvalidEdit>,
    ) -> TextRange {
        let mut place = |position: Position| {
            self.offset(position, encoding).unwrap_or_else(|| {
                invalid.push(InvalidEdit(format!(
                    "an edit names line {} of {}; it was applied at the end of the document",
                    u64::from(position.line) + 1,
                    self.lines.line_count()
                )));
                self.lines.text_len()
            })
        };
        let (start, end) = (place(range.start), place(range.end));
        if start > end {
            invalid
                .push(InvalidEdit("an edit ends before it starts; its ends were swapped".into()));
        }
        TextRange::new(start.min(end), start.max(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { code: 1000, parse: ParseLimits { depth: 256, chain: 2000 } };

    fn document(text: &str) -> Document {
        let db = semantics::Database::new();
        let (parse, problem) = parse(text, LIMITS);
        Document {
            file: db.add_file("", ParseLimits::default()),
            opened: 0,
            version: 1,
            text: text.to_owned().into(),
            lines: Arc::new(LineIndex::new(text)),
            parse,
            last_good: None,
            project: Arc::default(),
            problem,
            host: None,
            origin: None,
        }
    }

    fn change(from: (u32, u32), to: (u32, u32), text: &str) -> TextDocumentContentChangeEvent {
        let at = |(line, column)| Position::new(line, column);
        TextDocumentContentChangeEvent {
            range: Some(Range::new(at(from), at(to))),
            range_length: None,
            text: text.into(),
        }
    }

    fn whole(text: &str) -> TextDocumentContentChangeEvent {
        TextDocumentContentChangeEvent { range: None, range_length: None, text: text.into() }
    }

    #[test]
    fn columns_are_clamped_to_the_line_before_its_break() {
        let text = "ab\r\nä𝄞c\n";
        let lines = LineIndex::new(text);
        let at = |line, column, encoding| {
            offset(text, &lines, Position::new(line, column), encoding).map(u32::from)
        };
        assert_eq!(at(0, 99, Encoding::Utf16), Some(2));
        assert_eq!(at(1, 3, Encoding::Utf16), Some(10));
        assert_eq!(at(1, 2, Encoding::Utf32), Some(10));
        assert_eq!(at(1, 6, Encoding::Utf8), Some(10));
        assert_eq!(at(2, 0, Encoding::Utf16), Some(12));
        assert_eq!(at(3, 0, Encoding::Utf16), None);
    }

    #[test]
    fn undoing_a_brace_restores_the_nodes_of_the_last_good_parse() {
        let lines: String = (0..50).map(|i| format!("  let %a{i} = {i};\n")).collect();
        let mut document = document(&format!("def @f() {{\n{lines}  %a49\n}}\n"));
        let statements = |document: &Document| -> Vec<usize> {
            let node = syntax::Node::root(&document.parse.green);
            let statements = node.descendants().filter(|node| node.kind().is_stmt());
            statements.map(|node| std::ptr::from_ref(node.green()) as usize).collect()
        };
        let before = statements(&document);
        document.edit(vec![change((10, 2), (10, 2), "}")], Encoding::Utf8, LIMITS);
        assert!(document.last_good.is_some(), "{:#?}", document.parse.errors);
        document.edit(vec![change((10, 2), (10, 3), "")], Encoding::Utf8, LIMITS);
        assert!(document.last_good.is_none());
        let kept = before.iter().zip(statements(&document)).filter(|(a, b)| **a == *b).count();
        // All except the edited statement.
        assert!(kept >= 49, "{kept} of 50");
    }

    #[test]
    fn changes_apply_in_order() {
        let mut document = document("def @f() { 1 }\r\n");
        let changes = vec![
            change((0, 0), (0, 3), "discarded"),
            whole("def @g() { 2 }\r\n%x"),
            change((0, 11), (0, 12), "3"),
            change((1, 1), (1, 2), "y"),
        ];
        assert_eq!(document.edit(changes, Encoding::Utf16, LIMITS), []);
        assert_eq!(&*document.text, "def @g() { 3 }\r\n%y");
        assert_eq!(document.parse.syntax().to_string(), *document.text);
        assert_eq!(*document.lines, LineIndex::new(&document.text));
    }

    /// Text, lines and tree after a batch of changes equal those after the changes one by one.
    #[test]
    fn batched_changes_equal_single_changes() {
        let mut rng = 1u64;
        let mut random = |below: u64| {
            rng =
                rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (rng >> 33) % below.max(1)
        };
        let lines: String = (0..200).map(|i| format!("  let %a{i} = add(%x, {i});\n")).collect();
        let text = format!("def @f(%x: int32) {{\n{lines}  %a49\n}}\n");
        let limits = Limits { code: 1 << 20, ..LIMITS };
        for _ in 0..60 {
            let (mut batched, mut single) = (document(""), document(""));
            batched.edit(vec![whole(&text)], Encoding::Utf8, limits);
            single.edit(vec![whole(&text)], Encoding::Utf8, limits);
            let center = random(200) as u32;
            let changes: Vec<_> = (0..random(20) + 1)
                .map(|_| {
                    // Three of four are close to one another.
                    let line =
                        if random(4) == 0 { random(205) as u32 } else { center + random(3) as u32 };
                    let from = (line, random(12) as u32);
                    let to = (line + random(2) as u32, random(14) as u32);
                    let typed =
                        ["", "z", "\"", "/*", "*/", "}", "{", "\n", "%q = 1;", "def @g() { 1 }\n"];
                    change(from.min(to), from.max(to), typed[random(typed.len() as u64) as usize])
                })
                .collect();
            for change in changes.clone() {
                single.edit(vec![change], Encoding::Utf8, limits);
            }
            batched.edit(changes, Encoding::Utf8, limits);
            assert_eq!(*batched.text, *single.text);
            assert_eq!(*batched.lines, LineIndex::new(&batched.text));
            let fresh = syntax::parse_with(&batched.text, limits.parse);
            assert_eq!(batched.parse.syntax().to_string(), *batched.text);
            assert_eq!(batched.parse.green, fresh.green);
            // A reparse appends its errors, in no particular order.
            let errors = |parse: &Parse| {
                let mut errors: Vec<String> =
                    parse.errors.iter().map(|error| format!("{error:?}")).collect();
                errors.sort();
                errors
            };
            assert_eq!(errors(&batched.parse), errors(&fresh));
        }
    }

    #[test]
    fn edits_outside_the_text_are_clamped() {
        let mut document = document("ab\r\ncd");
        let invalid = document.edit(vec![change((7, 0), (9, 0), "!")], Encoding::Utf16, LIMITS);
        assert_eq!(invalid.len(), 2);
        assert_eq!(&*document.text, "ab\r\ncd!");
        let invalid = document.edit(vec![change((0, 90), (0, 1), "-")], Encoding::Utf16, LIMITS);
        assert_eq!(invalid.len(), 1);
        assert_eq!(&*document.text, "a-\r\ncd!");
    }

    #[test]
    fn text_below_the_limit_again_is_parsed_again() {
        let mut document = document("");
        document.edit(vec![whole(&"//\n".repeat(400))], Encoding::Utf8, LIMITS);
        assert!(document.problem.is_some());
        document.edit(vec![change((1, 0), (400, 0), "")], Encoding::Utf8, LIMITS);
        assert!(document.problem.is_none());
        assert_eq!(document.parse.syntax().to_string(), "//\n");
    }
}
