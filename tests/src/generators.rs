//! Texts of a chosen size, each with one construct repeated.
//!
//! A generator takes a count `n` and returns a text whose length grows linearly with it (if that is not
//! possible, a comment says so and it uses the square root). The cost of the analysis must grow linearly,
//! too, which `tests/linear.rs` measures; the fuzz targets use small texts of the generators as seeds.

use std::fmt::Write;

mod bulk;
mod errors;
mod names;
mod programs;

/// A text made of one repeated construct.
#[derive(Clone, Copy)]
pub struct Generator {
    /// The name, for messages and selection.
    pub name: &'static str,
    /// The text with `n` repetitions.
    pub text: fn(usize) -> String,
    /// True if the text is free of errors at every size.
    pub clean: bool,
    /// True for a construct that is cheap on its own, such as a comment or a literal.
    pub bulk: bool,
}

/// Creates a generator of texts with errors, or with any number of findings.
const fn row(name: &'static str, text: fn(usize) -> String) -> Generator {
    Generator { name, text, clean: false, bulk: false }
}

/// Creates a generator of texts without errors.
const fn clean(name: &'static str, text: fn(usize) -> String) -> Generator {
    Generator { name, text, clean: true, bulk: false }
}

/// Returns every generator.
pub fn all() -> impl Iterator<Item = Generator> {
    let bulk = bulk::ALL.iter().map(|&generator| Generator { bulk: true, ..generator });
    [names::ALL, errors::ALL, programs::ALL].into_iter().flatten().copied().chain(bulk)
}

/// Returns the generator called `name`.
pub fn named(name: &str) -> Option<Generator> {
    all().find(|generator| generator.name == name)
}

/// Concatenates `n` pieces.
fn each<D: std::fmt::Display>(n: usize, piece: impl Fn(usize) -> D) -> String {
    (0..n).fold(String::new(), |mut text, i| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}", piece(i));
        text
    })
}

/// Returns `@main` with `lines`, and parameters: two matrices of equal shape and a mismatched vector.
fn main_around(lines: &str, last: &str) -> String {
    format!(
        "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(2, 3), float32], %v: Tensor[(4), float32], %c: bool) {{\n\
         {lines}  {last}\n}}\n"
    )
}

/// Returns the integral square root, for texts with `n` times `n` of something.
fn root(n: usize) -> usize {
    n.isqrt().max(1)
}

/// Returns a name whose letters all depend on `i`, so that names of neighbours differ by more than a
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
