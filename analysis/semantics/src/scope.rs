//! Names across the units of a body.

use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    body::{BinderId, BinderKind, Body, Expr, FreeId, Name, Unit, UnitKind},
    traits::Traits,
};

/// What a name that a unit takes from outside means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Binding {
    /// The unit that binds it.
    pub unit: u32,
    /// The variable there.
    pub binder: BinderId,
}

/// The names of each unit, resolved, and what each unit has in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    /// What follows from the names alone.
    pub(crate) names: Arc<Resolved>,
    /// The units that have something in them, and what.
    traits: Vec<(u32, Traits)>,
}

impl std::ops::Deref for Scopes {
    type Target = Resolved;

    fn deref(&self) -> &Resolved {
        &self.names
    }
}

/// The names of each unit, resolved, and what else follows from the names of a body alone.
///
/// Most edits of a body change no name: then this is taken over as it is, and what was worked out
/// from it as well.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// What each free name of each unit means, one unit after the other.
    frees: Vec<Option<Binding>>,
    /// Where the names of each unit begin.
    starts: Vec<u32>,
    /// Names that mean nothing: the first use of each.
    pub unknown: Vec<(u32, FreeId)>,
    /// Variables bound by a statement or the header that nothing uses.
    pub unused: Vec<Binding>,
    /// Variables bound inside a statement that nothing uses.
    pub unused_inside: Vec<Binding>,
    /// Bindings that hide another of the same name: the one that hides, the one that is hidden.
    pub shadows: Vec<(Binding, Binding)>,
    /// Whether two variables other than graph variables have one name, anywhere in the body.
    pub equal_names: bool,
    /// The globals that the body names, each once.
    pub globals: Vec<Name>,
    /// The numbers of the graph variables.
    pub graphs: GraphNumbers,
    /// Looked up when it is asked for first.
    tables: Lazy<Tables>,
}

/// The numbers of a body's graph variables.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum GraphNumbers {
    /// There are none.
    #[default]
    None,
    /// They ascend, as TVM prints them, from the first to the last.
    Ascending(u64, u64),
    /// They come in another order, or some come twice.
    Any,
}

impl GraphNumbers {
    fn add(&mut self, number: u64) {
        *self = match *self {
            GraphNumbers::None => GraphNumbers::Ascending(number, number),
            GraphNumbers::Ascending(first, last) if last < number => {
                GraphNumbers::Ascending(first, number)
            }
            _ => GraphNumbers::Any,
        };
    }
}

/// What would otherwise be searched for unit by unit.
#[derive(Default, Debug)]
struct Tables {
    /// The units that use a variable, in order, and the name it has there.
    uses: FxHashMap<Binding, Vec<(u32, FreeId)>>,
    /// The units that name a global, in order.
    globals: FxHashMap<Name, Vec<u32>>,
    /// The names of all variables.
    names: FxHashSet<Name>,
}

/// Something that follows from the rest.
#[derive(Debug)]
struct Lazy<T>(OnceLock<T>);

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Lazy(OnceLock::new())
    }
}

impl<T> PartialEq for Lazy<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Lazy<T> {}

impl Scopes {
    /// The units that have any of `traits`, in order.
    pub fn units_with(&self, traits: Traits) -> impl Iterator<Item = usize> {
        let wanted = self.traits.iter().filter(move |(_, of_unit)| of_unit.has(traits));
        wanted.map(|(unit, _)| *unit as usize)
    }

    /// The names of `body`, if they are those of `before` unit by unit, to which `self` belongs.
    pub(crate) fn follow(self: &Arc<Scopes>, before: &Body, body: &Body) -> Option<Arc<Scopes>> {
        if before.units.len() != body.units.len() {
            return None;
        }
        let mut other: Option<Vec<(u32, Traits)>> = None;
        for (number, (old, new)) in (0u32..).zip(before.units.iter().zip(&body.units)) {
            if Arc::ptr_eq(old, new) {
                continue;
            }
            if !same_names(old, new) {
                return None;
            }
            if old.traits != new.traits {
                let traits = other.get_or_insert_with(|| self.traits.clone());
                match traits.binary_search_by_key(&number, |(unit, _)| *unit) {
                    Ok(at) if new.traits.is_empty() => drop(traits.remove(at)),
                    Ok(at) => traits[at].1 = new.traits,
                    Err(at) => traits.insert(at, (number, new.traits)),
                }
            }
        }
        Some(match other {
            Some(traits) => Arc::new(Scopes { names: self.names.clone(), traits }),
            None => self.clone(),
        })
    }
}

