//! The meanings of attributes, and of the values that stand for something else than themselves.

use types::{AttrDefault, AttrField, AttrValue};

use crate::Operator;

/// Returns the meaning of an attribute of an operator, as a phrase in Markdown. It is `None` for attributes of
/// rare operators, whose names describe them.
pub fn attribute_meaning(operator: &Operator, field: &AttrField) -> Option<&'static str> {
    let key = operator.schema?.key.trim_start_matches("relay.attrs.").trim_end_matches("Attrs");
    of_schema(key, field.name).or_else(|| of_name(field.name))
}

/// Returns the meaning of an attribute where it differs from that of other attributes with its name.
fn of_schema(key: &str, name: &str) -> Option<&'static str> {
    Some(match (key, name) {
        ("BatchNorm" | "GroupNorm" | "InstanceNorm" | "LayerNorm", "axis") => {
            "the axis of the channels that are normalized"
        }
        ("BatchNorm" | "GroupNorm" | "InstanceNorm" | "LayerNorm", "scale") => {
            "whether the result is multiplied by `gamma`"
        }
        ("BatchNorm" | "GroupNorm" | "InstanceNorm" | "LayerNorm", "center") => {
            "whether `beta` is added to the result"
        }
        ("BiasAdd", "axis") => "the axis of `data` that `bias` is added along",
        ("PReLU", "axis") => "the axis of `data` with a slope for each index",
        ("Concatenate", "axis") => "the axis along which the tensors are joined",
        ("Stack", "axis") => "the position of the new axis in the result",
        ("ExpandDims", "axis") => "the position of the first new axis in the result",
        ("Squeeze", "axis") => "the axes of size 1 to remove; `None` removes all of them",
        ("Split", "axis") => "the axis that is split",
        ("Softmax", "axis") => "the axis whose elements sum to 1",
        ("Take" | "Gather" | "GatherND", "axis") => {
            "the axis of `data` that the indices select from"
        }
        ("Repeat", "axis") => "the axis whose elements are repeated; `None` flattens first",
        ("Reverse" | "ReverseSequence", "axis") => "the axis whose order is reversed",
        ("TopK" | "Argsort", "axis") => "the axis that is sorted",
        ("Reduce" | "ArgReduce" | "Variance", "axis") => {
            "the axes that are reduced; `None` reduces all of them"
        }
        ("Scanop", "axis") => {
            "the axis along which elements are accumulated; `None` flattens first"
        }
        ("L2Normalize", "axis") => "the axes over which the norm is computed",
        ("OneHot", "axis") => "the position of the new axis in the result",
        ("OneHot", "depth") => "the size of the new axis",
        ("LRN", "size") => "the number of channels over which is normalized",
        ("LRN", "axis") => "the axis of the channels",
        ("UpSampling" | "UpSampling3D", "method") => "the interpolation between elements",
        ("Resize1D" | "Resize2D" | "Resize3D", "size") => {
            "the size of the result on the spatial axes"
        }
        ("Resize1D" | "Resize2D" | "Resize3D", "method") => "the interpolation between elements",
        ("StridedSlice", "begin") => {
            "the first index on each axis; negative ones count from the end"
        }
        ("StridedSlice", "end") => {
            "the index after the last on each axis; negative ones count from the end"
        }
        ("StridedSlice", "strides") => {
            "the step between indices on each axis; negative ones go backwards"
        }
        ("StridedSlice", "slice_mode") => {
            "`end`: `end` has indices; `size`: it has sizes, and -1 is the rest of the axis"
        }
        ("StridedSlice", "axes") => "the axes that the lists are for; `None` for the first ones",
        ("Dilate", "strides") => "the distance of elements in the result on each axis",
        ("Cast" | "CastHint", "dtype") => "the data type that elements are converted to",
        ("InitOp", "shape") => "the shape of the result",
        ("Transpose", "axes") => {
            "for each axis of the result, the axis of `data`; `None` reverses the order"
        }
        ("Tile", "reps") => "the number of copies along each axis",
        ("Requantize" | "Quantize" | "Dequantize", "axis") => {
            "the axis that scale and zero point have a value for; -1 if they are scalars"
        }
        ("Pad", "pad_mode") => "the new elements: a constant, copies of the edge, or a reflection",
        ("BatchToSpaceND" | "SpaceToBatchND", "block_shape") => {
            "the size of the blocks on each axis"
        }
        _ => return None,
    })
}

