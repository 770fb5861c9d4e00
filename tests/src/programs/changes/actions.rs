//! The transformations that editors offer.

use syntax::{Node, TextRange};

use super::Change;
use crate::programs::meaning::Program;

/// The result of an action at one of the places that offer it.
pub enum Action {
    /// It is not offered.
    NotOffered,
    /// It is offered, but fails.
    Refused(String),
    /// It makes a change.
    Done(Change),
}

/// Runs the action `id` at one of the places that offer it; `at` selects the place.
///
/// Each node and token of the text is a place, as a selection or as a cursor at its start.
pub fn action(program: &Program, id: &str, at: usize) -> Action {
    let parse = syntax::parse(&program.text);
    let root = Node::root(&parse.green);
    let mut places: Vec<TextRange> = Vec::new();
    for node in root.descendants() {
        places.extend([node.range(), TextRange::empty(node.range().start())]);
    }
    places.sort_by_key(|range| (range.start(), range.end()));
    places.dedup();
    if places.is_empty() {
        return Action::NotOffered;
    }
    let (db, file) = (&program.db, program.file);
    // Search from the selected place, with wrapping.
    let first = at % places.len();
    let (before, after) = places.split_at(first);
    for &place in after.iter().chain(before) {
        if !ide::actions::actions(db, file, place).iter().any(|action| action.id == id) {
            continue;
        }
        return match ide::actions::resolve(db, file, place, id) {
            Ok(edits) => Action::Done(Change::edited(&program.text, edits)),
            Err(message) => Action::Refused(message),
        };
    }
    Action::NotOffered
}
