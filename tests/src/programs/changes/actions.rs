//! The transformations that editors offer.

use syntax::{Node, TextRange};

use super::Change;
use crate::programs::meaning::Program;

/// What an action does at one of the places where it is offered.
pub enum Action {
    /// It is offered nowhere.
    NotOffered,
    /// It is offered, and refuses.
    Refused(String),
    /// It makes a change.
    Done(Change),
}

/// Runs the action `id` at one of the places where it is offered; `at` chooses it.
///
/// Each node and token of the text is a place, as a selection or as a cursor at its beginning.
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
    // The next place after the chosen one, once around.
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
