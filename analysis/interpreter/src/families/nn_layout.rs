//! Kernels of the family `nn_layout`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