impl Resolved {
    /// The last unit that uses what `binding` binds, and the name it has there. `body` is the
    /// body whose names these are.
    pub fn last_use(&self, body: &Body, binding: Binding) -> Option<(usize, FreeId)> {
        let (unit, free) = *self.tables(body).uses.get(&binding)?.last()?;
        Some((unit as usize, free))
    }

    /// The units of `body` that name a global, in order.
    pub fn units_naming(&self, body: &Body, name: &str) -> impl Iterator<Item = usize> {
        let units = self.tables(body).globals.get(name);
        units.into_iter().flatten().map(|&unit| unit as usize)
    }

    /// Whether a variable of this name is bound anywhere in `body`.
    pub fn binds_name(&self, body: &Body, name: &str) -> bool {
        self.tables(body).names.contains(name)
    }

    fn tables(&self, body: &Body) -> &Tables {
        self.tables.0.get_or_init(|| {
            let mut tables = Tables::default();
            for (number, unit) in body.units.iter().enumerate() {
                let number = number as u32;
                tables.names.extend(unit.binders.iter().map(|binder| binder.name.clone()));
                for (free, binding) in self.unit(number as usize).iter().enumerate() {
                    if let Some(binding) = binding {
                        let uses = tables.uses.entry(*binding).or_default();
                        uses.push((number, FreeId(free as u32)));
                    }
                }
                if unit.traits.has(Traits::GLOBAL) {
                    for (name, _) in unit.globals() {
                        let units = tables.globals.entry(name.clone()).or_default();
                        if units.last() != Some(&number) {
                            units.push(number);
                        }
                    }
                }
            }
            tables
        })
    }

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

