//! Weights as data: the metadata section of a module, whose tensors are decoded on demand.
//!
//! A ResNet-18 with its parameters is 15 kB of code and 62 MB of metadata. [`Section::scan`] reads that
//! section once and keeps its nodes and where the text of each tensor is; no tensor is decoded or
//! copied. [`Weights`] gives tensors by entry, from a text or from a file, [`Stats`] describes one
//! without holding more of it than a piece, and [`split`] separates a module into code and section.
//!
//! Nothing that a section says of itself is believed: every index is checked, and the sizes of a
//! tensor are held against the length of its text before memory is allocated for it.

mod append;
mod edit;
mod file;
mod payload;
mod rebuild;
mod section;
mod split;
mod stats;
mod store;

pub use append::{Appended, EMPTY, append};
pub use edit::{Dropped, drop_entries, entry_range};
pub use file::{FileText, Mapping, Stamp};
pub use payload::{DecodeError, Payload};
pub use rebuild::{Part, cut, encode, parts};
pub use section::{CONSTANT, Header, Node, Section};
pub use split::{FOLDED, Split, SplitError, folded_line, is_folded, split};
pub use stats::{BARS, BINS, Stats, bars};
pub use store::Weights;
