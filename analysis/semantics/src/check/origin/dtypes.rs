//! The immediate source of the data type of an expression.

use operators::Operator;
use types::{DataType, TensorType, Type};

use super::{Step, StepKind};
use crate::{body::*, relations::result_of_call, view::View};

/// The source of the data type of an expression.
pub(super) enum DtypeSource {
    /// The data type of another expression.
    Same(ExprRef),
    /// The declaration of a variable without a value.
    Declared,
    /// The operator that is called here: `argwhere` gives int32, whatever its operand is.
    Made(&'static Operator),
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
    match unit.expr(expr_ref.expr) {
        Expr::If { then, .. } => Some(DtypeSource::Same(expr_ref.sibling(then.result))),
        Expr::Call(call) => {
            let call = unit.call(*call);
            let Callee::Operator(operator) = call.callee else { return None };
            let mut args = call.args.iter().enumerate();
            let carrier = args.find(|&(position, &arg)| {
                dtype(expr_ref.sibling(arg)) == Some(expected)
                    && carries(view, expr_ref, operator, call, position)
            });
            Some(match carrier {
                Some((_, &arg)) => DtypeSource::Same(expr_ref.sibling(arg)),
                None => DtypeSource::Made(operator),
            })
        }
        _ => None,
    }
}

/// Returns true if the data type of an argument determines that of the result: with another one, the relation gives
/// another result or fails.
fn carries(
    view: &View<'_>,
    expr_ref: ExprRef,
    operator: &'static Operator,
    call: &CallData,
    position: usize,
) -> bool {
    let args = call.args.iter().map(|&arg| view.ty(expr_ref.sibling(arg)));
    let mut inputs: Vec<Type> = args.cloned().collect();
    let Some(Type::Tensor(tensor)) = inputs.get(position) else { return true };
    let Some(other) = another(tensor.dtype) else { return true };
    inputs[position] = Type::from(TensorType::new(tensor.shape.iter().cloned(), other));
    result_of_call(operator, &call.attrs, &inputs).as_ref() != Some(view.ty(expr_ref))
}

/// Returns a data type of the same kind, which operators take in the same places.
fn another(dtype: DataType) -> Option<DataType> {
    match dtype {
        DataType::FLOAT32 => Some(DataType::FLOAT64),
        _ if dtype.is_float() => Some(DataType::FLOAT32),
        DataType::INT32 => Some(DataType::INT64),
        _ if dtype.is_int() => Some(DataType::INT32),
        _ => None,
    }
}

/// Returns the call that makes a data type.
pub(super) fn made(
    view: &View<'_>,
    expr_ref: ExprRef,
    operator: &'static Operator,
) -> Option<Step> {
    let dtype = view.ty(expr_ref).as_tensor()?.dtype;
    Some(Step::new(view.callee_range(expr_ref), StepKind::DataType { operator, dtype }))
}
