//! Mistakes in the arguments and attributes of calls of operators.
//!
//! ```text
//! reshape(%x, [3, 2])        the attribute `newshape`, written as an argument
//! nn.dense(%x, %w)           no `units`, which the shape of the weight decides
//! add(lhs=%x, rhs=%x)        arguments with names
//! ```

use operators::{Operator, attrs::accepts_none};
use syntax::TextRange;
use types::{AttrDefault, AttrField, AttrType, Type};

use super::checked::Checked;
use crate::{body::*, diagnostic::DefDiagnostic};

/// The most optional attributes of which the first one is taken for an argument without a name.
const MAX_OPTIONAL: usize = 4;

/// Returns the attributes of an operator in the order in which other languages pass them as arguments: those that a
/// call must have, or else all.
pub(super) fn positional_fields(operator: &Operator) -> Vec<&'static AttrField> {
    let fields = || operator.schema.into_iter().flat_map(|schema| schema.fields);
    let is_required = |field: &&AttrField| field.default == AttrDefault::Required;
    let required: Vec<_> = fields().filter(is_required).collect();
    let others: Vec<_> = fields().filter(|field| !is_required(field)).collect();
    // Which one of many is meant is uncertain: `nn.conv2d(%x, %w, 3)`.
    match required.is_empty() && others.len() > MAX_OPTIONAL {
        true => Vec::new(),
        false => required.into_iter().chain(others).collect(),
    }
}

/// Returns true if the values of an attribute are lists.
pub(super) fn takes_list(field: &AttrField) -> bool {
    matches!(field.ty, AttrType::Dims | AttrType::Ints | AttrType::OptionalInts | AttrType::Floats)
}

/// Adds help and fixes to the diagnostic of a call with a wrong number of arguments.
pub(super) fn arguments(
    view: &Checked<'_, '_>,
    unit: UnitId,
    data: &CallData,
    operator: &'static Operator,
    diagnostic: DefDiagnostic,
) -> DefDiagnostic {
    let expected = operator.args.len();
    if let Some(edits) = named_operands(view, unit, data, operator) {
        return diagnostic
            .help(format!("its operands have no names: {}", operator.args.join(", ")))
            .fix("Remove the names", edits);
    }
    let Some(extra) = data.args.get(expected..).filter(|extra| !extra.is_empty()) else {
        return diagnostic;
    };
    let Some((names, edits)) = extra_arguments(view, unit, data, operator, extra) else {
        return diagnostic;
    };
    diagnostic
        .help(format!("attributes are written with their names: {names}"))
        .fix("Write the names of the attributes", edits)
}

/// Returns the edits that remove the names of operands: `add(lhs=%x, rhs=%x)`.
fn named_operands(
    view: &Checked<'_, '_>,
    unit: UnitId,
    data: &CallData,
    operator: &Operator,
) -> Option<Vec<(TextRange, String)>> {
    let is_operand = |attr: &&WrittenAttr| operator.args.contains(&attr.name.as_str());
    let named: Vec<&WrittenAttr> = data.written.iter().filter(is_operand).collect();
    if named.is_empty() || data.args.len() + named.len() != operator.args.len() {
        return None;
    }
    // In the order of the operator.
    let in_order = named.iter().zip(&operator.args[data.args.len()..]).all(|(a, b)| a.name == *b);
    let remove = |attr: &&WrittenAttr| {
        let start = view.place(unit, attr.name_range).start();
        (TextRange::new(start, view.place(unit, attr.value_range).start()), String::new())
    };
    in_order.then(|| named.iter().map(remove).collect())
}

