//! Non-maximum suppression: of boxes that overlap, only the best is kept.

use super::*;

/// The overlap of two boxes, each given by two opposite corners: between 0 and 1.
fn overlap(a: &[f32], b: &[f32]) -> f32 {
    let sides =
        |of: &[f32]| [of[0].min(of[2]), of[1].min(of[3]), of[0].max(of[2]), of[1].max(of[3])];
    let (a, b) = (sides(a), sides(b));
    let width = (a[2].min(b[2]) - a[0].max(b[0])).max(0.0);
    let height = (a[3].min(b[3]) - a[1].max(b[1])).max(0.0);
    let both = height * width;
    let either = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both;
    if either <= 0.0 { 0.0 } else { both / either }
}

/// `vision.all_class_non_max_suppression`
pub(super) fn all_classes(call: &mut Call<'_>) -> Outcome {
    let (boxes, scores) = (call.tensor(0)?, call.tensor(1)?);
    let most = number(call, 2)? as i64;
    let (threshold, least) = (number(call, 3)? as f32, number(call, 4)? as f32);
    let (&[batches, count, 4], &[others, classes, each]) = (boxes.shape(), scores.shape()) else {
        return Err(call.fault("the boxes or the scores have the wrong shape"));
    };
    if others != batches || each != count {
        return Err(call.fault("there must be a score for each box"));
    }
    let (boxes, scores) = (boxes.to_f32s(), scores.to_f32s());
    // The kept boxes of each batch and class, with their scores.
    let mut kept: Vec<Vec<(usize, f32)>> = with_capacity(batches * classes);
    for line in 0..batches * classes {
        let boxes = &boxes[line / classes * count * 4..][..count * 4];
        let scores = &scores[line * count..][..count];
        let order = descending(scores);
        let mut sorted = mapped(&order, |at| scores[at]);
        let valid = sorted.partition_point(|&score| score > least);
        let most = if most > 0 { usize::try_from(most).unwrap_or(valid) } else { valid };
        let mut chosen = with_capacity(most.min(valid));
        if threshold > 0.0 {
            for j in 0..valid {
                if chosen.len() >= most {
                    break;
                }
                if sorted[j] <= -1.0 {
                    continue;
                }
                chosen.push((order[j], sorted[j]));
                let best = &boxes[order[j] * 4..][..4];
                spend(4 * (valid - j));
                for k in j + 1..valid {
                    if sorted[k] > 0.0 && overlap(best, &boxes[order[k] * 4..][..4]) >= threshold {
                        sorted[k] = -1.0;
                    }
                }
            }
        }
        kept.push(chosen);
    }
    let build = |shape: &[usize], values: Vec<i64>| call.build(shape, values);
    if call.str("output_format") == "onnx" {
        let shape = [batches * classes * count, 3];
        call.allow(&shape, DataType::INT64)?;
        let mut rows = with_capacity(shape[0] * 3);
        for (line, chosen) in kept.iter().enumerate() {
            for &(at, _) in chosen {
                rows.extend([line / classes, line % classes, at].map(|number| number as i64));
            }
        }
        let total = (rows.len() / 3) as i64;
        rows.resize(shape[0] * 3, 0);
        return Ok(Value::tuple([build(&shape, rows)?, build(&[1], vec![total])?]));
    }
    let width = classes * count;
    call.allow(&[batches, width, 2], DataType::INT64)?;
    let (mut rows, mut values) =
        (with_capacity(batches * width * 2), with_capacity(batches * width));
    let mut totals = with_capacity(batches);
    for batch in 0..batches {
        let mut total = 0;
        for class in 0..classes {
            for &(at, score) in &kept[batch * classes + class] {
                rows.extend([class as i64, at as i64]);
                values.push(score);
                total += 1;
            }
        }
        totals.push(total);
        rows.resize((batch + 1) * width * 2, 0);
        values.resize((batch + 1) * width, 0.0f32);
    }
    Ok(Value::tuple([
        build(&[batches, width, 2], rows)?,
        call.build(&[batches, width], values)?,
        build(&[batches], totals)?,
    ]))
}

