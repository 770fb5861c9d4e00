//! Attributes that operators declare: neural network layers.

use super::{conv::ETHOSU_UPSCALE, *};

/// `relay.attrs.AdaptivePool1DAttrs`
pub static ADAPTIVE_POOL1D: AttrSchema = schema(
    "relay.attrs.AdaptivePool1DAttrs",
    &[
        field("output_size", AttrType::Dims, AttrDefault::Ints(&[])),
        field("layout", AttrType::Layout, AttrDefault::Str("NCW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
    ],
);

/// `relay.attrs.AdaptivePool2DAttrs`
pub static ADAPTIVE_POOL2D: AttrSchema = schema(
    "relay.attrs.AdaptivePool2DAttrs",
    &[
        field("output_size", AttrType::Dims, AttrDefault::Ints(&[])),
        field("layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
    ],
);

/// `relay.attrs.AdaptivePool3DAttrs`
pub static ADAPTIVE_POOL3D: AttrSchema = schema(
    "relay.attrs.AdaptivePool3DAttrs",
    &[
        field("output_size", AttrType::Dims, AttrDefault::Ints(&[])),
        field("layout", AttrType::Layout, AttrDefault::Str("NCDHW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
    ],
);

/// `relay.attrs.AvgPool1DAttrs`
pub static AVG_POOL1D: AttrSchema = schema(
    "relay.attrs.AvgPool1DAttrs",
    &[
        field("pool_size", AttrType::Dims, AttrDefault::Required),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0])),
        field("layout", AttrType::Layout, AttrDefault::Str("NCW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("ceil_mode", AttrType::Bool, AttrDefault::Bool(false)),
        field("count_include_pad", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.AvgPool2DAttrs`
pub static AVG_POOL2D: AttrSchema = schema(
    "relay.attrs.AvgPool2DAttrs",
    &[
        field("pool_size", AttrType::Dims, AttrDefault::Required),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0])),
        boxed("layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("ceil_mode", AttrType::Bool, AttrDefault::Bool(false)),
        field("count_include_pad", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.AvgPool3DAttrs`
pub static AVG_POOL3D: AttrSchema = schema(
    "relay.attrs.AvgPool3DAttrs",
    &[
        field("pool_size", AttrType::Dims, AttrDefault::Required),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1, 1])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1, 1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0, 0])),
        field("layout", AttrType::Layout, AttrDefault::Str("NCDHW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("ceil_mode", AttrType::Bool, AttrDefault::Bool(false)),
        field("count_include_pad", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.BatchMatmulAttrs`
pub static BATCH_MATMUL: AttrSchema = schema(
    "relay.attrs.BatchMatmulAttrs",
    &[
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
        field("transpose_a", AttrType::Bool, AttrDefault::Bool(false)),
        field("transpose_b", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.BatchNormAttrs`
pub static BATCH_NORM: AttrSchema = schema(
    "relay.attrs.BatchNormAttrs",
    &[
        field("axis", AttrType::Int, AttrDefault::Int(1)),
        field("epsilon", AttrType::Float, AttrDefault::Float(1e-5)),
        field("center", AttrType::Bool, AttrDefault::Bool(true)),
        field("scale", AttrType::Bool, AttrDefault::Bool(true)),
    ],
);

/// `relay.attrs.BatchToSpaceNDAttrs`
pub static BATCH_TO_SPACE_ND: AttrSchema = schema(
    "relay.attrs.BatchToSpaceNDAttrs",
    &[
        field("block_shape", AttrType::Ints, AttrDefault::Ints(&[1, 1])),
        field("crops", AttrType::DimLists, AttrDefault::Required),
    ],
);

/// `relay.attrs.BiasAddAttrs`
pub static BIAS_ADD: AttrSchema =
    schema("relay.attrs.BiasAddAttrs", &[field("axis", AttrType::Int, AttrDefault::Int(1))]);

/// `relay.attrs.DenseAttrs`
pub static DENSE: AttrSchema = schema(
    "relay.attrs.DenseAttrs",
    &[
        field("units", AttrType::Dim, AttrDefault::Required),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.DensePackAttrs`
pub static DENSE_PACK: AttrSchema = schema(
    "relay.attrs.DensePackAttrs",
    &[
        field("units", AttrType::Dim, AttrDefault::Required),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
        boxed("weight_layout", AttrType::Layout, AttrDefault::Str("NC")),
    ],
);

/// `relay.attrs.DilateAttrs`
pub static DILATE: AttrSchema = schema(
    "relay.attrs.DilateAttrs",
    &[
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("dilation_value", AttrType::Float, AttrDefault::Float(0.0)),
    ],
);

/// `relay.attrs.DropoutAttrs`
pub static DROPOUT: AttrSchema =
    schema("relay.attrs.DropoutAttrs", &[field("rate", AttrType::Float, AttrDefault::Float(0.5))]);

/// `relay.attrs.EthosuPoolingAttrs`
pub static ETHOSU_POOLING: AttrSchema = schema(
    "relay.attrs.EthosuPoolingAttrs",
    &[
        boxed("pooling_type", AttrType::Choice(&["AVG", "MAX", "SUM"]), AttrDefault::Required),
        field("ifm_scale", AttrType::Float, AttrDefault::Required),
        field("ifm_zero_point", AttrType::Int, AttrDefault::Required),
        field("ofm_scale", AttrType::Float, AttrDefault::Required),
        field("ofm_zero_point", AttrType::Int, AttrDefault::Required),
        field("pool_shape", AttrType::Dims, AttrDefault::None),
        field("ofm_channels", AttrType::Dim, AttrDefault::None),
        boxed("ofm_dtype", AttrType::Str, AttrDefault::Required),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0, 0, 0])),
        boxed("activation", AttrType::Str, AttrDefault::Str("NONE")),
        field("clip_min", AttrType::Int, AttrDefault::Int(0)),
        field("clip_max", AttrType::Int, AttrDefault::Int(0)),
        boxed("rounding_mode", AttrType::Str, AttrDefault::Str("TFL")),
        boxed("upscale", AttrType::Choice(ETHOSU_UPSCALE), AttrDefault::Str("NONE")),
        boxed("ifm_layout", AttrType::Layout, AttrDefault::Str("NHWC")),
        boxed("ofm_layout", AttrType::Layout, AttrDefault::Str("NHWC")),
    ],
);

/// `relay.attrs.FIFOBufferAttrs`
pub static FIFO_BUFFER: AttrSchema =
    schema("relay.attrs.FIFOBufferAttrs", &[field("axis", AttrType::Int, AttrDefault::Int(0))]);

/// `relay.attrs.GlobalPool2DAttrs`
pub static GLOBAL_POOL2D: AttrSchema = schema(
    "relay.attrs.GlobalPool2DAttrs",
    &[
        boxed("layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
    ],
);

/// `relay.attrs.GroupNormAttrs`
pub static GROUP_NORM: AttrSchema = schema(
    "relay.attrs.GroupNormAttrs",
    &[
        field("num_groups", AttrType::Int, AttrDefault::Int(0)),
        field("axis", AttrType::Int, AttrDefault::Int(1)),
        field("epsilon", AttrType::Float, AttrDefault::Float(1e-5)),
        field("center", AttrType::Bool, AttrDefault::Bool(true)),
        field("scale", AttrType::Bool, AttrDefault::Bool(true)),
    ],
);

/// `relay.attrs.InstanceNormAttrs`
pub static INSTANCE_NORM: AttrSchema = schema(
    "relay.attrs.InstanceNormAttrs",
    &[
        field("axis", AttrType::Int, AttrDefault::Int(1)),
        field("epsilon", AttrType::Float, AttrDefault::Float(1e-5)),
        field("center", AttrType::Bool, AttrDefault::Bool(true)),
        field("scale", AttrType::Bool, AttrDefault::Bool(true)),
    ],
);

/// `relay.attrs.L2NormalizeAttrs`
pub static L2_NORMALIZE: AttrSchema = schema(
    "relay.attrs.L2NormalizeAttrs",
    &[
        field("eps", AttrType::Float, AttrDefault::Required),
        field("axis", AttrType::Ints, AttrDefault::Required),
    ],
);

/// `relay.attrs.LRNAttrs`
pub static LRN: AttrSchema = schema(
    "relay.attrs.LRNAttrs",
    &[
        field("size", AttrType::Int, AttrDefault::Int(5)),
        field("axis", AttrType::Int, AttrDefault::Int(1)),
        field("bias", AttrType::Float, AttrDefault::Float(2.0)),
        field("alpha", AttrType::Float, AttrDefault::Float(0.0001)),
        field("beta", AttrType::Float, AttrDefault::Float(0.75)),
    ],
);

/// `relay.attrs.LayerNormAttrs`
pub static LAYER_NORM: AttrSchema = schema(
    "relay.attrs.LayerNormAttrs",
    &[
        field("axis", AttrType::Int, AttrDefault::Int(-1)),
        field("epsilon", AttrType::Float, AttrDefault::Float(1e-5)),
        field("center", AttrType::Bool, AttrDefault::Bool(true)),
        field("scale", AttrType::Bool, AttrDefault::Bool(true)),
    ],
);

/// `relay.attrs.LeakyReluAttrs`
pub static LEAKY_RELU: AttrSchema = schema(
    "relay.attrs.LeakyReluAttrs",
    &[at_least(0, field("alpha", AttrType::Float, AttrDefault::Float(0.25)))],
);

/// `relay.attrs.MatmulAttrs`
pub static MATMUL: AttrSchema = schema(
    "relay.attrs.MatmulAttrs",
    &[
        field("units", AttrType::Dim, AttrDefault::Required),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
        field("transpose_a", AttrType::Bool, AttrDefault::Bool(false)),
        field("transpose_b", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.MaxPool1DAttrs`
pub static MAX_POOL1D: AttrSchema = schema(
    "relay.attrs.MaxPool1DAttrs",
    &[
        field("pool_size", AttrType::Dims, AttrDefault::Required),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0])),
        field("layout", AttrType::Layout, AttrDefault::Str("NCW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("ceil_mode", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.MaxPool2DAttrs`
pub static MAX_POOL2D: AttrSchema = schema(
    "relay.attrs.MaxPool2DAttrs",
    &[
        field("pool_size", AttrType::Dims, AttrDefault::Required),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0])),
        boxed("layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("ceil_mode", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.MaxPool3DAttrs`
pub static MAX_POOL3D: AttrSchema = schema(
    "relay.attrs.MaxPool3DAttrs",
    &[
        field("pool_size", AttrType::Dims, AttrDefault::Required),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1, 1])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1, 1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0, 0])),
        field("layout", AttrType::Layout, AttrDefault::Str("NCDHW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("ceil_mode", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.MirrorPadAttrs`
pub static MIRROR_PAD: AttrSchema = schema(
    "relay.attrs.MirrorPadAttrs",
    &[
        field("mode", AttrType::Str, AttrDefault::Str("SYMMETRIC")),
        field("pad_width", AttrType::DimLists, AttrDefault::Required),
    ],
);

/// `relay.attrs.NLLLossAttrs`
pub static NLL_LOSS: AttrSchema = schema(
    "relay.attrs.NLLLossAttrs",
    &[
        field("reduction", AttrType::Str, AttrDefault::Str("mean")),
        field("ignore_index", AttrType::Int, AttrDefault::Required),
    ],
);

/// `relay.attrs.NormalAttrs`
pub static NORMAL: AttrSchema = schema(
    "relay.attrs.NormalAttrs",
    &[
        field("out_shape", AttrType::Ints, AttrDefault::Required),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.PReluAttrs`
pub static P_RELU: AttrSchema =
    schema("relay.attrs.PReluAttrs", &[field("axis", AttrType::Int, AttrDefault::Int(1))]);

/// `relay.attrs.PadAttrs`
pub static PAD: AttrSchema = schema(
    "relay.attrs.PadAttrs",
    &[
        field("pad_width", AttrType::IntLists, AttrDefault::Required),
        boxed("pad_mode", AttrType::Str, AttrDefault::Str("constant")),
    ],
);

/// `relay.attrs.ROIPoolAttrs`
pub static ROI_POOL: AttrSchema = schema(
    "relay.attrs.ROIPoolAttrs",
    &[
        field("pooled_size", AttrType::Dims, AttrDefault::Required),
        field("spatial_scale", AttrType::Float, AttrDefault::Required),
        field("layout", AttrType::Choice(&["NCHW", "NHWC"]), AttrDefault::Str("NCHW")),
    ],
);

/// `relay.attrs.SoftmaxAttrs`
pub static SOFTMAX: AttrSchema =
    schema("relay.attrs.SoftmaxAttrs", &[field("axis", AttrType::Int, AttrDefault::Int(-1))]);

/// `relay.attrs.SpaceToBatchNDAttrs`
pub static SPACE_TO_BATCH_ND: AttrSchema = schema(
    "relay.attrs.SpaceToBatchNDAttrs",
    &[
        field("block_shape", AttrType::Ints, AttrDefault::Ints(&[1, 1])),
        field("paddings", AttrType::DimLists, AttrDefault::Required),
        field("pad_value", AttrType::Float, AttrDefault::Float(0.0)),
    ],
);

/// `relay.attrs.SparseDenseAttrs`
pub static SPARSE_DENSE: AttrSchema = schema(
    "relay.attrs.SparseDenseAttrs",
    &[field("sparse_lhs", AttrType::Bool, AttrDefault::Bool(false))],
);

/// `relay.attrs.SparseToDenseAttrs`
pub static SPARSE_TO_DENSE: AttrSchema = schema(
    "relay.attrs.SparseToDenseAttrs",
    &[field("output_shape", AttrType::Ints, AttrDefault::Required)],
);

/// `relay.attrs.SparseTransposeAttrs`
pub static SPARSE_TRANSPOSE: AttrSchema = schema("relay.attrs.SparseTransposeAttrs", &[]);

/// `relay.attrs.SubPixelAttrs`
pub static SUB_PIXEL: AttrSchema = schema(
    "relay.attrs.SubPixelAttrs",
    &[
        field("block_size", AttrType::Int, AttrDefault::Int(1)),
        field("layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        field("mode", AttrType::Str, AttrDefault::Str("DCR")),
    ],
);

/// `relay.attrs.UpSampling3DAttrs`
pub static UP_SAMPLING3D: AttrSchema = schema(
    "relay.attrs.UpSampling3DAttrs",
    &[
        field("scale_d", AttrType::Float, AttrDefault::Required),
        field("scale_h", AttrType::Float, AttrDefault::Required),
        field("scale_w", AttrType::Float, AttrDefault::Required),
        field("layout", AttrType::Layout, AttrDefault::Str("NCDHW")),
        field("method", AttrType::Str, AttrDefault::Str("nearest_neighbor")),
        field("coordinate_transformation_mode", AttrType::Str, AttrDefault::Str("half_pixel")),
    ],
);

/// `relay.attrs.UpSamplingAttrs`
pub static UP_SAMPLING: AttrSchema = schema(
    "relay.attrs.UpSamplingAttrs",
    &[
        field("scale_h", AttrType::Float, AttrDefault::Required),
        field("scale_w", AttrType::Float, AttrDefault::Required),
        boxed("layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        boxed("method", AttrType::Str, AttrDefault::Str("nearest_neighbor")),
        field("align_corners", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

pub(super) static ALL: &[&AttrSchema] = &[
    &ADAPTIVE_POOL1D,
    &ADAPTIVE_POOL2D,
    &ADAPTIVE_POOL3D,
    &AVG_POOL1D,
    &AVG_POOL2D,
    &AVG_POOL3D,
    &BATCH_MATMUL,
    &BATCH_NORM,
    &BATCH_TO_SPACE_ND,
    &BIAS_ADD,
    &DENSE,
    &DENSE_PACK,
    &DILATE,
    &DROPOUT,
    &ETHOSU_POOLING,
    &FIFO_BUFFER,
    &GLOBAL_POOL2D,
    &GROUP_NORM,
    &INSTANCE_NORM,
    &L2_NORMALIZE,
    &LRN,
    &LAYER_NORM,
    &LEAKY_RELU,
    &MATMUL,
    &MAX_POOL1D,
    &MAX_POOL2D,
    &MAX_POOL3D,
    &MIRROR_PAD,
    &NLL_LOSS,
    &NORMAL,
    &P_RELU,
    &PAD,
    &ROI_POOL,
    &SOFTMAX,
    &SPACE_TO_BATCH_ND,
    &SPARSE_DENSE,
    &SPARSE_TO_DENSE,
    &SPARSE_TRANSPOSE,
    &SUB_PIXEL,
    &UP_SAMPLING3D,
    &UP_SAMPLING,
];
