//! Hover of entries of the metadata section: statistics of the tensor, and its uses.

use semantics::{
    ExprRef, View,
    body::{Callee, Expr, MetaRef},
    metadata, uses_of_entry,
};
use weights::{CONSTANT, Stats, bars};

use crate::{markdown::code_span, words};

/// The maximal number of uses and of equal entries that are named.
const MAX_NAMED: usize = 4;

/// Describes an entry of the metadata section as Markdown that follows its type.
pub(super) fn of_entry(view: &View<'_>, meta: &MetaRef) -> String {
    let key = code_span(&meta.key);
    let mut out = format!("\n\nentry {} of {key} in the metadata section", meta.index);
    if meta.key != CONSTANT {
        return out;
    }
    let Some(data) = metadata(view.db, view.module) else { return out };
    let weights = data.weights();
    let section = weights.section();
    let tensor = section.array_of(CONSTANT, meta.index);
    if let Some(array) = tensor
        && let Some((header, payload)) = section.header(array).zip(weights.payload(array))
    {
        out += &match Stats::of(&payload, header) {
            Ok(Some(stats)) => described(&stats),
            Ok(None) => String::new(),
            Err(error) => format!("\n\nits elements are not shown: {error}"),
        };
    }
    out += &users(view, meta);
    out += &same(weights.repeated(), meta.index);
    out
}

/// Formats an element with six significant digits.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-4..1e7).contains(&x.abs()) {
        let digits = 5 - x.abs().max(1e-4).log10().floor() as i32;
        let text = format!("{x:.*}", digits.clamp(0, 9) as usize);
        return match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text,
        };
    }
    match x.is_finite() {
        true => format!("{x:.5e}"),
        false => x.to_string(),
    }
}

fn described(stats: &Stats) -> String {
    let mut out = String::from("\n\n");
    if stats.min.is_finite() {
        let [min, max, mean] = [stats.min, stats.max, stats.mean].map(number);
        if stats.count > 1 {
            out += &format!("min {min}, max {max}, mean {mean}");
        }
    }
    for (count, noun) in
        [(stats.zeros, "zero"), (stats.nans, "NaN"), (stats.infinities, "infinity")]
    {
        if count > 0 {
            let comma = if out.trim().is_empty() { "" } else { ", " };
            out += comma;
            out += &match (noun, count) {
                ("NaN", _) | (_, 1) => format!("{} {noun}", words::number(count)),
                ("infinity", _) => format!("{} infinities", words::number(count)),
                _ => format!("{} {noun}s", words::number(count)),
            };
        }
    }
    let first: Vec<String> = stats.first.iter().map(|&x| number(x)).collect();
    let more = if stats.count > first.len() as u64 { ", …" } else { "" };
    if !out.trim().is_empty() {
        out += "\n\n";
    }
    out += &format!("elements: {}{more}", first.join(", "));
    if stats.min < stats.max {
        let [min, max] = [stats.min, stats.max].map(number);
        out += &format!("\n\n```text\n{min} ▕{}▏ {max}\n```", bars(&stats.histogram));
    }
    out
}

/// Returns the operators that use an entry.
fn users(view: &View<'_>, meta: &MetaRef) -> String {
    let uses = uses_of_entry(view.db, view.module, &meta.key, meta.index);
    let all = uses.iter().flat_map(|(view, places)| places.iter().map(move |&at| (view, at)));
    let count = all.clone().count();
    let mut names: Vec<String> = Vec::new();
    for (view, at) in all {
        let name = user(view, at);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let times = if count > 1 { format!("used {count} times, ") } else { "used ".to_owned() };
    format!("\n\n{times}by {}{more}", names.join(", "))
}

/// Returns the operator and definition that use an expression.
fn user(view: &View<'_>, at: ExprRef) -> String {
    let unit = view.unit(at.unit);
    let call = unit.exprs.iter().find_map(|expr| match expr {
        Expr::Call(call) => Some(unit.call(*call)).filter(|call| call.args.contains(&at.expr)),
        _ => None,
    });
    let def = view.def.name(view.db);
    let def = if def.is_empty() { "the expression".to_owned() } else { code_span(def) };
    match call.map(|call| &call.callee) {
        Some(Callee::Operator(operator)) => format!("{} in {def}", code_span(operator.name)),
        _ => def,
    }
}

/// Returns the entries with the same content.
fn same(repeated: &[(u32, u32)], index: u32) -> String {
    let first = repeated.iter().find(|(entry, _)| *entry == index).map_or(index, |pair| pair.1);
    let others = repeated.iter().filter(|(_, of)| *of == first).map(|(entry, _)| *entry);
    let others: Vec<u32> = std::iter::once(first).chain(others).filter(|&n| n != index).collect();
    if others.is_empty() {
        return String::new();
    }
    let more = others.len().saturating_sub(MAX_NAMED);
    let named: Vec<String> = others
        .iter()
        .take(MAX_NAMED)
        .map(|entry| code_span(&format!("meta[{CONSTANT}][{entry}]")))
        .collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("\n\nsame content as {}{more}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_six_digits() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-0.123_456_7, "-0.123457"),
            (1_234.567_8, "1234.57"),
            (1e-9, "1.00000e-9"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(x), text);
        }
    }
}
