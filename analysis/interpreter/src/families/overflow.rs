//! The exact results of kernels that compute integers, which are compared with the range of their type.

use super::{Broadcast, prelude::*};
use crate::overflow::{Overflow, fits};

/// An integer function; `None` if the result has more than 128 bits.
type Exact = fn(i128, i128) -> Option<i128>;

/// Returns an element of a tensor of integers.
pub(super) fn integer_at(tensor: &Tensor, at: usize) -> i128 {
    match tensor {
        Tensor::U64(array) => elements(array).get(at).map_or(0, |&x| x.into()),
        other => each_dtype!(other, array => {
            elements(array).get(at).map_or(0, |&x| Element::to_i64(x).into())
        }),
    }
}

/// Returns true if a tensor has integers.
pub(super) fn is_integer(tensor: &Tensor) -> bool {
    let dtype = tensor.dtype();
    (dtype.is_int() || dtype.is_uint()) && !dtype.is_bool()
}

/// Looks for an overflow of an operator on two tensors with broadcasting.
pub(super) fn of_two(call: &Call<'_>, result: &Tensor, exact: Exact) -> Option<Overflow> {
    let (x, y) = (call.tensor(0).ok()?, call.tensor(1).ok()?);
    if !is_integer(result) || !is_integer(x) || !is_integer(y) {
        return None;
    }
    let dtype = result.dtype();
    let mut found = None;
    Broadcast::of([x.shape(), y.shape()])?.rows(&mut |start, length, [of_x, of_y]| {
        if found.is_some() {
            return;
        }
        found = (0..length).find_map(|k| {
            let at = |(first, step): (usize, usize)| first + k * step;
            let (x, y) = (integer_at(x, at(of_x)), integer_at(y, at(of_y)));
            let exact = exact(x, y);
            (!fits(dtype, exact)).then_some((start + k, [x, y], exact))
        });
    });
    let (at, operands, exact) = found?;
    let operands = operands.iter().map(i128::to_string);
    Some(Overflow::new(result.shape(), at, operands, exact))
}

/// Looks for an overflow of an operator on each element.
pub(super) fn of_each(
    call: &Call<'_>,
    result: &Tensor,
    exact: fn(i128) -> i128,
) -> Option<Overflow> {
    let tensor = call.tensor(0).ok()?;
    if !is_integer(result) {
        return None;
    }
    let dtype = result.dtype();
    let is_float = tensor.dtype().is_floating();
    for at in watched(0..tensor.len()) {
        let (exact, operand) = if is_float {
            let x = each_dtype!(tensor, array => {
                elements(array).get(at).map_or(0.0, |&x| Element::to_f64(x))
            });
            (truncated(x).map(exact), x.to_string())
        } else {
            let x = integer_at(tensor, at);
            match fits(dtype, Some(exact(x))) {
                true => continue,
                false => (Some(exact(x)), x.to_string()),
            }
        };
        if !fits(dtype, exact) {
            return Some(Overflow::new(result.shape(), at, [operand].into_iter(), exact));
        }
    }
    None
}

/// Truncates a number toward zero; `None` for NaN, infinities and numbers with more than 126 bits.
fn truncated(x: f64) -> Option<i128> {
    (x.abs() < 2f64.powi(126)).then_some(x as i128)
}

/// Looks for an overflow of a fold of rows: the result has one element for `length` ones of `rows`.
pub(super) fn of_rows(
    (rows, length): (&Tensor, usize),
    result: &Tensor,
    (exact, neutral): (Exact, i128),
) -> Option<Overflow> {
    (0..result.len()).find_map(|row| {
        let places = row * length..(row + 1) * length;
        let mut numbers = watched(places.clone()).map(|at| integer_at(rows, at));
        let folded = numbers.try_fold(neutral, exact);
        let operands = || places.map(|at| integer_at(rows, at).to_string());
        (!fits(result.dtype(), folded))
            .then(|| Overflow::new(result.shape(), row, operands(), folded))
    })
}

/// A function that calls its second argument with the indices of both factors of each product of which an element of a
/// result is the sum.
type Terms<'t> = dyn Fn(usize, &mut dyn FnMut(usize, usize)) + 't;

/// Looks for an overflow of sums of products of the elements of two operands, at most `most` products for each element.
pub(super) fn of_products(
    (x, y): (&Tensor, &Tensor),
    result: &Tensor,
    most: usize,
    terms: &Terms<'_>,
) -> Option<Overflow> {
    if !is_integer(result) || !is_integer(x) || !is_integer(y) {
        return None;
    }
    let dtype = result.dtype();
    let largest = |tensor: &Tensor| {
        watched(0..tensor.len()).map(|at| integer_at(tensor, at).abs()).max().unwrap_or(0)
    };
    // Quantized networks choose their types so that no sum overflows, whatever the elements are.
    let bound = largest(x).checked_mul(largest(y)).and_then(|one| one.checked_mul(most as i128));
    if fits(dtype, bound) {
        return None;
    }
    (0..result.len()).find_map(|at| {
        let mut sum = Some(0i128);
        terms(at, &mut |i, j| {
            spend(1);
            let product = integer_at(x, i).checked_mul(integer_at(y, j));
            sum = sum.zip(product).and_then(|(sum, product)| sum.checked_add(product));
        });
        if fits(dtype, sum) {
            return None;
        }
        let mut products = Vec::new();
        terms(at, &mut |i, j| products.push([integer_at(x, i), integer_at(y, j)]));
        products.retain(|factors| !factors.contains(&0));
        let operands = products.iter().map(|[x, y]| format!("{x} * {y}"));
        Some(Overflow::new(result.shape(), at, operands, sum))
    })
}

/// Returns a number times a power of 2; `None` if it has more than 128 bits or the exponent is negative.
pub(super) fn shifted(x: i128, y: i128) -> Option<i128> {
    match u32::try_from(y) {
        Ok(_) if x == 0 => Some(0),
        Ok(y) => x.checked_mul(2i128.checked_pow(y)?),
        Err(_) => None,
    }
}

/// Returns a power; `None` if it has more than 128 bits. Powers with a negative exponent are fractions.
pub(super) fn power(x: i128, y: i128) -> Option<i128> {
    match u32::try_from(y) {
        Ok(y) => x.checked_pow(y),
        Err(_) if y < 0 || (-1..=1).contains(&x) => Some(0),
        Err(_) => None,
    }
}
