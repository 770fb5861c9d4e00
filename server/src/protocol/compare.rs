//! The response to `relay/compare`.

use serde::Serialize;
use tower_lsp::lsp_types::Range;

use super::Amount;

/// The response to `relay/compare`. Ranges are relative to the start of each module.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Comparison {
    /// True if the modules differ in names, order, notation and comments only, and have no syntax errors.
    pub(crate) equal: bool,
    /// A summary of the differences in one sentence.
    pub(crate) headline: String,
    /// The report of `relay-analyzer diff`.
    pub(crate) report: String,
    /// The places in the report that lead to expressions, in order.
    pub(crate) links: Vec<ReportLink>,
    pub(crate) functions: Vec<FunctionChanges>,
    /// The changes in order of the text after, one for neighbouring changes of the same kind.
    pub(crate) stops: Vec<Stop>,
    /// The empty lines that bring corresponding lines to the same height, in order on each side.
    pub(crate) fillers: Vec<Filler>,
    /// The cost of running each side.
    pub(crate) totals: Totals,
    /// The names of the sides with syntax errors.
    pub(crate) broken: Vec<String>,
}

/// A place in the report, such as `12:3`, with the expressions of its change.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReportLink {
    /// The range in the report.
    #[cfg_attr(test, schemars(with = "super::schema::Range"))]
    pub(crate) range: Range,
    #[cfg_attr(test, schemars(with = "Option<super::schema::Range>"))]
    pub(crate) before: Option<Range>,
    #[cfg_attr(test, schemars(with = "Option<super::schema::Range>"))]
    pub(crate) after: Option<Range>,
}

/// Empty lines before a line of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Filler {
    pub(crate) side: SideName,
    /// The line, from 0.
    pub(crate) line: u32,
    /// The number of empty lines.
    pub(crate) count: u32,
}

/// Two corresponding functions, or one without a counterpart.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FunctionChanges {
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) equal: bool,
    pub(crate) pairs: Vec<MatchedPair>,
    pub(crate) removed: Vec<UnpairedExpr>,
    pub(crate) added: Vec<UnpairedExpr>,
}

/// Two expressions that correspond.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MatchedPair {
    #[cfg_attr(test, schemars(with = "super::schema::Range"))]
    pub(crate) before: Range,
    #[cfg_attr(test, schemars(with = "super::schema::Range"))]
    pub(crate) after: Range,
    pub(crate) kind: PairKind,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<Change>,
}

/// The relation of two corresponding expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum PairKind {
    Same,
    Changed,
    Fused,
    Inlined,
    Folded,
    Expanded,
}

impl From<diff::PairKind> for PairKind {
    fn from(kind: diff::PairKind) -> PairKind {
        match kind {
            diff::PairKind::Same => PairKind::Same,
            diff::PairKind::Changed => PairKind::Changed,
            diff::PairKind::Fused => PairKind::Fused,
            diff::PairKind::Inlined => PairKind::Inlined,
            diff::PairKind::Folded => PairKind::Folded,
            diff::PairKind::Expanded => PairKind::Expanded,
        }
    }
}

/// A difference between two expressions, with its place in each.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Change {
    pub(crate) text: String,
    /// The text for the end of a line.
    pub(crate) note: String,
    #[cfg_attr(test, schemars(with = "Option<super::schema::Range>"))]
    pub(crate) before: Option<Range>,
    #[cfg_attr(test, schemars(with = "Option<super::schema::Range>"))]
    pub(crate) after: Option<Range>,
}

/// An expression or the name of a function without a counterpart.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct UnpairedExpr {
    #[cfg_attr(test, schemars(with = "super::schema::Range"))]
    pub(crate) range: Range,
    /// The callee; empty if the expression is not a call.
    pub(crate) operator: String,
}

/// A change where an editor stops. On the side without the expression, its place is that of the preceding one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Stop {
    pub(crate) kind: ChangeKind,
    #[cfg_attr(test, schemars(with = "super::schema::Range"))]
    pub(crate) before: Range,
    #[cfg_attr(test, schemars(with = "super::schema::Range"))]
    pub(crate) after: Range,
    /// The side without the expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) without: Option<SideName>,
}

/// The kind of a change: that of a pair, or of an expression without a counterpart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChangeKind {
    Removed,
    Added,
    #[serde(untagged)]
    Pair(PairKind),
}

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum SideName {
    Before,
    After,
}

/// The costs of both modules, if known.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Totals {
    pub(crate) before: Option<Cost>,
    pub(crate) after: Option<Cost>,
}

/// The cost of running a module.
#[derive(Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Cost {
    /// The name of the function.
    #[serde(rename = "function")]
    pub(crate) name: String,
    /// The number of operator calls.
    pub(crate) calls: Amount,
    /// The number of elements of weights and constants.
    pub(crate) params: Amount,
    /// The number of multiply-accumulates.
    pub(crate) macs: Amount,
    /// The peak memory of results, in bytes.
    pub(crate) peak: Amount,
}
