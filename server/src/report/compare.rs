//! The comparison of the values of two modules, for people and as JSON.

mod modules;
mod page;
mod values;

use std::{collections::BTreeMap, fmt::Write};

use diff::{Pair, Property};
use serde::Serialize;
use syntax::TextRange;

use super::{
    diff::{ShownModule, bytes, change_text},
    escape,
};
use crate::run::compare::{
    Candidate, Comparison, Errors, Histogram, MissingValue, PairComparison, RecordedComparison,
    Stop,
};
pub(crate) use modules::{ModuleRow, modules_html};
pub(crate) use page::html;
pub(crate) use values::{error_amount, error_overlays, value_comparison};

/// The calls of a comparison, each with the name of its function.
pub(crate) struct Calls<'d> {
    /// Those whose values are compared, in the order of [`PairComparison::pair`].
    pub(crate) compared: Vec<(&'d str, &'d Pair)>,
    /// The others, with the reason.
    pub(crate) excluded: Vec<(&'d str, &'d Pair, &'static str)>,
    /// The names of the samples, if there are several.
    pub(crate) samples: &'d [&'d str],
}

impl<'d> Calls<'d> {
    /// Returns the calls of a comparison of one sample.
    pub(crate) fn of(candidates: &[Candidate<'d>]) -> Calls<'d> {
        let compared = candidates.iter().filter(|candidate| candidate.excluded.is_none());
        let excluded = candidates.iter().filter_map(|c| Some((c.function, c.pair, c.excluded?)));
        Calls {
            compared: compared.map(|c| (c.function, c.pair)).collect(),
            excluded: excluded.collect(),
            samples: &[],
        }
    }

    /// Returns the name of a sample, if there are several.
    fn sample(&self, number: usize) -> Option<&'d str> {
        self.samples.get(number).copied().filter(|_| self.samples.len() > 1)
    }

    /// Returns what follows an error: the name of its sample, if there are several.
    fn in_sample(&self, number: usize) -> String {
        let name = self.sample(number).map(|name| format!(" ({})", escape::terminal(name)));
        name.unwrap_or_default()
    }

    /// Returns the pairs that are compared by none of the results, with the reason.
    fn not_run(
        &self,
        comparison: &Comparison,
        sides: (&ShownModule<'_>, &ShownModule<'_>),
    ) -> Vec<(&'d str, &'d Pair, String)> {
        let mut is_compared = vec![false; self.compared.len()];
        comparison.pairs.iter().for_each(|compared| is_compared[compared.pair] = true);
        let not_computed = self.compared.iter().zip(is_compared).enumerate();
        let not_computed = not_computed.filter(|(_, (_, is))| !is).map(|(at, (call, _))| {
            let missing = comparison.missing.get(&at);
            let reason = missing.and_then(|missing| missing_text(missing, comparison, sides));
            let other = "it was not computed on both sides, or the types differ";
            (call.0, call.1, reason.unwrap_or_else(|| other.to_owned()))
        });
        let excluded = self.excluded.iter().map(|call| (call.0, call.1, call.2.to_owned()));
        excluded.chain(not_computed).collect()
    }
}

/// Returns the reason that a value is not known.
fn missing_text(
    missing: &MissingValue,
    comparison: &Comparison,
    (a, b): (&ShownModule<'_>, &ShownModule<'_>),
) -> Option<String> {
    let (stops, side) = match missing.is_before {
        true => (&comparison.stops.0, a),
        false => (&comparison.stops.1, b),
    };
    let stop = stops.get(missing.stop)?;
    let relation = if missing.is_own { "" } else { "it depends on what cannot be run: " };
    Some(format!("{relation}{}", stop_text(stop, side)))
}

/// Describes what cannot be run after its place.
fn stop_text(stop: &Stop, side: &ShownModule<'_>) -> String {
    let (line, column) = side.position(stop.range);
    let (name, message) = (escape::terminal(side.name), escape::terminal(&stop.message));
    format!("{name}:{line}:{column}: {message} [{}]", stop.code)
}

/// Returns a document as JSON whose fields are sorted by name, as all releases have written it.
///
/// # Errors
/// The document has a map whose keys are not strings.
pub(crate) fn sorted_json(document: &impl Serialize) -> serde_json::Result<String> {
    // A map of `serde_json` sorts its keys.
    Ok(serde_json::to_value(document)?.to_string())
}

/// What cannot be run, in a document. The fields are sorted by name, as all releases have written them.
#[derive(Serialize)]
struct JsonStop<'c> {
    code: &'static str,
    column: u32,
    help: Option<&'c str>,
    line: u32,
    message: &'c str,
    /// `before` or `after`.
    module: &'static str,
    range: [usize; 2],
}

