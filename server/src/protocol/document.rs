//! The responses about a document or a file as a whole.

use serde::Serialize;
use tower_lsp::lsp_types::Range;

use super::Count;

/// The response to `relay/health`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct HealthCounts {
    /// The version of the document.
    pub(crate) version: i32,
    pub(crate) functions: usize,
    pub(crate) types: usize,
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) unresolved: usize,
    /// The number of TVM incompatibilities that are not errors.
    pub(crate) tvm: usize,
    /// The number of these that are names which TVM prints but does not parse.
    pub(crate) names: usize,
    /// The releases of TVM that printed the document, if 0.14 is none of them: `0.6 to 0.7`.
    pub(crate) releases: Option<String>,
    /// The first TVM incompatibility.
    #[cfg_attr(test, schemars(with = "Option<super::schema::Range>"))]
    pub(crate) first: Option<Range>,
}

/// The response to `relay/readingView`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReadingView {
    /// The version of the document.
    pub(crate) version: i32,
    /// The line, the first character, and the end.
    pub(crate) hidden: Vec<[u32; 3]>,
    /// The line, the first character, and the end.
    pub(crate) dimmed: Vec<[u32; 3]>,
    /// A line, and the short type of its statement, from a hidden comment.
    pub(crate) shapes: Vec<(u32, String)>,
    /// The first and the last line of each chain.
    pub(crate) chains: Vec<[u32; 2]>,
    /// The placeholder of each folded chain.
    pub(crate) summaries: Vec<String>,
    /// The first lines of what *Fold a Level* folds, one level after another.
    pub(crate) levels: Vec<Vec<u32>>,
}

/// The response to `relay/codeView`: the code of a file with one line for its metadata section.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct CodeView {
    /// The code, and one line that replaces the metadata section.
    pub(crate) text: String,
    /// The state of the file, which the client passes to `relay/saveCode`.
    pub(crate) stamp: String,
    /// The length of the section in bytes.
    pub(crate) section_bytes: Count,
}

/// The response to `relay/saveCode`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SavedCode {
    /// The new state of the written file; `null` if the file has changed on disk, and nothing was written.
    pub(crate) stamp: Option<String>,
    /// The new text of the view if constants were removed, whose successors have other numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
}

/// The response to `relay/convertFile`: the module of a file as text.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ConvertedText {
    pub(crate) text: String,
}

/// The response to `relay/bindParameters` and `relay/liftConstants`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BoundNames {
    /// The names of the parameters that became constants, or that constants became.
    pub(crate) names: Vec<String>,
}
