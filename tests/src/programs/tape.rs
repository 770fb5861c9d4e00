//! The choices of a generator as data that can be shrunk.
//!
//! A generator reads numbers from a tape, and takes each modulo the number of alternatives. The simplest
//! alternative always has the number 0, and reads past the end of the tape return 0. Removing and reducing
//! numbers therefore yields simpler programs, which are still well-typed by construction.

use proptest::{collection::vec, prelude::*};

/// The maximal number of choices of a definition.
const LENGTH: usize = 90;

/// The choices of a module: one tape for each definition, and one for `@main` at the end.
pub type Tapes = Vec<Vec<u16>>;

/// Returns a strategy for the tapes of a module of up to `definitions` definitions in addition to
/// `@main`.
///
/// Shrinking removes whole definitions first.
pub fn tapes(definitions: usize) -> impl Strategy<Value = Tapes> {
    vec(vec(any::<u16>(), 0..LENGTH), 1..=definitions + 1)
}

/// A reader of a tape.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    choices: Vec<u16>,
    at: usize,
}

impl Tape {
    /// Creates a reader at the start of a tape.
    pub fn new(choices: &[u16]) -> Tape {
        Tape { choices: choices.to_vec(), at: 0 }
    }

    /// Chooses one of `alternatives` numbers from 0; 0 after the end of the tape.
    pub fn pick(&mut self, alternatives: usize) -> usize {
        let choice = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(choice) % alternatives.max(1)
    }

    /// Chooses one of some values; the first after the end of the tape.
    ///
    /// # Panics
    /// `values` is empty.
    pub fn one_of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.pick(values.len())].clone()
    }

    /// Returns true in one of `of` cases, and never after the end of the tape.
    pub fn once_in(&mut self, of: usize) -> bool {
        self.pick(of) == of - 1
    }
}
