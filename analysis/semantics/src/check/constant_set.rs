//! Constants of a metadata section in a message.

use std::collections::BTreeMap;

use syntax::TextRange;
use weights::CONSTANT;

use super::plural::listed;
use crate::{db::Db, diagnostic::Diagnostic, entries, item::Module, metadata::Metadata};

/// The most entries that a message names.
pub(super) const MAX_NAMED: usize = 4;

/// The constants of a metadata section that a finding is about: each entry with the one that replaces it, if there is
/// one.
pub(super) struct ConstantSet<'s, 'db> {
    pub(super) db: &'db dyn Db,
    pub(super) module: Module<'db>,
    pub(super) metadata: &'s Metadata,
    /// The place of the section.
    pub(super) place: TextRange,
    /// The entries.
    pub(super) entries: BTreeMap<u32, Option<u32>>,
}

impl ConstantSet<'_, '_> {
    /// Returns the sum of the sizes: `1.2 MB`.
    pub(super) fn size(&self) -> String {
        let sizes = self.entries.keys().map(|&entry| bytes_of(self.metadata, entry));
        match sizes.fold(0, u64::saturating_add) {
            sum @ 0..1_000 => format!("{sum} bytes"),
            sum @ 1_000..1_000_000 => format!("{:.1} kB", sum as f64 / 1e3),
            sum => format!("{:.1} MB", sum as f64 / 1e6),
        }
    }

    /// Names the entries: `` `meta[relay.Constant][3]`, `[7]` and 2 more ``.
    pub(super) fn names(&self) -> String {
        let shown = self.entries.keys().take(MAX_NAMED).enumerate().map(|(at, entry)| match at {
            0 => format!("`meta[{CONSTANT}][{entry}]`"),
            _ => format!("`[{entry}]`"),
        });
        let shown: Vec<String> = shown.collect();
        match self.entries.len() - shown.len() {
            0 => listed(&shown),
            more => format!("{} and {more} more", shown.join(", ")),
        }
    }

    /// Adds the fix that drops the entries.
    pub(super) fn with_drop(&self, diagnostic: Diagnostic, title: &str) -> Diagnostic {
        let edits = entries::drop_constants(self.db, self.module, &self.entries);
        diagnostic.with(edits, |diagnostic, edits| diagnostic.fix(title, edits))
    }
}

/// Returns the size of an entry in bytes; 0 for one that cannot be read.
pub(super) fn bytes_of(metadata: &Metadata, entry: u32) -> u64 {
    let section = metadata.weights().section();
    let header = section.array_of(CONSTANT, entry).and_then(|array| section.header(array));
    header.and_then(weights::Header::bytes).unwrap_or(0)
}
