//! At which types a function is used.

use types::{Flags, Type};

use crate::{
    body::*,
    db::Db,
    item::Module,
    queries,
    scope::Binding,
    view::{Spot, View},
};

/// The types at which a function is called.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Instance {
    /// The arguments.
    pub(super) args: Vec<Type>,
    /// The result.
    pub(super) ret: Type,
}

/// Where a function is used.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Used {
    /// Nowhere.
    Nowhere,
    /// At the same types everywhere, all of them known.
    Alike(Instance),
    /// At different types, at types that are not known, or as a value.
    Differently,
}

impl Used {
    fn add(&mut self, instance: Option<Instance>) {
        let known = instance
            .filter(|instance| instance.args.iter().all(is_concrete) && is_concrete(&instance.ret));
        *self = match (std::mem::replace(self, Used::Differently), known) {
            (Used::Nowhere, Some(instance)) => Used::Alike(instance),
            (Used::Alike(one), Some(other)) if one == other => Used::Alike(one),
            _ => Used::Differently,
        };
    }
}

/// Whether nothing in a type is open.
fn is_concrete(ty: &Type) -> bool {
    let open = Flags::PARAM.or(Flags::POLY).or(Flags::ERROR).or(Flags::SYMBOL);
    ty.is_closed() && !ty.flags().has(open)
}

/// Where a global is used, and the places of its calls. A definition's own recursive calls are at
/// its own types and do not count.
pub(super) fn of_global<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    name: &str,
) -> (Used, Vec<syntax::TextRange>) {
    let (mut used, mut places) = (Used::Nowhere, Vec::new());
    for def in queries::users_of(db, module, name) {
        let Some(view) = View::new(db, def) else { continue };
        for number in view.scopes.units_naming(&view.body, name) {
            for expr in view.unit(number).uses_of_global(name) {
                let spot = Spot { unit: number, expr };
                places.push(view.range(spot));
                let instance = call_of(&view, spot);
                let recursive = def.name(db) == name && instance.is_some();
                if !recursive {
                    used.add(instance);
                }
            }
        }
    }
    (used, places)
}

/// Where a variable of a body is used, and the places of its calls. Calls of a function by itself
/// do not count.
pub(super) fn of_variable(view: &View<'_>, binding: Binding) -> (Used, Vec<syntax::TextRange>) {
    let (mut used, mut places) = (Used::Nowhere, Vec::new());
    let own = binding.unit as usize;
    let own_uses = view.unit(own).uses_of(binding.binder).into_iter().map(|expr| (own, expr));
    let outer_uses = view.scopes.uses(&view.body, binding).flat_map(|(number, free)| {
        view.unit(number).uses_of_free(free).into_iter().map(move |expr| (number, expr))
    });
    let inside = body_of(view, binding);
    for (unit, expr) in own_uses.chain(outer_uses) {
        let spot = Spot { unit, expr };
        places.push(view.range(spot));
        let recursive =
            unit == own && inside.is_some_and(|body| (body.start..body.end).contains(&expr.0));
        if !recursive {
            used.add(call_of(view, spot));
        }
    }
    (used, places)
}

/// The body of the function that a variable is bound to.
fn body_of(view: &View<'_>, binding: Binding) -> Option<Region> {
    let value = view.value(binding)?;
    let unit = view.unit(value.unit);
    match unit.expr(value.expr) {
        Expr::Fn(function) => unit.fns[function.index()].body,
        _ => None,
    }
}

/// The types of the call whose callee stands at `callee`.
fn call_of(view: &View<'_>, callee: Spot) -> Option<Instance> {
    let unit = view.unit(callee.unit);
    let at = |expr: ExprId| Spot { unit: callee.unit, expr };
    let expr = unit.call_of(callee.expr)?;
    let Expr::Call(call) = *unit.expr(expr) else { return None };
    let args = unit.call(call).args.iter().map(|&arg| view.ty(at(arg)).clone()).collect();
    Some(Instance { args, ret: view.ty(at(expr)).clone() })
}
