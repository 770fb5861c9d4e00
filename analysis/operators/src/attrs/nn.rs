//! Attributes that operators declare: neural network layers.

use super::{conv::ETHOSU_UPSCALE, *};

attrs! {
    ADAPTIVE_POOL1D = "relay.attrs.AdaptivePool1DAttrs" {
        output_size: Dims = [],
        layout: Layout = "NCW",
        out_layout: boxed Layout = "",
    }

    ADAPTIVE_POOL2D = "relay.attrs.AdaptivePool2DAttrs" {
        output_size: Dims = [],
        layout: Layout = "NCHW",
        out_layout: boxed Layout = "" since 8,
    }

    ADAPTIVE_POOL3D = "relay.attrs.AdaptivePool3DAttrs" {
        output_size: Dims = [],
        layout: Layout = "NCDHW",
        out_layout: boxed Layout = "" since 8,
    }

    AVG_POOL1D = "relay.attrs.AvgPool1DAttrs" {
        pool_size: Dims,
        strides: Dims = [1],
        dilation: Dims = [1] since 8,
        padding: Dims = [0],
        layout: Layout = "NCW",
        out_layout: boxed Layout = "" since 8,
        ceil_mode: Bool = false,
        count_include_pad: Bool = false,
    }

    AVG_POOL2D = "relay.attrs.AvgPool2DAttrs" {
        pool_size: Dims,
        strides: Dims = [1, 1],
        dilation: Dims = [1, 1] since 8,
        padding: Dims = [0, 0],
        layout: boxed Layout = "NCHW",
        out_layout: boxed Layout = "" since 8,
        ceil_mode: Bool = false,
        count_include_pad: Bool = false,
    }

    AVG_POOL3D = "relay.attrs.AvgPool3DAttrs" {
        pool_size: Dims,
        strides: Dims = [1, 1, 1],
        dilation: Dims = [1, 1, 1] since 8,
        padding: Dims = [0, 0, 0],
        layout: Layout = "NCDHW",
        out_layout: boxed Layout = "" since 8,
        ceil_mode: Bool = false,
        count_include_pad: Bool = false,
    }

    BATCH_MATMUL = "relay.attrs.BatchMatmulAttrs" {
        out_dtype: DType = VOID since 8,
        transpose_a: Bool = false since 8,
        transpose_b: Bool = false since 8,
    }

    BATCH_NORM = "relay.attrs.BatchNormAttrs" {
        axis: Int = 1,
        epsilon: Float = 1e-5,
        center: Bool = true,
        scale: Bool = true,
    }

    BATCH_TO_SPACE_ND = "relay.attrs.BatchToSpaceNDAttrs" {
        block_shape: Ints = [1, 1],
        crops: DimLists,
    }

    BIAS_ADD = "relay.attrs.BiasAddAttrs" { axis: Int = 1 }

    DENSE = "relay.attrs.DenseAttrs" {
        units: Dim,
        out_dtype: DType = VOID since 6,
    }

    DENSE_PACK = "relay.attrs.DensePackAttrs" {
        units: Dim,
        out_dtype: DType = VOID,
        weight_layout: boxed Layout = "NC",
    }

    DILATE = "relay.attrs.DilateAttrs" {
        strides: Dims = [1, 1],
        dilation_value: Float = 0.0,
    }

    DROPOUT = "relay.attrs.DropoutAttrs" { rate: Float = 0.5 }

    ETHOSU_POOLING = "relay.attrs.EthosuPoolingAttrs" {
        pooling_type: boxed Choice ["AVG", "MAX", "SUM"],
        ifm_scale: Float,
        ifm_zero_point: Int,
        ofm_scale: Float,
        ofm_zero_point: Int,
        pool_shape: Dims = None,
        ofm_channels: Dim = None,
        ofm_dtype: boxed Str since 13,
        strides: Dims = [1, 1],
        padding: Dims = [0, 0, 0, 0],
        activation: boxed Str = "NONE",
        clip_min: Int = 0,
        clip_max: Int = 0,
        rounding_mode: boxed Str = "TFL" since 9,
        upscale: boxed Choice ETHOSU_UPSCALE = "NONE",
        ifm_layout: boxed Layout = "NHWC",
        ofm_layout: boxed Layout = "NHWC",
    }

    FIFO_BUFFER = "relay.attrs.FIFOBufferAttrs" { axis: Int = 0 }

    GLOBAL_POOL2D = "relay.attrs.GlobalPool2DAttrs" {
        layout: boxed Layout = "NCHW",
        out_layout: boxed Layout = "" since 8,
    }

    GROUP_NORM = "relay.attrs.GroupNormAttrs" {
        num_groups: Int = 0,
        axis: Int = 1,
        epsilon: Float = 1e-5,
        center: Bool = true,
        scale: Bool = true,
    }

    INSTANCE_NORM = "relay.attrs.InstanceNormAttrs" {
        axis: Int = 1,
        epsilon: Float = 1e-5,
        center: Bool = true,
        scale: Bool = true,
    }

    L2_NORMALIZE = "relay.attrs.L2NormalizeAttrs" {
        eps: Float,
        axis: Ints,
    }

    LRN = "relay.attrs.LRNAttrs" {
        size: Int = 5,
        axis: Int = 1,
        bias: Float = 2.0,
        alpha: Float = 0.0001,
        beta: Float = 0.75,
    }

    LAYER_NORM = "relay.attrs.LayerNormAttrs" {
        axis: Int = -1,
        epsilon: Float = 1e-5,
        center: Bool = true,
        scale: Bool = true,
    }

    LEAKY_RELU = "relay.attrs.LeakyReluAttrs" { alpha: Float >= 0 = 0.25 }

    MATMUL = "relay.attrs.MatmulAttrs" {
        units: Dim,
        out_dtype: DType = VOID,
        transpose_a: Bool = false,
        transpose_b: Bool = false,
    }

    MAX_POOL1D = "relay.attrs.MaxPool1DAttrs" {
        pool_size: Dims,
        strides: Dims = [1],
        dilation: Dims = [1] since 8,
        padding: Dims = [0],
        layout: Layout = "NCW",
        out_layout: boxed Layout = "" since 8,
        ceil_mode: Bool = false,
    }

    MAX_POOL2D = "relay.attrs.MaxPool2DAttrs" {
        pool_size: Dims,
        strides: Dims = [1, 1],
        dilation: Dims = [1, 1] since 8,
        padding: Dims = [0, 0],
        layout: boxed Layout = "NCHW",
        out_layout: boxed Layout = "" since 8,
        ceil_mode: Bool = false,
    }

    MAX_POOL3D = "relay.attrs.MaxPool3DAttrs" {
        pool_size: Dims,
        strides: Dims = [1, 1, 1],
        dilation: Dims = [1, 1, 1] since 8,
        padding: Dims = [0, 0, 0],
        layout: Layout = "NCDHW",
        out_layout: boxed Layout = "" since 8,
        ceil_mode: Bool = false,
    }

    MIRROR_PAD = "relay.attrs.MirrorPadAttrs" {
        mode: Str = "SYMMETRIC",
        pad_width: DimLists,
    }

    NLL_LOSS = "relay.attrs.NLLLossAttrs" {
        reduction: Str = "mean",
        ignore_index: Int,
    }

    NORMAL = "relay.attrs.NormalAttrs" {
        out_shape: Ints,
        out_dtype: DType = VOID,
    }

    P_RELU = "relay.attrs.PReluAttrs" { axis: Int = 1 }

    PAD = "relay.attrs.PadAttrs" {
        pad_width: IntLists,
        pad_mode: boxed Str = "constant" since 6,
    }

    ROI_POOL = "relay.attrs.ROIPoolAttrs" {
        pooled_size: Dims,
        spatial_scale: Float,
        layout: Choice ["NCHW", "NHWC"] = "NCHW",
    }

    SOFTMAX = "relay.attrs.SoftmaxAttrs" { axis: Int = -1 }

    SPACE_TO_BATCH_ND = "relay.attrs.SpaceToBatchNDAttrs" {
        block_shape: Ints = [1, 1],
        paddings: DimLists,
        pad_value: Float = 0.0,
    }

    SPARSE_DENSE = "relay.attrs.SparseDenseAttrs" { sparse_lhs: Bool = false since 8 }

    SPARSE_TO_DENSE = "relay.attrs.SparseToDenseAttrs" { output_shape: Ints }

    SPARSE_TRANSPOSE = "relay.attrs.SparseTransposeAttrs" {}

    SUB_PIXEL = "relay.attrs.SubPixelAttrs" {
        block_size: Int = 1,
        layout: Layout = "NCHW",
        mode: Str = "DCR",
    }

    UP_SAMPLING3D = "relay.attrs.UpSampling3DAttrs" {
        scale_d: Float,
        scale_h: Float,
        scale_w: Float,
        layout: Layout = "NCDHW",
        method: Str = "nearest_neighbor",
        coordinate_transformation_mode: Str = "half_pixel",
    }

    UP_SAMPLING = "relay.attrs.UpSamplingAttrs" {
        scale_h: Float since 6,
        scale_w: Float since 6,
        layout: boxed Layout = "NCHW",
        method: boxed Str = "nearest_neighbor",
        align_corners: Bool = false since 6,
    }
}
