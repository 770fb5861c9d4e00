//! The modules of a log: the responses to `relay/passes`, `relay/moduleText` and `relay/history`.

use diff::{Pair, PairKind};
use serde::Serialize;
use tower_lsp::lsp_types::Range;

use super::Cost;

/// The response to `relay/passes`, and `relay-analyzer passes --format json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PassLog {
    pub(crate) file: String,
    pub(crate) modules: Vec<PassModule>,
}

/// A module of a log.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PassModule {
    pub(crate) index: usize,
    /// The pass in its header.
    pub(crate) pass: Option<String>,
    /// The passes that ran inside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) nested: Vec<String>,
    /// The offset of its first byte in the log.
    pub(crate) start: usize,
    /// The offset after its last byte in the log.
    pub(crate) end: usize,
    /// The first line in the log, from 1.
    pub(crate) line: u32,
    /// The functions that differ from the previous module.
    pub(crate) changed: Vec<String>,
    pub(crate) functions: usize,
    /// True if the module was printed before the pass.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) before: bool,
    /// True if the module is truncated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cut: bool,
    /// The cost of running it, if requested and known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<Cost>,
}

/// The response to `relay/moduleText`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ModuleText {
    /// The index of the module.
    pub(crate) module: usize,
    /// The pass in its header.
    pub(crate) pass: Option<String>,
    /// Its first line in the log, from 0.
    pub(crate) line: u32,
    pub(crate) text: String,
}

/// The response to `relay/history`. Ranges are relative to the start of each module.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct History {
    /// The index of the stop at which the history was requested.
    pub(crate) here: usize,
    pub(crate) stops: Vec<HistoryStop>,
    /// True if the module before the first stop has no counterpart.
    pub(crate) new: bool,
    /// True if the module after the last stop has no counterpart.
    pub(crate) gone: bool,
}

/// What a pass did to an expression, in the order of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, strum::Display)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(crate) enum StepKind {
    Same,
    Changed,
    // Into a fused function, or from one into another; `Unfused` is out of one.
    Fused,
    Unfused,
    Inlined,
    Folded,
    Expanded,
}

impl StepKind {
    /// Returns what a pass did to the expressions of a pair, which has no direction but its two sides.
    pub(crate) fn of(pair: &Pair) -> StepKind {
        match pair.kind {
            PairKind::Same => StepKind::Same,
            PairKind::Changed => StepKind::Changed,
            PairKind::Fused if matches!(pair.groups, (Some(_), None)) => StepKind::Unfused,
            PairKind::Fused => StepKind::Fused,
            PairKind::Inlined => StepKind::Inlined,
            PairKind::Folded => StepKind::Folded,
            PairKind::Expanded => StepKind::Expanded,
        }
    }
}

/// The expression in one module.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct HistoryStop {
    /// The index of the module.
    pub(crate) module: usize,
    pub(crate) pass: Option<String>,
    #[cfg_attr(test, schemars(with = "super::schema::Range"))]
    pub(crate) range: Range,
    /// The line in the log, from 0.
    pub(crate) line: u32,
    /// The first line of its text.
    pub(crate) text: String,
    /// The relation to the previous stop; `null` for the first one.
    pub(crate) kind: Option<StepKind>,
    /// The differences from the previous stop; `null` for the first one.
    pub(crate) changes: Option<Vec<String>>,
}

/// The document of `relay-analyzer history --format json`.
#[derive(Serialize)]
pub(crate) struct HistoryDocument<'a> {
    pub(crate) file: &'a str,
    /// The index of the stop at which the history was requested.
    pub(crate) here: usize,
    pub(crate) stops: Vec<HistoryPlace<'a>>,
    /// True if the module before the first stop has no counterpart.
    pub(crate) new: bool,
    /// True if the module after the last stop has no counterpart.
    pub(crate) gone: bool,
}

/// The expression in one module, with offsets in bytes of the log.
#[derive(Serialize)]
pub(crate) struct HistoryPlace<'a> {
    /// The index of the module.
    pub(crate) module: usize,
    pub(crate) pass: Option<&'a str>,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The line in the log, from 1.
    pub(crate) line: u32,
    /// The column in characters, from 1.
    pub(crate) column: u32,
    /// The first line of its text.
    pub(crate) text: &'a str,
    /// The relation to the previous stop, unless this is the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<StepKind>,
    /// The differences from the previous stop, unless this is the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<&'a [String]>,
}
