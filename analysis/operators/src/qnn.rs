//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("qnn.abs", &["data", "scale", "zero_point", "output_scale", "output_zero_point"]),
    op("qnn.add", &["lhs", "rhs", "lhs_scale", "lhs_zero_point", "rhs_scale", "rhs_zero_point", "output_scale", "output_zero_point", "lhs_axis", "rhs_axis"]).attrs(&BROADCAST),
    op("qnn.avg_pool2d", &["data", "input_scale", "input_zero_point", "output_scale", "output_zero_point"]).attrs(&AVG_POOL2D),
    op("qnn.batch_matmul", &["x", "y", "x_scale", "x_zero_point", "y_scale", "y_zero_point"]).attrs(&BATCH_MATMUL),
    op("qnn.concatenate", &["data", "input_scales", "input_zero_points", "output_scale", "output_zero_point"]).attrs(&CONCATENATE),
    op("qnn.contrib_dense_pack", &["data", "weight", "input_scale", "input_zero_point", "weight_scale", "weight_zero_point"]).attrs(&DENSE_PACK),
    op("qnn.conv2d", &["data", "weight", "input_scale", "input_zero_point", "weight_scale", "weight_zero_point"]).attrs(&CONV2D),
    op("qnn.conv2d_transpose", &["data", "weight", "input_scale", "input_zero_point", "weight_scale", "weight_zero_point"]).attrs(&CONV2D_TRANSPOSE),
    op("qnn.dense", &["data", "weight", "input_scale", "input_zero_point", "weight_scale", "weight_zero_point"]).attrs(&DENSE),
    op("qnn.dequantize", &["data", "input_scale", "input_zero_point"]).attrs(&DEQUANTIZE),
    op("qnn.erf", &["data", "scale", "zero_point", "output_scale", "output_zero_point"]),
    op("qnn.exp", &["data", "scale", "zero_point", "output_scale", "output_zero_point"]),
    op("qnn.hardswish", &["data", "scale", "zero_point", "output_scale", "output_zero_point"]),
    op("qnn.leaky_relu", &["data", "input_scale", "input_zero_point", "output_scale", "output_zero_point"]).attrs(&LEAKY_RELU),
    op("qnn.log", &["data", "scale", "zero_point", "output_scale", "output_zero_point"]),
    op("qnn.mul", &["lhs", "rhs", "lhs_scale", "lhs_zero_point", "rhs_scale", "rhs_zero_point", "output_scale", "output_zero_point", "lhs_axis", "rhs_axis"]).attrs(&BROADCAST),
    op("qnn.quantize", &["data", "output_scale", "output_zero_point"]).attrs(&QUANTIZE),
    op("qnn.requantize", &["data", "input_scale", "input_zero_point", "output_scale", "output_zero_point"]).attrs(&REQUANTIZE),
    op("qnn.rsqrt", &["data", "scale", "zero_point", "output_scale", "output_zero_point"]),
    op("qnn.sigmoid", &["data", "scale", "zero_point", "output_scale", "output_zero_point"]),
    op("qnn.simulated_dequantize", &["data", "in_dtype", "input_scale", "input_zero_point"]).attrs(&DEQUANTIZE),
    op("qnn.simulated_quantize", &["data", "out_dtype", "output_scale", "output_zero_point"]).attrs(&SIMULATED_QUANTIZE),
    op("qnn.softmax", &["data", "scale", "zero_point", "output_scale", "output_zero_point"]).attrs(&SOFTMAX),
    op("qnn.sqrt", &["data", "scale", "zero_point", "output_scale", "output_zero_point"]),
    op("qnn.subtract", &["lhs", "rhs", "lhs_scale", "lhs_zero_point", "rhs_scale", "rhs_zero_point", "output_scale", "output_zero_point", "lhs_axis", "rhs_axis"]).attrs(&BROADCAST),
    op("qnn.tanh", &["data", "scale", "zero_point", "output_scale", "output_zero_point"]),
];
