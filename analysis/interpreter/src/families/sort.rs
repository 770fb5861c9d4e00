//! Operators that sort and search.

mod merge;
mod order;

use order::{Keys, Lanes, orders};

use super::{index::advance, prelude::*};

pub(super) static KERNELS: &[Kernel] = &[
    kernel("argsort", argsort),
    kernel("argwhere", argwhere),
    kernel("searchsorted", searchsorted),
    kernel("sort", sort),
    kernel("topk", |c| {
        let k = c.int("k")?;
        topk(c, k)
    }),
    kernel("unique", unique),
];

/// Integers as a tensor of a data type that is only known at run time.
fn integers(call: &Call<'_>, dtype: DataType, shape: &[usize], values: Vec<i64>) -> Outcome {
    match Tensor::from_i64s(dtype, shape, values) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// The axis along which an operator sorts.
fn lanes(call: &Call<'_>, data: &Tensor) -> Result<Lanes, Fault> {
    let axis = call.axis(call.int("axis")?, data.rank())?;
    Ok(Lanes::of(data.shape(), axis))
}

fn argsort(call: &mut Call<'_>) -> Outcome {
    let dtype = call.result_dtype()?;
    let data = call.tensor(0)?;
    call.allow(data.shape(), DataType::INT64)?;
    let lanes = lanes(call, data)?;
    let order = orders(&Keys::of(data), lanes, call.bool("is_ascend"), None);
    let order = mapped(&order, |place| place as i64);
    integers(call, dtype, data.shape(), order)
}

/// Selects the elements at `places` along each lane.
fn picked(call: &Call<'_>, data: &Tensor, lanes: Lanes, places: &[usize], count: usize) -> Outcome {
    let mut shape = data.shape().to_vec();
    if let Some(size) = shape.get_mut(lanes.axis) {
        *size = count;
    }
    call.allow(&shape, data.dtype())?;
    each_dtype!(data, data => {
        let from = data.as_slice().unwrap_or_default();
        let mut out: Vec<T> = with_capacity(places.len());
        for (at, &place) in watched(places.iter().enumerate()) {
            out.push(from.get(lanes.at(at, count, place)).copied().unwrap_or_default());
        }
        call.build(&shape, out)
    })
}

fn sort(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let lanes = lanes(call, data)?;
    let order = orders(&Keys::of(data), lanes, call.bool("is_ascend"), None);
    picked(call, data, lanes, &order, lanes.size)
}

/// The first `k` of the sorted elements, or all if `k` is below 1. The sort is stable.
pub(super) fn topk(call: &mut Call<'_>, k: i64) -> Outcome {
    let data = call.tensor(0)?;
    let lanes = lanes(call, data)?;
    let count = if k < 1 { lanes.size } else { usize::try_from(k).unwrap_or(usize::MAX) };
    if count > lanes.size {
        return Err(call.fault(format_args!(
            "`k` is {k}, but axis {} has {} elements",
            lanes.axis, lanes.size
        )));
    }
    let order = orders(&Keys::of(data), lanes, call.bool("is_ascend"), Some(count));
    let mut shape = data.shape().to_vec();
    if let Some(size) = shape.get_mut(lanes.axis) {
        *size = count;
    }
    let dtype = match call.attrs().dtype("dtype") {
        dtype if dtype.is_void() => DataType::INT32,
        dtype => dtype,
    };
    let indices =
        |order: &[usize]| integers(call, dtype, &shape, mapped(order, |place| place as i64));
    match call.str("ret_type") {
        "values" => picked(call, data, lanes, &order, count),
        "indices" => indices(&order),
        _ => {
            let values = picked(call, data, lanes, &order, count)?;
            Ok(Value::tuple([values, indices(&order)?]))
        }
    }
}

fn argwhere(call: &mut Call<'_>) -> Outcome {
    let condition = call.tensor(0)?;
    let shape = condition.shape();
    let truths: Vec<usize> = each_dtype!(condition, array => {
        let elements = watched(array.iter().enumerate());
        collected(elements.filter(|(_, x)| Element::to_f64(**x) != 0.0).map(|(at, _)| at))
    });
    call.allow(&[truths.len(), shape.len()], DataType::INT32)?;
    let mut out: Vec<i32> = with_capacity(truths.len() * shape.len());
    let mut index = repeated(0usize, shape.len());
    let mut at = 0;
    for place in watched(truths.into_iter()) {
        // The next one is usually near.
        if place - at > 8 {
            let mut rest = place;
            for axis in (0..shape.len()).rev() {
                index[axis] = rest % shape[axis];
                rest /= shape[axis];
            }
        } else {
            (at..place).for_each(|_| advance(&mut index, shape));
        }
        at = place;
        out.extend(index.iter().map(|&k| k as i32));
    }
    let count = out.len().checked_div(shape.len()).unwrap_or(usize::from(at_scalar(condition)));
    call.build(&[count, shape.len()], out)
}

/// Returns true if a scalar is not 0.
fn at_scalar(condition: &Tensor) -> bool {
    condition.to_f64s().first().is_some_and(|&x| x != 0.0)
}

fn searchsorted(call: &mut Call<'_>) -> Outcome {
    let (sequences, values) = (call.tensor(0)?, call.tensor(1)?);
    let dtype = call.result_dtype()?;
    call.allow(values.shape(), DataType::INT64)?;
    let right = call.bool("right");
    let size = sequences.shape().last().copied().unwrap_or(1);
    let row = values.shape().last().copied().unwrap_or(1);
    let one = sequences.rank() <= 1;
    if !one && sequences.len().checked_div(size) != values.len().checked_div(row) && size != 0 {
        return Err(call.fault("the shapes differ before the last axis"));
    }
    let found = match Keys::both(sequences, values) {
        (Keys::Float(sequences), Keys::Float(values)) => {
            search(&sequences, &values, size, if one { usize::MAX } else { row }, right)
        }
        (Keys::Integer(sequences), Keys::Integer(values)) => {
            search(&sequences, &values, size, if one { usize::MAX } else { row }, right)
        }
        _ => return Err(call.fault("the arguments have different data types")),
    };
    integers(call, dtype, values.shape(), found)
}

/// The position of each value in its sequence of `size` elements; `row` values share one.
fn search<T: PartialOrd>(
    sequences: &[T],
    values: &[T],
    size: usize,
    row: usize,
    right: bool,
) -> Vec<i64> {
    let place = |(at, value): (usize, &T)| {
        let start = at.checked_div(row).unwrap_or(0) * size;
        let sequence = sequences.get(start..start + size).unwrap_or_default();
        // The same search as in TVM, also for unsorted sequences and NaN.
        let (mut low, mut high) = (0, sequence.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let behind = if right { sequence[middle] <= *value } else { sequence[middle] < *value };
            if behind { low = middle + 1 } else { high = middle }
        }
        low as i64
    };
    let values = values.iter().enumerate().inspect(|_| spend(16));
    collected(values.map(place))
}

fn unique(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let count = data.len();
    let shape = [count];
    call.allow(&shape, DataType::INT64)?;
    let keys = Keys::of(data);
    let order = orders(&keys, Lanes::of(&shape, 0), true, None);
    // The start of each group of equal elements in sorted order.
    let mut starts: Vec<usize> = with_capacity(count);
    let mut group = repeated(0usize, count);
    for (at, &place) in watched(order.iter().enumerate()) {
        if at == 0 || keys.differ(order[at - 1], place) {
            starts.push(at);
        }
        group[place] = starts.len() - 1;
    }
    let found = starts.len();
    let first = |group: usize| order[starts[group]];
    // The group at each position of the result.
    let mut groups = collected(0..found);
    if !call.bool("sorted") {
        groups.sort_by_key(|&group| {
            spend(2);
            first(group)
        });
    }
    let mut place = repeated(0i64, found);
    watched(groups.iter().enumerate()).for_each(|(at, &group)| place[group] = at as i64);
    let filled = |all: &mut dyn Iterator<Item = i64>, rest: i64| {
        let mut out = with_capacity(count);
        out.extend(all);
        out.resize(count, rest);
        out
    };
    let firsts = filled(&mut groups.iter().map(|&group| first(group) as i64), count as i64);
    let inverse: Vec<i64> = mapped(&group, |group| place[group]);
    let elements = each_dtype!(data, array => {
        let from = array.as_slice().unwrap_or_default();
        let mut out: Vec<T> = with_capacity(count);
        out.extend(watched(groups.iter()).map(|&group| from[first(group)]));
        out.resize(count, T::default());
        call.build(&shape, out)?
    });
    let int32 = DataType::INT32;
    let mut fields = vec![
        elements,
        integers(call, int32, &shape, firsts)?,
        integers(call, int32, &shape, inverse)?,
        integers(call, int32, &[1], vec![found as i64])?,
    ];
    if call.bool("return_counts") {
        let end = |group: usize| starts.get(group + 1).copied().unwrap_or(count);
        let mut counts = groups.iter().map(|&group| (end(group) - starts[group]) as i64);
        let counts = filled(&mut counts, 0);
        fields.push(integers(call, int32, &shape, counts)?);
    }
    Ok(Value::tuple(fields))
}
