//! Operators on two tensors that are broadcast together, and what repeats or sums elements in the
//! same way.

use super::prelude::*;
use crate::convert::{converted, each_wide, widened};

pub(super) static KERNELS: &[Kernel] = &[
    kernel("add", |c| number(c, |x, y| x + y, |x, y| x + y, i64::wrapping_add)),
    kernel("subtract", |c| number(c, |x, y| x - y, |x, y| x - y, i64::wrapping_sub)),
    kernel("multiply", |c| number(c, |x, y| x * y, |x, y| x * y, i64::wrapping_mul)),
    // Integers are cut toward zero.
    kernel("divide", |c| quotient(c, |x, y| x / y, |x, y| x / y, i64::wrapping_div, |x, y| x / y)),
    kernel("floor_divide", |c| {
        quotient(c, |x, y| (x / y).floor(), |x, y| (x / y).floor(), floor_div, |x, y| x / y)
    }),
    kernel("trunc_divide", |c| {
        quotient(c, |x, y| (x / y).trunc(), |x, y| (x / y).trunc(), i64::wrapping_div, |x, y| x / y)
    }),
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
    kernel("power", |c| number(c, f32::powf, f64::powf, power)),
    kernel("left_shift", |c| integer(c, |x, y| x.wrapping_shl(y as u32))),
    kernel("right_shift", |c| integer(c, |x, y| x.wrapping_shr(y as u32))),
    kernel("bitwise_and", |c| integer(c, |x, y| x & y)),
    kernel("bitwise_or", |c| integer(c, |x, y| x | y)),
    kernel("bitwise_xor", |c| integer(c, |x, y| x ^ y)),
    // Where one of the two is NaN, the comparison is false and the second is taken.
    kernel("maximum", |c| extreme(c, larger, larger, larger, larger)),
    kernel("minimum", |c| extreme(c, smaller, smaller, smaller, smaller)),
    kernel("logical_and", |c| logical(c, |x, y| x && y)),
    kernel("logical_or", |c| logical(c, |x, y| x || y)),
    kernel("logical_xor", |c| logical(c, |x, y| x != y)),
    kernel("equal", |c| compare(c, Test::Equal)),
    kernel("not_equal", |c| compare(c, Test::NotEqual)),
    kernel("less", |c| compare(c, Test::Less)),
    kernel("less_equal", |c| compare(c, Test::LessEqual)),
    kernel("greater", |c| compare(c, Test::Greater)),
    kernel("greater_equal", |c| compare(c, Test::GreaterEqual)),
    kernel("where", select),
];

/// Several shapes broadcast together, with neighbouring axes merged where every operand walks
/// over them in one go.
pub(super) struct Broadcast<const N: usize> {
    /// The common shape.
    pub(super) shape: Vec<usize>,
    sizes: Vec<usize>,
    strides: [Vec<usize>; N],
}

impl<const N: usize> Broadcast<N> {
    /// `None` where the shapes do not fit together.
    pub(super) fn of(shapes: [&[usize]; N]) -> Option<Broadcast<N>> {
        let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
        let mut shape = repeated(1, rank);
        for operand in shapes {
            let skip = rank - operand.len();
            for (axis, &size) in operand.iter().enumerate() {
                match (&mut shape[skip + axis], size) {
                    (_, 1) => {}
                    (common, size) if *common == 1 => *common = size,
                    (common, size) if *common == size => {}
                    _ => return None,
                }
            }
        }
        Some(Broadcast::to(shape, shapes))
    }

