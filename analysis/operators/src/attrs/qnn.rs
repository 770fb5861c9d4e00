//! Attributes that operators declare: quantisation.

use super::*;

attrs! {
    BROADCAST = "relay.attrs.BroadcastAttrs" {
        lhs_axis: Int = -1 since 9,
        rhs_axis: Int = -1 since 9,
    }

    DEQUANTIZE = "relay.attrs.DequantizeAttrs" {
        out_dtype: DType since 14,
        axis: Int = -1 since 7,
    }

    QUANTIZE = "relay.attrs.QuantizeAttrs" {
        out_dtype: DType,
        axis: Int = -1 since 7,
    }

    REQUANTIZE = "relay.attrs.RequantizeAttrs" {
        axis: Int = -1 since 7,
        rounding: Str = "None",
        compute_dtype: Str = "None" since 9,
        out_dtype: DType = VOID,
    }

    /// `relay.attrs.SimulatedQuantizeAttrs` of `qnn.simulated_quantize`. TVM has two sets of that name, and always
    /// reads this one.
    SIMULATED_QUANTIZE = "relay.attrs.SimulatedQuantizeAttrs" { axis: Int = -1 since 8 }

    /// The set of `relay.op.annotation.simulated_quantize`. TVM prints `kind` always, and reads a call without it.
    ANNOTATED_QUANTIZE = "relay.attrs.SimulatedQuantizeAttrs" {
        kind: OptionalInt = None,
        sign: Bool = true,
        rounding: Str = "round",
    }
}
