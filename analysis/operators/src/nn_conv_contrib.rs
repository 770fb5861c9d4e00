//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("nn.bitpack", &["data"]).attrs(&BIT_PACK),
    op("nn.bitserial_conv2d", &["data", "weight"]).attrs(&BINARY_CONV2D),
    op("nn.bitserial_dense", &["data", "weight"]).attrs(&BINARY_DENSE),
    op("nn.contrib_conv2d_gemm_weight_transform", &["weights"]).attrs(&CONV_GEMM_WEIGHT_TRANSFORM),
    op("nn.contrib_conv2d_gemm_without_weight_transform", &["data", "weight"]).attrs(&CONV2D),
    op("nn.contrib_conv2d_winograd_nnpack_weight_transform", &["weight"]).attrs(&CONV2D_WINOGRAD_NNPACK_WEIGHT_TRANSFORM),
    op("nn.contrib_conv2d_winograd_weight_transform", &["weight"]).attrs(&CONV_WINOGRAD_WEIGHT_TRANSFORM),
    op("nn.contrib_conv2d_winograd_without_weight_transform", &["data", "weight"]).attrs(&CONV2D_WINOGRAD),
    op("nn.contrib_conv3d_winograd_weight_transform", &["weight"]).attrs(&CONV_WINOGRAD_WEIGHT_TRANSFORM),
    op("nn.contrib_conv3d_winograd_without_weight_transform", &["data", "weight"]).attrs(&CONV3D_WINOGRAD),
];
