//! The totals of functions, and of calls that have something in common.

use syntax::TextRange;

use super::Amount;

/// The cost of one run of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Total {
    /// The number of elements of weights and constants.
    pub params: Amount,
    /// The size of weights and constants in bytes.
    pub param_bytes: Amount,
    /// The number of multiply-accumulates.
    pub macs: Amount,
    /// The maximal size in bytes of results that are live at the same time.
    pub peak: Amount,
    /// The row where the maximum is reached.
    pub peak_row: Option<usize>,
    /// The number of calls of operators.
    pub calls: u64,
    /// The first call whose multiply-accumulates are undefined, if there is one.
    pub uncounted: Option<UncountedCall>,
}

/// A call whose multiply-accumulates are undefined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UncountedCall {
    /// The callee: `argsort`.
    pub operator: String,
    /// The reason.
    pub why: String,
}

/// A part of a total.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The operator or span that the rows have in common.
    pub name: String,
    /// The number of calls.
    pub count: u64,
    /// The number of multiply-accumulates.
    pub macs: Amount,
    /// The size of the results in bytes.
    pub bytes: Amount,
}

/// The cost of the calls of a layer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LayerTotal {
    /// The name with the kind and the number of repetitions.
    pub name: String,
    /// The number of layers around it. One inside of a layer that repeats itself is that of one repetition.
    pub depth: usize,
    /// The range in the file.
    pub range: TextRange,
    /// The number of calls of operators, also in functions that are called.
    pub count: u64,
    /// True if some calls are of a recursive function, whose calls are not counted.
    pub is_recursive: bool,
    /// The number of elements of weights and constants. Those that several calls share count once.
    pub params: Amount,
    /// The number of multiply-accumulates.
    pub macs: Amount,
    /// The size of the results in bytes.
    pub bytes: Amount,
}

impl LayerTotal {
    /// Returns the name, with what is not counted.
    pub fn title(&self) -> String {
        let end = if self.is_recursive { " (recursive, not counted)" } else { "" };
        format!("{}{end}", self.name)
    }
}
