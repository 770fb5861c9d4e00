//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("arange", &["start", "end", "step"]).attrs(&ARANGE),
    op("full", &["fill_value"]).attrs(&INIT_OP),
    op("full_like", &["data", "fill_value"]),
    op("matrix_set_diag", &["input", "diagonal"]).attrs(&MATRIX_SET_DIAG),
    op("meshgrid", &["data"]).attrs(&MESHGRID),
    op("one_hot", &["indices", "on_value", "off_value"]).attrs(&ONE_HOT),
    op("ones", &[]).attrs(&INIT_OP),
    op("trilu", &["data", "k"]),
    op("zeros", &[]).attrs(&INIT_OP),
];
