//! Compares the results of two functions, and of their paired calls, on random inputs.

use std::collections::{HashMap, HashSet};

use diff::{Pair, PairKind};
use interpreter::{Limits, Measured, Observer, Tensor, Value};
use semantics::{Database, Def, SourceFile, View};
use syntax::TextRange;

use super::{
    arguments::{self, Inputs},
    failure,
};
use crate::allocator::limited_machine;

/// The comparison of the results of two functions.
pub(crate) enum Agreement {
    /// The results are equal up to rounding, with the largest difference.
    Equal(f64),
    /// The results differ, with the largest difference if their shapes are equal.
    Different(Option<f64>),
    /// The functions cannot be compared, with the reason.
    Unknown(String),
}

/// The comparison of a run of two functions.
pub(crate) struct Runs {
    /// The comparison of the results.
    pub(crate) result: Agreement,
    /// The comparison of the values of pairs that were computed on both sides and whose equality does not
    /// follow from the structure, in the order of the pairs.
    pub(crate) pairs: Vec<(TextRange, TextRange, Agreement)>,
}

/// The tolerated relative difference: passes reorder sums of floats.
const RELATIVE: f64 = 1e-3;
/// The largest number of tensors in a result.
const MAX_LEAVES: usize = 1 << 16;
/// The limit on the values kept of each function, in bytes.
const MAX_KEPT: usize = 512 << 20;

/// Keeps the first values of some calls of operators.
struct Recorder {
    file: SourceFile,
    wanted: HashSet<TextRange>,
    values: HashMap<TextRange, Value>,
    kept: usize,
}

impl Recorder {
    fn new(file: SourceFile, wanted: impl Iterator<Item = TextRange>) -> Recorder {
        Recorder { file, wanted: wanted.collect(), values: HashMap::new(), kept: 0 }
    }
}

impl Observer for Recorder {
    fn measures(&self) -> bool {
        self.kept < MAX_KEPT && !self.wanted.is_empty()
    }

    fn called(&mut self, call: &Measured<'_>) {
        let (file, range) = call.place;
        if file == self.file && self.wanted.remove(&range) {
            let leaves = call.value.leaves_within(MAX_LEAVES).unwrap_or_default();
            self.kept += leaves.iter().map(|tensor| tensor.bytes()).sum::<usize>();
            self.values.insert(range, call.value.clone());
        }
    }
}

/// Runs two functions on random inputs with the parameter types of the first. `pairs` are the
/// pairs of their expressions.
pub(crate) fn agree(
    one: (&Database, Def<'_>),
    other: (&Database, Def<'_>),
    pairs: &[Pair],
    seed: u64,
) -> Runs {
    let open: Vec<&Pair> = pairs.iter().filter(|pair| pair.kind != PairKind::Same).collect();
    let mut kept_a = Recorder::new(one.1.file(one.0), open.iter().map(|pair| pair.before));
    let mut kept_b = Recorder::new(other.1.file(other.0), open.iter().map(|pair| pair.after));
    let result = match run_both(one, other, &mut kept_a, &mut kept_b, seed) {
        Ok((first, second)) => compare(&first, &second),
        Err(why) => Agreement::Unknown(why),
    };
    let pairs = open.into_iter().filter_map(|pair| {
        let (a, b) = (kept_a.values.get(&pair.before)?, kept_b.values.get(&pair.after)?);
        Some((pair.before, pair.after, compare(a, b)))
    });
    Runs { result, pairs: pairs.collect() }
}

/// Returns the results of two functions on the same random inputs, or the reason for a failure.
fn run_both(
    (db_a, before): (&Database, Def<'_>),
    (db_b, after): (&Database, Def<'_>),
    kept_a: &mut Recorder,
    kept_b: &mut Recorder,
    seed: u64,
) -> Result<(Value, Value), String> {
    let (Some(view_a), Some(view_b)) = (View::new(db_a, before), View::new(db_b, after)) else {
        return Err("a function cannot be analysed".to_owned());
    };
    if view_a.has_type_errors() || view_b.has_type_errors() {
        return Err("there are type errors: `relay-analyzer check` shows them".to_owned());
    }
    if parameter_types(&view_a) != parameter_types(&view_b) {
        return Err("the parameter types of both sides differ".to_owned());
    }
    let mut machine = limited_machine(db_a, Limits::generous());
    let inputs =
        Inputs { given: Vec::new(), archives: Vec::new(), params: Vec::new(), seed: Some(seed) };
    let watch = machine.begin();
    let values = match watch.within(|| arguments::gather(&view_a, &inputs, &mut |_| None)) {
        Ok(Ok(arguments)) => arguments.values,
        Ok(Err(lack)) => return Err(lack.message),
        Err(fault) => return Err(failure(db_a, before, &fault)),
    };
    let first = machine
        .run(before, values.clone(), Some(kept_a))
        .map_err(|fault| failure(db_a, before, &fault))?;
    let mut machine = limited_machine(db_b, Limits::generous());
    let second =
        machine.run(after, values, Some(kept_b)).map_err(|fault| failure(db_b, after, &fault))?;
    Ok((first, second))
}

fn failure(db: &Database, def: Def<'_>, fault: &interpreter::Fault) -> String {
    failure::diagnostic(db, def, fault, |limit| limit.to_owned()).message
}

fn parameter_types(view: &View<'_>) -> Vec<types::Type> {
    let params = view.body.header().map(|header| header.params.clone()).unwrap_or_default();
    let ty = |binder| {
        view.binding_type(semantics::body::LocalRef {
            unit: semantics::body::UnitId::HEADER,
            binder,
        })
        .clone()
    };
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
