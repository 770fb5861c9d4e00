//! The largest elements of results: what a classifier decides for.

use std::cmp::Ordering;

use interpreter::{Tensor, Value};

/// The most tensors of a result of which the largest elements are shown.
const MOST_TENSORS: usize = 100;
/// How many numbers look like scores: fewer are read at a glance, more are no classes.
const FEWEST_SCORES: usize = 10;
const MOST_SCORES: usize = 1 << 20;
/// How many of them are shown.
const SHOWN_SCORES: usize = 5;

/// The `count` largest elements of each tensor of a value, the largest first, each with its position:
///
/// ```text
/// Tensor[(1, 1000), float32]
///   [0, 281] 0.8275
///   [0, 285] 0.1013
/// ```
pub(crate) fn human(value: &Value, count: usize) -> String {
    let Some(leaves) = value.leaves_within(MOST_TENSORS) else {
        return format!("the result has more than {MOST_TENSORS} parts");
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

/// The scores that a tensor looks like, the largest first, each with its position: floating-point
/// numbers along one axis, the others of size 1.
pub(crate) fn scores(tensor: &Tensor) -> Option<Vec<(Vec<usize>, f64)>> {
    let dtype = tensor.dtype();
    let is_float = dtype.is_float() || dtype.is_bfloat();
    let is_vector = tensor.shape().iter().filter(|&&size| size != 1).count() == 1;
    if !(is_float && is_vector && (FEWEST_SCORES..=MOST_SCORES).contains(&tensor.len())) {
        return None;
    }
    let found = largest(&tensor.to_f64s(), SHOWN_SCORES);
    Some(found.into_iter().map(|(at, value)| (position(at, tensor.shape()), value)).collect())
}

/// The largest numbers with where they are. Of equal ones the first comes first, and what is no
/// number comes last.
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

/// The indices of an element, by its number in row-major order.
fn position(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut indices: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&size| {
            let index = at % size.max(1);
            at /= size.max(1);
            index
        })
        .collect();
    indices.reverse();
    indices
}

#[cfg(test)]
mod tests {
    use interpreter::{Tensor, Value};
    use types::DataType;

    #[test]
    fn the_largest_first() {
        let values = vec![0.5, f64::NAN, 3.0, 3.0, -1.0, f64::INFINITY];
        let tensor = Tensor::from_f64s(DataType::FLOAT64, &[2, 3], values).expect("it fits");
        let shown = super::human(&Value::from(tensor), 4);
        assert_eq!(
            shown,
            "Tensor[(2, 3), float64]\n  [1, 2] inf\n  [0, 2] 3\n  [1, 0] 3\n  [0, 0] 0.5"
        );
    }

    #[test]
    fn what_looks_like_scores() {
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
