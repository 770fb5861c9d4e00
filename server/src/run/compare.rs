//! Compares the values of two modules that are run on the same arguments.
//!
//! Both sides run at the same time. The calls of operators that a structural comparison pairs are compared as soon as
//! both are computed:
//!
//! - The **local error** of a call is that on the operands of the first side. In the first run of the second side,
//!   the value of each paired call is replaced by that of the first side after it was compared, so that what follows
//!   is computed from the values of the first side. A call with an error of its own is a culprit; one that merely
//!   inherits an error has none.
//! - The **accumulated error** is that of an ordinary run. It needs a second run, unless no call has a local error.
//!
//! A value is dropped when it was compared. The first side waits when it is too far ahead, so that not all of its
//! values are kept.

mod exchange;
mod pairs;
mod recorded;
mod statistics;

use std::{thread, time::Instant};

use interpreter::{Fault, Limits, Measured, Observer, Tensor, Value};
use rustc_hash::FxHashMap;
use semantics::{Code, Database, Diagnostic, Severity, SourceFile, View};
use syntax::TextRange;
use types::Type;

use super::{
    arguments::{self, ArgumentError, Arguments, Inputs},
    execute::Selection,
    failure,
    summary::Summary,
};
use crate::{allocator::limited_machine, analyzer::Analyzer, panics};
use exchange::{Exchange, Key};
pub(crate) use pairs::{Candidate, candidates};
pub(crate) use recorded::{RecordedComparison, compare_recorded, is_recorded};
pub(crate) use statistics::Errors;
use statistics::Tolerance;

/// One of the two modules.
#[derive(Clone, Copy)]
pub(crate) struct Side<'t> {
    /// Its text.
    pub(crate) text: &'t str,
    /// The function, with or without `@`; `None` for `@main` or the only one.
    pub(crate) function: Option<&'t str>,
}

/// Two calls whose values are compared.
#[derive(Clone, Copy)]
pub(crate) struct CallPair {
    /// The range of the call before.
    pub(crate) before: TextRange,
    /// The range of the call after.
    pub(crate) after: TextRange,
    /// True if one operator computes both, whose results differ by the order of sums at most.
    pub(crate) is_one_operator: bool,
}

/// The tolerances that a user gave.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tolerances {
    /// Relative to the largest element of a value.
    pub(crate) relative: Option<f64>,
    /// Absolute.
    pub(crate) absolute: Option<f64>,
}

impl Tolerances {
    /// Returns true if an error is tolerated of a value of any data type.
    pub(crate) fn admit(&self, errors: &Errors) -> bool {
        let of = |error: Option<f64>| error.unwrap_or_default();
        Tolerance { relative: of(self.relative), absolute: of(self.absolute) }.admits(errors)
    }

    /// Returns the tolerance of two values.
    fn between(&self, a: &Value, b: &Value, is_one_operator: bool) -> Tolerance {
        let own = Tolerance::of(a, b, is_one_operator);
        Tolerance {
            relative: self.relative.unwrap_or(own.relative),
            absolute: self.absolute.unwrap_or(own.absolute),
        }
    }
}

/// The comparison of the values of a pair.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    /// The number of the pair.
    pub(crate) pair: usize,
    /// The error on the operands of the first side, the largest of several calls.
    pub(crate) local: Errors,
    /// The error of an ordinary run, likewise.
    pub(crate) accumulated: Errors,
    /// True if the local error exceeds the tolerance, and the results differ by more than the order of sums.
    pub(crate) is_culprit: bool,
    /// The values of the call with the largest local error, if it is a culprit with one tensor.
    pub(crate) values: Option<(Summary, Summary)>,
}

/// The comparison of two runs.
pub(crate) struct Comparison {
    /// The pairs that were computed on both sides, in the order of the second side.
    pub(crate) pairs: Vec<Compared>,
    /// The error of the results; `None` if they have different types.
    pub(crate) result: Option<Errors>,
    /// True if the results agree, and no call is a culprit.
    pub(crate) is_equal: bool,
    /// The arguments, without their values.
    pub(crate) arguments: Arguments,
}

/// The reason that modules cannot be compared.
#[derive(Debug)]
pub(crate) struct NotRun {
    /// The message.
    pub(crate) message: String,
    /// The help.
    pub(crate) help: Option<String>,
    /// The code of the error in a module, if it is one, and its place.
    pub(crate) error: Option<(Code, TextRange)>,
}

impl NotRun {
    fn new(message: impl Into<String>) -> NotRun {
        NotRun { message: message.into(), help: None, error: None }
    }
}

