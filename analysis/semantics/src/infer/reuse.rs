//! Reuse of the types of another inference for units with the same inputs.

use std::{ops::Range, sync::Arc};

use types::Type;

use super::{
    Env, Infer, Inference, Memo, ModuleData, UnitTypes, bits::Bits, freeze::tail_of,
    learned::settled, printed, repeated::computes_the_same, results::Assumptions,
};
use crate::{
    body::*,
    features::UnitFeatures,
    list::{self, List},
    lower::is_shareable,
    scope::{ResolvedBody, Scopes},
};

/// The types of a body whose parameters are all annotated, with everything that they follow from: the
/// body and its names, the module, the rules ([`Inference::strict`]), and the types of globals, which are
/// among the inputs of the units. Made by [`TypedBody::new`] alone, so that these always belong together.
#[derive(Clone)]
pub(crate) struct TypedBody {
    named: ResolvedBody,
    module: ModuleData,
    inference: Arc<Inference>,
}

impl TypedBody {
    /// Infers a body unit by unit.
    ///
    /// `other` may be of any body, and is most useful if it is the previous version of this one: units
    /// with equal inputs keep its types. The result is equal without it.
    pub(crate) fn new(named: ResolvedBody, env: &dyn Env, other: Option<&TypedBody>) -> TypedBody {
        let module = env.module();
        let is_usable =
            |other: &&TypedBody| other.inference.strict == env.strict() && other.module == *module;
        let memo = other.filter(is_usable).map(|other| Memo {
            body: other.named.body(),
            scopes: other.named.scopes(),
            inference: &other.inference,
        });
        let inference = Arc::new(infer_ordered(named.body(), named.scopes(), env, memo.as_ref()));
        TypedBody { named, module: module.clone(), inference }
    }

    /// Returns the types.
    pub(crate) fn inference(&self) -> &Arc<Inference> {
        &self.inference
    }
}

fn infer_ordered(
    body: &Body,
    scopes: &Scopes,
    env: &dyn Env,
    memo: Option<&Memo<'_>>,
) -> Inference {
    let bodies = [(body, scopes)];
    let mut infer = Infer::new(&bodies, env);
    infer.ordered(memo);
    if infer.has_learned() {
        infer = settled(&bodies, env, |infer| infer.ordered(None));
    }
    if infer.entangled {
        infer = printed::in_one_table(&bodies, env);
    }
    infer.finish(memo).pop().unwrap_or_default()
}

/// A comparison of the inputs of a unit with those of an earlier inference that compares no types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inputs {
    /// They are the same as before.
    Same,
    /// One of them has another type.
    Different,
    /// They have to be compared.
    Unknown,
}

/// The unchanged units of a body: a common prefix and suffix with the previous version.
pub(super) struct UnitReuse<'m> {
    memo: &'m Memo<'m>,
    scopes: &'m Scopes,
    prefix: usize,
    suffix: usize,
    count: usize,
    /// The units whose variables have other types than those of the unit that they correspond to in the previous
    /// version, or that correspond to none.
    changed: Bits,
    /// The variables of the header, and those of the units from this one on, have the types of before as far
    /// as they are known.
    settled_from: usize,
    /// True if all names refer to the same variables.
    same_names: bool,
    /// True if any unit so far has other types than the one that it corresponds to.
    has_changes: bool,
    /// Units that use globals, in descending order.
    globals: Vec<usize>,
    /// The number of searches for units that compute the same.
    searches: usize,
}

/// The number of expressions from which a unit is worth a search for one with the same types.
const MIN_SHARED: usize = 16;
/// The maximum number of such searches: an edit changes few units, and after one that changes all of
/// them nothing is left to share with.
const MAX_SEARCHES: usize = 8;
/// The maximum number of units between a unit and one with the same types that is searched for: what repeats itself is
/// the layer or the step before.
const MAX_DISTANCE: usize = 128;

