//! Sets of small numbers.

/// A set of numbers from zero on. It allocates for those from 64 on only: most units have a few expressions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits {
    first: u64,
    rest: Vec<u64>,
}

impl Bits {
    /// Removes all numbers.
    pub(super) fn clear(&mut self) {
        self.first = 0;
        self.rest.clear();
    }

    /// Returns the number of numbers.
    pub(super) fn len(&self) -> usize {
        self.rest.iter().map(|word| word.count_ones() as usize).sum::<usize>()
            + self.first.count_ones() as usize
    }

    /// Returns true if a number is in the set.
    #[inline]
    pub(super) fn get(&self, number: usize) -> bool {
        let word = match number / 64 {
            0 => self.first,
            word => self.rest.get(word - 1).copied().unwrap_or_default(),
        };
        word >> (number % 64) & 1 != 0
    }

    /// Adds a number.
    #[inline]
    pub(super) fn set(&mut self, number: usize) {
        let word = match number / 64 {
            0 => &mut self.first,
            word => {
                if word > self.rest.len() {
                    self.grow(word);
                }
                &mut self.rest[word - 1]
            }
        };
        *word |= 1 << (number % 64);
    }

    /// A separate function, because few additions need it.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, words: usize) {
        self.rest.resize(words, 0);
    }
}
