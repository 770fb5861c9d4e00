//! The immediate source of the data type of an expression.

use crate::{body::*, view::View};

/// The source of the data type of an expression.
pub(super) enum DtypeSource {
    /// The data type of another expression.
    Same(ExprRef),
    /// The declaration of a variable without a value.
    Declared,
}

/// Returns the immediate source of the data type of an expression.
pub(super) fn dtype_source(view: &View<'_>, expr_ref: ExprRef) -> Option<DtypeSource> {
    let dtype = |expr_ref: ExprRef| view.ty(expr_ref).as_tensor().map(|tensor| tensor.dtype);
    let expected = dtype(expr_ref)?;
    if let Some(binding) = view.variable(expr_ref) {
        let value = view.value(binding).map(DtypeSource::Same);
        return Some(value.unwrap_or(DtypeSource::Declared));
    }
    let unit = view.unit(expr_ref.unit);
    let at = |expr: ExprId| ExprRef { unit: expr_ref.unit, expr };
    match unit.expr(expr_ref.expr) {
        Expr::If { then, .. } => Some(DtypeSource::Same(at(then.result))),
        Expr::Call(call) => {
            let call = unit.call(*call);
            let keeps = matches!(call.callee, Callee::Operator(_))
                && !call.written.iter().any(|attr| attr.name.ends_with("dtype"));
            let mut args = call.args.iter().map(|&arg| at(arg));
            args.find(|&arg| keeps && dtype(arg) == Some(expected)).map(DtypeSource::Same)
        }
        _ => None,
    }
}