impl<'m> UnitReuse<'m> {
    pub(super) fn new(memo: &'m Memo<'m>, body: &Body, scopes: &'m Scopes) -> UnitReuse<'m> {
        let (new, old) = (&body.units, &memo.body.units);
        let (prefix, suffix) = new.common_ends(old);
        let mut globals: Vec<usize> =
            body.units_with(UnitFeatures::GLOBAL).map(UnitId::index).collect();
        globals.reverse();
        let count = new.len();
        let settled_from = if prefix > 0 { count - suffix } else { count };
        let same_names = std::ptr::eq(memo.scopes, scopes);
        UnitReuse {
            memo,
            scopes,
            prefix,
            suffix,
            count,
            changed: Bits::default(),
            settled_from,
            same_names,
            has_changes: false,
            globals,
            searches: 0,
        }
    }

    /// Returns the unit of the previous version that corresponds to `unit`.
    fn previous(&self, unit: usize) -> Option<usize> {
        let old = self.memo.body.units.len();
        if self.count == old || unit < self.prefix {
            Some(unit)
        } else if self.count - unit <= self.suffix {
            old.checked_sub(self.count - unit)
        } else {
            None
        }
    }

    /// Returns the earlier types, and the range of those that the units from `unit` on keep because they have the same
    /// inputs, without looking at types.
    pub(super) fn unchanged_from(
        &mut self,
        unit: usize,
    ) -> (&'m List<Arc<UnitTypes>>, Range<usize>) {
        // A tail expression from error recovery takes the result from the header.
        let has_header = self.prefix > 0;
        let plain = if has_header { self.plain_from(unit) } else { 0..0 };
        let before = plain.start;
        let mut end = unit + plain.len();
        if self.has_changes || unit >= self.prefix && !self.same_names {
            let is_same = |new: LocalRef, old: LocalRef| {
                new.binder == old.binder
                    && !self.changed.get(new.unit.index())
                    && self.previous(new.unit.index()) == Some(old.unit.index())
            };
            let old = self.memo.scopes;
            let settled_from = self.settled_from;
            end = self.scopes.first_difference(unit..end, old, before, settled_from, is_same);
        }
        (&self.memo.inference.units, before..before + (end - unit))
    }

    /// Returns the numbers in the previous version of the units from `unit` on, up to one that depends on more than
    /// variables, or whose types are not plain.
    fn plain_from(&mut self, unit: usize) -> Range<usize> {
        let in_prefix = unit < self.prefix;
        let in_suffix = self.count - unit <= self.suffix;
        let Some(before) = self.previous(unit).filter(|_| in_prefix || in_suffix) else {
            return 0..0;
        };
        self.skip_globals(unit);
        let globals = self.globals.last().map_or(self.count, |global| *global);
        let end = if in_prefix { self.prefix } else { self.count };
        // The last unit may be the tail expression, which takes the result from the header.
        let end = globals.min(end).min(self.count - 1);
        let inference = self.memo.inference;
        let last = inference.units.len().saturating_sub(1);
        let units_with_findings = &inference.units_with_findings;
        let next = units_with_findings.partition_point(|&old| (old as usize) < before);
        let plain = units_with_findings.get(next).map_or(usize::MAX, |&old| old as usize);
        before..(before + end.saturating_sub(unit)).min(last).min(plain).max(before)
    }

    /// Returns the previous types of the units from `unit` on that are plain, in order.
    pub(super) fn plain_types(&mut self, unit: usize) -> list::Iter<'m, Arc<UnitTypes>> {
        let plain = self.plain_from(unit);
        self.memo.inference.units.range(plain)
    }

    fn skip_globals(&mut self, unit: usize) {
        while self.globals.pop_if(|global| *global < unit).is_some() {}
    }

