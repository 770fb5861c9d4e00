//! The types at which a function is used.

use syntax::TextRange;
use types::{Flags, Type};

use crate::{
    body::*,
    db::Db,
    item::{Def, Module},
    queries,
    view::View,
};

/// The types at which a function is called.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Instance {
    /// The arguments.
    pub(super) args: Vec<Type>,
    /// The result.
    pub(super) ret: Type,
}

/// The uses of a function.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Usage {
    /// There are none.
    Unused,
    /// All are calls at the same known types.
    Uniform(Instance),
    /// Calls at different or unknown types, or uses as a value.
    Mixed,
}

impl Usage {
    fn add(&mut self, instance: Option<Instance>) {
        let known = instance
            .filter(|instance| instance.args.iter().all(is_concrete) && is_concrete(&instance.ret));
        *self = match (std::mem::replace(self, Usage::Mixed), known) {
            (Usage::Unused, Some(instance)) => Usage::Uniform(instance),
            (Usage::Uniform(one), Some(other)) if one == other => Usage::Uniform(one),
            _ => Usage::Mixed,
        };
    }
}

/// Returns true if a type has no type parameters, symbols or unknown parts.
fn is_concrete(ty: &Type) -> bool {
    let open = Flags::PARAM.or(Flags::POLY).or(Flags::ERROR).or(Flags::SYMBOL);
    ty.is_closed() && !ty.flags().has(open)
}

/// Returns the uses of a global, and their ranges from the starts of their definitions. Recursive calls
/// do not count, because they have the types of the definition itself.
pub(super) fn of_global<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    name: &str,
) -> (Usage, Vec<(Def<'db>, TextRange)>) {
    let (mut used, mut places) = (Usage::Unused, Vec::new());
    for def in queries::users_of(db, module, name) {
        let Some(view) = View::relative(db, def) else { continue };
        for number in view.scopes.units_naming(&view.body, name) {
            for expr in view.unit(number).uses_of_global(name) {
                let expr_ref = ExprRef { unit: number, expr };
                places.push((def, view.range(expr_ref)));
                let instance = call_of(&view, expr_ref);
                let recursive = def.name(db) == name && instance.is_some();
                if !recursive {
                    used.add(instance);
                }
            }
        }
    }
    (used, places)
}

/// Returns the uses of a variable of a body and their ranges. Recursive calls do not count.
pub(super) fn of_variable(view: &View<'_>, binding: LocalRef) -> (Usage, Vec<TextRange>) {
    let (mut used, mut places) = (Usage::Unused, Vec::new());
    let own = binding.unit;
    let own_uses = view.unit(own).uses_of(binding.binder).into_iter().map(|expr| (own, expr));
    let outer_uses = view.scopes.uses(&view.body, binding).flat_map(|(number, free)| {
        view.unit(number).uses_of_free(free).into_iter().map(move |expr| (number, expr))
    });
    let inside = view.value(binding).and_then(|value| view.function(value)?.body);
    for (unit, expr) in own_uses.chain(outer_uses) {
        let expr_ref = ExprRef { unit, expr };
        places.push(view.range(expr_ref));
        let recursive =
            unit == own && inside.is_some_and(|body| (body.start..body.end).contains(&expr.0));
        if !recursive {
            used.add(call_of(view, expr_ref));
        }
    }
    (used, places)
}

/// Returns the types of the call with the callee `callee`.
fn call_of(view: &View<'_>, callee: ExprRef) -> Option<Instance> {
    let unit = view.unit(callee.unit);
    let expr = unit.call_of(callee.expr)?;
    let Expr::Call(call) = *unit.expr(expr) else { return None };
    let args = unit.call(call).args.iter().map(|&arg| view.ty(callee.sibling(arg)).clone());
    Some(Instance { args: args.collect(), ret: view.ty(callee.sibling(expr)).clone() })
}
