//! Kernels of the family `qnn`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
