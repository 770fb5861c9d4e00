//! Completion of variables, ranked by how likely they are used next.

use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{
    View,
    body::{BinderKind, LocalRef, UnitId},
};

use super::{Item, ItemKind, List, MAX_ITEMS, brief, fit, item};
use crate::{
    cursor::{CallSite, Cursor},
    locals::Local,
};

/// The variables that are used somewhere. They are collected from the scopes of each unit, because
/// the definition's table of uses would be recomputed after every keystroke.
#[derive(Default)]
pub(super) struct Uses {
    /// The used variables; true if one of the uses precedes the cursor.
    by_binding: FxHashMap<LocalRef, bool>,
}

impl Uses {
    pub(super) fn of(list: &List<'_, '_>, cursor: &Cursor<'_>) -> Uses {
        let mut uses = Uses::default();
        let Some(view) = list.view else { return uses };
        let here = view.unit_at(list.offset).unwrap_or_default();
        for (number, _) in view.body.units() {
            for binding in view.scopes.unit(number).flatten() {
                // The word at the cursor does not count as a use.
                if number == here && *view.binder(binding).name == *cursor.text {
                    continue;
                }
                *uses.by_binding.entry(binding).or_default() |= number <= here;
            }
        }
        uses
    }
}

/// The order of variables in the list.
struct Order<'a, 'db> {
    view: &'a View<'db>,
    uses: &'a Uses,
    /// The variables that are already arguments of the call.
    passed: FxHashSet<&'a str>,
}

impl Order<'_, '_> {
    /// Returns the order of a variable; lower is better.
    ///
    /// Most values of a network are used once, soon after their statement, and parameters in the
    /// order of the header. So unused variables come first, and variables that are already arguments
    /// of the call come last.
    fn of(&self, local: &Local<'_>, distance: usize) -> u32 {
        let LocalRef { unit, binder } = local.binding;
        let used = self.uses.by_binding.get(&local.binding).copied();
        let (is_used, is_used_before) = (used.is_some(), used == Some(true));
        let is_param = self.view.binder(local.binding).kind == BinderKind::Param;
        let place = match is_param && unit == UnitId::HEADER {
            true => binder.index() as u32,
            false => distance as u32,
        };
        u32::from(self.passed.contains(local.name)) << 31
            | u32::from(is_used) << 30
            | u32::from(is_used_before) << 29
            | u32::from(is_param) << 28
            | place.min((1 << 28) - 1)
    }
}

impl List<'_, '_> {
    /// Adds the variables in scope that match the typed prefix.
    pub(super) fn variables(
        &mut self,
        known: &[Local<'_>],
        uses: &Uses,
        call: Option<&CallSite<'_>>,
    ) {
        let Some(view) = self.view else { return };
        let constraint = call.and_then(|call| self.constraint_of(call, known));
        let around = call.into_iter().flat_map(|call| [Some(&call.before), call.after.as_ref()]);
        let passed = around.flatten().flat_map(|arguments| &arguments.variables);
        let passed = passed.flatten().copied().collect();
        let order = Order { view, uses, passed };
        // Details are rendered only for the entries that are returned.
        let mut found: Vec<((u8, u8, u32), usize)> = Vec::new();
        for (distance, local) in known.iter().enumerate() {
            if let Some(fit) = fit(&self.typed, local.name) {
                let is_accepted = constraint.as_ref().is_some_and(|it| it.accepts(local.ty));
                let class = if is_accepted { 1 } else { 3 };
                let order = self.order(fit, local.name, order.of(local, distance));
                found.push(((fit, class, order), distance));
            }
        }
        if found.len() > MAX_ITEMS {
            found.select_nth_unstable(MAX_ITEMS);
            // One more than is returned, so that the list is marked as incomplete.
            found.truncate(MAX_ITEMS + 1);
        }
        for (rank, at) in found {
            let local = &known[at];
            let detail = Some(crate::hover::type_text(local.ty));
            let summary = Some(brief(local.ty));
            let entry = item(local.name, ItemKind::Variable);
            self.items.push(Item { detail, summary, rank, ..entry });
        }
    }

    /// Returns the variable that is most likely an argument of the next call.
    pub(super) fn likely_argument<'k>(
        &self,
        known: &'k [Local<'k>],
        uses: &Uses,
    ) -> Option<&'k Local<'k>> {
        let order = Order { view: self.view?, uses, passed: FxHashSet::default() };
        let nearest = known.iter().enumerate().take(MAX_NEAREST);
        nearest.min_by_key(|(distance, local)| order.of(local, *distance)).map(|(_, local)| local)
    }
}

/// The number of nearest variables that [`List::likely_argument`] considers.
const MAX_NEAREST: usize = 64;
