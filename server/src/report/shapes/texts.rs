//! Amounts and types with their texts, for clients that draw them.

use ide::{
    shapes::{Amount, FunctionShapes},
    words,
};
use types::Type;

use crate::protocol;

/// The longest text of a type that is no tensor.
const MAX_LABEL: usize = 24;

/// Returns an amount with its text, which has a unit if it is one of bytes.
pub(super) fn json_amount(
    function: &FunctionShapes,
    amount: &Amount,
    is_bytes: bool,
) -> protocol::Amount {
    let value = amount.as_known();
    let terms = amount.terms().filter(|_| value.is_none()).map(|(factors, coefficient)| {
        let factors =
            factors.iter().map(|(unknown, power)| (function.unknown_name(*unknown), *power));
        protocol::Term { coefficient, factors: factors.collect() }
    });
    protocol::Amount {
        value,
        text: if is_bytes { function.bytes(amount) } else { function.number(amount) },
        terms: terms.collect(),
        undefined: amount.undefined_count(),
    }
}

/// Returns a type for narrow places: `1×64 f32`. Of a tuple it is the first field, with the number of the others.
pub(super) fn label(ty: &Type) -> String {
    match ty {
        Type::Tensor(tensor) => {
            let sizes: Vec<String> = tensor.shape.iter().map(|size| size.to_string()).collect();
            let shape = if sizes.is_empty() { "scalar".to_owned() } else { sizes.join("×") };
            format!("{shape} {}", short_dtype(&tensor.dtype.to_string()))
        }
        Type::Tuple(fields) => match fields.split_first() {
            Some((first, [])) => label(first),
            Some((first, rest)) => format!("{} +{}", label(first), rest.len()),
            None => "()".to_owned(),
        },
        other => words::bounded(other, MAX_LABEL).0,
    }
}

/// Returns the short name of a data type, as frameworks have it: `f32`.
fn short_dtype(dtype: &str) -> String {
    for (long, short) in [("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i")] {
        if let Some(bits) = dtype.strip_prefix(long) {
            return format!("{short}{bits}");
        }
    }
    dtype.to_owned()
}
