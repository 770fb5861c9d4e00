//! What TVM does not take although it is sound, and how to write it so that TVM does.
//!
//! The group `tvm-compat`: the manual's notation, what TVM prints and cannot read back, and what
//! its reader or its type inference makes something else of. Each finding says what TVM does
//! there and carries a change of a few tokens that leaves the meaning as it is, where there is
//! one. Changes of different findings compose: what would touch the same place waits for another
//! round, which is how [`to_tvm`] converts a whole file.

mod annotate;
mod convert;
mod literals;
mod module;
mod names;
mod notation;
mod params;
mod scopes;
mod types;
mod uses;

use rustc_hash::FxHashMap;
use syntax::TextRange;

use super::Broken;
use crate::{
    db::{Db, SourceFile},
    diagnostic::{Diagnostic, Fix},
    item::Module,
    view::View,
};
pub use convert::{Converted, apply, to_tvm};

/// A stretch of the text and what replaces it.
type Edit = (TextRange, String);

/// Findings of the group, those that a file repeats as one.
pub(super) struct Compat<'b> {
    /// Where syntax errors stand: nothing is said there.
    broken: &'b Broken,
    found: Vec<(Diagnostic, usize)>,
    folded: FxHashMap<&'static str, usize>,
}

impl<'b> Compat<'b> {
    pub(super) fn new(broken: &'b Broken) -> Compat<'b> {
        Compat { broken, found: Vec::new(), folded: FxHashMap::default() }
    }

    /// Adds a finding of its own.
    fn add(&mut self, diagnostic: Diagnostic) {
        if !self.broken.touches(diagnostic.range) {
            self.found.push((diagnostic, 1));
        }
    }

    /// Adds a finding that a file may repeat hundreds of times: the first place stands for all,
    /// and its fix mends all.
    fn fold(&mut self, diagnostic: Diagnostic) {
        if self.broken.touches(diagnostic.range) {
            return;
        }
        let Some(&at) = self.folded.get(diagnostic.code) else {
            self.folded.insert(diagnostic.code, self.found.len());
            self.found.push((diagnostic, 1));
            return;
        };
        let (first, count) = &mut self.found[at];
        *count += 1;
        for fix in diagnostic.fixes {
            match first.fixes.first_mut() {
                Some(known) => known.edits.extend(fix.edits),
                None => first.fixes.push(fix),
            }
        }
        if first.help.is_none() {
            first.help = diagnostic.help;
        }
    }

    /// Everything found.
    pub(super) fn finish(self, found: &mut Vec<Diagnostic>) {
        for (mut diagnostic, count) in self.found {
            if count > 1 {
                let more = count - 1;
                let places = if more == 1 { "place" } else { "places" };
                diagnostic.message =
                    format!("{} (and in {more} more {places})", diagnostic.message);
            }
            for fix in &mut diagnostic.fixes {
                settle(fix);
            }
            found.push(diagnostic);
        }
    }
}

/// Puts the edits of a fix in order; what is inserted at one place becomes one insertion.
///
/// What was found later goes around what was found before: in `%a && %b || %c` the call of
/// `logical_or` begins where that of `logical_and` does, and holds it.
fn settle(fix: &mut Fix) {
    fix.edits.reverse();
    fix.edits.sort_by_key(|(range, _)| (range.start(), range.end()));
    let mut settled: Vec<Edit> = Vec::with_capacity(fix.edits.len());
    for (range, text) in fix.edits.drain(..) {
        match settled.last_mut() {
            Some((last, known)) if *last == range && range.is_empty() => known.push_str(&text),
            Some((last, known)) if *last == range && *known == text => {}
            _ => settled.push((range, text)),
        }
    }
    fix.edits = settled;
}

/// Departures from TVM's notation.
pub(super) fn check_notation(db: &dyn Db, file: SourceFile, compat: &mut Compat<'_>) {
    notation::check(db, file, compat);
}

/// Findings about a module as a whole.
pub(super) fn check_module<'db>(db: &'db dyn Db, module: Module<'db>, compat: &mut Compat<'_>) {
    module::check(db, module, compat);
    scopes::check_graph_variables(db, module, compat);
}

/// Findings about a body.
pub(super) fn check_def(view: &View<'_>, compat: &mut Compat<'_>) {
    annotate::check(view, compat);
    literals::check(view, compat);
    scopes::check_locals(view, compat);
    module::check_def(view, compat);
}

/// An insertion.
fn insert(at: syntax::TextSize, text: impl Into<String>) -> Edit {
    (TextRange::empty(at), text.into())
}

/// Brackets around a stretch of the text.
fn bracket(range: TextRange) -> [Edit; 2] {
    [insert(range.start(), "("), insert(range.end(), ")")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insertions_at_one_place_are_one() {
        let at = |start: u32, end: u32| TextRange::new(start.into(), end.into());
        let edits =
            [(at(4, 4), ")"), (at(0, 0), "b("), (at(0, 2), "x"), (at(4, 4), ")"), (at(0, 0), "a(")];
        let edits = edits.into_iter().map(|(range, text)| (range, text.to_owned())).collect();
        let mut fix = Fix { title: String::new(), edits };
        settle(&mut fix);
        let texts: Vec<&str> = fix.edits.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["a(b(", "x", "))"]);
    }
}
