//! The texts of files, and the parse that follows from them.
//!
//! The input of the database is the text. With an edited text it holds the parse of the text before and
//! the edits between the two, so that the query of the tree reparses only what they change. The result
//! equals a parse from scratch.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use syntax::{Edit, Parse, ParseLimits, Source, Text, TextRange, TextSize};

use crate::test_panic::panic_if_requested;

/// The spans of this module are logged with those of the program.
const LOG: &str = "relay_analyzer::parse";

/// The content of a file.
#[derive(Clone, Debug)]
pub enum Content {
    /// A text, and the earlier one that its parse is derived from.
    Text(Revision, Option<Base>),
    /// The file of the prelude with this number, parsed on demand.
    Prelude(usize),
    /// No text: the file is closed, and has no modules either.
    Closed,
}

/// A text, and the limits of the parser.
#[derive(Clone, Debug)]
pub struct Revision {
    pub(crate) text: Text,
    pub(crate) limits: ParseLimits,
}

/// An earlier parse, from which the parse of a text is derived.
#[derive(Clone, Debug)]
pub struct Base {
    pub(crate) parsed: ParseState,
    /// The edits from its text to the current one; `None` if the text was replaced.
    pub(crate) edits: Option<Vec<EditedText>>,
}

/// An edit, and the text after it.
#[derive(Clone, Debug)]
pub(crate) struct EditedText {
    edit: Edit,
    text: Text,
}

/// A parse, and the last good one before it.
#[derive(Clone, Debug)]
pub(crate) struct ParseState {
    /// The parse of the text.
    pub(crate) parse: Arc<Parse>,
    /// The parse before an edit that added syntax errors. A typed `/` or `"` can change the tree of half
    /// of the module until the comment or string is completed. The next parse without these errors
    /// shares its nodes with this one, so that memos stay valid; sharing with the broken parse alone
    /// would lose them, and keep equal nodes twice.
    last_good: Option<Arc<Parse>>,
}

impl Revision {
    /// Returns the parse of the text, derived from an earlier one where that is possible.
    pub(crate) fn parsed(&self, base: Option<&Base>) -> ParseState {
        let derived = base.and_then(|base| {
            // An error in it costs the time of a full parse, and no result.
            catch_unwind(AssertUnwindSafe(|| base.parsed(self))).unwrap_or_default()
        });
        derived.unwrap_or_else(|| ParseState::new(Arc::new(self.parse())))
    }

    fn parse(&self) -> Parse {
        panic_if_requested("parse", &self.text);
        let bytes = self.text.len();
        let _parse = tracing::debug_span!(target: LOG, "parse", bytes).entered();
        syntax::parse_with(&self.text, self.limits)
    }
}

impl Base {
    /// Returns the parse of `next`; `None` if it cannot be derived.
    fn parsed(&self, next: &Revision) -> Option<ParseState> {
        if cfg!(debug_assertions) {
            panic_if_requested("edit", &next.text);
        }
        let Some(edits) = &self.edits else {
            return Some(self.parsed.clone().followed_by(next.parse().reusing(&self.parsed.parse)));
        };
        if self.parsed.parse.limits() != next.limits {
            return None;
        }
        let _reparse = tracing::debug_span!(target: LOG, "reparse").entered();
        let reparsed =
            edits.iter().fold(self.parsed.clone(), |parsed, EditedText { edit, text }| {
                let next = parsed.parse.reparse(text, edit);
                parsed.followed_by(next)
            });
        Some(reparsed)
    }
}

impl ParseState {
    pub(crate) fn new(parse: Arc<Parse>) -> ParseState {
        ParseState { parse, last_good: None }
    }

    /// Returns the parse of the next text, and the last good one.
    fn followed_by(self, mut next: Parse) -> ParseState {
        let mut last_good = self.last_good;
        let is_as_good = |good: &mut Arc<Parse>| next.errors.len() <= good.errors.len();
        if let Some(good) = last_good.take_if(is_as_good) {
            next = next.reusing(&good);
        }
        if last_good.is_none() && next.errors.len() > self.parse.errors.len() {
            last_good = Some(self.parse);
        }
        ParseState { parse: Arc::new(next), last_good }
    }
}

/// The largest distance in bytes between edits that are reparsed together. The text between them is
/// parsed again; for edits that are further apart, two separate reparses cost less.
const NEAR: u32 = 2_048;

/// Edits of a text that are parsed together.
///
/// Some editors send bursts of them, and a single one can invalidate the tree of half of the module:
/// edits close to one another are reparsed once, not one by one.
#[derive(Clone, Debug)]
pub struct EditBatch {
    text: Text,
    edits: Vec<EditedText>,
    pending: Option<Span>,
}

impl EditBatch {
    /// Begins to edit the text of a file.
    pub fn new(text: Text) -> EditBatch {
        EditBatch { text, edits: Vec::new(), pending: None }
    }

    /// Returns the text after the edits so far.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Returns true if no edit changed the text.
    pub fn is_unchanged(&self) -> bool {
        self.edits.is_empty() && self.pending.is_none()
    }

    /// Applies an edit. Its range must be inside the text, on character boundaries. Returns false if it
    /// does not change the text.
    pub fn edit(&mut self, edit: &Edit) -> bool {
        let range = edit.range;
        if usize::from(range.len()) == edit.insert.len()
            && self.text.part(range.into()).is_some_and(|old| old == edit.insert)
        {
            return false;
        }
        if let Some(span) = self.pending.take_if(|span| !span.is_near(range)) {
            self.end(span);
        }
        self.pending.get_or_insert_with(|| Span::at(range.start())).add(edit);
        self.text.edit(edit);
        true
    }

    /// Ends the span of edits that are reparsed together.
    fn end(&mut self, span: Span) {
        let (edit, text) = (span.edit(&self.text), self.text.clone());
        self.edits.push(EditedText { edit, text });
    }

    /// Returns the last text, and the edits up to it.
    pub(crate) fn finish(mut self) -> (Text, Vec<EditedText>) {
        if let Some(span) = self.pending.take() {
            self.end(span);
        }
        (self.text, self.edits)
    }
}

/// The range in which a text differs from an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Span {
    /// The start, in both texts.
    start: TextSize,
    /// The end in the earlier text.
    old_end: TextSize,
    /// The end in the current text.
    new_end: TextSize,
}

impl Span {
    fn at(offset: TextSize) -> Span {
        Span { start: offset, old_end: offset, new_end: offset }
    }

    /// Returns true if an edit of `range` in the current text is reparsed together with this span.
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

    /// Returns the edit from the earlier text to `text`.
    fn edit(self, text: &Text) -> Edit {
        let inserted = text.part(TextRange::new(self.start, self.new_end).into());
        let insert = inserted.unwrap_or_default().into_owned();
        Edit { range: TextRange::new(self.start, self.old_end), insert }
    }
}
