//! Attributes that operators declare: images and detection.

use super::*;

attrs! {
    AFFINE_GRID = "relay.attrs.AffineGridAttrs" { target_shape: Dims }

    ALL_CLASS_NON_MAXIMUM_SUPPRESSION = "relay.attrs.AllClassNonMaximumSuppressionAttrs" {
        output_format: Str = "onnx",
    }

    CROP_AND_RESIZE = "relay.attrs.CropAndResizeAttrs" {
        crop_size: Dims = None,
        layout: Layout = "NCHW",
        method: Str = "bilinear",
        extrapolation_value: Float = 0.0,
        out_dtype: DType = VOID,
    }

    GET_VALID_COUNTS = "relay.attrs.GetValidCountsAttrs" {
        score_threshold: boxed Float,
        id_index: Int = 0,
        score_index: Int = 1,
    }

    GRID_SAMPLE = "relay.attrs.GridSampleAttrs" {
        method: boxed Str = "bilinear",
        layout: boxed Layout = "NCHW",
        padding_mode: boxed Str = "zeros" since 9,
        align_corners: Bool = true since 9,
    }

    MULTI_BOX_PRIOR = "relay.attrs.MultiBoxPriorAttrs" {
        sizes: Floats = [1.0],
        ratios: Floats = [1.0],
        steps: Floats = [-1.0, -1.0],
        offsets: Floats = [0.5, 0.5],
        clip: Bool = false,
    }

    MULTI_BOX_TRANSFORM_LOC = "relay.attrs.MultiBoxTransformLocAttrs" {
        clip: Bool = true,
        threshold: Float = 0.01,
        variances: Floats = [0.1, 0.1, 0.2, 0.2],
        keep_background: Bool = false since 14,
    }

    NON_MAXIMUM_SUPPRESSION = "relay.attrs.NonMaximumSuppressionAttrs" {
        force_suppress: Bool = false,
        top_k: Int = -1,
        coord_start: Int = 2,
        score_index: Int = 1,
        id_index: Int = 0,
        return_indices: Bool = true,
        invalid_to_bottom: Bool = false,
    }

    PROPOSAL = "relay.attrs.ProposalAttrs" {
        scales: Floats = [4.0, 8.0, 16.0, 32.0],
        ratios: Floats = [0.5, 1.0, 2.0],
        feature_stride: Int = 16,
        threshold: Float = 0.7,
        rpn_pre_nms_top_n: Int = 6000,
        rpn_post_nms_top_n: Int = 300,
        rpn_min_size: Int = 16,
        iou_loss: Bool = false,
    }

    ROI_ALIGN = "relay.attrs.ROIAlignAttrs" {
        pooled_size: Dims,
        spatial_scale: Float,
        sample_ratio: Int = -1,
        layout: Choice ["NCHW", "NHWC"] = "NCHW",
        mode: Str = "avg" since 8,
    }

    REGULAR_NON_MAXIMUM_SUPPRESSION = "relay.attrs.RegularNonMaximumSuppressionAttrs" {
        max_detections_per_class: Int,
        max_detections: Int,
        num_classes: Int,
        iou_threshold: Float,
        score_threshold: Float,
    }

    /// `image.resize` up to TVM 0.7: `align_corners` in 0.5 and 0.6, `coordinate_transformation_mode` in 0.7.
    RESIZE_7 = "relay.attrs.ResizeAttrs" {
        size: Dims = None,
        layout: Layout = "NCHW",
        method: Str = "bilinear",
        coordinate_transformation_mode: Str = "half_pixel" since 7,
        align_corners: Bool = true until 6,
        out_dtype: DType = VOID since 6,
    }

    RESIZE1D = "relay.attrs.Resize1DAttrs" {
        size: Dims = None,
        roi: boxed Floats = None since 9,
        layout: Layout = "NCW",
        method: Str = "linear",
        coordinate_transformation_mode: Str = "half_pixel",
        rounding_method: Str = "round",
        cubic_alpha: Float = -0.5,
        cubic_exclude: Int = 0,
        extrapolation_value: Float = 0.0 since 9,
        out_dtype: DType = VOID,
    }

    RESIZE2D = "relay.attrs.Resize2DAttrs" {
        size: Dims = None,
        roi: boxed Floats = None since 9,
        layout: Layout = "NCHW",
        method: Str = "linear",
        coordinate_transformation_mode: Str = "half_pixel",
        rounding_method: Str = "round",
        cubic_alpha: Float = -0.5,
        cubic_exclude: Int = 0,
        extrapolation_value: Float = 0.0 since 9,
        out_dtype: DType = VOID,
    }

    RESIZE3D = "relay.attrs.Resize3DAttrs" {
        size: Dims = None,
        roi: boxed Floats = None since 9,
        layout: Layout = "NCDHW",
        method: Str = "linear",
        coordinate_transformation_mode: Str = "half_pixel",
        rounding_method: Str = "round" since 8,
        cubic_alpha: Float = -0.5 since 8,
        cubic_exclude: Int = 0 since 8,
        extrapolation_value: Float = 0.0 since 9,
        out_dtype: DType = VOID,
    }

    YOLO_REORG = "relay.attrs.YoloReorgAttrs" { stride: boxed Int = 1 }
}
