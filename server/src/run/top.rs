//! The largest elements of results, such as the classes that a classifier predicts.

use std::cmp::Ordering;

use interpreter::{Tensor, Value};

/// The largest number of tensors in a result.
const MAX_TENSORS: usize = 100;
/// The number of elements of a vector of scores: fewer are readable as they are, more are not
/// classes.
const MIN_SCORES: usize = 10;
const MAX_SCORES: usize = 1 << 20;
/// The number of scores that are listed.
const SHOWN_SCORES: usize = 5;

/// Formats the `count` largest elements of each tensor of a value with their positions:
///
/// ```text
/// Tensor[(1, 1000), float32]
///   [0, 281] 0.8275
///   [0, 285] 0.1013
/// ```
pub(crate) fn human(value: &Value, count: usize) -> String {
    let Some(leaves) = value.leaves_within(MAX_TENSORS) else {
        return format!("the result has more than {MAX_TENSORS} parts");
    };
    let shown: Vec<String> = leaves.iter().map(|leaf| tensor(leaf, count)).collect();
    shown.join("\n")
}

fn tensor(tensor: &Tensor, count: usize) -> String {
    let mut out = tensor.ty().to_string();
    for (at, value) in largest(&tensor.to_f64s(), count) {
        let shown = match tensor {
            Tensor::F32(_) => (value as f32).to_string(),
            _ => value.to_string(),
        };
        out += &format!("\n  {:?} {shown}", position(at, tensor.shape()));
    }
    out
}

/// Returns the largest scores with their positions if a tensor may be a vector of scores: floats
/// along one axis, with all others of size 1.
pub(crate) fn scores(tensor: &Tensor) -> Option<Vec<(Vec<usize>, f64)>> {
    let dtype = tensor.dtype();
    let is_float = dtype.is_float() || dtype.is_bfloat();
    let is_vector = tensor.shape().iter().filter(|&&size| size != 1).count() == 1;
    if !(is_float && is_vector && (MIN_SCORES..=MAX_SCORES).contains(&tensor.len())) {
        return None;
    }
    let found = largest(&tensor.to_f64s(), SHOWN_SCORES);
    Some(found.into_iter().map(|(at, value)| (position(at, tensor.shape()), value)).collect())
}

/// Returns the largest numbers with their indices. Equal ones are in order, and NaN is last.
fn largest(values: &[f64], count: usize) -> Vec<(usize, f64)> {
    let mut order: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
    let key = |value: f64| if value.is_nan() { f64::NEG_INFINITY } else { value };
    let before = |a: &(usize, f64), b: &(usize, f64)| -> Ordering {
        let by_value = key(b.1).total_cmp(&key(a.1));
        by_value.then(a.1.is_nan().cmp(&b.1.is_nan())).then(a.0.cmp(&b.0))
    };
    if count < order.len() {
        order.select_nth_unstable_by(count, before);
        order.truncate(count);
    }
    order.sort_unstable_by(before);
    order
}

/// Converts an offset in row-major order to indices.
fn position(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut indices = vec![0; shape.len()];
    for (index, size) in indices.iter_mut().zip(shape).rev() {
        (*index, at) = (at % size.max(&1), at / size.max(&1));
    }
    indices
}

#[cfg(test)]
mod tests {
    use interpreter::{Tensor, Value};
    use types::DataType;

    #[test]
    fn largest_elements_are_first() {
        let values = vec![0.5, f64::NAN, 3.0, 3.0, -1.0, f64::INFINITY];
        let tensor = Tensor::from_f64s(DataType::FLOAT64, &[2, 3], values).expect("it fits");
        let shown = super::human(&Value::from(tensor), 4);
        assert_eq!(
            shown,
            "Tensor[(2, 3), float64]\n  [1, 2] inf\n  [0, 2] 3\n  [1, 0] 3\n  [0, 0] 0.5"
        );
    }

    #[test]
    fn vectors_of_floats_are_scores() {
        let tensor = |dtype, shape: &[usize]| {
            let count = shape.iter().product();
            let values = (0..count).map(|at| ((at * 7) % 11) as f64).collect();
            Tensor::from_f64s(dtype, shape, values).expect("it fits")
        };
        let found = super::scores(&tensor(DataType::FLOAT32, &[1, 12])).expect("scores");
        assert_eq!(found[..2], [(vec![0, 3], 10.0), (vec![0, 6], 9.0)]);
        assert_eq!(found.len(), 5);
        for (dtype, shape) in [
            (DataType::INT8, &[1, 12][..]),
            (DataType::FLOAT32, &[2, 12]),
            (DataType::FLOAT32, &[9]),
            (DataType::FLOAT32, &[]),
        ] {
            assert_eq!(super::scores(&tensor(dtype, shape)), None, "{shape:?}");
        }
    }

    #[test]
    fn scalars_and_empty_tensors() {
        let scalar = Value::from(Tensor::scalar(2i32));
        assert_eq!(super::human(&scalar, 3), "int32\n  [] 2");
        let empty = Tensor::from_f64s(DataType::FLOAT32, &[0, 2], Vec::new()).expect("it fits");
        assert_eq!(super::human(&Value::from(empty), 3), "Tensor[(0, 2), float32]");
    }
}
