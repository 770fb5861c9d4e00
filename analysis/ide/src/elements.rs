//! The elements of a constant of the metadata section in words and numbers.

use semantics::{
    View,
    body::{Expr, MetaRef},
    metadata,
};
use weights::{CONSTANT, Stats};

use crate::words;

/// The elements of a tensor, for a hover and a picture.
#[derive(Clone, PartialEq, Debug)]
pub struct Elements {
    /// `min -1, max 1, mean 0.5, 3 zeros`, or empty.
    pub facts: String,
    /// The first elements: `1, 2, 3, …`.
    pub first: String,
    /// The distribution of the finite elements; `None` if they are all the same.
    pub distribution: Option<Distribution>,
}

/// The distribution of the finite elements of a tensor.
#[derive(Clone, PartialEq, Debug)]
pub struct Distribution {
    /// The least element.
    pub min: f64,
    /// The greatest element.
    pub max: f64,
    /// The least element as a text.
    pub low: String,
    /// The greatest element as a text.
    pub high: String,
    /// The histogram as one line of bars.
    pub bars: String,
    /// The number of elements in each of equal parts of the range from `min` to `max`.
    pub histogram: Vec<u64>,
}

/// Returns the elements of a constant; `None` for entries of other kinds and for elements that are
/// no single numbers.
///
/// # Errors
/// The message if the tensor cannot be decoded.
pub(crate) fn of_entry(view: &View<'_>, meta: &MetaRef) -> Result<Option<Elements>, String> {
    let data = metadata(view.db, view.module).filter(|_| meta.key == CONSTANT);
    let Some(data) = data else { return Ok(None) };
    let weights = data.weights();
    let section = weights.section();
    let array = section.array_of(CONSTANT, meta.index);
    let tensor = array.and_then(|array| section.header(array).zip(weights.payload(array)));
    let Some((header, payload)) = tensor else { return Ok(None) };
    let stats = Stats::of(&payload, header).map_err(|error| error.to_string())?;
    Ok(stats.map(|stats| described(&stats)))
}

/// Returns the elements of the constant that an expression is.
pub(crate) fn of_expr(view: &View<'_>, expr_ref: semantics::ExprRef) -> Option<Elements> {
    let expr_ref = view.resolve(expr_ref);
    let Expr::Meta(meta) = view.unit(expr_ref.unit).expr(expr_ref.expr) else { return None };
    of_entry(view, meta).ok().flatten()
}

/// The integers that 64-bit floats hold exactly.
const EXACT: f64 = (1u64 << 53) as f64;

/// Formats an element with six significant digits; an integer with all of them.
fn number(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < EXACT {
        return (x as i64).to_string();
    }
    if x == 0.0 || (1e-4..1e7).contains(&x.abs()) {
        let digits = 5 - x.abs().max(1e-4).log10().floor() as i32;
        let text = format!("{x:.*}", digits.clamp(0, 9) as usize);
        return match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text,
        };
    }
    match x.is_finite() {
        true => format!("{x:.5e}"),
        false => x.to_string(),
    }
}

/// Describes the elements of a tensor.
pub fn described(stats: &Stats) -> Elements {
    let mut facts = Vec::new();
    if stats.min.is_finite() && stats.count > 1 {
        let [min, max, mean] = [stats.min, stats.max, stats.mean].map(number);
        facts.push(format!("min {min}, max {max}, mean {mean}"));
    }
    let counts = [
        (stats.zeros, "zero", "zeros"),
        (stats.nans, "NaN", "NaN"),
        (stats.infinities, "infinity", "infinities"),
    ];
    for (count, one, several) in counts.into_iter().filter(|(count, ..)| *count > 0) {
        let noun = if count == 1 { one } else { several };
        facts.push(format!("{} {noun}", words::number(count)));
    }
    let first: Vec<String> = stats.first.iter().map(|&x| number(x)).collect();
    let more = if stats.count > first.len() as u64 { ", …" } else { "" };
    let distribution = (stats.min < stats.max).then(|| Distribution {
        min: stats.min,
        max: stats.max,
        low: number(stats.min),
        high: number(stats.max),
        bars: stats.bars(),
        histogram: stats.histogram.to_vec(),
    });
    Elements { facts: facts.join(", "), first: first.join(", ") + more, distribution }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_six_digits() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-0.123_456_7, "-0.123457"),
            (1_234.567_8, "1234.57"),
            (1e-9, "1.00000e-9"),
            (30_000_001.0, "30000001"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(x), text);
        }
    }
}
