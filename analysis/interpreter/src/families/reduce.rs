//! Kernels of the family `reduce`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
