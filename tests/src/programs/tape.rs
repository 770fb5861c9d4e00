//! Choices that a generator makes, as data that shrinks.
//!
//! A generator reads numbers from a tape and takes each modulo the number of alternatives. The
//! simplest alternative is always number 0, and so is every number after the end of the tape.
//! Dropping numbers and making them smaller therefore gives simpler programs, which are well-typed
//! as every program of the generator is.

use proptest::{collection::vec, prelude::*};

/// The most choices that one definition takes.
const LENGTH: usize = 90;

/// The choices of a module: one tape for each definition, and one for `@main` at the end.
pub type Tapes = Vec<Vec<u16>>;

/// A strategy for the tapes of a module of up to `definitions` definitions beside `@main`.
///
/// Drops whole definitions first when it shrinks.
pub fn tapes(definitions: usize) -> impl Strategy<Value = Tapes> {
    vec(vec(any::<u16>(), 0..LENGTH), 1..=definitions + 1)
}

/// A tape while it is read.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    choices: Vec<u16>,
    at: usize,
}

impl Tape {
    /// A tape at its beginning.
    pub fn new(choices: &[u16]) -> Tape {
        Tape { choices: choices.to_vec(), at: 0 }
    }

    /// Chooses one of `alternatives` numbers from 0; 0 where the tape has ended.
    pub fn pick(&mut self, alternatives: usize) -> usize {
        let choice = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(choice) % alternatives.max(1)
    }

    /// Chooses one of some values; the first where the tape has ended.
    ///
    /// # Panics
    /// There is none.
    pub fn one_of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.pick(values.len())].clone()
    }

    /// Returns true in one of `of` cases, and never after the end of the tape.
    pub fn once_in(&mut self, of: usize) -> bool {
        self.pick(of) == of - 1
    }
}
