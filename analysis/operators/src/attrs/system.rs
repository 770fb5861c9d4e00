//! Attributes that operators declare: memory, devices and back ends.

use super::*;

attrs! {
    ALLOC_STORAGE = "relay.attrs.AllocStorageAttrs" {
        dtype: DType = FLOAT32,
        virtual_device: VirtualDevice since 9,
    }

    ALLOC_TENSOR = "relay.attrs.AllocTensorAttrs" {
        dtype: DType = FLOAT32,
        const_shape: Constant,
        assert_shape: Dims,
    }

    CALL_LOWERED = "relay.attrs.CallLoweredAttrs" { metadata: Object = None }

    CAST_HINT = "relay.attrs.CastHintAttrs" { dtype: DType }

    COMPILER = "relay.attrs.CompilerAttrs" { compiler: Str }

    DEBUG = "relay.attrs.DebugAttrs" { debug_func: Object }

    /// `DictAttrs`: arbitrary names, on which no type depends.
    DICT = "DictAttrs" {}

    DEVICE_COPY = "relay.attrs.DeviceCopyAttrs" {
        src_virtual_device: VirtualDevice since 9,
        dst_virtual_device: VirtualDevice since 9,
    }

    ETHOSU_BINARY_ELEMENTWISE = "relay.attrs.EthosuBinaryElementwiseAttrs" {
        operator_type: boxed Choice ["ADD", "SUB", "MUL", "MIN", "MAX", "SHR", "SHL"],
        ifm_scale: Float,
        ifm_zero_point: Int,
        ifm2_scale: Float,
        ifm2_zero_point: Int,
        ofm_scale: Float,
        ofm_zero_point: Int,
        ifm_channels: Dim,
        ifm2_channels: Dim,
        reversed_operands: Bool = false,
        activation: boxed Str = "NONE",
        clip_min: Int = 0,
        clip_max: Int = 0,
        rounding_mode: boxed Str = "TFL" since 9,
        ifm_layout: boxed Layout = "NHWC",
        ifm2_layout: boxed Layout = "NHWC",
        ofm_layout: boxed Layout = "NHWC",
        ofm_dtype: boxed Str,
        use_rescale: Bool = false since 12,
        rescale_scale: Int = 0 since 12,
        rescale_shift: Int = 0 since 12,
    }

    ETHOSU_IDENTITY = "relay.attrs.EthosuIdentityAttrs" {
        ifm_scale: Float,
        ifm_zero_point: Int,
        ofm_scale: Float,
        ofm_zero_point: Int,
        activation: boxed Str = "NONE",
        rounding_mode: boxed Str = "TFL" since 14,
    }

    ETHOSU_UNARY_ELEMENTWISE = "relay.attrs.EthosuUnaryElementwiseAttrs" {
        operator_type: boxed Choice ["ABS", "CLZ"],
        ifm_scale: Float,
        ifm_zero_point: Int,
        ofm_scale: Float,
        ofm_zero_point: Int,
        ofm_channels: Dim,
        activation: boxed Str = "NONE",
        clip_min: Int = 0,
        clip_max: Int = 0,
        rounding_mode: boxed Str = "TFL",
        ifm_layout: boxed Layout = "NHWC",
        ofm_layout: boxed Layout = "NHWC",
    }

    META_REF = "relay.attrs.MetaRefAttrs" {
        node_type_key: boxed Str,
        node_index: Int,
    }

    ON_DEVICE = "relay.attrs.OnDeviceAttrs" {
        virtual_device: VirtualDevice = None since 9,
        constrain_result: Bool = false since 9,
        constrain_body: Bool = true since 9,
    }

    RESHAPE_TENSOR = "relay.attrs.ReshapeTensorAttrs" { newshape: Dims }

    SHAPE_FUNC = "relay.attrs.ShapeFuncAttrs" { is_input: Ints }

    SHAPE_OF = "relay.attrs.ShapeOfAttrs" { dtype: DType = VOID }

    TUPLE_GET_ITEM = "relay.attrs.TupleGetItemAttrs" { index: Int }

    WITH_FUNC_ID = "relay.attrs.WithFuncIdAttrs" { fid: Int = -1 since 7 }
}
