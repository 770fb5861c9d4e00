//! Probes of type relations: arguments are changed one size at a time, to find the sizes that
//! determine a size of the result.

use types::{Dim, Type};

use crate::{body::*, view::View};

/// A size of an argument that equals the probed size of the result.
pub(super) struct EqualSize {
    /// The position of the argument, and the field if it is a tuple.
    pub(super) position: usize,
    pub(super) part: Option<usize>,
    /// The expression with this size, and its axis there.
    pub(super) source: ExprRef,
    pub(super) axis: usize,
    /// The axis counted from the last one, which is 1, because broadcasting aligns the last axes.
    pub(super) from_end: usize,
}

/// Returns the indices of the equal sizes that determine a size of the result: those on one axis,
/// preferably the axis of the result, or else all of them.
///
/// In `add(%a, %b)` of two `(4, 4)`, axis 1 of the result is axis 1 of both, and not axis 0.
pub(super) fn decided_together(
    inputs: &[Type],
    equal: &[EqualSize],
    own: usize,
    is_missed: &dyn Fn(&[Type]) -> bool,
) -> Vec<usize> {
    let decide = |chosen: &[usize]| {
        let mut without = inputs.to_vec();
        for &at in chosen {
            let EqualSize { position, part, axis, .. } = equal[at];
            without[position] = erase(&without[position], part, axis);
        }
        is_missed(&without)
    };
    let mut axes: Vec<usize> = equal.iter().map(|one| one.from_end).collect();
    axes.sort_by_key(|&axis| (axis != own, axis));
    axes.dedup();
    for axis in axes {
        let on_axis = equal.iter().enumerate().filter(|(_, one)| one.from_end == axis);
        let chosen: Vec<usize> = on_axis.map(|(at, _)| at).collect();
        if decide(&chosen) {
            return chosen;
        }
    }
    let all: Vec<usize> = (0..equal.len()).collect();
    if decide(&all) { all } else { Vec::new() }
}

/// A size that replaces `?`, unlikely to occur in a module.
const PROBE: i64 = 1_000_003;

/// The maximum number of `?` in the arguments that are probed. Each probe solves the relation.
const MAX_UNKNOWN: usize = 64;

/// Returns the `?` of the arguments that determines a `?` of the result, and true if it is the same
/// size. Each `?` is replaced by a size in turn. `None` if there are more than [`MAX_UNKNOWN`] of
/// them.
pub(super) fn unknown_source(
    view: &View<'_>,
    inputs: &[Type],
    arg: &dyn Fn(usize) -> ExprRef,
    result: &dyn Fn(&[Type]) -> Option<Dim>,
) -> Option<(ExprRef, usize, bool)> {
    let unknown_in = |ty: &Type| match ty {
        Type::Tensor(tensor) => tensor.shape.iter().filter(|size| size.is_any()).count(),
        _ => 0,
    };
    let unknown = inputs.iter().map(|input| match input {
        Type::Tuple(fields) => fields.iter().map(unknown_in).sum(),
        other => unknown_in(other),
    });
    if unknown.sum::<usize>() > MAX_UNKNOWN {
        return None;
    }
    let mut changed = None;
    for (position, input) in inputs.iter().enumerate() {
        for (part, source, ty) in parts(view, arg(position), input) {
            let shape = ty.as_tensor().map(|tensor| tensor.shape.clone()).unwrap_or_default();
            for (axis, _) in shape.iter().enumerate().filter(|(_, size)| size.is_any()) {
                let mut given = inputs.to_vec();
                given[position] = with_size(input, part, axis, Dim::known(PROBE));
                match result(&given) {
                    Some(size) if size.is(PROBE) => return Some((source, axis, true)),
                    Some(size) if size.as_known().is_some() => {
                        changed.get_or_insert((source, axis, false));
                    }
                    _ => {}
                }
            }
        }
    }
    changed
}

/// Returns the tensors of an argument: itself, or the fields of a tuple.
pub(super) fn parts(
    view: &View<'_>,
    arg: ExprRef,
    ty: &Type,
) -> Vec<(Option<usize>, ExprRef, Type)> {
    match ty {
        Type::Tuple(fields) => {
            let value = view.resolve(arg);
            let Expr::Tuple(exprs) = view.unit(value.unit).expr(value.expr) else {
                return Vec::new();
            };
            fields
                .iter()
                .zip(exprs)
                .enumerate()
                .map(|(i, (ty, &expr))| (Some(i), ExprRef { unit: value.unit, expr }, ty.clone()))
                .collect()
        }
        other => vec![(None, arg, other.clone())],
    }
}

/// Returns `ty` with one size replaced by `?`.
pub(super) fn erase(ty: &Type, part: Option<usize>, axis: usize) -> Type {
    with_size(ty, part, axis, Dim::Any)
}

/// Returns `ty` with another size on one axis.
fn with_size(ty: &Type, part: Option<usize>, axis: usize, new: Dim) -> Type {
    match (ty, part) {
        (Type::Tuple(fields), Some(part)) => {
            let changed = fields.iter().enumerate().map(|(i, field)| {
                if i == part { with_size(field, None, axis, new.clone()) } else { field.clone() }
            });
            Type::tuple(changed)
        }
        (Type::Tensor(tensor), None) => {
            let mut shape = tensor.shape.clone();
            if let Some(size) = shape.get_mut(axis) {
                *size = new;
            }
            Type::tensor(shape, tensor.dtype)
        }
        _ => ty.clone(),
    }
}

/// Returns true if the value of an attribute is `size`, or a list that contains it.
pub(super) fn mentions(value: &types::AttrValue, size: &Dim) -> bool {
    match value {
        types::AttrValue::List(values) => values.iter().any(|value| mentions(value, size)),
        value => {
            value.as_dim().is_some_and(|dim| dim.as_known() == size.as_known())
                && size.as_known().is_some()
        }
    }
}
