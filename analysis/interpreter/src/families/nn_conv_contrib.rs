//! Kernels of the family `nn_conv_contrib`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
