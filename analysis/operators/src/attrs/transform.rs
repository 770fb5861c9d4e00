//! Attributes that operators declare: shapes, indices and reductions.

use super::*;

/// `relay.attrs.ArangeAttrs`
pub static ARANGE: AttrSchema = schema(
    "relay.attrs.ArangeAttrs",
    &[
        field("start", AttrType::Constant, AttrDefault::Required),
        field("stop", AttrType::Constant, AttrDefault::Required),
        field("step", AttrType::Constant, AttrDefault::Required),
        field("dtype", AttrType::DType, AttrDefault::Required),
    ],
);

/// `relay.attrs.ArgReduceAttrs`
pub static ARG_REDUCE: AttrSchema = schema(
    "relay.attrs.ArgReduceAttrs",
    &[
        field("axis", AttrType::OptionalInts, AttrDefault::None),
        field("keepdims", AttrType::Bool, AttrDefault::Bool(false)),
        field("select_last_index", AttrType::Bool, AttrDefault::Bool(false)),
        field("exclude", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.ArgsortAttrs`
pub static ARGSORT: AttrSchema = schema(
    "relay.attrs.ArgsortAttrs",
    &[
        field("axis", AttrType::Int, AttrDefault::Int(-1)),
        field("is_ascend", AttrType::Bool, AttrDefault::Bool(true)),
        field("dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.AutoSchedulerLayoutTransformAttrs`
pub static AUTO_SCHEDULER_LAYOUT_TRANSFORM: AttrSchema = schema(
    "relay.attrs.AutoSchedulerLayoutTransformAttrs",
    &[
        field("src_layout", AttrType::Layout, AttrDefault::Required),
        field("dst_layout", AttrType::Layout, AttrDefault::Required),
    ],
);

/// `relay.attrs.CastAttrs`
pub static CAST: AttrSchema =
    schema("relay.attrs.CastAttrs", &[field("dtype", AttrType::DType, AttrDefault::Required)]);

/// `relay.attrs.ClipAttrs`
pub static CLIP: AttrSchema = schema(
    "relay.attrs.ClipAttrs",
    &[
        field("a_min", AttrType::Float, AttrDefault::Required),
        field("a_max", AttrType::Float, AttrDefault::Required),
    ],
);

/// `relay.attrs.ConcatenateAttrs`
pub static CONCATENATE: AttrSchema =
    schema("relay.attrs.ConcatenateAttrs", &[field("axis", AttrType::Int, AttrDefault::Int(0))]);

/// `relay.attrs.DFTAttrs`
pub static DFT: AttrSchema =
    schema("relay.attrs.DFTAttrs", &[boxed("inverse", AttrType::Bool, AttrDefault::Bool(false))]);

/// `relay.attrs.DynExpandDimsAttrs`
pub static DYN_EXPAND_DIMS: AttrSchema = schema(
    "relay.attrs.DynExpandDimsAttrs",
    &[at_least(0, field("num_newaxis", AttrType::Int, AttrDefault::Int(1)))],
);

/// `relay.attrs.EinsumAttrs`
pub static EINSUM: AttrSchema =
    schema("relay.attrs.EinsumAttrs", &[boxed("equation", AttrType::Str, AttrDefault::Required)]);

/// `relay.attrs.ExpandDimsAttrs`
pub static EXPAND_DIMS: AttrSchema = schema(
    "relay.attrs.ExpandDimsAttrs",
    &[
        field("axis", AttrType::Int, AttrDefault::Required),
        at_least(0, field("num_newaxis", AttrType::Int, AttrDefault::Int(1))),
    ],
);

/// `relay.attrs.FixedPointMultiplyAttrs`
pub static FIXED_POINT_MULTIPLY: AttrSchema = schema(
    "relay.attrs.FixedPointMultiplyAttrs",
    &[
        field("multiplier", AttrType::Int, AttrDefault::Required),
        field("shift", AttrType::Int, AttrDefault::Required),
    ],
);

/// `relay.attrs.FixedPointMultiplyPerAxisAttrs`
pub static FIXED_POINT_MULTIPLY_PER_AXIS: AttrSchema = schema(
    "relay.attrs.FixedPointMultiplyPerAxisAttrs",
    &[
        field("is_lshift_required", AttrType::Bool, AttrDefault::Bool(false)),
        field("is_rshift_required", AttrType::Bool, AttrDefault::Bool(false)),
        field("axes", AttrType::Ints, AttrDefault::Required),
    ],
);

/// `relay.attrs.GatherAttrs`
pub static GATHER: AttrSchema =
    schema("relay.attrs.GatherAttrs", &[field("axis", AttrType::OptionalInt, AttrDefault::None)]);

/// `relay.attrs.GatherNDAttrs`
pub static GATHER_ND: AttrSchema = schema(
    "relay.attrs.GatherNDAttrs",
    &[
        boxed("batch_dims", AttrType::Int, AttrDefault::Int(0)),
        field("index_rank", AttrType::OptionalInt, AttrDefault::None),
    ],
);

/// `relay.attrs.InitOpAttrs`
pub static INIT_OP: AttrSchema = schema(
    "relay.attrs.InitOpAttrs",
    &[
        field("shape", AttrType::OptionalInts, AttrDefault::Required),
        field("dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.LayoutTransformAttrs`
pub static LAYOUT_TRANSFORM: AttrSchema = schema(
    "relay.attrs.LayoutTransformAttrs",
    &[
        field("src_layout", AttrType::Layout, AttrDefault::Required),
        field("dst_layout", AttrType::Layout, AttrDefault::Required),
    ],
);

/// `relay.attrs.MatrixSetDiagAttrs`
pub static MATRIX_SET_DIAG: AttrSchema = schema(
    "relay.attrs.MatrixSetDiagAttrs",
    &[
        field("k1", AttrType::Int, AttrDefault::Int(0)),
        field("k2", AttrType::Int, AttrDefault::Int(0)),
        field("super_diag_right_align", AttrType::Bool, AttrDefault::Bool(true)),
        field("sub_diag_right_align", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.MeshgridAttrs`
pub static MESHGRID: AttrSchema = schema(
    "relay.attrs.MeshgridAttrs",
    &[field("indexing", AttrType::Str, AttrDefault::Str("ij"))],
);

/// `relay.attrs.MetaScheduleLayoutTransformAttrs`
pub static META_SCHEDULE_LAYOUT_TRANSFORM: AttrSchema = schema(
    "relay.attrs.MetaScheduleLayoutTransformAttrs",
    &[field("index_map", AttrType::Object, AttrDefault::Required)],
);

/// `relay.attrs.MultinomialAttrs`
pub static MULTINOMIAL: AttrSchema = schema(
    "relay.attrs.MultinomialAttrs",
    &[boxed("num_samples", AttrType::Int, AttrDefault::Int(1))],
);

/// `relay.attrs.NdarraySizeAttrs`
pub static NDARRAY_SIZE: AttrSchema = schema(
    "relay.attrs.NdarraySizeAttrs",
    &[field("dtype", AttrType::DType, AttrDefault::DType(DataType::VOID))],
);

/// `relay.attrs.OneHotAttrs`
pub static ONE_HOT: AttrSchema = schema(
    "relay.attrs.OneHotAttrs",
    &[
        field("depth", AttrType::Int, AttrDefault::Int(1)),
        field("axis", AttrType::Int, AttrDefault::Int(-1)),
        field("dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.ReduceAttrs`
pub static REDUCE: AttrSchema = schema(
    "relay.attrs.ReduceAttrs",
    &[
        field("axis", AttrType::OptionalInts, AttrDefault::None),
        field("keepdims", AttrType::Bool, AttrDefault::Bool(false)),
        field("exclude", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.RepeatAttrs`
pub static REPEAT: AttrSchema = schema(
    "relay.attrs.RepeatAttrs",
    &[
        boxed("repeats", AttrType::Int, AttrDefault::Required),
        field("axis", AttrType::OptionalInt, AttrDefault::None),
    ],
);

/// `relay.attrs.ReshapeAttrs`
pub static RESHAPE: AttrSchema = schema(
    "relay.attrs.ReshapeAttrs",
    &[
        field("newshape", AttrType::Ints, AttrDefault::Required),
        field("allowzero", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.ReshapeLikeAttrs`
pub static RESHAPE_LIKE: AttrSchema = schema(
    "relay.attrs.ReshapeLikeAttrs",
    &[
        field("lhs_begin", AttrType::Int, AttrDefault::Int(0)),
        field("lhs_end", AttrType::OptionalInt, AttrDefault::None),
        field("rhs_begin", AttrType::Int, AttrDefault::Int(0)),
        field("rhs_end", AttrType::OptionalInt, AttrDefault::None),
    ],
);

/// `relay.attrs.ReverseAttrs`
pub static REVERSE: AttrSchema =
    schema("relay.attrs.ReverseAttrs", &[field("axis", AttrType::OptionalInt, AttrDefault::None)]);

/// `relay.attrs.ReverseSequenceAttrs`
pub static REVERSE_SEQUENCE: AttrSchema = schema(
    "relay.attrs.ReverseSequenceAttrs",
    &[
        boxed("seq_axis", AttrType::Int, AttrDefault::Int(1)),
        boxed("batch_axis", AttrType::Int, AttrDefault::Int(0)),
    ],
);

/// `relay.attrs.ScanopAttrs`
pub static SCANOP: AttrSchema = schema(
    "relay.attrs.ScanopAttrs",
    &[
        field("axis", AttrType::OptionalInt, AttrDefault::None),
        field("dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
        boxed("exclusive", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.ScatterElementsAttrs`
pub static SCATTER_ELEMENTS: AttrSchema = schema(
    "relay.attrs.ScatterElementsAttrs",
    &[
        boxed("axis", AttrType::Int, AttrDefault::Int(0)),
        boxed("reduction", AttrType::Str, AttrDefault::Str("update")),
    ],
);

/// `relay.attrs.ScatterAttrs` and `relay.attrs.ScatterAddAttrs`, up to TVM 0.11.
pub static SCATTER: AttrSchema =
    schema("relay.attrs.ScatterAttrs", &[boxed("axis", AttrType::Int, AttrDefault::Int(0))]);

/// `relay.attrs.ScatterNDAttrs`
pub static SCATTER_ND: AttrSchema = schema(
    "relay.attrs.ScatterNDAttrs",
    &[boxed("mode", AttrType::Str, AttrDefault::Str("update"))],
);

/// `relay.attrs.SearchSortedAttrs`
pub static SEARCH_SORTED: AttrSchema = schema(
    "relay.attrs.SearchSortedAttrs",
    &[
        field("right", AttrType::Bool, AttrDefault::Bool(false)),
        field("dtype", AttrType::DType, AttrDefault::DType(DataType::INT32)),
    ],
);

/// `relay.attrs.SequenceMaskAttrs`
pub static SEQUENCE_MASK: AttrSchema = schema(
    "relay.attrs.SequenceMaskAttrs",
    &[
        field("mask_value", AttrType::Float, AttrDefault::Float(0.0)),
        field("axis", AttrType::Int, AttrDefault::Int(0)),
    ],
);

/// `relay.attrs.SliceLikeAttrs`
pub static SLICE_LIKE: AttrSchema =
    schema("relay.attrs.SliceLikeAttrs", &[field("axes", AttrType::Ints, AttrDefault::Required)]);

/// `relay.attrs.SlidingWindowAttrs`
pub static SLIDING_WINDOW: AttrSchema = schema(
    "relay.attrs.SlidingWindowAttrs",
    &[
        field("axis", AttrType::Int, AttrDefault::Required),
        field("window_shape", AttrType::Ints, AttrDefault::Required),
        field("strides", AttrType::Ints, AttrDefault::Required),
    ],
);

/// `relay.attrs.SplitAttrs`
pub static SPLIT: AttrSchema = schema(
    "relay.attrs.SplitAttrs",
    &[
        field("indices_or_sections", AttrType::Any, AttrDefault::Required),
        field("axis", AttrType::Int, AttrDefault::Int(0)),
    ],
);

/// `relay.attrs.SqueezeAttrs`
pub static SQUEEZE: AttrSchema =
    schema("relay.attrs.SqueezeAttrs", &[field("axis", AttrType::OptionalInts, AttrDefault::None)]);

/// `relay.attrs.StackAttrs`
pub static STACK: AttrSchema =
    schema("relay.attrs.StackAttrs", &[boxed("axis", AttrType::Int, AttrDefault::Int(0))]);

/// `relay.attrs.StftAttrs`
pub static STFT: AttrSchema = schema(
    "relay.attrs.StftAttrs",
    &[
        field("n_fft", AttrType::Int, AttrDefault::Int(-1)),
        field("hop_length", AttrType::Int, AttrDefault::Int(-1)),
        field("win_length", AttrType::Int, AttrDefault::Int(-1)),
        field("normalized", AttrType::Bool, AttrDefault::Bool(false)),
        field("onesided", AttrType::Bool, AttrDefault::Bool(true)),
    ],
);

/// `relay.attrs.StridedSliceAttrs`
pub static STRIDED_SLICE: AttrSchema = schema(
    "relay.attrs.StridedSliceAttrs",
    &[
        field("begin", AttrType::OptionalInts, AttrDefault::Required),
        field("end", AttrType::OptionalInts, AttrDefault::Required),
        field("strides", AttrType::OptionalInts, AttrDefault::Required),
        boxed("slice_mode", AttrType::Str, AttrDefault::Str("end")),
        field("axes", AttrType::OptionalInts, AttrDefault::Required),
    ],
);

/// `relay.attrs.TakeAttrs`
pub static TAKE: AttrSchema = schema(
    "relay.attrs.TakeAttrs",
    &[
        boxed("batch_dims", AttrType::Int, AttrDefault::Int(0)),
        field("axis", AttrType::OptionalInt, AttrDefault::None),
        boxed("mode", AttrType::Str, AttrDefault::Str("clip")),
    ],
);

/// `relay.attrs.ThreefryGenerateAttrs`
pub static THREEFRY_GENERATE: AttrSchema = schema(
    "relay.attrs.ThreefryGenerateAttrs",
    &[field("out_shape", AttrType::Ints, AttrDefault::Required)],
);

/// `relay.attrs.TileAttrs`
pub static TILE: AttrSchema =
    schema("relay.attrs.TileAttrs", &[field("reps", AttrType::Ints, AttrDefault::Required)]);

/// `relay.attrs.TopkAttrs`
pub static TOPK: AttrSchema = schema(
    "relay.attrs.TopkAttrs",
    &[
        field("k", AttrType::OptionalInt, AttrDefault::Required),
        field("axis", AttrType::Int, AttrDefault::Int(-1)),
        field(
            "ret_type",
            AttrType::Choice(&["both", "values", "indices"]),
            AttrDefault::Str("both"),
        ),
        field("is_ascend", AttrType::Bool, AttrDefault::Bool(false)),
        field("dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.TransposeAttrs`
pub static TRANSPOSE: AttrSchema =
    schema("relay.attrs.TransposeAttrs", &[field("axes", AttrType::Ints, AttrDefault::Required)]);

/// `relay.attrs.TriluAttrs`
pub static TRILU: AttrSchema =
    schema("relay.attrs.TriluAttrs", &[field("upper", AttrType::Bool, AttrDefault::Bool(true))]);

/// `relay.attrs.UniformAttrs`
pub static UNIFORM: AttrSchema = schema(
    "relay.attrs.UniformAttrs",
    &[
        field("out_shape", AttrType::Ints, AttrDefault::Required),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.UniqueAttrs`
pub static UNIQUE: AttrSchema = schema(
    "relay.attrs.UniqueAttrs",
    &[
        field("sorted", AttrType::Bool, AttrDefault::Bool(true)),
        field("return_counts", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.VarianceAttrs`
pub static VARIANCE: AttrSchema = schema(
    "relay.attrs.VarianceAttrs",
    &[
        field("axis", AttrType::OptionalInts, AttrDefault::None),
        field("keepdims", AttrType::Bool, AttrDefault::Bool(false)),
        field("exclude", AttrType::Bool, AttrDefault::Bool(false)),
        field("unbiased", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

pub(super) static ALL: &[&AttrSchema] = &[
    &ARANGE,
    &ARG_REDUCE,
    &ARGSORT,
    &AUTO_SCHEDULER_LAYOUT_TRANSFORM,
    &CAST,
    &CLIP,
    &CONCATENATE,
    &DFT,
    &DYN_EXPAND_DIMS,
    &EINSUM,
    &EXPAND_DIMS,
    &FIXED_POINT_MULTIPLY,
    &FIXED_POINT_MULTIPLY_PER_AXIS,
    &GATHER,
    &GATHER_ND,
    &INIT_OP,
    &LAYOUT_TRANSFORM,
    &MATRIX_SET_DIAG,
    &MESHGRID,
    &META_SCHEDULE_LAYOUT_TRANSFORM,
    &MULTINOMIAL,
    &NDARRAY_SIZE,
    &ONE_HOT,
    &REDUCE,
    &REPEAT,
    &RESHAPE,
    &RESHAPE_LIKE,
    &REVERSE,
    &REVERSE_SEQUENCE,
    &SCANOP,
    &SCATTER_ELEMENTS,
    &SCATTER_ND,
    &SEARCH_SORTED,
    &SEQUENCE_MASK,
    &SLICE_LIKE,
    &SLIDING_WINDOW,
    &SPLIT,
    &SQUEEZE,
    &STACK,
    &STFT,
    &STRIDED_SLICE,
    &TAKE,
    &THREEFRY_GENERATE,
    &TILE,
    &TOPK,
    &TRANSPOSE,
    &TRILU,
    &UNIFORM,
    &UNIQUE,
    &VARIANCE,
];
