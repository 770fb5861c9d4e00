//! What an editor asks about Relay, one file a feature.
//!
//! Plain data in and out: a file and an offset go in, ranges, names and markdown come out. Nothing
//! here is remembered; all of it is read off the database. Absent on purpose: LSP, JSON, threads.

pub mod actions;
pub mod calls;
pub mod completion;
mod cursor;
pub mod edit;
pub mod folding;
pub mod fuzzy;
pub mod goto;
pub mod highlight;
pub mod hover;
pub mod inlay;
pub mod lens;
pub mod linked;
pub mod links;
pub mod live;
mod locals;
pub mod markdown;
pub mod occurrences;
pub mod on_type;
pub mod place;
pub mod reading;
pub mod references;
pub mod rename;
pub mod selection;
pub mod shapes;
pub mod signature;
pub mod symbols;
pub mod type_at;
pub mod why;
pub mod words;

#[cfg(test)]
mod fixture;

use semantics::SourceFile;
use syntax::TextRange;

/// A place in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileRange {
    /// The file.
    pub file: SourceFile,
    /// The range in it.
    pub range: TextRange,
}
