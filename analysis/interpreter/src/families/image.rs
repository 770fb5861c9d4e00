//! Kernels of the family `image`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
