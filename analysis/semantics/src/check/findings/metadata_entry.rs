//! A reference to a missing entry of the metadata section.

use super::{Code, DefDiagnostic, Site};
use crate::queries;

pub(super) fn report(site: &Site<'_, '_, '_>, key: &str, index: u32) -> Option<DefDiagnostic> {
    // A section that cannot be read has no entries.
    let section = queries::metadata(site.view.db, site.view.module);
    if section.is_some_and(|section| section.error().is_some()) {
        return None;
    }
    let message = format!("the metadata section has no usable entry `meta[{key}][{index}]`");
    Some(site.diagnostic(Code::MetadataEntry, message))
}
