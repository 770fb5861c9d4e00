//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("adv_index", &["inputs"]),
    op("dft", &["re_data", "im_data"]),
    op("gather", &["data", "indices"]).attrs(&GATHER),
    op("gather_nd", &["data", "indices"]).attrs(&GATHER_ND),
    op("reverse_sequence", &["data", "seq_lengths"]).attrs(&REVERSE_SEQUENCE),
    op("scatter", &[]).variadic(),
    op("scatter_elements", &["data", "indices", "updates"]),
    op("scatter_nd", &["data", "indices", "updates"]),
    op("sequence_mask", &["data", "valid_length"]).attrs(&SEQUENCE_MASK),
    op("slice_like", &["data", "shape_like"]).attrs(&SLICE_LIKE),
    op("sliding_window", &["data"]).attrs(&SLIDING_WINDOW),
    op("stft", &["data", "window"]),
    op("strided_set", &["data", "v", "begin", "end", "strides"]),
    op("strided_slice", &["data"]).attrs(&STRIDED_SLICE),
    op("take", &["data", "indices"]).attrs(&TAKE),
    op("unravel_index", &["data", "shape"]),
    op("where", &["condition", "x", "y"]),
];
