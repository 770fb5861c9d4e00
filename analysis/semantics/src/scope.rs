//! Resolution of names across the units of a body.

mod names;
mod update;

use std::{
    ops::Range,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    body::{
        BinderId, BinderKind, Body, Expr, FreeId, LocalRef, Name, Unit, UnitId, UnitKind, Units,
        name_bit,
    },
    features::UnitFeatures,
    list::{Builder, Part},
};
use names::{Names, Reach, Reference, UnitNames};
use update::binds_the_same;

/// The resolved names of each unit, and other facts that depend on the names of a body alone.
///
/// Most edits of a body change no name: then this is reused, including the memos in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    // What most changes of names change is compared first.
    /// The unbound names of each unit.
    pub unknown: Vec<(UnitId, FreeId)>,
    /// The unused variables of statements and the header.
    pub unused: Vec<LocalRef>,
    /// The variable of each free name, unit by unit.
    names: Names,
    /// The bindings that shadow another one, as pairs of the shadowing and the shadowed variable.
    pub shadows: Vec<(LocalRef, LocalRef)>,
    /// True if two variables in the body, other than graph variables, have the same name.
    pub equal_names: bool,
    /// The globals that the body uses, without duplicates.
    pub globals: Vec<Name>,
    /// The numbers of the graph variables.
    pub graphs: GraphNumbers,
    /// Lookup tables, built when a few searches over all units have been made.
    tables: LazyTables,
}

/// The order of the numbers of the graph variables of a body.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum GraphNumbers {
    /// There are none.
    #[default]
    None,
    /// They ascend, as TVM prints them; the first and the last number.
    Ascending(u64, u64),
    /// They are unordered, or contain duplicates.
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

/// Lookup tables that replace searches over all units.
#[derive(Default, Debug)]
struct Tables {
    /// The units that use each variable, in order, with its free name there.
    uses: FxHashMap<LocalRef, Vec<(UnitId, FreeId)>>,
    /// The units that use each global, in order.
    globals: FxHashMap<Name, Vec<UnitId>>,
    /// The names of all variables.
    names: FxHashSet<Name>,
}

/// The number of searches over all units after which tables replace them. An edit that is checked
/// makes a few, and building the tables costs a hundred times as much as one.
const MAX_SEARCHES: u32 = 16;

/// Tables that are built on demand, and ignored in comparisons because the other fields determine
/// them.
#[derive(Default, Debug)]
struct LazyTables {
    tables: OnceLock<Tables>,
    searches: AtomicU32,
}

impl PartialEq for LazyTables {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LazyTables {}

/// A body and its resolved names. Made by [`ResolvedBody::new`] alone, so that the two always belong together.
#[derive(Clone)]
pub(crate) struct ResolvedBody {
    body: Arc<Body>,
    scopes: Arc<Scopes>,
}

/// Equal bodies are one allocation, see [`crate::lower::LoweredBody`].
impl PartialEq for ResolvedBody {
    fn eq(&self, other: &ResolvedBody) -> bool {
        Arc::ptr_eq(&self.body, &other.body) && self.scopes == other.scopes
    }
}

impl Eq for ResolvedBody {}

impl ResolvedBody {
    /// Resolves the names of a body.
    ///
    /// `other` may be any body, and is most useful if it is the previous version of this one. The result
    /// is equal without it.
    pub(crate) fn new(body: Arc<Body>, other: Option<&ResolvedBody>) -> ResolvedBody {
        let known = other.and_then(|ResolvedBody { body: before, scopes: known }| {
            match have_same_names(before, &body) {
                true => Some(known.clone()),
                false => known.update(before, &body).map(Arc::new),
            }
        });
        let scopes = known.unwrap_or_else(|| Arc::new(resolve(&body)));
        ResolvedBody { body, scopes }
    }

    /// Returns the body.
    pub(crate) fn body(&self) -> &Arc<Body> {
        &self.body
    }

    /// Returns the names.
    pub(crate) fn scopes(&self) -> &Arc<Scopes> {
        &self.scopes
    }
}

impl Scopes {
    /// Returns the last unit that uses `binding`, with its free name there. `body` is the body of
    /// these names.
    pub fn last_use(&self, body: &Body, binding: LocalRef) -> Option<(UnitId, FreeId)> {
        self.uses(body, binding).next_back()
    }

