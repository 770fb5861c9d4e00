//! Attributes that a callee does not take as they are written.

use operators::{Operator, attrs::AttrProblem};
use syntax::TextRange;
use types::AttrType;

use super::{Code, DefDiagnostic};
use crate::{
    body::ExprRef,
    check::{other_names, site::ProblemSite},
};

/// An attribute that the operator does not have.
pub(in crate::check) fn unknown(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
    name: &str,
    nearest: Option<&'static str>,
) -> DefDiagnostic {
    let message = format!("`{}` has no attribute `{name}`", operator.name);
    let diagnostic = site.diagnostic(Code::UnknownAttribute, message);
    let fields = || operator.schema.into_iter().flat_map(|schema| schema.fields);
    let of_name = |name: &str| fields().find(|field| field.name == name).map(|field| field.name);
    match nearest.or_else(|| other_names::attribute(name, of_name)) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).change(site.range, near),
        None => {
            let known: Vec<String> = fields().map(|field| format!("`{}`", field.name)).collect();
            diagnostic.help(format!("its attributes are {}", known.join(", ")))
        }
    }
}

/// Attributes of a call whose callee takes none.
pub(in crate::check) fn not_taken(site: &ProblemSite<'_, '_, '_>, callee: &str) -> DefDiagnostic {
    let message = format!("`{callee}` takes no attributes");
    site.diagnostic(Code::AttributesNotTaken, message).with(written(site), |diagnostic, range| {
        diagnostic.fix("Remove the attributes", [(range, String::new())])
    })
}

/// Returns the range from the last argument to the last attribute.
fn written(site: &ProblemSite<'_, '_, '_>) -> Option<TextRange> {
    let (view, unit) = site.unit()?;
    let call = site.call_with_attributes()?;
    let start = view.range(ExprRef { unit, expr: *call.args.last()? }).end();
    let end = view.place(unit, call.written.last()?.value_range).end();
    (end > start).then(|| TextRange::new(start, end))
}

/// Attributes of an operator that TVM registers without an attribute type.
pub(in crate::check) fn detached(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
) -> DefDiagnostic {
    let message = format!("TVM does not know the type of the attributes of `{}`", operator.name);
    let diagnostic = site.diagnostic(Code::TvmDetachedAttributes, message);
    let last = site.call_with_attributes().and_then(|call| call.written.last());
    match (last, operator.schema) {
        (Some(last), Some(schema)) => {
            let at = site.place(last.value_range).end();
            let text = format!(", attrs_type_key=\"{}\"", schema.key);
            diagnostic.fix("Add the attribute type", [(TextRange::empty(at), text)])
        }
        _ => diagnostic.help("add `attrs_type_key=\"…\"`"),
    }
}

/// Reports a value that is not of type `expected`; `none` is true if the attribute accepts `None`.
pub(in crate::check) fn of_other_type(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
    name: &str,
    (expected, none): (AttrType, bool),
) -> DefDiagnostic {
    let value = &site.text();
    let takes = AttrProblem::describe(expected);
    let or_none = if none && !expected.is_optional() { " or `None`" } else { "" };
    let not = match value.len() {
        1..=40 => format!(", not `{value}`"),
        _ => String::new(),
    };
    let message = format!("`{}`: `{name}` takes {takes}{or_none}{not}", operator.name);
    site.diagnostic(Code::AttributeType, message)
        .with(help(expected), DefDiagnostic::help)
        .with(rewritten(expected, value, operator.spatial_axes()), |diagnostic, to| {
            diagnostic.change(site.range, to)
        })
}

/// Returns how to write a value of type `expected`, if the message does not say so.
fn help(expected: AttrType) -> Option<&'static str> {
    Some(match expected {
        AttrType::Dims | AttrType::Ints | AttrType::OptionalInts => "a list is written in brackets",
        AttrType::DType | AttrType::Str | AttrType::Layout | AttrType::Choice(_) => {
            "a string is written in quotes"
        }
        _ => return None,
    })
}

/// Returns the value of an attribute as Relay writes it: `true`, `'NCHW'`, and `1` for a list, of `axes` numbers if it
/// has one for each axis of a window.
fn rewritten(expected: AttrType, value: &str, axes: usize) -> Option<String> {
    let is_word = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
    };
    let bare = value.trim_matches('\'');
    match expected {
        AttrType::Bool => match value {
            "true" => Some("True".to_owned()),
            "false" => Some("False".to_owned()),
            _ => None,
        },
        AttrType::DType if is_word(bare) => {
            syntax::dtype_of(bare).map(|dtype| format!("\"{dtype}\""))
        }
        AttrType::Str | AttrType::Layout if is_word(bare) => Some(format!("\"{bare}\"")),
        AttrType::Choice(choices) if choices.contains(&bare) => Some(format!("\"{bare}\"")),
        AttrType::Dims | AttrType::Ints | AttrType::OptionalInts
            if value.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit())
                && !value.is_empty() =>
        {
            let count = if expected == AttrType::Dims { axes } else { 1 };
            Some(format!("[{}]", vec![value; count].join(", ")))
        }
        _ => None,
    }
}

/// A string that is not one of the choices.
pub(in crate::check) fn choice(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
    name: &str,
    (choices, nearest): (&[&str], Option<&str>),
) -> DefDiagnostic {
    let message = format!("`{}`: `{name}` cannot be {}", operator.name, site.text());
    let known: Vec<String> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
    let diagnostic = site.diagnostic(Code::AttributeValue, message);
    let diagnostic = diagnostic.help(format!("it is one of {}", known.join(", ")));
    suggested(site, diagnostic, nearest)
}

/// A string that is not a data type.
pub(in crate::check) fn dtype(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
    name: &str,
    nearest: Option<&str>,
) -> DefDiagnostic {
    let value = &site.text();
    let message = format!("`{}`: `{name}` is {value}, which is not a data type", operator.name);
    let diagnostic = site.diagnostic(Code::AttributeValue, message);
    let diagnostic = diagnostic.help("write a data type as in `\"float32\"`");
    suggested(site, diagnostic, syntax::dtype_of(value).or(nearest))
}

/// A number below the minimum.
pub(in crate::check) fn too_small(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
    name: &str,
    min: i64,
) -> DefDiagnostic {
    let message =
        format!("`{}`: `{name}` must be at least {min}, it is {}", operator.name, site.text());
    site.diagnostic(Code::AttributeValue, message)
        .fix(format!("Change to {min}"), [(site.range, min.to_string())])
}

/// The name of another set of attributes; `expected` is that of the operator, unless it takes any set.
pub(in crate::check) fn type_key(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
    expected: Option<&str>,
) -> DefDiagnostic {
    let message = format!("`{}`: this is not the name of its attribute type", operator.name);
    let diagnostic = site.diagnostic(Code::AttributeValue, message);
    match expected {
        Some(key) => suggested(site, diagnostic, Some(key)),
        None => diagnostic.help("the name is one of TVM's, such as \"relay.attrs.InitOpAttrs\""),
    }
}

/// Adds a fix that inserts the nearest valid string, if there is one.
fn suggested(
    site: &ProblemSite<'_, '_, '_>,
    diagnostic: DefDiagnostic,
    nearest: Option<&str>,
) -> DefDiagnostic {
    diagnostic.with(nearest, |diagnostic, near| {
        diagnostic.fix(format!("Change to \"{near}\""), [(site.range, format!("\"{near}\""))])
    })
}
