//! The suppression of boxes as TVM 0.6 and 0.7 have it.

use super::*;

/// The limits of `vision.non_max_suppression` that were attributes.
pub(super) const LIMITS: &[crate::FormerAttr] = &[
    was("max_output_size", AttrType::Int, AttrDefault::Int(-1), Becomes::Nothing),
    was("iou_threshold", AttrType::Float, AttrDefault::Float(0.5), Becomes::Nothing),
];
pub(super) static NMS_7: Operator =
    op("vision.non_max_suppression", &["data", "valid_count", "indices", "max_output_size"])
        .controls(&["valid_count", "indices", "max_output_size"])
        .detached_attrs(&NON_MAXIMUM_SUPPRESSION)
        .rule("NMS", |call| suppress(call, true))
        .cost(OVERLAPS)
        .another();
pub(super) static NMS_6: Operator = op("vision.non_max_suppression", &["data", "valid_count"])
    .controls(&["valid_count"])
    .detached_attrs(&NON_MAXIMUM_SUPPRESSION)
    .rule("NMS", |call| suppress(call, false))
    .cost(OVERLAPS)
    .another();
pub(super) static VALID_COUNTS_7: Operator = op("vision.get_valid_counts", &["data"])
    .in_category(Category::Movement)
    .detached_attrs(&GET_VALID_COUNTS)
    .rule("GetValidCount", |call| valid_counts(call, true))
    .cost(Cost::Reduction)
    .another();
pub(super) static VALID_COUNTS_6: Operator = op("vision.get_valid_counts", &["data"])
    .in_category(Category::Movement)
    .detached_attrs(&GET_VALID_COUNTS)
    .rule("GetValidCount", |call| valid_counts(call, false))
    .cost(Cost::Reduction)
    .another();

/// Types the suppression of TVM 0.6, which gives a tensor of indices, or 0.7, which adds their number.
fn suppress(call: &mut Call<'_>, has_numbers: bool) -> Outcome {
    let (data, counts) = (call.tensor(0)?, call.tensor(1)?);
    needs_rank(call, 0, &data, 3, "batch, boxes, values")?;
    needs_rank(call, 1, &counts, 1, "the number of valid boxes of each sample")?;
    if !call.attrs().bool("return_indices") {
        return call.output_tensor(data.shape.clone(), data.dtype);
    }
    let indices = Type::tensor(data.shape.iter().take(2).cloned(), DataType::INT32);
    if !has_numbers {
        return call.output(indices);
    }
    let numbers = Type::tensor([data.shape[0].clone(), Dim::known(1)], DataType::INT32);
    call.output(Type::tuple([indices, numbers]))
}

/// Types the counts of TVM 0.7, or 0.6, which gives no indices.
fn valid_counts(call: &mut Call<'_>, has_indices: bool) -> Outcome {
    let data = call.tensor(0)?;
    needs_rank(call, 0, &data, 3, "batch, boxes, values")?;
    let counts = Type::tensor(data.shape.iter().take(1).cloned(), DataType::INT32);
    let indices = Type::tensor(data.shape.iter().take(2).cloned(), DataType::INT32);
    let mut fields = vec![counts, Type::Tensor(data)];
    fields.extend(has_indices.then_some(indices));
    call.output(Type::tuple(fields))
}
