//! Losses.

use crate::families::prelude::*;

/// The cross entropy of predictions and targets, averaged over the batch.
pub(super) fn cross_entropy(call: &mut Call<'_>, logits: bool) -> Outcome {
    let (x, y) = (call.tensor(0)?, call.tensor(1)?);
    if x.shape() != y.shape() || x.rank() == 0 {
        return Err(call.fault("predictions and targets must have the same shape"));
    }
    let batch = x.shape()[0] as f64;
    let terms = watched(x.to_f64s().into_iter()).zip(y.to_f64s());
    let sum: f64 = terms.map(|(x, y)| if logits { x * y } else { x.ln() * y }).sum();
    match Tensor::from_f64s(x.dtype(), &[], vec![-sum / batch]) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(x.dtype()),
    }
}

/// The negative log likelihood of the target classes.
pub(super) fn nll_loss(call: &mut Call<'_>) -> Outcome {
    let ignored = call.int("ignore_index")?;
    let reduction = call.str("reduction").to_owned();
    let (predictions, targets) = (call.tensor(0)?, call.tensor(1)?);
    let weights = call.tensor(2)?.to_f64s();
    let shape = predictions.shape();
    let axis = usize::from(shape.len() > 1);
    let Some(&classes) = shape.get(axis) else {
        return Err(call.fault("the predictions have no class axis"));
    };
    let inner: usize = shape[axis + 1..].iter().product();
    let numbers = predictions.to_f64s();
    let mut losses = with_capacity(targets.len());
    let mut total = 0.0;
    for (at, class) in watched(targets.to_i64s().into_iter().enumerate()) {
        if class == ignored {
            losses.push(0.0);
            continue;
        }
        let Some(class) = usize::try_from(class).ok().filter(|&class| class < classes) else {
            return Err(
                call.fault(format_args!("class {class} is out of range for {classes} classes"))
            );
        };
        let (batch, place) = (at / inner.max(1), at % inner.max(1));
        let place = (batch * classes + class) * inner + place;
        let weight = weights.get(class).copied().unwrap_or_default();
        losses.push(-numbers.get(place).copied().unwrap_or_default() * weight);
        total += weight;
    }
    let sum: f64 = losses.iter().sum();
    let dtype = predictions.dtype();
    let made = match reduction.as_str() {
        "none" => Tensor::from_f64s(dtype, targets.shape(), losses),
        "sum" => Tensor::from_f64s(dtype, &[], vec![sum]),
        _ => Tensor::from_f64s(dtype, &[], vec![sum / total]),
    };
    made.map_or_else(|| call.unsupported(dtype), |tensor| Ok(tensor.into()))
}
