//! Lints on the constants of the metadata section.

use std::collections::BTreeMap;

use syntax::TextRange;
use weights::CONSTANT;

use super::{
    constant_set::{ConstantSet, bytes_of},
    findings::{duplicate_constant, unused_constant},
};
use crate::{
    db::Db,
    diagnostic::Diagnostic,
    entries,
    item::{Def, Module},
    metadata::Metadata,
};

/// The least size of a tensor in bytes for which sharing is suggested: TVM prints each small constant
/// of its own, such as the epsilon of each normalization.
const MIN_SHARED: u64 = 1 << 10;

/// Reports constants that nothing uses, and those whose content another one has: each kind once.
pub(super) fn check<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    (section, place): (Def<'db>, TextRange),
    metadata: &Metadata,
    found: &mut Vec<Diagnostic>,
) {
    let weights = metadata.weights();
    let count = weights.section().entries(CONSTANT).len() as u32;
    if count == 0 {
        return;
    }
    let set = |entries| ConstantSet { db, module, metadata, place, entries };
    let used = entries::used_constants(db, module);
    // In a code view, these are fixed already.
    let pending = entries::pending_drops(db, section);
    let is_unused = |entry: &u32| !used.contains(entry) && !pending.contains(entry);
    let unused: BTreeMap<u32, Option<u32>> =
        (0..count).filter(is_unused).map(|entry| (entry, None)).collect();
    if !unused.is_empty() {
        found.push(unused_constant::report(&set(unused)));
    }
    let repeated: BTreeMap<u32, Option<u32>> = weights
        .repeated()
        .iter()
        .filter(|(entry, first)| {
            used.contains(entry)
                && !pending.contains(first)
                && bytes_of(metadata, *entry) >= MIN_SHARED
        })
        .map(|&(entry, first)| (entry, Some(first)))
        .collect();
    if !repeated.is_empty() {
        found.push(duplicate_constant::report(&set(repeated)));
    }
}
