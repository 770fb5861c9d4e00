//! Sums of products over named axes.

use std::collections::BTreeMap;

use crate::families::{index::strides, prelude::*};

/// The letter for an axis covered by `...`: the last one is 0.
fn covered(from_end: usize) -> char {
    char::from_u32(0xE000 + from_end as u32).unwrap_or('\u{E000}')
}

/// The names of the axes of an operand of `rank` axes, with `...` expanded.
fn names(text: &str, rank: usize) -> Vec<char> {
    match text.split_once("...") {
        None => text.chars().collect(),
        Some((front, back)) => {
            let named = front.chars().count() + back.chars().count();
            let hidden = rank.saturating_sub(named);
            let middle = (0..hidden).rev().map(covered);
            front.chars().chain(middle).chain(back.chars()).collect()
        }
    }
}

pub(super) fn einsum(call: &mut Call<'_>) -> Outcome {
    let equation: String = call.str("equation").chars().filter(|c| !c.is_whitespace()).collect();
    let operands = call.tensors(0)?;
    let Some(&first) = operands.first() else { return Err(call.fault("there are no operands")) };
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (equation.as_str(), None),
    };
    let inputs: Vec<&str> = inputs.split(',').collect();
    if inputs.len() != operands.len() {
        return Err(call.fault(format_args!(
            "the equation has {} operands, but got {}",
            inputs.len(),
            operands.len()
        )));
    }
    let mut sizes: BTreeMap<char, usize> = BTreeMap::new();
    let mut axes: Vec<Vec<char>> = Vec::new();
    for (text, operand) in inputs.iter().zip(&operands) {
        let names = names(text, operand.rank());
        if names.len() != operand.rank() {
            return Err(call.fault(format_args!(
                "`{text}` has {} axes, but the operand has {}",
                names.len(),
                operand.rank()
            )));
        }
        for (&name, &size) in names.iter().zip(operand.shape()) {
            let known = sizes.entry(name).or_insert(size);
            match (*known, size) {
                (a, b) if a == b || b == 1 => {}
                (1, b) => *known = b,
                (a, b) => {
                    return Err(call.fault(format_args!("axis `{name}` has sizes {a} and {b}")));
                }
            }
        }
        axes.push(names);
    }
    let hidden = sizes.keys().filter(|name| **name >= '\u{E000}').count();
    let kept: Vec<char> = match output {
        Some(output) => {
            let named = output.replace("...", "").chars().count();
            names(output, named + hidden)
        }
        None => {
            // The implicit axes, then those that occur once, in alphabetical order.
            let once = |name: char| axes.iter().flatten().filter(|c| **c == name).count() == 1;
            let front = (0..hidden).rev().map(covered);
            let visible = sizes.keys().copied().filter(|&c| c < '\u{E000}' && once(c));
            front.chain(visible).collect()
        }
    };
    if let Some(name) = kept.iter().find(|name| !sizes.contains_key(name)) {
        return Err(call.fault(format_args!("axis `{name}` is in no operand")));
    }
    let summed: Vec<char> = sizes.keys().copied().filter(|name| !kept.contains(name)).collect();
    let size_of = |names: &[char]| -> Vec<usize> {
        names.iter().map(|name| sizes.get(name).copied().unwrap_or(1)).collect()
    };
    let (shape, inner) = (size_of(&kept), size_of(&summed));
    call.allow(&shape, first.dtype())?;
    // The stride of each axis in each operand.
    let steps = |names: &[char]| -> Vec<Vec<usize>> {
        let per_operand = axes.iter().zip(&operands).map(|(own, operand)| {
            let strides = strides(operand.shape());
            let step = |name: &char| {
                let here = own.iter().zip(operand.shape()).zip(&strides);
                here.filter(|((c, size), _)| *c == name && **size != 1).map(|(_, s)| *s).sum()
            };
            names.iter().map(step).collect()
        });
        per_operand.collect()
    };
    let (outer_steps, inner_steps) = (steps(&kept), steps(&summed));
    let is_float = first.dtype().is_float() || first.dtype().is_bfloat();
    let floats: Vec<Vec<f64>> =
        if is_float { operands.iter().map(|t| t.to_f64s()).collect() } else { Vec::new() };
    let whole: Vec<Vec<i64>> =
        if is_float { Vec::new() } else { operands.iter().map(|t| t.to_i64s()).collect() };
    let count: usize = shape.iter().product();
    let Some(each) = count_of(&inner) else {
        return Err(call.fault("the sums have too many terms"));
    };
    let (sums_of, totals_of) = if is_float { (count, 0) } else { (0, count) };
    let (mut sums, mut totals) = (with_capacity(sums_of), with_capacity(totals_of));
    let mut outer = repeated(0usize, shape.len());
    let walk = |steps: &[usize], index: &[usize]| -> usize {
        steps.iter().zip(index).map(|(step, k)| step * k).sum()
    };
    for _ in 0..count {
        let bases: Vec<usize> = outer_steps.iter().map(|steps| walk(steps, &outer)).collect();
        let mut index = repeated(0usize, inner.len());
        let (mut sum, mut total) = (0f64, 0i64);
        for _ in 0..each {
            let places =
                bases.iter().zip(&inner_steps).map(|(base, steps)| base + walk(steps, &index));
            if is_float {
                let factors = places.zip(&floats).map(|(at, x)| x.get(at).copied().unwrap_or(0.0));
                sum += factors.product::<f64>();
            } else {
                let factors = places.zip(&whole).map(|(at, x)| x.get(at).copied().unwrap_or(0));
                total = total.wrapping_add(factors.fold(1, i64::wrapping_mul));
            }
            crate::families::index::advance(&mut index, &inner);
        }
        if is_float {
            sums.push(sum)
        } else {
            totals.push(total)
        }
        crate::families::index::advance(&mut outer, &shape);
    }
    let made = if is_float {
        Tensor::from_f64s(first.dtype(), &shape, sums)
    } else {
        Tensor::from_i64s(first.dtype(), &shape, totals)
    };
    made.map_or_else(|| call.unsupported(first.dtype()), |tensor| Ok(tensor.into()))
}
