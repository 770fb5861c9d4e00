//! A type that exceeds a limit of inference.

use types::{MAX_DEPTH, MAX_WEIGHT};

use super::{Code, DefDiagnostic, Site};
use crate::infer::TypeLimit;

pub(super) fn report(site: &Site<'_, '_, '_>, limit: TypeLimit) -> Option<DefDiagnostic> {
    let what = site.describe()?;
    let (message, help) = match limit {
        TypeLimit::Size => (
            format!(
                "the type of {what} has more than {MAX_WEIGHT} nodes, or nests more than \
                 {MAX_DEPTH} levels deep"
            ),
            "bind the parts that are needed, and leave the rest out of the tuple",
        ),
        TypeLimit::Parameters(open) => (
            format!("the type of {what} has {open} unresolved type parameters and relations"),
            "write the types of the parameters of the functions that are called here",
        ),
    };
    Some(site.diagnostic(Code::TypeTooLarge, message).help(help))
}
