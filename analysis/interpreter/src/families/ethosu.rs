//! Operators of Arm's Ethos-U, an accelerator for networks of small integers.

use super::{annotation::nowhere, prelude::*};

pub(super) static KERNELS: &[Kernel] = &[
    kernel("contrib.ethosu.binary_elementwise", absent),
    kernel("contrib.ethosu.conv2d", absent),
    kernel("contrib.ethosu.depthwise_conv2d", absent),
    kernel("contrib.ethosu.identity", absent),
    kernel("contrib.ethosu.pooling", absent),
    kernel("contrib.ethosu.unary_elementwise", absent),
];

/// The device rounds and looks up in its own way, which TVM does not model either.
fn absent(call: &mut Call<'_>) -> Outcome {
    nowhere(call, "it exists only on Arm's Ethos-U, an accelerator")
}
