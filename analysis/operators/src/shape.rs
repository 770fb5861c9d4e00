//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("broadcast_to", &["data"]).attrs(&INIT_OP),
    op("broadcast_to_like", &["data", "broadcast_type"]),
    op("collapse_sum_like", &["data", "collapse_type"]),
    op("collapse_sum_to", &["data", "shape"]),
    op("concatenate", &["data"]).attrs(&CONCATENATE),
    op("contrib_reverse_reshape", &["data"]).attrs(&RESHAPE),
    op("expand_dims", &["data"]).attrs(&EXPAND_DIMS),
    op("repeat", &["data"]).attrs(&REPEAT),
    op("reshape", &["data"]).attrs(&RESHAPE),
    op("reshape_like", &["data", "shape_like"]).attrs(&RESHAPE_LIKE),
    op("reverse", &["data"]).attrs(&REVERSE),
    op("split", &["data"]).attrs(&SPLIT),
    op("squeeze", &["data"]).attrs(&SQUEEZE),
    op("stack", &["data"]).attrs(&STACK),
    op("tile", &["data"]).attrs(&TILE),
    op("transpose", &["data"]).attrs(&TRANSPOSE),
];
