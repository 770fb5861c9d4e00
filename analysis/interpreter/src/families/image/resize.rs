//! Resizing by interpolation.
//!
//! For each position of the result along an axis, the contributing positions of the data and their
//! weights are computed. The axes are then processed one after the other, innermost first and in
//! single precision, in the order of TVM's arithmetic.

use super::{super::layouts, *};

/// The interpolation between elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Nearest,
    Linear,
    Cubic,
}

/// The rounding to the nearest element.
#[derive(Clone, Copy)]
enum Rounding {
    /// Halves are rounded away from zero.
    Round,
    PreferFloor,
    PreferCeil,
    Floor,
    Ceil,
}

impl Method {
    fn of(call: &Call<'_>) -> Result<Method, Fault> {
        match call.str("method").to_ascii_lowercase().as_str() {
            "nearest_neighbor" => Ok(Method::Nearest),
            "linear" | "bilinear" => Ok(Method::Linear),
            "cubic" => Ok(Method::Cubic),
            other => Err(call.fault(format_args!("unknown method \"{other}\""))),
        }
    }
}

impl Rounding {
    fn of(call: &Call<'_>, mode: &str) -> Result<Rounding, Fault> {
        match call.str("rounding_method") {
            "" if mode == "align_corners" => Ok(Rounding::Round),
            "" => Ok(Rounding::Floor),
            "round" => Ok(Rounding::Round),
            "round_prefer_floor" => Ok(Rounding::PreferFloor),
            "round_prefer_ceil" => Ok(Rounding::PreferCeil),
            "floor" => Ok(Rounding::Floor),
            "ceil" => Ok(Rounding::Ceil),
            other => Err(call.fault(format_args!("unknown rounding method \"{other}\""))),
        }
    }

    /// The element nearest to `x`. Floor and ceiling tolerate rounding errors.
    fn round(self, x: f32) -> i64 {
        let nearest = match self {
            Rounding::Round => x.round(),
            Rounding::PreferFloor => (x - 0.5).ceil(),
            Rounding::PreferCeil => (x + 0.5).floor(),
            Rounding::Floor => (x + 1e-5).floor(),
            Rounding::Ceil => (x - 1e-5).ceil(),
        };
        nearest as i64
    }
}

/// The positions of `count` elements of the result among `size` elements of the data.
fn coordinates(
    call: &Call<'_>,
    mode: &str,
    size: usize,
    count: usize,
    (start, end): (f32, f32),
) -> Result<Vec<f32>, Fault> {
    let (from, to) = (size as f64, count as f64);
    let scale = (from / to) as f32;
    let places = (0..count).map(|place| place as f32);
    Ok(match mode {
        "half_pixel" => collected(places.map(|x| (x + 0.5) * scale - 0.5)),
        "pytorch_half_pixel" if count > 1 => collected(places.map(|x| (x + 0.5) * scale - 0.5)),
        "pytorch_half_pixel" => repeated(0.0, count),
        "tf_half_pixel_for_nn" => collected(places.map(|x| (x + 0.5) * scale)),
        "asymmetric" => collected(places.map(|x| scale * x)),
        // A single element has no opposite corner; it is the first of the data.
        "align_corners" if count > 1 => {
            let scale = ((from - 1.0) / (to - 1.0)) as f32;
            collected(places.map(|x| scale * x))
        }
        "align_corners" => repeated(0.0, count),
        "tf_crop_and_resize" => {
            let last = (from - 1.0) as f32;
            if count > 1 {
                let first = start * last;
                collected(places.map(|x| first + x * (end - start) * last / (to - 1.0) as f32))
            } else {
                repeated(0.5 * (start + end) * last, count)
            }
        }
        other => {
            return Err(
                call.fault(format_args!("unknown coordinate transformation mode \"{other}\""))
            );
        }
    })
}

/// The contributing elements and their weights along one axis.
struct Taps {
    /// The size of the data.
    size: usize,
    /// The number of contributing elements per position.
    width: usize,
    /// Their indices, position by position.
    index: Vec<usize>,
    /// Their weights; empty if the one element is copied.
    weight: Vec<f32>,
    /// The positions outside of the data.
    outside: Vec<bool>,
}

impl Taps {
    fn count(&self) -> usize {
        self.outside.len()
    }

