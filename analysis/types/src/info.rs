//! Facts about a type, computed once when the type is built.
//!
//! A type is a shared graph: the fields of the tuple `let %p = (%q, %q)` are one type in memory,
//! and sixty such lines denote a tree of 2^60 nodes. Frequent queries (does the type contain
//! variables or type parameters, what is its size) are therefore cached here, and never walk the
//! type as a tree.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::{Dim, Symbol};

/// Maximum nesting of a type, which bounds the recursion over types.
pub const MAX_DEPTH: u8 = 250;

/// Maximum number of nodes of a type, counted as a tree. It bounds the cost of unification, which
/// duplicates shared parts when it expands them into nodes.
pub const MAX_WEIGHT: u32 = 1 << 17;

/// A set of facts about a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Flags(u16);

impl Flags {
    /// The empty set.
    pub const NONE: Flags = Flags(0);
    /// Contains a type variable of inference.
    pub const VAR: Flags = Flags(1);
    /// Contains a variable for a shape, a size or a data type.
    pub const PART: Flags = Flags(1 << 1);
    /// Contains a written `_`.
    pub const HOLE: Flags = Flags(1 << 2);
    /// Contains the error type.
    pub const ERROR: Flags = Flags(1 << 3);
    /// Contains a free type parameter.
    pub const PARAM: Flags = Flags(1 << 4);
    /// Contains a `?`.
    pub const ANY: Flags = Flags(1 << 5);
    /// Contains a polymorphic type.
    pub const POLY: Flags = Flags(1 << 6);
    /// Contains a symbolic size.
    pub const SYMBOL: Flags = Flags(1 << 7);
    /// Contains an algebraic data type.
    pub const ADT: Flags = Flags(1 << 8);

    /// The set of all facts.
    pub const ALL: Flags = Flags(u16::MAX);

    /// Returns the union of two sets.
    #[must_use]
    pub const fn or(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Returns true if the sets intersect.
    pub const fn has(self, any_of: Flags) -> bool {
        self.0 & any_of.0 != 0
    }
}

/// The cached facts about a type with parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Info {
    /// Structural hash: equal types have equal hashes.
    pub(crate) hash: u64,
    /// Number of nodes as a tree, saturating.
    pub(crate) weight: u32,
    /// Levels of nesting, saturating.
    pub(crate) depth: u8,
    /// The constructs that occur in the type.
    pub(crate) flags: Flags,
    /// Number of enclosing binders that the type refers to: 0 for a closed term.
    pub(crate) loose: u8,
}

impl Info {
    /// Returns the facts about a node without parts. `tag` identifies the variant of
    /// [`crate::Type`].
    pub(crate) fn leaf(tag: u8, flags: Flags, content: impl Hash) -> Info {
        let mut hasher = FxHasher::default();
        (tag, content).hash(&mut hasher);
        Info { hash: hasher.finish(), weight: 1, depth: 1, flags, loose: 0 }
    }

    /// Adds the facts about a part.
    pub(crate) fn add(&mut self, part: Info) {
        let mut hasher = FxHasher::default();
        (self.hash, part.hash).hash(&mut hasher);
        self.hash = hasher.finish();
        self.weight = self.weight.saturating_add(part.weight);
        self.depth = self.depth.max(part.depth.saturating_add(1));
        self.flags = self.flags.or(part.flags);
        self.loose = self.loose.max(part.loose);
    }

    /// Returns the facts about a node with parts.
    pub(crate) fn over(tag: u8, content: impl Hash, parts: impl IntoIterator<Item = Info>) -> Info {
        let mut info = Info::leaf(tag, Flags::NONE, content);
        parts.into_iter().for_each(|part| info.add(part));
        info
    }
}

/// Returns the flags of sizes, and the number of enclosing binders that they refer to.
pub(crate) fn of_dims(dims: &[Dim]) -> (Flags, u8) {
    let (mut flags, mut loose) = (Flags::NONE, 0);
    for dim in dims {
        let (more, deeper) = of_dim(dim);
        flags = flags.or(more);
        loose = loose.max(deeper);
    }
    (flags, loose)
}

fn of_dim(dim: &Dim) -> (Flags, u8) {
    match dim {
        Dim::Known { .. } => (Flags::NONE, 0),
        Dim::Any => (Flags::ANY, 0),
        Dim::Var(_) => (Flags::PART, 0),
        // Recursion is bounded: `Dim::apply` limits the size of an expression.
        Dim::Symbol(symbol) => match &**symbol {
            Symbol::Variable { .. } => (Flags::SYMBOL, 0),
            Symbol::Param(_) => (Flags::SYMBOL.or(Flags::PARAM), 0),
            Symbol::Bound(bound) => (Flags::SYMBOL, bound.loose()),
            Symbol::Binary { lhs, rhs, .. } => {
                let (left, right) = (of_dim(lhs), of_dim(rhs));
                (Flags::SYMBOL.or(left.0).or(right.0), left.1.max(right.1))
            }
        },
    }
}
