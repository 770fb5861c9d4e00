//! Attributes that operators declare: memory, devices and back ends.

use super::*;

/// `relay.attrs.AllocStorageAttrs`
pub static ALLOC_STORAGE: AttrSchema = schema(
    "relay.attrs.AllocStorageAttrs",
    &[
        field("dtype", AttrType::DType, AttrDefault::DType(DataType::FLOAT32)),
        field("virtual_device", AttrType::VirtualDevice, AttrDefault::Required),
    ],
);

/// `relay.attrs.AllocTensorAttrs`
pub static ALLOC_TENSOR: AttrSchema = schema(
    "relay.attrs.AllocTensorAttrs",
    &[
        field("dtype", AttrType::DType, AttrDefault::DType(DataType::FLOAT32)),
        field("const_shape", AttrType::Constant, AttrDefault::Required),
        field("assert_shape", AttrType::Dims, AttrDefault::Required),
    ],
);

/// `relay.attrs.CallLoweredAttrs`
pub static CALL_LOWERED: AttrSchema = schema(
    "relay.attrs.CallLoweredAttrs",
    &[field("metadata", AttrType::Object, AttrDefault::None)],
);

/// `relay.attrs.CastHintAttrs`
pub static CAST_HINT: AttrSchema =
    schema("relay.attrs.CastHintAttrs", &[field("dtype", AttrType::DType, AttrDefault::Required)]);

/// `relay.attrs.CompilerAttrs`
pub static COMPILER: AttrSchema =
    schema("relay.attrs.CompilerAttrs", &[field("compiler", AttrType::Str, AttrDefault::Required)]);

/// `relay.attrs.DebugAttrs`
pub static DEBUG: AttrSchema = schema(
    "relay.attrs.DebugAttrs",
    &[field("debug_func", AttrType::Object, AttrDefault::Required)],
);

/// `DictAttrs`: arbitrary names, on which no type depends.
pub static DICT: AttrSchema = schema("DictAttrs", &[]);

/// `relay.attrs.DeviceCopyAttrs`
pub static DEVICE_COPY: AttrSchema = schema(
    "relay.attrs.DeviceCopyAttrs",
    &[
        field("src_virtual_device", AttrType::VirtualDevice, AttrDefault::Required),
        field("dst_virtual_device", AttrType::VirtualDevice, AttrDefault::Required),
    ],
);

/// `relay.attrs.EthosuBinaryElementwiseAttrs`
pub static ETHOSU_BINARY_ELEMENTWISE: AttrSchema = schema(
    "relay.attrs.EthosuBinaryElementwiseAttrs",
    &[
        boxed(
            "operator_type",
            AttrType::Choice(&["ADD", "SUB", "MUL", "MIN", "MAX", "SHR", "SHL"]),
            AttrDefault::Required,
        ),
        field("ifm_scale", AttrType::Float, AttrDefault::Required),
        field("ifm_zero_point", AttrType::Int, AttrDefault::Required),
        field("ifm2_scale", AttrType::Float, AttrDefault::Required),
        field("ifm2_zero_point", AttrType::Int, AttrDefault::Required),
        field("ofm_scale", AttrType::Float, AttrDefault::Required),
        field("ofm_zero_point", AttrType::Int, AttrDefault::Required),
        field("ifm_channels", AttrType::Dim, AttrDefault::Required),
        field("ifm2_channels", AttrType::Dim, AttrDefault::Required),
        field("reversed_operands", AttrType::Bool, AttrDefault::Bool(false)),
        boxed("activation", AttrType::Str, AttrDefault::Str("NONE")),
        field("clip_min", AttrType::Int, AttrDefault::Int(0)),
        field("clip_max", AttrType::Int, AttrDefault::Int(0)),
        boxed("rounding_mode", AttrType::Str, AttrDefault::Str("TFL")),
        boxed("ifm_layout", AttrType::Layout, AttrDefault::Str("NHWC")),
        boxed("ifm2_layout", AttrType::Layout, AttrDefault::Str("NHWC")),
        boxed("ofm_layout", AttrType::Layout, AttrDefault::Str("NHWC")),
        boxed("ofm_dtype", AttrType::Str, AttrDefault::Required),
        field("use_rescale", AttrType::Bool, AttrDefault::Bool(false)),
        field("rescale_scale", AttrType::Int, AttrDefault::Int(0)),
        field("rescale_shift", AttrType::Int, AttrDefault::Int(0)),
    ],
);

