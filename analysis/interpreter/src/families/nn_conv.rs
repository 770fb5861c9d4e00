//! Kernels of the family `nn_conv`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
