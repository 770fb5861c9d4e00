//! Open documents: their text as the client sent it, and how edits change it.

mod hosts;

use std::{collections::HashMap, sync::Arc};

use semantics::{Code, Database, Diagnostic, EditBatch, SourceFile};
use syntax::{
    Edit, Encoding, LineColumn, LineIndex, ParseLimits, Source, Text, TextRange, TextSize,
};
use tower_lsp::lsp_types::{
    Position, Range, TextDocumentContentChangeEvent, TextDocumentItem, Url,
};

use crate::{panics, project::Project};
pub(super) use hosts::{Host, Origin};

/// An open document.
#[derive(Clone)]
pub(super) struct Document {
    /// The file in the database, with the same text unless there is a problem: it is empty then.
    pub(super) file: SourceFile,
    /// The number of documents opened before this one. Opening the same URI again gives another
    /// number.
    pub(super) opened: u64,
    /// The version, as the client counts it.
    pub(super) version: i32,
    pub(super) text: Text,
    /// The line starts of the text.
    pub(super) lines: Arc<LineIndex>,
    /// The settings of its project.
    pub(super) project: Arc<Project>,
    /// The reason that the text is not analysed, as a diagnostic.
    pub(super) problem: Option<Arc<Diagnostic>>,
    /// The reason that the text is not that of the client, as a diagnostic; it is the problem, too.
    lost: Option<Arc<Diagnostic>>,
    /// The blocks, if the document is of another language. Its own tree is empty then.
    pub(super) host: Option<Arc<Host>>,
    /// The place of a block in the document that it is embedded in.
    pub(super) origin: Option<Arc<Origin>>,
}

/// The open documents, by the URI that the client uses.
pub(super) type Documents = HashMap<Url, Document>;

/// Limits on the texts that are analysed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Limits {
    /// The largest code size in bytes, without the metadata section.
    pub(super) code: usize,
    /// The limits on nesting.
    pub(super) parse: ParseLimits,
}

