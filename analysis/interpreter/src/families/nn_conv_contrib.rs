//! Other convolutions: transposed, deformable, bit-serial, and by Winograd's algorithm.

mod bits;
mod displaced;
mod transposed;
mod winograd;

use super::prelude::*;

pub(super) use displaced::bilinear;
use transposed::mirrored_convolution;
pub(super) use transposed::transposed;

pub(super) static KERNELS: &[Kernel] = &[
    kernel("nn.conv1d_transpose", |c| transposed(c, "NCW", "IOW"))
        .overflow(|c, result| mirrored_convolution(c, "NCW", "IOW").ok()?.overflow(c, result)),
    kernel("nn.conv2d_transpose", |c| transposed(c, "NCHW", "IOHW"))
        .overflow(|c, result| mirrored_convolution(c, "NCHW", "IOHW").ok()?.overflow(c, result)),
    kernel("nn.conv3d_transpose", |c| transposed(c, "NCDHW", "IODHW"))
        .overflow(|c, result| mirrored_convolution(c, "NCDHW", "IODHW").ok()?.overflow(c, result)),
    kernel("nn.conv2d_backward_weight", transposed::weight_gradient),
    kernel("nn.deformable_conv2d", displaced::deformable),
    kernel("nn.correlation", displaced::correlation),
    kernel("nn.fifo_buffer", displaced::fifo_buffer),
    kernel("nn.bitpack", bits::bitpack),
    kernel("nn.bitserial_conv2d", bits::conv2d),
    kernel("nn.bitserial_dense", bits::dense),
    kernel("nn.contrib_conv2d_gemm_weight_transform", winograd::gemm_weight),
    kernel("nn.contrib_conv2d_gemm_without_weight_transform", winograd::gemm),
    absent(
        "nn.contrib_conv2d_winograd_nnpack_weight_transform",
        "the layout of its result is private to the NNPACK library",
    ),
    kernel("nn.contrib_conv2d_winograd_weight_transform", winograd::weight2d),
    kernel("nn.contrib_conv2d_winograd_without_weight_transform", winograd::conv2d),
    kernel("nn.contrib_conv3d_winograd_weight_transform", winograd::weight3d),
    kernel("nn.contrib_conv3d_winograd_without_weight_transform", winograd::conv3d),
];
