//! Attributes that operators declare: shapes, indices and reductions.

use super::*;

attrs! {
    ARANGE = "relay.attrs.ArangeAttrs" {
        start: Constant,
        stop: Constant,
        step: Constant,
        dtype: DType,
    }

    ARG_REDUCE = "relay.attrs.ArgReduceAttrs" {
        axis: OptionalInts = None,
        keepdims: Bool = false,
        select_last_index: Bool = false since 8,
        exclude: Bool = false,
    }

    ARGSORT = "relay.attrs.ArgsortAttrs" {
        axis: Int = -1,
        is_ascend: Bool = true,
        dtype: DType = VOID,
    }

    AUTO_SCHEDULER_LAYOUT_TRANSFORM = "relay.attrs.AutoSchedulerLayoutTransformAttrs" {
        src_layout: Layout,
        dst_layout: Layout,
    }

    CAST = "relay.attrs.CastAttrs" { dtype: DType }

    CLIP = "relay.attrs.ClipAttrs" {
        a_min: Float,
        a_max: Float,
    }

    CONCATENATE = "relay.attrs.ConcatenateAttrs" { axis: Int = 0 }

    DFT = "relay.attrs.DFTAttrs" { inverse: boxed Bool = false }

    DYN_EXPAND_DIMS = "relay.attrs.DynExpandDimsAttrs" { num_newaxis: Int >= 0 = 1 }

    EINSUM = "relay.attrs.EinsumAttrs" { equation: boxed Str }

    EXPAND_DIMS = "relay.attrs.ExpandDimsAttrs" {
        axis: Int,
        num_newaxis: Int >= 0 = 1,
    }

    FIXED_POINT_MULTIPLY = "relay.attrs.FixedPointMultiplyAttrs" {
        multiplier: Int,
        shift: Int,
    }

    FIXED_POINT_MULTIPLY_PER_AXIS = "relay.attrs.FixedPointMultiplyPerAxisAttrs" {
        is_lshift_required: Bool = false,
        is_rshift_required: Bool = false,
        axes: Ints,
    }

    GATHER = "relay.attrs.GatherAttrs" { axis: OptionalInt = None }

    GATHER_ND = "relay.attrs.GatherNDAttrs" {
        batch_dims: boxed Int = 0 since 8,
        index_rank: OptionalInt = None since 8,
    }

    INIT_OP = "relay.attrs.InitOpAttrs" {
        shape: OptionalInts,
        dtype: DType = VOID,
    }

    LAYOUT_TRANSFORM = "relay.attrs.LayoutTransformAttrs" {
        src_layout: Layout,
        dst_layout: Layout,
    }

    MATRIX_SET_DIAG = "relay.attrs.MatrixSetDiagAttrs" {
        k1: Int = 0,
        k2: Int = 0,
        super_diag_right_align: Bool = true,
        sub_diag_right_align: Bool = false,
    }

    MESHGRID = "relay.attrs.MeshgridAttrs" { indexing: Str = "ij" }

    META_SCHEDULE_LAYOUT_TRANSFORM = "relay.attrs.MetaScheduleLayoutTransformAttrs" {
        index_map: Object,
    }

    MULTINOMIAL = "relay.attrs.MultinomialAttrs" { num_samples: boxed Int = 1 }

    NDARRAY_SIZE = "relay.attrs.NdarraySizeAttrs" { dtype: DType = VOID }

    ONE_HOT = "relay.attrs.OneHotAttrs" {
        depth: Int = 1,
        axis: Int = -1,
        dtype: DType = VOID,
    }

    REDUCE = "relay.attrs.ReduceAttrs" {
        axis: OptionalInts = None,
        keepdims: Bool = false,
        exclude: Bool = false,
    }

    REPEAT = "relay.attrs.RepeatAttrs" {
        repeats: boxed Int,
        axis: OptionalInt = None,
    }

    RESHAPE = "relay.attrs.ReshapeAttrs" {
        newshape: Ints,
        allowzero: Bool = false since 9,
    }

    RESHAPE_LIKE = "relay.attrs.ReshapeLikeAttrs" {
        lhs_begin: Int = 0 since 8,
        lhs_end: OptionalInt = None since 8,
        rhs_begin: Int = 0 since 8,
        rhs_end: OptionalInt = None since 8,
    }

    REVERSE = "relay.attrs.ReverseAttrs" { axis: OptionalInt = None }

    REVERSE_SEQUENCE = "relay.attrs.ReverseSequenceAttrs" {
        seq_axis: boxed Int = 1,
        batch_axis: boxed Int = 0,
    }

    SCANOP = "relay.attrs.ScanopAttrs" {
        axis: OptionalInt = None,
        dtype: DType = VOID,
        exclusive: boxed Bool = false,
    }

    SCATTER_ELEMENTS = "relay.attrs.ScatterElementsAttrs" {
        axis: boxed Int = 0,
        reduction: boxed Str = "update",
    }

    /// `relay.attrs.ScatterAttrs` and `relay.attrs.ScatterAddAttrs`, up to TVM 0.11.
    SCATTER = "relay.attrs.ScatterAttrs" { axis: boxed Int = 0 }

    SCATTER_ADD = "relay.attrs.ScatterAddAttrs" { axis: boxed Int = 0 }

    SCATTER_ND = "relay.attrs.ScatterNDAttrs" { mode: boxed Str = "update" }

    SEARCH_SORTED = "relay.attrs.SearchSortedAttrs" {
        right: Bool = false,
        dtype: DType = INT32,
    }

    SEQUENCE_MASK = "relay.attrs.SequenceMaskAttrs" {
        mask_value: Float = 0.0,
        axis: Int = 0,
    }

    SLICE_LIKE = "relay.attrs.SliceLikeAttrs" { axes: Ints }

    SLIDING_WINDOW = "relay.attrs.SlidingWindowAttrs" {
        axis: Int,
        window_shape: Ints,
        strides: Ints,
    }

    SPLIT = "relay.attrs.SplitAttrs" {
        indices_or_sections: Any,
        axis: Int = 0,
    }

    SQUEEZE = "relay.attrs.SqueezeAttrs" { axis: OptionalInts = None }

    STACK = "relay.attrs.StackAttrs" { axis: boxed Int = 0 }

    STFT = "relay.attrs.StftAttrs" {
        n_fft: Int = -1,
        hop_length: Int = -1,
        win_length: Int = -1,
        normalized: Bool = false,
        onesided: Bool = true,
    }

    STRIDED_SLICE = "relay.attrs.StridedSliceAttrs" {
        begin: OptionalInts,
        end: OptionalInts,
        strides: OptionalInts,
        slice_mode: boxed Str = "end" since 7,
        axes: OptionalInts since 8,
    }

    TAKE = "relay.attrs.TakeAttrs" {
        batch_dims: boxed Int = 0 since 8,
        axis: OptionalInt = None,
        mode: boxed Str = "clip" since 6,
    }

    THREEFRY_GENERATE = "relay.attrs.ThreefryGenerateAttrs" { out_shape: Ints }

    TILE = "relay.attrs.TileAttrs" { reps: Ints }

    TOPK = "relay.attrs.TopkAttrs" {
        k: OptionalInt,
        axis: Int = -1,
        ret_type: Choice ["both", "values", "indices"] = "both",
        is_ascend: Bool = false,
        dtype: DType = VOID,
    }

    TRANSPOSE = "relay.attrs.TransposeAttrs" { axes: Ints }

    TRILU = "relay.attrs.TriluAttrs" { upper: Bool = true }

    UNIFORM = "relay.attrs.UniformAttrs" {
        out_shape: Ints,
        out_dtype: DType = VOID,
    }

    UNIQUE = "relay.attrs.UniqueAttrs" {
        sorted: Bool = true,
        return_counts: Bool = false,
    }

    VARIANCE = "relay.attrs.VarianceAttrs" {
        axis: OptionalInts = None,
        keepdims: Bool = false,
        exclude: Bool = false,
        unbiased: Bool = false since 7,
    }
}
