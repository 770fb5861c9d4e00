//! A tensor as a view draws it: the response to `relay/tensor` of the debugger and to `relay/comparedTensors`, and a part of
//! that to `relay.run`.

use serde::Serialize;

use super::Distribution;

/// A slice of a tensor, with at most two axes, and what a view of it shows.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TensorView {
    /// The expression or the name of the tensor.
    pub(crate) name: String,
    /// `Tensor[(1, 3), float32]`
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// The statistics of the whole tensor in one line.
    pub(crate) summary: String,
    /// The slice that is shown: `[0, :, 3]`.
    pub(crate) slice: String,
    pub(crate) axes: Vec<TensorAxis>,
    pub(crate) picture: TensorPicture,
    /// The same slice of the tensor that it is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) other: Option<TensorPicture>,
    /// The tensor minus the other one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) difference: Option<TensorPicture>,
    /// The layouts in which the tensor can be an image: `NCHW`, `NHWC`, `CHW`, `HWC`.
    pub(crate) layouts: Vec<&'static str>,
    /// The image, if a layout was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) image: Option<TensorImage>,
    /// An expression of numpy with the elements of the slice, if they are few enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) numpy: Option<String>,
    /// The view as text, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) listing: Option<TensorListing>,
}

/// A view of a tensor as text: its type, statistics, distribution and elements.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TensorListing {
    pub(crate) lines: Vec<String>,
    /// The slice after this one, if it takes one element of some axes and is not the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// The slice before it, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) previous: Option<String>,
}

/// An axis of a tensor in a view.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TensorAxis {
    pub(crate) size: usize,
    /// What the slice takes of it: `3`, `:`, `2:8`.
    pub(crate) taken: String,
    /// The index that it takes; none of an axis that is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<usize>,
}

/// A heat map. A cell is the mean of the finite elements of a block.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TensorPicture {
    pub(crate) title: String,
    /// The statistics of the slice in one line.
    pub(crate) summary: String,
    /// The numbers of cells.
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// A note on the size of a block, if a cell is more than one element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reduced: Option<String>,
    /// The cells in row-major order: -255 to 255 on the scale, 1000 for a block with NaN, 1001 for one with
    /// infinities.
    pub(crate) cells: Vec<i16>,
    /// The texts of the cells, if they are few enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) texts: Vec<String>,
    /// True if the scale has its zero in the middle; otherwise it begins at the least element.
    pub(crate) signed: bool,
    /// The distribution of the finite elements, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) distribution: Option<Distribution>,
}

/// An image, which has every few pixels of a large tensor.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TensorImage {
    pub(crate) layout: String,
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Red, green, blue and opacity of each pixel, a byte each, in base64.
    pub(crate) pixels: String,
    /// What is black and what is white.
    pub(crate) scale: String,
}
