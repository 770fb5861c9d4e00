//! The identities of definitions.

use crate::body::Name;

/// The kind of an item.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DefKind {
    /// `def @f`
    Fn,
    /// `type T`
    Type,
    /// A bare expression.
    Expr,
    /// A TIR function.
    Tir,
    /// The metadata section.
    Metadata,
    /// `#[version = "0.0.5"]`
    Version,
}

impl DefKind {
    /// Returns true for a definition with a body: a function or a bare expression.
    pub fn has_body(self) -> bool {
        matches!(self, DefKind::Fn | DefKind::Expr)
    }
}

/// The identity of a definition in its file across revisions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct DefKey {
    pub(crate) module: u32,
    pub(crate) kind: DefKind,
    pub(crate) name: Name,
    pub(crate) occurrence: u32,
}