    /// Operands that each broadcast to `shape`, which is not checked.
    fn to(shape: Vec<usize>, shapes: [&[usize]; N]) -> Broadcast<N> {
        let rank = shape.len();
        let strides = shapes.map(|operand| {
            let mut strides = repeated(0, rank);
            let mut step = 1;
            for axis in (0..operand.len()).rev() {
                let at = rank - operand.len() + axis;
                strides[at] = if operand[axis] == 1 { 0 } else { step };
                step *= operand[axis];
            }
            strides
        });
        let mut merged = Broadcast { shape, sizes: Vec::new(), strides: strides.clone() };
        merged.strides.iter_mut().for_each(Vec::clear);
        for (axis, &size) in merged.shape.iter().enumerate() {
            if size == 1 {
                continue;
            }
            let joins = !merged.sizes.is_empty()
                && (0..N).all(|k| {
                    merged.strides[k].last().is_some_and(|&last| last == strides[k][axis] * size)
                });
            if joins {
                if let Some(last) = merged.sizes.last_mut() {
                    *last *= size;
                }
                for (merged, strides) in merged.strides.iter_mut().zip(&strides) {
                    if let Some(last) = merged.last_mut() {
                        *last = strides[axis];
                    }
                }
            } else {
                merged.sizes.push(size);
                (0..N).for_each(|k| merged.strides[k].push(strides[k][axis]));
            }
        }
        merged
    }

    /// Calls `row` for each stretch of the result: where it begins there, how long it is, and for
    /// each operand where it begins and how far apart its elements are. Long stretches come in
    /// pieces.
    pub(super) fn rows(&self, mut row: impl FnMut(usize, usize, [(usize, usize); N])) {
        if self.shape.contains(&0) {
            return;
        }
        let mut row = |start: usize, length: usize, operands: [(usize, usize); N]| {
            for from in (0..length).step_by(PIECE) {
                let piece = PIECE.min(length - from);
                spend(piece);
                row(start + from, piece, operands.map(|(at, step)| (at + from * step, step)));
            }
        };
        let Some((&length, outer)) = self.sizes.split_last() else {
            row(0, 1, [(0, 1); N]);
            return;
        };
        let steps: [usize; N] = std::array::from_fn(|k| self.strides[k][outer.len()]);
        let mut index = repeated(0usize, outer.len());
        let mut at = [0usize; N];
        let mut start = 0;
        loop {
            row(start, length, std::array::from_fn(|k| (at[k], steps[k])));
            start += length;
            let mut axis = outer.len();
            loop {
                let Some(next) = axis.checked_sub(1) else { return };
                axis = next;
                index[axis] += 1;
                (0..N).for_each(|k| at[k] += self.strides[k][axis]);
                if index[axis] < outer[axis] {
                    break;
                }
                (0..N).for_each(|k| at[k] -= self.strides[k][axis] * outer[axis]);
                index[axis] = 0;
            }
        }
    }
}

fn slice<T: Element>(array: &Array<T>) -> &[T] {
    array.as_slice().unwrap_or_default()
}

/// `f` of each pair of elements, into a new array.
fn zip<T: Element, U: Element>(
    call: &Call<'_>,
    x: &Array<T>,
    y: &Array<T>,
    f: impl Fn(T, T) -> U,
) -> Result<Tensor, Fault> {
    let (sx, sy) = (x.shape(), y.shape());
    let Some(walk) = Broadcast::of([sx, sy]) else {
        return Err(call.fault(format_args!("shapes {sx:?} and {sy:?} do not broadcast together")));
    };
    call.allow(&walk.shape, U::DTYPE)?;
    let mut out: Vec<U> = room(walk.shape.iter().product());
    let (xs, ys) = (slice(x), slice(y));
    walk.rows(|_, length, [(i, di), (j, dj)]| match (di, dj) {
        (1, 1) => {
            out.extend(xs[i..i + length].iter().zip(&ys[j..j + length]).map(|(&x, &y)| f(x, y)));
        }
        (1, 0) => out.extend(xs[i..i + length].iter().map(|&x| f(x, ys[j]))),
        (0, 1) => out.extend(ys[j..j + length].iter().map(|&y| f(xs[i], y))),
        _ => out.extend((0..length).map(|k| f(xs[i + k * di], ys[j + k * dj]))),
    });
    U::tensor(&walk.shape, out).ok_or_else(|| call.fault("the shapes do not fit"))
}

