//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("nn.adaptive_avg_pool1d", &["data"]).attrs(&ADAPTIVE_POOL1D),
    op("nn.adaptive_avg_pool2d", &["data"]).attrs(&ADAPTIVE_POOL2D),
    op("nn.adaptive_avg_pool3d", &["data"]).attrs(&ADAPTIVE_POOL3D),
    op("nn.adaptive_max_pool1d", &["data"]).attrs(&ADAPTIVE_POOL1D),
    op("nn.adaptive_max_pool2d", &["data"]).attrs(&ADAPTIVE_POOL2D),
    op("nn.adaptive_max_pool3d", &["data"]).attrs(&ADAPTIVE_POOL3D),
    op("nn.avg_pool1d", &["data"]).attrs(&AVG_POOL1D),
    op("nn.avg_pool2d", &["data"]).attrs(&AVG_POOL2D),
    op("nn.avg_pool2d_grad", &["data", "grad"]).attrs(&MAX_POOL2D),
    op("nn.avg_pool3d", &["data"]).attrs(&AVG_POOL3D),
    op("nn.global_avg_pool2d", &["data"]).attrs(&GLOBAL_POOL2D),
    op("nn.global_max_pool2d", &["data"]).attrs(&GLOBAL_POOL2D),
    op("nn.max_pool1d", &["data"]).attrs(&MAX_POOL1D),
    op("nn.max_pool2d", &["data"]).attrs(&MAX_POOL2D),
    op("nn.max_pool2d_grad", &["data", "grad"]).attrs(&MAX_POOL2D),
    op("nn.max_pool3d", &["data"]).attrs(&MAX_POOL3D),
];