    /// Units that use what `binding` binds, in order, with the name they use it by. `body` is the
    /// body whose names these are.
    pub fn uses(
        &self,
        body: &Body,
        binding: Binding,
    ) -> impl DoubleEndedIterator<Item = (usize, FreeId)> {
        let uses = self.tables(body).uses.get(&binding);
        uses.into_iter().flatten().map(|&(unit, free)| (unit as usize, free))
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

/// Whether two units take the same names from outside and give the same to those behind them.
fn same_names(before: &Unit, unit: &Unit) -> bool {
    let is_dotted = |unit: &Unit| unit.frees.iter().any(|free| free.dotted || free.whole);
    let same_binders = || {
        let mut pairs = before.binders.iter().zip(&unit.binders);
        before.binders.len() == unit.binders.len()
            && pairs
                .all(|(before, binder)| before.name == binder.name && before.kind == binder.kind)
    };
    before.kind == unit.kind
        && before.binds == unit.binds
        && before.frees.len() == unit.frees.len()
        && before.frees.iter().zip(&unit.frees).all(|(before, free)| before.name == free.name)
        && same_binders()
        && before.header().map(|header| &header.params)
            == unit.header().map(|header| &header.params)
        && !is_dotted(before)
        && !is_dotted(unit)
        && unused_inside(before) == unused_inside(unit)
        && before.globals().map(|(name, _)| name).eq(unit.globals().map(|(name, _)| name))
}

/// Resolves the names that each unit takes from those before it.
pub fn resolve(body: &Body) -> Scopes {
    let mut traits = Vec::new();
    let mut scopes = Resolved::default();
    scopes.starts.reserve(body.units.len());
    // Each name with what it means now; whether anything uses that; and the parameters.
    let mut bound: FxHashMap<&str, usize> = FxHashMap::default();
    let mut bindings: Vec<(Binding, bool)> = Vec::new();
    // Names that are bound inside a unit.
    let mut inside: Vec<&Name> = Vec::new();
    let mut unknown: FxHashSet<&Name> = FxHashSet::default();
    let mut leaked = Leaked::default();
    for (number, unit) in body.units.iter().enumerate() {
        scopes.starts.push(scopes.frees.len() as u32);
        for free in &unit.frees {
            let found = match bound.get(free.name.as_str()) {
                Some(&at) => {
                    bindings[at].1 = true;
                    Some(bindings[at].0)
                }
                None => leaked.find(&body.units[..number], &free.name),
            };
            scopes.frees.push(found);
        }
        for (i, free) in unit.frees.iter().enumerate() {
            let id = FreeId(i as u32);
            if scopes.get(number, id).is_none()
                && scopes.is_unknown(unit, number, id)
                && unknown.insert(&free.name)
            {
                scopes.unknown.push((number as u32, id));
            }
        }
        let params = unit.header().map_or(&[][..], |header| header.params.as_slice());
        for &binder in params.iter().rev().chain(&unit.binds) {
            let binding = Binding { unit: number as u32, binder };
            bindings.push((binding, false));
            let data = unit.binder(binder);
            let hidden = bound.insert(data.name.as_str(), bindings.len() - 1);
            if let Some(hidden) = hidden {
                scopes.equal_names |= data.kind != BinderKind::Graph && !data.name.is_empty();
                if unit.kind != UnitKind::Header {
                    scopes.shadows.push((binding, bindings[hidden].0));
                }
            }
        }
        for binder in unit.binders.iter().filter(|binder| binder.kind == BinderKind::Graph) {
            if let Some(number) = graph_number(&binder.name) {
                scopes.graphs.add(number);
            }
        }
        let outward = params.len() + usize::from(unit.binds.is_some());
        if unit.binders.len() > outward {
            let outward: FxHashSet<BinderId> = params.iter().chain(&unit.binds).copied().collect();
            let inner = unit.binders.iter().enumerate().filter(|(i, binder)| {
                binder.kind != BinderKind::Graph
                    && !binder.name.is_empty()
                    && !outward.contains(&BinderId(*i as u32))
            });
            inside.extend(inner.map(|(_, binder)| &binder.name));
            if unit.kind != UnitKind::Header {
                let unused = unused_inside(unit).into_iter();
                let number = number as u32;
                scopes.unused_inside.extend(unused.map(|binder| Binding { unit: number, binder }));
            }
        }
        if unit.traits.has(Traits::GLOBAL) {
            scopes.globals.extend(unit.globals().map(|(name, _)| name.clone()));
        }
        if !unit.traits.is_empty() {
            traits.push((number as u32, unit.traits));
        }
    }
    let unused = bindings.into_iter().filter(|(_, used)| !used).map(|(binding, _)| binding);
    scopes.unused = unused.collect();
    scopes.globals.sort_unstable();
    scopes.globals.dedup();
    let mut seen = FxHashSet::default();
    scopes.equal_names |=
        inside.iter().any(|name| bound.contains_key(name.as_str()) || !seen.insert(*name));
    Scopes { names: Arc::new(scopes), traits }
}

/// `%12` as a number. TVM compares numbers: `%01` is `%1`.
pub fn graph_number(name: &str) -> Option<u64> {
    name.strip_prefix('%')?.parse().ok()
}

/// The graph variables inside of units that were looked through.
///
/// A graph variable of an inner block that has ended stands for its expression, and TVM prints such
/// uses where two branches share one. Few bodies have one, so that nothing is collected before one
/// is met, and then each unit once.
#[derive(Default)]
struct Leaked<'u> {
    /// The last variable of each name.
    last: FxHashMap<&'u str, Binding>,
    units: usize,
}

impl<'u> Leaked<'u> {
    /// The last graph variable of that name bound inside of `before`, which only grows.
    fn find(&mut self, before: &'u [Arc<Unit>], name: &str) -> Option<Binding> {
        if !name.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
            return None;
        }
        for (number, unit) in before.iter().enumerate().skip(self.units) {
            for (binder, data) in unit.binders.iter().enumerate() {
                if data.kind == BinderKind::Graph {
                    let (unit, binder) = (number as u32, BinderId(binder as u32));
                    self.last.insert(&data.name, Binding { unit, binder });
                }
            }
        }
        self.units = before.len();
        self.last.get(name).copied()
    }
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