impl From<ArgumentError> for NotRun {
    fn from(error: ArgumentError) -> NotRun {
        NotRun { message: error.message, help: error.help, error: None }
    }
}

/// The stack of a run, which recurses over expressions while the module is analysed.
const STACK: usize = 64 << 20;

/// Runs two modules, and compares the values of paired calls and the results.
///
/// # Errors
/// One of them cannot be run on the arguments.
pub(crate) fn compare(
    (before, after): (Side<'_>, Side<'_>),
    pairs: &[CallPair],
    inputs: &Inputs,
    limits: &Limits,
    tolerances: Tolerances,
) -> Result<Comparison, NotRun> {
    let (first, local) = run_both((before, after), pairs, (inputs, limits, tolerances), true)?;
    let is_exact = local.iter().flatten().all(|seen| seen.errors.is_zero());
    let (last, accumulated) = match is_exact {
        true => (first, None),
        false => {
            let (last, seen) =
                run_both((before, after), pairs, (inputs, limits, tolerances), false)?;
            (last, Some(seen))
        }
    };
    let (one, other) = &last.values;
    let errors = Errors::between(one, other);
    let admits = |tolerance: Tolerance| errors.is_some_and(|errors| tolerance.admits(&errors));
    // A result is no more precise than the values that it is computed from.
    let precision = local.iter().flatten().map(|seen| seen.precision).fold(0.0, f64::max);
    let of_result = |is_one_operator| {
        let own = tolerances.between(one, other, is_one_operator);
        let relative = tolerances.relative.unwrap_or_else(|| own.relative.max(precision));
        Tolerance { relative, ..own }
    };
    let is_equal = admits(of_result(false));
    // A pass may move a factor from one call into another one: only what changes the result is wrong.
    let is_recovered = admits(of_result(true).after_many_calls());
    let compared = |(pair, seen): (usize, Option<PairErrors>)| {
        let seen = seen?;
        let accumulated = accumulated.as_ref().and_then(|all| all[pair].as_ref());
        let is_culprit = !is_recovered && !seen.is_tolerated;
        let compared = Compared {
            pair,
            local: seen.errors,
            accumulated: accumulated.map_or(seen.errors, |seen| seen.errors),
            is_culprit,
            values: seen.values.filter(|_| is_culprit),
        };
        Some((seen.sequence, compared))
    };
    let mut found: Vec<(usize, Compared)> =
        local.into_iter().enumerate().filter_map(compared).collect();
    found.sort_by_key(|(sequence, _)| *sequence);
    let pairs: Vec<Compared> = found.into_iter().map(|(_, compared)| compared).collect();
    let is_equal = is_equal && !pairs.iter().any(|compared| compared.is_culprit);
    Ok(Comparison { pairs, result: errors, is_equal, arguments: last.arguments })
}

/// The results of a run of both sides.
struct Ran {
    values: (Value, Value),
    arguments: Arguments,
}

/// The errors of a pair in one run of the second side.
struct PairErrors {
    /// The largest error.
    errors: Errors,
    /// True if no error exceeds the tolerance.
    is_tolerated: bool,
    /// The relative error that the data types of its values have between two ways to compute one operator.
    precision: f64,
    /// Summaries of the values with the largest error, if it exceeds the tolerance.
    values: Option<(Summary, Summary)>,
    /// The number of the first comparison among all.
    sequence: usize,
}

fn run_both(
    (before, after): (Side<'_>, Side<'_>),
    pairs: &[CallPair],
    (inputs, limits, tolerances): (&Inputs, &Limits, Tolerances),
    replaces: bool,
) -> Result<(Ran, Vec<Option<PairErrors>>), NotRun> {
    let exchange = Exchange::default();
    let begin = Instant::now();
    let ran = thread::scope(|scope| {
        let builder = || thread::Builder::new().name("run".into()).stack_size(STACK);
        let first = builder().spawn_scoped(scope, || {
            let _done = exchange.finish();
            guarded(|| run_first(before, pairs, inputs, limits, &exchange))
        });
        let second = builder().spawn_scoped(scope, || {
            let _done = exchange.abandon();
            guarded(|| run_second(after, pairs, (limits, tolerances), &exchange, replaces))
        });
        let (first, second) = match (first, second) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(error), _) | (_, Err(error)) => {
                exchange.abandon();
                return Err(NotRun::new(format!("no thread can be started: {error}")));
            }
        };
        let ended = NotRun::new("the run ended without a result");
        let first = first.join().unwrap_or(Err(ended))?;
        let ended = NotRun::new("the run ended without a result");
        let second = second.join().unwrap_or(Err(ended))?;
        Ok((first, second))
    });
    tracing::debug!(time = ?begin.elapsed(), replaces, "both sides have run");
    let ((first, arguments), (second, seen)) = ran?;
    Ok((Ran { values: (first, second), arguments }, seen))
}

