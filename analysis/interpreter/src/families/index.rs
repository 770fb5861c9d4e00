//! Kernels of the family `index`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
