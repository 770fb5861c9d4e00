//! The kinds of nodes: their fields in the order in which TVM visits them.
//!
//! `tables/kinds.txt` has a line for each kind: its name, then `FIELD:TYPE` or `FIELD:TYPE=DEFAULT`.
//! The types are `i` (integer), `f` (float), `b` (bool), `s` (string), `t` (data type), `n` (array),
//! and `o` (another object). Two classes of attributes have one name, `SimulatedQuantizeAttrs`: the
//! fields of each have defaults, so that those of the other one may be missing.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// The kind of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FieldType {
    Integer,
    Float,
    Bool,
    String,
    DataType,
    Array,
    Object,
}

/// A field of a kind of nodes.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) ty: FieldType,
    /// The default, which is not printed.
    pub(crate) default: Option<&'static str>,
}

static KINDS: LazyLock<FxHashMap<&'static str, Vec<Field>>> = LazyLock::new(|| {
    let kind = |line: &'static str| {
        let mut words = line.split(' ');
        (words.next().unwrap_or_default(), words.filter_map(field).collect())
    };
    include_str!("tables/kinds.txt").lines().map(kind).collect()
});

/// Parses `FIELD:TYPE` or `FIELD:TYPE=DEFAULT`.
pub(crate) fn field(word: &'static str) -> Option<Field> {
    let (name, rest) = word.split_once(':')?;
    let (ty, default) = match rest.split_once('=') {
        Some((ty, default)) => (ty, Some(default)),
        None => (rest, None),
    };
    let ty = match ty {
        "i" => FieldType::Integer,
        "f" => FieldType::Float,
        "b" => FieldType::Bool,
        "s" => FieldType::String,
        "t" => FieldType::DataType,
        "n" => FieldType::Array,
        _ => FieldType::Object,
    };
    Some(Field { name, ty, default })
}

/// Returns the fields of a kind that is known to TVM 0.14, in the order of TVM.
pub(crate) fn fields(kind: &str) -> Option<&'static [Field]> {
    KINDS.get(kind).map(Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The attributes of every operator can be printed and saved: all fields by the names that the
    /// operator has, and none without a type.
    #[test]
    fn every_attribute_class_of_an_operator_is_known() {
        let mut classes = 0;
        for operator in operators::all() {
            let schemas = [operator.registered_attrs(), operator.declared_attrs()];
            for schema in schemas.into_iter().flatten() {
                let fields = fields(schema.key);
                let fields = fields.unwrap_or_else(|| panic!("{}: {}", operator.name, schema.key));
                let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
                for field in schema.fields {
                    assert!(known.contains(&field.name), "{}.{}", schema.key, field.name);
                }
                classes += 1;
            }
        }
        assert!(classes > 200, "{classes}");
    }
}
