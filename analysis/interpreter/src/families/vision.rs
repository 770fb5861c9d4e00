//! Kernels of the family `vision`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
