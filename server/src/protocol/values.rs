//! The responses to `relay/compareValues` and `relay/passErrors`: errors of values that both sides compute.

use serde::Serialize;
use tower_lsp::lsp_types::Range;

/// The response to `relay/compareValues`. Ranges are relative to the start of each module.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct ValueComparison {
    /// True if the results agree, and no call has an error of its own.
    pub(crate) equal: bool,
    /// The outcome in one line.
    pub(crate) summary: String,
    /// The report of `relay-analyzer compare`.
    pub(crate) report: String,
    /// What is to be known of the arguments: which ones are random, and warnings about files.
    pub(crate) notes: Vec<String>,
    /// The error of the results; `null` if they have different types or are not known.
    pub(crate) result: Option<ErrorAmount>,
    /// The pairs of calls: first those that were computed on both sides, in the order of the second one.
    pub(crate) pairs: Vec<ValuePair>,
    /// The pairs with an error of their own, by their numbers, in the order of the second side: the first one is the
    /// first divergence.
    pub(crate) divergences: Vec<u32>,
    /// The marks of lines of the first module, one for each line with a pair that has an error or was not compared.
    pub(crate) before: Vec<HeatMark>,
    /// The marks of lines of the second module.
    pub(crate) after: Vec<HeatMark>,
    /// The highest heat that there is.
    pub(crate) max_heat: u32,
}

/// An error: the largest absolute difference of an element.
#[derive(Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ErrorAmount {
    /// The number; `null` if it is infinite.
    pub(crate) value: Option<f64>,
    /// The text, as in `1.840e-3`.
    pub(crate) text: String,
}

/// Two calls with their values.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ValuePair {
    #[cfg_attr(test, schemars(with = "super::schema::Range"))]
    pub(crate) before: Range,
    #[cfg_attr(test, schemars(with = "super::schema::Range"))]
    pub(crate) after: Range,
    /// The operator of the second side.
    pub(crate) operator: String,
    pub(crate) category: ValueCategory,
    /// The size of the error relative to the values, from 0 (none) to `maxHeat`.
    pub(crate) heat: u32,
    /// The error of an ordinary run; `null` if it is not known.
    pub(crate) accumulated: Option<ErrorAmount>,
    /// The error on the operands of the first side; `null` if the calls were not compared.
    pub(crate) local: Option<ErrorAmount>,
    /// The text for the end of a line; empty if the values are equal.
    pub(crate) note: String,
    /// The errors and the values of both sides, as Markdown.
    pub(crate) hover: String,
}

/// What is the matter with the values of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) enum ValueCategory {
    /// The error is tolerated.
    Tolerated,
    /// The error is not tolerated, but later calls undo it: the results agree.
    Recovered,
    /// The error comes from the operands.
    Inherited,
    /// The call has an error of its own.
    Culprit,
    /// The values were not compared.
    NotRun,
}

/// The mark of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct HeatMark {
    /// The line, from 0.
    pub(crate) line: u32,
    /// The number of the pair with the largest error in the line.
    pub(crate) pair: u32,
}

/// The response to `relay/passErrors`: the errors of the modules of a log against the first one that can be run.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PassErrors {
    /// The module whose values are right.
    pub(crate) first: usize,
    /// The outcome in one line.
    pub(crate) summary: String,
    /// The modules from that one on.
    pub(crate) modules: Vec<PassError>,
}

/// The error of the result of a module.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PassError {
    /// The number of the module.
    pub(crate) index: usize,
    pub(crate) state: PassErrorState,
    /// The error; `null` if the result has another type or is not known.
    pub(crate) error: Option<ErrorAmount>,
    /// The error in a few characters, for a column: a number, or why there is none.
    pub(crate) text: String,
    /// The error in one line, or the reason that the module cannot be run.
    pub(crate) detail: String,
}

/// What a module computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) enum PassErrorState {
    /// What the first module does, within the tolerance.
    Equal,
    /// Something else.
    Differs,
    /// It cannot be run.
    NotRun,
}
