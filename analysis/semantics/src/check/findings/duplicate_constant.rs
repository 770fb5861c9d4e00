//! Constants of the metadata section with the content of earlier ones.

use crate::{
    check::constant_set::{ConstantSet, MAX_NAMED},
    diagnostic::{Code, Diagnostic},
};

pub(in crate::check) fn report(constants: &ConstantSet<'_, '_>) -> Diagnostic {
    let what = match constants.entries.len() {
        1 => "has the content of an earlier entry",
        _ => "have the content of earlier entries",
    };
    let message = format!("{} {what} ({})", constants.names(), constants.size());
    let pairs = constants.entries.iter().take(MAX_NAMED);
    let pairs = pairs.map(|(entry, first)| format!("{entry} is {}", first.unwrap_or_default()));
    let diagnostic = Diagnostic::new(Code::DuplicateConstant, constants.place, message)
        .help(pairs.collect::<Vec<_>>().join(", "));
    constants.with_drop(diagnostic, "Share the earlier ones")
}
