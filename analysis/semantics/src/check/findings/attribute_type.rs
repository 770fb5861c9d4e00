//! An attribute whose value has another type.

use operators::{Operator, attrs::AttrProblem};
use types::AttrType;

use super::{Code, DefDiagnostic};
use crate::check::site::ProblemSite;

/// Reports a value that is not of type `expected`; `none` is true if the attribute accepts `None`.
pub(in crate::check) fn report(
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
