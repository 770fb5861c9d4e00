//! A type argument or type parameter of the wrong kind.

use syntax::TextRange;
use types::{Kind, Param, Type};

use super::{Code, DefDiagnostic, Site};
use crate::check::site::ProblemSite;

/// A type argument of a call.
pub(super) fn report(
    site: &Site<'_, '_, '_>,
    index: usize,
    expected: Kind,
) -> Option<DefDiagnostic> {
    let message = format!(
        "type argument {} of {} must be a {}",
        index + 1,
        site.callee_name()?,
        describe(expected)
    );
    Some(site.diagnostic(Code::KindMismatch, message))
}

/// A type argument of the data type `name` in a written type.
pub(in crate::check) fn of_type_use(
    range: TextRange,
    name: &str,
    (index, expected, arg): (usize, Kind, &Type),
) -> DefDiagnostic {
    let message = format!(
        "type argument {} of `{name}` must be a {}, found `{arg}`",
        index + 1,
        describe(expected)
    );
    let mut diagnostic = DefDiagnostic::new(Code::KindMismatch, range, message);
    diagnostic.help = example(expected);
    diagnostic
}

/// A type parameter where another kind is expected.
pub(in crate::check) fn of_parameter(
    site: &ProblemSite<'_, '_, '_>,
    param: &Param,
    expected: Kind,
) -> DefDiagnostic {
    let message = format!(
        "`{}` is a {}, but a {} is expected here",
        param.name(),
        describe(param.kind()),
        describe(expected)
    );
    let help = format!("declare it as `{} : {}`", param.name(), expected.name());
    site.diagnostic(Code::KindMismatch, message).help(help)
}

/// Returns a kind in words.
fn describe(kind: Kind) -> &'static str {
    match kind {
        Kind::Type => "type",
        Kind::Shape => "shape",
        Kind::ShapeVar => "size",
        Kind::BaseType => "data type",
    }
}

/// Returns an example of a type argument of a kind, except for types.
fn example(kind: Kind) -> Option<String> {
    let example = match kind {
        Kind::Type => return None,
        Kind::Shape => "a shape is written as `(2, 3)`, or is a parameter of kind `Shape`",
        Kind::ShapeVar => "a size is a number, `?`, or a parameter of kind `ShapeVar`",
        Kind::BaseType => "a data type is `float32`, or a parameter of kind `BaseType`",
    };
    Some(example.to_owned())
}
