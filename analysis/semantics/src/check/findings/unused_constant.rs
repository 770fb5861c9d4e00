//! Constants of the metadata section that nothing uses.

use crate::{
    check::constant_set::ConstantSet,
    diagnostic::{Code, Diagnostic},
};

pub(in crate::check) fn report(constants: &ConstantSet<'_, '_>) -> Diagnostic {
    let (verb, title) = match constants.entries.len() {
        1 => ("is", "Drop it"),
        _ => ("are", "Drop them"),
    };
    let message = format!("{} {verb} never used ({})", constants.names(), constants.size());
    let diagnostic = Diagnostic::new(Code::UnusedConstant, constants.place, message);
    constants.with_drop(diagnostic.unnecessary(), title)
}
