//! Relations of operators that broadcast as in NumPy.

use super::*;

/// Returns the broadcast of two shapes, or the first incompatible axis, counted from the end.
pub(crate) fn broadcast_shapes(a: &[Dim], b: &[Dim]) -> Result<Shape, usize> {
    let longest = if a.len() > b.len() { a } else { b };
    let shared = a.len().min(b.len());
    let mut shape: Shape = longest[..longest.len() - shared].iter().cloned().collect();
    for i in (1..=shared).rev() {
        let (x, y) = (&a[a.len() - i], &b[b.len() - i]);
        let dim = if x.is(1) {
            y
        } else if y.is(1) {
            x
        } else if x.is_any() {
            y
        } else if y.is_any() || x.equals(y) == Some(true) {
            x
        } else {
            return Err(i);
        };
        shape.push(dim.clone());
    }
    Ok(shape)
}

/// Broadcasts two arguments; `dtype` maps their data type to that of the result.
pub(crate) fn broadcast_with(
    call: &mut Call<'_>,
    dtype: impl FnOnce(DataType) -> DataType,
) -> Outcome {
    if !(call.is_tensor(0) && call.is_tensor(1)) {
        call.infer_literal_dtype(0, 1)?;
    }
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    if a.dtype != b.dtype {
        return dtype_mismatch(call, (0, a.dtype), (1, b.dtype));
    }
    match broadcast_shapes(&a.shape, &b.shape) {
        Ok(shape) => call.output(TensorType::of(shape, dtype(a.dtype))),
        Err(_) => no_broadcast(call, &a, &b).fail(),
    }
}

/// The most axes that a message names.
const MAX_AXES: usize = 16;

/// Returns the reason that two arguments do not broadcast, with each axis that is wrong: `(4, 5)` and `(3, 3)` are
/// of one size on neither.
fn no_broadcast(call: &Call<'_>, a: &TensorType, b: &TensorType) -> Reason {
    let (left, right) = (call.name(0), call.name(1));
    let shared = a.rank().min(b.rank());
    let pairs = (1..=shared).rev().map(|i| (a.rank() - i, b.rank() - i));
    let wrong: Vec<(usize, usize)> = pairs
        .filter(|&(x, y)| broadcast_shapes(&a.shape[x..=x], &b.shape[y..=y]).is_err())
        .take(MAX_AXES)
        .collect();
    let size = |dim: &Dim| Fact::Size(dim.clone(), "");
    let part = |text: Text| Fact::Text(Box::new(text));
    let sizes =
        wrong.iter().map(|&(x, y)| part(text!("{} and {}", size(&a.shape[x]), size(&b.shape[y]))));
    let axes = wrong.iter().map(|&(x, y)| {
        let (m, n) = (size(&a.shape[x]), size(&b.shape[y]));
        part(text!("axis {x} of {left} is {m}, axis {y} of {right} is {n}"))
    });
    let reason = Reason::new(
        Code::BroadcastMismatch,
        text!(
            "`{}`: {left} of shape `{}` and {right} of shape `{}` do not broadcast: {}",
            call.operator(),
            shape_text(&a.shape),
            shape_text(&b.shape),
            Fact::List(sizes.collect(), ", ", ", ")
        ),
    )
    .rule(text!(
        "counted from the last axis, sizes must be equal or one of them 1; {}",
        Fact::List(axes.collect(), "; ", "; ")
    ));
    // The origins of the first two sizes: each may be thousands of statements away.
    match wrong.first() {
        Some(&(x, y)) => reason.axis(1, y, &b.shape[y]).axis(0, x, &a.shape[x]),
        None => reason,
    }
}

/// Returns the broadcast of two arguments whose shape or data type is a type parameter. Two tensors
/// of that shape have it as their broadcast, and so have a tensor and a scalar: `fn<s : Shape>(%x:
/// Tensor[s, float32]) { %x + %x * 2f }`.
fn open_broadcast(call: &mut Call<'_>) -> Result<Option<(ShapeTerm, DTypeTerm)>, Halt> {
    if call.is_tensor(0) && call.is_tensor(1) {
        return Ok(None);
    }
    call.infer_literal_dtype(0, 1)?;
    Ok(broadcast_of_open(call))
}

fn broadcast_of_open(call: &Call<'_>) -> Option<(ShapeTerm, DTypeTerm)> {
    let parts = |ty: Type| match ty {
        Type::OpenTensor(open) => Some((open.shape.clone(), open.dtype.clone())),
        Type::Tensor(t) => Some((ShapeTerm::Dims(t.shape.clone()), DTypeTerm::Known(t.dtype))),
        _ => None,
    };
    let ((a, dtype), (b, other)) = (parts(call.ty(0))?, parts(call.ty(1))?);
    let is_scalar = |shape: &ShapeTerm| matches!(shape, ShapeTerm::Dims(dims) if dims.is_empty());
    let is_open = |dtype: &DTypeTerm| !matches!(dtype, DTypeTerm::Known(_));
    let shape = match (&a, &b) {
        (ShapeTerm::Param(_), _) if a == b || is_scalar(&b) => a,
        (_, ShapeTerm::Param(_)) if is_scalar(&a) => b,
        // The data type of `2 + 2` is inferred from context, as that of `2` is.
        _ if is_scalar(&a) && is_scalar(&b) && is_open(&dtype) => a,
        (ShapeTerm::Dims(a), ShapeTerm::Dims(b)) if matches!(dtype, DTypeTerm::Param(_)) => {
            ShapeTerm::Dims(broadcast_shapes(a, b).ok()?)
        }
        _ => return None,
    };
    (dtype == other).then_some((shape, dtype))
}

/// Broadcasts two arguments of equal data type.
pub(crate) fn broadcast(call: &mut Call<'_>) -> Outcome {
    if let Some((shape, dtype)) = open_broadcast(call)? {
        return call.output(open_tensor(shape, dtype));
    }
    broadcast_with(call, |dtype| dtype)
}

/// Broadcasts two arguments to a result of data type bool.
pub(crate) fn broadcast_compare(call: &mut Call<'_>) -> Outcome {
    if let Some((shape, _)) = open_broadcast(call)? {
        return call.output(open_tensor(shape, DTypeTerm::Known(DataType::BOOL)));
    }
    broadcast_with(call, |_| DataType::BOOL)
}
