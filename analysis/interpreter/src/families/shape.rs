//! Kernels of the family `shape`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