fn of_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "a_max" => "the maximum, which replaces greater elements",
        "a_min" => "the minimum, which replaces lesser elements",
        "align_corners" => "whether the corners of data and result are aligned",
        "allowzero" => "whether 0 in `newshape` is a size of 0 instead of a copied size",
        "alpha" => "the slope for negative elements, or a factor",
        "axes" => "the axes",
        "axis" => "the axis; negative ones count from the last",
        "batch_dims" => "the number of leading axes that data and indices have in common",
        "block_size" => "the size of the blocks on both axes",
        "ceil_mode" => "whether the size of the result is rounded up",
        "channels" => "the number of output channels",
        "coordinate_transformation_mode" => {
            "how a position in the result is mapped to one in the data"
        }
        "count_include_pad" => "whether averages count the padding",
        "cubic_alpha" => "the coefficient of cubic interpolation",
        "cubic_exclude" => "whether cubic interpolation ignores positions outside of the data",
        "data_layout" => "the axes of the data, in order: batch `N`, channels `C`, `D`, `H`, `W`",
        "deformable_groups" => "the number of groups of offsets",
        "dilation" => "the distance of kernel elements in the data; 1 is an ordinary convolution",
        "dst_layout" => "the layout of the result",
        "dtype" => "the data type of the result",
        "epsilon" | "eps" => "a small number that is added to a divisor",
        "exclude" => {
            "whether `axis` names the axes that are kept instead of those that are reduced"
        }
        "exclusive" => "whether an element is left out of its own sum or product",
        "extrapolation_value" => "the value of positions outside of the data",
        "groups" => {
            "the number of groups: each has its part of the input channels and of the output channels"
        }
        "indices_or_sections" => {
            "the number of equal parts, or the indices at which the axis is split"
        }
        "is_ascend" => "whether the least element comes first",
        "k" => "the number of elements",
        "keepdims" => "whether reduced axes are kept with size 1",
        "kernel_layout" => {
            "the axes of the weight, in order: output channels `O`, input channels `I`, `D`, `H`, `W`"
        }
        "kernel_size" => "the sizes of the kernel on the spatial axes",
        "layout" => "the axes of the data, in order: batch `N`, channels `C`, `D`, `H`, `W`",
        "method" => "the interpolation or the algorithm",
        "mode" => "how positions outside of the data are treated",
        "newshape" => {
            "the shape of the result, with special entries that stand for sizes of `data`"
        }
        "num_classes" => "the number of classes",
        "num_groups" => "the number of groups of channels",
        "num_newaxis" => "the number of new axes of size 1",
        "on_value" => "the value at the index",
        "out_dtype" => "the data type of the result; empty: that of the data",
        "out_layout" => "the layout of the result; empty: that of the data",
        "output_padding" => "the additional size at the end of each spatial axis of the result",
        "output_size" => "the sizes of the result on the spatial axes; empty: those of the data",
        "pad_value" => "the value of the new elements",
        "pad_width" => "for each axis, the numbers of elements before and after it",
        "padding" => "the number of elements that are added at the edges of the spatial axes",
        "pool_size" => "the sizes of the window on the spatial axes",
        "rate" => "the probability that an element is set to 0",
        "repeats" => "the number of copies of each element",
        "ret_type" => "whether values, indices or both are returned",
        "rounding" => "the rounding of numbers between two integers",
        "rounding_method" => "the rounding of positions between two elements",
        "scale_d" => "the factor for the depth",
        "scale_h" => "the factor for the height",
        "scale_w" => "the factor for the width",
        "select_last_index" => "whether the last of equal elements is chosen instead of the first",
        "src_layout" => "the layout of the data",
        "start" => "the first element",
        "step" => "the difference of neighbouring elements",
        "stop" => "the end, which is not an element",
        "strides" => "the step of the window on each spatial axis",
        "tile_size" => "the size of the tiles of the Winograd algorithm",
        "transpose_a" => "whether the first matrix is transposed",
        "transpose_b" => "whether the second matrix is transposed",
        "unbiased" => "whether the sum is divided by one less than the number of elements",
        "units" => "the number of outputs, which is the first size of `weight`",
        "virtual_device" => "the device of the result",
        _ => return None,
    })
}

/// Returns the meaning of the value of an attribute, as a phrase in Markdown for each part that stands for
/// something else than itself.
pub fn value_meaning(operator: &Operator, name: &str, value: &AttrValue) -> Vec<String> {
    match (name, value) {
        ("newshape", AttrValue::List(entries)) => {
            let numbers: Vec<Option<i64>> = entries.iter().map(integer).collect();
            SPECIAL_SIZES
                .iter()
                .filter(|(entry, _)| numbers.contains(&Some(*entry)))
                .map(|(entry, meaning)| format!("`{entry}`: {meaning}"))
                .collect()
        }
        ("padding", AttrValue::List(entries)) => {
            let Some(numbers) = entries.iter().map(integer).collect::<Option<Vec<i64>>>() else {
                return Vec::new();
            };
            match *numbers {
                [all] => vec![format!("{all} on every side")],
                [before, after] if spatial_axes(operator) == Some(1) => {
                    vec![format!("{before} before, {after} after")]
                }
                [height, width] => {
                    vec![format!("{height} at the top and bottom, {width} at the left and right")]
                }
                [depth, height, width] => vec![format!(
                    "{depth} at the front and back, {height} at the top and bottom, \
                     {width} at the left and right"
                )],
                [top, left, bottom, right] => {
                    vec![format!(
                        "{top} at the top, {left} at the left, {bottom} at the bottom, \
                                  {right} at the right"
                    )]
                }
                [front, top, left, back, bottom, right] => vec![format!(
                    "{front} at the front, {top} at the top, {left} at the left, {back} at the \
                     back, {bottom} at the bottom, {right} at the right"
                )],
                _ => Vec::new(),
            }
        }
        ("axis", value) => match integer(value) {
            Some(-1) => vec!["`-1`: the last axis".to_owned()],
            Some(axis @ ..-1) => vec![format!("`{axis}`: counted from the last axis, which is -1")],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Returns the number of spatial axes of a convolution or pooling operator.
fn spatial_axes(operator: &Operator) -> Option<usize> {
    match operator.schema?.field("strides")?.default {
        AttrDefault::Ints(strides) => Some(strides.len()),
        _ => None,
    }
}

/// The special entries of `newshape`.
const SPECIAL_SIZES: &[(i64, &str)] = &[
    (0, "the size of `data` on this axis"),
    (-1, "the size that keeps the number of elements"),
    (-2, "all remaining sizes of `data`"),
    (-3, "the product of the next two sizes of `data`"),
    (-4, "the next size of `data`, split into the two sizes that follow"),
];

fn integer(value: &AttrValue) -> Option<i64> {
    match value {
        AttrValue::Int { value, .. } => Some(*value),
        _ => None,
    }
}
