//! Open documents: their text as the client sent it, and how edits change it.

use std::{collections::HashMap, sync::Arc};

use semantics::{Diagnostic, SourceFile, provoke::panic_if_asked};
use syntax::{Edit, Encoding, LineIndex, Parse, ParseLimits, TextRange, TextSize};
use tower_lsp::lsp_types::{Position, Range, TextDocumentContentChangeEvent, Url};

use super::convert;
use crate::panics;

/// An open document.
#[derive(Clone)]
pub(super) struct Document {
    /// Its file in the database.
    pub(super) file: SourceFile,
    /// How many documents had been opened before it: another number each time that it is opened.
    pub(super) opened: u64,
    /// The version that the client counts.
    pub(super) version: i32,
    /// The text.
    pub(super) text: Arc<String>,
    /// Where its lines begin.
    pub(super) lines: Arc<LineIndex>,
    /// The tree; empty where the text is too large to be looked at.
    pub(super) parse: Arc<Parse>,
    /// The parse before an edit with which more was wrong: a `/` or a missing `"` makes another tree
    /// of half of the module. Most such edits are taken back or completed, and then what was there is
    /// there again: what has been found out of it stays true without a look, and memory does not
    /// hold it beside its equal.
    pub(super) sound: Option<Arc<Parse>>,
    /// Why the text is not looked at.
    pub(super) problem: Option<Arc<Diagnostic>>,
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

    /// The document that stands for `file`.
    pub(super) fn of_file(&self, file: SourceFile) -> Option<(&Url, &Document)> {
        self.open.iter().find(|(_, document)| document.file == file)
    }
}

/// What is looked at, and what is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Limits {
    /// Bytes of code beside the metadata section.
    pub(super) code: usize,
    /// Nesting.
    pub(super) parse: ParseLimits,
}