/// Returns the text of attributes that are written as arguments, and the edits that name them.
fn extra_arguments(
    view: &Checked<'_, '_>,
    unit: UnitId,
    data: &CallData,
    operator: &'static Operator,
    extra: &[ExprId],
) -> Option<(String, Vec<(TextRange, String)>)> {
    let at = |expr: ExprId| ExprRef { unit, expr };
    let is_free = |field: &&&'static AttrField| {
        !data.written.iter().any(|written| written.name == field.name)
    };
    let fields = positional_fields(operator);
    let fields: Vec<&'static AttrField> = fields.iter().filter(is_free).copied().collect();
    let integer = |expr: &ExprId| match view.unit(unit).expr(*expr) {
        Expr::Literal(Literal::Int { .. }) => Some(view.text(view.range(at(*expr)))),
        _ => None,
    };
    let whole = |first: ExprId, last: ExprId| view.range(at(first)).cover(view.range(at(last)));
    // `reshape(%x, 3, 2)`
    let first = *fields.first()?;
    let numbers: Option<Vec<String>> = extra.iter().map(integer).collect();
    if let Some(numbers) = numbers.filter(|numbers| numbers.len() > 1 && takes_list(first)) {
        let text = format!("{}=[{}]", first.name, numbers.join(", "));
        let range = whole(*extra.first()?, *extra.last()?);
        return Some((format!("`{text}`"), vec![(range, text)]));
    }
    if extra.len() > fields.len() {
        return None;
    }
    let data = data.args.first().map(|&expr| view.ty(at(expr)));
    let mut names = Vec::new();
    let mut edits = Vec::new();
    for (&expr, field) in extra.iter().zip(&fields) {
        let value = value_of(view, unit, expr, field, data)?;
        let text = format!("{}={value}", field.name);
        names.push(format!("`{text}`"));
        edits.push((view.range(at(expr)), text));
    }
    Some((names.join(", "), edits))
}

/// Returns an argument as the value of an attribute, if it can be one.
fn value_of(
    view: &Checked<'_, '_>,
    unit: UnitId,
    expr: ExprId,
    field: &AttrField,
    data: Option<&Type>,
) -> Option<String> {
    let text = view.text(view.range(ExprRef { unit, expr }));
    let body = view.unit(unit);
    let is_int = |expr: &ExprId| matches!(body.expr(*expr), Expr::Literal(Literal::Int { .. }));
    match (body.expr(expr), field.ty) {
        (Expr::Tuple(items), _) if takes_list(field) && items.iter().all(is_int) => {
            let inner = text.trim_start_matches('(').trim_end_matches(')');
            Some(format!("[{}]", inner.trim_end_matches([',', ' '])))
        }
        (
            Expr::Literal(Literal::Int { .. }),
            AttrType::Int | AttrType::OptionalInt | AttrType::Dim,
        ) => Some(text),
        (Expr::Literal(Literal::Int { .. }), AttrType::Float) if !field.boxed => Some(text),
        (Expr::Literal(Literal::Float { .. }), AttrType::Float) => Some(text),
        (Expr::Literal(Literal::Bool(_)), AttrType::Bool) => Some(text),
        (Expr::Literal(Literal::Int { .. }), AttrType::Any) => Some(text),
        // The size of a window is that of all axes but those of the batch and the channels.
        (Expr::Literal(Literal::Int { .. }), AttrType::Dims) if field.name.ends_with("_size") => {
            let rank = data.map_or(4, |ty| ty.as_tensor().map_or(4, |tensor| tensor.rank()));
            Some(format!("[{}]", vec![text; rank.clamp(3, 5) - 2].join(", ")))
        }
        (Expr::Literal(Literal::Int { .. }), _) if takes_list(field) => Some(format!("[{text}]")),
        (Expr::Name(name), AttrType::DType) => Some(format!("\"{}\"", syntax::dtype_of(name)?)),
        (_, AttrType::DType) if text.starts_with('"') => {
            Some(format!("\"{}\"", syntax::dtype_of(text.trim_matches('"'))?))
        }
        (_, AttrType::Str | AttrType::Layout | AttrType::Choice(_)) if text.starts_with('"') => {
            Some(text)
        }
        _ => None,
    }
}

