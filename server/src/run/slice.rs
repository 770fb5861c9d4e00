//! Slices of tensors as users write them, like those of numpy: `[0, :, 3]`, `[-1]`, `[..., 2:8:2]`.

use std::fmt;

use interpreter::AxisSlice;

/// The reason why a text is no slice of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SliceError {
    /// An entry is neither an index nor a range.
    Entry(String),
    /// There are two `...`.
    TwoEllipses,
    /// There are more entries than axes.
    TooMany { given: usize, rank: usize },
    /// An index is not one of its axis.
    Index { axis: usize, index: i64, size: usize },
    /// The step of a range is not positive.
    Step { axis: usize, step: i64 },
}

impl fmt::Display for SliceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SliceError::Entry(entry) => write!(
                f,
                "`{entry}` is no part of a slice, which has indices (`3`, `-1`), ranges (`:`, `2:8`, `::2`) and `...`"
            ),
            SliceError::TwoEllipses => f.write_str("a slice has at most one `...`"),
            SliceError::TooMany { given, rank } => {
                let parts = ide::words::counted(*given as u64, "part");
                let axes = match rank {
                    1 => "1 axis".to_owned(),
                    rank => format!("{rank} axes"),
                };
                write!(f, "the slice has {parts}, but the tensor has {axes}")
            }
            SliceError::Index { axis, index, size } => {
                write!(f, "axis {axis} has {size} elements: there is no index {index}")
            }
            SliceError::Step { axis, step } => {
                write!(f, "the step of axis {axis} is {step}: it must be at least 1")
            }
        }
    }
}

/// Parses a slice of a tensor of this shape, with or without its brackets. The result has an entry for each axis: axes
/// that the text does not mention are taken as a whole.
///
/// # Errors
/// The text is no slice, or does not fit the shape.
pub(crate) fn parse(text: &str, shape: &[usize]) -> Result<Vec<AxisSlice>, SliceError> {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let mut entries: Vec<&str> = inner.split(',').map(str::trim).collect();
    // `[]` and `[0,]` end without an entry.
    if entries.last().is_some_and(|entry| entry.is_empty()) {
        entries.pop();
    }
    let is_rest = |entry: &&&str| **entry == "...";
    let given = entries.iter().filter(|entry| !is_rest(entry)).count();
    if entries.iter().filter(is_rest).count() > 1 {
        return Err(SliceError::TwoEllipses);
    }
    let rank = shape.len();
    let omitted = rank.checked_sub(given).ok_or(SliceError::TooMany { given, rank })?;
    let mut axes = Vec::with_capacity(rank);
    for entry in entries {
        if entry == "..." {
            axes.extend(shape.iter().skip(axes.len()).take(omitted).map(|&size| whole(size)));
        } else if let Some(&size) = shape.get(axes.len()) {
            axes.push(of_axis(entry, axes.len(), size)?);
        }
    }
    axes.extend(shape.iter().skip(axes.len()).map(|&size| whole(size)));
    Ok(axes)
}

/// Returns the slice of all elements of an axis.
pub(crate) fn whole(size: usize) -> AxisSlice {
    AxisSlice::Range { start: 0, end: size, step: 1 }
}

/// Returns the sizes of the axes of a slice, without those that are dropped.
pub(crate) fn lengths(axes: &[AxisSlice]) -> Vec<usize> {
    let of_axis = |axis: &AxisSlice| match *axis {
        AxisSlice::Index(_) => None,
        AxisSlice::Range { start, end, step } => {
            Some(end.saturating_sub(start).div_ceil(step.max(1)))
        }
    };
    axes.iter().filter_map(of_axis).collect()
}

/// Formats a slice: `[0, :, 2:8]`.
pub(crate) fn text(axes: &[AxisSlice], shape: &[usize]) -> String {
    let entries: Vec<String> =
        axes.iter().zip(shape).map(|(axis, &size)| entry(*axis, size)).collect();
    format!("[{}]", entries.join(", "))
}