/// As [`zip`], in place where one of the two has the result's shape and no other owner.
fn zip_into<T: Element>(
    call: &Call<'_>,
    mut x: Array<T>,
    mut y: Array<T>,
    f: impl Fn(T, T) -> T,
) -> Result<Tensor, Fault> {
    let walk = Broadcast::of([x.shape(), y.shape()]);
    let fits = |array: &Array<T>| walk.as_ref().is_some_and(|walk| walk.shape == array.shape());
    if fits(&x)
        && x.is_unique()
        && let Some(walk) = &walk
        && let Some(xs) = x.as_slice_mut()
    {
        let ys = slice(&y);
        walk.rows(|at, length, [_, (j, dj)]| {
            let row = &mut xs[at..at + length];
            match dj {
                1 => row.iter_mut().zip(&ys[j..j + length]).for_each(|(x, &y)| *x = f(*x, y)),
                0 => row.iter_mut().for_each(|x| *x = f(*x, ys[j])),
                _ => row.iter_mut().enumerate().for_each(|(k, x)| *x = f(*x, ys[j + k * dj])),
            }
        });
        return Ok(T::wrap(x));
    }
    if fits(&y)
        && y.is_unique()
        && let Some(walk) = &walk
        && let Some(ys) = y.as_slice_mut()
    {
        let xs = slice(&x);
        walk.rows(|at, length, [(i, di), _]| {
            let row = &mut ys[at..at + length];
            match di {
                1 => row.iter_mut().zip(&xs[i..i + length]).for_each(|(y, &x)| *y = f(x, *y)),
                0 => row.iter_mut().for_each(|y| *y = f(xs[i], *y)),
                _ => row.iter_mut().enumerate().for_each(|(k, y)| *y = f(xs[i + k * di], *y)),
            }
        });
        return Ok(T::wrap(y));
    }
    zip(call, &x, &y, f)
}

/// The failure that two arguments are of different data types.
fn differ<T>(call: &Call<'_>, x: DataType, y: DataType) -> Result<T, Fault> {
    Err(call.fault(format_args!("the arguments are {x} and {y}, and must be of one data type")))
}

