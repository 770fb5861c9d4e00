//! The comparison of the values of two modules, for people and as JSON.

use std::{collections::BTreeMap, fmt::Write};

use diff::{Pair, What};
use serde::Serialize;
use serde_json::{Value, json};
use syntax::TextRange;

use super::{
    diff::{Shown, bytes, change_text},
    escape,
};
use crate::run::compare::{Compared, Comparison, Errors, RecordedComparison};

/// The calls of a comparison, each with the name of its function.
pub(crate) struct Calls<'d> {
    /// Those whose values are compared, in the order of [`Compared::pair`].
    pub(crate) compared: Vec<(&'d str, &'d Pair)>,
    /// The others, with the reason.
    pub(crate) excluded: Vec<(&'d str, &'d Pair, &'static str)>,
}

impl<'d> Calls<'d> {
    /// Returns the pairs that are compared by none of the results, with the reason.
    fn not_run(
        &self,
        comparison: &Comparison,
    ) -> impl Iterator<Item = (&'d str, &'d Pair, &'static str)> {
        let mut is_compared = vec![false; self.compared.len()];
        comparison.pairs.iter().for_each(|compared| is_compared[compared.pair] = true);
        let not_computed = self.compared.iter().zip(is_compared).filter(|(_, is)| !is);
        let not_computed: Vec<_> = not_computed
            .map(|((function, pair), _)| {
                (*function, *pair, "it was not computed on both sides, or the types differ")
            })
            .collect();
        self.excluded.clone().into_iter().chain(not_computed)
    }
}

/// The document of `compare --format json`. Ranges are in bytes.
#[derive(Serialize)]
pub(crate) struct Document<'d> {
    equal: bool,
    inputs: Value,
    pairs: Vec<JsonPair<'d>>,
    /// The index of the first culprit among the pairs.
    first: Option<usize>,
    /// The error of the results; `null` if they have different types.
    result: Option<JsonErrors>,
    not_run: Vec<Value>,
}

/// A pair of calls in a document.
#[derive(Serialize)]
pub(crate) struct JsonPair<'d> {
    function: &'d str,
    before: [usize; 2],
    after: [usize; 2],
    operator: &'d str,
    accumulated: JsonErrors,
    local: JsonErrors,
    culprit: bool,
    /// The layers of the second module around the call, the outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layers: Vec<&'d str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<String>,
}

/// Errors in a document. An infinite one is `null`.
#[derive(Serialize)]
pub(crate) struct JsonErrors {
    max_abs: f64,
    max_rel: f64,
    cosine: f64,
    nan: u64,
}

impl From<&Errors> for JsonErrors {
    fn from(errors: &Errors) -> JsonErrors {
        let Errors { max_abs, max_rel, cosine, nan, .. } = *errors;
        JsonErrors { max_abs, max_rel, cosine, nan }
    }
}

/// Returns the document.
pub(crate) fn json<'d>(
    comparison: &Comparison,
    calls: &Calls<'d>,
    (a, b): (&Shown<'d>, &Shown<'d>),
    seed: u64,
) -> Document<'d> {
    let pair = |compared: &Compared| json_pair(compared, calls, (a, b));
    let not_run = calls.not_run(comparison).map(|(function, pair, reason)| {
        json!({
            "function": function,
            "before": bytes(pair.before, a),
            "after": bytes(pair.after, b),
            "reason": reason,
        })
    });
    Document {
        equal: comparison.is_equal,
        inputs: json!({ "seed": seed, "random": comparison.arguments.drawn }),
        pairs: comparison.pairs.iter().map(pair).collect(),
        first: comparison.pairs.iter().position(|compared| compared.is_culprit),
        result: comparison.result.as_ref().map(JsonErrors::from),
        not_run: not_run.collect(),
    }
}

fn json_pair<'d>(
    compared: &Compared,
    calls: &Calls<'d>,
    (a, b): (&Shown<'d>, &Shown<'d>),
) -> JsonPair<'d> {
    let (function, pair) = calls.compared[compared.pair];
    JsonPair {
        function,
        before: bytes(pair.before, a),
        after: bytes(pair.after, b),
        operator: &pair.operators.1,
        accumulated: (&compared.accumulated).into(),
        local: (&compared.local).into(),
        culprit: compared.is_culprit,
        layers: b.layers_around(pair.after).iter().map(|part| part.name.as_str()).collect(),
        changes: pair.changes.iter().map(change_text).collect(),
    }
}

/// Returns the first pair with an error of its own.
pub(crate) fn culprit<'d>(
    comparison: &Comparison,
    calls: &Calls<'d>,
    sides: (&Shown<'d>, &Shown<'d>),
) -> Option<JsonPair<'d>> {
    let first = comparison.pairs.iter().find(|compared| compared.is_culprit)?;
    Some(json_pair(first, calls, sides))
}

