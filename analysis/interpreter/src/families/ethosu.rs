//! Operators of Arm's Ethos-U, an accelerator for networks of small integers.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[
    absent("contrib.ethosu.binary_elementwise", REASON),
    absent("contrib.ethosu.conv2d", REASON),
    absent("contrib.ethosu.depthwise_conv2d", REASON),
    absent("contrib.ethosu.identity", REASON),
    absent("contrib.ethosu.pooling", REASON),
    absent("contrib.ethosu.unary_elementwise", REASON),
];

/// The reason for the refusal. The device has its own rounding and lookup tables, which TVM does not
/// model either.
const REASON: &str = "it exists only on Arm's Ethos-U, an accelerator";
