//! Names across the units of a body.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::body::{BinderId, BinderKind, Body, Expr, FreeId, Name, Unit};

/// What a name that a unit takes from outside means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Binding {
    /// The unit that binds it.
    pub unit: u32,
    /// The variable there.
    pub binder: BinderId,
}

/// The names of each unit, resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    units: Vec<Box<[Option<Binding>]>>,
}

impl Scopes {
    /// What `free` of unit number `unit` means.
    pub fn get(&self, unit: usize, free: FreeId) -> Option<Binding> {
        self.units.get(unit).and_then(|frees| frees.get(free.index()).copied().flatten())
    }

    /// What the free names of unit number `unit` mean.
    pub fn unit(&self, unit: usize) -> &[Option<Binding>] {
        self.units.get(unit).map_or(&[], |frees| frees)
    }

    /// Whether a use of a free name is an error where it is not bound: the front of a longer name
    /// that is bound is none, and neither is a longer name whose front is bound.
    pub fn is_unknown(&self, unit: &Unit, number: usize, free: FreeId) -> bool {
        if self.get(number, free).is_some() {
            return false;
        }
        let name = &unit.frees[free.index()];
        if name.whole {
            // The front answers for it.
            return false;
        }
        if name.dotted {
            return unit.exprs.iter().any(|expr| match expr {
                Expr::Dotted { whole, tuple, .. } => {
                    unit.expr(*tuple) == &Expr::Free(free) && self.get(number, *whole).is_none()
                }
                _ => false,
            });
        }
        true
    }
}

/// Resolves the names that each unit takes from those before it.
pub fn resolve(body: &Body) -> Scopes {
    let mut bound: FxHashMap<Name, Binding> = FxHashMap::default();
    let mut units = Vec::with_capacity(body.units.len());
    for (number, unit) in body.units.iter().enumerate() {
        let frees = unit.frees.iter().map(|free| {
            bound.get(&free.name).copied().or_else(|| leaked(&body.units[..number], &free.name))
        });
        units.push(frees.collect());
        if let Some(header) = unit.header() {
            for &binder in header.params.iter().rev() {
                let name = unit.binder(binder).name.clone();
                bound.insert(name, Binding { unit: number as u32, binder });
            }
        }
        if let Some(binder) = unit.binds {
            let name = unit.binder(binder).name.clone();
            bound.insert(name, Binding { unit: number as u32, binder });
        }
    }
    Scopes { units }
}

/// A graph variable of an inner block that has ended: it stands for its expression, and TVM prints
/// such uses where two branches share one.
fn leaked(before: &[Arc<Unit>], name: &str) -> Option<Binding> {
    if !name.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    before.iter().enumerate().rev().find_map(|(number, unit)| {
        let binder = unit
            .binders
            .iter()
            .rposition(|b| b.kind == BinderKind::Graph && b.name == name)?;
        Some(Binding { unit: number as u32, binder: BinderId(binder as u32) })
    })
}
