//! The parts of expressions that decide whether they are equal.

use semantics::{
    body::{CallData, Function, Literal, Pattern, PatternKind},
    infer::MetaEntry,
    metadata::Metadata,
};
use types::{AttrValue, Attrs, DataType};

use crate::graph::{Role, hash_of, mix};

/// Returns the attributes of a call, including those in the metadata section.
pub(super) fn attrs_of(metadata: Option<&Metadata>, call: &CallData) -> Attrs {
    let Some(metadata) = metadata else { return call.attrs.clone() };
    if let Some((key, index)) = call.meta_attrs.as_deref()
        && let MetaEntry::Found(attrs) = metadata.attrs(key, *index)
    {
        return attrs;
    }
    let is_meta = |value: &AttrValue| match value {
        AttrValue::Meta { .. } => true,
        AttrValue::List(values) => values.iter().any(|v| matches!(v, AttrValue::Meta { .. })),
        _ => false,
    };
    match call.attrs.schema() {
        Some(schema) if call.attrs.values().iter().any(is_meta) => {
            let value = |value: &AttrValue| resolved_value(metadata, value);
            Attrs::new(schema, call.attrs.values().iter().map(value).collect::<Vec<_>>())
        }
        _ => call.attrs.clone(),
    }
}

/// Replaces references to the metadata section by their entries. Only one level of lists is visited,
/// because TVM prints no deeper references.
pub(super) fn resolved_value(metadata: &Metadata, value: &AttrValue) -> AttrValue {
    let entry = |value: &AttrValue| match value {
        AttrValue::Meta { key, index } => match metadata.value(key, *index) {
            MetaEntry::Found(found) => found,
            _ => value.clone(),
        },
        _ => value.clone(),
    };
    match value {
        AttrValue::List(values) => AttrValue::List(values.iter().map(entry).collect()),
        _ => entry(value),
    }
}

/// Returns a hash of a pattern without the names of its variables.
pub(super) fn shape(pattern: &Pattern) -> u64 {
    let mut stack = vec![pattern];
    let mut hash = 0;
    while let Some(pattern) = stack.pop() {
        hash = mix(
            hash,
            match &pattern.kind {
                PatternKind::Wildcard => 1,
                PatternKind::Var(_) => 2,
                PatternKind::Constructor(name, fields) => {
                    stack.extend(fields.iter().rev());
                    hash_of((name, fields.len()))
                }
                PatternKind::Tuple(fields) => {
                    stack.extend(fields.iter().rev());
                    mix(3, fields.len() as u64)
                }
            },
        );
    }
    hash
}

pub(super) fn literal_hash(literal: &Literal) -> u64 {
    match *literal {
        Literal::Bool(value) => hash_of((0, value)),
        Literal::Int { value, dtype, claimed } => {
            hash_of((1, value, dtype.or(claimed).unwrap_or(DataType::INT32)))
        }
        Literal::Float { bits, dtype, claimed } => {
            hash_of((2, bits, dtype.or(claimed).unwrap_or(DataType::FLOAT32)))
        }
    }
}

/// Returns the role of a function, from its attributes.
pub(super) fn role(function: &Function) -> Role {
    let is_mark = |name: &str| matches!(name, "Primitive" | "Composite" | "Compiler");
    match function.attrs.iter().any(|(name, _)| is_mark(name)) {
        true => Role::Fused,
        false => Role::Plain,
    }
}