/// `vision.get_valid_counts`: boxes with a score above the threshold, followed by -1.
pub(super) fn valid_counts(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let dtype = data.dtype();
    let &[batches, count, width] = data.shape() else {
        return Err(call.fault("the data has the wrong rank"));
    };
    let threshold = match call.attrs().has("score_threshold") {
        true => call.float("score_threshold")?,
        false => number(call, 1)?,
    };
    let threshold =
        if dtype == DataType::FLOAT64 { threshold } else { f64::from(threshold as f32) };
    let (id, score) = (call.int("id_index")?, size(call, "score_index")?);
    let id = usize::try_from(id).ok();
    if score >= width || id.is_some_and(|id| id >= width) {
        return Err(call.fault(format_args!("each box has {width} numbers")));
    }
    let numbers = data.to_f64s();
    let mut rows = with_capacity(numbers.len());
    let (mut counts, mut indices) = (with_capacity(batches), with_capacity(batches * count));
    for batch in 0..batches {
        let mut valid = 0i32;
        for at in watched(0..count) {
            spend(width);
            let row = &numbers[(batch * count + at) * width..][..width];
            if row[score] > threshold && id.is_none_or(|id| row[id] >= 0.0) {
                rows.extend_from_slice(row);
                indices.push(at as i32);
                valid += 1;
            }
        }
        counts.push(valid);
        rows.resize((batch + 1) * count * width, -1.0);
        indices.resize((batch + 1) * count, -1);
    }
    let Some(rows) = Tensor::from_f64s(dtype, &[batches, count, width], rows) else {
        return call.unsupported(dtype);
    };
    Ok(Value::tuple([
        call.build(&[batches], counts)?,
        rows.into(),
        call.build(&[batches, count], indices)?,
    ]))
}

/// `vision.non_max_suppression`
pub(super) fn single(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let dtype = data.dtype();
    let &[batches, count, width] = data.shape() else {
        return Err(call.fault("the data has the wrong rank"));
    };
    let (valid, indices) = (call.numbers(1)?, call.numbers(2)?);
    let most = number(call, 3)? as i64;
    let threshold = number(call, 4)? as f32;
    let (force, return_indices) = (call.bool("force_suppress"), call.bool("return_indices"));
    let top = usize::try_from(call.int("top_k")?).ok().filter(|&top| top > 0);
    let (start, score) = (size(call, "coord_start")?, size(call, "score_index")?);
    let id = usize::try_from(call.int("id_index")?).ok();
    if start + 4 > width || score >= width || id.is_some_and(|id| id >= width) {
        return Err(call.fault(format_args!("each box has {width} numbers")));
    }
    if valid.len() != batches || return_indices && indices.len() != batches * count {
        return Err(call.fault("the counts or the indices do not fit the data"));
    }
    let numbers = data.to_f32s();
    // The kept boxes of each batch, as rows of the data.
    let mut out = repeated(-1f32, numbers.len());
    let mut boxes = repeated(-1i64, batches * count);
    for batch in 0..batches {
        let from = &numbers[batch * count * width..][..count * width];
        let to = &mut out[batch * count * width..][..count * width];
        let chosen = &mut boxes[batch * count..][..count];
        let valid = usize::try_from(valid[batch]).unwrap_or(0).min(count);
        if threshold > 0.0 {
            let scores = collected((0..valid).map(|at| from[at * width + score]));
            let keep = top.map_or(valid, |top| top.min(valid));
            for (at, &row) in descending(&scores).iter().take(keep).enumerate() {
                to[at * width..][..width].copy_from_slice(&from[row * width..][..width]);
                chosen[at] = row as i64;
            }
            let mut kept = 0;
            for (j, chosen) in chosen.iter_mut().enumerate().take(valid) {
                let (before, rest) = to.split_at_mut(j * width);
                let Some(row) = rest.get_mut(..width) else { continue };
                spend(4 * j + width);
                let dropped = if kept == most {
                    true
                } else if row[score] > 0.0 {
                    let hidden = before.chunks_exact(width).any(|other| {
                        other[score] > 0.0
                            && id.is_none_or(|id| other[id] >= 0.0)
                            && (force || id.is_none_or(|id| other[id] == row[id]))
                            && overlap(&row[start..start + 4], &other[start..start + 4])
                                >= threshold
                    });
                    kept += i64::from(!hidden);
                    hidden
                } else {
                    false
                };
                if dropped {
                    row.fill(-1.0);
                    *chosen = -1;
                }
            }
        } else {
            to[..valid * width].copy_from_slice(&from[..valid * width]);
            chosen.iter_mut().enumerate().take(valid).for_each(|(at, to)| *to = at as i64);
        }
        if return_indices {
            let original = &indices[batch * count..][..count];
            for to in chosen.iter_mut().take(valid) {
                if let Some(&at) = usize::try_from(*to).ok().and_then(|at| original.get(at)) {
                    *to = at;
                }
            }
        }
    }
    if !return_indices {
        if call.bool("invalid_to_bottom") && width > 0 {
            for rows in out.chunks_mut(count.max(1) * width) {
                let mut kept: Vec<f32> = with_capacity(rows.len());
                let valid = rows.chunks_exact(width).filter(|row| row[0] >= 0.0);
                valid.for_each(|row| kept.extend_from_slice(row));
                kept.resize(rows.len(), -1.0);
                rows.copy_from_slice(&kept);
            }
        }
        return Ok(floats(call, &[batches, count, width], out, dtype)?.into());
    }
    let mut counts = with_capacity(batches);
    let mut packed = with_capacity(boxes.len());
    for chosen in boxes.chunks(count.max(1)) {
        let mut line: Vec<i32> = with_capacity(count);
        for &at in chosen {
            if at >= 0 {
                line.push(at as i32);
            }
            // TVM treats an index that is too large as missing, but still writes a 0 for it.
            if at > count as i64 || at < -(count as i64) {
                line.push(0);
            }
        }
        counts.push(line.len() as i32);
        line.resize(count, -1);
        packed.extend(line);
    }
    counts.resize(batches, 0);
    Ok(Value::tuple([call.build(&[batches, count], packed)?, call.build(&[batches, 1], counts)?]))
}