    /// Returns the units of `body` that use a global, in order.
    pub fn units_naming(&self, body: &Body, name: &str) -> impl Iterator<Item = UnitId> {
        let units: Vec<UnitId> = match self.tables(body) {
            Some(tables) => tables.globals.get(name).cloned().unwrap_or_default(),
            None => body
                .units()
                .filter(|(_, unit)| unit.features.contains(UnitFeatures::GLOBAL))
                .filter(|(_, unit)| unit.globals().any(|(global, _)| global == name))
                .map(|(number, _)| number)
                .collect(),
        };
        units.into_iter()
    }

    /// Returns true if a variable of this name is bound anywhere in `body`.
    pub fn binds_name(&self, body: &Body, name: &str) -> bool {
        match self.tables(body) {
            Some(tables) => tables.names.contains(name),
            None => {
                let mut similar = body.units_with_names(name_bit(name), 0..body.units.len());
                similar.any(|(_, unit)| unit.binders.iter().any(|binder| binder.name == name))
            }
        }
    }

    /// Returns the tables, or nothing if a search over all units is cheaper so far.
    fn tables(&self, body: &Body) -> Option<&Tables> {
        let LazyTables { tables, searches } = &self.tables;
        if tables.get().is_none() && searches.fetch_add(1, Ordering::Relaxed) < MAX_SEARCHES {
            return None;
        }
        Some(tables.get_or_init(|| {
            let mut tables = Tables::default();
            for (number, unit) in body.units() {
                tables.names.extend(unit.binders.iter().map(|binder| binder.name.clone()));
                for (free, binding) in self.unit(number).enumerate() {
                    if let Some(binding) = binding {
                        let uses = tables.uses.entry(binding).or_default();
                        uses.push((number, FreeId(free as u32)));
                    }
                }
                if unit.features.contains(UnitFeatures::GLOBAL) {
                    for (name, _) in unit.globals() {
                        let units = tables.globals.entry(name.clone()).or_default();
                        if units.last() != Some(&number) {
                            units.push(number);
                        }
                    }
                }
            }
            tables
        }))
    }

    /// Returns the variable that `free` of `unit` refers to.
    pub fn get(&self, unit: UnitId, free: FreeId) -> Option<LocalRef> {
        self.names.get(unit.index())?.0.get(free.index())?.binding(unit)
    }

    /// Returns the variables that the free names of `unit` refer to.
    pub fn unit(&self, unit: UnitId) -> impl ExactSizeIterator<Item = Option<LocalRef>> + Clone {
        let names = self.names.get(unit.index()).map_or(&[][..], |names| &names.0);
        names.iter().map(move |name| name.binding(unit))
    }

    /// Returns the variables that the free names of some units refer to, by unit.
    pub(crate) fn units(
        &self,
        units: Range<usize>,
    ) -> impl Iterator<Item = impl ExactSizeIterator<Item = Option<LocalRef>>> {
        let names = self.names.range(units.clone());
        units.zip(names).map(|(unit, names)| names.of(UnitId(unit as u32)))
    }

    /// Returns the names of some units, by chunk.
    pub(crate) fn parts(
        &self,
        units: Range<usize>,
    ) -> impl Iterator<Item = Part<'_, UnitNames, Reach>> {
        self.names.parts(units)
    }

    /// Returns the first of some units with a name that refers to another variable than in a unit of
    /// `before`; or the end of `units`. `first` is the unit there that corresponds to the first one.
    ///
    /// `is_same` compares two variables. It is not called where it is known to be true: for a chunk of both
    /// versions with variables of the header and of the units from `settled_from` on.
    pub(crate) fn first_difference(
        &self,
        units: Range<usize>,
        before: &Scopes,
        first: usize,
        settled_from: usize,
        is_same: impl Fn(LocalRef, LocalRef) -> bool,
    ) -> usize {
        let same = |pair: (Option<LocalRef>, Option<LocalRef>)| match pair {
            (Some(new), Some(old)) => is_same(new, old),
            (new, old) => new == old,
        };
        for Part { range, start, summary, .. } in self.names.parts(units.clone()) {
            let then = first + (range.start - units.start);
            if summary.first_binding(start) >= settled_from
                && self.names.shares(range.clone(), &before.names, then)
            {
                continue;
            }
            let pairs = self.units(range.clone()).zip(before.units(then..then + range.len()));
            for (unit, (new, old)) in range.zip(pairs) {
                if new.len() != old.len() || !new.zip(old).all(same) {
                    return unit;
                }
            }
        }
        units.end
    }

