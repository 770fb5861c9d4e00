//! The comparison of the values of two modules for editors, which draw it beside the calls.

use std::collections::BTreeMap;

use diff::{Pair, Property};
use ide::markdown::{code_span, escaped};
use syntax::TextRange;
use tower_lsp::lsp_types::Range;

use super::{Calls, errors_text, headline, human, number};
use crate::{
    protocol::{ColouringKey, ErrorAmount, HeatMark, ValueCategory, ValueComparison, ValuePair},
    report::{
        diff::{ShownModule, change_text},
        overlay::{CallMark, Overlay},
    },
    run::{
        compare::{Comparison, Errors, PairComparison},
        summary::Summary,
    },
};

/// The highest heat.
const MAX_HEAT: u32 = 4;

/// The errors relative to the largest element of a value from which on the heat is 2, 3 and 4.
const HEATS: [f64; 3] = [1e-4, 1e-2, 1e-1];

/// Returns an error for a client.
pub(crate) fn error_amount(errors: &Errors) -> ErrorAmount {
    let value = errors.max_abs.is_finite().then_some(errors.max_abs);
    let text = match (value, errors.nan) {
        (Some(value), _) => number(value),
        (None, 0) => "infinite".to_owned(),
        (None, _) => "NaN".to_owned(),
    };
    ErrorAmount { value, text }
}

/// Returns the comparison for a client. `notes` are about the arguments, and `places` convert ranges of each side.
pub(crate) fn value_comparison(
    comparison: &Comparison,
    calls: &Calls<'_>,
    sides: (&ShownModule<'_>, &ShownModule<'_>),
    notes: Vec<String>,
    places: (&dyn Fn(TextRange) -> Range, &dyn Fn(TextRange) -> Range),
) -> ValueComparison {
    let ranges = |pair: &Pair| (places.0(pair.before), places.1(pair.after));
    let mut pairs = Vec::new();
    let mut divergences = Vec::new();
    let is_inherited = comparison.has_inherited_errors();
    for compared in &comparison.pairs {
        let (_, pair) = calls.compared[compared.pair];
        if compared.is_culprit {
            divergences.push(pairs.len() as u32);
        }
        pairs.push(value_pair(compared, pair, is_inherited, ranges(pair)));
    }
    for (_, pair, reason) in calls.not_run(comparison, sides) {
        let (before, after) = ranges(pair);
        pairs.push(ValuePair {
            before,
            after,
            operator: pair.operators.1.to_string(),
            category: ValueCategory::NotRun,
            heat: 0,
            accumulated: None,
            local: None,
            note: "not compared".to_owned(),
            hover: format!("Not compared: {}", escaped(&reason)),
        });
    }
    let first = comparison.culprits().next().map(|first| {
        let (_, pair) = calls.compared[first.pair];
        let (line, _) = sides.1.position(pair.after);
        format!("first divergence: `{}` in line {line}; ", pair.operators.1)
    });
    ValueComparison {
        equal: comparison.is_equal,
        summary: first.unwrap_or_default() + &headline(comparison, calls, sides),
        report: human(comparison, calls, sides),
        notes,
        result: comparison.result.as_ref().map(error_amount),
        before: marks(&pairs, |pair| pair.before),
        after: marks(&pairs, |pair| pair.after),
        pairs,
        divergences,
        max_heat: MAX_HEAT,
    }
}

/// Returns the errors of the calls of each module, which can colour its pictures.
pub(crate) fn error_overlays(
    comparison: &Comparison,
    calls: &Calls<'_>,
    sides: (&ShownModule<'_>, &ShownModule<'_>),
) -> (Overlay, Overlay) {
    let mut marks = (Vec::new(), Vec::new());
    let mut add = |pair: &Pair, category: ValueCategory, heat: u32, text: String| {
        let amount = f64::from(heat + 1) / f64::from(MAX_HEAT + 1);
        let mark = CallMark { category: category.into(), amount, text };
        marks.0.push((pair.before, mark.clone()));
        marks.1.push((pair.after, mark));
    };
    let is_inherited = comparison.has_inherited_errors();
    for compared in &comparison.pairs {
        let (_, pair) = calls.compared[compared.pair];
        let verdict = Verdict::of(compared, is_inherited);
        let is_equal = verdict.note.is_empty();
        let text = if is_equal { "equal values".to_owned() } else { verdict.note };
        add(pair, verdict.category, verdict.heat, text);
    }
    for (_, pair, reason) in calls.not_run(comparison, sides) {
        add(pair, ValueCategory::NotRun, 0, format!("not compared: {reason}"));
    }
    let overlay = |marks| Overlay::new(ColouringKey::Error, marks);
    (overlay(marks.0), overlay(marks.1))
}

/// What is the matter with the values of a pair.
struct Verdict {
    category: ValueCategory,
    heat: u32,
    /// The text for the end of a line; empty if the values are equal.
    note: String,
}

