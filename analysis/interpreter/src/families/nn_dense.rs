//! Kernels of the family `nn_dense`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
