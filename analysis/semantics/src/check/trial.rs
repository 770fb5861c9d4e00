//! Trials of fixes.
//!
//! A fix is proposed from what its rule knows, and may only lead to the next error: `kernel_size=[3, 1]` makes
//! a convolution hold whose result no longer has the declared type. So where fixes are shown, each one of an
//! error is applied to an excerpt, which is checked in a database of its own, and is offered only if it leaves
//! fewer errors. To do so while a file is checked would make each keystroke as slow as a menu of fixes.

use std::ops::Range;

use rustc_hash::FxHashSet;
use syntax::{Node, ParseLimits, SyntaxKind, TextRange, TextSize};

use super::{check_file, is_syntax_error};
use crate::{
    content::Content,
    db::{Database, Db, Setup, SourceFile},
    diagnostic::{Code, Diagnostic, Fix, Severity},
    item::{Def, DefKind, def_at},
    queries,
    tvm::apply,
};

/// The longest excerpt that is checked once for each fix, in bytes. Fixes in a longer one are offered without
/// a trial.
const MAX_EXCERPT: usize = 24 << 10;
/// The most fixes that are tried for one request; further ones are offered without a trial.
const MAX_TRIALS: usize = 16;

/// Removes the fixes of errors that do not lead to fewer errors.
///
/// Runs outside of queries, since it uses another database.
pub fn retain_helpful_fixes(db: &dyn Db, file: SourceFile, found: &mut [Diagnostic]) {
    let mut trials = Trials::new(db, file);
    for diagnostic in found.iter_mut().filter(|d| d.severity == Severity::Error) {
        let mut fixes = std::mem::take(&mut diagnostic.fixes);
        fixes.retain(|fix| trials.may_help(diagnostic, fix));
        diagnostic.fixes = fixes;
    }
}

/// Returns true if a change at an error leads to fewer errors; false, too, if the text is too long for a trial.
pub fn is_helpful(db: &dyn Db, file: SourceFile, diagnostic: &Diagnostic, fix: &Fix) -> bool {
    Trials::new(db, file).helps(diagnostic, fix) == Some(true)
}

/// The trials of one request.
struct Trials<'db> {
    db: &'db dyn Db,
    file: SourceFile,
    left: usize,
    /// The excerpt around the last error; `None` if it would be too long.
    last: Option<(Option<Def<'db>>, Option<Excerpt>)>,
}

impl<'db> Trials<'db> {
    fn new(db: &'db dyn Db, file: SourceFile) -> Trials<'db> {
        Trials { db, file, left: MAX_TRIALS, last: None }
    }

    /// Returns false if a trial shows that a fix does not help.
    fn may_help(&mut self, diagnostic: &Diagnostic, fix: &Fix) -> bool {
        self.left == 0 || self.helps(diagnostic, fix) != Some(false)
    }

    /// Returns true if a fix leads to fewer errors; `None` without a trial.
    fn helps(&mut self, diagnostic: &Diagnostic, fix: &Fix) -> Option<bool> {
        self.db.unwind_if_revision_cancelled();
        self.left = self.left.saturating_sub(1);
        let def = def_at(self.db, self.file, diagnostic.range.start()).map(|(_, def)| def);
        if self.last.as_ref().is_none_or(|(of, _)| *of != def) {
            self.last = Some((def, Excerpt::around(self.db, self.file, def)));
        }
        self.last.as_mut()?.1.as_mut()?.helps(diagnostic, fix)
    }
}

/// A part of a file that is checked alone.
struct Excerpt {
    db: Database,
    file: SourceFile,
    limits: ParseLimits,
    text: String,
    /// Its ranges in the file, in order.
    pieces: Vec<TextRange>,
    errors: Vec<Error>,
}

/// An error, with its range in the excerpt.
#[derive(Clone, PartialEq)]
struct Error {
    code: Code,
    range: TextRange,
    is_of_syntax: bool,
}

impl Excerpt {
    /// Returns the excerpt with a definition: the whole file if it is short, or the definition with those
    /// that it uses.
    fn around<'db>(db: &'db dyn Db, file: SourceFile, def: Option<Def<'db>>) -> Option<Excerpt> {
        let Content::Text(revision, _) = file.content(db) else { return None };
        let (text, limits) = (&revision.text, revision.limits);
        let mut section = file.section(db).clone();
        let mut excerpt = String::new();
        let pieces = if text.len() <= MAX_EXCERPT {
            vec![TextRange::up_to(TextSize::new(text.len() as u32))]
        } else {
            needs(db, file, def?)?
        };
        for piece in &pieces {
            excerpt += text.get(Range::<usize>::from(*piece))?;
        }
        if text.len() > MAX_EXCERPT {
            let (module, _) = def_at(db, file, pieces.first()?.start())?;
            section = queries::metadata(db, module);
            if section.is_some() {
                excerpt = format!("{excerpt}\n{}", weights::FOLDED);
            }
        }
        let mut scratch = Database::new();
        scratch.set_up(&Setup::of(db));
        let copy = scratch.add_file(excerpt.as_str(), limits);
        scratch.set_levels(copy, file.levels(db));
        scratch.set_section(copy, section);
        let errors = errors(&scratch, copy);
        Some(Excerpt { db: scratch, file: copy, limits, text: excerpt, pieces, errors })
    }

    /// Returns a range of the file in the excerpt.
    fn place(&self, range: TextRange) -> Option<TextRange> {
        let mut start = TextSize::new(0);
        for piece in &self.pieces {
            if piece.contains_range(range) {
                return Some(range - piece.start() + start);
            }
            start += piece.len();
        }
        None
    }