/// Returns the reason that a text is not analysed, if it exceeds a limit.
pub(super) fn problem_of(text: &Text, limits: Limits) -> Option<Arc<Diagnostic>> {
    // Only the text of a large file is searched.
    let code = || memchr::memmem::find(text.as_bytes(), b"#[metadata]").unwrap_or(text.len());
    if text.len() <= limits.code || code() <= limits.code {
        return None;
    }
    let message = format!(
        "this file has more than {} MiB of code, the limit for analysis",
        limits.code >> 20
    );
    let problem = Diagnostic::new(Code::FileTooLarge, TextRange::default(), message)
        .help("raise the setting `relay.limits.codeSize`, in MiB");
    Some(Arc::new(problem))
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
    /// Creates a document, which is not in the database yet.
    pub(super) fn new(
        item: TextDocumentItem,
        file: SourceFile,
        opened: u64,
        host: Option<Host>,
    ) -> Document {
        Document {
            file,
            opened,
            version: item.version,
            lines: Arc::new(LineIndex::new(&item.text)),
            text: item.text.into(),
            project: Arc::default(),
            problem: None,
            lost: None,
            host: host.map(Arc::new),
            origin: None,
        }
    }

    /// Creates an empty block of the document.
    pub(super) fn block(&self, file: SourceFile) -> Document {
        let (text, lines) = (Text::default(), Arc::new(LineIndex::new("")));
        Document { file, text, lines, problem: None, host: None, ..self.clone() }
    }

    /// Returns true if the text is that of the client.
    pub(super) fn is_in_sync(&self) -> bool {
        self.lost.is_none()
    }

    /// Records a change that cannot be applied: from now on the text is not that of the client, until the
    /// client sends a whole one. Nothing is computed from it.
    pub(super) fn lose(&mut self, db: &mut Database, version: i32, limits: Limits) {
        let order = match self.version == version {
            true => format!("version {version} of this document twice"),
            false => format!("version {version} of this document after version {}", self.version),
        };
        let message = format!("the editor sent {order}, so the server does not have its text");
        let lost = Diagnostic::new(Code::OutOfSync, TextRange::default(), message)
            .help("close this file and open it again; nothing is lost, the editor has its text");
        self.lost = Some(Arc::new(lost));
        self.write_all(db, limits);
    }

    /// Converts a position; see [`offset`].
    pub(super) fn offset(&self, position: Position, encoding: Encoding) -> Option<TextSize> {
        match &self.origin {
            None => offset(&self.text, &self.lines, position, encoding),
            Some(origin) => origin.offset(position, encoding),
        }
    }

    /// Applies changes in order.
    pub(super) fn edit(
        &mut self,
        db: &mut Database,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
        limits: Limits,
    ) -> Vec<InvalidEdit> {
        let mut invalid = Vec::new();
        // A replacement of the whole text discards the changes before it, also those that are lost.
        let whole = changes.iter().rposition(|change| change.range.is_none());
        if whole.is_some() {
            self.lost = None;
        }
        let from = whole.unwrap_or(0);
        let mut is_replaced = false;
        let mut editing = EditBatch::new(self.text.clone());
        for change in changes.into_iter().skip(from) {
            let Some(range) = change.range else {
                if change.text != *self.text {
                    is_replaced = true;
                    self.lines = Arc::new(LineIndex::new(&change.text));
                    self.text = change.text.into();
                    editing = EditBatch::new(self.text.clone());
                }
                continue;
            };
            let range = self.resolve(range, encoding, &mut invalid);
            self.apply(&mut editing, &Edit { range, insert: change.text });
        }
        self.write(db, editing, is_replaced, limits);
        invalid
    }

    /// Changes the text to another one of which most is the same.
    pub(super) fn set_text(&mut self, db: &mut Database, text: &str, limits: Limits) {
        let old = &*self.text;
        if old == text {
            return;
        }
        let edit = Edit::between(old, text);
        let mut editing = EditBatch::new(self.text.clone());
        self.apply(&mut editing, &edit);
        self.write(db, editing, false, limits);
    }

    /// Applies an edit to the text and its line index.
    fn apply(&mut self, editing: &mut EditBatch, edit: &Edit) {
        if !editing.edit(edit) {
            return;
        }
        self.text = editing.text().clone();
        let inserted = TextSize::of(edit.insert.as_str());
        let updated = panics::caught(|| {
            Arc::make_mut(&mut self.lines).edit(&self.text, edit.range, inserted);
        });
        if updated.is_err() {
            self.lines = Arc::new(LineIndex::new(&self.text));
        }
    }

    /// Writes the edits of the text, or all of it if it was replaced, to the database.
    fn write(&mut self, db: &mut Database, editing: EditBatch, is_replaced: bool, limits: Limits) {
        let had_problem = self.problem.is_some();
        self.find_problem(limits);
        if self.host.is_some() {
            return;
        }
        if had_problem || self.problem.is_some() {
            self.write_all(db, limits);
        } else if is_replaced {
            db.replace_text(self.file, self.text.clone(), limits.parse);
        } else {
            db.edit(self.file, editing);
        }
    }

    /// Writes the text to the database, to be parsed from scratch.
    pub(super) fn write_all(&mut self, db: &mut Database, limits: Limits) {
        self.find_problem(limits);
        let is_analysed = self.host.is_none() && self.problem.is_none();
        let text = if is_analysed { self.text.clone() } else { Text::default() };
        db.set_text(self.file, text, limits.parse);
    }

    fn find_problem(&mut self, limits: Limits) {
        self.problem = match &self.lost {
            Some(lost) => Some(lost.clone()),
            None if self.host.is_some() => None,
            None => problem_of(&self.text, limits),
        };
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
    use syntax::Parse;

    use super::*;

    const LIMITS: Limits = Limits { code: 1000, parse: ParseLimits { depth: 256, chain: 2000 } };

    /// A document with its database.
    struct Session {
        db: Database,
        document: Document,
    }

    impl Session {
        fn new(text: &str) -> Session {
            let mut db = Database::new();
            let file = db.add_file("", ParseLimits::default());
            let uri = Url::parse("untitled:a").expect("a URI");
            let item = TextDocumentItem::new(uri, "relay".to_owned(), 1, text.to_owned());
            let mut document = Document::new(item, file, 0, None);
            document.write_all(&mut db, LIMITS);
            Session { db, document }
        }

        fn edit(
            &mut self,
            changes: Vec<TextDocumentContentChangeEvent>,
            encoding: Encoding,
            limits: Limits,
        ) -> Vec<InvalidEdit> {
            self.document.edit(&mut self.db, changes, encoding, limits)
        }

        fn parse(&self) -> Arc<Parse> {
            self.document.file.parse(&self.db)
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
        let mut session = Session::new(&format!("def @f() {{\n{lines}  %a49\n}}\n"));
        let statements = |parse: &Parse| -> Vec<usize> {
            let node = syntax::Node::root(&parse.green);
            let statements = node.descendants().filter(|node| node.kind().is_stmt());
            statements.map(|node| std::ptr::from_ref(node.green()) as usize).collect()
        };
        let first = session.parse();
        let before = statements(&first);
        session.edit(vec![change((10, 2), (10, 2), "}")], Encoding::Utf8, LIMITS);
        assert!(!session.parse().errors.is_empty());
        session.edit(vec![change((10, 2), (10, 3), "")], Encoding::Utf8, LIMITS);
        let kept = statements(&session.parse());
        let kept = before.iter().zip(kept).filter(|(a, b)| **a == *b).count();
        // All except the edited statement.
        assert!(kept >= 49, "{kept} of 50");
    }

    #[test]
    fn changes_apply_in_order() {
        let mut session = Session::new("def @f() { 1 }\r\n");
        let changes = vec![
            change((0, 0), (0, 3), "discarded"),
            whole("def @g() { 2 }\r\n%x"),
            change((0, 11), (0, 12), "3"),
            change((1, 1), (1, 2), "y"),
        ];
        assert_eq!(session.edit(changes, Encoding::Utf16, LIMITS), []);
        assert_eq!(&*session.document.text, "def @g() { 3 }\r\n%y");
        assert_eq!(session.parse().syntax().to_string(), *session.document.text);
        assert_eq!(*session.document.lines, LineIndex::new(&session.document.text));
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
            let (mut batched, mut single) = (Session::new(""), Session::new(""));
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
            let parse = batched.parse();
            let document = &batched.document;
            assert_eq!(*document.text, *single.document.text);
            assert_eq!(*document.lines, LineIndex::new(&document.text));
            let fresh = syntax::parse_with(&document.text, limits.parse);
            assert_eq!(parse.syntax().to_string(), *document.text);
            assert_eq!(parse.green, fresh.green);
            // A reparse appends its errors, in no particular order.
            let errors = |parse: &Parse| {
                let mut errors: Vec<String> =
                    parse.errors.iter().map(|error| format!("{error:?}")).collect();
                errors.sort();
                errors
            };
            assert_eq!(errors(&parse), errors(&fresh));
        }
    }

    #[test]
    fn edits_outside_the_text_are_clamped() {
        let mut session = Session::new("ab\r\ncd");
        let invalid = session.edit(vec![change((7, 0), (9, 0), "!")], Encoding::Utf16, LIMITS);
        assert_eq!(invalid.len(), 2);
        assert_eq!(&*session.document.text, "ab\r\ncd!");
        let invalid = session.edit(vec![change((0, 90), (0, 1), "-")], Encoding::Utf16, LIMITS);
        assert_eq!(invalid.len(), 1);
        assert_eq!(&*session.document.text, "a-\r\ncd!");
    }

    #[test]
    fn lost_text_is_not_analysed_until_it_is_whole_again() {
        let mut session = Session::new("def @f() { 1 }\n");
        let Session { db, document } = &mut session;
        document.lose(db, 0, LIMITS);
        let is_lost = |session: &Session| {
            let code = session.document.problem.as_ref().map(|problem| problem.code);
            let is_empty = session.parse().syntax().to_string().is_empty();
            assert_eq!(code.is_some(), is_empty);
            code == Some(Code::OutOfSync) && !session.document.is_in_sync()
        };
        assert!(is_lost(&session));
        // Nor if it is written for another reason.
        session.document.write_all(&mut session.db, LIMITS);
        assert!(is_lost(&session));
        let changes = vec![
            change((0, 0), (0, 3), "x"),
            whole("def @f() { 1 }\n"),
            change((0, 11), (0, 12), "2"),
        ];
        session.edit(changes, Encoding::Utf8, LIMITS);
        assert!(!is_lost(&session));
        assert_eq!(session.parse().syntax().to_string(), "def @f() { 2 }\n");
    }

    #[test]
    fn text_below_the_limit_again_is_parsed_again() {
        let mut session = Session::new("");
        session.edit(vec![whole(&"//\n".repeat(400))], Encoding::Utf8, LIMITS);
        assert!(session.document.problem.is_some());
        session.edit(vec![change((1, 0), (400, 0), "")], Encoding::Utf8, LIMITS);
        assert!(session.document.problem.is_none());
        assert_eq!(session.parse().syntax().to_string(), "//\n");
    }
}
