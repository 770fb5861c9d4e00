//! Kernels of the family `random`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
