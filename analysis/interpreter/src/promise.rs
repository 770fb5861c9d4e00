//! Declared sizes, which are promises where inference knows a `?`.
//!
//! `let %y: Tensor[(4, 1), int32] = argwhere(%x);` has the right type if four elements of `%x` are
//! not zero. The value is compared with the declaration at run time.

use rustc_hash::FxHashMap;
use types::{Dim, Flags, Symbol, Type};

use crate::{code::Promise, value::Value};

impl Promise {
    /// Compares values with the declared types, and returns what is wrong with the last one.
    pub(crate) fn broken<'v>(&self, values: impl Iterator<Item = &'v Value>) -> Option<String> {
        let mut sizes = FxHashMap::default();
        let mut last = None;
        for (value, ty) in values.zip(&self.types) {
            last = Some((value, differing(value, ty, &mut sizes)));
        }
        let (value, Some(SizeDifference { axis, found, declared })) = last? else { return None };
        let (of, ty) = (&self.of, self.types.last()?);
        let value = value.ty();
        Some(format!(
            "{of} is declared as {ty}, but is {value}: axis {axis} has size {found}, declared {declared}"
        ))
    }
}

/// Returns true if a declared type has sizes to compare.
pub(crate) fn is_promise(ty: &Type) -> bool {
    let mut any = false;
    types::for_each_part(ty, Flags::ALL, &mut |part| {
        any |= part.as_sizes().is_some_and(|dims| dims.iter().any(|dim| !dim.is_any()));
    });
    any
}

struct SizeDifference {
    axis: usize,
    found: i64,
    declared: i64,
}

/// Returns the first size of a value that differs from the declared one. The first size of an axis
/// `n` is the value of `n`. Recursion is bounded by the depth of types.
fn differing(
    value: &Value,
    ty: &Type,
    sizes: &mut FxHashMap<Symbol, i64>,
) -> Option<SizeDifference> {
    if let (Value::Tuple(_), Type::Tuple(types)) = (value, ty) {
        let fields = value.as_tuple()?.iter().zip(types.iter());
        return fields.fold(None, |first, (field, ty)| {
            let found = differing(field, ty, sizes);
            first.or(found)
        });
    }
    let (tensor, dims) = (value.as_tensor()?, ty.as_sizes()?);
    let mut first = None;
    for (axis, (&found, dim)) in tensor.shape().iter().zip(dims).enumerate() {
        let found = found as i64;
        if let Dim::Symbol(symbol) = dim
            && !matches!(**symbol, Symbol::Binary { .. })
        {
            sizes.entry((**symbol).clone()).or_insert(found);
        }
        let declared = dim.evaluate(&mut |symbol| sizes.get(symbol).copied());
        if let Some(declared) = declared.filter(|&declared| declared != found) {
            first.get_or_insert(SizeDifference { axis, found, declared });
        }
    }
    first
}
