//! The response to `relay.run`, and the parts that `relay-analyzer run --format json` shares with it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tower_lsp::lsp_types::{Range, Url};

use super::{Amount, Count, LineRange, Seconds, TensorView};

/// The response to `relay.run`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum RunResponse {
    Result(Box<RunResult>),
    Recalled(RecalledArguments),
}

/// The result of a run, or its failure.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunResult {
    pub(crate) status: RunStatus,
    /// The result in one line.
    pub(crate) title: String,
    /// The result in full.
    pub(crate) text: String,
    /// The run, if the function started.
    #[serde(flatten)]
    pub(crate) started: Option<StartedRun>,
    /// The failure of a run that is not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<RunError<super::schema::Range>>"))]
    pub(crate) error: Option<RunError<Range>>,
    /// The value of a run that is done. Tensors with many elements are summarised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<Value>,
    /// The tensors of the result; other values have only a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tensors: Option<Vec<TensorText>>,
    /// Missing if the run was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<Profile<Option<super::schema::Range>>>"))]
    pub(crate) profile: Option<Profile<Option<Range>>>,
    /// The variables with NaN or Inf, in the order of evaluation. Missing if the run was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_finite: Option<Vec<NotFinite>>,
    /// The view of one value of a variable, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) view: Option<Box<ValueView>>,
}

/// A value of a variable as a view draws it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ValueView {
    /// The number of the value, from 1.
    pub(crate) number: u64,
    /// The number of values of the variable in the run.
    pub(crate) count: u64,
    pub(crate) tensor: TensorView,
}

/// The state in which a run ended.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum RunStatus {
    #[default]
    Done,
    Failed,
    Cancelled,
}

/// A run whose function has started.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StartedRun {
    pub(crate) function: String,
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) uri: Url,
    /// The version of the document.
    pub(crate) version: i32,
    /// The time of the function.
    pub(crate) time: Seconds,
    /// The time with that of reading the module and the arguments.
    pub(crate) whole: Seconds,
    /// The names of the parameters with random arguments.
    pub(crate) drawn: Vec<String>,
    /// The seed of the random arguments.
    pub(crate) seed: u64,
    /// The random arguments and their seed, as in `` `%x` is random (seed 1)``.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) random: Option<String>,
    /// Warnings about the files of the arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

/// The failure of a run.
// `P` is the type of ranges of the document.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RunError"))]
pub(crate) struct RunError<P> {
    /// The name of the code.
    pub(crate) code: &'static str,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
    /// The types of the arguments of the operator that failed.
    pub(crate) arguments: Vec<String>,
    /// The calls, the innermost first.
    pub(crate) trace: Vec<TraceStep>,
    /// The number of calls in the middle of the trace that are omitted.
    pub(crate) omitted: usize,
    /// The innermost place in the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) range: Option<P>,
}

/// A run that failed, in `relay-analyzer run --format json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FailedRun {
    pub(crate) error: RunError<LineRange>,
    /// The profile up to the failure, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<Profile<String>>,
    /// The values of the variables before the error of the text at which the run stopped, in the order of evaluation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) values: Vec<BoundValue>,
}

/// The value of a variable in words.
#[derive(Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BoundValue {
    pub(crate) name: String,
    /// The first value.
    pub(crate) text: String,
    /// The number of values.
    pub(crate) times: u64,
}

/// A call of a trace.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TraceStep {
    pub(crate) function: String,
    pub(crate) place: Option<TracePlace>,
}

/// A place of a trace.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TracePlace {
    /// The file, the line and the column, as in `net.relay:12:3`.
    pub(crate) at: String,
    /// The offset of the first byte.
    pub(crate) start: u32,
    /// The offset after the last byte.
    pub(crate) end: u32,
}

/// A part of a result: a tensor, or another value as a text.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TensorText {
    /// The path in the result, as in `result.0`.
    pub(crate) name: String,
    /// The elements, or the value.
    pub(crate) text: String,
    #[serde(flatten)]
    pub(crate) tensor: Option<TensorFacts>,
}