    fn new(size: usize, places: &[f32], method: Method, rounding: Rounding) -> Taps {
        let last = size.saturating_sub(1) as i64;
        let width = match method {
            Method::Nearest => 1,
            Method::Linear => 2,
            Method::Cubic => 4,
        };
        let mut index = with_capacity(places.len() * width);
        for &x in places {
            let first = match method {
                Method::Nearest => rounding.round(x),
                Method::Linear => x.floor() as i64,
                Method::Cubic => (x.floor() as i64).saturating_sub(1),
            };
            let element = |k: i64| first.saturating_add(k).clamp(0, last) as usize;
            index.extend((0..width as i64).map(element));
        }
        let pair = |x: &f32| [1.0 - (x - x.floor()), x - x.floor()];
        let weight = match method {
            Method::Linear => collected(places.iter().flat_map(pair)),
            // The cubic weights depend on more parameters and are filled in later.
            Method::Nearest | Method::Cubic => Vec::new(),
        };
        let outside = mapped(places, |x| x < 0.0 || x > last as f32);
        Taps { size, width, index, weight, outside }
    }
}

/// The weights of the four elements around each position.
fn cubic_weights(places: &[f32], alpha: f64) -> Vec<[f32; 4]> {
    let a = alpha as f32;
    let (a2, a3, b3) = ((alpha + 2.0) as f32, (3.0 + alpha) as f32, (3.0 + 2.0 * alpha) as f32);
    let weights = |x: &f32| {
        let t = x - x.floor();
        let (t2, t3) = (t * t, t * t * t);
        [
            a * (t3 - 2.0 * t2 + t),
            a2 * t3 - a3 * t2 + 1.0,
            -a2 * t3 + b3 * t2 - a * t,
            -a * t3 + a * t2,
        ]
    };
    collected(places.iter().map(weights))
}

/// Removes the weights of elements outside of the data and normalizes the others.
fn excluded(places: &[f32], size: usize, weights: &[[f32; 4]]) -> Vec<[f32; 4]> {
    let one = |(x, weights): (&f32, &[f32; 4])| {
        let first = (x.floor() as i64).saturating_sub(1);
        let mut kept = *weights;
        for (k, weight) in kept.iter_mut().enumerate() {
            let at = first + k as i64;
            if at < 0 || at >= size as i64 {
                *weight = 0.0;
            }
        }
        let sum: f32 = kept[0] + kept[1] + kept[2] + kept[3];
        kept.map(|weight| weight / sum)
    };
    collected(places.iter().zip(weights).map(one))
}

/// Interpolates along one axis of data of the shape `(outer, size, inner)`. `by_column` holds
/// weights that depend on the position along the last axis instead.
fn pass(
    call: &Call<'_>,
    data: &[f32],
    inner: usize,
    taps: &Taps,
    by_column: Option<&[[f32; 4]]>,
) -> Result<Vec<f32>, Fault> {
    let (count, block) = (taps.count(), taps.size * inner);
    let outer = data.len().checked_div(block).unwrap_or(0);
    call.allow(&[outer, count, inner], DataType::FLOAT32)?;
    let mut out = repeated(0f32, outer * count * inner);
    if out.is_empty() {
        return Ok(out);
    }
    each_chunk(&mut out, inner * count, taps.width, &|at, to| {
        let from = data.get(at * block..(at + 1) * block).unwrap_or_default();
        for (place, to) in to.chunks_mut(inner).enumerate() {
            spend(inner * taps.width);
            let index = &taps.index[place * taps.width..(place + 1) * taps.width];
            let lines = |k: usize| &from[index[k] * inner..(index[k] + 1) * inner];
            if let Some(by_column) = by_column {
                for (at, to) in to.iter_mut().enumerate() {
                    let weight = &by_column[at % by_column.len()];
                    *to = (0..taps.width).map(|k| lines(k)[at] * weight[k]).sum();
                }
                continue;
            }
            let Some(weight) = taps.weight.get(place * taps.width..(place + 1) * taps.width) else {
                to.copy_from_slice(lines(0));
                continue;
            };
            let first = weight[0];
            to.iter_mut().zip(lines(0)).for_each(|(to, x)| *to = x * first);
            for (k, &weight) in weight.iter().enumerate().skip(1) {
                to.iter_mut().zip(lines(k)).for_each(|(to, x)| *to += x * weight);
            }
        }
    });
    Ok(out)
}

