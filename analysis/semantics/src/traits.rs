//! What a unit has in it.
//!
//! Those who look for one thing in a module of ten thousand statements, at every keystroke, pass
//! by all the statements that have nothing of the kind.

use crate::body::{BinderKind, Callee, Expr, Literal, Unit};

/// A set of properties of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Traits(u8);

impl Traits {
    /// An integer without suffix: `1`.
    pub const BARE_INT: Traits = Traits(1);
    /// A global: `@f`.
    pub const GLOBAL: Traits = Traits(1 << 1);
    /// What may be a constructor: `Cons(…)`, `Nil`, a pattern.
    pub const CONSTRUCTOR: Traits = Traits(1 << 2);
    /// A type in which names have to be looked up.
    pub const TYPE_USE: Traits = Traits(1 << 3);
    /// A function.
    pub const FUNCTION: Traits = Traits(1 << 4);
    /// A reference into the metadata section.
    pub const META: Traits = Traits(1 << 5);
    /// An operator that TVM 0.14 calls otherwise, or does not have.
    pub const OTHER_NAME: Traits = Traits(1 << 6);
    /// A free variable that is declared.
    pub const FREE_VARIABLE: Traits = Traits(1 << 7);

    /// Whether any of `others` is among these.
    pub fn has(self, others: Traits) -> bool {
        self.0 & others.0 != 0
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self == Traits::default()
    }

    fn add(&mut self, others: Traits, holds: bool) {
        if holds {
            self.0 |= others.0;
        }
    }

    /// These and `others`.
    #[must_use]
    pub const fn or(self, others: Traits) -> Traits {
        Traits(self.0 | others.0)
    }

    /// The traits of a unit.
    pub(crate) fn of(unit: &Unit) -> Traits {
        let mut traits = Traits::default();
        for expr in &unit.exprs {
            match expr {
                Expr::Literal(Literal::Int { dtype: None, .. }) => traits.0 |= Traits::BARE_INT.0,
                Expr::Global(_) => traits.0 |= Traits::GLOBAL.0,
                Expr::Name(_) => traits.0 |= Traits::CONSTRUCTOR.or(Traits::OTHER_NAME).0,
                Expr::Meta(_) => traits.0 |= Traits::META.0,
                _ => {}
            }
        }
        for call in &unit.calls {
            match &call.callee {
                Callee::Operator(operator) => {
                    // The manual's names have three letters.
                    let short = call.callee_range.len() == 3.into() && operator.name.len() > 3;
                    let other =
                        short && !call.infix || operators::other_version(operator.name).is_some();
                    traits.add(Traits::OTHER_NAME, other);
                }
                Callee::Name(_) => traits.0 |= Traits::CONSTRUCTOR.0,
                Callee::Expr(_) => {}
            }
            let meta = call.meta_attrs.is_some()
                || call.written.iter().any(|attr| crate::body::has_meta(&attr.value));
            traits.add(Traits::META, meta);
        }
        traits.add(Traits::CONSTRUCTOR, !unit.matches.is_empty());
        traits.add(Traits::TYPE_USE, !unit.type_uses.is_empty());
        traits.add(Traits::FUNCTION, !unit.fns.is_empty());
        let free = unit.binders.iter().any(|binder| binder.kind == BinderKind::Free);
        traits.add(Traits::FREE_VARIABLE, free);
        traits
    }
}
