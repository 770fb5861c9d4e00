//! Kernels of the family `broadcast`.

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[];