/// `image.resize1d`, `image.resize2d`, `image.resize3d`.
pub(super) fn resize(call: &mut Call<'_>, plain: &str) -> Outcome {
    let size = call.ints("size")?;
    let roi: Vec<f32> = call.floats("roi")?.into_iter().map(|x| x as f32).collect();
    resize_to(call, plain, &size, &roi, false)
}

/// `dyn.image.resize2d`, with the sizes as an argument.
pub(super) fn resize_to_argument(call: &mut Call<'_>) -> Outcome {
    let size = call.numbers(1)?;
    let roi = call.tensor(2)?.to_f32s();
    resize_to(call, "NCHW", &size, &roi, true)
}

fn out_dtype(call: &Call<'_>) -> Result<DataType, Fault> {
    match call.attrs().dtype("out_dtype") {
        dtype if dtype.is_void() => Ok(call.tensor(0)?.dtype()),
        dtype => Ok(dtype),
    }
}

fn resize_to(call: &Call<'_>, plain: &str, wanted: &[i64], roi: &[f32], dynamic: bool) -> Outcome {
    let dtype = out_dtype(call)?;
    let layout = call.str("layout");
    let data = layouts::convert(call, call.tensor(0)?, layout, plain)?;
    let axes = plain.len() - 2;
    if data.rank() != axes + 2 || wanted.len() != axes {
        return Err(call.fault(format_args!("there must be {axes} sizes and {axes} spatial axes")));
    }
    let mut counts = with_capacity(axes);
    for &count in wanted {
        match usize::try_from(count) {
            Ok(count) => counts.push(count),
            Err(_) => return Err(call.fault(format_args!("{count} is not a valid size"))),
        }
    }
    let sizes = data.shape()[2..].to_vec();
    let mut shape = data.shape()[..2].to_vec();
    shape.extend(&counts);
    call.allow(&shape, dtype)?;
    if sizes.contains(&0) && !shape.contains(&0) {
        return Err(call.fault("the images are empty"));
    }
    let mode = call.str("coordinate_transformation_mode");
    let method = Method::of(call)?;
    let rounding = match method {
        Method::Nearest => Rounding::of(call, mode)?,
        _ => Rounding::Round,
    };
    let cropping = mode == "tf_crop_and_resize";
    let mut places = with_capacity(axes);
    for axis in 0..axes {
        // The region lists axes outermost first, but innermost first for volumes.
        let at = if axes == 3 { axes - 1 - axis } else { axis };
        let ends = match (roi.get(at), roi.get(axes + at)) {
            (Some(&start), Some(&end)) => (start, end),
            _ if cropping => {
                return Err(call.fault(format_args!("`roi` must have {} numbers", 2 * axes)));
            }
            _ => (0.0, 0.0),
        };
        places.push(coordinates(call, mode, sizes[axis], counts[axis], ends)?);
    }
    let mut taps: Vec<Taps> =
        (0..axes).map(|axis| Taps::new(sizes[axis], &places[axis], method, rounding)).collect();
    let mut by_column = None;
    if method == Method::Cubic {
        let alpha = call.float("cubic_alpha")?;
        let exclude = call.int("cubic_exclude")? != 0;
        for axis in 0..axes {
            let mut weights = cubic_weights(&places[axis], alpha);
            if exclude && axes == 3 && axis == 0 {
                // TVM weights the depth like the width: by the horizontal position, compared with
                // the height.
                by_column = Some(excluded(&places[2], sizes[1], &cubic_weights(&places[2], alpha)));
            } else if exclude {
                weights = excluded(&places[axis], sizes[axis], &weights);
            }
            taps[axis].weight = collected(weights.into_iter().flatten());
        }
    }
    if method == Method::Nearest && mode == "asymmetric" && axes == 2 && !dynamic {
        // Integral ratios are divided by, regardless of the rounding method.
        for axis in 0..axes {
            let (size, count) = (sizes[axis], counts[axis]);
            if size > 0 && count >= size && count % size == 0 {
                let ratio = count / size;
                taps[axis].index = collected((0..count).map(|place| place / ratio));
            }
        }
    }
    let mut current = data.to_f32s();
    let mut inner = 1;
    for axis in (0..axes).rev() {
        let by_column = by_column.as_deref().filter(|_| axis == 0);
        current = pass(call, &current, inner, &taps[axis], by_column)?;
        inner *= counts[axis];
    }
    if cropping {
        let value = call.float("extrapolation_value")? as f32;
        // For volumes, TVM compares the height and the width only.
        let rows = axes.checked_sub(2).map(|row| &taps[row]);
        extrapolate(&mut current, rows, &taps[axes - 1], value);
    }
    finish(call, &shape, current, dtype, plain, layout)
}

