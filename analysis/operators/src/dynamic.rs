//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("dyn.broadcast_to", &["data", "shape"]).attrs(&INIT_OP),
    op("dyn.expand_dims", &["data", "axis"]),
    op("dyn.full", &["fill_value", "shape"]).attrs(&INIT_OP),
    op("dyn.image.resize2d", &["data", "size", "roi"]).attrs(&RESIZE2D),
    op("dyn.nn.pad", &["data", "pad_width", "pad_val"]).attrs(&PAD),
    op("dyn.nn.upsampling", &["data", "scale_h", "scale_w"]).attrs(&UP_SAMPLING),
    op("dyn.nn.upsampling3d", &["data", "scale_d", "scale_h", "scale_w"]).attrs(&UP_SAMPLING3D),
    op("dyn.one_hot", &["indices", "on_value", "off_value", "depth"]).attrs(&ONE_HOT),
    op("dyn.ones", &["shape"]).attrs(&INIT_OP),
    op("dyn.reshape", &["data", "newshape"]).attrs(&RESHAPE),
    op("dyn.sparse_to_dense", &["sparse_indices", "sparse_values", "default_value", "output_shape"]),
    op("dyn.squeeze", &["data", "axes"]).attrs(&SQUEEZE),
    op("dyn.strided_slice", &["data", "begin", "end", "strides", "slice_mode"]).attrs(&STRIDED_SLICE),
    op("dyn.tile", &["data", "reps"]).attrs(&TILE),
    op("dyn.topk", &["data", "k"]).attrs(&TOPK),
    op("dyn.zeros", &["shape"]).attrs(&INIT_OP),
];
