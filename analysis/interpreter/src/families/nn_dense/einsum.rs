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

/// The axes of an equation.
struct Axes {
    /// The size of each axis.
    sizes: BTreeMap<char, usize>,
    /// The axes of each operand.
    operands: Vec<Vec<char>>,
    /// The axes of the result.
    kept: Vec<char>,
    /// The other axes.
    summed: Vec<char>,
}

impl Axes {
    /// Reads the equation of a call.
    fn of(call: &Call<'_>, operands: &[&Tensor]) -> Result<Axes, Fault> {
        let equation = call.str("equation").chars().filter(|c| !c.is_whitespace());
        let equation: String = equation.collect();
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
        let (mut sizes, mut axes) = (BTreeMap::new(), Vec::new());
        for (text, operand) in inputs.iter().zip(operands) {
            axes.push(operand_axes(call, text, operand, &mut sizes)?);
        }
        let kept = result_axes(output, &axes, &sizes);
        if let Some(name) = kept.iter().find(|name| !sizes.contains_key(name)) {
            return Err(call.fault(format_args!("axis `{name}` is in no operand")));
        }
        let summed = sizes.keys().copied().filter(|name| !kept.contains(name)).collect();
        Ok(Axes { sizes, operands: axes, kept, summed })
    }

    /// Returns the sizes of axes, and their strides in each operand.
    fn walk(&self, names: &[char], operands: &[&Tensor]) -> Walk {
        let shape = names.iter().map(|name| self.sizes.get(name).copied().unwrap_or(1)).collect();
        let per_operand = self.operands.iter().zip(operands).map(|(own, operand)| {
            let strides = strides(operand.shape());
            let step = |name: &char| {
                let here = own.iter().zip(operand.shape()).zip(&strides);
                here.filter(|((c, size), _)| *c == name && **size != 1).map(|(_, s)| *s).sum()
            };
            names.iter().map(step).collect()
        });
        Walk { steps: per_operand.collect(), shape }
    }
}

/// Returns the axes of an operand, whose sizes are added to those of the operands before it.
fn operand_axes(
    call: &Call<'_>,
    text: &str,
    operand: &Tensor,
    sizes: &mut BTreeMap<char, usize>,
) -> Result<Vec<char>, Fault> {
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
    Ok(names)
}

/// Returns the axes of the result, which an equation without `->` leaves open.
fn result_axes(
    output: Option<&str>,
    operands: &[Vec<char>],
    sizes: &BTreeMap<char, usize>,
) -> Vec<char> {
    let hidden = sizes.keys().filter(|name| **name >= '\u{E000}').count();
    match output {
        Some(output) => {
            let named = output.replace("...", "").chars().count();
            names(output, named + hidden)
        }
        None => {
            // The implicit axes, then those that occur once, in alphabetical order.
            let once = |name: char| operands.iter().flatten().filter(|c| **c == name).count() == 1;
            let front = (0..hidden).rev().map(covered);
            let visible = sizes.keys().copied().filter(|&c| c < '\u{E000}' && once(c));
            front.chain(visible).collect()
        }
    }
}

/// The positions along some axes.
struct Walk {
    /// The sizes of the axes.
    shape: Vec<usize>,
    /// For each operand, the stride of each axis; 0 for one that it lacks.
    steps: Vec<Vec<usize>>,
}

/// Returns the place of a position in an operand with these strides.
fn place(steps: &[usize], index: &[usize]) -> usize {
    steps.iter().zip(index).map(|(step, k)| step * k).sum()
}

/// Returns the sum for each position of the result, over all positions of the other axes, of the products of
/// the operands' elements. `count` and `each` are the numbers of these positions.
fn sums<T: Copy + Default>(
    operands: &[Vec<T>],
    (outer, count): (&Walk, usize),
    (inner, each): (&Walk, usize),
    one: T,
    multiply: impl Fn(T, T) -> T,
    add: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut sums = with_capacity(count);
    let mut at = repeated(0usize, outer.shape.len());
    for _ in 0..count {
        let bases: Vec<usize> = outer.steps.iter().map(|steps| place(steps, &at)).collect();
        let mut index = repeated(0usize, inner.shape.len());
        let mut sum = T::default();
        for _ in 0..each {
            let places =
                bases.iter().zip(&inner.steps).map(|(base, steps)| base + place(steps, &index));
            let factors =
                places.zip(operands).map(|(at, x)| x.get(at).copied().unwrap_or_default());
            sum = add(sum, factors.fold(one, &multiply));
            crate::families::index::advance(&mut index, &inner.shape);
        }
        sums.push(sum);
        crate::families::index::advance(&mut at, &outer.shape);
    }
    sums
}

pub(super) fn einsum(call: &mut Call<'_>) -> Outcome {
    let operands = call.tensors(0)?;
    let Some(&first) = operands.first() else { return Err(call.fault("there are no operands")) };
    let axes = Axes::of(call, &operands)?;
    let (outer, inner) = (axes.walk(&axes.kept, &operands), axes.walk(&axes.summed, &operands));
    let (shape, dtype) = (&outer.shape, first.dtype());
    call.allow(shape, dtype)?;
    let count = shape.iter().product();
    let Some(each) = count_of(&inner.shape) else {
        return Err(call.fault("the sums have too many terms"));
    };
    let made = if dtype.is_float() || dtype.is_bfloat() {
        let numbers: Vec<Vec<f64>> = operands.iter().map(|tensor| tensor.to_f64s()).collect();
        let (multiply, add) = (|a: f64, b: f64| a * b, |a: f64, b: f64| a + b);
        let sums = sums(&numbers, (&outer, count), (&inner, each), 1.0, multiply, add);
        Tensor::from_f64s(dtype, shape, sums)
    } else {
        let numbers: Vec<Vec<i64>> = operands.iter().map(|tensor| tensor.to_i64s()).collect();
        let (multiply, add) = (i64::wrapping_mul, i64::wrapping_add);
        let sums = sums(&numbers, (&outer, count), (&inner, each), 1, multiply, add);
        Tensor::from_i64s(dtype, shape, sums)
    };
    made.map_or_else(|| call.unsupported(dtype), |tensor| Ok(tensor.into()))
}