/// Describes the results of a comparison in one line.
pub(crate) fn result_text(comparison: &Comparison) -> String {
    match &comparison.result {
        None => "another type".to_owned(),
        Some(errors) if errors.max_abs == 0.0 && errors.nan == 0 => "equal".to_owned(),
        Some(errors) => {
            let differs = if comparison.is_equal { "" } else { "differs: " };
            format!("{differs}{}", errors_text(errors))
        }
    }
}

/// The most calls in the table.
const LISTED: usize = 20;

/// Describes a comparison for people.
pub(crate) fn human(
    comparison: &Comparison,
    calls: &Calls<'_>,
    (a, b): (&Shown<'_>, &Shown<'_>),
) -> String {
    let mut out = String::new();
    let result = match &comparison.result {
        _ if comparison.is_equal => "the results agree".to_owned(),
        None => "the modules differ: their results have different types".to_owned(),
        Some(errors) => format!("the modules differ; results: {}", errors_text(errors)),
    };
    let skipped = calls.not_run(comparison).count();
    let without = match skipped {
        0 => String::new(),
        count => format!(", {count} not compared"),
    };
    let pairs = ide::words::counted(comparison.pairs.len() as u64, "pair");
    let _ = writeln!(out, "{result} ({pairs} of calls compared{without})");
    let culprits: Vec<&Compared> =
        comparison.pairs.iter().filter(|compared| compared.is_culprit).collect();
    let Some(first) = culprits.first() else {
        let largest = comparison.pairs.iter().map(|c| c.accumulated.max_abs).fold(0.0, f64::max);
        if comparison.is_equal && largest > 0.0 {
            let _ = writeln!(out, "the largest error of a call is {}", number(largest));
        }
        if !comparison.is_equal {
            out += "no pair of calls has an error of its own: the cause is in calls without a partner\n";
        }
        return out;
    };
    let place = |range: TextRange, side: &Shown<'_>| {
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
    for change in pair.changes.iter().filter(|change| change.what != What::Operand) {
        let _ = writeln!(out, "  {}", change_text(change));
    }
    let _ = writeln!(out, "  local error: {}", errors_text(&first.local));
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
            number(compared.accumulated.max_abs),
            place_in_layers(pair.after, b),
        );
    }
    if rows.len() > LISTED {
        let _ = writeln!(out, "  and {} more", rows.len() - LISTED);
    }
    out + &by_layer(comparison, calls, b)
}

/// Returns the layers around a call for the end of a line: ` in layer 3, attention`.
fn place_in_layers(call: TextRange, side: &Shown<'_>) -> String {
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
fn by_layer(comparison: &Comparison, calls: &Calls<'_>, side: &Shown<'_>) -> String {
    let mut layers: BTreeMap<u32, LayerErrors> = BTreeMap::new();
    for compared in &comparison.pairs {
        let (_, pair) = calls.compared[compared.pair];
        let around = side.layers_around(pair.after);
        let Some(part) = around.first() else { continue };
        let new = || LayerErrors { name: part.name.clone(), local: 0.0, accumulated: 0.0 };
        let layer = layers.entry(part.range.start().into()).or_insert_with(new);
        layer.local = layer.local.max(compared.local.max_abs);
        layer.accumulated = layer.accumulated.max(compared.accumulated.max_abs);
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

/// Returns the document of a comparison with recorded values.
pub(crate) fn recorded_json(
    comparison: &RecordedComparison,
    shown: &Shown<'_>,
    seed: u64,
) -> Value {
    let pairs: Vec<Value> = comparison
        .pairs
        .iter()
        .map(|pair| {
            json!({
                "name": pair.name,
                "call": bytes(pair.call, shown),
                "operator": pair.operator,
                "accumulated": JsonErrors::from(&pair.accumulated),
                "local": JsonErrors::from(&pair.local),
                "culprit": pair.is_culprit,
            })
        })
        .collect();
    let not_run = comparison.not_compared.iter();
    let not_run: Vec<Value> =
        not_run.map(|(name, reason)| json!({ "name": name, "reason": reason })).collect();
    json!({
        "equal": comparison.is_equal,
        "inputs": { "seed": seed, "random": comparison.arguments.drawn },
        "pairs": pairs,
        "first": comparison.pairs.iter().position(|pair| pair.is_culprit),
        "ambiguous": comparison.ambiguous,
        "not_run": not_run,
    })
}

/// Describes a comparison with recorded values for people.
pub(crate) fn recorded_human(comparison: &RecordedComparison, shown: &Shown<'_>) -> String {
    let mut out = String::new();
    let values = ide::words::counted(comparison.pairs.len() as u64, "recorded value");
    let what = match (comparison.is_equal, comparison.pairs.is_empty()) {
        (true, _) => "the values agree",
        (false, true) => "no recorded value belongs to a call",
        (false, false) => "the values differ",
    };
    let _ = writeln!(out, "{what} ({values} compared)");
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
