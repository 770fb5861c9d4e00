//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("nn.internal.sparse_dense_padded", &["data", "weight_data", "weight_indices", "weight_indptr"]).attrs(&SPARSE_DENSE),
    op("nn.sparse_add", &["dense_data", "sparse_data", "sparse_indices", "sparse_indptr"]),
    op("nn.sparse_conv2d", &["dense_data", "sparse_data", "sparse_indices", "sparse_indptr"]).attrs(&SPARSE_CONV2D),
    op("nn.sparse_dense", &["dense_data", "sparse_data", "sparse_indices", "sparse_indptr"]).attrs(&SPARSE_DENSE),
    op("nn.sparse_transpose", &["sparse_data", "sparse_indices", "sparse_indptr"]).attrs(&SPARSE_TRANSPOSE),
    op("sparse_fill_empty_rows", &["sparse_indices", "sparse_values", "dense_shape", "default_value"]),
    op("sparse_reshape", &["sparse_indices", "prev_shape", "new_shape"]),
    op("sparse_to_dense", &["sparse_indices", "sparse_values", "default_value"]).attrs(&SPARSE_TO_DENSE),
];