/// Parses a text, or says why it is not parsed.
pub(super) fn parse(text: &str, limits: Limits) -> (Arc<Parse>, Option<Arc<Diagnostic>>) {
    let code = memchr::memmem::find(text.as_bytes(), b"#[metadata]").unwrap_or(text.len());
    if code <= limits.code {
        let parsed = panics::caught(|| {
            panic_if_asked("parse", text);
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
    let message = format!(
        "this file holds more than {} MB of code, the most that is looked at",
        limits.code >> 20
    );
    let problem = Diagnostic::new("file-too-large", TextRange::default(), message)
        .help("raise the setting `relay.limits.codeSize`, in megabytes");
    (Arc::new(syntax::parse("")), Some(Arc::new(problem)))
}

/// How far apart changes may be whose text is parsed as one, in bytes. What is between them is read
/// again; further apart, two looks cost less.
const NEAR: u32 = 2_048;

/// Where the text differs from the text of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Span {
    /// Where it begins, in both.
    start: TextSize,
    /// Where it ends in the text of the tree.
    old_end: TextSize,
    /// Where it ends in the text.
    new_end: TextSize,
}

impl Span {
    fn at(offset: TextSize) -> Span {
        Span { start: offset, old_end: offset, new_end: offset }
    }

    /// Whether a change of `range`, counted in the text, is parsed together with these.
    fn is_near(self, range: TextRange) -> bool {
        let near = TextSize::new(NEAR);
        range.start() <= self.new_end + near && self.start <= range.end() + near
    }

    /// Includes an edit of the text, before that is changed.
    fn add(&mut self, edit: &Edit) {
        let (start, end) = (edit.range.start(), edit.range.end());
        // After the span both texts are equal.
        self.old_end += end.checked_sub(self.new_end).unwrap_or_default();
        self.start = self.start.min(start);
        let end = self.new_end.max(end);
        self.new_end = end - edit.range.len() + TextSize::of(edit.insert.as_str());
    }

    /// The edit that makes `text` of the text of the tree.
    fn edit(self, text: &str) -> Edit {
        let insert =
            &text[std::ops::Range::<usize>::from(TextRange::new(self.start, self.new_end))];
        Edit { range: TextRange::new(self.start, self.old_end), insert: insert.to_owned() }
    }
}

/// What was odd about an edit; it was applied as well as it could be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Oddity(pub(super) String);

impl Document {
    /// Applies changes in order. The tree is made once for all that are near one another: an editor
    /// that does not wait sends a burst, and some edits make another tree of half of the module.
    pub(super) fn edit(
        &mut self,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
        limits: Limits,
    ) -> Vec<Oddity> {
        let mut oddities = Vec::new();
        // What precedes a change of the whole text does not matter.
        let from = changes.iter().rposition(|change| change.range.is_none()).unwrap_or(0);
        let mut pending: Option<Span> = None;
        for change in changes.into_iter().skip(from) {
            let Some(range) = change.range else {
                self.replace(change.text, limits);
                continue;
            };
            let range = self.resolve(range, encoding, &mut oddities);
            let edit = Edit { range, insert: change.text };
            if usize::from(range.len()) == edit.insert.len()
                && self.text[std::ops::Range::<usize>::from(range)] == edit.insert
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
        oddities
    }

    /// The whole text is new.
    fn replace(&mut self, text: String, limits: Limits) {
        if text == *self.text {
            return;
        }
        let (parse, problem) = parse(&text, limits);
        let installed = panics::caught(|| self.grow((*parse).clone().sharing(&self.parse)));
        if installed.is_err() {
            // Sharing saves memory and no more.
            (self.parse, self.sound) = (parse, None);
        }
        self.problem = problem;
        self.lines = Arc::new(LineIndex::new(&text));
        self.text = Arc::new(text);
    }

    /// Changes the text and its lines; the tree is that of the text before.
    fn splice(&mut self, edit: &Edit) {
        // A snapshot that is still about keeps the old text.
        edit.apply(Arc::make_mut(&mut self.text));
        let inserted = TextSize::of(edit.insert.as_str());
        let updated = panics::caught(|| {
            Arc::make_mut(&mut self.lines).edit(&self.text, edit.range, inserted);
        });
        if updated.is_err() {
            self.lines = Arc::new(LineIndex::new(&self.text));
        }
    }

    /// Makes the tree that of the text: they differ in `span`.
    fn reparse(&mut self, span: Span, limits: Limits) {
        let text = self.text.clone();
        if self.problem.is_none() && text.len() <= limits.code {
            let edit = span.edit(&text);
            let updated = panics::caught(|| {
                panic_if_asked("edit", &text);
                self.grow(self.parse.reparse(&text, &edit, limits.parse));
            });
            if updated.is_ok() {
                return;
            }
            self.sound = None;
        }
        (self.parse, self.problem) = parse(&text, limits);
    }

    /// Takes the next parse.
    fn grow(&mut self, mut parse: Parse) {
        let is_sound = |sound: &mut Arc<Parse>| parse.errors.len() <= sound.errors.len();
        if let Some(sound) = self.sound.take_if(is_sound) {
            parse = parse.sharing(&sound);
        }
        let before = std::mem::replace(&mut self.parse, Arc::new(parse));
        if self.sound.is_none() && self.parse.errors.len() > before.errors.len() {
            self.sound = Some(before);
        }
    }

    /// A range that the client sent, made to fit the text.
    fn resolve(&self, range: Range, encoding: Encoding, oddities: &mut Vec<Oddity>) -> TextRange {
        let mut place = |position: Position| {
            convert::offset(&self.text, &self.lines, position, encoding).unwrap_or_else(|| {
                oddities.push(Oddity(format!(
                    "an edit names line {}, and the document has {} lines; it was applied at the end",
                    u64::from(position.line) + 1,
                    self.lines.line_count()
                )));
                self.lines.text_len()
            })
        };
        let (start, end) = (place(range.start), place(range.end));
        if start > end {
            oddities
                .push(Oddity("an edit ends before it begins; it was applied turned round".into()));
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
            text: Arc::new(text.to_owned()),
            lines: Arc::new(LineIndex::new(text)),
            parse,
            sound: None,
            problem,
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
    fn a_brace_that_came_and_went_leaves_the_tree_that_was() {
        let lines: String = (0..50).map(|i| format!("  let %a{i} = {i};\n")).collect();
        let mut document = document(&format!("def @f() {{\n{lines}  %a49\n}}\n"));
        let statements = |document: &Document| -> Vec<usize> {
            let node = syntax::Node::root(&document.parse.green);
            let statements = node.descendants().filter(|node| node.kind().is_stmt());
            statements.map(|node| std::ptr::from_ref(node.green()) as usize).collect()
        };
        let before = statements(&document);
        document.edit(vec![change((10, 2), (10, 2), "}")], Encoding::Utf8, LIMITS);
        assert!(document.sound.is_some(), "{:#?}", document.parse.errors);
        document.edit(vec![change((10, 2), (10, 3), "")], Encoding::Utf8, LIMITS);
        assert!(document.sound.is_none());
        let kept = before.iter().zip(statements(&document)).filter(|(a, b)| **a == *b).count();
        // But for the one that was typed in.
        assert!(kept >= 49, "{kept} of 50");
    }

    #[test]
    fn changes_apply_in_order() {
        let mut document = document("def @f() { 1 }\r\n");
        let changes = vec![
            change((0, 0), (0, 3), "lost"),
            whole("def @g() { 2 }\r\n%x"),
            change((0, 11), (0, 12), "3"),
            change((1, 1), (1, 2), "y"),
        ];
        assert_eq!(document.edit(changes, Encoding::Utf16, LIMITS), []);
        assert_eq!(*document.text, "def @g() { 3 }\r\n%y");
        assert_eq!(document.parse.syntax().to_string(), *document.text);
        assert_eq!(*document.lines, LineIndex::new(&document.text));
    }

    /// However changes are joined, text, lines and tree are as if each had been made by itself.
    #[test]
    fn joined_changes_are_as_single_ones() {
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
            let (mut joined, mut single) = (document(""), document(""));
            joined.edit(vec![whole(&text)], Encoding::Utf8, limits);
            single.edit(vec![whole(&text)], Encoding::Utf8, limits);
            let home = random(200) as u32;
            let changes: Vec<_> = (0..random(20) + 1)
                .map(|_| {
                    // Most are near one another, some are far.
                    let line =
                        if random(4) == 0 { random(205) as u32 } else { home + random(3) as u32 };
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
            joined.edit(changes, Encoding::Utf8, limits);
            assert_eq!(joined.text, single.text);
            assert_eq!(*joined.lines, LineIndex::new(&joined.text));
            let fresh = syntax::parse_with(&joined.text, limits.parse);
            assert_eq!(joined.parse.syntax().to_string(), *joined.text);
            assert_eq!(joined.parse.green, fresh.green);
            // A reparse appends what it finds.
            let errors = |parse: &Parse| {
                let mut errors: Vec<String> =
                    parse.errors.iter().map(|error| format!("{error:?}")).collect();
                errors.sort();
                errors
            };
            assert_eq!(errors(&joined.parse), errors(&fresh));
        }
    }

    #[test]
    fn edits_outside_of_the_text() {
        let mut document = document("ab\r\ncd");
        let odd = document.edit(vec![change((7, 0), (9, 0), "!")], Encoding::Utf16, LIMITS);
        assert_eq!(odd.len(), 2);
        assert_eq!(*document.text, "ab\r\ncd!");
        let odd = document.edit(vec![change((0, 90), (0, 1), "-")], Encoding::Utf16, LIMITS);
        assert_eq!(odd.len(), 1);
        assert_eq!(*document.text, "a-\r\ncd!");
    }

    #[test]
    fn a_text_that_grows_too_large_and_shrinks_again() {
        let mut document = document("");
        document.edit(vec![whole(&"//\n".repeat(400))], Encoding::Utf8, LIMITS);
        assert!(document.problem.is_some());
        document.edit(vec![change((1, 0), (400, 0), "")], Encoding::Utf8, LIMITS);
        assert!(document.problem.is_none());
        assert_eq!(document.parse.syntax().to_string(), "//\n");
    }
}
