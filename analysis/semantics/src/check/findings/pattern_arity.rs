//! A pattern with the wrong number of fields.

use super::{Code, DefDiagnostic, Site};
use crate::{body::Name, check::plural::count};

pub(super) fn report(
    site: &Site<'_, '_, '_>,
    name: Option<&Name>,
    expected: usize,
    found: usize,
) -> DefDiagnostic {
    let what = match name {
        Some(name) => format!("`{name}` has"),
        None => "the tuple that is matched on has".into(),
    };
    let message = format!("{what} {}, the pattern has {found}", count(expected, "field"));
    site.diagnostic(Code::PatternArity, message)
}
