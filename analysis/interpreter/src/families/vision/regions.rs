//! Pooling regions of interest to a common size.

use super::{
    super::{layouts, nn_conv_contrib::bilinear},
    *,
};

/// The common arguments of both operators on regions.
struct Regions {
    data: Vec<f32>,
    channels: usize,
    height: usize,
    width: usize,
    /// The index of the image and the four sides, in the coordinates of the data before scaling.
    regions: Vec<(usize, [f32; 4])>,
    rows: usize,
    columns: usize,
    scale: f32,
}

impl Regions {
    fn read(call: &Call<'_>) -> Result<Regions, Fault> {
        let data = layouts::convert(call, call.tensor(0)?, call.str("layout"), "NCHW")?;
        let rois = call.tensor(1)?;
        let &[batches, channels, height, width] = data.shape() else {
            return Err(call.fault("the data has the wrong rank"));
        };
        if rois.rank() != 2 || rois.shape()[1] != 5 {
            return Err(call.fault("a region has five numbers"));
        }
        let wanted = call.ints_for("pooled_size", 2)?;
        let (Ok(rows), Ok(columns)) = (usize::try_from(wanted[0]), usize::try_from(wanted[1]))
        else {
            return Err(call.fault("`pooled_size` is negative"));
        };
        let mut regions = with_capacity(rois.shape()[0]);
        for roi in rois.to_f32s().chunks_exact(5) {
            let image = roi[0] as i64;
            match usize::try_from(image) {
                Ok(image) if image < batches && height * width > 0 => {
                    regions.push((image, [roi[1], roi[2], roi[3], roi[4]]));
                }
                _ => return Err(call.fault(format_args!("image {image} is out of range"))),
            }
        }
        call.allow(&[regions.len(), channels, rows, columns], data.dtype())?;
        let scale = call.float("spatial_scale")? as f32;
        let data = data.to_f32s();
        Ok(Regions { data, channels, height, width, regions, rows, columns, scale })
    }

    /// Applies `f` to a plane of the data, the sides of a region, and the row and column of the
    /// result.
    fn run(
        &self,
        call: &Call<'_>,
        f: impl Fn(&[f32], &[f32; 4], usize, usize) -> f32 + Sync,
    ) -> Outcome {
        let dtype = call.tensor(0)?.dtype();
        let (places, area) = (self.rows * self.columns, self.height * self.width);
        let block = self.channels * places;
        let mut out = repeated(0f32, self.regions.len() * block);
        for ((image, sides), to) in self.regions.iter().zip(out.chunks_mut(block.max(1))) {
            each_chunk(to, places, 32, &|channel, to| {
                let plane = image * self.channels + channel;
                let plane = self.data.get(plane * area..(plane + 1) * area).unwrap_or_default();
                for (place, to) in watched(to.iter_mut().enumerate()) {
                    *to = f(plane, sides, place / self.columns, place % self.columns);
                }
            });
        }
        let shape = [self.regions.len(), self.channels, self.rows, self.columns];
        let out = floats(call, &shape, out, dtype)?;
        Ok(layouts::convert(call, &out, "NCHW", call.str("layout"))?.into())
    }
}

/// The maximum number of samples along a side of a region; no image has as many elements.
const MAX_SAMPLES: f32 = 65536.0;

