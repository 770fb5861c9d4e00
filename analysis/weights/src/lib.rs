//! Weights: the metadata section of a module, whose tensors are decoded on demand.
//!
//! A ResNet-18 with its parameters is 15 kB of code and 62 MB of metadata. [`Section::scan`] reads that
//! section once and stores its nodes and the range of each tensor's text; no tensor is decoded or
//! copied. [`Weights`] returns tensors by entry, from memory or from a file, [`Stats`] describes one
//! piece by piece, and [`split`] splits a module into code and section.
//!
//! Sections are untrusted: every index is checked, and the sizes of a tensor are checked against the
//! length of its text before memory is allocated for it.

mod append;
mod edit;
mod file;
mod folded;
mod module;
mod outline;
mod payload;
mod rebuild;
mod section;
mod split;
mod stats;
mod store;

pub use append::{EMPTY, Insertions, append};
pub use edit::{Removal, drop_entries, entry_range};
pub use file::{FileText, ModuleFile, Stamp, open_file};
pub use folded::{FOLDED, FoldedLine, drops_part, folded_line, is_folded, megabytes};
pub use module::{Module, ReadError};
pub use outline::Outline;
pub use payload::{DecodeError, Payload};
pub use rebuild::{Part, cut, encode, parts};
pub use section::{CONSTANT, Header, Node, Section};
pub use split::{Split, SplitError, split};
pub use stats::{BARS, BINS, Stats, bars};
pub use store::Weights;
