//! Kernels of the family `sparse`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
