//! The results of running both sides.

use std::fmt::Write;

use diff::{FunctionDiff, PairKind};
use interpreter::Limits;
use serde::Serialize;
use syntax::TextRange;

use super::{ShownModule, bytes};
use crate::{
    report::escape,
    run::{
        arguments::Inputs,
        compare::{CallPair, Candidate, Errors, Side, Tolerances, candidates, compare},
    },
};

/// The comparison of two values.
enum Agreement {
    /// They are equal up to rounding, with the largest difference.
    Equal(f64),
    /// They differ, with the largest difference if their shapes are equal.
    Different(Option<f64>),
    /// They cannot be compared, with the reason.
    Unknown(String),
}

/// The comparison of a run of two functions.
pub(crate) struct Runs {
    /// The comparison of the results.
    result: Agreement,
    /// The comparison of the values of pairs that were computed on both sides and whose equality does not
    /// follow from the structure.
    pairs: Vec<(TextRange, TextRange, Agreement)>,
}

/// The tolerated relative difference: passes reorder sums of floats.
const TOLERANCES: Tolerances = Tolerances { relative: Some(1e-3), absolute: Some(1e-6) };

impl Runs {
    /// Runs two functions on random inputs.
    pub(crate) fn of(sides: (Side<'_>, Side<'_>), function: &FunctionDiff) -> Runs {
        let candidates = candidates(std::slice::from_ref(function));
        let is_open = |candidate: &&Candidate<'_>| {
            candidate.excluded.is_none() && candidate.pair.kind != PairKind::Same
        };
        let calls: Vec<CallPair> =
            candidates.iter().filter(is_open).filter_map(Candidate::call_pair).collect();
        let inputs = Inputs { seed: Some(0), ..Inputs::default() };
        let found = match compare(sides, &calls, &inputs, &Limits::generous(), TOLERANCES) {
            Ok(found) => found,
            Err(reason) => {
                return Runs { result: Agreement::Unknown(reason.message), pairs: Vec::new() };
            }
        };
        let mut pairs: Vec<_> = found
            .pairs
            .iter()
            .filter_map(|compared| {
                let call = calls[compared.pair];
                Some((call.before, call.after, Agreement::of(compared.accumulated.as_ref()?)))
            })
            .collect();
        pairs.sort_by_key(|(_, after, _)| after.start());
        let stops = found.stops.0.iter().chain(&found.stops.1);
        let unknown = stops.map(|stop| Agreement::Unknown(stop.message.clone())).next();
        let none = unknown.unwrap_or(Agreement::Different(None));
        let result = found.result.as_ref().map_or(none, Agreement::of);
        Runs { result, pairs }
    }
}

impl Agreement {
    fn of(errors: &Errors) -> Agreement {
        match TOLERANCES.admit(errors) {
            true => Agreement::Equal(errors.max_abs),
            false => Agreement::Different(Some(errors.max_abs)),
        }
    }

    /// Returns the largest difference, if there is one, whether the values are equal, or why they cannot be compared.
    fn parts(&self) -> (Option<f64>, Option<bool>, Option<&str>) {
        match self {
            Agreement::Equal(largest) => (Some(*largest), Some(true), None),
            Agreement::Different(largest) => (*largest, Some(false), None),
            Agreement::Unknown(reason) => (None, None, Some(reason)),
        }
    }
}

/// The largest number of differing pairs to list.
const LISTED: usize = 5;

/// Describes the runs of a function for people: its results, then the pairs of changed calls, and the
/// first of them whose values differ.
pub(crate) fn run_text(
    name: &str,
    runs: &Runs,
    (a, b): (&ShownModule<'_>, &ShownModule<'_>),
) -> String {
    let mut out = format!(
        "\n`{}` on random inputs: {}\n",
        escape::terminal(name),
        agreement_text(&runs.result)
    );
    let differing: Vec<_> =
        runs.pairs.iter().filter(|pair| !matches!(pair.2, Agreement::Equal(_))).collect();
    if runs.pairs.is_empty() {
        return out;
    }
    let _ = writeln!(
        out,
        "  values of {} of {} changed pairs are equal",
        runs.pairs.len() - differing.len(),
        runs.pairs.len()
    );
    for (before, after, agreement) in differing.iter().take(LISTED) {
        let ((line_a, column_a), (line_b, column_b)) = (a.position(*before), b.position(*after));
        let call: String = b.slice(*after).chars().take_while(|c| *c != '(').take(60).collect();
        let _ = writeln!(
            out,
            "    `{}` {line_a}:{column_a} → {line_b}:{column_b}: {}",
            escape::terminal(&call),
            agreement_text(agreement)
        );
    }
    if differing.len() > LISTED {
        let _ = writeln!(out, "    and {} more", differing.len() - LISTED);
    }
    out
}

fn agreement_text(agreement: &Agreement) -> String {
    match agreement {
        Agreement::Equal(0.0) => "equal".to_owned(),
        Agreement::Equal(largest) => {
            format!("equal up to rounding, with differences up to {largest:e}")
        }
        Agreement::Different(Some(largest)) => {
            format!("not equal, with differences up to {largest:e}")
        }
        Agreement::Different(None) => "not equal: the results have different shapes".to_owned(),
        Agreement::Unknown(why) => format!("unknown: {}", escape::terminal(why)),
    }
}

/// The runs of a function as JSON.
#[derive(Serialize)]
pub(crate) struct JsonRun<'d> {
    difference: Option<f64>,
    equal: Option<bool>,
    function: &'d str,
    pairs: Vec<JsonRunPair<'d>>,
    reason: Option<&'d str>,
}

/// The values of a pair, with the byte ranges of its calls.
#[derive(Serialize)]
struct JsonRunPair<'d> {
    after: [usize; 2],
    before: [usize; 2],
    difference: Option<f64>,
    equal: Option<bool>,
    reason: Option<&'d str>,
}

impl<'d> JsonRun<'d> {
    /// Describes the runs of the function `name`, for the modules `before` and `after`.
    pub(crate) fn of(
        name: &'d str,
        runs: &'d Runs,
        (before, after): (&ShownModule<'_>, &ShownModule<'_>),
    ) -> JsonRun<'d> {
        let pair = |(old, new, agreement): &'d (TextRange, TextRange, Agreement)| {
            let (difference, equal, reason) = agreement.parts();
            let (after, before) = (bytes(*new, after), bytes(*old, before));
            JsonRunPair { after, before, difference, equal, reason }
        };
        let (difference, equal, reason) = runs.result.parts();
        let pairs = runs.pairs.iter().map(pair).collect();
        JsonRun { difference, equal, function: name, pairs, reason }
    }
}
