//! The colours of the dataflow graph by what is known of calls besides their types.

use serde::Serialize;

/// A way to colour the graph of a function.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Colouring {
    pub(crate) key: ColouringKey,
    /// The name in a list of ways: `by run time`.
    pub(crate) title: &'static str,
    /// The categories of the marks, in order.
    pub(crate) legend: Vec<LegendEntry>,
    /// The marks of calls and groups. Others have no colour.
    pub(crate) marks: Vec<Mark>,
}

/// What colours say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum ColouringKey {
    /// The times of the last run.
    Time,
    /// The errors against another module on the same arguments.
    Error,
    /// The differences from another module.
    Difference,
}

/// A category with its meaning.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LegendEntry {
    pub(crate) category: MarkCategory,
    pub(crate) text: &'static str,
}

/// The mark of a call or a group.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Mark {
    /// The rows: the first, and the one after the last.
    pub(crate) rows: [usize; 2],
    pub(crate) category: MarkCategory,
    /// The strength of the colour, from 0 to 1.
    pub(crate) weight: f64,
    /// The mark in words.
    pub(crate) text: String,
}

/// What a mark says. Of several calls, the last category counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) enum MarkCategory {
    Time,
    NotRun,
    Tolerated,
    Recovered,
    Inherited,
    Culprit,
    Same,
    Fused,
    Inlined,
    Folded,
    Expanded,
    Changed,
    Added,
    Removed,
}
