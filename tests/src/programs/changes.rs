//! Changes of a text that preserve its meaning.

pub mod actions;
pub mod annotations;
pub mod functions;
pub mod names;
pub mod values;

use std::collections::HashMap;

use ide::edit::Edits;
use syntax::{TextRange, TextSize};

/// A changed text, and a mapping of positions from the old text.
pub struct Change {
    /// The new text.
    pub text: String,
    parts: Parts,
    /// The renamed definitions; removed ones have an empty name.
    renamed: HashMap<String, String>,
}

/// A piece of a new text.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A range of the old text.
    Old(TextRange),
    /// The new text.
    New(String),
}

/// The mapping from positions in the old text to the new text.
enum Parts {
    /// Sorted replacements that do not overlap. True if the replaced text is only renamed.
    Edited(Edits, bool),
    /// Moved ranges, and their new starts.
    Moved(Vec<(TextRange, TextSize)>),
    /// A sequence of two mappings.
    Both(Box<Parts>, Box<Parts>),
}

impl Change {
    /// Creates a change from edits, which must not overlap.
    pub fn edited(text: &str, edits: Edits) -> Change {
        Change::by_edits(text, edits, false)
    }

    /// Creates a change from renames: the replaced ranges still exist.
    pub fn renamed(text: &str, edits: Edits) -> Change {
        Change::by_edits(text, edits, true)
    }

    fn by_edits(text: &str, mut edits: Edits, names: bool) -> Change {
        edits.sort_by_key(|(range, _)| (range.start(), range.end()));
        edits.dedup();
        Change {
            text: ide::edit::apply_all(text, &edits),
            parts: Parts::Edited(edits, names),
            renamed: HashMap::new(),
        }
    }

    /// Creates a change from pieces.
    pub fn pieces(text: &str, pieces: &[Piece]) -> Change {
        let mut out = String::new();
        let mut moved = Vec::new();
        for piece in pieces {
            match piece {
                Piece::New(with) => out += with,
                Piece::Old(range) => {
                    moved.push((*range, TextSize::of(out.as_str())));
                    out += &text[*range];
                }
            }
        }
        Change { text: out, parts: Parts::Moved(moved), renamed: HashMap::new() }
    }

    /// Records the new name of a definition, empty if it is removed.
    #[must_use]
    pub fn with_name(mut self, old: impl Into<String>, new: impl Into<String>) -> Change {
        self.renamed.insert(old.into(), new.into());
        self
    }

    /// Composes this change with a change of its text.
    #[must_use]
    pub fn then(mut self, next: Change) -> Change {
        for name in self.renamed.values_mut() {
            if let Some(newer) = next.renamed.get(name) {
                name.clone_from(newer);
            }
        }
        for (old, new) in next.renamed {
            self.renamed.entry(old).or_insert(new);
        }
        let parts = Parts::Both(Box::new(self.parts), Box::new(next.parts));
        Change { text: next.text, parts, renamed: self.renamed }
    }

    /// Returns the name of a definition in the new text.
    pub fn name_of<'a>(&'a self, old: &'a str) -> Option<&'a str> {
        match self.renamed.get(old) {
            Some(new) if new.is_empty() => None,
            Some(new) => Some(new),
            None => Some(old),
        }
    }

    /// Maps a range of the old text to the new one, if it still exists.
    pub fn place_of(&self, range: TextRange) -> Option<TextRange> {
        self.parts.place_of(range)
    }
}

impl Parts {
    fn place_of(&self, range: TextRange) -> Option<TextRange> {
        match self {
            Parts::Both(first, second) => second.place_of(first.place_of(range)?),
            Parts::Moved(moved) => moved.iter().find_map(|(from, to)| {
                from.contains_range(range).then(|| range - from.start() + *to)
            }),
            Parts::Edited(edits, names) => {
                let number = |size: TextSize| i64::from(u32::from(size));
                let (mut start, mut end) = (number(range.start()), number(range.end()));
                for (place, with) in edits {
                    let more = with.len() as i64 - number(place.len());
                    let is_inside = match place.is_empty() {
                        true => range.contains(place.start()),
                        false => range.contains_range(*place) && (*names || *place != range),
                    };
                    if place.end() <= range.start() {
                        start += more;
                        end += more;
                    } else if is_inside {
                        end += more;
                    } else if place.start() < range.end() {
                        return None;
                    }
                }
                let size = |at: i64| TextSize::new(at as u32);
                Some(TextRange::new(size(start), size(end)))
            }
        }
    }
}
