//! Sparse matrices: stored elements or blocks, the column of each, and the start of each row among
//! them.

use super::{index::strides, layouts, prelude::*};
use crate::convert::converted;

pub(super) static KERNELS: &[Kernel] = &[
    // The padding is zeros.
    kernel("nn.internal.sparse_dense_padded", sparse_dense),
    kernel("nn.sparse_add", sparse_add),
    kernel("nn.sparse_conv2d", sparse_conv2d),
    kernel("nn.sparse_dense", sparse_dense),
    kernel("nn.sparse_transpose", sparse_transpose),
    kernel("sparse_fill_empty_rows", sparse_fill_empty_rows),
    kernel("sparse_reshape", sparse_reshape),
    kernel("sparse_to_dense", |c| {
        let (shape, _) = c.result()?;
        to_dense(c, &shape)
    }),
];

/// Integers as a tensor of a data type that is only known at run time.
fn integers(call: &Call<'_>, dtype: DataType, shape: &[usize], values: Vec<i64>) -> Outcome {
    match Tensor::from_i64s(dtype, shape, values) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// The rows of a sparse matrix, and the columns of their elements.
struct Rows {
    /// The index of the first element of each row, and the number of elements.
    starts: Vec<usize>,
    /// The column of each element.
    columns: Vec<usize>,
}

impl Rows {
    /// The rows of a matrix with `count` elements and `width` columns.
    fn of(
        call: &Call<'_>,
        columns: Vec<i64>,
        starts: Vec<i64>,
        count: usize,
        width: usize,
    ) -> Result<Rows, Fault> {
        let place = |what: &str, value: i64, most: usize| match usize::try_from(value) {
            Ok(place) if place <= most => Ok(place),
            _ => Err(call.fault(format_args!("{what} {value} is out of range for {most}"))),
        };
        if columns.len() != count {
            return Err(call.fault(format_args!(
                "{count} elements are stored, but the columns of {}",
                columns.len()
            )));
        }
        let starts = watched(starts.into_iter()).map(|start| place("a row's start", start, count));
        let last = width.saturating_sub(1);
        let columns = watched(columns.into_iter()).map(|column| place("column", column, last));
        let rows = Rows { starts: try_collected(starts)?, columns: try_collected(columns)? };
        if width == 0 && count > 0 {
            return Err(call.fault("elements are stored in a matrix without columns"));
        }
        Ok(rows)
    }

    fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The elements of a row.
    fn row(&self, row: usize) -> std::ops::Range<usize> {
        match self.starts.get(row..row + 2) {
            Some(&[start, end]) => start..end.max(start),
            _ => 0..0,
        }
    }
}

/// A matrix of blocks.
struct Blocks {
    rows: Rows,
    height: usize,
    width: usize,
}

impl Blocks {
    /// The matrix in the second to fourth argument, which is multiplied by a dense matrix of
    /// `depth` columns.
    fn of(call: &Call<'_>, depth: usize) -> Result<Blocks, Fault> {
        let (count, height, width) = match *call.tensor(1)?.shape() {
            [count] => (count, 1, 1),
            [count, height] => (count, height, 1),
            [count, height, width] => (count, height, width),
            _ => return Err(call.fault("blocks have at most 3 axes")),
        };
        let columns = depth.checked_div(width).unwrap_or(0);
        let rows = Rows::of(call, call.numbers(2)?, call.numbers(3)?, count, columns)?;
        Ok(Blocks { rows, height, width })
    }

    /// The products of `count` rows of dense elements with each row of the blocks.
    fn multiply<T: Copy + Send + Sync>(
        &self,
        (dense, count): (&[T], usize),
        stored: &[T],
        zero: T,
        step: impl Fn(T, T, T) -> T + Sync,
    ) -> Vec<T> {
        let units = self.rows.len() * self.height;
        let depth = dense.len().checked_div(count).unwrap_or(0);
        let mut out = repeated(zero, count * units);
        let block = self.height * self.width;
        let one = |at: usize, out: &mut [T]| {
            let dense = dense.get(at * depth..(at + 1) * depth).unwrap_or_default();
            for (row, out) in out.chunks_mut(self.height).enumerate() {
                for (line, out) in out.iter_mut().enumerate() {
                    for at in self.rows.row(row) {
                        spend(self.width);
                        let weights = &stored[at * block + line * self.width..][..self.width];
                        let inputs = &dense[self.rows.columns[at] * self.width..][..self.width];
                        let pairs = weights.iter().zip(inputs);
                        *out = pairs.fold(*out, |sum, (&x, &y)| step(sum, x, y));
                    }
                }
            }
        };
        if units > 0 && depth > 0 {
            each_chunk(&mut out, units, depth, &one);
        }
        out
    }

    /// The products as a tensor, which has the rows of `dense` along its last axis.
    fn products(&self, call: &Call<'_>, dense: &Tensor) -> Result<Tensor, Fault> {
        let dtype = dense.dtype();
        let outer = dense.shape().split_last().map_or(&[][..], |(_, outer)| outer);
        let count = outer.iter().product();
        let shape = [count, self.rows.len() * self.height];
        call.allow(&shape, dtype)?;
        let wide = match dtype {
            DataType::FLOAT64 => DataType::FLOAT64,
            _ if dtype.is_float() || dtype.is_bfloat() => DataType::FLOAT32,
            _ => DataType::INT64,
        };
        let operands = (converted(dense.clone(), wide), converted(call.tensor(1)?.clone(), wide));
        let made = match operands {
            (Some(Tensor::F32(x)), Some(Tensor::F32(w))) => {
                let (x, w) = (x.as_slice().unwrap_or_default(), w.as_slice().unwrap_or_default());
                f32::tensor(&shape, self.multiply((x, count), w, 0.0, |s, w, x| s + w * x))
            }
            (Some(Tensor::F64(x)), Some(Tensor::F64(w))) => {
                let (x, w) = (x.as_slice().unwrap_or_default(), w.as_slice().unwrap_or_default());
                f64::tensor(&shape, self.multiply((x, count), w, 0.0, |s, w, x| s + w * x))
            }
            (Some(Tensor::I64(x)), Some(Tensor::I64(w))) => {
                let (x, w) = (x.as_slice().unwrap_or_default(), w.as_slice().unwrap_or_default());
                let step = |s: i64, w: i64, x: i64| s.wrapping_add(w.wrapping_mul(x));
                i64::tensor(&shape, self.multiply((x, count), w, 0, step))
            }
            _ => None,
        };
        match made.and_then(|tensor| converted(tensor, dtype)) {
            Some(tensor) => Ok(tensor),
            None => call.unsupported(dtype),
        }
    }
}

fn sparse_dense(call: &mut Call<'_>) -> Outcome {
    let dense = call.tensor(0)?;
    let &[_, depth] = dense.shape() else {
        return Err(call.fault("the dense argument must be a matrix"));
    };
    let products = Blocks::of(call, depth)?.products(call, dense)?;
    if call.bool("sparse_lhs") {
        return Ok(products.permuted(&[1, 0]).into());
    }
    Ok(products.into())
}

/// A convolution with kernel size 1: each position of the image is a row of the dense matrix.
fn sparse_conv2d(call: &mut Call<'_>) -> Outcome {
    let layout = call.str("layout");
    let sizes = call.ints("kernel_size")?;
    if sizes.iter().any(|&size| size != 1) {
        return Err(call.fault("only kernels of size 1 are supported, as in TVM"));
    }
    let image = layouts::convert(call, call.tensor(0)?, layout, "NHWC")?;
    let &[n, h, w, depth] = image.shape() else {
        return Err(call.fault("the data must have 4 axes"));
    };
    let blocks = Blocks::of(call, depth)?;
    let products = blocks.products(call, &image)?;
    let units = blocks.rows.len() * blocks.height;
    let image = call.reshaped(products, &[n, h, w, units])?;
    Ok(layouts::convert(call, &image, "NHWC", layout)?.into())
}

fn sparse_add(call: &mut Call<'_>) -> Outcome {
    let (starts, columns) = (call.numbers(3)?, call.numbers(2)?);
    let dense = call.take_tensor(0)?;
    let &[height, width] = dense.shape() else {
        return Err(call.fault("the dense argument must be a matrix"));
    };
    let stored = call.tensor(1)?;
    let rows = Rows::of(call, columns, starts, stored.len(), width)?;
    if rows.len() != height {
        return Err(call
            .fault(format_args!("there are {} sparse rows, but {height} dense ones", rows.len())));
    }
    each_dtype!(dense, dense => {
        let mut dense = own(dense);
        let Some(stored) = T::unwrap(stored).and_then(|stored| stored.as_slice()) else {
            return Err(call.fault("the matrices have different data types"));
        };
        let is_float = T::DTYPE.is_float() || T::DTYPE.is_bfloat();
        let elements = dense.as_slice_mut().unwrap_or_default();
        for row in 0..height {
            for at in watched(rows.row(row)) {
                let to = &mut elements[row * width + rows.columns[at]];
                *to = if is_float {
                    <T as Element>::from_f64(stored[at].to_f64() + to.to_f64())
                } else {
                    <T as Element>::from_i64(stored[at].to_i64().wrapping_add(to.to_i64()))
                };
            }
        }
        Ok(T::wrap(dense).into())
    })
}

fn sparse_transpose(call: &mut Call<'_>) -> Outcome {
    let (stored, columns, starts) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let size = starts.len().saturating_sub(1);
    let rows = Rows::of(call, columns.to_i64s(), starts.to_i64s(), stored.len(), size)?;
    // The number of elements of each column, and then its start.
    let mut next = repeated(0usize, size + 1);
    watched(rows.columns.iter()).for_each(|&column| next[column + 1] += 1);
    (0..size).for_each(|column| next[column + 1] += next[column]);
    let bounds = mapped(&next, |start| start as i64);
    let mut from = repeated(0usize, stored.len());
    let mut row_of = repeated(0i64, stored.len());
    for row in 0..size {
        for at in watched(rows.row(row)) {
            let to = &mut next[rows.columns[at]];
            if let (Some(from), Some(row_of)) = (from.get_mut(*to), row_of.get_mut(*to)) {
                (*from, *row_of) = (at, row as i64);
            }
            *to += 1;
        }
    }
    let elements = each_dtype!(stored, stored => {
        let stored = stored.as_slice().unwrap_or_default();
        let elements: Vec<T> = mapped(&from, |at| stored[at]);
        call.build(&[elements.len()], elements)?
    });
    let row_of = integers(call, columns.dtype(), &[row_of.len()], row_of)?;
    let bounds = integers(call, starts.dtype(), &[bounds.len()], bounds)?;
    Ok(Value::tuple([elements, row_of, bounds]))
}

/// Writes values into a tensor that is filled with a default. An index with fewer axes fills the
/// remaining ones, and later values replace earlier ones.
pub(super) fn to_dense(call: &mut Call<'_>, shape: &[usize]) -> Outcome {
    let (places, values, default) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let (count, depth) = match *places.shape() {
        [] => (1, 1),
        [count] => (count, 1),
        [count, depth, ..] => (count, depth),
    };
    if depth > shape.len() || values.len() < count || places.len() != count * depth {
        return Err(call.fault(format_args!(
            "{} values with indices of shape {:?} do not fit into the shape {shape:?}",
            values.len(),
            places.shape()
        )));
    }
    call.allow(shape, values.dtype())?;
    let Some(default) = converted(default.clone(), values.dtype()) else {
        return call.unsupported(values.dtype());
    };
    let steps = strides(shape);
    let run: usize = shape[depth..].iter().product();
    let numbers = places.to_i64s();
    let start = |place: &[i64]| -> Option<usize> {
        let mut start = 0;
        for ((&at, &size), step) in place.iter().zip(shape).zip(&steps) {
            start += usize::try_from(at).ok().filter(|&at| at < size)? * step;
        }
        Some(start)
    };
    // Without axes to index, every value fills the whole tensor.
    let starts: Vec<Option<usize>> = match depth {
        0 => repeated(Some(0), count),
        _ => collected(watched(numbers.chunks(depth)).map(start)),
    };
    each_dtype!(values, values => {
        let values = values.as_slice().unwrap_or_default();
        let default: T =
            T::unwrap(&default).and_then(|x| x.first().copied()).unwrap_or_default();
        let mut out = repeated(default, shape.iter().product());
        for (start, &value) in watched(starts.iter().zip(values)) {
            if let Some(to) = start.and_then(|start| out.get_mut(start..start + run)) {
                pieces_mut(to).for_each(|piece| piece.fill(value));
            }
        }
        call.build(shape, out)
    })
}

fn sparse_fill_empty_rows(call: &mut Call<'_>) -> Outcome {
    let places = call.tensor(0)?;
    let &[count, depth] = places.shape() else {
        return Err(call.fault("the indices must be a matrix"));
    };
    let (numbers, values) = (places.to_i64s(), call.numbers(1)?);
    let height = call.numbers(2)?.first().copied().unwrap_or(0);
    let default = call.numbers(3)?.first().copied().unwrap_or_default();
    let Ok(rows) = usize::try_from(height) else {
        return Err(call.fault(format_args!("{height} is not a valid number of rows")));
    };
    if depth == 0 || values.len() < count {
        return Err(
            call.fault(format_args!("there are {} values, but {count} indices", values.len()))
        );
    }
    call.allow(&[rows.saturating_add(count), depth], DataType::INT64)?;
    // Each empty row gets an element.
    let most = rows.saturating_add(count);
    let mut out_places: Vec<i64> = with_capacity(most.saturating_mul(depth));
    let mut out_values: Vec<i64> = with_capacity(most);
    let mut empty = repeated(0i64, rows);
    let mut next = 0;
    let mut fill = |to: i64, next: i64, places: &mut Vec<i64>, values: &mut Vec<i64>| {
        for row in watched(next..to) {
            places.push(row);
            places.extend(std::iter::repeat_n(0, depth - 1));
            values.push(default);
            if let Some(empty) = usize::try_from(row).ok().and_then(|row| empty.get_mut(row)) {
                *empty = 1;
            }
        }
    };
    for (place, &value) in watched(numbers.chunks(depth).zip(&values)) {
        let row = place.first().copied().unwrap_or_default();
        if !(0..height).contains(&row) {
            return Err(call.fault(format_args!("row {row} is out of range for {height}")));
        }
        fill(row, next, &mut out_places, &mut out_values);
        out_places.extend_from_slice(place);
        out_values.push(value);
        next = row + 1;
    }
    fill(height, next, &mut out_places, &mut out_values);
    let found = out_values.len();
    Ok(Value::tuple([
        call.build(&[found, depth], out_places)?,
        call.build(&[found], out_values)?,
        call.build(&[rows], empty)?,
    ]))
}

fn sparse_reshape(call: &mut Call<'_>) -> Outcome {
    let (places, old) = (call.tensor(0)?, call.numbers(1)?);
    let new_dtype = call.tensor(2)?.dtype();
    let mut new = call.numbers(2)?;
    let &[count, depth] = places.shape() else {
        return Err(call.fault("the indices must be a matrix"));
    };
    if depth != old.len() {
        return Err(call.fault(format_args!(
            "the indices have {depth} axes, but the tensor has {}",
            old.len()
        )));
    }
    let product = |sizes: &[i64]| {
        let whole = sizes.iter().filter(|&&size| size != -1);
        let product = whole.copied().try_fold(1i64, i64::checked_mul);
        product.ok_or_else(|| call.fault("the shape is too large"))
    };
    let (total, known) = (product(&old)?, product(&new)?);
    for size in &mut new {
        if *size == -1 {
            *size = total.checked_div(known).unwrap_or(0);
        }
    }
    // The stride of each axis.
    let steps = |sizes: &[i64]| -> Result<Vec<i64>, Fault> {
        (1..=sizes.len()).map(|axis| product(&sizes[axis..])).collect()
    };
    let numbers = places.to_i64s();
    let out = if old == new {
        numbers
    } else {
        let (from, to) = (steps(&old)?, steps(&new)?);
        call.allow(&[count, new.len()], DataType::INT64)?;
        let mut out = with_capacity(count * new.len());
        for k in 0..count {
            let place = numbers.get(k * depth..(k + 1) * depth).unwrap_or_default();
            let mut rest = place
                .iter()
                .zip(&from)
                .fold(0i64, |sum, (x, step)| sum.wrapping_add(x.wrapping_mul(*step)));
            for &step in &to {
                if step == 0 {
                    return Err(call.fault("an axis of the new shape has no elements"));
                }
                out.push(rest.div_euclid(step));
                rest = rest.rem_euclid(step);
            }
        }
        out
    };
    let places = integers(call, places.dtype(), &[count, new.len()], out)?;
    Ok(Value::tuple([places, integers(call, new_dtype, &[new.len()], new)?]))
}
