//! Merging of diagnostics with the same cause: consequences become related places of the first one.
//!
//! A parameter of the wrong type conflicts with each of its uses, a `let` of the wrong type with
//! its value and with each use:
//!
//! ```text
//! def @main(%x: Tensor[(2, 3), float16], %y: Tensor[(2, 3), float32]) {
//!   %0 = add(%x, %y);       // float16 and float32
//!   multiply(%y, %x)        // the same conflict
//! }
//! ```
//!
//! It is unknown which of the places is wrong. Two findings have one cause if they depend on the
//! same declaration and the same sizes or data types conflict in them; a comparison of the messages
//! would confuse unrelated findings.

pub(super) mod flow;

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::TextRange;
use types::Fact;

use super::check_view::CheckView;
use crate::{
    body::*,
    diagnostic::{
        Cause, Code, DefDiagnostic, Diagnostic, InDef, RelatedPlace, Role, Severity, are_same,
    },
    item::Def,
    queries,
    view::View,
};

/// The maximum number of consequences shown with a diagnostic.
const MAX_SHOWN: usize = 8;
/// The maximum number of findings of a file that are compared pairwise.
const MAX_COMPARED: usize = 200;

/// What a finding of a definition follows from. It may be the cause or the consequence of another one.
#[derive(Default)]
pub(super) struct Evidence {
    /// The facts by which findings with the same cause are recognised.
    pub(super) cause: Cause<InDef>,
    /// The index of its diagnostic.
    pub(super) at: usize,
    unit: UnitId,
    /// The expressions that it depends on.
    pub(super) operands: Vec<ExprRef>,
    /// The variable whose declaration its value contradicts.
    pub(super) suspect: Option<LocalRef>,
    /// The call that is ill-typed, so that its result type is meaningless.
    pub(super) call: Option<ExprRef>,
    /// Set if a value does not have its declared type.
    pub(super) is_mismatch: bool,
    /// Set if that is the declared type of a variable.
    pub(super) is_declaration: bool,
}

impl Evidence {
    /// Creates the evidence of a finding of a unit without facts.
    pub(super) fn new(unit: UnitId) -> Evidence {
        Evidence { unit, ..Evidence::default() }
    }

    /// Adds the declarations that the operands were computed from. An operand may be wrong for one operator
    /// and right for another, so that facts about one of two sides are removed.
    pub(super) fn with_flows(mut self, view: &View<'_>) -> Evidence {
        if self.cause.values.len() < 2 && self.cause.parameter.is_none() {
            self.cause.values.clear();
        }
        self.with_flows_of_one_side(view)
    }

    /// Like [`Evidence::with_flows`], where facts about one side are enough, as the rank of an operand.
    pub(super) fn with_flows_of_one_side(mut self, view: &View<'_>) -> Evidence {
        self.cause.flows = flow::into(view, &self.operands);
        self
    }
}

/// Adds the declarations that a size of `value`, or all of it, depends on.
pub(super) fn depends_on(
    cause: &mut Cause<InDef>,
    view: &CheckView<'_, '_>,
    value: ExprRef,
    axis: Option<usize>,
) {
    if let Some(axis) = axis {
        let steps = view.origins.of(view, value, axis);
        cause.places.extend(steps.first().map(|step| InDef::from(step.range)));
    }
    if let Some(binding) = view.variable(value) {
        cause.places.push(declaration(view, binding).into());
    }
}

/// Returns the range of the binder of a variable and its annotation.
pub(super) fn declaration(view: &View<'_>, binding: LocalRef) -> TextRange {
    let name = view.binding_range(binding);
    view.annotation_range(binding).map_or(name, |ty| name.cover(ty))
}

/// Returns the variable that an expression of a unit is bound to.
pub(super) fn bound_to(view: &View<'_>, unit: UnitId, value: ExprId) -> Option<LocalRef> {
    let binder = view.unit(unit).bound_to(value)?;
    Some(LocalRef { unit, binder })
}

/// Returns the variable that a function expression of a unit is bound to.
pub(super) fn function_bound_to(view: &View<'_>, unit: UnitId, function: FnId) -> Option<LocalRef> {
    let is_it = |expr: &Expr| *expr == Expr::Fn(function);
    let value = view.unit(unit).exprs.iter().position(is_it)?;
    bound_to(view, unit, ExprId(value as u32))
}