impl<'c> JsonStop<'c> {
    fn of(stop: &'c Stop, module: &'static str, side: &ShownModule<'_>) -> JsonStop<'c> {
        let (line, column) = side.position(stop.range);
        JsonStop {
            code: stop.code.name(),
            column,
            help: stop.help.as_deref(),
            line,
            message: &stop.message,
            module,
            range: bytes(stop.range, side),
        }
    }
}

/// The arguments of a comparison, in a document.
#[derive(Serialize)]
struct JsonInputs<'c> {
    /// The names of the parameters with random arguments.
    random: &'c [String],
    /// The names of the samples; absent for recorded values, which are of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<&'c [&'c str]>,
    seed: u64,
}

/// A pair of calls that was not compared, in a document.
#[derive(Serialize)]
struct JsonNotRun<'d> {
    after: [usize; 2],
    before: [usize; 2],
    function: &'d str,
    reason: String,
}

/// The document of `compare --format json`. Ranges are in bytes.
#[derive(Serialize)]
pub(crate) struct Document<'d> {
    equal: bool,
    inputs: JsonInputs<'d>,
    pairs: Vec<JsonPair<'d>>,
    /// The index of the first culprit among the pairs.
    first: Option<usize>,
    /// The error of the results; `null` if they have different types.
    result: Option<Errors>,
    not_run: Vec<JsonNotRun<'d>>,
    /// What cannot be run in the modules `before` and `after`.
    stops: Vec<JsonStop<'d>>,
}

/// A pair of calls in a document.
#[derive(Serialize)]
pub(crate) struct JsonPair<'d> {
    function: &'d str,
    before: [usize; 2],
    after: [usize; 2],
    operator: &'d str,
    /// `null` if a value of an ordinary run is not known.
    accumulated: Option<Errors>,
    local: Errors,
    culprit: bool,
    /// The layers of the second module around the call, the outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layers: Vec<&'d str>,
    /// The sample with the largest local error, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<&'d str>,
    /// The histogram of the local error of a culprit.
    #[serde(skip_serializing_if = "Option::is_none")]
    histogram: Option<Histogram>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<String>,
}

/// Returns the document.
pub(crate) fn json<'d>(
    comparison: &'d Comparison,
    calls: &Calls<'d>,
    (a, b): (&ShownModule<'d>, &ShownModule<'d>),
    seed: u64,
) -> Document<'d> {
    let pair = |compared: &PairComparison| json_pair(compared, calls, (a, b));
    let not_run = calls.not_run(comparison, (a, b));
    let not_run = not_run.into_iter().map(|(function, pair, reason)| JsonNotRun {
        after: bytes(pair.after, b),
        before: bytes(pair.before, a),
        function,
        reason,
    });
    let before = comparison.stops.0.iter().map(|stop| JsonStop::of(stop, "before", a));
    let after = comparison.stops.1.iter().map(|stop| JsonStop::of(stop, "after", b));
    Document {
        equal: comparison.is_equal,
        inputs: JsonInputs {
            random: &comparison.arguments.drawn,
            samples: Some(calls.samples),
            seed,
        },
        pairs: comparison.pairs.iter().map(pair).collect(),
        first: comparison.pairs.iter().position(|compared| compared.is_culprit),
        result: comparison.result,
        not_run: not_run.collect(),
        stops: before.chain(after).collect(),
    }
}

