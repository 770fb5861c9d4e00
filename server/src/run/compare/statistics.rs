//! Errors between values, and the tolerance of them.

use interpreter::{SharedTensor, Tensor, Value};
use serde::Serialize;
use types::DataType;

use super::exchange::MAX_LEAVES;

/// The error between two values of the same form. In JSON, an infinite one is `null`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct Errors {
    /// The largest absolute difference; infinite if only one element is a number.
    pub(crate) max_abs: f64,
    /// The largest difference relative to the element of the first value.
    pub(crate) max_rel: f64,
    /// The cosine of the angle between the values as vectors; 1 for zeros.
    pub(crate) cosine: f64,
    /// The number of elements of which exactly one is NaN.
    pub(crate) nan: u64,
    /// The largest finite element of the first value, without its sign; 0 for identical values.
    #[serde(skip)]
    pub(crate) scale: f64,
    /// The position of the largest difference among the elements in row-major order.
    #[serde(skip)]
    pub(crate) worst: u64,
}

impl Default for Errors {
    fn default() -> Errors {
        Errors { max_abs: 0.0, max_rel: 0.0, cosine: 1.0, nan: 0, scale: 0.0, worst: 0 }
    }
}

/// The part of a value that was compared.
#[derive(Default)]
struct Sums {
    errors: Errors,
    /// The sums of products `a·b`, `a·a` and `b·b`.
    products: [f64; 3],
    count: u64,
}

impl Errors {
    /// Returns the error of `b` against `a`; `None` if they have different forms, or a part is not known.
    pub(super) fn between(a: &Value, b: &Value) -> Option<Errors> {
        if a.failure().or(b.failure()).is_some() {
            return None;
        }
        if a.is_identical(b, MAX_LEAVES) {
            return Some(Errors::default());
        }
        let (a, b) = (a.leaves_within(MAX_LEAVES)?, b.leaves_within(MAX_LEAVES)?);
        // Numbers and their codes, as of a quantised tensor, are not of one kind.
        let is_same = |(a, b): (&&Tensor, &&Tensor)| {
            a.shape() == b.shape() && a.dtype().is_float() == b.dtype().is_float()
        };
        let is_same_form = a.len() == b.len() && a.iter().zip(&b).all(is_same);
        if !is_same_form {
            return None;
        }
        let mut sums = Sums::default();
        a.into_iter().zip(b).for_each(|(a, b)| sums.add(a, b));
        let [ab, aa, bb] = sums.products;
        let norm = (aa * bb).sqrt();
        let cosine = if norm > 0.0 { (ab / norm).clamp(-1.0, 1.0) } else { f64::from(aa == bb) };
        Some(Errors { cosine, ..sums.errors })
    }

    /// Returns true if all elements are equal.
    pub(crate) fn is_zero(&self) -> bool {
        self.max_abs == 0.0 && self.nan == 0
    }

    /// Returns true if this error is larger than another one.
    pub(crate) fn exceeds(&self, other: &Errors) -> bool {
        (self.nan, self.max_abs) > (other.nan, other.max_abs)
    }

    /// Returns this error, and of another one that is no larger what is worse in it.
    pub(crate) fn with(self, other: Errors) -> Errors {
        Errors {
            max_rel: self.max_rel.max(other.max_rel),
            cosine: self.cosine.min(other.cosine),
            ..self
        }
    }

    /// Returns the larger of two errors, and what is worse in the other one.
    pub(crate) fn or_worse(self, other: Errors) -> Errors {
        if other.exceeds(&self) { other.with(self) } else { self.with(other) }
    }
}

/// The number of elements by their error relative to the largest element: those that are equal, then those below
/// 1e-8, 1e-7, … 1, and the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct Histogram([u64; BINS]);

const BINS: usize = 11;

impl Histogram {
    /// Returns the histogram of two values of the same form, whose largest element is known.
    pub(super) fn between(a: &Value, b: &Value, scale: f64) -> Option<Histogram> {
        let (a, b) = (a.leaves_within(MAX_LEAVES)?, b.leaves_within(MAX_LEAVES)?);
        let mut histogram = Histogram::default();
        for (a, b) in a.into_iter().zip(b) {
            let others = b.to_f64s();
            let mut at = 0;
            a.each_f64s(|numbers| {
                for (x, y) in numbers.iter().zip(&others[at..]) {
                    histogram.0[bin(*x, *y, scale)] += 1;
                }
                at += numbers.len();
            });
        }
        Some(histogram)
    }

    /// Returns what the bins are called.
    pub(crate) fn labels() -> Vec<String> {
        let bins = (1..BINS - 1).map(|bin| format!("< 1e{}", bin as i32 - 9));
        std::iter::once("equal".to_owned()).chain(bins).chain(["≥ 1".to_owned()]).collect()
    }
}

/// Returns the bin of two elements.
fn bin(x: f64, y: f64, scale: f64) -> usize {
    let relative = (x - y).abs() / scale;
    if x == y || x.is_nan() && y.is_nan() {
        0
    } else if relative.is_finite() {
        (1..BINS - 1).find(|bin| relative < 10f64.powi(*bin as i32 - 9)).unwrap_or(BINS - 1)
    } else {
        BINS - 1
    }
}

impl Sums {
    fn add(&mut self, a: &Tensor, b: &Tensor) {
        let others = b.to_f64s();
        let mut at = 0;
        a.each_f64s(|numbers| {
            for (x, y) in numbers.iter().zip(&others[at..]) {
                self.element(*x, *y);
            }
            at += numbers.len();
        });
    }