/// Returns what `work` does, or its panic as a message.
fn guarded<R>(work: impl Fn() -> Result<R, NotRun>) -> Result<R, NotRun> {
    panics::caught(work).unwrap_or_else(|panicked| {
        let place = TextRange::default();
        Err(NotRun::new(panicked.diagnostic(place).message.to_string()))
    })
}

/// Runs `work` on the function of a side.
fn with_function<R>(
    side: Side<'_>,
    work: impl FnOnce(&Database, &View<'_>) -> Result<R, NotRun>,
) -> Result<R, NotRun> {
    let mut analyzer = Analyzer::default();
    let found = analyzer.check(side.text).diagnostics;
    let (db, file) = analyzer.database();
    let selection = side.function.map_or(Selection::Main, Selection::Named);
    let def = selection.find(db, file).map_err(NotRun::new)?;
    let view = View::new(db, def).ok_or_else(|| NotRun::new("the function cannot be read"))?;
    let range = def.range(db);
    let is_error = |d: &&Diagnostic| d.severity == Severity::Error && range.contains_range(d.range);
    if let Some(error) = found.iter().find(is_error) {
        let message = format!("`{}` has errors: {}", def.name(db), error.message);
        let help = "`relay-analyzer check` shows them".to_owned();
        return Err(NotRun { message, help: Some(help), error: Some((error.code, error.range)) });
    }
    work(db, &view)
}

/// Runs the first side, whose arguments are given to the other one, too.
fn run_first(
    side: Side<'_>,
    pairs: &[CallPair],
    inputs: &Inputs,
    limits: &Limits,
    exchange: &Exchange,
) -> Result<(Value, Arguments), NotRun> {
    with_function(side, |db, view| {
        let mut machine = limited_machine(db, limits.clone());
        let watch = machine.begin();
        let gather = || arguments::gather(view, inputs, &mut |_| None);
        let mut arguments = watch.within(gather).map_err(|fault| fault_of(db, view, &fault))??;
        let values = std::mem::take(&mut arguments.values);
        let names = arguments::parameter_types(view).into_iter().map(|(name, _)| name);
        exchange.set_arguments(names.zip(values.iter().cloned()).collect());
        let mut observer = First { calls: Calls::new(view, pairs, |pair| pair.before), exchange };
        let ran = machine.run(view.def, values, Some(&mut observer));
        let value = ran.map_err(|fault| fault_of(db, view, &fault))?;
        Ok((value, arguments))
    })
}

/// Runs the second side on the arguments of the first one.
fn run_second(
    side: Side<'_>,
    pairs: &[CallPair],
    (limits, tolerances): (&Limits, Tolerances),
    exchange: &Exchange,
    replaces: bool,
) -> Result<(Value, Vec<Option<PairErrors>>), NotRun> {
    with_function(side, |db, view| {
        let mut machine = limited_machine(db, limits.clone());
        let Some(given) = exchange.arguments() else {
            return Err(NotRun::new("the first module was not run"));
        };
        let values = matching(view, &given)?;
        drop(given);
        let mut observer = Second {
            calls: Calls::new(view, pairs, |pair| pair.after),
            pairs,
            tolerances,
            exchange,
            seen: std::iter::repeat_with(|| None).take(pairs.len()).collect(),
            count: 0,
            replaces,
        };
        let ran = machine.run(view.def, values, Some(&mut observer));
        let value = ran.map_err(|fault| fault_of(db, view, &fault))?;
        Ok((value, observer.seen))
    })
}

fn fault_of(db: &Database, view: &View<'_>, fault: &Fault) -> NotRun {
    let diagnostic = failure::diagnostic(db, view.def, fault, |limit| format!("--{limit}"));
    NotRun {
        message: diagnostic.message.to_string(),
        help: diagnostic.help.map(|h| h.to_string()),
        error: Some((diagnostic.code, diagnostic.range)),
    }
}

/// Returns the arguments of the second side: those of the same names, or else those at the same positions.
fn matching(view: &View<'_>, given: &[(String, Value)]) -> Result<Vec<Value>, NotRun> {
    let params = arguments::parameter_types(view);
    let known: FxHashMap<&str, &Value> =
        given.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let unknown: Vec<String> = params
        .iter()
        .filter(|(name, _)| !known.contains_key(name.as_str()))
        .map(|(name, _)| format!("`%{name}`"))
        .collect();
    if !unknown.is_empty() && params.len() != given.len() {
        let some = unknown.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
        return Err(NotRun {
            message: format!(
                "the functions have different parameters: only the second one has {some}"
            ),
            help: Some("compare functions that take the same values".to_owned()),
            error: None,
        });
    }
    let value = |(at, (name, ty)): (usize, &(String, Type))| {
        let value = match unknown.is_empty() {
            true => known[name.as_str()],
            false => &given[at].1,
        };
        if let Some(tensor) = value.as_tensor()
            && let Err(reason) = arguments::takes(ty, tensor.dtype(), tensor.shape())
        {
            let message = format!("`%{name}` is of type {ty} in the second module, and {reason}");
            return Err(NotRun::new(message));
        }
        Ok(value.clone())
    };
    params.iter().enumerate().map(value).collect()
}

/// The calls of pairs on one side, with the number of times that each was computed.
struct Calls {
    file: SourceFile,
    pairs: FxHashMap<TextRange, (usize, usize)>,
}

impl Calls {
    fn new(view: &View<'_>, pairs: &[CallPair], range: impl Fn(&CallPair) -> TextRange) -> Calls {
        let pairs = pairs.iter().enumerate().map(|(at, pair)| (range(pair), (at, 0)));
        Calls { file: view.def.file(view.db), pairs: pairs.collect() }
    }

    /// Returns the key of a call if it is in a pair.
    fn key(&mut self, call: &Measured<'_>) -> Option<Key> {
        let (file, range) = call.place;
        let (pair, count) = self.pairs.get_mut(&range).filter(|_| file == self.file)?;
        *count += 1;
        Some(Key { pair: *pair, count: *count })
    }
}

/// Returns a value with the type of another one; `None` if it has another form. A pass may compute in another precision.
fn converted(value: Value, to: &Value) -> Option<Value> {
    if value.ty() == to.ty() {
        return Some(value);
    }
    let (tensor, to) = (value.as_tensor()?, to.as_tensor()?);
    Tensor::from_f64s(to.dtype(), to.shape(), tensor.to_f64s()).map(Value::from)
}

/// Gives the values of the first side to the second one.
struct First<'e> {
    calls: Calls,
    exchange: &'e Exchange,
}

