//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("all", &["data"]).attrs(&REDUCE),
    op("any", &["data"]).attrs(&REDUCE),
    op("argmax", &["data"]).attrs(&ARG_REDUCE),
    op("argmin", &["data"]).attrs(&ARG_REDUCE),
    op("cumprod", &["data"]),
    op("cumsum", &["data"]),
    op("max", &["data"]).attrs(&REDUCE),
    op("mean", &["data"]).attrs(&REDUCE),
    op("min", &["data"]).attrs(&REDUCE),
    op("ndarray_size", &["data"]).attrs(&NDARRAY_SIZE),
    op("prod", &["data"]).attrs(&REDUCE),
    op("shape_of", &["data"]).attrs(&SHAPE_OF),
    op("sum", &["data"]).attrs(&REDUCE),
    op("variance", &["data", "mean"]).attrs(&VARIANCE),
];
