//! Boxes around the positions of an image, and predicted boxes.

use super::*;

/// `vision.multibox_prior`: boxes of several sizes and aspect ratios around each position.
pub(super) fn prior(call: &mut Call<'_>) -> Outcome {
    let (shape, dtype) = call.result()?;
    let &[_, _, height, width] = call.tensor(0)?.shape() else {
        return Err(call.fault("the data has the wrong rank"));
    };
    let single = |name: &str| -> Result<Vec<f32>, Fault> {
        Ok(call.floats(name)?.into_iter().map(|x| x as f32).collect())
    };
    let (sizes, ratios) = (single("sizes")?, single("ratios")?);
    let (steps, offsets) = (single("steps")?, single("offsets")?);
    let (&[step_y, step_x], &[offset_y, offset_x]) = (steps.as_slice(), offsets.as_slice()) else {
        return Err(call.fault("`steps` and `offsets` must have two numbers"));
    };
    let Some(&first) = sizes.first() else {
        return Err(call.fault("`sizes` is empty"));
    };
    let step = |step: f32, size: usize| if step > 0.0 { step } else { 1.0 / size as f32 };
    let (step_y, step_x) = (step(step_y, height), step(step_x, width));
    let across = |size: f32| size * height as f32 / width as f32;
    // Half of the width and of the height of each box.
    let mut halves: Vec<(f32, f32)> =
        sizes.iter().map(|&size| (across(size) / 2.0, size / 2.0)).collect();
    let ratio = |&ratio: &f32| (across(first) * ratio.sqrt() / 2.0, first / ratio.sqrt() / 2.0);
    halves.extend(ratios.iter().skip(1).map(ratio));
    let clip = call.bool("clip");
    let mut out = with_capacity(shape.iter().product());
    for row in 0..height {
        let y = (row as f32 + offset_y) * step_y;
        for column in 0..width {
            let x = (column as f32 + offset_x) * step_x;
            spend(4 * halves.len());
            for &(w, h) in &halves {
                let sides = [x - w, y - h, x + w, y + h];
                out.extend(sides.map(|side| if clip { side.clamp(0.0, 1.0) } else { side }));
            }
        }
    }
    Ok(floats(call, &shape, out, dtype)?.into())
}

/// `vision.multibox_transform_loc`: the most likely class of each anchor, and its box with the
/// predicted offset. Anchors without a detection are dropped; unused rows are -1.
pub(super) fn transform(call: &mut Call<'_>) -> Outcome {
    let (probabilities, offsets, anchors) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let dtype = offsets.dtype();
    let &[batches, classes, count] = probabilities.shape() else {
        return Err(call.fault("the probabilities have the wrong rank"));
    };
    if offsets.shape() != [batches, count * 4] || anchors.len() != count * 4 {
        return Err(call.fault("the offsets or the anchors do not fit the probabilities"));
    }
    let (clip, background) = (call.bool("clip"), call.bool("keep_background"));
    let threshold = call.float("threshold")? as f32;
    let variances: Vec<f32> = call.floats("variances")?.iter().map(|&x| x as f32).collect();
    let &[vx, vy, vw, vh] = variances.as_slice() else {
        return Err(call.fault("`variances` must have four numbers"));
    };
    let shape = [batches, count, 6];
    call.allow(&shape, dtype)?;
    let (p, moves, anchors) = (probabilities.to_f32s(), offsets.to_f32s(), anchors.to_f32s());
    let mut out = with_capacity(shape.iter().product());
    let mut totals = with_capacity(batches);
    for batch in 0..batches {
        let mut total = 0i32;
        for anchor in 0..count {
            spend(classes);
            let (mut class, mut score) = (0, -1f32);
            for k in usize::from(!background)..classes {
                let x = p[(batch * classes + k) * count + anchor];
                if x > score {
                    (class, score) = (k, x);
                }
            }
            if class > 0 && score < threshold {
                class = 0;
            }
            if !background && class == 0 {
                continue;
            }
            let a = &anchors[anchor * 4..][..4];
            let d = &moves[(batch * count + anchor) * 4..][..4];
            let (w, h) = (a[2] - a[0], a[3] - a[1]);
            let x = d[0] * vx * w + (a[0] + a[2]) / 2.0;
            let y = d[1] * vy * h + (a[1] + a[3]) / 2.0;
            let (w, h) = ((d[2] * vw).exp() * w / 2.0, (d[3] * vh).exp() * h / 2.0);
            out.push(class as f32 - if background { 0.0 } else { 1.0 });
            out.push(score);
            let sides = [x - w, y - h, x + w, y + h];
            out.extend(sides.map(|side| if clip { side.clamp(0.0, 1.0) } else { side }));
            total += 1;
        }
        totals.push(total);
        out.resize((batch + 1) * count * 6, -1.0);
    }
    let rows = floats(call, &shape, out, dtype)?;
    Ok(Value::tuple([rows.into(), call.build(&[batches], totals)?]))
}

/// A scaled box with the given ratio and the area of a square of `stride`, centred on the square.
fn anchor(stride: f64, ratio: f64, scale: f64) -> [f32; 4] {
    let center = 0.5 * (stride - 1.0);
    let area = (stride * stride / ratio).floor();
    let width = (area.sqrt() + 0.5).floor() * scale;
    let height = (width / scale * ratio + 0.5).floor() * scale;
    let (w, h) = (0.5 * (width - 1.0), 0.5 * (height - 1.0));
    [center - w, center - h, center + w, center + h].map(|side| side as f32)
}