/// What a part of a result that is a tensor is like.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TensorFacts {
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// The number of elements.
    pub(crate) elements: usize,
    /// The minimum, mean and maximum, and the numbers of NaN and Inf.
    pub(crate) brief: String,
    /// The largest elements of a tensor that looks like scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scores: Option<Vec<Score>>,
}

/// An element of a tensor of scores.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Score {
    pub(crate) position: Vec<usize>,
    /// The position as a text.
    pub(crate) place: String,
    pub(crate) value: f64,
    pub(crate) text: String,
}

/// A variable with NaN or Inf.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NotFinite {
    pub(crate) name: String,
    #[cfg_attr(test, schemars(with = "super::schema::Range"))]
    pub(crate) range: Range,
    pub(crate) nan: usize,
    pub(crate) infinite: usize,
    pub(crate) elements: usize,
    /// The numbers as a text, as in `3 NaN, 1 Inf of 12`.
    pub(crate) text: String,
}

/// The costs of the operator calls of a run, slowest first.
// `P` is the type of places.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Profile"))]
pub(crate) struct Profile<P> {
    pub(crate) bindings: Vec<CallSite<P>>,
    pub(crate) operators: Vec<OperatorTotals>,
    /// The layers in their order, each before those inside of it; without layers, the places that `span=` comments
    /// name, slowest first.
    pub(crate) layers: Vec<LayerTotals>,
    pub(crate) total: ProfileTotal,
}

/// The costs of some calls.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CallTotals {
    pub(crate) calls: Count,
    pub(crate) time: Seconds,
    /// The multiply-accumulates; without a value if those of some calls are unknown.
    pub(crate) macs: Amount,
    /// The size of the results, in bytes.
    pub(crate) bytes: Count,
}

/// The costs of the calls of an operator at one place.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "CallSite"))]
pub(crate) struct CallSite<P> {
    /// The variable of the result, or empty.
    pub(crate) binding: String,
    pub(crate) operator: &'static str,
    /// The function with the call.
    pub(crate) function: String,
    /// The place, if it is in the document.
    pub(crate) at: P,
    #[serde(flatten)]
    pub(crate) totals: CallTotals,
}

/// The costs of the calls of an operator.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OperatorTotals {
    pub(crate) operator: &'static str,
    #[serde(flatten)]
    pub(crate) totals: CallTotals,
}

/// The costs of the calls of a layer.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LayerTotals {
    pub(crate) layer: String,
    /// The number of layers around it.
    pub(crate) depth: usize,
    #[serde(flatten)]
    pub(crate) totals: CallTotals,
}

/// The costs of all calls that were measured.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ProfileTotal {
    #[serde(flatten)]
    pub(crate) totals: CallTotals,
    /// The time of the run.
    pub(crate) wall: Seconds,
    /// What the run did in this time; the times sum to it.
    pub(crate) parts: Vec<TimePart>,
    /// True if only the first calls were measured.
    pub(crate) cut: bool,
}

/// A part of the time of a run.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TimePart {
    pub(crate) what: String,
    pub(crate) time: Seconds,
}

/// The response to a request for the arguments that are remembered.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RecalledArguments {
    pub(crate) status: RecalledStatus,
    pub(crate) function: String,
    /// The parameters, in order.
    pub(crate) parameters: Vec<ParameterField>,
    pub(crate) remembered: RememberedArguments,
}

/// A parameter to ask an argument for.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ParameterField {
    /// The name without its sigil.
    pub(crate) name: String,
    /// The name and the type, as in `%x: Tensor[(2, 3), float32]`.
    pub(crate) title: String,
    /// What can be entered, in words.
    pub(crate) accepts: String,
}

/// The status of a response that is not the result of a run.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum RecalledStatus {
    Recalled,
}

/// The arguments of a function.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct RememberedArguments {
    /// Numbers, lists of numbers, and paths of `.npy` files, by parameter.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) inputs: Map<String, Value>,
    /// Paths of `.npz` files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) archives: Vec<PathBuf>,
    /// Paths of `.params` files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) params: Vec<PathBuf>,
    /// The seed from which the other arguments are drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
}
