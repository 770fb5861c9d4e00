//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("nn.batch_norm", &["data", "gamma", "beta", "moving_mean", "moving_var"]).attrs(&BATCH_NORM),
    op("nn.bias_add", &["data", "bias"]).attrs(&BIAS_ADD),
    op("nn.cross_entropy", &["x", "y"]),
    op("nn.cross_entropy_with_logits", &["x", "y"]),
    op("nn.dropout", &["data"]).attrs(&DROPOUT),
    op("nn.fast_softmax", &["data"]).attrs(&SOFTMAX),
    op("nn.group_norm", &["data", "gamma", "beta"]).attrs(&GROUP_NORM),
    op("nn.instance_norm", &["data", "gamma", "beta"]).attrs(&INSTANCE_NORM),
    op("nn.l2_normalize", &["data"]).attrs(&L2_NORMALIZE),
    op("nn.layer_norm", &["data", "gamma", "beta"]).attrs(&LAYER_NORM),
    op("nn.leaky_relu", &["data"]).attrs(&LEAKY_RELU),
    op("nn.log_softmax", &["data"]).attrs(&SOFTMAX),
    op("nn.lrn", &["data"]).attrs(&LRN),
    op("nn.nll_loss", &["predictions", "targets", "weights"]).attrs(&NLL_LOSS),
    op("nn.prelu", &["data", "alpha"]).attrs(&P_RELU),
    op("nn.relu", &["data"]),
    op("nn.softmax", &["data"]).attrs(&SOFTMAX),
];
