//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("contrib.ethosu.binary_elementwise", &["ifm", "ifm2", "lut"]).attrs(&ETHOSU_BINARY_ELEMENTWISE),
    op("contrib.ethosu.conv2d", &["ifm", "weight", "scale_bias", "lut"]).attrs(&ETHOSU_CONV2D),
    op("contrib.ethosu.depthwise_conv2d", &["ifm", "weight", "scale_bias", "lut"]).attrs(&ETHOSU_DEPTHWISE_CONV2D),
    op("contrib.ethosu.identity", &["ifm", "lut"]).attrs(&ETHOSU_IDENTITY),
    op("contrib.ethosu.pooling", &["ifm", "lut"]).attrs(&ETHOSU_POOLING),
    op("contrib.ethosu.unary_elementwise", &["ifm", "lut"]).attrs(&ETHOSU_UNARY_ELEMENTWISE),
];