/// The overlap of two boxes of whole pixels.
fn overlap(a: &[f32], b: &[f32]) -> f32 {
    let width = (a[2].min(b[2]) - a[0].max(b[0]) + 1.0).max(0.0);
    let height = (a[3].min(b[3]) - a[1].max(b[1]) + 1.0).max(0.0);
    let area = |of: &[f32]| (of[2] - of[0] + 1.0) * (of[3] - of[1] + 1.0);
    let both = width * height;
    both / (area(a) + area(b) - both)
}

/// `vision.proposal`: the regions that are most likely to contain an object.
pub(super) fn proposal(call: &mut Call<'_>) -> Outcome {
    let (shape, dtype) = call.result()?;
    let (scores, moves, info) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let &[batches, channels, height, width] = scores.shape() else {
        return Err(call.fault("the scores have the wrong rank"));
    };
    // The attributes are single precision numbers.
    let single = |name: &str| -> Result<Vec<f64>, Fault> {
        Ok(call.floats(name)?.into_iter().map(|x| f64::from(x as f32)).collect())
    };
    let (scales, ratios) = (single("scales")?, single("ratios")?);
    let count = channels / 2;
    let fits = moves.len() == batches * count * 4 * height * width
        && info.shape() == [batches, 3]
        && count == scales.len() * ratios.len();
    if !fits {
        return Err(call.fault("the scores, the offsets and the anchors do not fit together"));
    }
    let stride = call.int("feature_stride")? as f32;
    let threshold = call.float("threshold")? as f32;
    let smallest = call.int("rpn_min_size")? as f32;
    let simple = call.bool("iou_loss");
    let all = height * width * count;
    let before = usize::try_from(call.int("rpn_pre_nms_top_n")?).ok().filter(|&n| n > 0);
    let before = before.map_or(all, |n| n.min(all));
    let after = size(call, "rpn_post_nms_top_n")?;
    let anchors: Vec<[f32; 4]> = (0..count)
        .map(|k| {
            let ratio = ratios[k / scales.len()];
            anchor(f64::from(stride), ratio, scales[k % scales.len()])
        })
        .collect();
    let (p, d, info) = (scores.to_f32s(), moves.to_f32s(), info.to_f32s());
    let mut out = with_capacity(shape.iter().product());
    for batch in 0..batches {
        let &[tall, wide, scale] = &info[batch * 3..batch * 3 + 3] else { continue };
        let (rows, columns) = ((tall / stride) as i64, (wide / stride) as i64);
        let least = scale * smallest;
        let mut boxes: Vec<[f32; 4]> = with_capacity(all);
        let mut values: Vec<f32> = with_capacity(all);
        for place in 0..height * width {
            let (h, w) = (place / width, place % width);
            spend(16 * anchors.len());
            for (k, anchor) in anchors.iter().enumerate() {
                let by = [w as f32 * stride, h as f32 * stride];
                let a =
                    [anchor[0] + by[0], anchor[1] + by[1], anchor[2] + by[0], anchor[3] + by[1]];
                let start = (batch * count + k) * 4;
                let d = [0, 1, 2, 3].map(|i| d[((start + i) * height + h) * width + w]);
                let found = if simple {
                    [a[0] + d[0], a[1] + d[1], a[2] + d[2], a[3] + d[3]]
                } else {
                    let (bw, bh) = (a[2] - a[0] + 1.0, a[3] - a[1] + 1.0);
                    let x = d[0] * bw + (a[0] + 0.5 * (bw - 1.0));
                    let y = d[1] * bh + (a[1] + 0.5 * (bh - 1.0));
                    let (dw, dh) = (0.5 * (d[2].exp() * bw - 1.0), 0.5 * (d[3].exp() * bh - 1.0));
                    [x - dw, y - dh, x + dw, y + dh]
                };
                let within = |x: f32, size: f32| x.min(size - 1.0).max(0.0);
                let mut found = [
                    within(found[0], wide),
                    within(found[1], tall),
                    within(found[2], wide),
                    within(found[3], tall),
                ];
                let score = p[((batch * 2 + 1) * count + k) * height * width + place];
                let outside = h as i64 >= rows || w as i64 >= columns;
                let mut score = if outside { -1.0 } else { score };
                if found[2] - found[0] + 1.0 < least || found[3] - found[1] + 1.0 < least {
                    let half = least / 2.0;
                    found = [found[0] - half, found[1] - half, found[2] + half, found[3] + half];
                    score = -1.0;
                }
                boxes.push(found);
                values.push(score);
            }
        }
        let order = descending(&values);
        let best = collected(order.iter().take(before).map(|&at| boxes[at]));
        let mut removed = repeated(false, best.len());
        for i in 0..best.len() {
            if removed[i] {
                continue;
            }
            spend(4 * (best.len() - i));
            for j in i + 1..best.len() {
                if !removed[j] && overlap(&best[i], &best[j]) > threshold {
                    removed[j] = true;
                }
            }
        }
        let kept: Vec<&[f32; 4]> =
            collected(best.iter().zip(&removed).filter(|(_, gone)| !**gone).map(|(b, _)| b));
        // If too few boxes remain, they are repeated.
        for found in kept.iter().cycle().take(after) {
            out.push(batch as f32);
            out.extend_from_slice(&found[..]);
        }
        out.resize((batch + 1) * after * 5, 0.0);
    }
    Ok(floats(call, &shape, out, dtype)?.into())
}
