//! Compares the results of two functions on drawn inputs.

use std::path::PathBuf;

use interpreter::{Limits, Machine, Tensor, Value};
use semantics::{Database, Def, View};

use super::{
    arguments::{self, Inputs},
    failure,
};

/// The comparison of the results of two functions.
pub(crate) enum Agreement {
    /// The results are equal up to rounding, with the largest difference.
    Equal(f64),
    /// The results differ, with the largest difference if their shapes are equal.
    Different(Option<f64>),
    /// The functions cannot be compared, with the reason.
    Unknown(String),
}

/// The tolerated relative difference: passes reorder sums of floats.
const RELATIVE: f64 = 1e-3;
/// The largest number of tensors in a result.
const MAX_LEAVES: usize = 1 << 16;

/// Runs two functions on inputs that are drawn from a seed by the types of the first.
pub(crate) fn agree(
    (db_a, before): (&Database, Def<'_>),
    (db_b, after): (&Database, Def<'_>),
    seed: u64,
) -> Agreement {
    let unknown = |text: &str| Agreement::Unknown(text.to_owned());
    let (Some(view_a), Some(view_b)) = (View::new(db_a, before), View::new(db_b, after)) else {
        return unknown("a function cannot be analysed");
    };
    if semantics::has_type_errors(&view_a) || semantics::has_type_errors(&view_b) {
        return unknown("there are type errors: `relay-analyzer check` shows them");
    }
    if parameter_types(&view_a) != parameter_types(&view_b) {
        return unknown("the parameters are not of the same types on both sides");
    }
    let mut machine = Machine::new(db_a).limited(Limits::generous());
    let inputs = Inputs {
        given: Vec::new(),
        archives: Vec::new(),
        params: Vec::new(),
        seed: Some(seed),
        folder: PathBuf::new(),
    };
    let watch = machine.begin();
    let gathered = watch.within(|| arguments::gather(&view_a, &inputs, &mut |_| None));
    let values = match gathered {
        Ok(Ok(arguments)) => arguments.values,
        Ok(Err(lack)) => return Agreement::Unknown(lack.message),
        Err(fault) => return Agreement::Unknown(failure(db_a, before, &fault)),
    };
    let first = match machine.run(before, values.clone(), None) {
        Ok(value) => value,
        Err(fault) => return Agreement::Unknown(failure(db_a, before, &fault)),
    };
    let mut machine = Machine::new(db_b).limited(Limits::generous());
    match machine.run(after, values, None) {
        Ok(second) => compare(&first, &second),
        Err(fault) => Agreement::Unknown(failure(db_b, after, &fault)),
    }
}

fn failure(db: &Database, def: Def<'_>, fault: &interpreter::Fault) -> String {
    failure::diagnostic(db, def, fault, |limit| limit.to_owned()).message
}

fn parameter_types(view: &View<'_>) -> Vec<types::Type> {
    let params = view.body.header().map(|header| header.params.clone()).unwrap_or_default();
    let ty = |binder| view.binding_type(semantics::scope::LocalRef { unit: 0, binder }).clone();
    params.into_iter().map(ty).collect()
}

fn compare(a: &Value, b: &Value) -> Agreement {
    let (Some(leaves_a), Some(leaves_b)) =
        (a.leaves_within(MAX_LEAVES), b.leaves_within(MAX_LEAVES))
    else {
        return Agreement::Unknown(format!("the result has more than {MAX_LEAVES} parts"));
    };
    let is_same_form = leaves_a.len() == leaves_b.len()
        && leaves_a.iter().zip(&leaves_b).all(|(a, b)| a.shape() == b.shape());
    if !is_same_form {
        return Agreement::Different(None);
    }
    let mut most = 0.0f64;
    let mut is_equal = true;
    for (a, b) in leaves_a.iter().zip(&leaves_b) {
        let (distance, size) = difference(a, b);
        most = most.max(distance);
        // A NaN difference is between a number and NaN.
        is_equal &= distance <= RELATIVE * size.max(1e-3);
    }
    match is_equal {
        true => Agreement::Equal(most),
        false => Agreement::Different(Some(most)),
    }
}

/// Returns the largest difference of two elements, and the largest element.
fn difference(a: &Tensor, b: &Tensor) -> (f64, f64) {
    let (mut most, mut size) = (0.0f64, 0.0f64);
    for (x, y) in a.to_f64s().into_iter().zip(b.to_f64s()) {
        if x == y || x.is_nan() && y.is_nan() {
            if x.is_finite() {
                size = size.max(x.abs());
            }
            continue;
        }
        let distance = (x - y).abs();
        most = if distance.is_nan() { f64::INFINITY } else { most.max(distance) };
        if x.is_finite() && y.is_finite() {
            size = size.max(x.abs()).max(y.abs());
        }
    }
    (most, size)
}
