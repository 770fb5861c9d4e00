//! Operators on two tensors with broadcasting, and operators that repeat or sum up elements
//! accordingly.

mod walk;

use super::{overflow, prelude::*};
use crate::{
    chain::BinaryOp,
    convert::{converted, each_wide, widened},
    fusion_rules::{Comparison, ScalarOp},
};

pub(crate) use walk::Broadcast;

pub(super) static KERNELS: &[Kernel] = &[
    kernel("add", |c| number(c, |x, y| x + y, |x, y| x + y, i64::wrapping_add))
        .step(ElementOp::Binary(BinaryOp::Add))
        .scalar(ScalarOp::Add)
        .overflow(|c, result| overflow::of_two(c, result, i128::checked_add)),
    kernel("subtract", |c| number(c, |x, y| x - y, |x, y| x - y, i64::wrapping_sub))
        .step(ElementOp::Binary(BinaryOp::Subtract))
        .scalar(ScalarOp::Subtract)
        .overflow(|c, result| overflow::of_two(c, result, i128::checked_sub)),
    kernel("multiply", |c| number(c, |x, y| x * y, |x, y| x * y, i64::wrapping_mul))
        .step(ElementOp::Binary(BinaryOp::Multiply))
        .scalar(ScalarOp::Multiply)
        .overflow(|c, result| overflow::of_two(c, result, i128::checked_mul)),
    // Integers are truncated toward zero.
    kernel("divide", |c| quotient(c, |x, y| x / y, |x, y| x / y, i64::wrapping_div, |x, y| x / y))
        .step(ElementOp::Binary(BinaryOp::Divide))
        .overflow(|c, result| overflow::of_two(c, result, i128::checked_div)),
    kernel("floor_divide", |c| {
        quotient(c, |x, y| (x / y).floor(), |x, y| (x / y).floor(), floor_div, |x, y| x / y)
    })
    .overflow(|c, result| overflow::of_two(c, result, i128::checked_div)),
    kernel("trunc_divide", |c| {
        quotient(c, |x, y| (x / y).trunc(), |x, y| (x / y).trunc(), i64::wrapping_div, |x, y| x / y)
    })
    .overflow(|c, result| overflow::of_two(c, result, i128::checked_div)),
    kernel("mod", |c| quotient(c, |x, y| x % y, |x, y| x % y, i64::wrapping_rem, |x, y| x % y)),
    kernel("trunc_mod", |c| {
        quotient(c, |x, y| x % y, |x, y| x % y, i64::wrapping_rem, |x, y| x % y)
    }),
    kernel("floor_mod", |c| {
        quotient(
            c,
            |x, y| x - (x / y).floor() * y,
            |x, y| x - (x / y).floor() * y,
            |x, y| x.wrapping_sub(floor_div(x, y).wrapping_mul(y)),
            |x, y| x % y,
        )
    }),
    kernel("power", |c| number(c, f32::powf, f64::powf, power))
        .overflow(|c, result| overflow::of_two(c, result, overflow::power)),
    kernel("left_shift", |c| integer(c, |x, y| x.wrapping_shl(y as u32)))
        .overflow(|c, result| overflow::of_two(c, result, overflow::shifted)),
    kernel("right_shift", |c| integer(c, |x, y| x.wrapping_shr(y as u32))),
    kernel("bitwise_and", |c| integer(c, |x, y| x & y)),
    kernel("bitwise_or", |c| integer(c, |x, y| x | y)),
    kernel("bitwise_xor", |c| integer(c, |x, y| x ^ y)),
    // If one of the two is NaN, the comparison is false and the second is chosen.
    kernel("maximum", |c| extreme(c, larger, larger, larger, larger))
        .step(ElementOp::Binary(BinaryOp::Max)),
    kernel("minimum", |c| extreme(c, smaller, smaller, smaller, smaller))
        .step(ElementOp::Binary(BinaryOp::Min)),
    kernel("logical_and", |c| logical(c, |x, y| x && y)),
    kernel("logical_or", |c| logical(c, |x, y| x || y)),
    kernel("logical_xor", |c| logical(c, |x, y| x != y)),
    kernel("equal", |c| compare(c, Comparison::Equal)).scalar(ScalarOp::Compare(Comparison::Equal)),
    kernel("not_equal", |c| compare(c, Comparison::NotEqual))
        .scalar(ScalarOp::Compare(Comparison::NotEqual)),
    kernel("less", |c| compare(c, Comparison::Less)).scalar(ScalarOp::Compare(Comparison::Less)),
    kernel("less_equal", |c| compare(c, Comparison::LessEqual))
        .scalar(ScalarOp::Compare(Comparison::LessEqual)),
    kernel("greater", |c| compare(c, Comparison::Greater))
        .scalar(ScalarOp::Compare(Comparison::Greater)),
    kernel("greater_equal", |c| compare(c, Comparison::GreaterEqual))
        .scalar(ScalarOp::Compare(Comparison::GreaterEqual)),
    kernel("where", select),
];

