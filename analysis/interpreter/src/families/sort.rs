//! Kernels of the family `sort`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
