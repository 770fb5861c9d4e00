//! Kernels of the family `nn_norm`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
