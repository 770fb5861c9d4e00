//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("argsort", &["data"]).attrs(&ARGSORT),
    op("argwhere", &["condition"]),
    op("searchsorted", &["sorted_sequence", "values"]).attrs(&SEARCH_SORTED),
    op("sort", &["data"]).attrs(&ARGSORT),
    op("topk", &["data"]).attrs(&TOPK),
    op("unique", &["data"]),
];
