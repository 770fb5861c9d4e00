//! Kernels of the family `create`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
