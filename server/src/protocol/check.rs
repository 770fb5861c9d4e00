//! The documents of `relay-analyzer check`.

use serde::Serialize;
use serde_json::Value;

/// A line of `check --format json`.
#[derive(Serialize)]
pub(crate) struct CheckedFile<'a> {
    pub(crate) path: &'a str,
    pub(crate) diagnostics: Vec<Diagnostic<'a>>,
}

/// An answer of `check --batch`: what was found in a text, or why it was not checked.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum BatchAnswer<'a> {
    Checked(CheckedText<'a>),
    Failed(FailedCheck<'a>),
}

/// What was found in a text.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CheckedText<'a> {
    /// The identifier that the client gave.
    pub(crate) id: &'a Value,
    pub(crate) diagnostics: Vec<Diagnostic<'a>>,
    /// The types of expressions and variables, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) types: Option<Vec<TypedRange>>,
    /// The start, the end and the kind of each token, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<Vec<(u32, u32, &'static str)>>,
}

/// Why a text was not checked.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FailedCheck<'a> {
    /// The identifier that the client gave; `null` if the request could not be read.
    pub(crate) id: &'a Value,
    pub(crate) error: String,
}

/// A diagnostic: offsets in bytes, lines and columns from 0, columns in UTF-16 code units.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Diagnostic<'a> {
    pub(crate) code: &'a str,
    #[cfg_attr(test, schemars(with = "super::schema::Severity"))]
    pub(crate) severity: &'a str,
    pub(crate) message: &'a str,
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) related: Vec<RelatedPlace<'a>>,
    pub(crate) help: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fixes: Vec<Fix<'a>>,
    /// The excerpt, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rendered: Option<String>,
}

/// A place that a diagnostic refers to.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RelatedPlace<'a> {
    pub(crate) message: &'a str,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// The edits that fix a diagnostic.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Fix<'a> {
    pub(crate) title: &'a str,
    pub(crate) edits: Vec<Edit<'a>>,
}

/// The replacement of a range of bytes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Edit<'a> {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) text: &'a str,
}

/// A line of `relay-analyzer types`.
#[derive(Serialize)]
pub(crate) struct TypedFile<'a> {
    pub(crate) path: &'a str,
    pub(crate) types: Vec<TypedRange>,
}

/// A type and its range in bytes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TypedRange {
    pub(crate) start: u32,
    pub(crate) end: u32,
    #[serde(rename = "type")]
    pub(crate) ty: String,
}
