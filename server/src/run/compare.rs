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
//! A call of one operator on the same arguments has the same value on both sides, and is computed once: a module that is
//! compared with itself costs little more than its run.
//!
//! A pass may move a factor from one call into another one. Then both have an error of their own, and the second one has
//! the right value in an ordinary run: it makes up for the first one, and neither is a culprit if the results agree.
//! Without such a call the error of a culprit counts, however little of it is left in the results on these arguments.
//!
//! What cannot be run does not end a side: what depends on it is unknown and not compared, unless the other side has the
//! value.
//!
//! A value is dropped when it was compared. The first side waits when it is too far ahead, so that not all of its
//! values are kept.

mod exchange;
mod observers;
mod pairs;
mod recorded;
mod samples;
mod statistics;
mod stops;

use std::{
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Instant,
};

use interpreter::{Fault, Limits, Machine, Value};
use rustc_hash::FxHashMap;
use semantics::{Code, View};
use syntax::TextRange;
use types::Type;

use super::{
    arguments::{self, ArgumentError, Arguments, Inputs},
    execute::{Selection, errors_among},
    failure,
    summary::Summary,
};
use crate::{allocator::limited_machine, analyzer::Analyzer, panics};
use exchange::Exchange;
use observers::{Calls, FirstObserver, PairErrors, SecondObserver, converted};
pub(crate) use pairs::{Candidate, candidates};
pub(crate) use recorded::{RecordedComparison, compare_recorded, is_recorded, span_after};
pub(crate) use samples::{Sample, Samples};
use statistics::Tolerance;
pub(crate) use statistics::{Errors, Histogram};
pub(crate) use stops::{MissingValue, Stop};
use stops::{Stops, Subject};

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
pub(crate) struct PairComparison {
    /// The number of the pair.
    pub(crate) pair: usize,
    /// The error on the operands of the first side, the largest of several calls.
    pub(crate) local: Errors,
    /// The error of an ordinary run, likewise; `None` if a value of it is not known.
    pub(crate) accumulated: Option<Errors>,
    /// True if the local error exceeds the tolerance, and no other call makes up for it.
    pub(crate) is_culprit: bool,
    /// True if no error exceeds the tolerance, neither the local one nor that of an ordinary run.
    pub(crate) is_tolerated: bool,
    /// The values of the call with the largest local error, if it is a culprit with one tensor.
    pub(crate) values: Option<(Summary, Summary)>,
    /// The values of an ordinary run, if they are one tensor and [`ComparisonSettings::summarizes`].
    pub(crate) ordinary_values: Option<(Summary, Summary)>,
    /// The histogram of that error.
    pub(crate) histogram: Option<Histogram>,
    /// The number of the sample with the largest local error.
    pub(crate) sample: usize,
}

/// The comparison of two runs.
pub(crate) struct Comparison {
    /// The pairs that were computed on both sides, in the order of the second side.
    pub(crate) pairs: Vec<PairComparison>,
    /// The error of the results; `None` if they have different types, or one is not known.
    pub(crate) result: Option<Errors>,
    /// The number of the sample with the largest error of the results.
    pub(crate) result_sample: usize,
    /// The expressions of the first side that cannot be run, and those of the second one.
    pub(crate) stops: (Vec<Stop>, Vec<Stop>),
    /// The pairs of which one value is not known, by their numbers.
    pub(crate) missing: FxHashMap<usize, MissingValue>,
    /// True if the results agree, and no call is a culprit.
    pub(crate) is_equal: bool,
    /// True if the results differ by more than sums in another order do.
    pub(crate) is_visible: bool,
    /// The arguments, without their values.
    pub(crate) arguments: Arguments,
}

impl Comparison {
    /// Returns true if the results agree or differ, as far as that is known.
    pub(crate) fn is_complete(&self) -> bool {
        self.result.is_some() || self.stops.0.is_empty() && self.stops.1.is_empty()
    }

    /// Returns true if nothing makes up for errors, so that what follows from one inherits it: the results differ, or a
    /// call is a culprit.
    pub(crate) fn has_inherited_errors(&self) -> bool {
        self.is_visible || self.culprits().next().is_some()
    }

    /// Returns true if calls compute other values, and the results agree.
    pub(crate) fn is_hidden(&self) -> bool {
        self.result.is_some() && !self.is_visible && self.culprits().next().is_some()
    }