    /// Returns the units that use `binding`, in order, with its free name there. `body` is the body
    /// of these names.
    pub fn uses(
        &self,
        body: &Body,
        binding: LocalRef,
    ) -> impl DoubleEndedIterator<Item = (UnitId, FreeId)> {
        let uses: Vec<(UnitId, FreeId)> = match self.tables(body) {
            Some(tables) => tables.uses.get(&binding).cloned().unwrap_or_default(),
            None => self.search(binding).collect(),
        };
        uses.into_iter()
    }

    /// Searches for the uses of a variable. It is used after the unit that binds it.
    fn search(&self, binding: LocalRef) -> impl Iterator<Item = (UnitId, FreeId)> {
        let after = binding.unit.index() + 1..self.names.len();
        let may_use = move |part: &Part<'_, UnitNames, Reach>| {
            binding.unit == UnitId::HEADER
                || part.summary.first_binding(part.start) <= binding.unit.index()
        };
        let units = self.names.parts(after).filter(may_use).flat_map(|part| part.range);
        units.flat_map(move |unit| {
            let unit = UnitId(unit as u32);
            let uses = (0..).zip(self.unit(unit)).filter(move |(_, name)| *name == Some(binding));
            uses.map(move |(free, _)| (unit, FreeId(free)))
        })
    }

    /// Returns the free names of some units that refer to no variable, in order.
    fn unbound(&self, units: Range<usize>) -> impl Iterator<Item = (UnitId, FreeId)> {
        let parts = self.names.parts(units).filter(|part| part.summary.has_unbound);
        parts.flat_map(|part| part.range).flat_map(|unit| {
            let names = (0..).zip(&self.names[unit].0).filter(|(_, name)| !name.is_bound());
            names.map(move |(free, _)| (UnitId(unit as u32), FreeId(free)))
        })
    }

    /// Returns true if a free name is reported as unbound. The front of a longer name that is bound
    /// is not, and neither is a longer name, because its front is reported instead.
    fn is_unknown(&self, unit: &Unit, number: UnitId, free: FreeId) -> bool {
        let name = &unit.frees[free.index()];
        if name.whole || self.get(number, free).is_some() {
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

/// Returns the first use of each unbound name in some units.
fn unknown(body: &Body, scopes: &Scopes, units: Range<usize>) -> Vec<(UnitId, FreeId)> {
    let mut seen: FxHashSet<&Name> = FxHashSet::default();
    let mut found: Vec<(UnitId, FreeId)> = scopes.unbound(units).collect();
    found.retain(|&(number, free)| {
        let unit = body.unit(number);
        scopes.is_unknown(unit, number, free) && seen.insert(&unit.frees[free.index()].name)
    });
    found
}

/// Returns true if all units of two bodies have the same names.
fn have_same_names(before: &Body, body: &Body) -> bool {
    let (before, after) = (&before.units, &body.units);
    let (prefix, suffix) = before.common_ends(after);
    let changed = prefix..after.len() - suffix;
    before.len() == after.len()
        && before.range(changed.clone()).zip(after.range(changed)).all(|(a, b)| same_names(a, b))
}

/// Returns true if two units have the same free names and bind the same names.
fn same_names(before: &Unit, unit: &Unit) -> bool {
    let is_dotted = |unit: &Unit| unit.frees.iter().any(|free| free.dotted || free.whole);
    before.kind == unit.kind
        && before.frees.len() == unit.frees.len()
        && before.frees.iter().zip(&unit.frees).all(|(before, free)| before.name == free.name)
        && binds_the_same(before, unit)
        && before.exported().eq(unit.exported())
        && !is_dotted(before)
        && !is_dotted(unit)
        && before.globals().map(|(name, _)| name).eq(unit.globals().map(|(name, _)| name))
}

/// Resolves the free names of each unit to the variables of the units before it.
pub fn resolve(body: &Body) -> Scopes {
    let mut scopes = Scopes::default();
    let mut names = Builder::with_capacity(body.units.len());
    // The current variable of each name, the used flags, and the parameters.
    let mut bound: FxHashMap<&str, usize> = FxHashMap::default();
    // Nearly every unit binds a variable.
    bound.reserve(body.units.len());
    let mut bindings: Vec<(LocalRef, bool)> = Vec::with_capacity(body.units.len());
    // The names that are bound inside of units.
    let mut inside: Vec<&Name> = Vec::new();
    let mut leaked = LeakedVariables::default();
    for (number, unit) in body.units() {
        let mut of_unit = UnitNames::default();
        for free in &unit.frees {
            let found = match bound.get(free.name.as_str()) {
                Some(&at) => {
                    bindings[at].1 = true;
                    Some(bindings[at].0)
                }
                None => leaked.find(&body.units, number.index(), &free.name),
            };
            of_unit.0.push(Reference::new(number, free, found));
        }
        names.push(of_unit);
        for binder in unit.exported().rev() {
            let binding = LocalRef { unit: number, binder };
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
        if unit.binders.len() > unit.exported().count() {
            let exported: FxHashSet<BinderId> = unit.exported().collect();
            let inner = unit.binders.iter().enumerate().filter(|(i, binder)| {
                binder.kind != BinderKind::Graph
                    && !binder.name.is_empty()
                    && !exported.contains(&BinderId(*i as u32))
            });
            inside.extend(inner.map(|(_, binder)| &binder.name));
        }
        if unit.features.contains(UnitFeatures::GLOBAL) {
            scopes.globals.extend(unit.globals().map(|(name, _)| name.clone()));
        }
    }
    scopes.names = names.finish();
    scopes.unknown = unknown(body, &scopes, 0..body.units.len());
    let unused = bindings.into_iter().filter(|(_, used)| !used).map(|(binding, _)| binding);
    scopes.unused = unused.collect();
    scopes.globals.sort_unstable();
    scopes.globals.dedup();
    let mut seen = FxHashSet::default();
    scopes.equal_names |=
        inside.iter().any(|name| bound.contains_key(name.as_str()) || !seen.insert(*name));
    scopes
}

/// Returns the number of `%12`. TVM compares numbers: `%01` is `%1`.
pub fn graph_number(name: &str) -> Option<u64> {
    name.strip_prefix('%')?.parse().ok()
}

/// The graph variables that are bound inside of units.
///
/// A graph variable of an inner block may be used after the block: TVM prints such uses if two
/// branches share an expression. Few bodies have them, so that they are collected on the first such
/// use, and each unit once.
#[derive(Default)]
struct LeakedVariables<'u> {
    /// The last variable with each name.
    last: FxHashMap<&'u str, LocalRef>,
    units: usize,
}

impl<'u> LeakedVariables<'u> {
    /// Returns the last graph variable called `name` that is bound inside of the units before one.
    /// Each call passes a unit that is not before that of the previous one.
    fn find(&mut self, units: &'u Units, before: usize, name: &str) -> Option<LocalRef> {
        if !name.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
            return None;
        }
        for (number, unit) in (self.units..before).zip(units.range(self.units..before)) {
            for (binder, data) in unit.binders.iter().enumerate() {
                if data.kind == BinderKind::Graph {
                    let (unit, binder) = (UnitId(number as u32), BinderId(binder as u32));
                    self.last.insert(&data.name, LocalRef { unit, binder });
                }
            }
        }
        self.units = before;
        self.last.get(name).copied()
    }
}

/// Returns true for names that begin with `_`, which mark a binding as intentionally unused.
pub fn is_marked_unused(name: &Name) -> bool {
    name.as_bytes().get(1) == Some(&b'_')
}