/// `vision.roi_align`: the mean or maximum of interpolated samples.
pub(super) fn align(call: &mut Call<'_>) -> Outcome {
    let all = Regions::read(call)?;
    let samples = usize::try_from(call.int("sample_ratio")?).ok().filter(|&count| count > 0);
    let mean = match call.str("mode") {
        "avg" => true,
        "max" => false,
        other => return Err(call.fault(format_args!("unknown mode \"{other}\""))),
    };
    let (tall, wide) = (all.height as f32, all.width as f32);
    let longest = |&(_, sides): &(usize, [f32; 4])| {
        // A negative scale exchanges the sides.
        (sides[2] - sides[0]).abs().max((sides[3] - sides[1]).abs()).max(1.0) * all.scale.abs()
    };
    let most = match samples {
        Some(count) => count as f32,
        None => all.regions.iter().map(longest).fold(0.0, f32::max),
    };
    if most > MAX_SAMPLES {
        return Err(call.fault(format_args!("{most} samples along a side are too many")));
    }
    all.run(call, |plane, sides, row, column| {
        let [left, top, right, bottom] = sides.map(|side| side * all.scale);
        let (height, width) = ((bottom - top).max(1.0), (right - left).max(1.0));
        let (down, across) = (height / all.rows as f32, width / all.columns as f32);
        let grid = |size: f32| samples.unwrap_or(size.ceil() as usize);
        let (lines, dots) = (grid(down), grid(across));
        let (top, left) = (top + row as f32 * down, left + column as f32 * across);
        let mut sum = if mean { 0.0 } else { f32::MIN };
        for i in 0..lines {
            spend(8 * dots);
            let y = top + (i as f32 + 0.5) * down / lines as f32;
            for j in 0..dots {
                let x = left + (j as f32 + 0.5) * across / dots as f32;
                let value = if y < -1.0 || x < -1.0 || y > tall || x > wide {
                    0.0
                } else {
                    let (y, x) = (y.max(0.0).min(tall - 1.0), x.max(0.0).min(wide - 1.0));
                    bilinear(plane, (all.height, all.width), y, x)
                };
                if mean {
                    sum += value / (lines * dots) as f32;
                } else {
                    sum = sum.max(value);
                }
            }
        }
        sum
    })
}

/// `vision.roi_pool`: the maximum of each part of a region; 0 for empty ones.
pub(super) fn pool(call: &mut Call<'_>) -> Outcome {
    let all = Regions::read(call)?;
    all.run(call, |plane, sides, row, column| {
        let [left, top, right, bottom] = sides.map(|side| (side * all.scale).round() as i64);
        let part = |first: i64, last: i64, count: usize, at: usize, size: usize| {
            let step = last.saturating_sub(first).saturating_add(1).max(1) as f32 / count as f32;
            let start = (at as f32 * step + 1e-5).floor() as i64;
            let end = ((at + 1) as f32 * step - 1e-5).ceil() as i64;
            let within = |x: i64| x.saturating_add(first).clamp(0, size as i64) as usize;
            within(start)..within(end)
        };
        let rows = part(top, bottom, all.rows, row, all.height);
        let columns = part(left, right, all.columns, column, all.width);
        if rows.is_empty() || columns.is_empty() {
            return 0.0;
        }
        let line = |y: usize| plane[y * all.width..][columns.clone()].iter().copied();
        rows.inspect(|_| spend(columns.len())).flat_map(line).fold(f32::MIN, f32::max)
    })
}

/// `vision.yolo_reorg`: moves squares of pixels to channels.
pub(super) fn reorganized(call: &mut Call<'_>) -> Outcome {
    let (shape, _) = call.result()?;
    let data = call.tensor(0)?;
    let &[batches, channels, height, width] = data.shape() else {
        return Err(call.fault("the data has the wrong rank"));
    };
    let stride = size(call, "stride")?.max(1);
    let square = stride.saturating_mul(stride);
    let inner = channels / square;
    if inner == 0 {
        return Err(call.fault(format_args!("{channels} channels are fewer than {square}")));
    }
    each_dtype!(data, array => {
        let elements = array.as_slice().unwrap_or_default();
        let mut out = with_capacity(elements.len());
        for batch in 0..batches {
            for k in 0..channels {
                let (deep, part) = (k % inner, k / inner);
                for j in 0..height {
                    spend(4 * width);
                    for i in 0..width {
                        // The data is indexed as if it had fewer channels and wider rows.
                        let line = (batch * channels + deep * square) * height
                            + (j * stride + part / stride) * stride;
                        let at = line * width + i * stride + part % stride;
                        out.push(elements.get(at).copied().unwrap_or_default());
                    }
                }
            }
        }
        // The result's shape drops pixels that do not fill a square.
        out.truncate(shape.iter().product());
        call.build(&shape, out)
    })
}