/// Formats the slice of an axis of this size.
pub(crate) fn entry(axis: AxisSlice, size: usize) -> String {
    match axis {
        AxisSlice::Index(index) => index.to_string(),
        AxisSlice::Range { start, end, step } => {
            let start = if start == 0 { String::new() } else { start.to_string() };
            let end = if end == size { String::new() } else { end.to_string() };
            let step = if step == 1 { String::new() } else { format!(":{step}") };
            format!("{start}:{end}{step}")
        }
    }
}

fn of_axis(entry: &str, axis: usize, size: usize) -> Result<AxisSlice, SliceError> {
    let unreadable = || SliceError::Entry(entry.to_owned());
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| unreadable());
    let length = i64::try_from(size).unwrap_or(i64::MAX);
    // Negative numbers count from the end.
    let from_start = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
    let mut parts = entry.split(':');
    let first = parts.next().unwrap_or_default();
    let Some(second) = parts.next() else {
        let index = number(first)?;
        let found = usize::try_from(from_start(index)).ok().filter(|index| *index < size);
        return found.map(AxisSlice::Index).ok_or(SliceError::Index { axis, index, size });
    };
    let third = parts.next().unwrap_or_default();
    if parts.next().is_some() {
        return Err(unreadable());
    }
    let bound = |text: &str, default: i64| match text.trim() {
        "" => Ok(default),
        text => Ok(from_start(number(text)?).clamp(0, length)),
    };
    let (start, end) = (bound(first, 0)?, bound(second, length)?);
    let step = if third.trim().is_empty() { 1 } else { number(third)? };
    let positive = usize::try_from(step).ok().filter(|step| *step > 0);
    let step = positive.ok_or(SliceError::Step { axis, step })?;
    // These are 0 or more, and at most the size.
    let (start, end) = (start as usize, end.max(start) as usize);
    Ok(AxisSlice::Range { start, end, step })
}

#[cfg(test)]
mod tests {
    use interpreter::Tensor;

    use super::*;

    #[test]
    fn slices_are_those_of_numpy() {
        for (written, expected) in [
            ("[0, :, 3]", "[0, :, 3]"),
            ("0", "[0, :, :]"),
            ("[]", "[:, :, :]"),
            ("[-1, 1:, ::2]", "[1, 1:, ::2]"),
            ("[..., -2]", "[:, :, 2]"),
            ("[1, ..., 0:4]", "[1, :, :]"),
            ("[:5, 7:9, 2:1]", "[:, 3:, 2:2]"),
            ("[ 1 , 0 : 2 : 1,]", "[1, :2, :]"),
        ] {
            let shape = [2, 3, 4];
            let axes = parse(written, &shape).expect(written);
            assert_eq!(text(&axes, &shape), expected, "{written}");
            let tensor = Tensor::zeros(types::DataType::INT8, &shape).expect("a tensor");
            let part = tensor.slice(&axes).expect(written);
            assert_eq!(part.shape(), lengths(&axes), "{written}");
        }
    }

    #[test]
    fn texts_that_are_no_slices_have_a_reason() {
        for (written, expected) in [
            ("[2, 0, 0]", "axis 0 has 2 elements: there is no index 2"),
            ("[0, -4]", "axis 1 has 3 elements: there is no index -4"),
            ("[0, 0, 0, 0]", "the slice has 4 parts, but the tensor has 3 axes"),
            ("[x]", "`x` is no part of a slice"),
            ("[1:2:3:4]", "`1:2:3:4` is no part of a slice"),
            ("[, 1]", "`` is no part of a slice"),
            ("[::0]", "the step of axis 0 is 0: it must be at least 1"),
            ("[::-1]", "the step of axis 0 is -1: it must be at least 1"),
            ("[..., ...]", "a slice has at most one `...`"),
            ("[99999999999999999999]", "`99999999999999999999` is no part of a slice"),
        ] {
            let error = parse(written, &[2, 3, 4]).expect_err(written).to_string();
            assert!(error.starts_with(expected), "{written}: {error}");
        }
    }
}
