//! Checks that TVM's type relations omit, for [`Call::lenient`]: a call that fails one of them has
//! a type, but cannot be computed.
//!
//! The checks use attributes and known sizes; unknown sizes pass.

use types::{AttrValue, Call, Code, Dim, Fact, Outcome, Text, normal_axis, text};

use crate::rules::{axes, axis_out_of_range, fault, may_equal, shape_text};

/// Checks that the attribute `name` is an axis of the argument at `position` or `None`.
pub(crate) fn names_axis(
    call: &Call<'_>,
    name: &'static str,
    position: usize,
    rank: usize,
) -> Outcome {
    match call.attrs().int(name).filter(|_| call.attrs().has(name)) {
        Some(axis) if normal_axis(axis, rank).is_none() => {
            axis_out_of_range(call, name, axis, position, rank)
        }
        _ => Ok(()),
    }
}

/// Checks that the attribute `name`, or each number of a list, is at least `min`.
pub(crate) fn at_least(call: &Call<'_>, name: &'static str, min: i64) -> Outcome {
    within(call, name, min, i64::MAX)
}

/// Checks that the attribute `name`, or each number of a list, is between `min` and `max`.
pub(crate) fn within(call: &Call<'_>, name: &'static str, min: i64, max: i64) -> Outcome {
    let value = call.attrs().get(name);
    let is_list = value.as_list().is_some();
    let mut values = value.as_list().unwrap_or(std::slice::from_ref(value)).iter();
    let Some(number) = values.find_map(|value| value.as_int().filter(|n| !(min..=max).contains(n)))
    else {
        return Ok(());
    };
    let is = if is_list { "contains" } else { "is" };
    let rule = match max {
        i64::MAX => text!("`{name}` must be at least {min}"),
        _ => text!("`{name}` must be between {min} and {max}"),
    };
    let reason = fault(call, Code::AttributeValue, text!("`{name}` {is} {number}"))
        .rule(rule)
        .attribute(name, text!("{number}"));
    let clamped = |value: &AttrValue| value.as_int().map(|number| number.clamp(min, max));
    match value.as_list() {
        Some(values) => match values.iter().map(clamped).collect::<Option<Vec<i64>>>() {
            Some(fixed) => reason.fix(name, AttrValue::list(fixed)).fail(),
            None => reason.fail(),
        },
        None => reason.fix(name, number.clamp(min, max)).fail(),
    }
}

/// Checks that the argument at `position`, of shape `from`, broadcasts to `to`, the shape of
/// `target`.
pub(crate) fn broadcasts_into(
    call: &Call<'_>,
    (position, from): (usize, &[Dim]),
    (target, to): (Fact, &[Dim]),
) -> Outcome {
    let name = call.name(position);
    let (m, n) = (from.len(), to.len());
    let mismatch =
        (1..=m.min(n)).find(|i| !from[m - i].is(1) && !may_equal(&from[m - i], &to[n - i]));
    if m <= n && mismatch.is_none() {
        return Ok(());
    }
    let reason = fault(
        call,
        Code::BroadcastMismatch,
        text!(
            "{name} of shape `{}` does not broadcast to {target} of shape `{}`",
            shape_text(from),
            shape_text(to)
        ),
    );
    match mismatch {
        Some(i) if m <= n => reason
            .rule(text!(
                "counted from the last axis, each size of {name} must be 1 or the target size; \
                 axis {} is {}, expected {}",
                m - i,
                from[m - i],
                to[n - i]
            ))
            .axis(position, m - i, &from[m - i])
            .fail(),
        _ => reason
            .rule(text!("broadcasting adds axes and removes none: {m} axes cannot become {n}"))
            .argument(position, axes(m))
            .fail(),
    }
}

/// Checks that two axes, given by the position of the argument, the axis and the size, have equal
/// sizes. `rule` is the reason.
pub(crate) fn same_size(
    call: &Call<'_>,
    (a, i, size): (usize, usize, &Dim),
    (b, k, expected): (usize, usize, &Dim),
    rule: impl Into<Text>,
) -> Outcome {
    if may_equal(size, expected) {
        return Ok(());
    }
    let (x, y) = (call.name(a), call.name(b));
    fault(
        call,
        Code::ShapeMismatch,
        text!("axis {i} of {x} has size {size}, axis {k} of {y} has {expected}"),
    )
    .rule(rule)
    .axis(a, i, size)
    .axis(b, k, expected)
    .fail()
}

/// Checks that two arguments have equal shapes.
pub(crate) fn same_shape(
    call: &Call<'_>,
    (a, shape): (usize, &[Dim]),
    (b, expected): (usize, &[Dim]),
) -> Outcome {
    if shape.len() == expected.len() && shape.iter().zip(expected).all(|(x, y)| may_equal(x, y)) {
        return Ok(());
    }
    let (x, y) = (call.name(a), call.name(b));
    fault(
        call,
        Code::ShapeMismatch,
        text!("{x} has the shape {}, {y} has {}", shape_text(shape), shape_text(expected)),
    )
    .rule(text!("{x} and {y} must have the same shape"))
    .argument(a, shape_text(shape))
    .argument(b, shape_text(expected))
    .fail()
}

/// Checks that an axis of the argument at `position` has `expected` elements. `rule` is the reason.
pub(crate) fn has_size(
    call: &Call<'_>,
    (position, axis, size): (usize, usize, &Dim),
    expected: i64,
    rule: impl Into<Text>,
) -> Outcome {
    if may_equal(size, &Dim::known(expected)) {
        return Ok(());
    }
    let name = call.name(position);
    fault(
        call,
        Code::ShapeMismatch,
        text!("axis {axis} of {name} has size {size}, expected {expected}"),
    )
    .rule(rule)
    .axis(position, axis, size)
    .fail()
}

/// Returns the sizes, or `None` if one of them is unknown.
pub(crate) fn known_sizes(shape: &[Dim]) -> Option<Vec<i128>> {
    shape.iter().map(|dim| dim.as_known().map(i128::from)).collect()
}

/// Returns the value of an integer attribute, or `None`.
pub(crate) fn known_int(call: &Call<'_>, name: &str) -> Option<i64> {
    match call.attrs().get(name) {
        AttrValue::None => None,
        _ => call.attrs().int(name),
    }
}

/// Checks that each number of the list attribute `name` is an axis of the argument at `position`.
pub(crate) fn names_axes(
    call: &Call<'_>,
    name: &'static str,
    position: usize,
    rank: usize,
) -> Outcome {
    let axes = call.attrs().ints(name).filter(|_| call.attrs().has(name)).unwrap_or_default();
    match axes.iter().find(|&&axis| normal_axis(axis, rank).is_none()) {
        Some(&axis) => axis_out_of_range(call, name, axis, position, rank),
        None => Ok(()),
    }
}

/// Checks that `number`, of the attribute `name`, divides an axis of the argument at `position`.
pub(crate) fn divides(
    call: &Call<'_>,
    (name, number): (&'static str, i64),
    (position, axis, size): (usize, usize, &Dim),
) -> Outcome {
    if number != 0 && size.as_known().is_none_or(|size| size % number == 0) {
        return Ok(());
    }
    let argument = call.name(position);
    fault(
        call,
        Code::ShapeMismatch,
        text!("axis {axis} of {argument} has size {size}, which {number} does not divide"),
    )
    .rule(text!("`{name}` must divide the size of the axis"))
    .axis(position, axis, size)
    .attribute(name, text!("{number}"))
    .fail()
}
