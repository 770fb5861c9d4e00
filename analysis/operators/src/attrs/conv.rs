//! Attributes that operators declare: convolutions.

use super::*;

/// The upscaling modes of the Ethos-U.
pub(super) const ETHOSU_UPSCALE: &[&str] = &["NONE", "ZEROS", "NEAREST"];

attrs! {
    BINARY_CONV2D = "relay.attrs.BinaryConv2DAttrs" {
        strides: Dims = [1, 1],
        padding: Dims = [0, 0],
        kernel_size: Dims = [3, 3],
        channels: Dim = None,
        activation_bits: Int = 1,
        weight_bits: Int = 1,
        data_layout: Layout = "NCHW",
        kernel_layout: Layout = "OIHW",
        pack_dtype: DType = VOID,
        out_dtype: DType = VOID,
        unipolar: Bool = true,
    }

    BINARY_DENSE = "relay.attrs.BinaryDenseAttrs" {
        units: Dim,
        data_bits: Int = 1,
        weight_bits: Int = 1,
        pack_dtype: DType = VOID,
        out_dtype: DType = VOID,
        unipolar: Bool = true,
    }

    BIT_PACK = "relay.attrs.BitPackAttrs" {
        bits: Int = 1,
        pack_axis: Int = 1,
        bit_axis: Int = -1,
        pack_type: DType = VOID,
        name: Str = "BitPack",
    }

    CONV1D = "relay.attrs.Conv1DAttrs" {
        strides: Dims = [1],
        padding: Dims = [0, 0],
        dilation: Dims = [1],
        groups: Int = 1,
        channels: Dim = None,
        kernel_size: Dims = None,
        data_layout: boxed Layout = "NCW",
        kernel_layout: boxed Layout = "OIW",
        out_layout: boxed Layout = "" since 9,
        out_dtype: DType = VOID,
    }

    CONV1D_TRANSPOSE = "relay.attrs.Conv1DTransposeAttrs" {
        channels: Dim = None,
        kernel_size: Dims = None,
        strides: Dims = [1],
        output_padding: Dims = [0],
        padding: Dims = [0],
        dilation: Dims = [1],
        groups: Int = 1,
        data_layout: Layout = "NCW",
        kernel_layout: Layout = "IOW",
        out_layout: Layout = "",
        out_dtype: DType = VOID,
    }

    CONV2D = "relay.attrs.Conv2DAttrs" {
        strides: Dims = [1, 1],
        padding: Dims = [0, 0],
        dilation: Dims = [1, 1],
        groups: Int = 1,
        channels: Dim = None,
        kernel_size: Dims = None,
        data_layout: boxed Layout = "NCHW",
        kernel_layout: boxed Layout = "OIHW",
        out_layout: boxed Layout = "",
        out_dtype: DType = VOID,
    }

    CONV2D_TRANSPOSE = "relay.attrs.Conv2DTransposeAttrs" {
        channels: Dim = None,
        kernel_size: Dims = None,
        strides: Dims = [1, 1],
        output_padding: Dims = [0, 0],
        padding: Dims = [0, 0],
        dilation: Dims = [1, 1],
        groups: Int = 1,
        data_layout: Layout = "NCHW",
        kernel_layout: Layout = "IOHW",
        out_layout: Layout = "",
        out_dtype: DType = VOID,
    }

    CONV2D_WINOGRAD = "relay.attrs.Conv2DWinogradAttrs" {
        tile_size: Int,
        strides: Dims = [1, 1],
        padding: Dims = [0, 0],
        dilation: Dims = [1, 1],
        groups: Int = 1,
        channels: Dim = None,
        kernel_size: Dims = None,
        data_layout: boxed Layout = "NCHW",
        kernel_layout: boxed Layout = "OIHW",
        out_layout: boxed Layout = "",
        out_dtype: DType = VOID,
    }

    CONV2D_WINOGRAD_NNPACK_WEIGHT_TRANSFORM = "relay.attrs.Conv2DWinogradNNPACKWeightTransformAttrs" {
        convolution_algorithm: Int,
        out_dtype: DType = VOID,
    }

    CONV3D = "relay.attrs.Conv3DAttrs" {
        strides: Dims = [1, 1, 1],
        padding: Dims = [0, 0, 0],
        dilation: Dims = [1, 1, 1],
        groups: Int = 1,
        channels: Dim = None,
        kernel_size: Dims = None,
        data_layout: boxed Layout = "NCDHW",
        kernel_layout: boxed Layout = "OIDHW",
        out_layout: boxed Layout = "",
        out_dtype: DType = VOID,
    }

    CONV3D_TRANSPOSE = "relay.attrs.Conv3DTransposeAttrs" {
        channels: Dim = None,
        kernel_size: Dims = None,
        strides: Dims = [1, 1, 1],
        output_padding: Dims = [0, 0, 0],
        padding: Dims = [0, 0, 0],
        dilation: Dims = [1, 1, 1],
        groups: Int = 1,
        data_layout: boxed Layout = "NCDHW",
        kernel_layout: boxed Layout = "IODHW",
        out_layout: boxed Layout = "",
        out_dtype: DType = VOID,
    }

    CONV3D_WINOGRAD = "relay.attrs.Conv3DWinogradAttrs" {
        tile_size: Int,
        strides: Dims = [1, 1, 1],
        padding: Dims = [0, 0, 0],
        dilation: Dims = [1, 1, 1],
        groups: Int = 1,
        channels: Dim = None,
        kernel_size: Dims = None,
        data_layout: Layout = "NCDHW",
        kernel_layout: Layout = "OIDHW",
        out_layout: Layout = "",
        out_dtype: DType = VOID,
    }

    CONV_GEMM_WEIGHT_TRANSFORM = "relay.attrs.ConvGemmWeightTransformAttrs" {
        tile_rows: Int until 14,
        tile_cols: Int until 14,
    }

    CONV_WINOGRAD_WEIGHT_TRANSFORM = "relay.attrs.ConvWinogradWeightTransformAttrs" {
        tile_size: Int,
    }

    CORRELATION = "relay.attrs.CorrelationAttrs" {
        kernel_size: Int = 1,
        max_displacement: Int = 1,
        stride1: Int = 1,
        stride2: Int = 1,
        padding: Dims = [0, 0],
        is_multiply: Bool = true,
        layout: boxed Layout = "NCHW",
    }

    DEFORMABLE_CONV2D = "relay.attrs.DeformableConv2DAttrs" {
        strides: Dims = [1, 1],
        padding: Dims = [0, 0],
        dilation: Dims = [1, 1],
        deformable_groups: Int = 1,
        groups: Int = 1,
        channels: Dim = None,
        kernel_size: Dims = None,
        data_layout: Layout = "NCHW",
        kernel_layout: Layout = "OIHW",
        out_layout: Layout = "",
        out_dtype: DType = VOID,
    }

    DILATION2D = "relay.attrs.Dilation2DAttrs" {
        strides: Dims = [1, 1],
        padding: Dims = [0, 0],
        dilations: Dims = [1, 1],
        data_layout: Layout = "NCHW",
        kernel_layout: Layout = "IHW",
        out_dtype: DType = VOID,
    }

    ETHOSU_CONV2D = "relay.attrs.EthosuConv2DAttrs" {
        ifm_scale: Float,
        ifm_zero_point: Int,
        weight_zero_point: Int,
        ofm_scale: Float,
        ofm_zero_point: Int,
        kernel_shape: Dims = None,
        ofm_channels: Dim = None,
        strides: Dims = [1, 1],
        padding: Dims = [0, 0, 0, 0],
        dilation: Dims = [1, 1],
        activation: boxed Str = "NONE",
        clip_min: Int = 0,
        clip_max: Int = 0,
        rounding_mode: boxed Str = "TFL" since 9,
        upscale: boxed Choice ETHOSU_UPSCALE = "NONE",
        ifm_layout: boxed Layout = "NHWC",
        ofm_layout: boxed Layout = "NHWC",
    }

    ETHOSU_DEPTHWISE_CONV2D = "relay.attrs.EthosuDepthwiseConv2DAttrs" {
        ifm_scale: Float,
        ifm_zero_point: Int,
        weight_zero_point: Int,
        ofm_scale: Float,
        ofm_zero_point: Int,
        kernel_shape: Dims = None,
        ofm_channels: Dim = None,
        strides: Dims = [1, 1],
        padding: Dims = [0, 0, 0, 0],
        dilation: Dims = [1, 1],
        activation: boxed Str = "NONE",
        clip_min: Int = 0,
        clip_max: Int = 0,
        rounding_mode: boxed Str = "TFL" since 9,
        upscale: boxed Str = "NONE",
        ifm_layout: boxed Layout = "NHWC",
        ofm_layout: boxed Layout = "NHWC",
        ofm_dtype: boxed Str = "int8" since 9,
    }

    SPARSE_CONV2D = "relay.attrs.SparseConv2DAttrs" {
        layout: Layout = "NHWC",
        kernel_size: Dims = [1, 1],
    }
}
