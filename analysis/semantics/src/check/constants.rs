//! Lints on the constants of the metadata section.

use std::collections::BTreeMap;

use syntax::{TextRange, TextSize};
use weights::CONSTANT;

use crate::{
    db::Db,
    diagnostic::{Code, Diagnostic},
    entries,
    item::{Def, Module},
    metadata::Metadata,
};

/// The least size of a tensor in bytes for which sharing is suggested: TVM prints each small constant
/// of its own, such as the epsilon of each normalization.
const MIN_SHARED: u64 = 1 << 10;
/// The most entries that a message names.
const MAX_NAMED: usize = 4;

/// Reports constants that nothing uses, and those whose content another one has: each kind once.
pub(super) fn check<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    section: Def<'db>,
    metadata: &Metadata,
    found: &mut Vec<Diagnostic>,
) {
    let weights = metadata.weights();
    let count = weights.section().entries(CONSTANT).len() as u32;
    if count == 0 {
        return;
    }
    let place = TextRange::at(section.start(db), TextSize::of("#[metadata]"));
    let used = entries::used_constants(db, module);
    // In a code view, these are fixed already.
    let pending = entries::pending_drops(db, section);
    let is_unused = |entry: &u32| !used.contains(entry) && !pending.contains(entry);
    let unused: BTreeMap<u32, Option<u32>> =
        (0..count).filter(is_unused).map(|entry| (entry, None)).collect();
    if !unused.is_empty() {
        let names = named(unused.keys().copied());
        let (verb, title) = match unused.len() {
            1 => ("is", "Drop it"),
            _ => ("are", "Drop them"),
        };
        let message = format!("{names} {verb} never used ({})", size(metadata, unused.keys()));
        let mut diagnostic = Diagnostic::new(Code::UnusedConstant, place, message).unnecessary();
        if let Some(edits) = entries::drop_constants(db, module, &unused) {
            diagnostic = diagnostic.fix(title, edits);
        }
        found.push(diagnostic);
    }
    let bytes = |entry: u32| bytes_of(metadata, entry);
    let repeated: BTreeMap<u32, Option<u32>> = weights
        .repeated()
        .iter()
        .filter(|(entry, first)| {
            used.contains(entry) && !pending.contains(first) && bytes(*entry) >= MIN_SHARED
        })
        .map(|&(entry, first)| (entry, Some(first)))
        .collect();
    if !repeated.is_empty() {
        let names = named(repeated.keys().copied());
        let what = match repeated.len() {
            1 => "has the content of an earlier entry",
            _ => "have the content of earlier entries",
        };
        let message = format!("{names} {what} ({})", size(metadata, repeated.keys()));
        let pairs = repeated.iter().take(MAX_NAMED);
        let pairs = pairs.map(|(entry, first)| format!("{entry} is {}", first.unwrap_or_default()));
        let mut diagnostic = Diagnostic::new(Code::DuplicateConstant, place, message)
            .help(pairs.collect::<Vec<_>>().join(", "));
        if let Some(edits) = entries::drop_constants(db, module, &repeated) {
            diagnostic = diagnostic.fix("Share the earlier ones", edits);
        }
        found.push(diagnostic);
    }
}

fn bytes_of(metadata: &Metadata, entry: u32) -> u64 {
    let section = metadata.weights().section();
    let header = section.array_of(CONSTANT, entry).and_then(|array| section.header(array));
    header.and_then(weights::Header::bytes).unwrap_or(0)
}

/// Returns the sum of the sizes of entries: `1.2 MB`.
fn size<'e>(metadata: &Metadata, entries: impl Iterator<Item = &'e u32>) -> String {
    let sum = entries.fold(0u64, |sum, &entry| sum.saturating_add(bytes_of(metadata, entry)));
    match sum {
        0..1_000 => format!("{sum} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", sum as f64 / 1e3),
        _ => format!("{:.1} MB", sum as f64 / 1e6),
    }
}

/// Names entries: `` `meta[relay.Constant][3]`, `[7]` and 2 more ``.
fn named(entries: impl ExactSizeIterator<Item = u32>) -> String {
    let count = entries.len();
    let shown = entries.take(MAX_NAMED).enumerate().map(|(at, entry)| match at {
        0 => format!("`meta[{CONSTANT}][{entry}]`"),
        _ => format!("`[{entry}]`"),
    });
    let shown: Vec<String> = shown.collect();
    match (shown.split_last(), count - shown.len()) {
        (Some((last, rest)), 0) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        (_, 0) => shown.concat(),
        (_, more) => format!("{} and {more} more", shown.join(", ")),
    }
}
