//! Differences as JSON. Ranges are in bytes.

use diff::{Change, Fact, FunctionDiff, ModuleDiff, Pair, UnpairedExpr};
use serde::Serialize;
use serde_json::Value;
use syntax::TextRange;
use types::AttrValue;

use super::{
    JsonRun, ShownModule, bytes,
    layers::{LayerChanges, by_layer},
};
use crate::protocol::Totals;

/// The document of `diff --format json`.
#[derive(Serialize)]
pub(crate) struct JsonDiff<'d> {
    equal: bool,
    functions: Vec<JsonFunction<'d>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    types: Vec<JsonType<'d>>,
    totals: &'d Totals,
    /// The comparison of the results of the functions that differ, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) runs: Vec<JsonRun<'d>>,
}

#[derive(Serialize)]
struct JsonFunction<'d> {
    before: Option<&'d str>,
    after: Option<&'d str>,
    equal: bool,
    pairs: Vec<JsonPair<'d>>,
    removed: Vec<[usize; 2]>,
    added: Vec<[usize; 2]>,
    /// The layers with changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layers: Vec<LayerChanges>,
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

/// A data type that differs, or that one side lacks.
#[derive(Serialize)]
struct JsonType<'d> {
    after: Option<[usize; 2]>,
    before: Option<[usize; 2]>,
    name: &'d str,
}

/// Converts differences to JSON; `totals` are the costs of both modules.
pub(crate) fn json<'d>(
    diff: &'d ModuleDiff,
    (before, after): (&ShownModule<'_>, &ShownModule<'_>),
    totals: &'d Totals,
) -> JsonDiff<'d> {
    let place =
        |range: Option<TextRange>, side: &ShownModule<'_>| range.map(|range| bytes(range, side));
    let types = diff.types.iter().map(|ty| {
        let (old, new) = (place(ty.before, before), place(ty.after, after));
        JsonType { after: new, before: old, name: &ty.name }
    });
    JsonDiff {
        equal: diff.equal,
        functions: diff.functions.iter().map(|f| function(f, before, after)).collect(),
        types: types.collect(),
        totals,
        runs: Vec::new(),
    }
}

fn function<'d>(
    diff: &'d FunctionDiff,
    before: &ShownModule<'_>,
    after: &ShownModule<'_>,
) -> JsonFunction<'d> {
    let pair = |pair: &'d Pair| JsonPair {
        before: bytes(pair.before, before),
        after: bytes(pair.after, after),
        kind: pair.kind.word(),
        changes: pair.changes.iter().map(|change| self::change(change, before, after)).collect(),
    };
    let lost =
        |lost: &[UnpairedExpr], side| lost.iter().map(|lost| bytes(lost.range, side)).collect();
    JsonFunction {
        before: diff.before.as_ref().map(|f| f.name.as_str()),
        after: diff.after.as_ref().map(|f| f.name.as_str()),
        equal: diff.equal,
        pairs: diff.pairs.iter().map(pair).collect(),
        removed: lost(&diff.removed, before),
        added: lost(&diff.added, after),
        layers: if diff.equal { Vec::new() } else { by_layer(diff, (before, after)) },
    }
}

fn change<'d>(
    change: &'d Change,
    before: &ShownModule<'_>,
    after: &ShownModule<'_>,
) -> JsonChange<'d> {
    JsonChange {
        what: change.what.word(),
        name: &change.name,
        before: fact(&change.before, before),
        after: fact(&change.after, after),
    }
}

/// Returns one side of a change.
fn fact(fact: &Fact, side: &ShownModule<'_>) -> Value {
    match fact {
        Fact::Absent => Value::Null,
        Fact::Callee(name) => name.as_str().into(),
        Fact::Attribute(value) => attribute(value),
        Fact::Type(ty) => ty.to_string().into(),
        Fact::Expr(range) => bytes(*range, side).into(),
        Fact::Count(count) => (*count).into(),
    }
}

/// Returns the value of an attribute. The parser bounds the recursion by the depth of lists.
fn attribute(value: &AttrValue) -> Value {
    match value {
        AttrValue::None | AttrValue::Error => Value::Null,
        AttrValue::Bool(value) => (*value).into(),
        AttrValue::Int { value, .. } => (*value).into(),
        // JSON has no NaN and no infinity: they are null.
        AttrValue::Float(value) => value.0.into(),
        AttrValue::Str(text) => text.as_str().into(),
        AttrValue::List(values) => values.iter().map(attribute).collect(),
        AttrValue::DType(dtype) => dtype.to_string().into(),
        AttrValue::Dim(dim) => dim.to_string().into(),
        AttrValue::Constant(constant) => {
            format!("constant of type {}", types::Type::from(constant.ty.clone())).into()
        }
        AttrValue::Meta { key, index } => format!("meta[{key}][{index}]").into(),
        AttrValue::Opaque => "…".into(),
    }
}
