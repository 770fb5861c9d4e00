//! IDE features for Relay, one module per feature.
//!
//! Each feature is a function from a file and an offset to plain data: ranges, names and Markdown.
//! The crate keeps no state and reads everything from the database; the layers of a file are a query of
//! its own. It deliberately knows nothing of LSP, JSON and threads, so that the CLI and tests use the
//! same functions as the server.

pub mod actions;
pub mod calls;
pub mod completion;
mod cursor;
pub mod edit;
pub mod elements;
pub mod folding;
pub mod fuzzy;
pub mod goto;
pub mod highlight;
pub mod hover;
pub mod inlay;
pub mod layers;
pub mod lens;
pub mod linked;
pub mod links;
pub mod live;
mod locals;
mod lookups;
pub mod markdown;
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
mod weights;
pub mod why;
pub mod words;

#[cfg(test)]
mod fixture;

use semantics::SourceFile;
use syntax::TextRange;

/// A range in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileRange {
    /// The file.
    pub file: SourceFile,
    /// The range.
    pub range: TextRange,
}
