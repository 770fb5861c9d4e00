//! The effects of definitions, and of the expressions in them.

use std::sync::Arc;

use operators::Effect;
use rustc_hash::FxHashSet;

use super::{
    definitions::{body, global, global_uses, module_types, scopes},
    groups::call_groups,
    inference,
};
use crate::{
    body::{Body, CallData, Callee, Expr, ExprId, Name, Unit, UnitId, UnitKind},
    db::Db,
    effects::{BodyEffects, CallEffects, Context, effects_of},
    features::UnitFeatures,
    item::{Def, DefKind, Module, module},
    scope::Scopes,
};

/// The effects of the expressions of a definition.
pub fn effects<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<BodyEffects> {
    // Most definitions call operators and their own functions only.
    let (body, scopes) = (body(db, def), scopes(db, def));
    let mut units = body.units_with(UnitFeatures::EFFECT);
    if !units.any(|number| may_have_effects(&body, &scopes, number)) {
        return Arc::default();
    }
    if let Some(module) = module(db, def.file(db), def.module(db)) {
        effects_from_below(db, module);
    }
    base_effects(db, def)
}

/// Returns true if a unit has an effect of its own, or calls anything but operators without effects and functions of
/// the same body, whose bodies are in its units, too.
fn may_have_effects(body: &Body, scopes: &Scopes, number: UnitId) -> bool {
    let unit = body.unit(number);
    let is_function = |unit: &Unit, value: Option<ExprId>| {
        value.is_some_and(|value| matches!(unit.expr(value), Expr::Fn(_)))
    };
    let calls_unknown = |call: &CallData| match &call.callee {
        Callee::Operator(operator) => operator.effect != Effect::None,
        Callee::Name(_) => true,
        Callee::Expr(callee) => !match unit.expr(*callee) {
            Expr::Fn(_) => true,
            Expr::Bound(binder) => is_function(unit, unit.value_of(*binder)),
            Expr::Free(free) => scopes.get(number, *free).is_some_and(|binding| {
                let other = body.unit(binding.unit);
                other.binds == Some(binding.binder) && is_function(other, other.root)
            }),
            _ => false,
        },
    };
    let is_reference =
        |expr: &Expr| matches!(expr, Expr::RefNew(_) | Expr::RefRead(_) | Expr::RefWrite(..));
    unit.calls.iter().any(calls_unknown) || unit.exprs.iter().any(is_reference)
}

/// Computes the effects of the definitions of a module, dependencies first, for the reason that
/// [`super::base::infer_from_below`] gives.
#[salsa::tracked]
fn effects_from_below<'db>(db: &'db dyn Db, module: Module<'db>) {
    for def in call_groups(db, module).members.iter().flatten() {
        call_effects(db, *def);
    }
}

/// What a call of a definition does. Its users do not depend on the rest of its effects.
#[salsa::tracked(returns(copy))]
fn call_effects<'db>(db: &'db dyn Db, def: Def<'db>) -> CallEffects {
    let is_opaque = |body: &Body| {
        let is_external = body.header().is_some_and(|f| f.attrs.iter().any(|(k, _)| k == "Extern"));
        is_external || body.units.iter().all(|unit| unit.kind == UnitKind::Header)
    };
    if def.kind(db) != DefKind::Fn || is_opaque(&body(db, def)) {
        return CallEffects::UNKNOWN;
    }
    let features = UnitFeatures::EFFECT | UnitFeatures::GLOBAL;
    if body(db, def).units_with(features).next().is_none() {
        return CallEffects::NO_CALLS;
    }
    base_effects(db, def).calls
}

/// The first definition of the group that calls a definition and is called by it, and the index of the
/// definition in the group.
#[salsa::tracked(returns(copy))]
fn call_group_of<'db>(db: &'db dyn Db, def: Def<'db>) -> (Def<'db>, u32) {
    let module = module(db, def.file(db), def.module(db));
    let place = module.and_then(|module| call_groups(db, module).place(def));
    // A duplicate definition is a group of its own.
    place.and_then(|(group, at)| Some((*group.first()?, at))).unwrap_or((def, 0))
}

/// The members of the group with the first member `first`.
#[salsa::tracked(returns(ref))]
fn call_group_members<'db>(db: &'db dyn Db, first: Def<'db>) -> Vec<Def<'db>> {
    let module = module(db, first.file(db), first.module(db));
    let place = module.and_then(|module| call_groups(db, module).place(first));
    place.map_or_else(|| vec![first], |(group, _)| group.to_vec())
}

/// The effects of a definition.
fn base_effects<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<BodyEffects> {
    let (first, at) = call_group_of(db, def);
    group_effects(db, first).get(at as usize).cloned().unwrap_or_default()
}

/// The effects of the members of a group. Calls of all members are assumed to do the same, which grows
/// until it includes what each of them does. Each round adds to the few parts of a [`CallEffects`].
#[salsa::tracked(returns(ref))]
fn group_effects<'db>(db: &'db dyn Db, first: Def<'db>) -> Vec<Arc<BodyEffects>> {
    let defs = call_group_members(db, first);
    let group: FxHashSet<Def<'db>> = defs.iter().copied().collect();
    let is_recursive = defs.len() > 1 || global_uses(db, first).contains(first.name(db));
    let mut common = CallEffects::default();
    loop {
        db.unwind_if_revision_cancelled();
        let members = defs.iter().map(|&def| Arc::new(effects_in(db, def, &group, common)));
        let members: Vec<Arc<BodyEffects>> = members.collect();
        let found = members.iter().fold(common, |all, member| all | member.calls);
        if found == common || !is_recursive {
            return members;
        }
        common = found;
    }
}

/// Returns the effects of a definition, if calls of the members of its group do what `common` says.
fn effects_in<'db>(
    db: &'db dyn Db,
    def: Def<'db>,
    group: &FxHashSet<Def<'db>>,
    common: CallEffects,
) -> BodyEffects {
    let Some(module) = module(db, def.file(db), def.module(db)) else {
        return BodyEffects::default();
    };
    let calls_of = |name: &Name| match global(db, module, name) {
        Some((def, _)) if group.contains(&def) => common,
        Some((def, _)) => call_effects(db, def),
        None => CallEffects::UNKNOWN,
    };
    let (body, scopes) = (body(db, def), scopes(db, def));
    // The types in the prelude are not needed for anything else.
    let types = (!def.file(db).is_prelude(db)).then(|| inference(db, def));
    effects_of(&Context {
        body: &body,
        scopes: &scopes,
        types: types.as_deref(),
        module: &module_types(db, module),
        globals: &scopes.globals.iter().map(|name| (name.clone(), calls_of(name))).collect(),
    })
}
