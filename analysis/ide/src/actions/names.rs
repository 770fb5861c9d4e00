//! Names that are free, and where names are used.

use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{
    Db, DefKind, Module, Spot, View,
    body::{BinderId, BinderKind, ExprId},
    scope::Binding,
};
use syntax::TextRange;

use crate::references::local_uses;

/// The names of a definition, and those that are given out.
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
        // TVM has one set of numbers for a whole module: the second `%0` of it is the first.
        let next =
            graph_numbers(view.db, view.module).max().map_or(0, |most| most.saturating_add(1));
        Names { used, next }
    }

    /// A variable called `base`, or that with a number.
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

    /// A graph variable.
    pub(super) fn graph(&mut self) -> String {
        let name = format!("%{}", self.next);
        self.next = self.next.saturating_add(1);
        self.used.insert(name.clone());
        name
    }
}

/// The numbers of the graph variables of a module.
pub(crate) fn graph_numbers<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
) -> impl Iterator<Item = u64> + 'db {
    let defs = module.items(db).iter().copied();
    let computing = defs.filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Expr));
    computing.flat_map(move |def| {
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

/// Every variable of a definition that is bound in one of these ways.
pub(super) fn bound(view: &View<'_>, kind: BinderKind) -> Vec<Binding> {
    let mut found = Vec::new();
    for (number, unit) in view.body.units.iter().enumerate() {
        for (i, binder) in unit.binders.iter().enumerate() {
            if binder.kind == kind {
                found.push(Binding { unit: number as u32, binder: BinderId(i as u32) });
            }
        }
    }
    found
}

/// Where a variable is used, in the file.
pub(super) fn uses(view: &View<'_>, binding: Binding) -> Vec<TextRange> {
    let mut found = Vec::new();
    local_uses(view, binding, &mut |range| found.push(range));
    found.sort_by_key(|range| range.start());
    found.dedup();
    found
}

/// Where each variable of a definition is used, in the file, in order.
pub(super) fn all_uses(view: &View<'_>) -> FxHashMap<Binding, Vec<TextRange>> {
    let mut uses: FxHashMap<Binding, Vec<TextRange>> = FxHashMap::default();
    for (number, unit) in view.body.units.iter().enumerate() {
        view.db.unwind_if_revision_cancelled();
        for i in 0..unit.exprs.len() {
            let spot = Spot { unit: number, expr: ExprId(i as u32) };
            if let Some(binding) = view.variable(spot) {
                uses.entry(binding).or_default().push(view.range(spot));
            }
        }
    }
    for places in uses.values_mut() {
        places.sort_by_key(|range| (range.start(), range.end()));
        places.dedup();
    }
    uses
}

/// The variables that are used in a range of the file, with the places.
pub(super) fn used_in(view: &View<'_>, range: TextRange) -> Vec<(Binding, TextRange)> {
    let mut found = Vec::new();
    let start = view.def.start(view.db);
    let first = view.unit_at(range.start()).unwrap_or(0);
    for (number, unit) in view.body.units.iter().enumerate().skip(first) {
        if view.body.starts[number] + start >= range.end() {
            break;
        }
        for i in 0..unit.exprs.len() {
            let spot = Spot { unit: number, expr: ExprId(i as u32) };
            if let Some(binding) = view.variable(spot)
                && range.contains_range(view.range(spot))
            {
                found.push((binding, view.range(spot)));
            }
        }
    }
    found.sort_by_key(|(_, range)| (range.start(), range.end()));
    found.dedup();
    found
}
