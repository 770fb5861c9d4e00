//! The metadata section and its constants.

use std::fmt;

use syntax::TextRange;

use super::{Code, DefDiagnostic, Site};
use crate::{
    check::constant_set::{ConstantSet, MAX_NAMED},
    diagnostic::Diagnostic,
    queries,
};

/// A metadata section that is no valid JSON.
pub(in crate::check) fn unreadable(range: TextRange, error: impl fmt::Display) -> Diagnostic {
    Diagnostic::new(Code::MetadataUnreadable, range, "cannot read the metadata section")
        .help(format!("its JSON is invalid: {error}"))
}

/// A reference to a missing entry of the metadata section.
pub(super) fn missing_entry(
    site: &Site<'_, '_, '_>,
    key: &str,
    index: u32,
) -> Option<DefDiagnostic> {
    // A section that cannot be read has no entries.
    let section = queries::metadata(site.view.db, site.view.module);
    if section.is_some_and(|section| section.error().is_some()) {
        return None;
    }
    let message = format!("the metadata section has no usable entry `meta[{key}][{index}]`");
    Some(site.diagnostic(Code::MetadataEntry, message))
}

/// A constant without a type in a module without a metadata section.
pub(super) fn untyped_constant(site: &Site<'_, '_, '_>) -> DefDiagnostic {
    let message = "the module has no metadata section, so the type of this constant is unknown";
    site.diagnostic(Code::UntypedConstant, message)
        .help("write its type after it: `/* ty=Tensor[(…), float32] */`")
}

/// Constants of the metadata section with the content of earlier ones.
pub(in crate::check) fn duplicate_constants(constants: &ConstantSet<'_, '_>) -> Diagnostic {
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

/// Constants of the metadata section that nothing uses.
pub(in crate::check) fn unused_constants(constants: &ConstantSet<'_, '_>) -> Diagnostic {
    let (verb, title) = match constants.entries.len() {
        1 => ("is", "Drop it"),
        _ => ("are", "Drop them"),
    };
    let message = format!("{} {verb} never used ({})", constants.names(), constants.size());
    let diagnostic = Diagnostic::new(Code::UnusedConstant, constants.place, message);
    constants.with_drop(diagnostic.unnecessary(), title)
}
