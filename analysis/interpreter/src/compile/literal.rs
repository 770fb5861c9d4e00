//! Number literals as tensors.

use semantics::body::{FilledTensor, Literal};
use types::{DataType, Dim, Type};

use crate::{code::Fill, tensor::Tensor};

/// Returns a literal as a tensor of the inferred type, or else of the type of its suffix.
pub(super) fn tensor(literal: &Literal, ty: &Type) -> Option<Tensor> {
    of_dtype(literal, ty.as_tensor().map(|tensor| tensor.dtype))
}

/// Returns a literal as a tensor of a data type.
pub(crate) fn of_dtype(literal: &Literal, dtype: Option<DataType>) -> Option<Tensor> {
    element(literal, dtype)
}

/// Returns the value and shape of `Constant(1, (10, 10), float32)`.
pub(super) fn filled(filled: &FilledTensor) -> Result<Fill, String> {
    let shape: Option<Vec<usize>> = filled.shape.iter().map(Dim::as_length).collect();
    let Some(shape) = shape else { return Err("the shape of this constant is not known".into()) };
    match element(&filled.value, Some(filled.dtype)) {
        Some(value) => Ok(Fill { value, shape }),
        None => Err(format!("constants of {} are not supported", filled.dtype)),
    }
}

fn element(literal: &Literal, dtype: Option<DataType>) -> Option<Tensor> {
    match *literal {
        Literal::Bool(value) => {
            let dtype = dtype.unwrap_or(DataType::BOOL);
            Tensor::from_i64s(dtype, &[], vec![i64::from(value)])
        }
        Literal::Int { value, dtype: suffix, claimed } => {
            let small = i32::try_from(value).is_ok();
            let default = if small { DataType::INT32 } else { DataType::INT64 };
            Tensor::from_i64s(dtype.or(suffix).or(claimed).unwrap_or(default), &[], vec![value])
        }
        Literal::Float { bits, dtype: suffix, claimed } => {
            let dtype = dtype.or(suffix).or(claimed).unwrap_or(DataType::FLOAT32);
            Tensor::from_f64s(dtype, &[], vec![f64::from_bits(bits)])
        }
    }
}
