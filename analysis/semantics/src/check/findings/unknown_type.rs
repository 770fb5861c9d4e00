//! The name of a type that is not defined.

use syntax::TextRange;
use types::Kind;

use crate::{
    body::Name,
    diagnostic::{Code, DefDiagnostic, NameSet},
};

/// Returns the diagnostic of a name where a shape or a size is expected; `None` where a type is.
pub(in crate::check) fn of_shape(
    name: &str,
    expected: Kind,
    range: TextRange,
) -> Option<DefDiagnostic> {
    let (what, help) = match expected {
        Kind::Type => return None,
        Kind::Shape => {
            ("shape", format!("write a shape as `(2, 3)`, or declare it: `<{name} : Shape>`"))
        }
        _ => {
            ("size", format!("write an unknown size as `?`, or declare it: `<{name} : ShapeVar>`"))
        }
    };
    let message = format!("there is no {what} `{name}` here");
    Some(DefDiagnostic::new(Code::UnknownType, range, message).help(help))
}

/// Returns the diagnostic of the name of a type with a number of arguments.
pub(in crate::check) fn report(name: &Name, args: usize, range: TextRange) -> DefDiagnostic {
    let message = format!("there is no type `{name}`");
    let diagnostic = DefDiagnostic::new(Code::UnknownType, range, message);
    if let (Some(dtype), 0) = (syntax::dtype_of(name), args) {
        return diagnostic
            .help(format!("the data type is `{dtype}` in Relay"))
            .change(range, dtype);
    }
    match name.as_str() {
        "Tensor" | "tensor" => {
            diagnostic.help("a tensor type has a shape and a data type: `Tensor[(2, 3), float32]`")
        }
        "str" | "string" | "String" => diagnostic
            .help("Relay has no values that are strings; strings are values of attributes"),
        _ if is_parameter(name) && args == 0 => {
            diagnostic.help(format!("declare it as a type parameter: `<{name} : Type>`"))
        }
        _ => diagnostic.help(format!("define it: `type {name} {{ … }}`")).or_similar(
            name,
            range,
            &[NameSet::Types],
        ),
    }
}

/// Returns true for a name that is one of a type parameter rather than of a type: `t`, `bt`, `A`.
pub(in crate::check) fn is_parameter(name: &str) -> bool {
    name.len() <= 2
        || name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) && name.len() <= 5
}