/// `relay.attrs.EthosuIdentityAttrs`
pub static ETHOSU_IDENTITY: AttrSchema = schema(
    "relay.attrs.EthosuIdentityAttrs",
    &[
        field("ifm_scale", AttrType::Float, AttrDefault::Required),
        field("ifm_zero_point", AttrType::Int, AttrDefault::Required),
        field("ofm_scale", AttrType::Float, AttrDefault::Required),
        field("ofm_zero_point", AttrType::Int, AttrDefault::Required),
        boxed("activation", AttrType::Str, AttrDefault::Str("NONE")),
        boxed("rounding_mode", AttrType::Str, AttrDefault::Str("TFL")),
    ],
);

/// `relay.attrs.EthosuUnaryElementwiseAttrs`
pub static ETHOSU_UNARY_ELEMENTWISE: AttrSchema = schema(
    "relay.attrs.EthosuUnaryElementwiseAttrs",
    &[
        boxed("operator_type", AttrType::Choice(&["ABS", "CLZ"]), AttrDefault::Required),
        field("ifm_scale", AttrType::Float, AttrDefault::Required),
        field("ifm_zero_point", AttrType::Int, AttrDefault::Required),
        field("ofm_scale", AttrType::Float, AttrDefault::Required),
        field("ofm_zero_point", AttrType::Int, AttrDefault::Required),
        field("ofm_channels", AttrType::Dim, AttrDefault::Required),
        boxed("activation", AttrType::Str, AttrDefault::Str("NONE")),
        field("clip_min", AttrType::Int, AttrDefault::Int(0)),
        field("clip_max", AttrType::Int, AttrDefault::Int(0)),
        boxed("rounding_mode", AttrType::Str, AttrDefault::Str("TFL")),
        boxed("ifm_layout", AttrType::Layout, AttrDefault::Str("NHWC")),
        boxed("ofm_layout", AttrType::Layout, AttrDefault::Str("NHWC")),
    ],
);

/// `relay.attrs.MetaRefAttrs`
pub static META_REF: AttrSchema = schema(
    "relay.attrs.MetaRefAttrs",
    &[
        boxed("node_type_key", AttrType::Str, AttrDefault::Required),
        field("node_index", AttrType::Int, AttrDefault::Required),
    ],
);

/// `relay.attrs.OnDeviceAttrs`
pub static ON_DEVICE: AttrSchema = schema(
    "relay.attrs.OnDeviceAttrs",
    &[
        field("virtual_device", AttrType::VirtualDevice, AttrDefault::None),
        field("constrain_result", AttrType::Bool, AttrDefault::Bool(false)),
        field("constrain_body", AttrType::Bool, AttrDefault::Bool(true)),
    ],
);

/// `relay.attrs.ReshapeTensorAttrs`
pub static RESHAPE_TENSOR: AttrSchema = schema(
    "relay.attrs.ReshapeTensorAttrs",
    &[field("newshape", AttrType::Dims, AttrDefault::Required)],
);

/// `relay.attrs.ShapeFuncAttrs`
pub static SHAPE_FUNC: AttrSchema = schema(
    "relay.attrs.ShapeFuncAttrs",
    &[field("is_input", AttrType::Ints, AttrDefault::Required)],
);

/// `relay.attrs.ShapeOfAttrs`
pub static SHAPE_OF: AttrSchema = schema(
    "relay.attrs.ShapeOfAttrs",
    &[field("dtype", AttrType::DType, AttrDefault::DType(DataType::VOID))],
);

/// `relay.attrs.TupleGetItemAttrs`
pub static TUPLE_GET_ITEM: AttrSchema = schema(
    "relay.attrs.TupleGetItemAttrs",
    &[field("index", AttrType::Int, AttrDefault::Required)],
);

/// `relay.attrs.WithFuncIdAttrs`
pub static WITH_FUNC_ID: AttrSchema =
    schema("relay.attrs.WithFuncIdAttrs", &[field("fid", AttrType::Int, AttrDefault::Int(-1))]);

pub(super) static ALL: &[&AttrSchema] = &[
    &ALLOC_STORAGE,
    &ALLOC_TENSOR,
    &CALL_LOWERED,
    &CAST_HINT,
    &COMPILER,
    &DEBUG,
    &DEVICE_COPY,
    &DICT,
    &ETHOSU_BINARY_ELEMENTWISE,
    &ETHOSU_IDENTITY,
    &ETHOSU_UNARY_ELEMENTWISE,
    &META_REF,
    &ON_DEVICE,
    &RESHAPE_TENSOR,
    &SHAPE_FUNC,
    &SHAPE_OF,
    &TUPLE_GET_ITEM,
    &WITH_FUNC_ID,
];
