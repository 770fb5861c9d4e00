//! What a value was computed from, as far as its type goes.
//!
//! ```text
//! def @main(%x: Tensor[(2, 3), float16], %y: Tensor[(2, 3), float32]) {
//!   %0 = @f(%y);            // of the type that is declared for the result of @f
//!   add(nn.relu(%x), %0)    // computed from %x, and from the result of @f
//! }
//! ```

use rustc_hash::FxHashSet;
use syntax::TextRange;
use types::{DataType, Step};

use super::{declaration, result};
use crate::{
    body::*,
    queries,
    scope::Binding,
    view::{Spot, View},
};

/// How many expressions are followed from one finding.
pub(super) const MAX_FOLLOWED: usize = 200;

/// How many declarations are kept of one finding.
const MAX_FLOWS: usize = 32;

/// A declaration that a value was computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    /// Where it stands.
    pub(super) range: TextRange,
    /// The data type of the parameter, if that is a tensor.
    pub(super) dtype: Option<DataType>,
}

/// A part of a value.
pub(in crate::check) struct Part {
    /// The expression that gives it, or the innermost that is known to hold it.
    pub(in crate::check) spot: Spot,
    /// It is that very part.
    pub(super) is_whole: bool,
    /// The part is what this parameter of a function expression takes.
    pub(super) parameter: Option<Binding>,
}

/// The field of a tuple, where that is built in the same definition.
pub(super) fn field(view: &View<'_>, tuple: Spot, index: usize) -> Option<Spot> {
    let value = view.resolve(tuple);
    match view.unit(value.unit).expr(value.expr) {
        Expr::Tuple(fields) => Some(Spot { unit: value.unit, expr: *fields.get(index)? }),
        _ => None,
    }
}

/// The part of a value that `path` leads to.
pub(in crate::check) fn along(view: &View<'_>, value: Spot, path: &[Step]) -> Part {
    let mut part = Part { spot: value, is_whole: true, parameter: None };
    for step in path {
        let value = view.resolve(part.spot);
        let unit = view.unit(value.unit);
        let next = match (step, unit.expr(value.expr)) {
            (Step::Field(index), _) => field(view, value, *index),
            (Step::Ret, Expr::Fn(function)) => unit.fns[function.index()]
                .body
                .map(|body| Spot { unit: value.unit, expr: body.result }),
            (Step::Param(index), Expr::Fn(function)) => {
                let binder = unit.fns[function.index()].params.get(*index);
                let unit = value.unit as u32;
                part.parameter = binder.map(|&binder| Binding { unit, binder });
                None
            }
            _ => None,
        };
        match next {
            Some(next) => part.spot = next,
            None => {
                part.is_whole = false;
                break;
            }
        }
    }
    part
}

/// Whether what `root` gives is what `expr` gives: itself, or a branch or an arm of it.
pub(super) fn gives(unit: &Unit, root: ExprId, expr: ExprId) -> bool {
    let mut next = vec![root];
    let mut left = MAX_FOLLOWED;
    while let Some(root) = next.pop() {
        if root == expr {
            return true;
        }
        left -= 1;
        if left == 0 {
            break;
        }
        match unit.expr(root) {
            Expr::If { then, otherwise, .. } => next.extend([then.result, otherwise.result]),
            Expr::Match(id) => {
                next.extend(unit.matches[id.index()].arms.iter().map(|arm| arm.body.result));
            }
            _ => {}
        }
    }
    false
}

/// The declarations that values were computed from: of parameters, and of the results of
/// definitions that are called on the way.
pub(super) fn into(view: &View<'_>, values: &[Spot]) -> Vec<Flow> {
    let mut flows: Vec<Flow> = Vec::new();
    let mut seen: FxHashSet<Spot> = FxHashSet::default();
    let mut next = values.to_vec();
    while let Some(spot) = next.pop() {
        if seen.len() == MAX_FOLLOWED || flows.len() == MAX_FLOWS {
            break;
        }
        if !seen.insert(spot) {
            continue;
        }
        let at = |expr: ExprId| Spot { unit: spot.unit, expr };
        if let Some(binding) = view.variable(spot) {
            let value = view.value(binding);
            next.extend(value);
            if value.is_none() || view.binder(binding).annotation.is_some() {
                // What a `let` is declared as says nothing of where its data type comes from.
                let ty = view.binding_type(binding).as_tensor().filter(|_| value.is_none());
                let dtype = ty.map(|tensor| tensor.dtype);
                flows.push(Flow { range: declaration(view, binding), dtype });
            }
            continue;
        }
        let unit = view.unit(spot.unit);
        match unit.expr(spot.expr) {
            Expr::Proj { tuple, .. } => next.push(at(*tuple)),
            Expr::Tuple(fields) => next.extend(fields.iter().map(|&field| at(field))),
            Expr::If { then, otherwise, .. } => {
                next.extend([at(then.result), at(otherwise.result)]);
            }
            Expr::Call(call) => {
                let call = unit.call(*call);
                match call.callee {
                    // The type of what a function gives is that of its body.
                    Callee::Expr(callee) => match called(view, at(callee)) {
                        Some(Called::Fn(result)) => next.push(result),
                        Some(Called::Def(range)) => flows.push(Flow { range, dtype: None }),
                        None => {}
                    },
                    Callee::Operator(_) | Callee::Name(_) => {
                        next.extend(call.args.iter().map(|&arg| at(arg)));
                    }
                }
            }
            _ => {}
        }
    }
    flows
}

/// What is called.
enum Called {
    /// A function expression, whose body ends here.
    Fn(Spot),
    /// A definition of the file, whose result is declared here.
    Def(TextRange),
}

fn called(view: &View<'_>, callee: Spot) -> Option<Called> {
    let value = view.resolve(callee);
    let unit = view.unit(value.unit);
    match unit.expr(value.expr) {
        Expr::Fn(function) => {
            let body = unit.fns[function.index()].body?;
            Some(Called::Fn(Spot { unit: value.unit, expr: body.result }))
        }
        Expr::Global(name) => {
            let (def, from_prelude) = queries::global(view.db, view.module, name)?;
            let other = View::new(view.db, def).filter(|_| !from_prelude)?;
            Some(Called::Def(result(&other)?))
        }
        _ => None,
    }
}
