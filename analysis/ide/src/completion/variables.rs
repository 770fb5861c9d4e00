//! Variables: which of those in sight is meant.

use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{View, body::BinderKind, scope::Binding};

use super::{Item, ItemKind, List, MAX_ITEMS, ahead::Ahead, brief, fit, fits::Fits, item};
use crate::{
    cursor::{CallSite, Cursor},
    locals::Local,
};

/// The variables that are used somewhere, by one look at the names of each unit: the table that the
/// definition keeps of all uses would be made anew after every letter.
#[derive(Default)]
pub(super) struct Uses {
    /// Whether there is a use in front of the cursor.
    by_binding: FxHashMap<Binding, bool>,
}

impl Uses {
    pub(super) fn of(list: &List<'_, '_>, cursor: &Cursor<'_>) -> Uses {
        let mut uses = Uses::default();
        let Some(view) = list.view else { return uses };
        let here = view.unit_at(list.offset).unwrap_or(0);
        let word = Some(cursor.word).filter(|word| !word.is_empty());
        let word = word.and_then(|word| list.root.token_at(word.start()));
        for number in 0..view.body.units.len() {
            for &binding in view.scopes.unit(number).iter().flatten() {
                // The name under the cursor is no use of what it names.
                let is_word = |name: &str| word.is_some_and(|word| word.text() == name);
                if number == here && is_word(&view.binder(binding).name) {
                    continue;
                }
                *uses.by_binding.entry(binding).or_default() |= number <= here;
            }
        }
        uses
    }
}

/// How far variables are from being meant, the least the best.
struct Order<'a> {
    view: &'a View<'a>,
    uses: &'a Uses,
    /// Arguments that the call has.
    passed: FxHashSet<&'a str>,
}

impl Order<'_> {
    /// Most values of a network are used once, soon behind their statement, and parameters in the
    /// order of the header: what nothing uses yet comes first, and a second argument that is the
    /// first one again comes last.
    fn of(&self, local: &Local<'_>, distance: usize) -> u32 {
        let Binding { unit, binder } = local.binding;
        let used = self.uses.by_binding.get(&local.binding).copied();
        let (is_used, is_used_before) = (used.is_some(), used == Some(true));
        let is_param = self.view.binder(local.binding).kind == BinderKind::Param;
        let place = match is_param && unit == 0 {
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
    /// The variables in sight that fit what is typed.
    pub(super) fn variables(
        &mut self,
        known: &[Local<'_>],
        uses: &Uses,
        call: Option<&CallSite<'_>>,
        ahead: Option<&Ahead<'_>>,
    ) {
        let Some(view) = self.view else { return };
        let wanted = call.map_or(Fits::Unknown, |call| self.wanted_by(call, ahead, known));
        let before = call.into_iter().flat_map(|call| &call.variables);
        let behind = ahead.into_iter().flat_map(|ahead| &ahead.arguments);
        let passed = before.chain(behind).flatten().map(|token| token.text()).collect();
        let order = Order { view, uses, passed };
        // Of very many, only what will be shown is spelled out.
        let mut found: Vec<((u8, u8, u32), usize)> = Vec::new();
        for (distance, local) in known.iter().enumerate() {
            if let Some(fit) = fit(&self.typed, local.name) {
                let class = if wanted.takes(local.ty) { 1 } else { 3 };
                let order = self.order(fit, local.name, order.of(local, distance));
                found.push(((fit, class, order), distance));
            }
        }
        if found.len() > MAX_ITEMS {
            found.select_nth_unstable(MAX_ITEMS);
            // One more than is shown, so that it is known that there are more.
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

    /// The variable that is most likely an argument of the next call.
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

/// How many of the nearest variables the next argument is looked for in.
const MAX_NEAREST: usize = 64;
