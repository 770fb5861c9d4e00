//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("vision.all_class_non_max_suppression", &["boxes", "scores", "max_output_boxes_per_class", "iou_threshold", "score_threshold"]),
    op("vision.get_valid_counts", &["data", "score_threshold"]),
    op("vision.multibox_prior", &["data"]).attrs(&MULTI_BOX_PRIOR),
    op("vision.multibox_transform_loc", &["cls_prob", "loc_pred", "anchor"]).attrs(&MULTI_BOX_TRANSFORM_LOC),
    op("vision.non_max_suppression", &["data", "valid_count", "indices", "max_output_size", "iou_threshold"]),
    op("vision.proposal", &["cls_prob", "bbox_pred", "im_info"]),
    op("vision.regular_non_max_suppression", &["boxes", "scores"]),
    op("vision.roi_align", &["data", "rois"]),
    op("vision.roi_pool", &["data", "rois"]),
    op("vision.yolo_reorg", &["data"]).attrs(&YOLO_REORG),
];
