//! Names across the units of a body.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::body::{BinderId, BinderKind, Body, Expr, FreeId, Name, Unit, UnitKind};

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
    /// What each free name of each unit means, one unit after the other.
    frees: Vec<Option<Binding>>,
    /// Where the names of each unit begin.
    starts: Vec<u32>,
    /// Names that mean nothing: the first use of each.
    pub unknown: Vec<(u32, FreeId)>,
    /// Variables bound by a statement or the header that nothing uses.
    pub unused: Vec<Binding>,
    /// Bindings that hide another of the same name: the one that hides, the one that is hidden.
    pub shadows: Vec<(Binding, Binding)>,
}

impl Scopes {
    /// What `free` of unit number `unit` means.
    pub fn get(&self, unit: usize, free: FreeId) -> Option<Binding> {
        self.unit(unit).get(free.index()).copied().flatten()
    }

    /// What the free names of unit number `unit` mean.
    pub fn unit(&self, unit: usize) -> &[Option<Binding>] {
        let Some(&start) = self.starts.get(unit) else { return &[] };
        let end = self.starts.get(unit + 1).map_or(self.frees.len(), |&end| end as usize);
        &self.frees[start as usize..end]
    }

    /// Units that use what `binding` binds, in order, with the name they use it by.
    pub fn uses(&self, binding: Binding) -> impl DoubleEndedIterator<Item = (usize, FreeId)> {
        (0..self.starts.len()).flat_map(move |unit| {
            let frees = self.unit(unit).iter().enumerate();
            frees
                .filter(move |(_, found)| **found == Some(binding))
                .map(move |(free, _)| (unit, FreeId(free as u32)))
        })
    }

    /// Whether a use of a free name is an error: the front of a longer name that is bound is
    /// none, and neither is a longer name, whose front answers for it.
    fn is_unknown(&self, unit: &Unit, number: usize, free: FreeId) -> bool {
        if self.get(number, free).is_some() {
            return false;
        }
        let name = &unit.frees[free.index()];
        if name.whole {
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
    let mut scopes = Scopes::default();
    scopes.starts.reserve(body.units.len());
    // Each name with what it means now; whether anything uses that; and the parameters.
    let mut bound: FxHashMap<&str, usize> = FxHashMap::default();
    let mut bindings: Vec<(Binding, bool)> = Vec::new();
    for (number, unit) in body.units.iter().enumerate() {
        scopes.starts.push(scopes.frees.len() as u32);
        for free in &unit.frees {
            let found = match bound.get(free.name.as_str()) {
                Some(&at) => {
                    bindings[at].1 = true;
                    Some(bindings[at].0)
                }
                None => leaked(&body.units[..number], &free.name),
            };
            scopes.frees.push(found);
        }
        for (i, free) in unit.frees.iter().enumerate() {
            let id = FreeId(i as u32);
            if scopes.get(number, id).is_none() && scopes.is_unknown(unit, number, id) {
                let seen = scopes.unknown.iter().any(|(unit, id)| {
                    body.units[*unit as usize].frees[id.index()].name == free.name
                });
                if !seen {
                    scopes.unknown.push((number as u32, id));
                }
            }
        }
        let binders = unit
            .header()
            .map(|header| header.params.as_slice())
            .into_iter()
            .flatten()
            .rev()
            .chain(&unit.binds);
        for &binder in binders {
            let binding = Binding { unit: number as u32, binder };
            bindings.push((binding, false));
            let name = unit.binder(binder).name.as_str();
            let hidden = bound.insert(name, bindings.len() - 1);
            if let Some(hidden) = hidden
                && unit.kind != UnitKind::Header
            {
                scopes.shadows.push((binding, bindings[hidden].0));
            }
        }
    }
    let unused = bindings.into_iter().filter(|(_, used)| !used).map(|(binding, _)| binding);
    scopes.unused = unused.collect();
    scopes
}

/// A graph variable of an inner block that has ended: it stands for its expression, and TVM prints
/// such uses where two branches share one.
fn leaked(before: &[Arc<Unit>], name: &str) -> Option<Binding> {
    if !name.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    before.iter().enumerate().rev().find_map(|(number, unit)| {
        let binder =
            unit.binders.iter().rposition(|b| b.kind == BinderKind::Graph && b.name == name)?;
        Some(Binding { unit: number as u32, binder: BinderId(binder as u32) })
    })
}

/// Variables bound inside a unit that nothing in it uses, and inner bindings that hide another
/// variable of the unit.
pub fn unused_inside(unit: &Unit) -> Vec<BinderId> {
    let mut used = vec![false; unit.binders.len()];
    for expr in &unit.exprs {
        if let Expr::Bound(binder) = expr {
            used[binder.index()] = true;
        }
    }
    if let Some(binder) = unit.binds {
        used[binder.index()] = true;
    }
    if let Some(header) = unit.header() {
        header.params.iter().for_each(|binder| used[binder.index()] = true);
    }
    let unused = used.iter().enumerate().filter(|(_, used)| !**used);
    unused.map(|(binder, _)| BinderId(binder as u32)).collect()
}

/// How a binding of this name was spelled out: names that begin with `_` are meant to be unused.
pub fn is_silenced(name: &Name) -> bool {
    name.as_bytes().get(1) == Some(&b'_')
}