fn json_pair<'d>(
    compared: &PairComparison,
    calls: &Calls<'d>,
    (a, b): (&ShownModule<'d>, &ShownModule<'d>),
) -> JsonPair<'d> {
    let (function, pair) = calls.compared[compared.pair];
    JsonPair {
        function,
        before: bytes(pair.before, a),
        after: bytes(pair.after, b),
        operator: &pair.operators.1,
        accumulated: compared.accumulated,
        local: compared.local,
        culprit: compared.is_culprit,
        layers: b.layers_around(pair.after).iter().map(|part| part.name.as_str()).collect(),
        sample: calls.sample(compared.sample),
        histogram: compared.histogram,
        changes: pair.changes.iter().map(change_text).collect(),
    }
}

/// Returns the first pair with an error of its own.
pub(crate) fn culprit<'d>(
    comparison: &Comparison,
    calls: &Calls<'d>,
    sides: (&ShownModule<'d>, &ShownModule<'d>),
) -> Option<JsonPair<'d>> {
    let first = comparison.pairs.iter().find(|compared| compared.is_culprit)?;
    Some(json_pair(first, calls, sides))
}

/// Describes the results of a comparison in one line.
pub(crate) fn result_text(comparison: &Comparison) -> String {
    match &comparison.result {
        None if !comparison.is_complete() => "unknown".to_owned(),
        None => "another type".to_owned(),
        Some(errors) => {
            let error = if errors.is_zero() { "equal".to_owned() } else { errors_text(errors) };
            match comparison.is_equal {
                true => error,
                false if comparison.is_hidden() => format!("calls differ; result: {error}"),
                false => format!("differs: {error}"),
            }
        }
    }
}

/// Describes the outcome of a comparison in one line.
fn headline(
    comparison: &Comparison,
    calls: &Calls<'_>,
    sides: (&ShownModule<'_>, &ShownModule<'_>),
) -> String {
    let of_result = calls.in_sample(comparison.result_sample);
    let result = match &comparison.result {
        _ if comparison.is_equal => "the results agree".to_owned(),
        None if !comparison.is_complete() => match comparison.culprits().next() {
            Some(_) => "the modules differ; their results are not known".to_owned(),
            None => "what could be compared agrees, and the results are not known".to_owned(),
        },
        None => "the modules differ: their results have different types".to_owned(),
        Some(errors) if !comparison.is_visible => {
            let errors = errors_text(errors);
            format!("calls compute other values, and the results agree: {errors}{of_result}")
        }
        Some(errors) => format!("the modules differ; results: {}{of_result}", errors_text(errors)),
    };
    let skipped = calls.not_run(comparison, sides).len();
    let without = match skipped {
        0 => String::new(),
        count => format!(", {count} not compared"),
    };
    let pairs = ide::words::counted(comparison.pairs.len() as u64, "pair");
    let samples = match calls.samples.len() {
        0 | 1 => String::new(),
        count => format!(" on {count} samples"),
    };
    format!("{result} ({pairs} of calls compared{samples}{without})")
}

/// The most calls in the table.
const LISTED: usize = 20;

