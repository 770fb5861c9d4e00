//! A type argument of the wrong kind.

use syntax::TextRange;
use types::{Kind, Type};

use super::{Code, DefDiagnostic, Site};
use crate::check::text;

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
        text::kind_name(expected)
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
        text::kind_name(expected)
    );
    let mut diagnostic = DefDiagnostic::new(Code::KindMismatch, range, message);
    diagnostic.help = text::example_of_kind(expected);
    diagnostic
}
