//! Sizes of arguments changed one at a time, to see which of them decide a size of the result.

use types::{Dim, Relation, Type, probe};

use crate::{
    body::*,
    view::{Spot, View},
};

/// A size of an argument that equals the one looked for.
pub(super) struct Equal {
    /// Which argument it is of, and which field of that.
    pub(super) position: usize,
    pub(super) part: Option<usize>,
    /// The expression that has it, and its axis there.
    pub(super) source: Spot,
    pub(super) axis: usize,
    /// That axis, counted from the last one, which is 1: as shapes are broadcast.
    pub(super) from_end: usize,
}

/// Which of several equal sizes decide a size of the result: those on one axis, the axis of the
/// result itself before all others; else all of them.
///
/// In `add(%a, %b)` of two `(4, 4)`, axis 1 of the result is axis 1 of both, and not axis 0.
pub(super) fn decided_together(
    relation: &Relation,
    names: &'static [&'static str],
    inputs: &[Type],
    equal: &[Equal],
    own: usize,
    is_missed: &dyn Fn(&[Type]) -> bool,
) -> Vec<usize> {
    let decide = |chosen: &[usize]| {
        let mut without = inputs.to_vec();
        for &at in chosen {
            let Equal { position, part, axis, .. } = equal[at];
            without[position] = erase(&without[position], part, axis);
        }
        is_missed(&probe(relation, names, &without).1)
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

/// A size for what is not known, which no module uses for anything else.
const PROBE: i64 = 1_000_003;

/// In how many `?` the source of one is looked for. Each is a run of the relation on all arguments.
const MOST_UNKNOWN: usize = 64;

/// Which `?` of the arguments a `?` of the result comes from, and whether it is the same size: each
/// is given a size in turn, and the result watched. Nothing where there are more than
/// [`MOST_UNKNOWN`] of them.
pub(super) fn unknown_source(
    view: &View<'_>,
    relation: &Relation,
    names: &'static [&'static str],
    inputs: &[Type],
    arg: &dyn Fn(usize) -> Spot,
    result: &dyn Fn(&[Type]) -> Option<Dim>,
) -> Option<(Spot, usize, bool)> {
    let unknown_in = |ty: &Type| match ty {
        Type::Tensor(tensor) => tensor.shape.iter().filter(|size| size.is_any()).count(),
        _ => 0,
    };
    let unknown = inputs.iter().map(|input| match input {
        Type::Tuple(fields) => fields.iter().map(unknown_in).sum(),
        other => unknown_in(other),
    });
    if unknown.sum::<usize>() > MOST_UNKNOWN {
        return None;
    }
    let mut changed = None;
    for (position, input) in inputs.iter().enumerate() {
        for (part, source, ty) in parts(view, arg(position), input) {
            let shape = ty.as_tensor().map(|tensor| tensor.shape.clone()).unwrap_or_default();
            for (axis, _) in shape.iter().enumerate().filter(|(_, size)| size.is_any()) {
                let mut given = inputs.to_vec();
                given[position] = with_size(input, part, axis, Dim::known(PROBE));
                let (_, types) = probe(relation, names, &given);
                match result(&types) {
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

/// The tensors that an argument consists of: itself, or the fields of a tuple.
pub(super) fn parts(view: &View<'_>, arg: Spot, ty: &Type) -> Vec<(Option<usize>, Spot, Type)> {
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
                .map(|(i, (ty, &expr))| (Some(i), Spot { unit: value.unit, expr }, ty.clone()))
                .collect()
        }
        other => vec![(None, arg, other.clone())],
    }
}

/// `ty` with one size made unknown.
pub(super) fn erase(ty: &Type, part: Option<usize>, axis: usize) -> Type {
    with_size(ty, part, axis, Dim::Any)
}

/// `ty` with another size on one axis.
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

/// Whether an attribute's value is a size, or a list with that size in it.
pub(super) fn mentions(value: &types::AttrValue, size: &Dim) -> bool {
    match value {
        types::AttrValue::List(values) => values.iter().any(|value| mentions(value, size)),
        value => {
            value.as_dim().is_some_and(|dim| dim.as_known() == size.as_known())
                && size.as_known().is_some()
        }
    }
}
