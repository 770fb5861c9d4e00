//! Operators that move data: layouts, padding, blocks to channels or batches, upsampling.

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("auto_scheduler_layout_transform", &["data"]).attrs(&AUTO_SCHEDULER_LAYOUT_TRANSFORM),
    op("layout_transform", &["data"]).attrs(&LAYOUT_TRANSFORM),
    op("meta_schedule_layout_transform", &["data"]).attrs(&META_SCHEDULE_LAYOUT_TRANSFORM),
    op("nn.batch_flatten", &["data"]).rule("BatchFlatten", batch_flatten).cost(Cost::Free).doc(Doc {
        summary: "Makes one axis of all axes but the first.",
        args: &["`(N, d1, …, dn)`"],
        shape: "`(N, d1 · … · dn)`",
        example: "nn.batch_flatten(%x)",
    }),
    op("nn.batch_to_space_nd", &["data"]).attrs(&BATCH_TO_SPACE_ND),
    op("nn.depth_to_space", &["data"]).attrs(&SUB_PIXEL),
    op("nn.dilate", &["x"]),
    op("nn.fifo_buffer", &["data", "buffer"]).attrs(&FIFO_BUFFER),
    op("nn.mirror_pad", &["data"]).attrs(&MIRROR_PAD),
    op("nn.pad", &["data", "pad_val"]).attrs(&PAD),
    op("nn.space_to_batch_nd", &["data"]).attrs(&SPACE_TO_BATCH_ND),
    op("nn.space_to_depth", &["data"]).attrs(&SUB_PIXEL),
    op("nn.upsampling", &["data"]).attrs(&UP_SAMPLING),
    op("nn.upsampling3d", &["data"]).attrs(&UP_SAMPLING3D),
];

fn batch_flatten(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let Some((batch, rest)) = data.shape.split_first() else {
        return Reason::new(
            "rank-mismatch",
            format!("`{}`: {} is a scalar, it has no batch axis", call.operator(), call.name(0)),
        )
        .rule("the first axis stays, the others become one")
        .argument(0, "a scalar")
        .undecided();
    };
    call.output_tensor([batch.clone(), product(rest)], data.dtype)
}
