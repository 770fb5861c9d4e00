//! Kernels of the family `dynamic`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
