//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("image.affine_grid", &["data"]).attrs(&AFFINE_GRID),
    op("image.crop_and_resize", &["data", "boxes", "box_indices"]).attrs(&CROP_AND_RESIZE),
    op("image.dilation2d", &["data", "weight"]).attrs(&DILATION2D),
    op("image.grid_sample", &["data", "grid"]).attrs(&GRID_SAMPLE),
    op("image.resize1d", &["data"]).attrs(&RESIZE1D),
    op("image.resize2d", &["data"]).attrs(&RESIZE2D),
    op("image.resize3d", &["data"]).attrs(&RESIZE3D),
];
