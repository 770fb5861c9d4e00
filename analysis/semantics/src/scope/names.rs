//! The variables that free names refer to, as each unit sees them.
//!
//! A reference counts the units back to the one that binds the variable. An edit that inserts a statement thus changes
//! the references from the statements after it to those before it, and no others.

use smallvec::SmallVec;

use crate::{
    body::{BinderId, FreeName, LocalRef, UnitId},
    list::{self, List},
};

/// The variables of the free names of each unit of a body.
pub(super) type Names = List<UnitNames, Reach>;

/// The variables of the free names of a unit. Most units have one or two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnitNames(pub(super) SmallVec<[Reference; 2]>);

impl UnitNames {
    /// Returns the variables that the names in `unit` refer to.
    #[inline]
    pub(crate) fn of(
        &self,
        unit: UnitId,
    ) -> impl ExactSizeIterator<Item = Option<LocalRef>> + Clone + '_ {
        self.0.iter().map(move |name| name.binding(unit))
    }
}

/// A variable as a unit sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The number of units back to the one that binds it; zero for the header.
    back: u32,
    binder: BinderId,
}

impl Reference {
    /// A name that refers to no variable.
    const UNBOUND: Reference = Reference { back: u32::MAX, binder: BinderId(u32::MAX) };
    /// The same of `%x.0` as a whole: it is a field of `%x` unless a variable has this name.
    const NO_WHOLE: Reference = Reference { back: u32::MAX - 1, ..Reference::UNBOUND };

    /// Returns the reference of a name in `unit`. The variable is bound by the header, or by a unit before this one.
    pub(super) fn new(unit: UnitId, name: &FreeName, binding: Option<LocalRef>) -> Reference {
        match binding {
            Some(LocalRef { unit: UnitId::HEADER, binder }) => Reference { back: 0, binder },
            Some(binding) => Reference { back: unit.0 - binding.unit.0, binder: binding.binder },
            None if name.whole => Reference::NO_WHOLE,
            None => Reference::UNBOUND,
        }
    }

    /// Returns the variable that a name in `unit` refers to.
    #[inline]
    pub(super) fn binding(self, unit: UnitId) -> Option<LocalRef> {
        let Reference { back, binder } = self;
        let unit = if back == 0 { UnitId::HEADER } else { UnitId(unit.0.wrapping_sub(back)) };
        self.is_bound().then_some(LocalRef { unit, binder })
    }

    #[inline]
    pub(super) fn is_bound(self) -> bool {
        self.binder != Reference::UNBOUND.binder
    }
}

/// How far the names of a chunk reach.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// The number of units from the first one of the chunk back to the first one, besides the header, that binds a
    /// variable of its names.
    back: u32,
    /// True if some name refers to no variable, as a whole or otherwise.
    has_whole: bool,
    pub(super) has_unbound: bool,
    /// True if each unit of the chunk but the first one uses a variable of the unit before it.
    pub(crate) is_sequence: bool,
}

impl Reach {
    /// Returns the first unit, besides the header, that binds a variable of the chunk that begins at unit `start`; or
    /// `start` if none before it does.
    pub(super) fn first_binding(&self, start: usize) -> usize {
        start.saturating_sub(self.back as usize)
    }

    /// Returns true if some name of the chunk may refer to a variable once units before it bind more. `dotted` tells
    /// whether the name of one has a dot.
    pub(super) fn may_bind(&self, dotted: bool) -> bool {
        self.has_unbound || dotted && self.has_whole
    }
}

impl list::Summary<UnitNames> for Reach {
    fn of(units: &[UnitNames]) -> Reach {
        let mut reach = Reach { back: 0, has_whole: false, has_unbound: false, is_sequence: true };
        for (index, UnitNames(names)) in (0..).zip(units) {
            let mut uses_previous = index == 0;
            for name in names {
                uses_previous |= name.back == 1;
                // An unbound name is farther than any other.
                let back = name.back.saturating_sub(index);
                if back > reach.back {
                    match *name {
                        Reference::UNBOUND => reach.has_unbound = true,
                        Reference::NO_WHOLE => reach.has_whole = true,
                        _ => reach.back = back,
                    }
                }
            }
            reach.is_sequence &= uses_previous;
        }
        reach
    }
}
