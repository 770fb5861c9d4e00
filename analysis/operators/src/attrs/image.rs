//! Attributes that operators declare: images and detection.

use super::*;

/// `relay.attrs.AffineGridAttrs`
pub static AFFINE_GRID: AttrSchema = schema(
    "relay.attrs.AffineGridAttrs",
    &[field("target_shape", AttrType::Dims, AttrDefault::Required)],
);

/// `relay.attrs.AllClassNonMaximumSuppressionAttrs`
pub static ALL_CLASS_NON_MAXIMUM_SUPPRESSION: AttrSchema = schema(
    "relay.attrs.AllClassNonMaximumSuppressionAttrs",
    &[field("output_format", AttrType::Str, AttrDefault::Str("onnx"))],
);

/// `relay.attrs.CropAndResizeAttrs`
pub static CROP_AND_RESIZE: AttrSchema = schema(
    "relay.attrs.CropAndResizeAttrs",
    &[
        field("crop_size", AttrType::Dims, AttrDefault::None),
        field("layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        field("method", AttrType::Str, AttrDefault::Str("bilinear")),
        field("extrapolation_value", AttrType::Float, AttrDefault::Float(0.0)),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.GetValidCountsAttrs`
pub static GET_VALID_COUNTS: AttrSchema = schema(
    "relay.attrs.GetValidCountsAttrs",
    &[
        boxed("score_threshold", AttrType::Float, AttrDefault::Required),
        field("id_index", AttrType::Int, AttrDefault::Int(0)),
        field("score_index", AttrType::Int, AttrDefault::Int(1)),
    ],
);

/// `relay.attrs.GridSampleAttrs`
pub static GRID_SAMPLE: AttrSchema = schema(
    "relay.attrs.GridSampleAttrs",
    &[
        boxed("method", AttrType::Str, AttrDefault::Str("bilinear")),
        boxed("layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        boxed("padding_mode", AttrType::Str, AttrDefault::Str("zeros")),
        field("align_corners", AttrType::Bool, AttrDefault::Bool(true)),
    ],
);

/// `relay.attrs.MultiBoxPriorAttrs`
pub static MULTI_BOX_PRIOR: AttrSchema = schema(
    "relay.attrs.MultiBoxPriorAttrs",
    &[
        field("sizes", AttrType::Floats, AttrDefault::Floats(&[1.0])),
        field("ratios", AttrType::Floats, AttrDefault::Floats(&[1.0])),
        field("steps", AttrType::Floats, AttrDefault::Floats(&[-1.0, -1.0])),
        field("offsets", AttrType::Floats, AttrDefault::Floats(&[0.5, 0.5])),
        field("clip", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.MultiBoxTransformLocAttrs`
pub static MULTI_BOX_TRANSFORM_LOC: AttrSchema = schema(
    "relay.attrs.MultiBoxTransformLocAttrs",
    &[
        field("clip", AttrType::Bool, AttrDefault::Bool(true)),
        field("threshold", AttrType::Float, AttrDefault::Float(0.01)),
        field("variances", AttrType::Floats, AttrDefault::Floats(&[0.1, 0.1, 0.2, 0.2])),
        field("keep_background", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.NonMaximumSuppressionAttrs`
pub static NON_MAXIMUM_SUPPRESSION: AttrSchema = schema(
    "relay.attrs.NonMaximumSuppressionAttrs",
    &[
        field("force_suppress", AttrType::Bool, AttrDefault::Bool(false)),
        field("top_k", AttrType::Int, AttrDefault::Int(-1)),
        field("coord_start", AttrType::Int, AttrDefault::Int(2)),
        field("score_index", AttrType::Int, AttrDefault::Int(1)),
        field("id_index", AttrType::Int, AttrDefault::Int(0)),
        field("return_indices", AttrType::Bool, AttrDefault::Bool(true)),
        field("invalid_to_bottom", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.ProposalAttrs`
pub static PROPOSAL: AttrSchema = schema(
    "relay.attrs.ProposalAttrs",
    &[
        field("scales", AttrType::Floats, AttrDefault::Floats(&[4.0, 8.0, 16.0, 32.0])),
        field("ratios", AttrType::Floats, AttrDefault::Floats(&[0.5, 1.0, 2.0])),
        field("feature_stride", AttrType::Int, AttrDefault::Int(16)),
        field("threshold", AttrType::Float, AttrDefault::Float(0.7)),
        field("rpn_pre_nms_top_n", AttrType::Int, AttrDefault::Int(6000)),
        field("rpn_post_nms_top_n", AttrType::Int, AttrDefault::Int(300)),
        field("rpn_min_size", AttrType::Int, AttrDefault::Int(16)),
        field("iou_loss", AttrType::Bool, AttrDefault::Bool(false)),
    ],
);

/// `relay.attrs.ROIAlignAttrs`
pub static ROI_ALIGN: AttrSchema = schema(
    "relay.attrs.ROIAlignAttrs",
    &[
        field("pooled_size", AttrType::Dims, AttrDefault::Required),
        field("spatial_scale", AttrType::Float, AttrDefault::Required),
        field("sample_ratio", AttrType::Int, AttrDefault::Int(-1)),
        field("layout", AttrType::Choice(&["NCHW", "NHWC"]), AttrDefault::Str("NCHW")),
        field("mode", AttrType::Str, AttrDefault::Str("avg")),
    ],
);

/// `relay.attrs.RegularNonMaximumSuppressionAttrs`
pub static REGULAR_NON_MAXIMUM_SUPPRESSION: AttrSchema = schema(
    "relay.attrs.RegularNonMaximumSuppressionAttrs",
    &[
        field("max_detections_per_class", AttrType::Int, AttrDefault::Required),
        field("max_detections", AttrType::Int, AttrDefault::Required),
        field("num_classes", AttrType::Int, AttrDefault::Required),
        field("iou_threshold", AttrType::Float, AttrDefault::Required),
        field("score_threshold", AttrType::Float, AttrDefault::Required),
    ],
);

/// `relay.attrs.Resize1DAttrs`
pub static RESIZE1D: AttrSchema = schema(
    "relay.attrs.Resize1DAttrs",
    &[
        field("size", AttrType::Dims, AttrDefault::None),
        boxed("roi", AttrType::Floats, AttrDefault::None),
        field("layout", AttrType::Layout, AttrDefault::Str("NCW")),
        field("method", AttrType::Str, AttrDefault::Str("linear")),
        field("coordinate_transformation_mode", AttrType::Str, AttrDefault::Str("half_pixel")),
        field("rounding_method", AttrType::Str, AttrDefault::Str("round")),
        field("cubic_alpha", AttrType::Float, AttrDefault::Float(-0.5)),
        field("cubic_exclude", AttrType::Int, AttrDefault::Int(0)),
        field("extrapolation_value", AttrType::Float, AttrDefault::Float(0.0)),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.Resize2DAttrs`
pub static RESIZE2D: AttrSchema = schema(
    "relay.attrs.Resize2DAttrs",
    &[
        field("size", AttrType::Dims, AttrDefault::None),
        boxed("roi", AttrType::Floats, AttrDefault::None),
        field("layout", AttrType::Layout, AttrDefault::Str("NCHW")),
        field("method", AttrType::Str, AttrDefault::Str("linear")),
        field("coordinate_transformation_mode", AttrType::Str, AttrDefault::Str("half_pixel")),
        field("rounding_method", AttrType::Str, AttrDefault::Str("round")),
        field("cubic_alpha", AttrType::Float, AttrDefault::Float(-0.5)),
        field("cubic_exclude", AttrType::Int, AttrDefault::Int(0)),
        field("extrapolation_value", AttrType::Float, AttrDefault::Float(0.0)),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.Resize3DAttrs`
pub static RESIZE3D: AttrSchema = schema(
    "relay.attrs.Resize3DAttrs",
    &[
        field("size", AttrType::Dims, AttrDefault::None),
        boxed("roi", AttrType::Floats, AttrDefault::None),
        field("layout", AttrType::Layout, AttrDefault::Str("NCDHW")),
        field("method", AttrType::Str, AttrDefault::Str("linear")),
        field("coordinate_transformation_mode", AttrType::Str, AttrDefault::Str("half_pixel")),
        field("rounding_method", AttrType::Str, AttrDefault::Str("round")),
        field("cubic_alpha", AttrType::Float, AttrDefault::Float(-0.5)),
        field("cubic_exclude", AttrType::Int, AttrDefault::Int(0)),
        field("extrapolation_value", AttrType::Float, AttrDefault::Float(0.0)),
        field("out_dtype", AttrType::DType, AttrDefault::DType(DataType::VOID)),
    ],
);

/// `relay.attrs.YoloReorgAttrs`
pub static YOLO_REORG: AttrSchema =
    schema("relay.attrs.YoloReorgAttrs", &[boxed("stride", AttrType::Int, AttrDefault::Int(1))]);

pub(super) static ALL: &[&AttrSchema] = &[
    &AFFINE_GRID,
    &ALL_CLASS_NON_MAXIMUM_SUPPRESSION,
    &CROP_AND_RESIZE,
    &GET_VALID_COUNTS,
    &GRID_SAMPLE,
    &MULTI_BOX_PRIOR,
    &MULTI_BOX_TRANSFORM_LOC,
    &NON_MAXIMUM_SUPPRESSION,
    &PROPOSAL,
    &ROI_ALIGN,
    &REGULAR_NON_MAXIMUM_SUPPRESSION,
    &RESIZE1D,
    &RESIZE2D,
    &RESIZE3D,
    &YOLO_REORG,
];