    fn element(&mut self, x: f64, y: f64) {
        let at = self.count;
        self.count += 1;
        let errors = &mut self.errors;
        if x.is_finite() {
            errors.scale = errors.scale.max(x.abs());
        }
        if x.is_finite() && y.is_finite() {
            let [ab, aa, bb] = &mut self.products;
            *ab += x * y;
            *aa += x * x;
            *bb += y * y;
        }
        if x == y || x.is_nan() && y.is_nan() {
            return;
        }
        if x.is_nan() != y.is_nan() {
            errors.nan += 1;
        }
        let distance = (x - y).abs();
        let distance = if distance.is_nan() { f64::INFINITY } else { distance };
        if distance > errors.max_abs {
            errors.max_abs = distance;
            errors.worst = at;
        }
        let relative = if x == 0.0 { f64::INFINITY } else { distance / x.abs() };
        errors.max_rel = errors.max_rel.max(relative);
    }
}

/// The error that is tolerated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Tolerance {
    /// Relative to the largest element.
    pub(super) relative: f64,
    /// Absolute.
    pub(super) absolute: f64,
}

impl Tolerance {
    /// Returns the tolerance of two values. `is_one_operator` is true if one operator computes both, which differ by
    /// the order of sums at most.
    pub(super) fn of(a: &Value, b: &Value, is_one_operator: bool) -> Tolerance {
        let leaves = |value: &Value| -> Vec<DataType> {
            let leaves = value.shared_leaves_within(MAX_LEAVES).unwrap_or_default();
            leaves.into_iter().map(SharedTensor::dtype).collect()
        };
        let all = leaves(a).into_iter().chain(leaves(b));
        let relative = all.map(|dtype| relative(dtype, is_one_operator)).fold(0.0, f64::max);
        Tolerance { relative, absolute: relative * 1e-3 }
    }

    /// Returns the tolerance of a value to which the rounding of many calls adds up.
    pub(super) fn after_many_calls(self) -> Tolerance {
        Tolerance { relative: self.relative * 5.0, absolute: self.absolute * 5.0 }
    }

    /// Returns true if an error is tolerated.
    pub(super) fn admits(&self, errors: &Errors) -> bool {
        errors.nan == 0 && errors.max_abs <= self.absolute + self.relative * errors.scale
    }
}

/// Returns the relative error that is tolerated of a data type. Integers are exact.
fn relative(dtype: DataType, is_one_operator: bool) -> f64 {
    match (dtype.is_float(), dtype.bits) {
        (false, _) => 0.0,
        (true, 64) if is_one_operator => 1e-12,
        (true, 64) => 1e-10,
        (true, 32) if is_one_operator => 2e-6,
        (true, 32) => 1e-4,
        (true, _) => 1e-2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(a: &[f64], b: &[f64]) -> Errors {
        let value = |numbers: &[f64]| {
            let tensor = Tensor::from_f64s(DataType::FLOAT64, &[numbers.len()], numbers.to_vec());
            Value::from(tensor.expect("a tensor"))
        };
        Errors::between(&value(a), &value(b)).expect("the same form")
    }

    #[test]
    fn errors_are_those_of_the_worst_element() {
        let equal = between(&[1.0, -4.0, f64::NAN], &[1.0, -4.0, f64::NAN]);
        assert!(equal.is_zero());
        assert_eq!((equal.scale, equal.cosine), (4.0, 1.0));
        let found = between(&[1.0, -4.0, 2.0], &[1.0, -3.0, 1.5]);
        assert_eq!((found.max_abs, found.max_rel, found.worst), (1.0, 0.25, 1));
        assert!(found.cosine < 1.0 && found.cosine > 0.9);
        let found = between(&[1.0, 2.0], &[f64::NAN, 2.0]);
        assert_eq!((found.nan, found.max_abs), (1, f64::INFINITY));
        assert!(!Tolerance { relative: 1.0, absolute: 1.0 }.admits(&found));
        assert_eq!(between(&[0.0], &[0.0]).cosine, 1.0);
        let opposite = between(&[1.0], &[-1.0]);
        assert_eq!(opposite.cosine, -1.0);
        assert!(opposite.exceeds(&equal));
        assert_eq!(opposite.with(equal).max_abs, 2.0);
    }

    #[test]
    fn elements_are_counted_by_their_errors() {
        let value = |numbers: &[f64]| {
            let tensor = Tensor::from_f64s(DataType::FLOAT64, &[numbers.len()], numbers.to_vec());
            Value::from(tensor.expect("a tensor"))
        };
        let (a, b) =
            (value(&[1.0, 1.0, 2.0, 4.0, 0.0]), value(&[1.0, 1.0 + 4e-9, 2.5, 8.0, f64::NAN]));
        let found = Histogram::between(&a, &b, 4.0).expect("a histogram");
        assert_eq!(found.0, [1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(Histogram::labels().len(), BINS);
    }

    #[test]
    fn values_of_other_shapes_are_not_compared() {
        let of = |count| Value::from(Tensor::zeros(DataType::FLOAT32, &[count]).expect("zeros"));
        assert!(Errors::between(&of(2), &of(3)).is_none());
        assert!(Errors::between(&of(2), &Value::tuple([of(2)])).is_some(), "leaves are compared");
    }
}
