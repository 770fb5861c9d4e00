//! The declarations that the type of a value depends on.
//!
//! ```text
//! def @main(%x: Tensor[(2, 3), float16], %y: Tensor[(2, 3), float32]) {
//!   %0 = @f(%y);            // of the type that is declared for the result of @f
//!   add(nn.relu(%x), %0)    // computed from %x, and from the result of @f
//! }
//! ```

use rustc_hash::FxHashSet;
use types::Step;

use super::{declaration, definition};
use crate::{
    body::*,
    diagnostic::{Flow, InDef},
    view::View,
};

/// The maximum number of expressions that are followed from one finding.
pub(super) const MAX_FOLLOWED: usize = 200;

/// The maximum number of declarations that are kept for one finding.
const MAX_FLOWS: usize = 32;

/// A part of a value.
pub(in crate::check) struct Part {
    /// The expression of the part, or the innermost known expression that contains it.
    pub(in crate::check) expr_ref: ExprRef,
    /// Set if `expr_ref` is exactly the part.
    pub(in crate::check) is_whole: bool,
    /// The parameter of a function expression, if the part is the type of a parameter.
    pub(in crate::check) parameter: Option<LocalRef>,
}

/// Returns the field of a tuple that is constructed in the same definition.
pub(in crate::check) fn field(view: &View<'_>, tuple: ExprRef, index: usize) -> Option<ExprRef> {
    let value = view.resolve(tuple);
    match view.unit(value.unit).expr(value.expr) {
        Expr::Tuple(fields) => Some(value.sibling(*fields.get(index)?)),
        _ => None,
    }
}

/// Returns the part of a value at `path`.
pub(in crate::check) fn along(view: &View<'_>, value: ExprRef, path: &[Step]) -> Part {
    let mut part = Part { expr_ref: value, is_whole: true, parameter: None };
    for step in path {
        let value = view.resolve(part.expr_ref);
        let next = match step {
            Step::Field(index) => field(view, value, *index),
            Step::Ret => result_of(view, value),
            Step::Param(index) => {
                let binder = view.function(value).and_then(|f| f.params.get(*index));
                part.parameter = binder.map(|&binder| LocalRef { unit: value.unit, binder });
                None
            }
            Step::Inner | Step::Arg(_) => None,
        };
        match next {
            Some(next) => part.expr_ref = next,
            None => {
                part.is_whole = false;
                break;
            }
        }
    }
    part
}

/// Returns true if `expr` is `root`, or the tail of a branch or an arm of it.
pub(in crate::check) fn is_tail_of(unit: &Unit, root: ExprId, expr: ExprId) -> bool {
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
        next.extend(unit.branches_of(root));
    }
    false
}

/// Returns the declarations that values were computed from: those of parameters, and of the results
/// of called definitions.
pub(super) fn into(view: &View<'_>, values: &[ExprRef]) -> Vec<Flow<InDef>> {
    let mut flows: Vec<Flow<InDef>> = Vec::new();
    let mut seen: FxHashSet<ExprRef> = FxHashSet::default();
    let mut next = values.to_vec();
    while let Some(expr_ref) = next.pop() {
        if seen.len() == MAX_FOLLOWED || flows.len() == MAX_FLOWS {
            break;
        }
        if !seen.insert(expr_ref) {
            continue;
        }
        let at = |expr: ExprId| expr_ref.sibling(expr);
        if let Some(binding) = view.variable(expr_ref) {
            let value = view.value(binding);
            next.extend(value);
            if value.is_none() || view.binder(binding).annotation.is_some() {
                // The annotation of a `let` does not show the origin of its data type.
                let ty = view.binding_type(binding).as_tensor().filter(|_| value.is_none());
                let dtype = ty.map(|tensor| tensor.dtype);
                flows.push(Flow { range: declaration(view, binding).into(), dtype });
            }
            continue;
        }
        let unit = view.unit(expr_ref.unit);
        match unit.expr(expr_ref.expr) {
            Expr::Proj { tuple, .. } => next.push(at(*tuple)),
            Expr::Tuple(fields) => next.extend(fields.iter().map(|&field| at(field))),
            Expr::If { .. } => next.extend(unit.branches_of(expr_ref.expr).into_iter().map(at)),
            Expr::Call(call) => {
                let call = unit.call(*call);
                match call.callee {
                    Callee::Expr(callee) => {
                        let callee = view.resolve(at(callee));
                        // The result type of a function expression is the type of its body.
                        next.extend(result_of(view, callee));
                        let declared = definition(view, callee).and_then(|(def, other)| {
                            let range = view.place_in(def, other.result_range()?);
                            Some(Flow { range, dtype: None })
                        });
                        flows.extend(declared);
                    }
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

/// Returns the tail expression of the body of a function expression.
fn result_of(view: &View<'_>, function: ExprRef) -> Option<ExprRef> {
    Some(function.sibling(view.function(function)?.body?.result))
}
