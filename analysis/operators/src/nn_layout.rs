//! Layout operators: layout changes, padding, blocks as channels or batches, upsampling.

mod blocks;
mod pad;
mod resize;
mod transform;

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("auto_scheduler_layout_transform", &["data"]).keeps_data().since(8)
        .attrs(&AUTO_SCHEDULER_LAYOUT_TRANSFORM)
        .rule("auto_scheduler_layout_transform", transform::auto_scheduler)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Rearranges a weight into the layout that the auto-scheduler has chosen.",
            args: &["as `src_layout` says, such as `\"1N32C112H112W\"`"],
            shape: "the numbers of `dst_layout`, each written before its axis",
            example: "auto_scheduler_layout_transform(%w, src_layout=\"64O64I\", \
                      dst_layout=\"8O64I8O\")",
        }),
    op("layout_transform", &["data"]).keeps_data().reorders_axes()
        .attrs(&LAYOUT_TRANSFORM)
        .rule("layout_transform", transform::layout_transform)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Converts a tensor from one layout to another, padding blocks with zeros.",
            args: &["in the layout `src_layout`"],
            shape: "the same axes in the layout `dst_layout`; the size of a blocked axis is the \
                    number of blocks, rounded up",
            example: "layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHW8c\")",
        }),
    op("meta_schedule_layout_transform", &["data"]).keeps_data().since(9)
        .attrs(&META_SCHEDULE_LAYOUT_TRANSFORM)
        .rule("meta_schedule_layout_transform", transform::meta_schedule)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Rearranges a weight by the index map that the meta-schedule has chosen.",
            args: &["one axis for each argument of the map"],
            shape: "one axis for each result of the map, with its range as the size",
            example: "meta_schedule_layout_transform(%w, index_map=meta[tir.IndexMap][0])",
        }),
    op("nn.batch_flatten", &["data"]).keeps_data()
        .rule("BatchFlatten", transform::batch_flatten)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Flattens all axes but the first.",
            args: &["`(N, d1, …, dn)`"],
            shape: "`(N, d1 · … · dn)`",
            example: "nn.batch_flatten(%x)",
        }),
    op("nn.batch_to_space_nd", &["data"]).since(8)
        .attrs(&BATCH_TO_SPACE_ND)
        .rule("BatchToSpaceND", blocks::batch_to_space_nd)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Moves blocks from the batch to the spatial axes, then crops those.",
            args: &["`(N, s1, …, sm, rest…)`, with one of `block_shape` for each `s`"],
            shape: "`(N / (b1 · … · bm), s1 · b1 − crops, …, rest…)`",
            example: "nn.batch_to_space_nd(%x, block_shape=[2, 2], crops=[[0, 0], [0, 0]])",
        }),
    op("nn.depth_to_space", &["data"]).since(7)
        .attrs(&SUB_PIXEL)
        .rule("DepthToSpace", blocks::depth_to_space)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Moves blocks from the channels to the spatial axes (pixel shuffle).",
            args: &["`(N, C, H, W)`, or in the order of `layout`"],
            shape: "`(N, C / b², H · b, W · b)` with `b = block_size`",
            example: "nn.depth_to_space(%x, block_size=2)",
        }),
    op("nn.dilate", &["x"]).since(7)
        .detached_attrs(&DILATE)
        .rule("Dilate", pad::dilate)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Inserts `strides − 1` elements of `dilation_value` between adjacent elements.",
            args: &["any shape, with one of `strides` for each axis"],
            shape: "each size becomes `(size − 1) · strides + 1`",
            example: "nn.dilate(%x, strides=[1, 1, 2, 2], dilation_value=0f, \
                      attrs_type_key=\"relay.attrs.DilateAttrs\")",
        }),
    op("nn.fifo_buffer", &["data", "buffer"]).data(&["buffer"]).since(6)
        .attrs(&FIFO_BUFFER)
        .rule("FIFOBuffer", transform::fifo_buffer)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Appends data to a buffer of fixed size along an axis, dropping the \
                      oldest elements.",
            args: &[
                "the shape of `buffer`, with a smaller size on `axis`",
                "any shape: the current content",
            ],
            shape: "the shape of `buffer`",
            example: "nn.fifo_buffer(%x, %buffer, axis=1)",
        }),
    op("nn.mirror_pad", &["data"])
        .python("data pad_width mode").since(6)
        .attrs(&MIRROR_PAD)
        .rule("MirrorPad", pad::mirror_pad)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Pads with the elements of the tensor, mirrored at each border.",
            args: &["any shape, with one pair of `pad_width` for each axis"],
            shape: "each size grows by both widths of its pair",
            example: "nn.mirror_pad(%x, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]], \
                      mode=\"REFLECT\")",
        }),
    op("nn.pad", &["data", "pad_val"])
        .python("data pad_width pad_value/pad_val=0 pad_mode")
        .forms(&[form(Releases::until(7), 1).attrs(&[was(
            "pad_value",
            AttrType::Float,
            AttrDefault::Float(0.0),
            Becomes::Argument(1, None),
        )])])
        .attrs(&PAD)
        .rule("Pad", pad::pad)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Adds elements at both ends of each axis, or removes some if a width is \
                      negative.",
            args: &[
                "any shape, with one pair of `pad_width` for each axis",
                "a scalar: the value of the added elements",
            ],
            shape: "each size grows by both widths of its pair",
            example: "nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]])",
        }),
    op("nn.space_to_batch_nd", &["data"]).since(8)
        .attrs(&SPACE_TO_BATCH_ND)
        .rule("SpaceToBatchND", blocks::space_to_batch_nd)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Pads the spatial axes, then moves blocks from them to the batch.",
            args: &["`(N, s1, …, sm, rest…)`, with one of `block_shape` for each `s`"],
            shape: "`(N · b1 · … · bm, (s1 + paddings) / b1, …, rest…)`",
            example: "nn.space_to_batch_nd(%x, block_shape=[2, 2], paddings=[[0, 0], [0, 0]])",
        }),
    op("nn.space_to_depth", &["data"]).since(7)
        .attrs(&SUB_PIXEL)
        .rule("SpaceToDepth", blocks::space_to_depth)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Moves blocks from the spatial axes to the channels.",
            args: &["`(N, C, H, W)`, or in the order of `layout`"],
            shape: "`(N, C · b², H / b, W / b)` with `b = block_size`",
            example: "nn.space_to_depth(%x, block_size=2)",
        }),
    op("nn.upsampling", &["data"]).in_category(Category::Movement)
        .attrs(&UP_SAMPLING)
        .rule("UpSampling", resize::upsampling)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Upsamples images by a factor per axis, with repetition or interpolation.",
            args: &["`(N, C, H, W)`, or in the order of `layout`"],
            shape: "`(N, C, H · scale_h, W · scale_w)`, rounded to the nearest (halves to even)",
            example: "nn.upsampling(%x, scale_h=2f, scale_w=2f)",
        }),
    op("nn.upsampling3d", &["data"]).in_category(Category::Movement).since(7)
        .attrs(&UP_SAMPLING3D)
        .rule("UpSampling3D", resize::upsampling3d)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Upsamples volumes by a factor per axis, with repetition or interpolation.",
            args: &["`(N, C, D, H, W)`, or in the order of `layout`"],
            shape: "`(N, C, D · scale_d, H · scale_h, W · scale_w)`, rounded to the nearest (halves \
                    to even)",
            example: "nn.upsampling3d(%x, scale_d=2f, scale_h=2f, scale_w=2f)",
        }),
];
