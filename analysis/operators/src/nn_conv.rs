//! Convolutions.

mod correlation;
mod cost;
mod gradient;
mod layouts;
mod plain;
mod ready;
mod transpose;
mod weight;

pub(crate) use cost::ready as ready_macs;
pub(crate) use layouts::{Layouts, channels, equal_groups, exact, kernel_size, reach};
pub(crate) use ready::{attribute_needed, ready_conv2d, ready_conv2d_gemm, ready_conv3d};

use crate::prelude::*;

/// The parameters of transposed convolutions in Python.
const TRANSPOSED: &str = "data weight strides padding dilation groups channels kernel_size \
                          data_layout kernel_layout out_layout output_padding out_dtype";

pub(crate) static OPERATORS: &[Operator] = &[
    op("nn.contrib_conv2d_NCHWc", &["data", "weight"])
        .since(6)
        .formerly(&[("nn.contrib_conv2d_NCHWc_int8", Releases::between(6, 6))])
        .attrs(&CONV2D)
        .rule("Conv2DNCHWc", ready_conv2d)
        .cost(Cost::Macs(cost::ready))
        .doc(Doc {
            summary: "`nn.conv2d` on blocked channels, with a blocked weight.",
            args: &[
                "`(N, C, H, W, c)`: `C` blocks of `c` channels",
                "`(O, I, H, W, i, o)`, in the order of `kernel_layout`, which may leave out the blocks",
            ],
            shape: "as `nn.conv2d` has it, in blocks as `out_layout` says; `channels` and \
                    `kernel_size` must be specified",
            example: "nn.contrib_conv2d_NCHWc(%x, %w, channels=64, kernel_size=[3, 3], \
                      data_layout=\"NCHW8c\", kernel_layout=\"OIHW8i8o\", out_layout=\"NCHW8c\")",
        }),
    op("nn.contrib_depthwise_conv2d_NCHWc", &["data", "weight"]).since(6)
        .attrs(&CONV2D)
        .rule("Conv2D", plain::conv2d)
        .cost(Cost::Macs(cost::conv))
        .doc(Doc {
            summary: "Depthwise `nn.conv2d` on blocked channels.",
            args: &["`(N, C, H, W, c)`", "`(O, I, H, W, i, o)`, in the order of `kernel_layout`"],
            shape: "as `nn.conv2d` has it, in blocks as `out_layout` says",
            example: "nn.contrib_depthwise_conv2d_NCHWc(%x, %w, groups=32, channels=32, \
                      kernel_size=[3, 3], data_layout=\"NCHW8c\", kernel_layout=\"OIHW1i8o\")",
        }),
    op("nn.conv1d", &["data", "weight"]).since(7)
        .attrs(&CONV1D)
        .rule("Conv1D", plain::conv1d)
        .cost(Cost::Macs(cost::conv))
        .doc(Doc {
            summary: "1D convolution: each output channel is the sum, over the \
                      input channels, of products with its kernel.",
            args: &[
                "`(N, C, W)`, or in the order of `data_layout`",
                "`(O, C / groups, KW)`, or in the order of `kernel_layout`",
            ],
            shape: "`(N, O, (W + padding − (KW − 1) · dilation − 1) / strides + 1)`, rounded down",
            example: "nn.conv1d(%x, %w, padding=[1, 1], channels=16, kernel_size=[3])",
        }),
    op("nn.conv1d_transpose", &["data", "weight"])
        .python(TRANSPOSED)
        .since(7)
        .attrs(&CONV1D_TRANSPOSE)
        .rule("Conv1DTranspose", transpose::conv1d_transpose)
        .cost(Cost::Macs(cost::transposed))
        .doc(Doc {
            summary: "Transposed convolution: \
                      each element of the data adds a kernel, scaled by the element, to the result.",
            args: &[
                "`(N, C, W)`, or in the order of `data_layout`",
                "`(C, O / groups, KW)`, or in the order of `kernel_layout`",
            ],
            shape: "`(N, O, (W − 1) · strides + (KW − 1) · dilation + 1 − padding + \
                    output_padding)`",
            example: "nn.conv1d_transpose(%x, %w, channels=8, kernel_size=[4], strides=[2], \
                      padding=[1])",
        }),
    op("nn.conv2d", &["data", "weight"])
        .attrs(&CONV2D)
        .rule("Conv2D", plain::conv2d)
        .cost(Cost::Macs(cost::conv))
        .doc(Doc {
            summary: "2D convolution: each output channel is the sum, over the input \
                      channels of its group, of products with its kernel.",
            args: &[
                "`(N, C, H, W)`, or in the order of `data_layout`",
                "`(O, C / groups, KH, KW)`, or in the order of `kernel_layout`",
            ],
            shape: "`(N, O, OH, OW)` with `OH = (H + padding − (KH − 1) · dilation − 1) / strides \
                    + 1`, rounded down, and `OW` likewise; `O` is `channels` or the weight's",
            example: "nn.conv2d(%x, %w, padding=[1, 1], channels=64, kernel_size=[3, 3])",
        }),
    op("nn.conv2d_backward_weight", &["grad", "data"]).data(&["data"]).since(9)
        .attrs(&CONV2D)
        .rule("Conv2DBackwardWeight", gradient::conv2d_backward_weight)
        .cost(Cost::Macs(cost::gradient))
        .doc(Doc {
            summary: "The gradient of `nn.conv2d` for its weight.",
            args: &[
                "the gradient of the convolution's result, `(N, O, OH, OW)` or in the order of \
                 `data_layout`",
                "the data of the convolution, `(N, C, H, W)` or in the order of `kernel_layout`",
            ],
            shape: "`(O, C / groups, KH, KW)` in the order of `out_layout`; `kernel_size` must be \
                    written",
            example: "nn.conv2d_backward_weight(%dy, %x, kernel_size=[3, 3], padding=[1, 1], \
                      kernel_layout=\"NCHW\", out_layout=\"OIHW\")",
        }),
    op("nn.conv2d_transpose", &["data", "weight"])
        .python(TRANSPOSED)
        // Before 0.8, "OIHW" is the default, too, but its first letter is the axis of the input channels.
        .forms(&[form(Releases::between(8, 11), 2)
            .defaults(&[("kernel_layout", AttrDefault::Str("OIHW"))])])
        .attrs(&CONV2D_TRANSPOSE)
        .rule("Conv2DTranspose", transpose::conv2d_transpose)
        .cost(Cost::Macs(cost::transposed))
        .doc(Doc {
            summary: "Transposed convolution: \
                      each element of the data adds a kernel, scaled by the element, to the result.",
            args: &[
                "`(N, C, H, W)`, or in the order of `data_layout`",
                "`(C, O / groups, KH, KW)`, or in the order of `kernel_layout`",
            ],
            shape: "`(N, O, OH, OW)` with `OH = (H − 1) · strides + (KH − 1) · dilation + 1 − \
                    padding + output_padding`, and `OW` likewise",
            example: "nn.conv2d_transpose(%x, %w, channels=32, kernel_size=[4, 4], \
                      strides=[2, 2], padding=[1, 1])",
        }),
    op("nn.conv3d", &["data", "weight"]).since(7)
        .attrs(&CONV3D)
        .rule("Conv3D", plain::conv3d)
        .cost(Cost::Macs(cost::conv))
        .doc(Doc {
            summary: "3D convolution: each output channel is the sum, over the input \
                      channels of its group, of products with its kernel.",
            args: &[
                "`(N, C, D, H, W)`, or in the order of `data_layout`",
                "`(O, C / groups, KD, KH, KW)`, or in the order of `kernel_layout`",
            ],
            shape: "`(N, O, OD, OH, OW)` with `OD = (D + padding − (KD − 1) · dilation − 1) / \
                    strides + 1`, rounded down, and `OH`, `OW` likewise",
            example: "nn.conv3d(%x, %w, padding=[1, 1, 1], channels=8, kernel_size=[3, 3, 3])",
        }),
    op("nn.conv3d_transpose", &["data", "weight"])
        .python(TRANSPOSED)
        .since(7)
        .attrs(&CONV3D_TRANSPOSE)
        .rule("Conv3DTranspose", transpose::conv3d_transpose)
        .cost(Cost::Macs(cost::transposed))
        .doc(Doc {
            summary: "Transposed convolution: \
                      each element of the data adds a kernel, scaled by the element, to the result.",
            args: &[
                "`(N, C, D, H, W)`, or in the order of `data_layout`",
                "`(C, O / groups, KD, KH, KW)`, or in the order of `kernel_layout`",
            ],
            shape: "`(N, O, OD, OH, OW)` with `OD = (D − 1) · strides + (KD − 1) · dilation + 1 − \
                    padding + output_padding`, and `OH`, `OW` likewise",
            example: "nn.conv3d_transpose(%x, %w, channels=8, kernel_size=[2, 2, 2], \
                      strides=[2, 2, 2])",
        }),
    op("nn.correlation", &["data1", "data2"]).data(&["data2"]).since(7)
        .attrs(&CORRELATION)
        .rule("Correlation", correlation::correlation)
        .cost(Cost::Macs(cost::correlation))
        .doc(Doc {
            summary: "Correlates patches of one tensor with displaced patches of another, as in optical \
                      flow: one channel per displacement.",
            args: &["`(N, C, H, W)`", "`(N, C, H, W)`"],
            shape: "`(N, D², OH, OW)` with `D = 2 · (max_displacement / stride2) + 1` and `OH = (H \
                    + padding − 2 · border) / stride1`, rounded up, where `border` is \
                    `max_displacement + (kernel_size − 1) / 2`",
            example: "nn.correlation(%a, %b, kernel_size=1, max_displacement=4, padding=[4])",
        }),
    op("nn.deformable_conv2d", &["data", "offset", "weight"]).data(&["offset"]).since(6)
        .attrs(&DEFORMABLE_CONV2D)
        .rule("DeformableConv2D", plain::deformable_conv2d)
        .cost(Cost::Macs(cost::deformable))
        .doc(Doc {
            summary: "`nn.conv2d` with kernel elements that are displaced by individual \
                      offsets, with interpolation.",
            args: &[
                "`(N, C, H, W)`, or in the order of `data_layout`",
                "`(N, 2 · KH · KW · deformable_groups, OH, OW)`, in the layout of `data`",
                "`(O, C / groups, KH, KW)`, or in the order of `kernel_layout`",
            ],
            shape: "`(N, O, OH, OW)`, as `nn.conv2d` has it",
            example: "nn.deformable_conv2d(%x, %offset, %w, channels=16, kernel_size=[3, 3], \
                      padding=[1, 1])",
        }),
];