/// Writes `value` to the positions outside of the data.
fn extrapolate(out: &mut [f32], rows: Option<&Taps>, columns: &Taps, value: f32) {
    let width = columns.count().max(1);
    for (line, to) in out.chunks_mut(width).enumerate() {
        spend(width);
        let outside = rows.is_some_and(|rows| rows.outside[line % rows.count()]);
        for (to, &column) in to.iter_mut().zip(&columns.outside) {
            if outside || column {
                *to = value;
            }
        }
    }
}

fn finish(
    call: &Call<'_>,
    shape: &[usize],
    out: Vec<f32>,
    dtype: DataType,
    plain: &str,
    layout: &str,
) -> Outcome {
    match f32::tensor(shape, out).and_then(|tensor| converted(tensor, dtype)) {
        Some(tensor) => Ok(layouts::convert(call, &tensor, plain, layout)?.into()),
        None => call.unsupported(dtype),
    }
}

/// `image.crop_and_resize`: crops each box and resizes it to the common size.
pub(super) fn crop_and_resize(call: &mut Call<'_>) -> Outcome {
    let dtype = out_dtype(call)?;
    let layout = call.str("layout");
    let method = Method::of(call)?;
    if method == Method::Cubic {
        return Err(call.fault("the method is \"bilinear\" or \"nearest_neighbor\""));
    }
    let value = call.float("extrapolation_value")? as f32;
    let data = layouts::convert(call, call.tensor(0)?, layout, "NCHW")?;
    let (boxes, of) = (call.tensor(1)?, call.numbers(2)?);
    let wanted = call.ints_for("crop_size", 2)?;
    let (&[batches, channels, height, width], Some(rows), Some(columns)) =
        (data.shape(), usize::try_from(wanted[0]).ok(), usize::try_from(wanted[1]).ok())
    else {
        return Err(call.fault("the images have the wrong rank, or `crop_size` is negative"));
    };
    if boxes.shape() != [of.len(), 4] {
        return Err(call.fault("there must be four numbers for each box"));
    }
    let shape = [of.len(), channels, rows, columns];
    call.allow(&shape, dtype)?;
    let size = channels * height * width;
    if height * width == 0 && !shape.contains(&0) {
        return Err(call.fault("the images are empty"));
    }
    let images = data.to_f32s();
    let places = |size: usize, count: usize, from: f32, to: f32| -> Vec<f32> {
        let last = size as f32 - 1.0;
        if count > 1 {
            let scale = last * (to - from) / (count - 1) as f32;
            collected((0..count).map(|place| from * last + scale * place as f32))
        } else {
            repeated(0.5 * (from + to) * last, count)
        }
    };
    let mut out = with_capacity(shape.iter().product());
    for (ends, image) in boxes.to_f32s().chunks_exact(4).zip(of) {
        let image = usize::try_from(image).ok().filter(|&image| image < batches);
        let Some(image) = image else {
            return Err(
                call.fault(format_args!("the index of a box is out of range for {batches} images"))
            );
        };
        let down = places(height, rows, ends[0], ends[2]);
        let across = places(width, columns, ends[1], ends[3]);
        let down = Taps::new(height, &down, method, Rounding::Round);
        let across = Taps::new(width, &across, method, Rounding::Round);
        let image = images.get(image * size..(image + 1) * size).unwrap_or_default();
        let lines = pass(call, image, 1, &across, None)?;
        let mut crop = pass(call, &lines, columns, &down, None)?;
        if rows * columns > 0 {
            extrapolate(&mut crop, Some(&down), &across, value);
        }
        out.append(&mut crop);
    }
    finish(call, &shape, out, dtype, "NCHW", layout)
}