/// An operator on numbers of any kind. Integers go through 64 bits and wrap.
fn number(
    call: &mut Call<'_>,
    single: impl Fn(f32, f32) -> f32,
    double: impl Fn(f64, f64) -> f64,
    integer: impl Fn(i64, i64) -> i64,
) -> Outcome {
    let (x, y) = (call.take_tensor(0)?, call.take_tensor(1)?);
    let dtype = x.dtype();
    if y.dtype() != dtype {
        return differ(call, dtype, y.dtype());
    }
    let tensor = match (x, y) {
        (Tensor::F32(x), Tensor::F32(y)) => return Ok(zip_into(call, x, y, single)?.into()),
        (Tensor::F64(x), Tensor::F64(y)) => return Ok(zip_into(call, x, y, double)?.into()),
        (Tensor::I32(x), Tensor::I32(y)) => {
            let narrow = |x: i32, y: i32| integer(x.into(), y.into()) as i32;
            return Ok(zip(call, &x, &y, narrow)?.into());
        }
        (x, y) => {
            let float = dtype.is_float() || dtype.is_bfloat();
            let wide = if float { DataType::FLOAT32 } else { DataType::INT64 };
            match (converted(x, wide), converted(y, wide)) {
                (Some(Tensor::F32(x)), Some(Tensor::F32(y))) => zip_into(call, x, y, single)?,
                (Some(Tensor::I64(x)), Some(Tensor::I64(y))) => zip(call, &x, &y, integer)?,
                _ => return call.unsupported(dtype),
            }
        }
    };
    match converted(tensor, dtype) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// An operator that divides.
fn quotient(
    call: &mut Call<'_>,
    single: impl Fn(f32, f32) -> f32,
    double: impl Fn(f64, f64) -> f64,
    integer: impl Fn(i64, i64) -> i64,
    unsigned: impl Fn(u64, u64) -> u64,
) -> Outcome {
    let divisor = call.tensor(1)?;
    let is_float = divisor.dtype().is_float() || divisor.dtype().is_bfloat();
    if !is_float && divisor.to_i64s().contains(&0) {
        return Err(call.fault("an integer is divided by 0"));
    }
    if let (Tensor::U64(x), Tensor::U64(y)) = (call.tensor(0)?, divisor) {
        return Ok(zip(call, x, y, unsigned)?.into());
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
    single: fn(f32, f32) -> f32,
    double: fn(f64, f64) -> f64,
    integer: fn(i64, i64) -> i64,
    unsigned: fn(u64, u64) -> u64,
) -> Outcome {
    if let (Tensor::U64(x), Tensor::U64(y)) = (call.tensor(0)?, call.tensor(1)?) {
        return Ok(zip(call, x, y, unsigned)?.into());
    }
    number(call, single, double, integer)
}

/// An operator on integers and truth values.
fn integer(call: &mut Call<'_>, f: impl Fn(i64, i64) -> i64) -> Outcome {
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
    match converted(zip(call, &x, &y, f)?, dtype) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

enum Test {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

fn compare(call: &mut Call<'_>, test: Test) -> Outcome {
    let (x, y) = (call.tensor(0)?, call.tensor(1)?);
    if x.dtype() != y.dtype() {
        return differ(call, x.dtype(), y.dtype());
    }
    let (x, y) = (widened(x), widened(y));
    each_wide!(&x, x => {
        let Some(y) = T::unwrap(&y) else { return differ(call, T::DTYPE, y.dtype()) };
        Ok(match test {
            Test::Equal => zip(call, x, y, |x, y| x == y)?,
            Test::NotEqual => zip(call, x, y, |x, y| x != y)?,
            Test::Less => zip(call, x, y, |x, y| x < y)?,
            Test::LessEqual => zip(call, x, y, |x, y| x <= y)?,
            Test::Greater => zip(call, x, y, |x, y| x > y)?,
            Test::GreaterEqual => zip(call, x, y, |x, y| x >= y)?,
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
        return Err(call.fault("the shapes do not broadcast together"));
    };
    each_dtype!(x, x => {
        let Some(y) = T::unwrap(y) else { return differ(call, T::DTYPE, y.dtype()) };
        call.allow(&walk.shape, T::DTYPE)?;
        let (xs, ys) = (slice(x), slice(y));
        let mut out: Vec<T> = room(walk.shape.iter().product());
        walk.rows(|_, length, [(c, dc), (i, di), (j, dj)]| {
            out.extend((0..length).map(|k| {
                if truths[c + k * dc] { xs[i + k * di] } else { ys[j + k * dj] }
            }));
        });
        call.build(&walk.shape, out)
    })
}

/// The elements repeated along axes of size 1, and new axes in front, to fill `shape`.
pub(super) fn broadcast_to(
    call: &Call<'_>,
    tensor: &Tensor,
    shape: &[usize],
) -> Result<Tensor, Fault> {
    let from = tensor.shape();
    let fits = from.len() <= shape.len()
        && from.iter().rev().zip(shape.iter().rev()).all(|(&a, &b)| a == b || a == 1);
    if !fits {
        return Err(call.fault(format_args!("shape {from:?} does not broadcast to {shape:?}")));
    }
    // Axes of size 1 in front repeat nothing.
    if shape.iter().product::<usize>() == tensor.len()
        && let Some(tensor) = tensor.clone().reshape(shape)
    {
        return Ok(tensor);
    }
    call.allow(shape, tensor.dtype())?;
    let walk = Broadcast::to(shape.to_vec(), [from]);
    let made = each_dtype!(tensor, array => {
        let elements = slice(array);
        let mut out: Vec<T> = room(shape.iter().product());
        walk.rows(|_, length, [(i, di)]| match di {
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
    fn axes_are_merged() {
        let walk = Broadcast::of([&[2, 3, 4, 5][..], &[3, 1, 1]]).expect("they fit");
        assert_eq!(walk.shape, [2, 3, 4, 5]);
        assert_eq!(walk.sizes, [2, 3, 20]);
        let walk = Broadcast::of([&[2, 3][..], &[2, 3]]).expect("they fit");
        assert_eq!(walk.sizes, [6]);
        assert!(Broadcast::of([&[2][..], &[3]]).is_none());
        let mut rows = 0;
        Broadcast::of([&[0, 3][..], &[1]]).expect("they fit").rows(|_, _, _| rows += 1);
        assert_eq!(rows, 0);
    }

    #[test]
    fn division() {
        assert_eq!((floor_div(-7, 2), floor_div(7, -2), floor_div(7, 2)), (-4, -4, 3));
        assert_eq!(floor_div(i64::MIN, -1), i64::MIN);
    }
}