impl Observer for First<'_> {
    fn measures(&self) -> bool {
        true
    }

    fn called(&mut self, call: &Measured<'_>) {
        if let Some(key) = self.calls.key(call) {
            self.exchange.give(key, call.value.clone());
        }
    }
}

/// Compares the values of the second side with those of the first one.
struct Second<'e> {
    calls: Calls,
    pairs: &'e [CallPair],
    tolerances: Tolerances,
    exchange: &'e Exchange,
    seen: Vec<Option<PairErrors>>,
    count: usize,
    replaces: bool,
}

impl Observer for Second<'_> {
    fn measures(&self) -> bool {
        true
    }

    fn replacement(&mut self, call: &Measured<'_>) -> Option<Value> {
        let key = self.calls.key(call)?;
        let other = self.exchange.take(key)?;
        let errors = Errors::between(&other, call.value)?;
        self.count += 1;
        let is_one_operator = self.pairs[key.pair].is_one_operator;
        let is_tolerated = errors.is_zero()
            || self.tolerances.between(&other, call.value, is_one_operator).admits(&errors);
        let precision = Tolerance::of(&other, call.value, true).relative;
        match &mut self.seen[key.pair] {
            Some(seen) if !errors.exceeds(&seen.errors) => {
                seen.errors = seen.errors.with(errors);
                seen.is_tolerated &= is_tolerated;
            }
            seen => {
                let before = seen.take();
                let summary = |value: &Value| value.as_tensor().map(Summary::of);
                *seen = Some(PairErrors {
                    errors: before.as_ref().map_or(errors, |seen| errors.with(seen.errors)),
                    sequence: before.as_ref().map_or(self.count, |seen| seen.sequence),
                    precision,
                    is_tolerated: is_tolerated && before.is_none_or(|seen| seen.is_tolerated),
                    values: match is_tolerated {
                        true => None,
                        false => summary(&other).zip(summary(call.value)),
                    },
                });
            }
        }
        if self.replaces { converted(other, call.value) } else { None }
    }
}
