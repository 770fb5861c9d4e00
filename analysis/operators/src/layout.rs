//! Layouts: the meaning of the axes of a tensor, such as `"NCHW"` or `"NCHW4c"`.
//!
//! An upper case letter is an axis; a number and a lower case letter are a block split off from it.
//! In `"NCHW4c"` the channel of an element is `C * 4 + c`.

use smallvec::SmallVec;
use types::{Dim, Fact, Shape, Text, ToFact, text};

/// A layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    axes: SmallVec<[Axis; 6]>,
}

/// One axis of a layout: its letter, and the block size of a lower case one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Axis {
    /// The letter.
    pub letter: u8,
    /// The size of the block, for a lower case letter; 0 for an upper case one.
    pub factor: i64,
}

impl Axis {
    fn is_primal(self) -> bool {
        self.letter.is_ascii_uppercase()
    }

    fn primal(self) -> u8 {
        self.letter.to_ascii_uppercase()
    }
}

impl Layout {
    /// Parses a layout, or returns the error message.
    pub fn parse(text: &str) -> Result<Layout, Text> {
        let mut axes: SmallVec<[Axis; 6]> = SmallVec::new();
        let mut factor = 0i64;
        for letter in text.bytes() {
            match letter {
                b'A'..=b'Z' if factor == 0 => axes.push(Axis { letter, factor: 0 }),
                b'a'..=b'z' if factor > 0 => {
                    axes.push(Axis { letter, factor });
                    factor = 0;
                }
                b'0'..=b'9' => factor = (factor * 10 + i64::from(letter - b'0')).min(1 << 31),
                b'A'..=b'Z' => {
                    return Err(text!("the size before `{}` has no block", letter as char));
                }
                b'a'..=b'z' => {
                    return Err(text!("the block `{}` has no size", letter as char));
                }
                _ => return Err(text!("`{}` is not an axis", letter as char)),
            }
        }
        let orphan = axes
            .iter()
            .find(|axis| !axis.is_primal() && !axes.iter().any(|a| a.letter == axis.primal()));
        if let Some(axis) = orphan {
            let (block, primal) = (axis.letter as char, axis.primal() as char);
            return Err(text!("the block `{block}` has no axis `{primal}` to belong to"));
        }
        Ok(Layout { axes })
    }

    /// Creates a layout from the upper case letters of a string.
    pub fn plain(letters: &str) -> Layout {
        let primal = letters.bytes().filter(u8::is_ascii_uppercase);
        Layout { axes: primal.map(|letter| Axis { letter, factor: 0 }).collect() }
    }

    /// Returns the rank of a tensor of this layout.
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    /// Returns the axes, outermost first.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Returns the position of a letter.
    pub fn index_of(&self, letter: char) -> Option<usize> {
        self.axes.iter().position(|axis| axis.letter == letter as u8)
    }

    /// Returns the product of the block sizes of an axis, or `None` if it has no blocks.
    fn factor_of(&self, letter: u8) -> Option<i64> {
        let block = letter.to_ascii_lowercase();
        let mut blocks = self.axes.iter().filter(|a| a.letter == block).map(|a| a.factor);
        let first = blocks.next()?;
        Some(blocks.fold(first, |a, b| a.saturating_mul(b)))
    }

    /// Returns true if shapes can be converted: both layouts have the same axes.
    pub fn converts_to(&self, other: &Layout) -> bool {
        let covers = |a: &Layout, b: &Layout| {
            b.rank() > 0
                && b.axes.iter().all(|axis| a.axes.iter().any(|x| x.primal() == axis.primal()))
        };
        covers(self, other) && covers(other, self)
    }

    /// Converts `shape` from this layout to `other`. Returns `None` if its rank or the size of a
    /// block does not match this layout.
    pub fn convert(&self, shape: &[Dim], other: &Layout) -> Option<Shape> {
        if shape.len() != self.rank() {
            return None;
        }
        let wrong_block = self.axes.iter().zip(shape).any(|(axis, dim)| {
            !axis.is_primal() && dim.as_known().is_some_and(|size| size != axis.factor)
        });
        if wrong_block {
            return None;
        }
        let size = |axis: &Axis| -> Dim {
            if !axis.is_primal() {
                return Dim::known(axis.factor);
            }
            // As in TVM, the sizes have 32 bits, and axes with the same letter are added up.
            let own = self.axes.iter().zip(shape).filter(|(a, _)| a.letter == axis.letter);
            let own = own.map(|(_, dim)| dim.clone().with_width(false)).map(|dim| {
                match self.factor_of(axis.letter) {
                    Some(factor) => dim * factor,
                    None => dim,
                }
            });
            let whole = own.reduce(|a, b| a + b).unwrap_or(Dim::Any);
            match other.factor_of(axis.letter) {
                Some(factor) => (whole + (factor - 1)) / factor,
                None => whole,
            }
        };
        Some(other.axes.iter().map(size).collect())
    }
}

impl ToFact for Layout {
    fn to_fact(&self) -> Fact {
        self.to_string().as_str().to_fact()
    }
}

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for axis in &self.axes {
            if axis.factor > 0 {
                write!(f, "{}", axis.factor)?;
            }
            write!(f, "{}", axis.letter as char)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert(from: &str, shape: &[i64], to: &str) -> Option<Vec<i64>> {
        let shape: Vec<Dim> = shape.iter().map(|&n| Dim::known(n)).collect();
        let (from, to) = (Layout::parse(from).ok()?, Layout::parse(to).ok()?);
        from.convert(&shape, &to)?.iter().map(Dim::as_known).collect()
    }

    #[test]
    fn shapes_convert_between_layouts() {
        assert_eq!(convert("NHWC", &[1, 8, 9, 3], "NCHW"), Some(vec![1, 3, 8, 9]));
        assert_eq!(convert("NCHW4c", &[1, 2, 8, 9, 4], "NCHW"), Some(vec![1, 8, 8, 9]));
        assert_eq!(convert("NCHW", &[1, 7, 8, 9], "NCHW4c"), Some(vec![1, 2, 8, 9, 4]));
        assert_eq!(convert("NCHW4c", &[1, 2, 8, 9, 5], "NCHW"), None);
        assert_eq!(convert("NCHW", &[1, 2], "NHWC"), None);
        assert_eq!(convert("NCHW4c", &[1, 4, 8, 9, 4], "NCHW3c"), Some(vec![1, 6, 8, 9, 3]));
        assert_eq!(convert("NCHW2c2c", &[1, 4, 8, 9, 2, 2], "NHWC"), Some(vec![1, 8, 9, 16]));
        assert_eq!(convert("NCCW", &[1, 4, 5, 6], "NCW"), Some(vec![1, 9, 6]));
        assert_eq!(convert("NCW", &[1, 4, 6], "NCCW"), Some(vec![1, 4, 4, 6]));
    }

    #[test]
    fn invalid_layouts_are_explained() {
        for (text, part) in [("NC4HW", "has no block"), ("NCc", "no size"), ("N4x", "no axis")] {
            let message = Layout::parse(text).err().unwrap_or_default().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
        let nchw = Layout::parse("NCHW").expect("a layout");
        assert!(!nchw.converts_to(&Layout::parse("NCW").expect("a layout")));
    }
}