    /// Compares the inputs of `unit` with those before. Called in ascending order of units that
    /// [`UnitReuse::get`] knows.
    pub(super) fn compare(&mut self, unit: usize, body: &Body) -> Inputs {
        self.skip_globals(unit);
        // A tail expression from error recovery depends on the written result, too.
        let is_tail = body.units[unit].kind == UnitKind::Tail;
        if self.globals.last() == Some(&unit) || is_tail {
            return Inputs::Unknown;
        }
        let Some(before) = self.previous(unit) else { return Inputs::Unknown };
        let (new, old) =
            (self.scopes.unit(UnitId(unit as u32)), self.memo.scopes.unit(UnitId(before as u32)));
        if new.len() != old.len() {
            return Inputs::Unknown;
        }
        let mut inputs = Inputs::Same;
        for pair in new.zip(old) {
            match pair {
                (Some(new), Some(old)) => {
                    let (at, was) = (new.unit.index(), old.unit.index());
                    if new.binder != old.binder || self.previous(at) != Some(was) {
                        return Inputs::Unknown;
                    }
                    if self.changed.get(at) {
                        // Of several variables it may be another one.
                        let types = self.memo.inference.units.get(was);
                        if types.is_none_or(|types| types.binders.len() != 1) {
                            return Inputs::Unknown;
                        }
                        inputs = Inputs::Different;
                    }
                }
                (None, None) => {}
                _ => return Inputs::Unknown,
            }
        }
        inputs
    }

    /// Takes the types of a unit that was solved again from a unit that was not, where they are equal:
    /// all of them from one that computes the same and has the same types, or else each from the unit before.
    /// Without it, every statement that was ever edited would hold its own.
    pub(super) fn share(&mut self, unit: usize, body: &Body, types: &mut Arc<UnitTypes>) {
        let inference = self.memo.inference;
        if types.exprs.len() >= MIN_SHARED && self.searches < MAX_SEARCHES && !types.has_findings()
        {
            self.searches += 1;
            let is_same = |&(number, other): &(usize, &Arc<UnitTypes>)| {
                other.exprs.len() == types.exprs.len()
                    && computes_the_same(&self.memo.body.units[number], &body.units[unit])
                    && !other.has_findings()
                    && **other == **types
            };
            let all_types = types.exprs.iter().chain(&types.binders).chain(&types.inputs);
            let first = unit.saturating_sub(MAX_DISTANCE);
            let others = (first..).zip(inference.units.range(first..unit + MAX_DISTANCE));
            if all_types.into_iter().all(is_shareable)
                && let Some((_, other)) = { others }.find(is_same)
            {
                *types = other.clone();
                return;
            }
        }
        let before = self.previous(unit).and_then(|old| inference.units.get(old));
        if let (Some(before), Some(types)) = (before, Arc::get_mut(types)) {
            let share = |own: &mut [Type], other: &[Type]| {
                for (own, other) in own.iter_mut().zip(other) {
                    if own == other && is_shareable(own) {
                        own.clone_from(other);
                    }
                }
            };
            share(&mut types.exprs, &before.exprs);
            share(&mut types.binders, &before.binders);
            share(&mut types.inputs, &before.inputs);
        }
    }

    /// Records which of the units from `first` on have changed their types.
    pub(super) fn note_changes(&mut self, first: usize, done: &[Option<Arc<UnitTypes>>]) {
        for (unit, types) in (first..).zip(done) {
            let before = self.previous(unit).and_then(|old| self.memo.inference.units.get(old));
            let pair = before.zip(types.as_ref());
            let is_changed = pair.is_none_or(|(before, types)| has_changed(before, types));
            self.note(unit, is_changed);
            // The uses of a variable of no previous unit refer to no previous variable.
            self.has_changes |= is_changed && before.is_some();
        }
    }

    /// Records whether a unit, but not the header, has changed the types that it had.
    pub(super) fn note_followed(&mut self, unit: usize, is_changed: bool) {
        self.note(unit, is_changed);
        self.has_changes |= is_changed;
    }

    fn note(&mut self, unit: usize, is_changed: bool) {
        if is_changed {
            self.changed.set(unit);
            let next = if unit == UnitId::HEADER.index() { self.count } else { unit + 1 };
            self.settled_from = self.settled_from.max(next);
        }
    }

    /// Returns the previous types of a unit, if they can be reused without those around it.
    pub(super) fn get(&self, unit: usize) -> Option<&'m Arc<UnitTypes>> {
        let in_common = unit < self.prefix || self.count - unit <= self.suffix;
        let index = self.previous(unit).filter(|_| in_common)?;
        let inference = self.memo.inference;
        // The last unit decides which types are generalised.
        let is_end = |unit: usize, count: usize| unit + 1 == count;
        if is_end(unit, self.count) != is_end(index, inference.units.len()) {
            return None;
        }
        // Units of a larger batch cannot be reused one by one. Nor can a last unit with a
        // generalised type: the type of the definition is built from the table, which has more
        // information than the frozen types.
        let is_generalised =
            |types: &UnitTypes| is_end(unit, self.count) && (types.generalised || types.open);
        let types = match inference.assumptions.unfiltered(index) {
            Some(types) => types,
            None => inference.units.get(index)?,
        };
        (types.alone && !is_generalised(types)).then_some(types)
    }
}