/// `vision.regular_non_max_suppression`: first for each class, then for the best boxes of all
/// classes.
pub(super) fn regular(call: &mut Call<'_>) -> Outcome {
    let (boxes, scores) = (call.tensor(0)?, call.tensor(1)?);
    let per_class = size(call, "max_detections_per_class")?;
    let most = size(call, "max_detections")?;
    let classes = size(call, "num_classes")?;
    let threshold = call.float("iou_threshold")? as f32;
    let least = call.float("score_threshold")? as f32;
    let (&[batches, count, 4], &[others, each, all]) = (boxes.shape(), scores.shape()) else {
        return Err(call.fault("the boxes or the scores have the wrong shape"));
    };
    let Some(background) = all.checked_sub(classes).filter(|_| others == batches && each == count)
    else {
        return Err(call.fault("the scores do not fit the boxes and classes"));
    };
    call.allow(&[batches, most, 4], DataType::FLOAT32)?;
    let (boxes, scores) = (boxes.to_f32s(), scores.to_f32s());
    let (mut places, mut kinds) =
        (with_capacity(batches * most * 4), with_capacity(batches * most));
    let (mut values, mut totals) = (with_capacity(batches * most), with_capacity(batches));
    for batch in 0..batches {
        let corner = |at: usize| &boxes[(batch * count + at) * 4..][..4];
        // The index, class and score of each kept box.
        let mut kept: Vec<(usize, usize, f32)> = Vec::new();
        for class in 0..classes {
            let score = |at: usize| scores[(batch * count + at) * all + class + background];
            let candidates = collected(watched(0..count).filter(|&at| score(at) >= least));
            let of = mapped(&candidates, score);
            let order = mapped(&descending(&of), |at| candidates[at]);
            let mut active = repeated(true, order.len());
            let mut selected = 0;
            for i in 0..order.len() {
                if selected >= per_class {
                    break;
                }
                if !active[i] {
                    continue;
                }
                selected += 1;
                spend(4 * (order.len() - i));
                push(&mut kept, (order[i], class, score(order[i])));
                for j in i + 1..order.len() {
                    if active[j] && plain_overlap(corner(order[i]), corner(order[j])) > threshold {
                        active[j] = false;
                    }
                }
            }
            kept.sort_by(|a, b| b.2.partial_cmp(&a.2).unwrap_or(std::cmp::Ordering::Equal));
            kept.truncate(most);
        }
        totals.push(kept.len() as i32);
        for &(at, class, score) in &kept {
            places.extend_from_slice(corner(at));
            kinds.push(class as f32);
            values.push(score);
        }
        places.resize((batch + 1) * most * 4, 0.0);
        kinds.resize((batch + 1) * most, 0.0);
        values.resize((batch + 1) * most, 0.0);
    }
    Ok(Value::tuple([
        call.build(&[batches, most, 4], places)?,
        call.build(&[batches, most], kinds)?,
        call.build(&[batches, most], values)?,
        call.build(&[batches], totals)?,
    ]))
}

/// Like [`overlap`], for boxes whose first corner has the smaller coordinates.
fn plain_overlap(a: &[f32], b: &[f32]) -> f32 {
    let area = |of: &[f32]| (of[2] - of[0]) * (of[3] - of[1]);
    if !(area(a) > 0.0 && area(b) > 0.0) {
        return 0.0;
    }
    let height = (a[2].min(b[2]) - a[0].max(b[0])).max(0.0);
    let width = (a[3].min(b[3]) - a[1].max(b[1])).max(0.0);
    let both = height * width;
    both / (area(a) + area(b) - both)
}