fn slice<T: Element>(array: &Array<T>) -> &[T] {
    array.as_slice().unwrap_or_default()
}

/// An operand whose elements for a row of the result are made contiguous.
struct Operand<'a, T> {
    elements: &'a [T],
    /// Elements that are not contiguous in the operand.
    gathered: Vec<T>,
    /// The position of the single element in `gathered`, if it is repeated.
    repeated: Option<usize>,
}

impl<'a, T: Element> Operand<'a, T> {
    fn of(array: &'a Array<T>) -> Operand<'a, T> {
        Operand { elements: slice(array), gathered: Vec::new(), repeated: None }
    }

    /// Returns `length` elements from `at` with the stride `step`.
    fn run(&mut self, (at, step): (usize, usize), length: usize) -> &[T] {
        if step == 1 {
            return &self.elements[at..at + length];
        }
        if step != 0 || self.repeated != Some(at) || self.gathered.len() < length {
            self.repeated = (step == 0).then_some(at);
            self.gathered.clear();
            if self.gathered.capacity() < length {
                self.gathered = with_capacity(length);
            }
            if step == 0 {
                self.gathered.resize(length, self.elements[at]);
            } else {
                self.gathered.extend((0..length).map(|k| self.elements[at + k * step]));
            }
        }
        &self.gathered[..length]
    }
}

/// A function of two elements over rows. It is called through a pointer, so that the surrounding
/// loops are not compiled for each operator.
trait BinaryLoop<T>: Sync {
    /// `x = f(x, y)`.
    fn update_left(&self, xs: &mut [T], ys: &[T]);
    /// `y = f(x, y)`.
    fn update_right(&self, xs: &[T], ys: &mut [T]);
}

impl<T: Copy, F: Fn(T, T) -> T + Sync> BinaryLoop<T> for F {
    fn update_left(&self, xs: &mut [T], ys: &[T]) {
        xs.iter_mut().zip(ys).for_each(|(x, &y)| *x = self(*x, y));
    }