    /// Returns the pairs that are culprits.
    pub(crate) fn culprits(&self) -> impl Iterator<Item = &PairComparison> {
        self.pairs.iter().filter(|pair| pair.is_culprit)
    }
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

impl From<Stop> for NotRun {
    fn from(stop: Stop) -> NotRun {
        NotRun { message: stop.message, help: stop.help, error: Some((stop.code, stop.range)) }
    }
}

impl From<ArgumentError> for NotRun {
    fn from(error: ArgumentError) -> NotRun {
        NotRun { message: error.message, help: error.help, error: None }
    }
}

/// The stack of a run, which recurses over expressions while the module is analysed.
const STACK: usize = 64 << 20;

/// Returns what raises the limit with this name, for help.
pub(crate) type LimitName = fn(&str) -> String;

/// Returns the option of the command line for a limit.
fn option_of(limit: &str) -> String {
    format!("--{limit}")
}

/// How two modules are run and compared.
#[derive(Clone)]
pub(crate) struct ComparisonSettings<'s> {
    /// The limits of each run.
    pub(crate) limits: &'s Limits,
    /// The tolerances.
    pub(crate) tolerances: Tolerances,
    /// Ends the runs soon after it is set.
    pub(crate) cancelled: Arc<AtomicBool>,
    /// Returns what raises a limit that was exceeded: an option or a setting.
    pub(crate) limit_name: LimitName,
    /// True if the values of all pairs are summarised, not only those of culprits: that takes another pass over each.
    pub(crate) summarizes: bool,
    /// True if the values of pairs are kept.
    pub(crate) keeps: bool,
}