/// Returns the variable whose declaration determines the type of `expr`: the variable that it is
/// bound to, or the function whose tail expression it is.
pub(super) fn declared_for(view: &View<'_>, unit: UnitId, expr: ExprId) -> Option<LocalRef> {
    let data = view.unit(unit);
    // The expression may be the tail of a branch or an arm, which is the tail of another one.
    let mut enclosing = vec![expr];
    let mut outer = expr;
    while let Some(next) = data.given_by(outer).filter(|_| enclosing.len() < flow::MAX_FOLLOWED) {
        enclosing.push(next);
        outer = next;
    }
    if let Some(bound) = enclosing.iter().find_map(|&expr| bound_to(view, unit, expr)) {
        return Some(bound);
    }
    let gives = |function: &Function| function.body.is_some_and(|b| enclosing.contains(&b.result));
    let function = data.fns.iter().position(gives)?;
    function_bound_to(view, unit, FnId(function as u32))
}

/// Returns the declaration of a parameter of the callee, if it is in this file.
pub(super) fn parameter(view: &View<'_>, callee: ExprRef, index: usize) -> Option<InDef> {
    let value = view.resolve(callee);
    if let Some(function) = view.function(value) {
        let binder = *function.params.get(index)?;
        return Some(declaration(view, LocalRef { unit: value.unit, binder }).into());
    }
    let (def, other) = definition(view, value)?;
    let binder = *other.body.header()?.params.get(index)?;
    Some(view.place_in(def, declaration(&other, LocalRef { unit: UnitId::HEADER, binder })))
}

/// Returns the definition of the file that a value is, with its view.
fn definition<'db>(view: &View<'db>, value: ExprRef) -> Option<(Def<'db>, View<'db>)> {
    let Expr::Global(name) = view.unit(value.unit).expr(value.expr) else { return None };
    let (def, from_prelude) = queries::global(view.db, view.module, name)?;
    Some((def, View::relative(view.db, def).filter(|_| !from_prelude)?))
}

/// Merges the consequences of a wrong declaration into the diagnostic of that declaration.
pub(super) fn fold(view: &View<'_>, all: &[Evidence], found: &mut Vec<DefDiagnostic>) {
    let explains = |f: &Evidence| f.suspect.is_some() || f.call.is_some();
    if all.len() < 2 || all.len() > MAX_COMPARED || !all.iter().any(explains) {
        return;
    }
    let values = |found: &[DefDiagnostic], at: usize| -> Vec<Fact> {
        found[at].cause.as_ref().map(|cause| cause.values.clone()).unwrap_or_default()
    };
    let mut merged: FxHashSet<usize> = FxHashSet::default();
    for consequence in all {
        let above = ancestors(view, consequence.unit);
        let cause = all.iter().find(|cause| {
            if cause.at == consequence.at || merged.contains(&cause.at) {
                return false;
            }
            // An ill-typed call may call the wrong function.
            if consequence.is_mismatch
                && cause.call.is_some_and(|c| consequence.operands.contains(&c))
            {
                return true;
            }
            let Some(suspect) = cause.suspect else { return false };
            let alike = || are_same(&values(found, cause.at), &values(found, consequence.at));
            // The declaration of a function conflicts with its value, and with the result of its
            // body.
            if consequence.suspect == cause.suspect {
                return cause.is_declaration && !consequence.is_declaration && alike();
            }
            uses(view, consequence, suspect) || above.contains(&suspect.unit) && alike()
        });
        if let Some(cause) = cause {
            let diagnostic = found[consequence.at].clone();
            absorb(&mut found[cause.at], diagnostic);
            merged.insert(consequence.at);
        }
    }
    remove(found, &merged);
}

/// Returns true if a finding depends on a variable.
fn uses(view: &View<'_>, found: &Evidence, binding: LocalRef) -> bool {
    if found.unit != binding.unit {
        return view.scopes.unit(found.unit).any(|used| used == Some(binding));
    }
    let mut expr_refs = found.operands.clone();
    let mut left = flow::MAX_FOLLOWED;
    while let Some(expr_ref) = expr_refs.pop() {
        let variable = view.variable(expr_ref);
        if variable == Some(binding) {
            return true;
        }
        left -= 1;
        if left == 0 {
            break;
        }
        // A variable of the same unit is replaced by its value.
        let value = variable.filter(|of| of.unit == expr_ref.unit).and_then(|of| view.value(of));
        expr_refs.extend(value.filter(|value| value.unit == expr_ref.unit));
        let operands = match view.unit(expr_ref.unit).expr(expr_ref.expr) {
            Expr::Proj { tuple, .. } => std::slice::from_ref(tuple),
            Expr::Tuple(fields) => fields,
            Expr::Call(call) => &view.unit(expr_ref.unit).call(*call).args,
            _ => &[],
        };
        expr_refs.extend(operands.iter().map(|&operand| expr_ref.sibling(operand)));
    }
    false
}

/// Returns the units that a unit depends on.
fn ancestors(view: &View<'_>, unit: UnitId) -> FxHashSet<UnitId> {
    let mut above = FxHashSet::default();
    let mut next = vec![unit];
    while let Some(unit) = next.pop() {
        for binding in view.scopes.unit(unit).flatten() {
            if above.insert(binding.unit) {
                next.push(binding.unit);
            }
        }
    }
    above
}