/// Describes a comparison for people.
pub(crate) fn human(
    comparison: &Comparison,
    calls: &Calls<'_>,
    (a, b): (&ShownModule<'_>, &ShownModule<'_>),
) -> String {
    let mut out = headline(comparison, calls, (a, b)) + "\n";
    let stops = comparison.stops.0.iter().map(|stop| (stop, a));
    let stops = stops.chain(comparison.stops.1.iter().map(|stop| (stop, b)));
    for (stop, side) in stops.clone().take(LISTED) {
        let _ = writeln!(out, "cannot be run: {}", stop_text(stop, side));
    }
    if stops.clone().count() > LISTED {
        let _ = writeln!(out, "  and {} more", stops.count() - LISTED);
    }
    let culprits: Vec<&PairComparison> = comparison.culprits().collect();
    let Some(first) = culprits.first() else {
        let errors = comparison.pairs.iter().filter_map(|pair| pair.accumulated);
        let largest = errors.map(|errors| errors.max_abs).fold(0.0, f64::max);
        if comparison.is_equal && largest > 0.0 {
            let _ = writeln!(out, "the largest error of a call is {}", number(largest));
        }
        if !comparison.is_equal && comparison.is_complete() {
            out += "no pair of calls has an error of its own: the cause is in calls without a partner\n";
        }
        return out;
    };
    let place = |range: TextRange, side: &ShownModule<'_>| {
        let (line, column) = side.position(range);
        format!("{}:{line}:{column}", escape::terminal(side.name))
    };
    let (function, pair) = calls.compared[first.pair];
    let _ = writeln!(
        out,
        "\nfirst divergence: `{}` in `{}`\n  before  {}\n  after   {}",
        escape::terminal(&pair.operators.1),
        escape::terminal(function),
        place(pair.before, a),
        place(pair.after, b),
    );
    // The operands of both sides are in the texts at these places.
    for change in pair.changes.iter().filter(|change| change.what != Property::Operand) {
        let _ = writeln!(out, "  {}", change_text(change));
    }
    let of_first = calls.in_sample(first.sample);
    let _ = writeln!(out, "  local error: {}{of_first}", errors_text(&first.local));
    if let Some((before, after)) = &first.values {
        let _ =
            writeln!(out, "  values before: {}\n  values after:  {}", before.line(), after.line());
    }
    let mut rows = culprits.clone();
    rows.sort_by(|x, y| y.local.max_abs.total_cmp(&x.local.max_abs));
    let _ = writeln!(out, "\ncalls with an error of their own, by error:");
    for compared in rows.iter().take(LISTED) {
        let (_, pair) = calls.compared[compared.pair];
        let (line, column) = b.position(pair.after);
        let _ = writeln!(
            out,
            "  {:>6}:{column:<4} {:<24} local {:<10} accumulated {}{}",
            line,
            escape::terminal(&pair.operators.1),
            number(compared.local.max_abs),
            compared.accumulated.map_or("unknown".to_owned(), |errors| number(errors.max_abs)),
            place_in_layers(pair.after, b),
        );
    }
    if rows.len() > LISTED {
        let _ = writeln!(out, "  and {} more", rows.len() - LISTED);
    }
    out + &by_layer(comparison, calls, b)
}

/// Returns the layers around a call for the end of a line: ` in layer 3, attention`.
fn place_in_layers(call: TextRange, side: &ShownModule<'_>) -> String {
    let names: Vec<&str> = side.layers_around(call).iter().map(|part| part.name.as_str()).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("  in {}", escape::terminal(&names.join(", ")))
    }
}

/// The largest errors of the calls of a layer.
struct LayerErrors {
    name: String,
    local: f64,
    accumulated: f64,
}

/// Lists the outermost layers with errors, in the order of the second module.
fn by_layer(comparison: &Comparison, calls: &Calls<'_>, side: &ShownModule<'_>) -> String {
    let mut layers: BTreeMap<u32, LayerErrors> = BTreeMap::new();
    for compared in &comparison.pairs {
        let (_, pair) = calls.compared[compared.pair];
        let around = side.layers_around(pair.after);
        let Some(part) = around.first() else { continue };
        let new = || LayerErrors { name: part.name.clone(), local: 0.0, accumulated: 0.0 };
        let layer = layers.entry(part.range.start().into()).or_insert_with(new);
        layer.local = layer.local.max(compared.local.max_abs);
        let accumulated = compared.accumulated.as_ref().map_or(0.0, |errors| errors.max_abs);
        layer.accumulated = layer.accumulated.max(accumulated);
    }
    layers.retain(|_, layer| layer.accumulated > 0.0 || layer.local > 0.0);
    if layers.is_empty() {
        return String::new();
    }
    let count = layers.len();
    let shown = layers.into_values().take(LISTED);
    let shown: Vec<_> =
        shown.map(|layer| (escape::terminal(&layer.name).into_owned(), layer)).collect();
    let width = shown.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let mut out = "\nlargest errors by layer:\n".to_owned();
    for (name, layer) in &shown {
        let (local, accumulated) = (number(layer.local), number(layer.accumulated));
        let _ = writeln!(out, "  {name:<width$}  local {local:<10} accumulated {accumulated}");
    }
    if count > LISTED {
        let _ = writeln!(out, "  and {} more", count - LISTED);
    }
    out
}

