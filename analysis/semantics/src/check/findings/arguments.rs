//! The arguments and type arguments of calls, and the type arguments of data types.

use syntax::TextRange;
use types::{Kind, Param, Type};

use super::{Code, DefDiagnostic, Report, Site};
use crate::{
    adt::Adt,
    body::*,
    check::{
        cause::{self, Evidence},
        plural::count,
        site::ProblemSite,
    },
};

/// A call with too few or too many arguments.
pub(super) fn of_other_number(
    site: &Site<'_, '_, '_>,
    expected: usize,
    found: usize,
) -> Option<Report> {
    let view = site.view;
    let call = site.expr_ref()?;
    let message =
        format!("{} expects {}, found {found}", site.callee_name()?, count(expected, "argument"));
    let mut diagnostic = site.diagnostic(Code::ArgumentCount, message);
    if let Some(data) = view.call(call) {
        if let Callee::Operator(operator) = data.callee
            && expected > 0
        {
            diagnostic = diagnostic.help(format!("its arguments are {}", operator.args.join(", ")));
        }
        if found > expected
            && let Some(&extra) = data.args.get(expected)
        {
            diagnostic = diagnostic.related(site.range(extra), "unexpected argument");
        }
    }
    let mut evidence = Evidence::new(site.unit);
    evidence.suspect = cause::declared_for(view, site.unit, call.expr);
    evidence.call = Some(call);
    Some(Report { diagnostic, evidence: Some(evidence) })
}

/// Type arguments of a call.
pub(super) fn types_of_other_number(
    site: &Site<'_, '_, '_>,
    expected: usize,
    found: usize,
) -> Option<DefDiagnostic> {
    let expected = count(expected, "type argument");
    let message = format!("{} expects {expected}, found {found}", site.callee_name()?);
    Some(site.diagnostic(Code::TypeArguments, message))
}

/// Type arguments of a data type in a written type.
pub(in crate::check) fn types_of_other_number_in_type(
    range: TextRange,
    name: &str,
    adt: &Adt,
    found: usize,
) -> DefDiagnostic {
    let expected = count(adt.params.len(), "type argument");
    let list: Vec<&str> = adt.params.iter().map(|p| p.name().as_str()).collect();
    let message = format!("`{name}` expects {expected}, found {found}");
    DefDiagnostic::new(Code::TypeArguments, range, message)
        .help(format!("write `{name}[{}]`", list.join(", ")))
}

/// Type arguments of a type parameter.
pub(in crate::check) fn types_of_parameter(
    site: &ProblemSite<'_, '_, '_>,
    param: &Param,
) -> DefDiagnostic {
    let message = format!("`{}` is a type parameter and takes no arguments", param.name());
    site.diagnostic(Code::TypeArguments, message)
}

/// A type argument of a call.
pub(super) fn type_of_other_kind(
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
pub(in crate::check) fn type_of_other_kind_in_type(
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
pub(in crate::check) fn parameter_of_other_kind(
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
