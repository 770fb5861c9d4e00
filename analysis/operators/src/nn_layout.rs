//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("auto_scheduler_layout_transform", &["data"]).attrs(&AUTO_SCHEDULER_LAYOUT_TRANSFORM),
    op("layout_transform", &["data"]).attrs(&LAYOUT_TRANSFORM),
    op("meta_schedule_layout_transform", &["data"]).attrs(&META_SCHEDULE_LAYOUT_TRANSFORM),
    op("nn.batch_flatten", &["data"]),
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
