//! Attributes that operators declare: quantisation.

use super::*;

/// `relay.attrs.BroadcastAttrs`
pub static BROADCAST: AttrSchema = schema(
    "relay.attrs.BroadcastAttrs",
    &[
        field("lhs_axis", AttrType::Int, AttrDefault::Int(-1)),
        field("rhs_axis", AttrType::Int, AttrDefault::Int(-1)),
    ],
);

/// `relay.attrs.DequantizeAttrs`
pub static DEQUANTIZE: AttrSchema = schema(
    "relay.attrs.DequantizeAttrs",
    &[
        field("out_dtype", AttrType::DType, AttrDefault::Required),
        field("axis", AttrType::Int, AttrDefault::Int(-1)),
    ],
);

/// `relay.attrs.QuantizeAttrs`
pub static QUANTIZE: AttrSchema = schema(
    "relay.attrs.QuantizeAttrs",
    &[
        field("out_dtype", AttrType::DType, AttrDefault::Required),
        field("axis", AttrType::Int, AttrDefault::Int(-1)),
    ],
);

/// `relay.attrs.RequantizeAttrs`
pub static REQUANTIZE: AttrSchema = schema(
    "relay.attrs.RequantizeAttrs",
    &[
        field("axis", AttrType::Int, AttrDefault::Int(-1)),
        field("rounding", AttrType::Str, AttrDefault::Str("None")),
        field("compute_dtype", AttrType::Str, AttrDefault::Str("None")),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.SimulatedQuantizeAttrs`. TVM has two sets of that name; its text format uses this
/// one, of `qnn.simulated_quantize`.
pub static SIMULATED_QUANTIZE: AttrSchema = schema(
    "relay.attrs.SimulatedQuantizeAttrs",
    &[field("axis", AttrType::Int, AttrDefault::Int(-1))],
);

pub(super) static ALL: &[&AttrSchema] =
    &[&BROADCAST, &DEQUANTIZE, &QUANTIZE, &REQUANTIZE, &SIMULATED_QUANTIZE];
