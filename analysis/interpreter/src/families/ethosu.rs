//! Operators of the Arm Ethos-U accelerator.
//!
//! Their weights, scales and tables are laid out for that device, which alone computes them.

use super::prelude::*;
use crate::fault::FaultKind;

pub(super) static KERNELS: &[Kernel] = &[
    kernel("contrib.ethosu.binary_elementwise", elsewhere),
    kernel("contrib.ethosu.conv2d", elsewhere),
    kernel("contrib.ethosu.depthwise_conv2d", elsewhere),
    kernel("contrib.ethosu.identity", elsewhere),
    kernel("contrib.ethosu.pooling", elsewhere),
    kernel("contrib.ethosu.unary_elementwise", elsewhere),
];

fn elsewhere(call: &mut Call<'_>) -> Outcome {
    let message = "it runs on the Arm Ethos-U accelerator alone, and cannot be run here";
    Err(Fault { kind: FaultKind::NoKernel, ..call.fault(message) })
}
