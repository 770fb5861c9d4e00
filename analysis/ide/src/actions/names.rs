//! Fresh names, and the uses of variables.

use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{
    Db, Module, View,
    body::{BinderKind, LocalRef},
};
use syntax::TextRange;

use crate::{
    lookups::{bindings, exprs_of, names_in},
    references::local_uses,
};

/// A source of names that are not used in a definition.
pub(super) struct Names {
    used: FxHashSet<String>,
    next: u64,
}

impl Names {
    pub(super) fn of(view: &View<'_>) -> Names {
        let names = view.body.units.iter().flat_map(|unit| names_in(unit));
        let used = names.map(|name| name.to_string()).collect();
        // TVM numbers graph variables per module: a second `%0` refers to the first.
        let next =
            graph_numbers(view.db, view.module).max().map_or(0, |most| most.saturating_add(1));
        Names { used, next }
    }

    /// Returns a fresh variable `%base`, or `%base_1` and so on if that is used.
    pub(super) fn local(&mut self, base: &str) -> String {
        let base = format!("%{}", base.trim_start_matches('%'));
        fresh(&base, |name| self.used.insert(name.to_owned()))
    }

    /// Returns a fresh graph variable.
    pub(super) fn graph(&mut self) -> String {
        let name = format!("%{}", self.next);
        self.next = self.next.saturating_add(1);
        self.used.insert(name.clone());
        name
    }
}

/// Returns `base`, or `base_1` and so on: the first of them that is free.
pub(super) fn fresh(base: &str, mut is_free: impl FnMut(&str) -> bool) -> String {
    let numbered = (1..).map(|number| format!("{base}_{number}"));
    let mut names = std::iter::once(base.to_owned()).chain(numbered);
    names.find(|name| is_free(name)).unwrap_or_default()
}

/// Returns the numbers of the graph variables of a module.
pub(crate) fn graph_numbers<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
) -> impl Iterator<Item = u64> + 'db {
    let defs = module.items(db).iter().copied();
    defs.filter(|def| def.kind(db).has_body()).flat_map(move |def| {
        let body = semantics::body(db, def);
        let names = body.units.iter().flat_map(|unit| names_in(unit));
        names.filter_map(|name| name.get(1..)?.parse::<u64>().ok()).collect::<Vec<_>>()
    })
}

/// Returns the variables of a definition that some kinds of binders bind.
pub(super) fn bound(view: &View<'_>, kinds: &[BinderKind]) -> Vec<LocalRef> {
    let of_kinds = bindings(view).filter(|(_, binder)| kinds.contains(&binder.kind));
    of_kinds.map(|(binding, _)| binding).collect()
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
    for (binding, range) in used_in(view, view.def.range(view.db)) {
        uses.entry(binding).or_default().push(range);
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
        view.db.unwind_if_revision_cancelled();
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
