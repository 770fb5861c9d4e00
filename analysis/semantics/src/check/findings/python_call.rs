//! A call in Python's notation.

use syntax::TextRange;
use types::DataType;

use crate::{
    body::*,
    check::site::ProblemSite,
    diagnostic::{Code, DefDiagnostic},
    tvm::suffix_of,
    view::View,
};

/// The maximum length of a call in a help text, in bytes.
const MAX_CALL: usize = 160;

pub(super) fn report(range: TextRange, name: &str) -> DefDiagnostic {
    let message = format!("this call of `{name}` is in Python's notation");
    DefDiagnostic::new(Code::PythonCall, range, message)
}

/// A call of an operator.
pub(in crate::check) fn of_call(
    site: &ProblemSite<'_, '_, '_>,
    call: &PythonCall,
) -> DefDiagnostic {
    report(site.range, call.operator.name)
        .with(site.unit(), |diagnostic, (view, unit)| with_call(diagnostic, view, unit, call))
}

/// A call of a function that creates an expression.
pub(in crate::check) fn of_expr(
    site: &ProblemSite<'_, '_, '_>,
    expr: &PythonExpr,
) -> DefDiagnostic {
    report(site.range, &site.text())
        .with(site.unit(), |diagnostic, (view, unit)| with_expr(diagnostic, view, unit, expr))
}

/// Adds the call in Relay, as help and as a fix.
pub(super) fn with_call(
    diagnostic: DefDiagnostic,
    view: &View<'_>,
    number: UnitId,
    call: &PythonCall,
) -> DefDiagnostic {
    let name = call.operator.name;
    let parts: Vec<String> = call
        .parts
        .iter()
        .map(|(name, text)| match *name {
            "" => part(view, number, text),
            name => format!("{name}={}", part(view, number, text)),
        })
        .collect();
    let whole = format!("{name}({})", parts.join(", "));
    let help = match whole.len() <= MAX_CALL && !whole.contains('\n') {
        true => format!("in Relay it is `{whole}`"),
        false => {
            let attributes: Vec<&str> = call
                .parts
                .iter()
                .zip(&parts)
                .filter(|((name, _), text)| !name.is_empty() && text.len() <= MAX_CALL / 4)
                .map(|(_, text)| text.as_str())
                .collect();
            match attributes.is_empty() {
                true => format!("its arguments are {}", call.operator.args.join(", ")),
                false => format!("in Relay its attributes are `{}`", attributes.join(", ")),
            }
        }
    };
    let slots = call.written.iter().map(|range| view.place(number, *range));
    let mut edits = edits(slots.map(|slot| (slot, view.text(slot))).collect(), &parts);
    if call.is_renamed {
        edits.insert(0, (diagnostic.range, name.to_owned()));
    }
    diagnostic.help(help).fix("Write the call in Relay", edits)
}

/// Adds the expression in Relay, as help and as a fix.
fn with_expr(
    diagnostic: DefDiagnostic,
    view: &View<'_>,
    number: UnitId,
    expr: &PythonExpr,
) -> DefDiagnostic {
    let call = view.place(number, expr.call);
    let mut whole = String::new();
    let mut edits = Vec::new();
    // The end of the last part that is kept, and the new text after it.
    let mut from = call.start();
    let mut text = String::new();
    for part in &expr.parts {
        match part {
            PythonPart::Text(own) => text.push_str(own),
            PythonPart::Number { value, dtype } => text.push_str(&number_text(value, *dtype)),
            PythonPart::Kept(range) => {
                let kept = view.place(number, *range);
                whole.push_str(&text);
                whole.push_str(&view.text(kept));
                edits.push((TextRange::new(from, kept.start()), std::mem::take(&mut text)));
                from = kept.end();
            }
        }
    }
    whole.push_str(&text);
    edits.push((TextRange::new(from, call.end()), text));
    let diagnostic = match whole.len() <= MAX_CALL && !whole.contains('\n') {
        true => diagnostic.help(format!("in Relay it is `{whole}`")),
        false => diagnostic,
    };
    diagnostic.fix("Write the expression in Relay", edits)
}

/// Returns a number of a data type as Relay writes it.
fn number_text(value: &Literal, dtype: DataType) -> String {
    let number = match value {
        Literal::Bool(true) => return "True".to_owned(),
        Literal::Bool(false) => return "False".to_owned(),
        Literal::Int { value, .. } => value.to_string(),
        Literal::Float { bits, .. } => f64::from_bits(*bits).to_string(),
    };
    match suffix_of(dtype) {
        Some(suffix) => format!("{number}{suffix}"),
        None if dtype == DataType::INT32 => number,
        None if dtype.is_float() => format!("cast({number}f, dtype=\"{dtype}\")"),
        None => format!("cast({number}, dtype=\"{dtype}\")"),
    }
}

/// Returns the edits that replace the parts of a call by others. Parts that stay are not touched, so that edits of
/// calls inside them can be made together with these.
fn edits(slots: Vec<(TextRange, String)>, parts: &[String]) -> Vec<(TextRange, String)> {
    let mut edits = Vec::new();
    let Some(((last, _), common)) = slots.last().map(|last| (last, slots.len().min(parts.len())))
    else {
        return edits;
    };
    for ((slot, old), part) in slots.iter().zip(parts) {
        if old == part {
            continue;
        }
        // `"int8"` becomes `dtype="int8"`: only the name is inserted.
        match part.strip_suffix(old.as_str()) {
            Some(name) => edits.push((TextRange::empty(slot.start()), name.to_owned())),
            None => edits.push((*slot, part.clone())),
        }
    }
    let end = slots[common.saturating_sub(1)].0.end();
    if parts.len() > common {
        edits.push((TextRange::empty(end), format!(", {}", parts[common..].join(", "))));
    } else if slots.len() > common {
        edits.push((TextRange::new(end, last.end()), String::new()));
    }
    edits
}

/// Returns the text of a part in Relay.
fn part(view: &View<'_>, number: UnitId, text: &PythonText) -> String {
    match text {
        PythonText::Same(range) => view.text(view.place(number, *range)),
        PythonText::Tuple { range, is_single } => {
            let list = view.text(view.place(number, *range));
            let inner = list.trim_start_matches('[').trim_end_matches(']').trim_end();
            let inner = inner.strip_suffix(',').unwrap_or(inner);
            format!("({inner}{})", if *is_single { "," } else { "" })
        }
        PythonText::Value(value) => value.to_string(),
        PythonText::Default(text) => (*text).to_owned(),
    }
}
