//! Upsampling by factors.
//!
//! The axes are processed one after the other, last one first, which adds the numbers in the same
//! order as TVM. As there, everything is computed in single precision, including integers.

use crate::{convert::converted, families::prelude::*};

/// The elements that contribute to one element of the result, and their weights.
type Taps = Vec<(usize, f32)>;

/// Scales the axes with these letters. Halves of a size are rounded to even if the size is known at
/// compile time, and away from zero otherwise.
pub(in crate::families) fn upsampling(
    call: &mut Call<'_>,
    letters: &[u8],
    factors: &[f64],
    round: fn(f64) -> f64,
) -> Outcome {
    let layout = call.str("layout");
    let mode = match (letters.len(), call.attrs().has("coordinate_transformation_mode")) {
        (3, true) => call.str("coordinate_transformation_mode"),
        (3, false) => "half_pixel",
        _ if call.bool("align_corners") => "align_corners",
        _ => "asymmetric",
    };
    let method = call.str("method");
    let method = method.strip_prefix("bi").or(method.strip_prefix("tri")).unwrap_or(method);
    let data = call.tensor(0)?;
    let axes = operators::Layout::parse(layout).map_err(|error| call.fault(error))?;
    if axes.rank() != data.rank() {
        return Err(call.fault(format_args!("the data is not in the layout `{layout}`")));
    }
    let mut shape = data.shape().to_vec();
    let mut plan: Vec<(usize, Vec<Taps>)> = Vec::new();
    for (&letter, factor) in letters.iter().zip(factors) {
        let Some(axis) = axes.index_of(letter as char) else {
            return Err(call.fault(format_args!(
                "there is no axis `{}` in layout `{layout}`",
                letter as char
            )));
        };
        let size = shape[axis];
        let target = round(size as f64 * factor);
        if !(0.0..=f64::from(i32::MAX)).contains(&target) || size == 0 && target > 0.0 {
            return Err(
                call.fault(format_args!("an axis of size {size} cannot be scaled to {target}"))
            );
        }
        let target = target as usize;
        shape[axis] = target;
        call.allow(&shape, DataType::FLOAT32)?;
        let taps: Option<Vec<Taps>> = try_collected(
            watched(0..target).map(|at| taps(at, size, target, method, mode).ok_or(())),
        )
        .ok();
        let Some(taps) = taps else {
            return Err(
                call.fault(format_args!("method `{method}` is not supported with `{mode}`"))
            );
        };
        plan.push((axis, taps));
    }
    let mut numbers = data.to_f32s();
    let mut sizes = data.shape().to_vec();
    for (axis, taps) in plan.iter().rev() {
        let inner = sizes[axis + 1..].iter().product();
        numbers = along(&numbers, sizes[*axis], inner, taps);
        sizes[*axis] = taps.len();
    }
    match f32::tensor(&sizes, numbers).and_then(|tensor| converted(tensor, data.dtype())) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(data.dtype()),
    }
}

/// Scales an axis of `size` with `inner` elements per position.
fn along(from: &[f32], size: usize, inner: usize, taps: &[Taps]) -> Vec<f32> {
    let (each, made) = (size * inner, taps.len() * inner);
    if each == 0 || made == 0 {
        return Vec::new();
    }
    let mut out = repeated(0f32, from.len() / each * made);
    each_chunk(&mut out, made, 4, &|at, out| {
        let from = from.get(at * each..(at + 1) * each).unwrap_or_default();
        for (out, taps) in out.chunks_mut(inner).zip(taps) {
            spend(2 * inner * taps.len());
            for (at, out) in out.iter_mut().enumerate() {
                let part = |&(place, weight): &(usize, f32)| match weight {
                    1.0 => from[place * inner + at],
                    weight => from[place * inner + at] * weight,
                };
                *out = taps.iter().map(part).reduce(|x, y| x + y).unwrap_or(0.0);
            }
        }
    });
    out
}

/// The sources of element `at` of `target` ones; `None` for modes that TVM does not support.
fn taps(at: usize, size: usize, target: usize, method: &str, mode: &str) -> Option<Taps> {
    let (size_f, target_f, x) = (size as f32, target as f32, at as f32);
    let scale = size_f / target_f;
    let place = match mode {
        "half_pixel" => (x + 0.5) * scale - 0.5,
        "align_corners" if target > 1 => (size_f - 1.0) / (target_f - 1.0) * x,
        "align_corners" => 0.0,
        "asymmetric" => scale * x,
        "pytorch_half_pixel" if target > 1 => (x + 0.5) * scale - 0.5,
        "pytorch_half_pixel" => 0.0,
        "tf_half_pixel_for_nn" => (x + 0.5) * scale,
        _ => return None,
    };
    let inside = |place: f32| place.clamp(0.0, size_f - 1.0) as usize;
    let floor = place.floor();
    let t = place - floor;
    Some(match method {
        "nearest_neighbor" if mode == "align_corners" => vec![(inside(place.round()), 1.0)],
        "nearest_neighbor" => vec![(inside((place + 1e-5).floor()), 1.0)],
        "linear" => vec![(inside(floor), 1.0 - t), (inside(floor + 1.0), t)],
        "cubic" => {
            let alpha = -0.5;
            let (t2, t3) = (t * t, t * t * t);
            let weights = [
                alpha * (t3 - 2.0 * t2 + t),
                (alpha + 2.0) * t3 - (3.0 + alpha) * t2 + 1.0,
                -(alpha + 2.0) * t3 + (3.0 + 2.0 * alpha) * t2 - alpha * t,
                -alpha * t3 + alpha * t2,
            ];
            let places = [-1.0, 0.0, 1.0, 2.0].map(|by| inside(floor + by));
            places.into_iter().zip(weights).collect()
        }
        _ => return None,
    })
}