fn number(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.3e}") }
}

fn errors_text(errors: &Errors) -> String {
    let nan = match errors.nan {
        0 => String::new(),
        1 => ", 1 element is NaN on one side".to_owned(),
        count => format!(", {count} elements are NaN on one side"),
    };
    format!(
        "max abs {}, max rel {}, cosine {:.6}, worst at element {}{nan}",
        number(errors.max_abs),
        number(errors.max_rel),
        errors.cosine,
        errors.worst,
    )
}

/// The document of a comparison with recorded values.
#[derive(Serialize)]
pub(crate) struct RecordedDocument<'c> {
    ambiguous: &'c [String],
    equal: bool,
    /// The index of the first culprit among the pairs.
    first: Option<usize>,
    inputs: JsonInputs<'c>,
    not_run: Vec<JsonRecordNotRun<'c>>,
    pairs: Vec<JsonRecordPair<'c>>,
    stops: Vec<JsonStop<'c>>,
}

/// A recorded value that was not compared.
#[derive(Serialize)]
struct JsonRecordNotRun<'c> {
    name: &'c str,
    reason: &'c str,
}

/// A recorded value and the call that computes it.
#[derive(Serialize)]
struct JsonRecordPair<'c> {
    accumulated: Errors,
    call: [usize; 2],
    culprit: bool,
    local: Errors,
    name: &'c str,
    operator: &'c str,
}

/// Returns the document of a comparison with recorded values.
pub(crate) fn recorded_json<'c>(
    comparison: &'c RecordedComparison,
    shown: &ShownModule<'_>,
    seed: u64,
) -> RecordedDocument<'c> {
    let pairs = comparison.pairs.iter().map(|pair| JsonRecordPair {
        accumulated: pair.accumulated,
        call: bytes(pair.call, shown),
        culprit: pair.is_culprit,
        local: pair.local,
        name: &pair.name,
        operator: pair.operator,
    });
    let not_run = comparison.not_compared.iter();
    let stops = comparison.stops.iter();
    RecordedDocument {
        ambiguous: &comparison.ambiguous,
        equal: comparison.is_equal,
        first: comparison.pairs.iter().position(|pair| pair.is_culprit),
        inputs: JsonInputs { random: &comparison.arguments.drawn, samples: None, seed },
        not_run: not_run.map(|(name, reason)| JsonRecordNotRun { name, reason }).collect(),
        pairs: pairs.collect(),
        stops: stops.map(|stop| JsonStop::of(stop, "before", shown)).collect(),
    }
}

/// Describes a comparison with recorded values for people.
pub(crate) fn recorded_human(comparison: &RecordedComparison, shown: &ShownModule<'_>) -> String {
    let mut out = String::new();
    let values = ide::words::counted(comparison.pairs.len() as u64, "recorded value");
    let what = match (comparison.is_equal, comparison.pairs.is_empty()) {
        (true, _) => "the values agree",
        (false, true) => "no recorded value belongs to a call",
        (false, false) => "the values differ",
    };
    let _ = writeln!(out, "{what} ({values} compared)");
    for stop in comparison.stops.iter().take(LISTED) {
        let _ = writeln!(out, "cannot be run: {}", stop_text(stop, shown));
    }
    for pair in comparison.pairs.iter().filter(|pair| pair.is_culprit).take(LISTED) {
        let (line, column) = shown.position(pair.call);
        let _ = writeln!(
            out,
            "  {}:{line}:{column}  {} `{}`  local {}  accumulated {}",
            escape::terminal(shown.name),
            escape::terminal(pair.operator),
            escape::terminal(&pair.name),
            number(pair.local.max_abs),
            number(pair.accumulated.max_abs),
        );
    }
    for (name, reason) in comparison.not_compared.iter().take(LISTED) {
        let _ = writeln!(out, "  `{}` is not compared: {reason}", escape::terminal(name));
    }
    out
}
