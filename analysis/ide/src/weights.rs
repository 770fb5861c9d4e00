//! Weights: the parameters and constants that operators use as weights, by the roles of their arguments.
//!
//! ```text
//! def @main(%x: Tensor[(2, 8), float32], %w: Tensor[(8, 4), float32], %b: Tensor[(4), float32]) {
//!   let %y = nn.dense(%x, transpose(%w), units=4);
//!   add(%y, %b)                    // `%w` and `%b` are weights, `%x` is data
//! }
//! ```

use operators::Role;
use rustc_hash::FxHashSet;
use semantics::{
    ExprRef, View,
    body::{BinderKind, Expr, LocalRef},
};

use crate::lookups::{args_of, operator_call};

/// The maximal number of operators such as `transpose` between a parameter and its use.
const MAX_DEPTH: usize = 64;

/// A value that is not computed: a parameter or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Leaf {
    Param(LocalRef),
    Constant(ExprRef),
}

/// Returns the parameter or constant that an expression is, possibly in another layout: `transpose(%w)` is `%w`.
pub(crate) fn leaf(view: &View<'_>, mut expr_ref: ExprRef) -> Option<Leaf> {
    for _ in 0..MAX_DEPTH {
        expr_ref = view.resolve(expr_ref);
        if let Some(binding) = view.variable(expr_ref) {
            let kind = view.binder(binding).kind;
            let is_given = matches!(kind, BinderKind::Param | BinderKind::Free);
            return is_given.then_some(Leaf::Param(binding));
        }
        match view.unit(expr_ref.unit).expr(expr_ref.expr) {
            Expr::Meta(_) | Expr::Filled(_) => return Some(Leaf::Constant(expr_ref)),
            Expr::Call(_) => {
                let (call, operator) = operator_call(view, expr_ref)?;
                let &first = call.args.first().filter(|_| operator.keeps_data)?;
                expr_ref = ExprRef { unit: expr_ref.unit, expr: first };
            }
            Expr::Proj { tuple, index } => {
                let tuple = view.resolve(ExprRef { unit: expr_ref.unit, expr: *tuple });
                expr_ref = field(view, tuple, *index)?;
            }
            _ => return None,
        }
    }
    None
}

/// Returns a field of a tuple expression.
pub(crate) fn field(view: &View<'_>, tuple: ExprRef, index: u32) -> Option<ExprRef> {
    match view.unit(tuple.unit).expr(tuple.expr) {
        Expr::Tuple(fields) => {
            let &expr = fields.get(index as usize)?;
            Some(ExprRef { unit: tuple.unit, expr })
        }
        _ => None,
    }
}

/// Returns the parameters that are data of an operator.
pub(crate) fn data_uses(view: &View<'_>, exprs: &[ExprRef]) -> FxHashSet<Leaf> {
    let mut found = FxHashSet::default();
    for (count, &expr_ref) in exprs.iter().enumerate() {
        if count.is_multiple_of(4096) {
            view.db.unwind_if_revision_cancelled();
        }
        let Some((call, operator)) = operator_call(view, expr_ref) else { continue };
        for (at, &expr) in call.args.iter().enumerate() {
            if operator.role(at) == Role::Data && !(at == 0 && operator.keeps_data) {
                let leaf = leaf(view, ExprRef { unit: expr_ref.unit, expr });
                found.extend(leaf.filter(|leaf| matches!(leaf, Leaf::Param(_))));
            }
        }
    }
    found
}

/// Returns true for a number that is written in the code.
fn is_number(view: &View<'_>, expr_ref: ExprRef) -> bool {
    let expr_ref = view.resolve(expr_ref);
    matches!(view.unit(expr_ref.unit).expr(expr_ref.expr), Expr::Literal(_))
}

/// Returns the arguments of a call of an operator that are constants, or parameters in the role of a weight; none for
/// other expressions.
pub(crate) fn weights_of(view: &View<'_>, expr_ref: ExprRef) -> Vec<Leaf> {
    let call = operator_call(view, expr_ref).filter(|(_, operator)| !operator.variadic);
    let Some((call, operator)) = call else { return Vec::new() };
    let args = || args_of(expr_ref.unit, call);
    // Beside a number, as in `%x * 2f`, a parameter is an input.
    let has_computed_operand = || {
        args().enumerate().any(|(at, arg)| {
            operator.role(at) == Role::Operand && leaf(view, arg).is_none() && !is_number(view, arg)
        })
    };
    // A bias or scale is the same for each sample or position; what has the shape of the result, such as the
    // other branch of a residual block or a mask, is data.
    let shape_of = |at: ExprRef| view.ty(at).as_tensor().map(|ty| &ty.shape);
    let result = shape_of(expr_ref);
    let is_spread = |arg: ExprRef| {
        let shape = shape_of(arg);
        shape.is_none() || shape != result
    };
    let mut found = Vec::new();
    for (at, arg) in args().enumerate() {
        let Some(leaf) = leaf(view, arg) else { continue };
        let counts = match operator.role(at) {
            Role::Control | Role::Tuple => false,
            // It counts where the result is used.
            _ if at == 0 && operator.keeps_data => false,
            Role::Weight => true,
            Role::Operand => {
                matches!(leaf, Leaf::Constant(_)) || is_spread(arg) && has_computed_operand()
            }
            Role::Data => matches!(leaf, Leaf::Constant(_)),
        };
        if counts {
            found.push(leaf);
        }
    }
    found
}