    /// Returns true if a fix leads to fewer errors and to none at the same call; `None` if the excerpt lacks
    /// its diagnostic or a place that it changes.
    fn helps(&mut self, diagnostic: &Diagnostic, fix: &Fix) -> Option<bool> {
        let at = self.place(diagnostic.range)?;
        let own = self.errors.iter().find(|e| e.code == diagnostic.code && e.range == at)?.clone();
        // Those of a whole file.
        if fix.edits.is_deferred() && self.pieces.len() != 1 {
            return None;
        }
        let edits = fix.edits.iter().map(|(range, with)| Some((self.place(*range)?, with.clone())));
        let edits: Vec<(TextRange, String)> = edits.collect::<Option<_>>()?;
        let call = self.call_around(at);
        let moved = Fix { title: String::new(), edits: edits.iter().cloned().collect() };
        let after = apply(&self.text, [&moved]);
        if after == self.text {
            return Some(false);
        }
        self.db.set_text(self.file, after, self.limits);
        let now = errors(&self.db, self.file);
        let is_new = |error: &Error| {
            let start = before(&edits, error.range.start());
            let is_known = |e: &Error| e.code == error.code && e.range.start() == start;
            call.contains_inclusive(start) && !self.errors.iter().any(is_known)
        };
        if now.iter().any(is_new) {
            return Some(false);
        }
        // A syntax error hides the errors that follow it. Those elsewhere are not caused by its fix.
        let of_syntax = |errors: &[Error]| errors.iter().filter(|e| e.is_of_syntax).count();
        let is_fewer = now.len() < self.errors.len();
        Some(is_fewer || own.is_of_syntax && of_syntax(&now) < of_syntax(&self.errors))
    }

    /// Returns the range of the innermost call around an error, or its own.
    fn call_around(&self, at: TextRange) -> TextRange {
        let parse = syntax::parse_with(&self.text, self.limits);
        let path = Node::root(&parse.green).path_to(at);
        let is_call = |node: &&Node<'_>| {
            matches!(node.kind(), SyntaxKind::CALL_EXPR | SyntaxKind::INFIX_EXPR)
        };
        path.iter().rfind(is_call).map_or(at, |call| call.range())
    }
}

/// Returns the errors of a file.
fn errors(db: &Database, file: SourceFile) -> Vec<Error> {
    let found = check_file(db, file);
    let errors = found.iter().filter(|d| d.severity == Severity::Error);
    errors
        .map(|d| Error { code: d.code, range: d.range, is_of_syntax: is_syntax_error(d) })
        .collect()
}

/// Returns the offset before edits of an offset after them.
fn before(edits: &[(TextRange, String)], offset: TextSize) -> TextSize {
    let mut sorted: Vec<&(TextRange, String)> = edits.iter().collect();
    sorted.sort_by_key(|(range, _)| range.start());
    let (mut old, mut new) = (0, 0);
    let offset = u32::from(offset);
    for (range, with) in sorted {
        let (start, end) = (u32::from(range.start()), u32::from(range.end()));
        let from = new + (start.saturating_sub(old));
        if offset < from {
            break;
        }
        let to = from + with.len() as u32;
        if offset < to {
            return range.start();
        }
        (old, new) = (end, to);
    }
    TextSize::new(old + (offset - new))
}

/// Returns the ranges of a definition and of those that it uses, in order; `None` if they are too long.
fn needs<'db>(db: &'db dyn Db, file: SourceFile, def: Def<'db>) -> Option<Vec<TextRange>> {
    let (module, _) = def_at(db, file, def.start(db))?;
    let is_metadata = |def: &Def<'_>| def.kind(db) == DefKind::Metadata;
    let items: Vec<Def<'_>> =
        module.items(db).iter().copied().filter(|item| !is_metadata(item)).collect();
    let (first, last) = (items.first()?.range(db), items.last()?.range(db));
    let code = first.cover(last);
    if usize::from(code.len()) <= MAX_EXCERPT {
        return Some(vec![code]);
    }
    let (mut used, mut pending) = (FxHashSet::default(), vec![def]);
    let mut names: FxHashSet<String> = FxHashSet::default();
    // The types and the version are used by their constructors, and short.
    pending.extend(items.iter().filter(|d| matches!(d.kind(db), DefKind::Type | DefKind::Version)));
    let mut length = 0;
    while let Some(next) = pending.pop() {
        if !used.insert(next) {
            continue;
        }
        length += usize::from(next.range(db).len());
        if length > MAX_EXCERPT {
            return None;
        }
        let tokens = next.node(db).descendants().flat_map(|node| node.tokens());
        for token in tokens.filter(|token| token.kind() == SyntaxKind::GLOBAL) {
            if names.insert(token.text().to_owned()) {
                let named = items.iter().filter(|item| item.name(db).as_str() == token.text());
                pending.extend(named);
            }
        }
    }
    Some(items.iter().filter(|item| used.contains(item)).map(|item| item.range(db)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_after_edits_are_found_in_the_text_before() {
        let range = |start: u32, end: u32| TextRange::new(start.into(), end.into());
        let edits = [(range(2, 3), "xyz".to_owned()), (range(5, 5), "!".to_owned())];
        // `abcdefg` becomes `abxyzde!fg`.
        let found: Vec<u32> = (0..10).map(|at| before(&edits, at.into()).into()).collect();
        assert_eq!(found, [0, 1, 2, 2, 2, 3, 4, 5, 5, 6]);
    }
}
