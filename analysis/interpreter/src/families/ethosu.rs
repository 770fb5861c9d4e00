//! Operators of Arm's Ethos-U, an accelerator for networks of small integers.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[
    absent("contrib.ethosu.binary_elementwise", WHY),
    absent("contrib.ethosu.conv2d", WHY),
    absent("contrib.ethosu.depthwise_conv2d", WHY),
    absent("contrib.ethosu.identity", WHY),
    absent("contrib.ethosu.pooling", WHY),
    absent("contrib.ethosu.unary_elementwise", WHY),
];

/// The device has its own rounding and lookup tables, which TVM does not model either.
const WHY: &str = "it exists only on Arm's Ethos-U, an accelerator";