/// The types that units have after an edit instead of those that they had before it, for the units after them.
///
/// Units share their types only if they compute the same. One that had the same types as another before the edit, and has
/// the same inputs after it, therefore has the same types after it. In a network of many equal statements this takes a
/// tenth of the search by content, and an edit that changes the type of a variable changes those of many statements.
#[derive(Default)]
pub(super) struct Replacements<'m>([Option<Replacement<'m>>; 16]);

/// The types of a unit before and after an edit, and its inputs after it.
struct Replacement<'m> {
    before: &'m Arc<UnitTypes>,
    after: Arc<UnitTypes>,
    inputs: Box<[Type]>,
    is_changed: bool,
}

impl<'m> Replacements<'m> {
    /// The place of what replaces `before`: types are at different addresses.
    fn place(before: &Arc<UnitTypes>) -> usize {
        let size = size_of::<UnitTypes>().next_power_of_two();
        Arc::as_ptr(before).addr() / size % 16
    }

    /// Remembers the types of a unit whose types follow from its content and `inputs` alone; see
    /// [`has_key`](super::repeated::has_key).
    pub(super) fn insert(
        &mut self,
        before: &'m Arc<UnitTypes>,
        after: &Arc<UnitTypes>,
        inputs: &[Type],
    ) {
        let is_changed = has_changed(before, after);
        let (after, inputs) = (after.clone(), inputs.into());
        let replacement = Replacement { before, after, inputs, is_changed };
        self.0[Self::place(before)] = Some(replacement);
    }

    /// Returns the types of a unit that had the types `before`, and true if its variables have other types than before.
    pub(super) fn get<'t>(
        &self,
        before: &Arc<UnitTypes>,
        inputs: impl ExactSizeIterator<Item = Option<&'t Type>>,
    ) -> Option<(&Arc<UnitTypes>, bool)> {
        let known = self.0[Self::place(before)].as_ref()?;
        let is_same = |(input, known): (Option<&Type>, &Type)| {
            input.is_some_and(|input| input.is_same(known))
        };
        let is_found = Arc::ptr_eq(known.before, before)
            && inputs.len() == known.inputs.len()
            && inputs.zip(&known.inputs).all(is_same);
        is_found.then_some((&known.after, known.is_changed))
    }
}

/// Returns true if the variables of a unit have other types than before.
fn has_changed(before: &Arc<UnitTypes>, types: &Arc<UnitTypes>) -> bool {
    !Arc::ptr_eq(before, types)
        && (before.binders != types.binders || before.numeric != types.numeric)
}

impl Memo<'_> {
    /// Returns the previous signature if it was built from the same header and result.
    pub(super) fn signature(
        &self,
        body: &Body,
        scopes: &Scopes,
        units: &List<Arc<UnitTypes>>,
        assumptions: &Assumptions,
    ) -> Option<Option<Type>> {
        let before = self.inference;
        let same = |unit: usize, old: usize| {
            let types = units.get(unit).zip(before.units.get(old));
            Arc::ptr_eq(&body.units[unit], &self.body.units[old])
                && types.is_some_and(|(types, old)| Arc::ptr_eq(types, old))
        };
        // The type of a result that depends on an assumption is not known to other definitions.
        let is_as_certain = |tail: usize, old: usize| {
            let root = body.units[tail].root?;
            let now = assumptions.hold(body, scopes, &units[tail], (tail, root));
            Some(now == before.is_assumed(self.body, self.scopes, old, root))
        };
        let (tail, old) = tail_of(body).zip(tail_of(self.body))?;
        let is_known = same(0, 0) && same(tail, old) && is_as_certain(tail, old).unwrap_or(true);
        is_known.then(|| before.signature.clone())
    }
}
