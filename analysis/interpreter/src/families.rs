//! The kernels, family by family.

mod annotation;
mod broadcast;
mod create;
mod dynamic;
mod elementwise;
mod ethosu;
mod image;
mod index;
mod layouts;
mod nn_conv;
mod nn_conv_contrib;
mod nn_dense;
mod nn_layout;
mod nn_norm;
mod nn_pool;
mod qnn;
mod random;
mod reduce;
mod shape;
mod sort;
mod sparse;
mod vision;

pub(crate) use broadcast::Broadcast;
pub(crate) use nn_norm::channel_factors;
pub(crate) use shape::permuted;

use crate::kernel::Kernel;

/// The imports that all families share.
mod prelude {
    pub(crate) use crate::{
        allocate::{collected, push, room, try_collected},
        fault::Fault,
        interrupt::{
            Here, PIECE, each_chunk, mapped, pieces, pieces_mut, ranges, repeated, spend, unset,
            watched,
        },
        kernel::{Call, Kernel, Outcome, absent, kernel, light},
        tensor::{Array, Element, Tensor, count_of, each_dtype, own},
        value::Value,
    };
    pub(crate) use types::DataType;
}

pub(crate) static FAMILIES: &[&[Kernel]] = &[
    annotation::KERNELS,
    broadcast::KERNELS,
    create::KERNELS,
    dynamic::KERNELS,
    elementwise::KERNELS,
    ethosu::KERNELS,
    image::KERNELS,
    index::GATHER,
    index::SCATTER,
    index::SEQUENCE,
    index::SLICE,
    nn_conv::KERNELS,
    nn_conv_contrib::KERNELS,
    nn_dense::KERNELS,
    nn_layout::KERNELS,
    nn_norm::KERNELS,
    nn_pool::KERNELS,
    qnn::KERNELS,
    random::KERNELS,
    reduce::KERNELS,
    shape::KERNELS,
    sort::KERNELS,
    sparse::KERNELS,
    vision::KERNELS,
];
