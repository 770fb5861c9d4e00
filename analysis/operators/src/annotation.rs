//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("annotation.bitpack_end", &["data"]),
    op("annotation.bitpack_start", &["data"]),
    op("annotation.cast_hint", &["data"]),
    op("annotation.checkpoint", &["data"]),
    op("annotation.compiler_begin", &["data"]),
    op("annotation.compiler_end", &["data"]),
    op("annotation.stop_fusion", &["data"]),
    op("annotation.with_funcid", &["func"]),
    op("call_lowered", &["func", "call_args"]).attrs(&CALL_LOWERED),
    op("debug", &["program"]).attrs(&DEBUG),
    op("memory.alloc_storage", &["size", "shape", "alignment"]).attrs(&ALLOC_STORAGE),
    op("memory.alloc_tensor", &["storage", "offset", "shape"]).attrs(&ALLOC_TENSOR),
    op("memory.kill", &["to_free"]),
    op("parser.MetaRef", &[]).attrs(&META_REF),
    op("relay.op.annotation.simulated_quantize", &["data", "dom_scale", "clip_min", "clip_max"]).attrs(&SIMULATED_QUANTIZE),
    op("vm.invoke_tvm_op", &["op", "ins", "outs"])/*?DictAttrs*/,
    op("vm.reshape_tensor", &["data", "shape"]).attrs(&RESHAPE_TENSOR),
    op("vm.shape_of", &["tensor"]).attrs(&SHAPE_OF),
];
