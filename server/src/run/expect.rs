//! Compares results with arrays in a file, as numpy's `allclose` does.

use std::path::Path;

use arrays::Archive;
use interpreter::{Tensor, Value};

use super::files::ArgumentFile;

/// The tolerated absolute and relative difference of an element, the defaults of numpy.
const ABSOLUTE: f64 = 1e-8;
const RELATIVE: f64 = 1e-5;
/// The largest number of tensors in a result.
const MAX_LEAVES: usize = 1 << 16;

/// Compares a result with the arrays `o0`, `o1`, … of an archive, or that of a `.npy` file.
/// Returns a message for each tensor that differs.
///
/// # Errors
/// The message for a file that cannot be read, or whose arrays do not match the tensors of the
/// result.
pub(crate) fn differences(value: &Value, path: &Path) -> Result<Vec<String>, String> {
    let shown = path.display();
    let leaves = value
        .leaves_within(MAX_LEAVES)
        .ok_or_else(|| format!("the result has more than {MAX_LEAVES} parts"))?;
    let source = ArgumentFile { path: path.to_owned(), within: None, part: None }.open()?;
    let fail = |error: arrays::Error| format!("cannot read `{shown}`: {error}");
    if path.extension().is_some_and(|extension| extension == "npy") {
        let [own] = leaves[..] else {
            let count = leaves.len();
            return Err(format!(
                "`{shown}` contains one array, but the result has {count} tensors"
            ));
        };
        let expected = source.npy().and_then(arrays::Array::read).map_err(fail)?;
        return Ok(difference("o0", own, &expected).into_iter().collect());
    }
    let archive = Archive::open(source).map_err(fail)?;
    let mut found = Vec::new();
    for (number, own) in leaves.iter().enumerate() {
        let name = format!("o{number}");
        let Some(position) = archive.names().iter().position(|known| *known == name) else {
            return Err(format!("`{shown}` has no array `{name}`"));
        };
        let expected = archive.array(position).and_then(arrays::Array::read).map_err(fail)?;
        found.extend(difference(&name, own, &expected));
    }
    let more = format!("o{}", leaves.len());
    if archive.names().contains(&more) {
        return Err(format!("`{shown}` has an array `{more}`, but the result has no such tensor"));
    }
    Ok(found)
}

/// Describes the difference of a tensor, if any.
fn difference(name: &str, own: &Tensor, expected: &Tensor) -> Option<String> {
    if own.ty() != expected.ty() {
        return Some(format!("`{name}` is {}, expected {}", own.ty(), expected.ty()));
    }
    let (own, expected) = (own.to_f64s(), expected.to_f64s());
    let mut count = 0;
    let mut worst: Option<(f64, usize, f64, f64)> = None;
    for (at, (x, y)) in own.iter().zip(&expected).enumerate() {
        let is_close = x == y
            || (x.is_nan() && y.is_nan())
            || (y.is_finite() && (x - y).abs() <= ABSOLUTE + RELATIVE * y.abs());
        if is_close {
            continue;
        }
        count += 1;
        let distance = (x - y).abs();
        let is_worse = worst.is_none_or(|(most, ..)| distance > most);
        if is_worse {
            worst = Some((distance, at, *x, *y));
        }
    }
    let (distance, at, x, y) = worst?;
    Some(format!(
        "`{name}`: {count} of {} elements differ, by up to {distance:.3e}: element {at} is {x}, expected {y}",
        own.len()
    ))
}

#[cfg(test)]
mod tests {
    use interpreter::Tensor;
    use types::DataType;

    fn differs(own: &[f64], expected: &[f64]) -> Option<String> {
        let tensor = |values: &[f64]| {
            Tensor::from_f64s(DataType::FLOAT64, &[values.len()], values.to_vec()).expect("it fits")
        };
        super::difference("o0", &tensor(own), &tensor(expected))
    }

    #[test]
    fn tolerances_are_those_of_numpy() {
        assert_eq!(differs(&[1.0, 0.0], &[1.000_009, 1e-9]), None);
        assert_eq!(differs(&[f64::NAN, f64::INFINITY], &[f64::NAN, f64::INFINITY]), None);
        assert!(differs(&[1.0], &[f64::INFINITY]).is_some());
        assert!(differs(&[1.0], &[f64::NAN]).is_some());
        let said = differs(&[1.0, 2.0, 3.0], &[1.0, 2.1, 3.5]).expect("they differ");
        assert_eq!(
            said,
            "`o0`: 2 of 3 elements differ, by up to 5.000e-1: element 2 is 3, expected 3.5"
        );
    }

    #[test]
    fn shapes_and_data_types_must_match() {
        assert_eq!(
            differs(&[1.0, 2.0], &[1.0]).as_deref(),
            Some("`o0` is Tensor[(2), float64], expected Tensor[(1), float64]")
        );
    }
}