    fn update_right(&self, xs: &[T], ys: &mut [T]) {
        ys.iter_mut().zip(xs).for_each(|(y, &x)| *y = self(x, *y));
    }
}

/// Broadcasts two shapes.
///
/// # Errors
/// They are incompatible.
fn broadcast_shapes(call: &Call<'_>, x: &[usize], y: &[usize]) -> Result<Broadcast<2>, Fault> {
    let fault = || call.fault(format_args!("shapes {x:?} and {y:?} cannot be broadcast"));
    Broadcast::of([x, y]).ok_or_else(fault)
}

/// Computes a boolean for each pair of elements.
fn compare_elements<T: Element>(
    call: &Call<'_>,
    x: &Array<T>,
    y: &Array<T>,
    f: impl Fn(T, T) -> bool,
) -> Result<Tensor, Fault> {
    let each = |xs: &[T], ys: &[T], out: &mut Vec<bool>| {
        out.extend(xs.iter().zip(ys).map(|(&x, &y)| f(x, y)));
    };
    compare_rows(call, x, y, &each)
}

/// Appends a boolean for each pair of elements of two rows.
type ComparisonLoop<'f, T> = dyn Fn(&[T], &[T], &mut Vec<bool>) + 'f;

fn compare_rows<T: Element>(
    call: &Call<'_>,
    x: &Array<T>,
    y: &Array<T>,
    each: &ComparisonLoop<'_, T>,
) -> Result<Tensor, Fault> {
    let walk = broadcast_shapes(call, x.shape(), y.shape())?;
    call.allow(&walk.shape, DataType::BOOL)?;
    let mut out: Vec<bool> = with_capacity(walk.shape.iter().product());
    let (mut xs, mut ys) = (Operand::of(x), Operand::of(y));
    walk.rows(&mut |_, length, [x, y]| {
        each(xs.run(x, length), ys.run(y, length), &mut out);
    });
    bool::tensor(&walk.shape, out).ok_or_else(|| call.fault("the shapes do not fit"))
}

/// Applies `f` to each pair of elements, in place if one of the operands has the shape of the
/// result and is not shared.
fn zip<T: Element>(
    call: &Call<'_>,
    mut x: Array<T>,
    mut y: Array<T>,
    f: &dyn BinaryLoop<T>,
) -> Result<Tensor, Fault> {
    let walk = broadcast_shapes(call, x.shape(), y.shape())?;
    if let Some(steps) = walk.steps()
        && walk.len() > PIECE
    {
        return flat(call, x, y, &walk.shape, steps, f);
    }
    if walk.shape == x.shape()
        && x.is_unique()
        && let Some(xs) = x.as_slice_mut()
    {
        let mut ys = Operand::of(&y);
        walk.rows(&mut |at, length, [_, y]| {
            f.update_left(&mut xs[at..at + length], ys.run(y, length));
        });
        return Ok(T::wrap(x));
    }
    if walk.shape == y.shape()
        && y.is_unique()
        && let Some(ys) = y.as_slice_mut()
    {
        let mut xs = Operand::of(&x);
        walk.rows(&mut |at, length, [x, _]| {
            f.update_right(xs.run(x, length), &mut ys[at..at + length]);
        });
        return Ok(T::wrap(y));
    }
    call.allow(&walk.shape, T::DTYPE)?;
    let mut out: Vec<T> = with_capacity(walk.shape.iter().product());
    let (mut xs, mut ys) = (Operand::of(&x), Operand::of(&y));
    walk.rows(&mut |at, length, [x, y]| {
        out.extend_from_slice(xs.run(x, length));
        f.update_left(&mut out[at..], ys.run(y, length));
    });
    T::tensor(&walk.shape, out).ok_or_else(|| call.fault("the shapes do not fit"))
}

/// Like [`zip`], for operands that are contiguous or a single element: in parallel.
fn flat<T: Element>(
    call: &Call<'_>,
    x: Array<T>,
    y: Array<T>,
    shape: &[usize],
    steps: [usize; 2],
    f: &dyn BinaryLoop<T>,
) -> Result<Tensor, Fault> {
    let one_for_all = |array: &Array<T>| {
        slice(array).first().map(|&element| repeated(element, PIECE)).unwrap_or_default()
    };
    // The rows of an operand.
    let run = |elements: &[T], step: usize, at: usize, length: usize| {
        let from = if step == 0 { 0 } else { at * PIECE };
        from..(from + length).min(elements.len())
    };
    if steps[0] == 1 && (x.is_unique() || steps[1] == 0 || !y.is_unique()) {
        if !x.is_unique() {
            call.allow(shape, T::DTYPE)?;
        }
        let mut x = own(x);
        let all = if steps[1] == 0 { one_for_all(&y) } else { Vec::new() };
        let ys = if steps[1] == 0 { &all[..] } else { slice(&y) };
        if let Some(xs) = x.as_slice_mut() {
            each_chunk(xs, PIECE, 1, &|at, xs| {
                spend(xs.len());
                f.update_left(xs, &ys[run(ys, steps[1], at, xs.len())]);
            });
        }
        return shaped(call, T::wrap(x), shape);
    }
    if !y.is_unique() {
        call.allow(shape, T::DTYPE)?;
    }
    let mut y = own(y);
    let all = if steps[0] == 0 { one_for_all(&x) } else { Vec::new() };
    let xs = if steps[0] == 0 { &all[..] } else { slice(&x) };
    if let Some(ys) = y.as_slice_mut() {
        each_chunk(ys, PIECE, 1, &|at, ys| {
            spend(ys.len());
            f.update_right(&xs[run(xs, steps[0], at, ys.len())], ys);
        });
    }
    shaped(call, T::wrap(y), shape)
}

/// Adds axes of size 1 to a tensor that has the elements of the result.
fn shaped(call: &Call<'_>, tensor: Tensor, shape: &[usize]) -> Result<Tensor, Fault> {
    tensor.reshape(shape).ok_or_else(|| call.fault("the shapes do not fit"))
}

/// The failure that two arguments have different data types.
fn differ<T>(call: &Call<'_>, x: DataType, y: DataType) -> Result<T, Fault> {
    Err(call.fault(format_args!("the arguments are {x} and {y}, but must have the same data type")))
}

/// An operator on numbers of any kind. Integers are computed in 64 bits and wrap.
fn number(
    call: &mut Call<'_>,
    single: impl Fn(f32, f32) -> f32 + Sync,
    double: impl Fn(f64, f64) -> f64 + Sync,
    integer: impl Fn(i64, i64) -> i64 + Sync,
) -> Outcome {
    let narrow = |x: i32, y: i32| integer(x.into(), y.into()) as i32;
    number_by(call, &single, &double, &integer, &narrow)
}

fn number_by(
    call: &mut Call<'_>,
    single: &dyn BinaryLoop<f32>,
    double: &dyn BinaryLoop<f64>,
    integer: &dyn BinaryLoop<i64>,
    narrow: &dyn BinaryLoop<i32>,
) -> Outcome {
    let (x, y) = (call.take_tensor(0)?, call.take_tensor(1)?);
    let dtype = x.dtype();
    if y.dtype() != dtype {
        return differ(call, dtype, y.dtype());
    }
    let tensor = match (x, y) {
        (Tensor::F32(x), Tensor::F32(y)) => return Ok(zip(call, x, y, single)?.into()),
        (Tensor::F64(x), Tensor::F64(y)) => return Ok(zip(call, x, y, double)?.into()),
        (Tensor::I32(x), Tensor::I32(y)) => return Ok(zip(call, x, y, narrow)?.into()),
        (x, y) => {
            let float = dtype.is_float() || dtype.is_bfloat();
            let wide = if float { DataType::FLOAT32 } else { DataType::INT64 };
            match (converted(x, wide), converted(y, wide)) {
                (Some(Tensor::F32(x)), Some(Tensor::F32(y))) => zip(call, x, y, single)?,
                (Some(Tensor::I64(x)), Some(Tensor::I64(y))) => zip(call, x, y, integer)?,
                _ => return call.unsupported(dtype),
            }
        }
    };
    match converted(tensor, dtype) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// A division.
fn quotient(
    call: &mut Call<'_>,
    single: impl Fn(f32, f32) -> f32 + Sync,
    double: impl Fn(f64, f64) -> f64 + Sync,
    integer: impl Fn(i64, i64) -> i64 + Sync,
    unsigned: impl Fn(u64, u64) -> u64 + Sync,
) -> Outcome {
    let divisor = call.tensor(1)?;
    let is_float = divisor.dtype().is_float() || divisor.dtype().is_bfloat();
    if !is_float && divisor.to_i64s().contains(&0) {
        return Err(call.fault("integer division by 0"));
    }
    if let (Tensor::U64(x), Tensor::U64(y)) = (call.tensor(0)?, divisor) {
        return Ok(zip(call, x.clone(), y.clone(), &unsigned)?.into());
    }
    number(call, single, double, integer)
}

fn floor_div(x: i64, y: i64) -> i64 {
    let quotient = x.wrapping_div(y);
    if x.wrapping_rem(y) != 0 && ((x < 0) != (y < 0)) { quotient - 1 } else { quotient }
}

fn power(x: i64, y: i64) -> i64 {
    match u32::try_from(y) {
        Ok(y) => x.wrapping_pow(y),
        Err(_) => (x as f64).powf(y as f64) as i64,
    }
}

fn larger<T: PartialOrd>(x: T, y: T) -> T {
    if x > y { x } else { y }
}

fn smaller<T: PartialOrd>(x: T, y: T) -> T {
    if x < y { x } else { y }
}

fn extreme(
    call: &mut Call<'_>,
    single: impl Fn(f32, f32) -> f32 + Sync,
    double: impl Fn(f64, f64) -> f64 + Sync,
    integer: impl Fn(i64, i64) -> i64 + Sync,
    unsigned: impl Fn(u64, u64) -> u64 + Sync,
) -> Outcome {
    if let (Tensor::U64(x), Tensor::U64(y)) = (call.tensor(0)?, call.tensor(1)?) {
        return Ok(zip(call, x.clone(), y.clone(), &unsigned)?.into());
    }
    number(call, single, double, integer)
}

/// An operator on integers and booleans.
fn integer(call: &mut Call<'_>, f: impl Fn(i64, i64) -> i64 + Sync) -> Outcome {
    let dtype = call.tensor(0)?.dtype();
    if dtype.is_float() || dtype.is_bfloat() {
        return call.unsupported(dtype);
    }
    number(call, |x, _| x, |x, _| x, f)
}

fn logical(call: &mut Call<'_>, f: fn(bool, bool) -> bool) -> Outcome {
    let (x, y) = (call.take_tensor(0)?, call.take_tensor(1)?);
    let dtype = x.dtype();
    let truths = (converted(x, DataType::BOOL), converted(y, DataType::BOOL));
    let (Some(Tensor::Bool(x)), Some(Tensor::Bool(y))) = truths else {
        return call.unsupported(dtype);
    };
    match converted(zip(call, x, y, &f)?, dtype) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

fn compare(call: &mut Call<'_>, comparison: Comparison) -> Outcome {
    let (x, y) = (call.tensor(0)?, call.tensor(1)?);
    if x.dtype() != y.dtype() {
        return differ(call, x.dtype(), y.dtype());
    }
    let (x, y) = (widened(x), widened(y));
    each_wide!(&x, x => {
        let Some(y) = T::unwrap(&y) else { return differ(call, T::DTYPE, y.dtype()) };
        Ok(match comparison {
            Comparison::Equal => compare_elements(call, x, y, |x, y| x == y)?,
            Comparison::NotEqual => compare_elements(call, x, y, |x, y| x != y)?,
            Comparison::Less => compare_elements(call, x, y, |x, y| x < y)?,
            Comparison::LessEqual => compare_elements(call, x, y, |x, y| x <= y)?,
            Comparison::Greater => compare_elements(call, x, y, |x, y| x > y)?,
            Comparison::GreaterEqual => compare_elements(call, x, y, |x, y| x >= y)?,
        }
        .into())
    }, else call.unsupported(x.dtype()))
}

fn select(call: &mut Call<'_>) -> Outcome {
    let (condition, x, y) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let Some(Tensor::Bool(truths)) = converted(condition.clone(), DataType::BOOL) else {
        return call.unsupported(condition.dtype());
    };
    let truths = slice(&truths);
    let Some(walk) = Broadcast::of([condition.shape(), x.shape(), y.shape()]) else {
        return Err(call.fault("the shapes cannot be broadcast"));
    };
    each_dtype!(x, x => {
        let Some(y) = T::unwrap(y) else { return differ(call, T::DTYPE, y.dtype()) };
        call.allow(&walk.shape, T::DTYPE)?;
        let (xs, ys) = (slice(x), slice(y));
        let mut out: Vec<T> = with_capacity(walk.shape.iter().product());
        walk.rows(&mut |_, length, [(c, dc), (i, di), (j, dj)]| {
            out.extend((0..length).map(|k| {
                if truths[c + k * dc] { xs[i + k * di] } else { ys[j + k * dj] }
            }));
        });
        call.build(&walk.shape, out)
    })
}

/// Repeats the elements along axes of size 1 and new leading axes to fill `shape`.
pub(super) fn broadcast_to(
    call: &Call<'_>,
    tensor: &Tensor,
    shape: &[usize],
) -> Result<Tensor, Fault> {
    let from = tensor.shape();
    let fits = from.len() <= shape.len()
        && from.iter().rev().zip(shape.iter().rev()).all(|(&a, &b)| a == b || a == 1);
    if !fits {
        return Err(call.fault(format_args!("shape {from:?} cannot be broadcast to {shape:?}")));
    }
    // Leading axes of size 1 repeat nothing.
    if count_of(shape) == Some(tensor.len())
        && let Some(tensor) = tensor.clone().reshape(shape)
    {
        return Ok(tensor);
    }
    call.allow(shape, tensor.dtype())?;
    let walk = Broadcast::to(shape.to_vec(), [from]);
    let made = each_dtype!(tensor, array => {
        let elements = slice(array);
        let mut out: Vec<T> = with_capacity(shape.iter().product());
        walk.rows(&mut |_, length, [(i, di)]| match di {
            1 => out.extend_from_slice(&elements[i..i + length]),
            0 => out.extend(std::iter::repeat_n(elements[i], length)),
            _ => out.extend((0..length).map(|k| elements[i + k * di])),
        });
        T::tensor(shape, out)
    });
    made.ok_or_else(|| call.fault("the shapes do not fit"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division() {
        assert_eq!((floor_div(-7, 2), floor_div(7, -2), floor_div(7, 2)), (-4, -4, 3));
        assert_eq!(floor_div(i64::MIN, -1), i64::MIN);
    }
}