impl<'s> ComparisonSettings<'s> {
    /// Returns the setting of the command line with the default tolerances.
    pub(crate) fn new(limits: &'s Limits) -> ComparisonSettings<'s> {
        ComparisonSettings {
            limits,
            tolerances: Tolerances::default(),
            cancelled: Arc::default(),
            limit_name: option_of,
            summarizes: false,
            keeps: false,
        }
    }
}

/// Runs two modules, and returns the values of a pair of calls: of several, those with the largest error.
///
/// # Errors
/// One of them cannot be run on the arguments, or the calls have no values that can be compared.
pub(crate) fn values_of(
    sides: (Side<'_>, Side<'_>),
    pair: CallPair,
    inputs: &Inputs,
    setting: &ComparisonSettings<'_>,
) -> Result<(Value, Value), NotRun> {
    let setting = ComparisonSettings { keeps: true, ..setting.clone() };
    let (_, mut ran) = run_both(sides, &[pair], (inputs, &setting), false)?;
    let kept = ran.seen.pop().flatten().and_then(|seen| seen.kept);
    kept.ok_or_else(|| NotRun::new("the calls were not computed on both sides"))
}

/// Runs two modules, and compares the values of paired calls and the results.
///
/// # Errors
/// One of them cannot be run on the arguments.
pub(crate) fn compare(
    sides: (Side<'_>, Side<'_>),
    pairs: &[CallPair],
    inputs: &Inputs,
    limits: &Limits,
    tolerances: Tolerances,
) -> Result<Comparison, NotRun> {
    let setting = ComparisonSettings { tolerances, ..ComparisonSettings::new(limits) };
    compare_with(sides, pairs, inputs, &setting)
}

/// Does the same with all settings.
///
/// # Errors
/// One of them cannot be run on the arguments, or the comparison was cancelled.
pub(crate) fn compare_with(
    (before, after): (Side<'_>, Side<'_>),
    pairs: &[CallPair],
    inputs: &Inputs,
    setting: &ComparisonSettings<'_>,
) -> Result<Comparison, NotRun> {
    let tolerances = setting.tolerances;
    let (mut first, mut second) = run_both((before, after), pairs, (inputs, setting), true)?;
    let (local, missing) = (second.seen, second.missing);
    // What is unknown was replaced.
    let is_exact = local.iter().flatten().all(|seen| seen.errors.is_zero())
        && first.stops.is_empty()
        && second.stops.is_empty();
    let (mut is_compensated, mut accumulated) = (false, None);
    if !is_exact {
        let (last, ordinary) = run_both((before, after), pairs, (inputs, setting), false)?;
        let is_near = is_near((&first.value, &second.value), &tolerances);
        is_compensated = compensates(&local, &ordinary.seen) || !is_near;
        first = last;
        (second.value, second.stops) = (ordinary.value, ordinary.stops);
        accumulated = Some(ordinary.seen);
    }
    let (one, other) = (&first.value, &second.value);
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
    let is_close = admits(of_result(true).after_many_calls());
    let compared = |(pair, seen): (usize, Option<PairErrors>)| {
        let seen = seen?;
        let ordinary = accumulated.as_mut().and_then(|all| all[pair].take());
        // Where the results agree, an error of sums in another order is none.
        let is_wrong = !is_close || !is_compensated && !seen.is_near;
        let is_culprit = is_wrong && !seen.is_tolerated;
        let compared = PairComparison {
            pair,
            local: seen.errors,
            accumulated: match (is_exact, &ordinary) {
                (true, _) => Some(seen.errors),
                (false, ordinary) => ordinary.as_ref().map(|ordinary| ordinary.errors),
            },
            is_culprit,
            is_tolerated: seen.is_tolerated
                && ordinary.as_ref().is_none_or(|ordinary| ordinary.is_tolerated),
            ordinary_values: match ordinary {
                _ if !setting.summarizes => None,
                Some(ordinary) => ordinary.values,
                None => seen.values.clone(),
            },
            values: seen.values.filter(|_| is_culprit),
            histogram: seen.histogram.filter(|_| is_culprit),
            sample: 0,
        };
        Some((seen.sequence, compared))
    };
    let mut found: Vec<(usize, PairComparison)> =
        local.into_iter().enumerate().filter_map(compared).collect();
    found.sort_by_key(|(sequence, _)| *sequence);
    let pairs: Vec<PairComparison> = found.into_iter().map(|(_, compared)| compared).collect();
    let is_equal = is_equal && !pairs.iter().any(|compared| compared.is_culprit);
    Ok(Comparison {
        pairs,
        result: errors,
        result_sample: 0,
        is_equal,
        is_visible: errors.is_some() && !is_close,
        arguments: first.arguments,
        stops: (first.stops, second.stops),
        missing,
    })
}

/// Returns true if a call makes up for the error of another one: it computes another value on the operands of the
/// first side, and the right one in an ordinary run.
fn compensates(local: &[Option<PairErrors>], ordinary: &[Option<PairErrors>]) -> bool {
    local.iter().zip(ordinary).any(|(local, ordinary)| match (local, ordinary) {
        (Some(local), Some(ordinary)) => !local.is_near && ordinary.is_near,
        _ => false,
    })
}

/// Returns true if two results agree. On the values of the first side, they differ if what follows the last pair makes
/// up for an error.
fn is_near((one, other): (&Value, &Value), tolerances: &Tolerances) -> bool {
    let errors = Errors::between(one, other);
    errors.is_some_and(|errors| tolerances.between(one, other, false).admits(&errors))
}

/// The result of the run of the first side.
struct FirstRun {
    value: Value,
    arguments: Arguments,
    stops: Vec<Stop>,
}

/// The result of the run of the second side.
struct SecondRun {
    value: Value,
    seen: Vec<Option<PairErrors>>,
    stops: Vec<Stop>,
    missing: FxHashMap<usize, MissingValue>,
}

fn run_both(
    (before, after): (Side<'_>, Side<'_>),
    pairs: &[CallPair],
    (inputs, setting): (&Inputs, &ComparisonSettings<'_>),
    replaces: bool,
) -> Result<(FirstRun, SecondRun), NotRun> {
    let exchange = Exchange::default();
    let begin = Instant::now();
    let ran = thread::scope(|scope| {
        let builder = || thread::Builder::new().name("run".into()).stack_size(STACK);
        let first = builder().spawn_scoped(scope, || {
            let _done = exchange.finish();
            guarded(|| run_first(before, pairs, inputs, setting, &exchange))
        });
        let second = builder().spawn_scoped(scope, || {
            let _done = exchange.abandon();
            guarded(|| run_second(after, pairs, setting, &exchange, replaces))
        });
        let (first, second) = match (first, second) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(error), _) | (_, Err(error)) => {
                exchange.abandon();
                return Err(NotRun::new(format!("no thread can be started: {error}")));
            }
        };
        let ended = || NotRun::new("the run ended without a result");
        let first = first.join().unwrap_or_else(|_| Err(ended()))?;
        let second = second.join().unwrap_or_else(|_| Err(ended()))?;
        Ok((first, second))
    });
    tracing::debug!(time = ?begin.elapsed(), replaces, "both sides have run");
    ran
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
    limit_name: LimitName,
    work: impl FnOnce(&Subject<'_, '_>) -> Result<R, NotRun>,
) -> Result<R, NotRun> {
    let mut analyzer = Analyzer::default();
    let found = analyzer.check(side.text).diagnostics;
    let (db, file) = analyzer.database();
    let selection = side.function.map_or(Selection::Main, Selection::Named);
    let def = selection.find(db, file).map_err(NotRun::new)?;
    let view = View::new(db, def).ok_or_else(|| NotRun::new("the function cannot be read"))?;
    let range = def.range(db);
    let errors = errors_among(&found);
    // Without its header the function cannot be called.
    let mut own = errors.iter().filter(|error| range.contains_range(error.range));
    if let Some(error) = own.find(|error| ide::live::is_in_header(&view, error.range)) {
        let message = format!("`{}` has errors: {}", def.name(db), error.message);
        let help = "`relay-analyzer check` shows them".to_owned();
        return Err(NotRun { message, help: Some(help), error: Some((error.code, error.range)) });
    }
    work(&Subject { db, view: &view, errors, limit_name })
}

