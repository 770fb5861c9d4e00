//! Differences as JSON. Ranges are in bytes.

use diff::{Change, Fact, FunctionDiff, ModuleDiff, Pair, Unpaired};
use serde::Serialize;
use serde_json::{Value, json};
use syntax::TextRange;
use types::AttrValue;

use super::Shown;
use crate::protocol::Totals;

/// The document of `diff --format json`.
#[derive(Serialize)]
pub(crate) struct JsonDiff<'d> {
    equal: bool,
    functions: Vec<JsonFunction<'d>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    types: Vec<Value>,
    totals: &'d Totals,
    /// The comparison of the results of the functions that differ, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) runs: Vec<Value>,
}

#[derive(Serialize)]
struct JsonFunction<'d> {
    before: Option<&'d str>,
    after: Option<&'d str>,
    equal: bool,
    pairs: Vec<JsonPair<'d>>,
    removed: Vec<[usize; 2]>,
    added: Vec<[usize; 2]>,
}

#[derive(Serialize)]
struct JsonPair<'d> {
    before: [usize; 2],
    after: [usize; 2],
    kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<JsonChange<'d>>,
}

#[derive(Serialize)]
struct JsonChange<'d> {
    what: &'static str,
    name: &'d str,
    before: Value,
    after: Value,
}

/// Converts differences to JSON; `totals` are the costs of both modules.
pub(crate) fn json<'d>(
    diff: &'d ModuleDiff,
    (before, after): (&Shown<'_>, &Shown<'_>),
    totals: &'d Totals,
) -> JsonDiff<'d> {
    let place = |range: Option<TextRange>, side: &Shown<'_>| range.map(|range| bytes(range, side));
    let types = diff.types.iter().map(|ty| {
        let (old, new) = (place(ty.before, before), place(ty.after, after));
        json!({ "name": ty.name, "before": old, "after": new })
    });
    JsonDiff {
        equal: diff.equal,
        functions: diff.functions.iter().map(|f| function(f, before, after)).collect(),
        types: types.collect(),
        totals,
        runs: Vec::new(),
    }
}

/// Returns a range as byte offsets in the file.
pub(crate) fn bytes(range: TextRange, side: &Shown<'_>) -> [usize; 2] {
    [usize::from(range.start()) + side.offset, usize::from(range.end()) + side.offset]
}

fn function<'d>(diff: &'d FunctionDiff, before: &Shown<'_>, after: &Shown<'_>) -> JsonFunction<'d> {
    let pair = |pair: &'d Pair| JsonPair {
        before: bytes(pair.before, before),
        after: bytes(pair.after, after),
        kind: pair.kind.word(),
        changes: pair.changes.iter().map(|change| self::change(change, before, after)).collect(),
    };
    let lost = |lost: &[Unpaired], side| lost.iter().map(|lost| bytes(lost.range, side)).collect();
    JsonFunction {
        before: diff.before.as_ref().map(|f| f.name.as_str()),
        after: diff.after.as_ref().map(|f| f.name.as_str()),
        equal: diff.equal,
        pairs: diff.pairs.iter().map(pair).collect(),
        removed: lost(&diff.removed, before),
        added: lost(&diff.added, after),
    }
}

fn change<'d>(change: &'d Change, before: &Shown<'_>, after: &Shown<'_>) -> JsonChange<'d> {
    JsonChange {
        what: change.what.word(),
        name: &change.name,
        before: fact(&change.before, before),
        after: fact(&change.after, after),
    }
}

fn fact(fact: &Fact, side: &Shown<'_>) -> Value {
    match fact {
        Fact::Absent => Value::Null,
        Fact::Callee(name) => Value::String(name.to_string()),
        Fact::Attribute(value) => attribute(value),
        Fact::Type(ty) => Value::String(ty.to_string()),
        Fact::Expr(range) => json!(bytes(*range, side)),
        Fact::Count(count) => json!(count),
    }
}

/// Converts an attribute to JSON. The parser bounds the recursion by the depth of lists.
fn attribute(value: &AttrValue) -> Value {
    match value {
        AttrValue::None | AttrValue::Error => Value::Null,
        AttrValue::Bool(value) => json!(value),
        AttrValue::Int { value, .. } => json!(value),
        AttrValue::Float(value) => json!(value.0),
        AttrValue::Str(text) => json!(text),
        AttrValue::List(values) => Value::Array(values.iter().map(attribute).collect()),
        AttrValue::DType(dtype) => Value::String(dtype.to_string()),
        AttrValue::Dim(dim) => Value::String(dim.to_string()),
        AttrValue::Constant(constant) => {
            Value::String(format!("constant of type {}", types::Type::from(constant.ty.clone())))
        }
        AttrValue::Meta { key, index } => Value::String(format!("meta[{key}][{index}]")),
        AttrValue::Opaque => Value::String("…".to_owned()),
    }
}
