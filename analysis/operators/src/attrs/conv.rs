//! Attributes that operators declare: convolutions.

use super::*;

/// The upscaling modes of the Ethos-U.
pub(super) const ETHOSU_UPSCALE: &[&str] = &["NONE", "ZEROS", "NEAREST"];

/// `relay.attrs.BinaryConv2DAttrs`
pub static BINARY_CONV2D: AttrSchema = schema(
    "relay.attrs.BinaryConv2DAttrs",
    &[
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0])),
        field("kernel_size", AttrType::Dims, AttrDefault::Ints(&[3, 3])),
        field("channels", AttrType::Dim, AttrDefault::None),
        field("activation_bits", AttrType::Int, AttrDefault::Int(1)),
        field("weight_bits", AttrType::Int, AttrDefault::Int(1)),
        field("data_layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        field("kernel_layout", AttrType::Layout, AttrDefault::Str("OIHW")),
        field("pack_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
        field("unipolar", AttrType::Bool, AttrDefault::Bool(true)),
    ],
);

/// `relay.attrs.BinaryDenseAttrs`
pub static BINARY_DENSE: AttrSchema = schema(
    "relay.attrs.BinaryDenseAttrs",
    &[
        field("units", AttrType::Dim, AttrDefault::Required),
        field("data_bits", AttrType::Int, AttrDefault::Int(1)),
        field("weight_bits", AttrType::Int, AttrDefault::Int(1)),
        field("pack_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
        field("unipolar", AttrType::Bool, AttrDefault::Bool(true)),
    ],
);

/// `relay.attrs.BitPackAttrs`
pub static BIT_PACK: AttrSchema = schema(
    "relay.attrs.BitPackAttrs",
    &[
        field("bits", AttrType::Int, AttrDefault::Int(1)),
        field("pack_axis", AttrType::Int, AttrDefault::Int(1)),
        field("bit_axis", AttrType::Int, AttrDefault::Int(-1)),
        field("pack_type", AttrType::DType, AttrDefault::DType(DataType::VOID)),
        field("name", AttrType::Str, AttrDefault::Str("BitPack")),
    ],
);

/// `relay.attrs.Conv1DAttrs`
pub static CONV1D: AttrSchema = schema(
    "relay.attrs.Conv1DAttrs",
    &[
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1])),
        field("groups", AttrType::Int, AttrDefault::Int(1)),
        field("channels", AttrType::Dim, AttrDefault::None),
        field("kernel_size", AttrType::Dims, AttrDefault::None),
        boxed("data_layout", AttrType::Layout, AttrDefault::Str("NCW")),
        boxed("kernel_layout", AttrType::Layout, AttrDefault::Str("OIW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.Conv1DTransposeAttrs`
pub static CONV1D_TRANSPOSE: AttrSchema = schema(
    "relay.attrs.Conv1DTransposeAttrs",
    &[
        field("channels", AttrType::Dim, AttrDefault::None),
        field("kernel_size", AttrType::Dims, AttrDefault::None),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1])),
        field("output_padding", AttrType::Dims, AttrDefault::Ints(&[0])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1])),
        field("groups", AttrType::Int, AttrDefault::Int(1)),
        field("data_layout", AttrType::Layout, AttrDefault::Str("NCW")),
        field("kernel_layout", AttrType::Layout, AttrDefault::Str("IOW")),
        field("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.Conv2DAttrs`
pub static CONV2D: AttrSchema = schema(
    "relay.attrs.Conv2DAttrs",
    &[
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("groups", AttrType::Int, AttrDefault::Int(1)),
        field("channels", AttrType::Dim, AttrDefault::None),
        field("kernel_size", AttrType::Dims, AttrDefault::None),
        boxed("data_layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        boxed("kernel_layout", AttrType::Layout, AttrDefault::Str("OIHW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.Conv2DTransposeAttrs`
pub static CONV2D_TRANSPOSE: AttrSchema = schema(
    "relay.attrs.Conv2DTransposeAttrs",
    &[
        field("channels", AttrType::Dim, AttrDefault::None),
        field("kernel_size", AttrType::Dims, AttrDefault::None),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("output_padding", AttrType::Dims, AttrDefault::Ints(&[0, 0])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("groups", AttrType::Int, AttrDefault::Int(1)),
        field("data_layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        field("kernel_layout", AttrType::Layout, AttrDefault::Str("IOHW")),
        field("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.Conv2DWinogradAttrs`
pub static CONV2D_WINOGRAD: AttrSchema = schema(
    "relay.attrs.Conv2DWinogradAttrs",
    &[
        field("tile_size", AttrType::Int, AttrDefault::Required),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("groups", AttrType::Int, AttrDefault::Int(1)),
        field("channels", AttrType::Dim, AttrDefault::None),
        field("kernel_size", AttrType::Dims, AttrDefault::None),
        boxed("data_layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        boxed("kernel_layout", AttrType::Layout, AttrDefault::Str("OIHW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.Conv2DWinogradNNPACKWeightTransformAttrs`
pub static CONV2D_WINOGRAD_NNPACK_WEIGHT_TRANSFORM: AttrSchema = schema(
    "relay.attrs.Conv2DWinogradNNPACKWeightTransformAttrs",
    &[
        field("convolution_algorithm", AttrType::Int, AttrDefault::Required),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.Conv3DAttrs`
pub static CONV3D: AttrSchema = schema(
    "relay.attrs.Conv3DAttrs",
    &[
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0, 0])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1, 1, 1])),
        field("groups", AttrType::Int, AttrDefault::Int(1)),
        field("channels", AttrType::Dim, AttrDefault::None),
        field("kernel_size", AttrType::Dims, AttrDefault::None),
        boxed("data_layout", AttrType::Layout, AttrDefault::Str("NCDHW")),
        boxed("kernel_layout", AttrType::Layout, AttrDefault::Str("OIDHW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.Conv3DTransposeAttrs`
pub static CONV3D_TRANSPOSE: AttrSchema = schema(
    "relay.attrs.Conv3DTransposeAttrs",
    &[
        field("channels", AttrType::Dim, AttrDefault::None),
        field("kernel_size", AttrType::Dims, AttrDefault::None),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1, 1])),
        field("output_padding", AttrType::Dims, AttrDefault::Ints(&[0, 0, 0])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0, 0])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1, 1, 1])),
        field("groups", AttrType::Int, AttrDefault::Int(1)),
        boxed("data_layout", AttrType::Layout, AttrDefault::Str("NCDHW")),
        boxed("kernel_layout", AttrType::Layout, AttrDefault::Str("IODHW")),
        boxed("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.Conv3DWinogradAttrs`
pub static CONV3D_WINOGRAD: AttrSchema = schema(
    "relay.attrs.Conv3DWinogradAttrs",
    &[
        field("tile_size", AttrType::Int, AttrDefault::Required),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0, 0])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1, 1, 1])),
        field("groups", AttrType::Int, AttrDefault::Int(1)),
        field("channels", AttrType::Dim, AttrDefault::None),
        field("kernel_size", AttrType::Dims, AttrDefault::None),
        field("data_layout", AttrType::Layout, AttrDefault::Str("NCDHW")),
        field("kernel_layout", AttrType::Layout, AttrDefault::Str("OIDHW")),
        field("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.ConvGemmWeightTransformAttrs`
pub static CONV_GEMM_WEIGHT_TRANSFORM: AttrSchema = schema(
    "relay.attrs.ConvGemmWeightTransformAttrs",
    &[
        field("tile_rows", AttrType::Int, AttrDefault::Required),
        field("tile_cols", AttrType::Int, AttrDefault::Required),
    ],
);

/// `relay.attrs.ConvWinogradWeightTransformAttrs`
pub static CONV_WINOGRAD_WEIGHT_TRANSFORM: AttrSchema = schema(
    "relay.attrs.ConvWinogradWeightTransformAttrs",
    &[field("tile_size", AttrType::Int, AttrDefault::Required)],
);

/// `relay.attrs.CorrelationAttrs`
pub static CORRELATION: AttrSchema = schema(
    "relay.attrs.CorrelationAttrs",
    &[
        field("kernel_size", AttrType::Int, AttrDefault::Int(1)),
        field("max_displacement", AttrType::Int, AttrDefault::Int(1)),
        field("stride1", AttrType::Int, AttrDefault::Int(1)),
        field("stride2", AttrType::Int, AttrDefault::Int(1)),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0])),
        field("is_multiply", AttrType::Bool, AttrDefault::Bool(true)),
        boxed("layout", AttrType::Layout, AttrDefault::Str("NCHW")),
    ],
);