/// Returns a machine that stops at the errors of the text.
fn machine_of<'db>(subject: &Subject<'_, 'db>, limits: &Limits) -> Machine<'db> {
    let machine = limited_machine(subject.db, limits.clone());
    let ranges = subject.errors.iter().map(|error| error.range).collect();
    machine.stopping_at(subject.view.def.file(subject.db), ranges)
}

/// Returns the value of a run: an unknown one, if it ended at what cannot be run.
fn ended(
    ran: Result<Value, Fault>,
    subject: &Subject<'_, '_>,
    stops: &mut Stops<'_, '_>,
) -> Result<Value, NotRun> {
    match ran {
        Err(fault) if failure::is_of_limit(fault.kind) => Err(subject.stop(&fault).into()),
        Err(fault) => Ok(Value::Unknown(stops.add(&fault))),
        Ok(value) => Ok(value),
    }
}

/// Runs the first side, whose arguments are given to the other one, too.
fn run_first(
    side: Side<'_>,
    pairs: &[CallPair],
    inputs: &Inputs,
    setting: &ComparisonSettings<'_>,
    exchange: &Exchange,
) -> Result<FirstRun, NotRun> {
    with_function(side, setting.limit_name, |subject| {
        let view = subject.view;
        let mut machine =
            machine_of(subject, setting.limits).cancelled_by(setting.cancelled.clone());
        let watch = machine.begin();
        let gather = || arguments::gather(view, inputs, &mut |_| None);
        let mut arguments = watch.within(gather).map_err(|fault| subject.stop(&fault))??;
        let values = std::mem::take(&mut arguments.values);
        let names = arguments::parameter_types(view).into_iter().map(|(name, _)| name);
        exchange.set_arguments(names.zip(values.iter().cloned()).collect());
        let calls = Calls::new(view, pairs, |pair| pair.before);
        let mut observer =
            FirstObserver { calls, exchange, begun: None, stops: Stops::new(subject) };
        let ran = machine.run(view.def, values, Some(&mut observer));
        let mut stops = observer.stops;
        let value = ended(ran, subject, &mut stops)?;
        Ok(FirstRun { value, arguments, stops: stops.into_found() })
    })
}

/// Runs the second side on the arguments of the first one.
fn run_second(
    side: Side<'_>,
    pairs: &[CallPair],
    setting: &ComparisonSettings<'_>,
    exchange: &Exchange,
    replaces: bool,
) -> Result<SecondRun, NotRun> {
    with_function(side, setting.limit_name, |subject| {
        let view = subject.view;
        let mut machine =
            machine_of(subject, setting.limits).cancelled_by(setting.cancelled.clone());
        let Some(given) = exchange.arguments() else {
            return Err(NotRun::new("the first module was not run"));
        };
        let values = matching(view, &given)?;
        drop(given);
        let mut observer = SecondObserver {
            calls: Calls::new(view, pairs, |pair| pair.after),
            pairs,
            setting,
            exchange,
            begun: None,
            seen: std::iter::repeat_with(|| None).take(pairs.len()).collect(),
            count: 0,
            replaces,
            stops: Stops::new(subject),
            missing: FxHashMap::default(),
        };
        let ran = machine.run(view.def, values, Some(&mut observer));
        let SecondObserver { seen, mut stops, mut missing, .. } = observer;
        let value = ended(ran, subject, &mut stops)?;
        let stops = stops.into_found();
        // An error of the text leaves no call that could be told.
        for (pair, call) in pairs.iter().enumerate() {
            let own = stops.iter().position(|stop| call.after.contains_range(stop.range));
            if let Some(stop) = own.filter(|_| seen[pair].is_none()) {
                missing.insert(pair, MissingValue { is_before: false, stop, is_own: true });
            }
        }
        Ok(SecondRun { value, seen, stops, missing })
    })
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