/// Completes the diagnostic of a call without an attribute that it must have: names all of them, with the values that
/// the shapes of the arguments decide.
pub(super) fn missing_attributes(
    view: &Checked<'_, '_>,
    number: UnitId,
    problem: &Problem,
    operator: &'static Operator,
    mut diagnostic: DefDiagnostic,
) -> DefDiagnostic {
    let unit = view.unit(number);
    let call = unit.calls.iter().find(|call| call.callee_range == problem.range);
    let (Some(call), Some(schema)) = (call, operator.schema) else { return diagnostic };
    let is_missing = |field: &&AttrField| {
        field.default == AttrDefault::Required
            && !call.written.iter().any(|written| written.name == field.name)
    };
    let missing: Vec<&AttrField> = schema.fields.iter().filter(is_missing).collect();
    let quoted: Vec<String> = missing.iter().map(|field| format!("`{}`", field.name)).collect();
    let plural = if missing.len() == 1 { "" } else { "s" };
    diagnostic.message =
        format!("`{}` needs the attribute{plural} {}", operator.name, listed(&quoted));
    let argument = |name: &str| {
        let position = operator.args.iter().position(|arg| *arg == name)?;
        let expr = *call.args.get(position)?;
        Some(view.ty(ExprRef { unit: number, expr }))
    };
    let values: Vec<Option<String>> =
        missing.iter().map(|field| decided(field, argument)).collect();
    let texts: Vec<String> = missing
        .iter()
        .zip(&values)
        .map(|(field, value)| format!("{}={}", field.name, value.as_deref().unwrap_or("…")))
        .collect();
    let help = format!("write `{}` after the arguments", texts.join(", "));
    let diagnostic = diagnostic.help(help);
    // Before the closing parenthesis, after the last argument or attribute.
    let args = call.args.iter().map(|&expr| view.range(ExprRef { unit: number, expr }).end());
    let attrs = call.written.iter().map(|attr| view.place(number, attr.value_range).end());
    match args.chain(attrs).max() {
        Some(end) if values.iter().all(Option::is_some) => {
            let edit = (TextRange::empty(end), format!(", {}", texts.join(", ")));
            diagnostic.fix(format!("Add {}", quoted.join(", ")), [edit])
        }
        _ => diagnostic,
    }
}

/// Returns words as an enumeration: `a`, `a and b`, `a, b and c`.
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns the value of an attribute that the type of an argument decides: the `units` of a weight `(4, 3)` are 4.
fn decided<'t>(field: &AttrField, argument: impl Fn(&str) -> Option<&'t Type>) -> Option<String> {
    let sizes = |name: &str| -> Option<Vec<i64>> {
        let shape = &argument(name)?.as_tensor()?.shape;
        shape.iter().map(|dim| dim.as_known()).collect()
    };
    match field.name {
        "units" | "channels" if sizes("weight").is_some() => {
            Some(sizes("weight")?.first()?.to_string())
        }
        "kernel_size" => {
            let sizes = sizes("weight")?;
            let kernel: Vec<String> = sizes.get(2..)?.iter().map(i64::to_string).collect();
            Some(format!("[{}]", kernel.join(", ")))
        }
        // The axes in reverse order.
        "axes" if accepts_none(field) => Some("None".to_owned()),
        _ if field.ty == AttrType::Dim => Some("None".to_owned()),
        _ => None,
    }
}

/// Returns the edit that adds the attributes which a call of the operator `name` must have, and which may be `None`:
/// `units=None` of `nn.matmul`.
pub(super) fn optional_attributes(
    view: &Checked<'_, '_>,
    expr_ref: ExprRef,
    name: &str,
) -> Option<(TextRange, String)> {
    let schema = operators::find(name)?.schema?;
    let Expr::Call(call) = view.unit(expr_ref.unit).expr(expr_ref.expr) else { return None };
    let call = view.unit(expr_ref.unit).call(*call);
    let is_missing = |field: &&AttrField| {
        field.default == AttrDefault::Required
            && (field.ty == AttrType::Dim || field.name == "axes" && accepts_none(field))
            && !call.written.iter().any(|written| written.name == field.name)
    };
    let text: String = schema
        .fields
        .iter()
        .filter(is_missing)
        .map(|field| format!(", {}=None", field.name))
        .collect();
    let last = *call.args.last().filter(|_| call.written.is_empty() && !text.is_empty())?;
    let end = view.range(ExprRef { unit: expr_ref.unit, expr: last }).end();
    Some((TextRange::empty(end), text))
}