/// Merges diagnostics with the same cause into the first of them. `found` is in text order.
pub(super) fn merge(found: &mut Vec<Diagnostic>) {
    let caused: Vec<usize> = (0..found.len())
        .filter(|&at| found[at].cause.is_some() && found[at].severity == Severity::Error)
        .take(MAX_COMPARED)
        .collect();
    let mut merged: FxHashSet<usize> = FxHashSet::default();
    for (number, &later) in caused.iter().enumerate() {
        let first = caused[..number].iter().copied().find(|&first| {
            let (a, b) = (&found[first], &found[later]);
            let causes = a.cause.as_ref().zip(b.cause.as_ref());
            causes.is_some_and(|(one, other)| one.has_same_cause(a.code, other, b.code))
                && !merged.contains(&first)
        });
        if let Some(first) = first {
            let diagnostic = found[later].clone();
            absorb(&mut found[first], diagnostic);
            merged.insert(later);
        }
    }
    remove(found, &merged);
}

/// Adds a diagnostic as a related place to the one with the same cause.
fn absorb<P: PartialEq + From<TextRange>>(cause: &mut Diagnostic<P>, consequence: Diagnostic<P>) {
    let shown = cause.related.iter().filter(|r| r.role == Role::Consequence).count();
    if shown >= MAX_SHOWN {
        return;
    }
    let sentence = consequence.message.lines().next().unwrap_or_default();
    let message = format!("for the same reason: {sentence}");
    let range = P::from(consequence.range);
    if !cause.related.iter().any(|known| known.range == range) {
        cause.related.push(RelatedPlace { range, message, role: Role::Consequence });
    }
    for related in consequence.related {
        if related.role == Role::Alternative
            && !cause.related.iter().any(|known| known.range == related.range)
        {
            cause.related.push(related);
        }
    }
}

/// Merges several diagnostics of one call: most likely, it calls the wrong operator.
pub(super) fn fold_calls(view: &View<'_>, found: &mut Vec<DefDiagnostic>) {
    let is_call_error = |d: &DefDiagnostic| {
        matches!(d.code, Code::ArgumentCount | Code::MissingAttribute | Code::AttributesNotTaken)
            || d.code == Code::UnknownAttribute && d.fixes.is_empty()
    };
    // An error in one attribute alone is a separate finding; together with other errors of the
    // call, it is a consequence of the wrong operator.
    let is_attr_error =
        |d: &DefDiagnostic| matches!(d.code, Code::AttributeType | Code::UnknownAttribute);
    if !found.iter().any(is_call_error) {
        return;
    }
    let about = found.iter().filter(|d| is_call_error(d) || is_attr_error(d));
    let mut units: Vec<UnitId> = about.filter_map(|d| view.unit_at(d.range.start())).collect();
    units.sort_unstable();
    units = units.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|u| u[0]).collect();
    // The diagnostics by range, so that those of a call are found without a search.
    let mut at_place: FxHashMap<TextRange, Vec<usize>> = FxHashMap::default();
    for (at, d) in found.iter().enumerate().filter(|(_, d)| is_call_error(d) || is_attr_error(d)) {
        at_place.entry(d.range).or_default().push(at);
    }
    let mut merged: FxHashSet<usize> = FxHashSet::default();
    for unit in units {
        for call in &view.unit(unit).calls {
            let written = call.written.iter().flat_map(|attr| [attr.name_range, attr.value_range]);
            let places = std::iter::once(call.callee_range).chain(written);
            let places = places.filter_map(|range| at_place.get(&view.place(unit, range)));
            let mut own: Vec<usize> =
                places.flatten().copied().filter(|at| !merged.contains(at)).collect();
            own.sort_unstable();
            own.dedup();
            if !own.iter().any(|&at| is_call_error(&found[at])) {
                continue;
            }
            own.sort_by_key(|&at| {
                (found[at].code != Code::ArgumentCount, !is_call_error(&found[at]))
            });
            let Some((&first, rest)) = own.split_first() else { continue };
            let mut rest = rest.to_vec();
            rest.sort_unstable();
            for &at in &rest {
                let DefDiagnostic { range, message, .. } = found[at].clone();
                if range != found[first].range {
                    found[first].add_related(range, message);
                }
            }
            merged.extend(rest);
        }
    }
    remove(found, &merged);
}

/// Removes the diagnostics with the given indices.
pub(super) fn remove<P>(found: &mut Vec<Diagnostic<P>>, indices: &FxHashSet<usize>) {
    let mut index = 0..;
    found.retain(|_| index.next().is_none_or(|index| !indices.contains(&index)));
}
