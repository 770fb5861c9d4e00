//! Facts about a type that are cached where the type is built.
//!
//! A type is a shared graph: `let %p = (%q, %q)` makes a tuple whose two fields are one type in
//! memory, and sixty such lines make a tree of 2^60 nodes. Questions that every use of a type asks
//! (has inference found all of it, is a type parameter in it, how large is it) are therefore
//! answered here in constant time, and nothing walks a type as a tree.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::{Dim, Symbol};

/// The most levels that a type may nest. Functions over types recurse along this depth.
pub const MAX_DEPTH: u8 = 250;

/// The most nodes that a type may have, counted as a tree. Unification takes shared parts for
/// separate ones where only some of their uses are open, and this bounds what that costs.
pub const MAX_WEIGHT: u32 = 1 << 17;

/// A set of facts about a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Flags(u16);

impl Flags {
    /// No fact holds.
    pub const NONE: Flags = Flags(0);
    /// A type that inference has not found occurs in it.
    pub const VAR: Flags = Flags(1);
    /// A shape, a size or a data type that inference has not found occurs in it.
    pub const PART: Flags = Flags(1 << 1);
    /// `_` as written occurs in it.
    pub const HOLE: Flags = Flags(1 << 2);
    /// The type of something broken occurs in it.
    pub const ERROR: Flags = Flags(1 << 3);
    /// A type parameter in scope occurs in it.
    pub const PARAM: Flags = Flags(1 << 4);
    /// A `?` occurs in it.
    pub const ANY: Flags = Flags(1 << 5);
    /// A polymorphic type occurs in it.
    pub const POLY: Flags = Flags(1 << 6);
    /// A symbolic size occurs in it.
    pub const SYMBOL: Flags = Flags(1 << 7);
    /// An instance of an algebraic data type occurs in it.
    pub const ADT: Flags = Flags(1 << 8);

    /// All facts.
    pub const EVERYTHING: Flags = Flags(u16::MAX);

    /// The facts of either set.
    #[must_use]
    pub const fn or(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Returns true if the sets have a fact in common.
    pub const fn has(self, any_of: Flags) -> bool {
        self.0 & any_of.0 != 0
    }
}

/// The cached facts about a type with parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Info {
    /// Structural hash: equal types have equal hashes.
    pub(crate) hash: u64,
    /// Nodes of the type as a tree, saturating.
    pub(crate) weight: u32,
    /// Levels of nesting, saturating.
    pub(crate) depth: u8,
    /// What occurs in the type.
    pub(crate) flags: Flags,
    /// How many enclosing binders the type refers to: 0 for a type that stands alone.
    pub(crate) loose: u8,
}

impl Info {
    /// The facts about a node without parts. `tag` tells the forms of types apart.
    pub(crate) fn leaf(tag: u8, flags: Flags, content: impl Hash) -> Info {
        let mut hasher = FxHasher::default();
        (tag, content).hash(&mut hasher);
        Info { hash: hasher.finish(), weight: 1, depth: 1, flags, loose: 0 }
    }

    /// Takes one more part into account.
    pub(crate) fn add(&mut self, part: Info) {
        let mut hasher = FxHasher::default();
        (self.hash, part.hash).hash(&mut hasher);
        self.hash = hasher.finish();
        self.weight = self.weight.saturating_add(part.weight);
        self.depth = self.depth.max(part.depth.saturating_add(1));
        self.flags = self.flags.or(part.flags);
        self.loose = self.loose.max(part.loose);
    }

    /// The facts about a node over parts.
    pub(crate) fn over(tag: u8, content: impl Hash, parts: impl IntoIterator<Item = Info>) -> Info {
        let mut info = Info::leaf(tag, Flags::NONE, content);
        parts.into_iter().for_each(|part| info.add(part));
        info
    }
}

/// The facts about some sizes, and the binders that they refer to.
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
