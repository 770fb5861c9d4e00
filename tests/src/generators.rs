//! Texts of a chosen size, each with one construct repeated.
//!
//! A generator takes a count `n` and returns a text whose length grows linearly with it (where that
//! is not possible, the text says so and takes the square root). What the analysis does with such a
//! text has to grow linearly as well, which `tests/linear.rs` measures; the fuzz targets use the
//! same texts, small, as seeds.

use std::fmt::Write;

mod bulk;
mod errors;
mod names;
mod programs;

/// A text made of one repeated construct.
#[derive(Clone, Copy)]
pub struct Generator {
    /// The name, for messages and to choose one by.
    pub name: &'static str,
    /// The text with `n` repetitions.
    pub text: fn(usize) -> String,
    /// True if the text is free of errors at every size.
    pub clean: bool,
    /// True if the construct is cheap singly and only its number is at stake: a comment, a literal.
    pub bulk: bool,
}

/// A generator of texts with errors, or with findings whose number does not matter.
const fn row(name: &'static str, text: fn(usize) -> String) -> Generator {
    Generator { name, text, clean: false, bulk: false }
}

/// A generator of texts without errors.
const fn clean(name: &'static str, text: fn(usize) -> String) -> Generator {
    Generator { name, text, clean: true, bulk: false }
}

/// Every generator.
pub fn all() -> impl Iterator<Item = Generator> {
    let bulk = bulk::ALL.iter().map(|&generator| Generator { bulk: true, ..generator });
    [names::ALL, errors::ALL, programs::ALL].into_iter().flatten().copied().chain(bulk)
}

/// The generator of that name.
pub fn named(name: &str) -> Option<Generator> {
    all().find(|generator| generator.name == name)
}

/// `n` pieces in a row.
fn each<D: std::fmt::Display>(n: usize, piece: impl Fn(usize) -> D) -> String {
    (0..n).fold(String::new(), |mut text, i| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}", piece(i));
        text
    })
}

/// `@main` over two matrices that fit and a vector that does not, around `lines`.
fn main_around(lines: &str, last: &str) -> String {
    format!(
        "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(2, 3), float32], %v: Tensor[(4), float32], %c: bool) {{\n\
         {lines}  {last}\n}}\n"
    )
}

/// The integral square root: for texts that hold `n` times `n` of something.
fn root(n: usize) -> usize {
    n.isqrt().max(1)
}

/// A name that depends on `i` in every letter, so that names of neighbours differ by more than a
/// typing error.
fn spread(i: usize) -> String {
    let mut state = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (0..8)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'a' + (state >> 59) as u8 % 26)
        })
        .collect()
}
