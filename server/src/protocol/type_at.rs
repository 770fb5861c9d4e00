//! The responses to `relay/typeAt` and `relay/whyShape`.

use serde::Serialize;
use tower_lsp::lsp_types::{Location, Range};

/// The response to `relay/typeAt`; `null` if nothing has a type.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TypeAt {
    /// The version of the document.
    pub(crate) version: i32,
    /// The range of the expression or name.
    #[cfg_attr(test, schemars(with = "super::schema::Range"))]
    pub(crate) range: Range,
    /// The text of the expression, truncated.
    pub(crate) source: String,
    pub(crate) kind: String,
    /// The lines of the type.
    #[serde(rename = "type")]
    pub(crate) ty: Vec<String>,
    pub(crate) tensors: Vec<Tensor>,
    /// The variables that the expression uses.
    pub(crate) context: Vec<Variable>,
    /// The type that the context of the expression expects.
    pub(crate) expected: Option<ExpectedType>,
    /// What the elements are like, where the expression is a constant of the metadata section.
    pub(crate) elements: Option<Elements>,
}

/// A tensor of a type.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tensor {
    /// The part of the type: `field 0`, `%x`, `result`, or empty for the whole type.
    pub(crate) part: String,
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// The size if it is known: `64 elements, 256 bytes`.
    pub(crate) amount: Option<String>,
    pub(crate) dimensions: Vec<Axis>,
    /// True if axes were omitted.
    pub(crate) is_cut: bool,
}

/// An axis of a tensor.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Axis {
    pub(crate) axis: usize,
    /// The size: a number, `?`, or a symbol.
    pub(crate) size: String,
    /// The letter of the axis in the layout of the operator: `N`, `C`, `4c`.
    pub(crate) letter: Option<String>,
    /// The step that set the size or changed it last.
    pub(crate) source: Option<ShapeStep>,
    /// The origin of the size before it was changed, as far as it was followed.
    pub(crate) origin: Option<ShapeStep>,
}

/// The place where a size comes from or changes, with a description.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ShapeStep {
    pub(crate) message: String,
    #[cfg_attr(test, schemars(with = "super::schema::Location"))]
    pub(crate) location: Location,
}

/// A variable with its type.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Variable {
    /// The name with its sigil.
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// The place of its binding.
    #[cfg_attr(test, schemars(with = "super::schema::Location"))]
    pub(crate) location: Location,
}

/// The expectation of the context of an expression.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ExpectedType {
    /// The context: `` `weight` of `nn.dense` ``.
    pub(crate) place: String,
    /// The expected type, if the context determines it.
    #[serde(rename = "type")]
    pub(crate) ty: Option<String>,
    /// The documentation of the argument of an operator: `` `(units, input_dim)` ``.
    pub(crate) note: Option<String>,
}

/// The elements of a constant.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Elements {
    /// `min -1, max 1, mean 0.5, 3 zeros`, or empty.
    pub(crate) facts: String,
    /// The first elements: `1, 2, 3, …`.
    pub(crate) first: String,
    /// The distribution of the finite elements; `null` if they are all the same.
    pub(crate) distribution: Option<Distribution>,
}

/// The distribution of the finite elements of a tensor.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Distribution {
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// The least element as a text.
    pub(crate) low: String,
    /// The greatest element as a text.
    pub(crate) high: String,
    /// The number of elements in each of equal parts of the range from `min` to `max`.
    pub(crate) histogram: Vec<u64>,
}

/// The response to `relay/whyShape`; `null` for expressions that are not tensors.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ShapeExplanation {
    /// The text or description of the expression.
    pub(crate) expression: String,
    #[serde(rename = "type")]
    pub(crate) ty: String,
    #[cfg_attr(test, schemars(with = "super::schema::Range"))]
    pub(crate) range: Range,
    /// The sizes by axis; for a tuple, by field and axis.
    pub(crate) dimensions: Vec<Dimension>,
    /// The explanation as Markdown.
    pub(crate) markdown: String,
}

/// The explanation of a size.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Dimension {
    /// The field if the expression is a tuple.
    pub(crate) field: Option<usize>,
    pub(crate) axis: usize,
    pub(crate) size: String,
    /// The origin, then each relation that changed the size or passed it on.
    pub(crate) steps: Vec<ShapeStep>,
}