/// `relay.attrs.DeformableConv2DAttrs`
pub static DEFORMABLE_CONV2D: AttrSchema = schema(
    "relay.attrs.DeformableConv2DAttrs",
    &[
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("deformable_groups", AttrType::Int, AttrDefault::Int(1)),
        field("groups", AttrType::Int, AttrDefault::Int(1)),
        field("channels", AttrType::Dim, AttrDefault::None),
        field("kernel_size", AttrType::Dims, AttrDefault::None),
        field("data_layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        field("kernel_layout", AttrType::Layout, AttrDefault::Str("OIHW")),
        field("out_layout", AttrType::Layout, AttrDefault::Str("")),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.Dilation2DAttrs`
pub static DILATION2D: AttrSchema = schema(
    "relay.attrs.Dilation2DAttrs",
    &[
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0])),
        field("dilations", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("data_layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        field("kernel_layout", AttrType::Layout, AttrDefault::Str("IHW")),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.EthosuConv2DAttrs`
pub static ETHOSU_CONV2D: AttrSchema = schema(
    "relay.attrs.EthosuConv2DAttrs",
    &[
        field("ifm_scale", AttrType::Float, AttrDefault::Required),
        field("ifm_zero_point", AttrType::Int, AttrDefault::Required),
        field("weight_zero_point", AttrType::Int, AttrDefault::Required),
        field("ofm_scale", AttrType::Float, AttrDefault::Required),
        field("ofm_zero_point", AttrType::Int, AttrDefault::Required),
        field("kernel_shape", AttrType::Dims, AttrDefault::None),
        field("ofm_channels", AttrType::Dim, AttrDefault::None),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0, 0, 0])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        boxed("activation", AttrType::Str, AttrDefault::Str("NONE")),
        field("clip_min", AttrType::Int, AttrDefault::Int(0)),
        field("clip_max", AttrType::Int, AttrDefault::Int(0)),
        boxed("rounding_mode", AttrType::Str, AttrDefault::Str("TFL")),
        boxed("upscale", AttrType::Choice(ETHOSU_UPSCALE), AttrDefault::Str("NONE")),
        boxed("ifm_layout", AttrType::Layout, AttrDefault::Str("NHWC")),
        boxed("ofm_layout", AttrType::Layout, AttrDefault::Str("NHWC")),
    ],
);

/// `relay.attrs.EthosuDepthwiseConv2DAttrs`
pub static ETHOSU_DEPTHWISE_CONV2D: AttrSchema = schema(
    "relay.attrs.EthosuDepthwiseConv2DAttrs",
    &[
        field("ifm_scale", AttrType::Float, AttrDefault::Required),
        field("ifm_zero_point", AttrType::Int, AttrDefault::Required),
        field("weight_zero_point", AttrType::Int, AttrDefault::Required),
        field("ofm_scale", AttrType::Float, AttrDefault::Required),
        field("ofm_zero_point", AttrType::Int, AttrDefault::Required),
        field("kernel_shape", AttrType::Dims, AttrDefault::None),
        field("ofm_channels", AttrType::Dim, AttrDefault::None),
        field("strides", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        field("padding", AttrType::Dims, AttrDefault::Ints(&[0, 0, 0, 0])),
        field("dilation", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
        boxed("activation", AttrType::Str, AttrDefault::Str("NONE")),
        field("clip_min", AttrType::Int, AttrDefault::Int(0)),
        field("clip_max", AttrType::Int, AttrDefault::Int(0)),
        boxed("rounding_mode", AttrType::Str, AttrDefault::Str("TFL")),
        boxed("upscale", AttrType::Str, AttrDefault::Str("NONE")),
        boxed("ifm_layout", AttrType::Layout, AttrDefault::Str("NHWC")),
        boxed("ofm_layout", AttrType::Layout, AttrDefault::Str("NHWC")),
        boxed("ofm_dtype", AttrType::Str, AttrDefault::Str("int8")),
    ],
);

/// `relay.attrs.SparseConv2DAttrs`
pub static SPARSE_CONV2D: AttrSchema = schema(
    "relay.attrs.SparseConv2DAttrs",
    &[
        field("layout", AttrType::Layout, AttrDefault::Str("NHWC")),
        field("kernel_size", AttrType::Dims, AttrDefault::Ints(&[1, 1])),
    ],
);

pub(super) static ALL: &[&AttrSchema] = &[
    &BINARY_CONV2D,
    &BINARY_DENSE,
    &BIT_PACK,
    &CONV1D,
    &CONV1D_TRANSPOSE,
    &CONV2D,
    &CONV2D_TRANSPOSE,
    &CONV2D_WINOGRAD,
    &CONV2D_WINOGRAD_NNPACK_WEIGHT_TRANSFORM,
    &CONV3D,
    &CONV3D_TRANSPOSE,
    &CONV3D_WINOGRAD,
    &CONV_GEMM_WEIGHT_TRANSFORM,
    &CONV_WINOGRAD_WEIGHT_TRANSFORM,
    &CORRELATION,
    &DEFORMABLE_CONV2D,
    &DILATION2D,
    &ETHOSU_CONV2D,
    &ETHOSU_DEPTHWISE_CONV2D,
    &SPARSE_CONV2D,
];
