//! Kernels of the family `nn_pool`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
