//! Fresh names, and the uses of variables.

use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{
    Db, Module, View,
    body::{BinderKind, LocalRef},
};
use syntax::TextRange;

use crate::{
    lookups::{bindings, exprs_of},
    references::local_uses,
};

/// A source of names that are not used in a definition.
pub(super) struct Names {
    used: FxHashSet<String>,
    next: u64,
}

impl Names {
    pub(super) fn of(view: &View<'_>) -> Names {
        let mut used = FxHashSet::default();
        for unit in &view.body.units {
            let binders = unit.binders.iter().map(|binder| &binder.name);
            for name in binders.chain(unit.frees.iter().map(|free| &free.name)) {
                used.insert(name.to_string());
            }
        }
        // TVM numbers graph variables per module: a second `%0` refers to the first.
        let next =
            graph_numbers(view.db, view.module).max().map_or(0, |most| most.saturating_add(1));
        Names { used, next }
    }

    /// Returns a fresh variable `%base`, or `%base_1` and so on if that is used.
    pub(super) fn local(&mut self, base: &str) -> String {
        let base = base.trim_start_matches('%');
        let mut name = format!("%{base}");
        let mut number = 1;
        while !self.used.insert(name.clone()) {
            name = format!("%{base}_{number}");
            number += 1;
        }
        name
    }

    /// Returns a fresh graph variable.
    pub(super) fn graph(&mut self) -> String {
        let name = format!("%{}", self.next);
        self.next = self.next.saturating_add(1);
        self.used.insert(name.clone());
        name
    }
}

/// Returns the numbers of the graph variables of a module.
pub(crate) fn graph_numbers<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
) -> impl Iterator<Item = u64> + 'db {
    let defs = module.items(db).iter().copied();
    defs.filter(|def| def.kind(db).has_body()).flat_map(move |def| {
        let body = semantics::body(db, def);
        let mut numbers = Vec::new();
        for unit in &body.units {
            let binders = unit.binders.iter().map(|binder| &binder.name);
            for name in binders.chain(unit.frees.iter().map(|free| &free.name)) {
                numbers.extend(name.get(1..).and_then(|name| name.parse::<u64>().ok()));
            }
        }
        numbers
    })
}

/// Returns the variables of a definition that a kind of binder binds.
pub(super) fn bound(view: &View<'_>, kind: BinderKind) -> Vec<LocalRef> {
    let of_kind = bindings(view).filter(|(_, binder)| binder.kind == kind);
    of_kind.map(|(binding, _)| binding).collect()
}

/// Returns the ranges in the file of the uses of a variable, in order.
pub(super) fn uses(view: &View<'_>, binding: LocalRef) -> Vec<TextRange> {
    let mut found = Vec::new();
    local_uses(view, binding, &mut |range| found.push(range));
    found.sort_by_key(|range| range.start());
    found.dedup();
    found
}

/// Returns the ranges in the file of the uses of each variable, in order.
pub(super) fn all_uses(view: &View<'_>) -> FxHashMap<LocalRef, Vec<TextRange>> {
    let mut uses: FxHashMap<LocalRef, Vec<TextRange>> = FxHashMap::default();
    for (number, unit) in view.body.units() {
        view.db.unwind_if_revision_cancelled();
        for expr_ref in exprs_of(number, unit) {
            if let Some(binding) = view.variable(expr_ref) {
                uses.entry(binding).or_default().push(view.range(expr_ref));
            }
        }
    }
    for places in uses.values_mut() {
        places.sort_by_key(|range| (range.start(), range.end()));
        places.dedup();
    }
    uses
}

/// Returns the variables that are used in a range of the file, with the ranges of the uses.
pub(super) fn used_in(view: &View<'_>, range: TextRange) -> Vec<(LocalRef, TextRange)> {
    let mut found = Vec::new();
    let first = view.unit_at(range.start()).unwrap_or_default();
    for (number, unit) in view.body.units_from(first) {
        if view.unit_range(number).start() >= range.end() {
            break;
        }
        for expr_ref in exprs_of(number, unit) {
            if let Some(binding) = view.variable(expr_ref)
                && range.contains_range(view.range(expr_ref))
            {
                found.push((binding, view.range(expr_ref)));
            }
        }
    }
    found.sort_by_key(|(_, range)| (range.start(), range.end()));
    found.dedup();
    found
}
