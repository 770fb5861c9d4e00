//! The shape report: the response to `relay/shapes`, and `relay-analyzer shapes --format json`.
//!
//! These types are serialised directly: a tree of JSON values of 14,500 calls would cost more memory
//! than the report.

use serde::Serialize;
use tower_lsp::lsp_types::Range;

use super::{Amount, Colouring, Count};

/// The response to `relay/shapes` and `relay/shapesOfFile`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ShapeReport {
    /// The version of the document; 0 for a file.
    pub(crate) version: i32,
    #[cfg_attr(test, schemars(with = "Vec<Function<super::schema::Range>>"))]
    pub(crate) functions: Vec<Function<Range>>,
}

/// The shape report of a file.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ShapesDocument<'a> {
    pub(crate) path: &'a str,
    pub(crate) functions: Vec<Function<LineRange>>,
    /// The memory that the graph executor takes for the compiled module, if the file has a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plan: Option<Plan>,
}

/// The memory of a compiled module. Amounts are in bytes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Plan {
    pub(crate) tensors: usize,
    pub(crate) storages: usize,
    pub(crate) argument_bytes: u64,
    pub(crate) activation_bytes: u64,
    pub(crate) unshared_bytes: u64,
}

/// A range with lines and columns in characters, from 1.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LineRange {
    pub(crate) start: LineColumn,
    pub(crate) end: LineColumn,
}

/// A line and a column in characters, from 1.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LineColumn {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// A function with its calls.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "FunctionShapes"))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Function<P> {
    pub(crate) name: String,
    pub(crate) range: P,
    pub(crate) rows: Vec<Row<P>>,
    pub(crate) sources: Vec<Source<P>>,
    pub(crate) results: Vec<Input>,
    /// The inner functions.
    pub(crate) functions: Vec<Function<P>>,
    pub(crate) total: Total,
    pub(crate) by_operator: Vec<Group>,
    pub(crate) by_span: Vec<Group>,
    /// The totals of the layers, each before those inside of it.
    pub(crate) by_layer: Vec<LayerTotal<P>>,
    /// The groups of the dataflow graph, in order. Calls between them are in no group.
    pub(crate) groups: Vec<GraphGroup<P>>,
    /// The ways to colour the graph by what is known of its calls besides their types.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) colourings: Vec<Colouring>,
    /// The unknown sizes of the amounts.
    pub(crate) unknowns: Vec<UnknownSize>,
}

/// A call with its result and cost. Amounts of memory are in bytes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Row"))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row<P> {
    pub(crate) binding: Option<String>,
    pub(crate) operator: String,
    #[cfg_attr(test, schemars(with = "super::schema::Category"))]
    pub(crate) category: &'static str,
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// The type for narrow places: `1×64 f32`.
    pub(crate) label: String,
    /// The shape of a single tensor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shape: Option<Vec<Dim>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dtype: Option<String>,
    pub(crate) range: P,
    pub(crate) parameters: Amount,
    pub(crate) macs: Amount,
    pub(crate) bytes: Amount,
    pub(crate) live_bytes: Amount,
    /// What is live during the call with what the callee computes, if that is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peak_bytes: Option<Amount>,
    /// The last row during which the result is live; the number of rows if it is a result of the function.
    pub(crate) live_until: usize,
    /// The source that a `span=` comment names.
    pub(crate) span: Option<String>,
    pub(crate) inputs: Vec<Input>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) attributes: Vec<Attribute>,
    /// Why the operations are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) undefined: Option<String>,
}

/// The totals of a function.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Total {
    /// The totals in one line.
    pub(crate) text: String,
    pub(crate) parameters: Amount,
    pub(crate) parameter_bytes: Amount,
    pub(crate) macs: Amount,
    pub(crate) peak_bytes: Amount,
    /// The row at which the peak is reached.
    pub(crate) peak_row: Option<usize>,
    /// The rows whose results are live at the peak, the largest first.
    pub(crate) peak_rows: Vec<usize>,
    pub(crate) calls: u64,
}

/// The totals of the calls of one operator or one `span=` source.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) count: u64,
    pub(crate) macs: Amount,
    pub(crate) bytes: Amount,
}

/// The totals of the calls of a layer, or of those in no layer.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LayerTotal"))]
pub(crate) struct LayerTotal<P> {
    /// The name with the kind and the number of repetitions, and what is not counted.
    pub(crate) name: String,
    /// The number of layers around it. One inside of a layer that repeats itself is that of one repetition.
    pub(crate) depth: usize,
    pub(crate) range: P,
    /// The number of calls of operators, also in functions that are called.
    pub(crate) count: u64,
    /// The elements of weights and constants; those that several calls share count once.
    pub(crate) parameters: Amount,
    pub(crate) macs: Amount,
    pub(crate) bytes: Amount,
}

/// An unknown size.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct UnknownSize {
    pub(crate) name: String,
    pub(crate) what: String,
}

/// A size of a shape: a number, or the text of an unknown one.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum Dim {
    Known(i64),
    Open(String),
}

/// An attribute of a call.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// An input of a function.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Source"))]
pub(crate) struct Source<P> {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// The type for narrow places: `1×64 f32`.
    pub(crate) label: String,
    pub(crate) kind: SourceKind,
    pub(crate) range: P,
}

/// The kind of an input of a function.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum SourceKind {
    Input,
    Weight,
    Constant,
}

/// An input of a call, or a result of a function: that of a row, or one of the `sources` of the function.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum Input {
    Row(RowInput),
    Variable(VariableInput),
    Constant(ConstantInput),
}

/// The result of a row.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RowInput {
    pub(crate) row: usize,
    /// The fields of the result that are taken, if it is a tuple and not taken as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fields: Vec<TakenField>,
}

/// A field of a tuple that is taken.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TakenField {
    /// The index, from 0.
    pub(crate) index: u32,
    /// The type for narrow places: `1×64 f32`.
    pub(crate) label: String,
}

/// Calls that follow one another and are drawn as one box until it is opened: a layer, or a part of a long
/// sequence of calls. Amounts are sums over all calls of all repetitions.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "GraphGroup"))]
#[serde(rename_all = "camelCase")]
pub(crate) struct GraphGroup<P> {
    pub(crate) name: String,
    /// The kind of the layer; `sequence` for calls without structure.
    pub(crate) kind: &'static str,
    /// The name of the kind, if it says more than the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind_name: Option<&'static str>,
    /// The calls of each repetition: the indices of the first and of the one after the last. Calls between two
    /// repetitions belong to the group, too.
    pub(crate) rows: Vec<[usize; 2]>,
    /// The range of each repetition.
    pub(crate) ranges: Vec<P>,
    /// The index of the repetition whose groups are in `groups`.
    pub(crate) exemplar: usize,
    /// The number of repetitions that differ from it in details.
    #[serde(skip_serializing_if = "super::is_default")]
    pub(crate) exceptions: usize,
    pub(crate) calls: Count,
    /// The type of the result, for narrow places.
    pub(crate) label: String,
    pub(crate) parameters: Amount,
    pub(crate) macs: Amount,
    /// The size of all results.
    pub(crate) bytes: Amount,
    pub(crate) groups: Vec<GraphGroup<P>>,
}

/// A parameter or free variable.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct VariableInput {
    pub(crate) variable: String,
    /// The index in `sources`.
    pub(crate) source: usize,
}

/// A constant.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ConstantInput {
    /// True.
    pub(crate) constant: bool,
    /// The index in `sources`.
    pub(crate) source: usize,
}