impl Verdict {
    fn of(compared: &PairComparison, is_inherited: bool) -> Verdict {
        let category = match compared {
            _ if compared.is_culprit => ValueCategory::Culprit,
            _ if compared.is_tolerated => ValueCategory::Tolerated,
            _ if is_inherited => ValueCategory::Inherited,
            _ => ValueCategory::Recovered,
        };
        let shown = match &compared.accumulated {
            Some(accumulated) if accumulated.exceeds(&compared.local) => accumulated,
            _ => &compared.local,
        };
        let size = error_amount(shown).text;
        let note = match category {
            ValueCategory::Culprit => format!("diverges by {size}"),
            ValueCategory::Inherited => format!("inherits {size}"),
            ValueCategory::Recovered => format!("differs by {size}, recovered later"),
            ValueCategory::Tolerated | ValueCategory::NotRun if shown.is_zero() => String::new(),
            ValueCategory::Tolerated | ValueCategory::NotRun => format!("error {size}"),
        };
        Verdict { category, heat: heat(shown, category), note }
    }
}

fn value_pair(
    compared: &PairComparison,
    pair: &Pair,
    is_inherited: bool,
    (before, after): (Range, Range),
) -> ValuePair {
    let Verdict { category, heat, note } = Verdict::of(compared, is_inherited);
    ValuePair {
        before,
        after,
        operator: pair.operators.1.to_string(),
        category,
        heat,
        accumulated: compared.accumulated.as_ref().map(error_amount),
        local: Some(error_amount(&compared.local)),
        note,
        hover: hover(compared, pair, category),
    }
}

/// Returns the heat of an error: 0 if there is none, 1 if it is tolerated, and more by its size relative to the values.
fn heat(errors: &Errors, category: ValueCategory) -> u32 {
    if errors.is_zero() {
        return 0;
    }
    if category == ValueCategory::Tolerated {
        return 1;
    }
    if errors.nan > 0 {
        return MAX_HEAT;
    }
    let exceeded = HEATS.iter().filter(|heat| errors.max_abs >= **heat * errors.scale).count();
    (exceeded as u32 + 1).max(2)
}

/// Describes the errors and the values of a pair.
fn hover(compared: &PairComparison, pair: &Pair, category: ValueCategory) -> String {
    let operator = code_span(&pair.operators.1);
    let what = match category {
        ValueCategory::Culprit => "has an error of its own",
        ValueCategory::Inherited => "inherits the error of its operands",
        ValueCategory::Recovered => "has an error that later calls undo: the results agree",
        ValueCategory::Tolerated if compared.local.is_zero() && is_equal(compared) => {
            "has the same value on both sides"
        }
        ValueCategory::Tolerated | ValueCategory::NotRun => "agrees within the tolerance",
    };
    let mut lines = vec![format!("{operator} {what}")];
    if !compared.local.is_zero() || !is_equal(compared) {
        let accumulated = compared.accumulated.as_ref();
        let accumulated = accumulated.map_or_else(|| "unknown".to_owned(), errors_text);
        lines.push(format!("- accumulated error: {accumulated}"));
        lines.push(format!("- local error: {}", errors_text(&compared.local)));
    }
    if let Some((before, after)) = &compared.ordinary_values {
        let line = |summary: &Summary| escaped(&summary.line());
        lines.push(format!("- before: {}", line(before)));
        lines.push(format!("- after: {}", line(after)));
    }
    // The operands of both sides are in the texts.
    let changes = pair.changes.iter().filter(|change| change.what != Property::Operand);
    lines.extend(changes.map(|change| format!("- {}", escaped(&change_text(change)))));
    // The first line is a paragraph before the list.
    let list = lines.split_off(1).join("\n");
    format!("{}\n\n{list}", lines.concat()).trim_end().to_owned()
}

fn is_equal(compared: &PairComparison) -> bool {
    compared.accumulated.as_ref().is_some_and(Errors::is_zero)
}

/// Returns one mark for each line on which a pair starts that has an error or was not compared: that of the pair with
/// the largest heat, or of a culprit before others.
fn marks(pairs: &[ValuePair], range: impl Fn(&ValuePair) -> Range) -> Vec<HeatMark> {
    let rank = |pair: &ValuePair| (pair.category == ValueCategory::Culprit, pair.heat);
    let mut by_line: BTreeMap<u32, usize> = BTreeMap::new();
    for (number, pair) in pairs.iter().enumerate().filter(|(_, pair)| !pair.note.is_empty()) {
        let known = by_line.entry(range(pair).start.line).or_insert(number);
        if rank(pair) > rank(&pairs[*known]) {
            *known = number;
        }
    }
    let mark = |(line, number): (u32, usize)| HeatMark { line, pair: number as u32 };
    by_line.into_iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_grows_with_the_error_relative_to_the_values() {
        let errors = |max_abs: f64| Errors { max_abs, scale: 10.0, ..Errors::default() };
        let of = |max_abs| heat(&errors(max_abs), ValueCategory::Culprit);
        assert_eq!([0.0, 1e-4, 1e-2, 0.5, 3.0].map(of), [0, 2, 2, 3, 4]);
        assert_eq!(heat(&errors(1e-4), ValueCategory::Tolerated), 1);
        let nan = Errors { nan: 1, max_abs: f64::INFINITY, ..Errors::default() };
        assert_eq!(heat(&nan, ValueCategory::Inherited), MAX_HEAT);
        assert_eq!((error_amount(&nan).value, &*error_amount(&nan).text), (None, "NaN"));
    }
}
