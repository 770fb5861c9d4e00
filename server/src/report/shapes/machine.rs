//! The shape report as JSON.
//!
//! These types are serialised directly: a tree of JSON values of 14,500 calls would cost more memory
//! than the report.

use std::collections::BTreeMap;

use ide::shapes::{Amount, FunctionShapes, Group, Input, Row, Source, SourceKind};
use serde::Serialize;
use syntax::TextRange;

/// A function with all its rows; `P` is the type of ranges.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JsonFunction<P> {
    name: String,
    range: P,
    rows: Vec<JsonRow<P>>,
    sources: Vec<JsonSource<P>>,
    results: Vec<JsonInput>,
    functions: Vec<JsonFunction<P>>,
    total: JsonTotal,
    by_operator: Vec<JsonGroup>,
    by_span: Vec<JsonGroup>,
    unknowns: Vec<JsonUnknown>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonRow<P> {
    binding: Option<String>,
    operator: String,
    is_operator: bool,
    #[serde(rename = "type")]
    ty: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<Vec<JsonDim>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtype: Option<String>,
    range: P,
    parameters: JsonAmount,
    macs: JsonAmount,
    bytes: JsonAmount,
    live_bytes: JsonAmount,
    span: Option<String>,
    inputs: Vec<JsonInput>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attributes: Vec<JsonAttribute>,
    #[serde(skip_serializing_if = "Option::is_none")]
    untold: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonTotal {
    parameters: JsonAmount,
    parameter_bytes: JsonAmount,
    macs: JsonAmount,
    peak_bytes: JsonAmount,
    peak_row: Option<usize>,
    calls: u64,
}

#[derive(Serialize)]
struct JsonGroup {
    name: String,
    count: u64,
    macs: JsonAmount,
    bytes: JsonAmount,
}

#[derive(Serialize)]
struct JsonUnknown {
    name: String,
    what: String,
}

/// A known number; otherwise its text, its terms and the number of unknown summands.
#[derive(Serialize)]
#[serde(untagged)]
enum JsonAmount {
    Known(u64),
    Open { text: String, terms: Vec<JsonTerm>, untold: u32 },
}

#[derive(Serialize)]
struct JsonTerm {
    coefficient: u64,
    factors: BTreeMap<String, u32>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum JsonDim {
    Known(i64),
    Open(String),
}

#[derive(Serialize)]
struct JsonAttribute {
    name: String,
    value: String,
}

/// An input of the function; `kind` is `input`, `weight` or `constant`.
#[derive(Serialize)]
struct JsonSource<P> {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    kind: &'static str,
    range: P,
}

/// `source` is an index into the `sources` of the function.
#[derive(Serialize)]
#[serde(untagged)]
enum JsonInput {
    Row { row: usize },
    Variable { variable: String, source: usize },
    Constant { constant: bool, source: usize },
}

impl<P> JsonFunction<P> {
    pub(crate) fn new(function: &FunctionShapes, place: &dyn Fn(TextRange) -> P) -> Self {
        let amount = |amount: &Amount| json_amount(function, amount);
        let group = |group: &Group| JsonGroup {
            name: group.name.clone(),
            count: group.count,
            macs: amount(&group.macs),
            bytes: amount(&group.bytes),
        };
        let total = &function.total;
        let unknowns = function.unknowns.iter();
        JsonFunction {
            name: function.name.clone(),
            range: place(function.range),
            rows: function.rows.iter().map(|row| json_row(function, row, place)).collect(),
            sources: function.sources.iter().map(|source| json_source(source, place)).collect(),
            results: function.results.iter().map(|&input| json_input(function, input)).collect(),
            functions: function.functions.iter().map(|f| JsonFunction::new(f, place)).collect(),
            total: JsonTotal {
                parameters: amount(&total.params),
                parameter_bytes: amount(&total.param_bytes),
                macs: amount(&total.macs),
                peak_bytes: amount(&total.peak),
                peak_row: total.peak_row,
                calls: total.calls,
            },
            by_operator: function.by_operator.iter().map(group).collect(),
            by_span: function.by_span.iter().map(group).collect(),
            unknowns: unknowns
                .map(|u| JsonUnknown { name: u.name.clone(), what: u.what.clone() })
                .collect(),
        }
    }
}

fn json_row<P>(function: &FunctionShapes, row: &Row, place: &dyn Fn(TextRange) -> P) -> JsonRow<P> {
    let amount = |amount: &Amount| json_amount(function, amount);
    let tensor = row.ty.as_tensor();
    let shape = tensor.map(|tensor| {
        let dims = tensor.shape.iter().map(|dim| match dim.as_known() {
            Some(size) => JsonDim::Known(size),
            None => JsonDim::Open(dim.to_string()),
        });
        dims.collect()
    });
    let attributes = row.attributes.iter();
    JsonRow {
        binding: row.binding.clone(),
        operator: row.operator.clone(),
        is_operator: row.is_operator,
        ty: row.ty.to_string(),
        shape,
        dtype: tensor.map(|tensor| tensor.dtype.to_string()),
        range: place(row.range),
        parameters: amount(&row.params),
        macs: amount(&row.macs),
        bytes: amount(&row.bytes),
        live_bytes: amount(&row.live),
        span: row.span.clone(),
        inputs: row.inputs.iter().map(|&input| json_input(function, input)).collect(),
        attributes: attributes
            .map(|(name, value)| JsonAttribute { name: name.clone(), value: value.clone() })
            .collect(),
        untold: row.undefined.clone(),
    }
}

fn json_source<P>(source: &Source, place: &dyn Fn(TextRange) -> P) -> JsonSource<P> {
    JsonSource {
        name: source.name.clone(),
        ty: source.ty.to_string(),
        kind: match source.kind {
            SourceKind::Input => "input",
            SourceKind::Weight => "weight",
            SourceKind::Constant => "constant",
        },
        range: place(source.range),
    }
}

fn json_input(function: &FunctionShapes, input: Input) -> JsonInput {
    match input {
        Input::Row(row) => JsonInput::Row { row },
        Input::Source(at) => match &function.sources[at] {
            Source { kind: SourceKind::Constant, .. } => {
                JsonInput::Constant { constant: true, source: at }
            }
            Source { name, .. } => JsonInput::Variable { variable: name.clone(), source: at },
        },
    }
}

fn json_amount(function: &FunctionShapes, amount: &Amount) -> JsonAmount {
    if let Some(known) = amount.as_known() {
        return JsonAmount::Known(known);
    }
    let terms = amount.terms().map(|(factors, coefficient)| {
        let factors =
            factors.iter().map(|(unknown, power)| (function.unknown_name(*unknown), *power));
        JsonTerm { coefficient, factors: factors.collect() }
    });
    JsonAmount::Open {
        text: function.number(amount),
        terms: terms.collect(),
        untold: amount.undefined_count(),
    }
}
