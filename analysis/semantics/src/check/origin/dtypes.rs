//! Where the data type of an expression comes from, one step at a time.

use crate::{
    body::*,
    view::{Spot, View},
};

/// What the data type of an expression comes from.
pub(super) enum DtypeSource {
    /// It is that of another expression.
    Same(Spot),
    /// It is a variable without a value, which is declared.
    Declared,
}

/// Looks one step back for it.
pub(super) fn dtype_source(view: &View<'_>, spot: Spot) -> Option<DtypeSource> {
    let dtype = |spot: Spot| view.ty(spot).as_tensor().map(|tensor| tensor.dtype);
    let wanted = dtype(spot)?;
    if let Some(binding) = view.variable(spot) {
        let value = view.value(binding).map(DtypeSource::Same);
        return Some(value.unwrap_or(DtypeSource::Declared));
    }
    let unit = view.unit(spot.unit);
    let at = |expr: ExprId| Spot { unit: spot.unit, expr };
    match unit.expr(spot.expr) {
        Expr::If { then, .. } => Some(DtypeSource::Same(at(then.result))),
        Expr::Call(call) => {
            let call = unit.call(*call);
            let keeps = matches!(call.callee, Callee::Operator(_))
                && !call.written.iter().any(|attr| attr.name.ends_with("dtype"));
            let mut args = call.args.iter().map(|&arg| at(arg));
            args.find(|&arg| keeps && dtype(arg) == Some(wanted)).map(DtypeSource::Same)
        }
        _ => None,
    }
}
