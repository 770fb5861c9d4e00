//! Object detection: anchors, boxes, regions of interest, non-maximum suppression.

use types::AttrValue;

mod former;

use crate::prelude::*;
use former::{LIMITS, NMS_6, NMS_7, VALID_COUNTS_6, VALID_COUNTS_7};

const OVERLAPS: Cost = Cost::Undefined("it depends on how many boxes overlap");
const REGIONS: Cost = Cost::Undefined("it depends on the sizes of the regions");

/// The default up to TVM 0.7.
const NO_THRESHOLD: &[(&str, AttrDefault)] = &[("score_threshold", AttrDefault::Float(0.0))];

pub(crate) static OPERATORS: &[Operator] = &[
    op(
        "vision.all_class_non_max_suppression",
        &["boxes", "scores", "max_output_boxes_per_class", "iou_threshold", "score_threshold"],
    ).controls(&["max_output_boxes_per_class", "iou_threshold", "score_threshold"]).data(&["scores"]).since(8)
    .detached_attrs(&ALL_CLASS_NON_MAXIMUM_SUPPRESSION)
    .rule("AllClassNMS", all_class_nms)
    .cost(OVERLAPS)
    .doc(Doc {
        summary: "Keeps, for each class apart, the boxes with the best scores that do not overlap \
                  a better one.",
        args: &[
            "`(batch, boxes, 4)`: the boxes",
            "`(batch, classes, boxes)`: a score for each class and box",
            "a scalar: the maximum number of boxes per class",
            "a scalar: the overlap above which a box is suppressed",
            "a scalar: boxes that score less are removed",
        ],
        shape: "for \"onnx\": `(batch · classes · boxes, 3)` indices and their number `(1,)`; \
                otherwise `(batch, classes · boxes, 2)` indices, `(batch, classes · boxes)` \
                scores and `(batch,)` numbers",
        example: "vision.all_class_non_max_suppression(%boxes, %scores, %most, %iou, %score, \
                  output_format=\"onnx\", \
                  attrs_type_key=\"relay.attrs.AllClassNonMaximumSuppressionAttrs\")",
    }),
    op("vision.get_valid_counts", &["data", "score_threshold"]).in_category(Category::Movement).controls(&["score_threshold"]).since(6)
        .forms(&[
            form(Releases::between(7, 7), 1).as_operator(&VALID_COUNTS_7).defaults(NO_THRESHOLD),
            form(Releases::until(6), 1).as_operator(&VALID_COUNTS_6).defaults(NO_THRESHOLD),
        ])
        .detached_attrs(&GET_VALID_COUNTS)
        .rule("GetValidCount", get_valid_counts)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "Moves the boxes that score above a threshold to the front, and counts them.",
            args: &["`(batch, boxes, values)`: the boxes", "a scalar: the minimum score"],
            shape: "a tuple of three: counts `(batch,)`, boxes as in `data`, and indices \
                    `(batch, boxes)`",
            example: "vision.get_valid_counts(%boxes, 0.5f)",
        }),
    op("vision.multibox_prior", &["data"]).in_category(Category::Movement)
        .attrs(&MULTI_BOX_PRIOR)
        .rule("MultiBoxPrior", multibox_prior)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Creates anchor boxes of several sizes and ratios around each position of a \
                      feature map.",
            args: &["`(batch, channels, height, width)`: the feature map, for its shape"],
            shape: "`(1, height · width · (sizes + ratios - 1), 4)`",
            example: "vision.multibox_prior(%x, sizes=[0.3f, 0.7f], ratios=[1f, 2f])",
        }),
    op("vision.multibox_transform_loc", &["cls_prob", "loc_pred", "anchor"]).in_category(Category::Movement).data(&["loc_pred"])
        .attrs(&MULTI_BOX_TRANSFORM_LOC)
        .rule("MultiBoxTransformLoc", multibox_transform_loc)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "Moves anchor boxes by the predicted offsets, and assigns the best class to each.",
            args: &[
                "`(batch, classes, anchors)`: probabilities",
                "`(batch, 4 · anchors)`: offsets",
                "`(1, anchors, 4)`: the anchor boxes",
            ],
            shape: "a tuple of two: boxes `(batch, anchors, 6)` and counts `(batch,)`",
            example: "vision.multibox_transform_loc(%prob, %offsets, %anchors)",
        }),
    op(
        "vision.non_max_suppression",
        &["data", "valid_count", "indices", "max_output_size", "iou_threshold"],
    )
        .python(
            "data valid_count indices max_output_size=-1 iou_threshold=0.5f force_suppress \
             top_k coord_start score_index id_index return_indices invalid_to_bottom",
        ).controls(&["valid_count", "indices", "max_output_size", "iou_threshold"])
    .since(6)
    .forms(&[
        form(Releases::between(7, 7), 4).attrs(LIMITS).as_operator(&NMS_7),
        form(Releases::between(6, 6), 2).attrs(LIMITS).as_operator(&NMS_6),
    ])
    .detached_attrs(&NON_MAXIMUM_SUPPRESSION)
    .rule("NMS", non_max_suppression)
    .cost(OVERLAPS)
    .doc(Doc {
        summary: "Keeps the boxes with the best scores that do not overlap a better one.",
        args: &[
            "`(batch, boxes, values)`: the boxes",
            "`(batch,)`: the number of valid boxes",
            "`(batch, boxes)`: the original index of each box",
            "a scalar: the maximum number of boxes",
            "a scalar: the overlap above which a box is suppressed",
        ],
        shape: "with `return_indices`, indices `(batch, boxes)` and their numbers `(batch, 1)`; \
                the shape of `data` without",
        example: "vision.non_max_suppression(%boxes, %count, %indices, %most, %iou, \
                  return_indices=False, \
                  attrs_type_key=\"relay.attrs.NonMaximumSuppressionAttrs\")",
    }),
    op("vision.proposal", &["cls_prob", "bbox_pred", "im_info"]).controls(&["im_info"]).data(&["bbox_pred"]).since(6)
        .detached_attrs(&PROPOSAL)
        .rule("Proposal", proposal)
        .cost(OVERLAPS)
        .doc(Doc {
            summary: "Proposes regions from the scores and offsets of anchors.",
            args: &[
                "`(batch, 2 · anchors, height, width)`: scores",
                "`(batch, 4 · anchors, height, width)`: offsets",
                "`(batch, 3)`: height, width and scale of each image",
            ],
            shape: "`(batch · rpn_post_nms_top_n, 5)`",
            example: "vision.proposal(%prob, %offsets, %info, rpn_post_nms_top_n=300, \
                      attrs_type_key=\"relay.attrs.ProposalAttrs\")",
        }),
    op("vision.regular_non_max_suppression", &["boxes", "scores"]).data(&["scores"]).since(14)
        .detached_attrs(&REGULAR_NON_MAXIMUM_SUPPRESSION)
        .rule("RegularNMS", regular_nms)
        .cost(OVERLAPS)
        .doc(Doc {
            summary: "Keeps, for each class apart, the boxes with the best scores that do not \
                      overlap a better one, and of all classes the best.",
            args: &["`(batch, boxes, 4)`: the boxes", "`(batch, boxes, classes)`: the scores"],
            shape: "a tuple of four: boxes `(batch, max_detections, 4)`, classes and scores \
                    `(batch, max_detections)`, numbers `(batch,)`",
            example: "vision.regular_non_max_suppression(%boxes, %scores, \
                      max_detections_per_class=10, max_detections=100, num_classes=90, \
                      iou_threshold=0.5f, score_threshold=0.1f, \
                      attrs_type_key=\"relay.attrs.RegularNonMaximumSuppressionAttrs\")",
        }),
    op("vision.roi_align", &["data", "rois"]).controls(&["rois"]).other_axes().since(6)
        .detached_attrs(&ROI_ALIGN)
        .rule("ROIAlign", roi_align)
        .cost(REGIONS)
        .doc(Doc {
            summary: "Average-pools regions of a feature map to one size, with interpolation.",
            args: ROI_ARGS,
            shape: "the shape of `data` with `regions` for the batch, and `pooled_size` for the \
                    height and the width",
            example: "vision.roi_align(%x, %rois, pooled_size=[7, 7], spatial_scale=0.0625f, \
                      attrs_type_key=\"relay.attrs.ROIAlignAttrs\")",
        }),
    op("vision.roi_pool", &["data", "rois"]).in_category(Category::Reduction).controls(&["rois"]).other_axes().since(6)
        .detached_attrs(&ROI_POOL)
        .rule("ROIPool", roi_pool)
        .cost(REGIONS)
        .doc(Doc {
            summary: "Max-pools regions of a feature map to one size.",
            args: ROI_ARGS,
            shape: "the shape of `data` with `regions` for the batch, and `pooled_size` for the \
                    height and the width",
            example: "vision.roi_pool(%x, %rois, pooled_size=[7, 7], spatial_scale=0.0625f, \
                      attrs_type_key=\"relay.attrs.ROIPoolAttrs\")",
        }),
    op("vision.yolo_reorg", &["data"]).since(6)
        .attrs(&YOLO_REORG)
        .rule("YoloReorg", yolo_reorg)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Moves blocks of `stride × stride` elements to the channels.",
            args: &["`(batch, channels, height, width)`"],
            shape: "`(batch, channels · stride², height / stride, width / stride)`",
            example: "vision.yolo_reorg(%x, stride=2)",
        }),
];

const ROI_ARGS: &[&str] = &[
    "images in `layout`: `(n, c, h, w)` for \"NCHW\"",
    "`(regions, 5)`: `image, x1, y1, x2, y2` of each region",
];

/// Returns the shapes of boxes and scores, which must have three axes each.
fn boxes_and_scores(call: &Call<'_>, scores: &'static str) -> Result<(Shape, Shape), Halt> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    needs_rank(call, 0, &a, 3, "batch, boxes, 4")?;
    needs_rank(call, 1, &b, 3, scores)?;
    Ok((a.shape.clone(), b.shape.clone()))
}

/// Checks that each box has four numbers and a score; `count` is the axis of the scores with
/// the boxes.
fn scores_of_boxes(call: &Call<'_>, boxes: &[Dim], (scores, count): (&[Dim], usize)) -> Outcome {
    has_size(call, (0, 2, &boxes[2]), 4, "a box has four numbers")?;
    same_size(call, (1, 0, &scores[0]), (0, 0, &boxes[0]), "the first axis counts the images")?;
    let rule = "each box has a score";
    same_size(call, (1, count, &scores[count]), (0, 1, &boxes[1]), rule)
}

/// Checks that the attribute `name` is the position of `width` numbers of each box,
/// along axis 2 of the first argument.
fn within_box(
    call: &Call<'_>,
    data: &TensorType,
    (name, width): (&'static str, i64),
    optional: bool,
) -> Outcome {
    let Some(index) = known_int(call, name) else { return Ok(()) };
    if index < 0 && !optional {
        return at_least(call, name, 0);
    }
    let Some(size) = data.shape[2].as_known().filter(|&size| index.saturating_add(width) > size)
    else {
        return Ok(());
    };
    let data = call.name(0);
    let message = text!("`{name}` is {index}, but each box of {data} has {size} numbers");
    let rule = match width {
        1 => text!("`{name}` is the position of a number along axis 2 of {data}"),
        n => text!("`{name}` is the position of the first of {n} numbers along axis 2 of {data}"),
    };
    fault(call, Code::AttributeValue, message)
        .rule(rule)
        .attribute(name, text!("{index}"))
        .axis(0, 2, size)
        .fail()
}

fn all_class_nms(call: &mut Call<'_>) -> Outcome {
    let (boxes, scores) = boxes_and_scores(call, "batch, classes, boxes")?;
    needs_attrs(call, ALL_CLASS_NON_MAXIMUM_SUPPRESSION.key)?;
    call.lenient(scores_of_boxes(call, &boxes, (&scores, 2)))?;
    let (batch, count, classes) = (&boxes[0], &boxes[1], &scores[1]);
    let int64 = |shape: &[Dim]| Type::tensor(shape.iter().cloned(), DataType::INT64);
    if call.attrs().str("output_format") == "onnx" {
        let total = batch * &(classes * count);
        let fields = [int64(&[total, Dim::known(3)]), int64(&[Dim::known(1)])];
        return call.output(Type::tuple(fields));
    }
    let total = classes * count;
    let scores = Type::tensor([batch.clone(), total.clone()], DataType::FLOAT32);
    let indices = int64(&[batch.clone(), total, Dim::known(2)]);
    call.output(Type::tuple([indices, scores, int64(std::slice::from_ref(batch))]))
}

fn regular_nms(call: &mut Call<'_>) -> Outcome {
    let (boxes, scores) = boxes_and_scores(call, "batch, boxes, classes")?;
    needs_attrs(call, REGULAR_NON_MAXIMUM_SUPPRESSION.key)?;
    call.lenient(scores_of_boxes(call, &boxes, (&scores, 1)))?;
    for name in ["max_detections_per_class", "max_detections", "num_classes"] {
        call.lenient(at_least(call, name, 0))?;
    }
    if let (Some(expected), Some(found)) = (known_int(call, "num_classes"), scores[2].as_known())
        && expected > found
    {
        let name = call.name(1);
        let check = fault(
            call,
            Code::ShapeMismatch,
            text!("axis 2 of {name} has size {found}, but `num_classes` is {expected}"),
        )
        .rule(text!("axis 2 of {name} has a score for each class, the background before them"))
        .axis(1, 2, found)
        .attribute("num_classes", text!("{expected}"))
        .fail();
        call.lenient(check)?;
    }
    let Some(most) = call.attrs().int("max_detections") else { return Err(Halt::Silent) };
    let (batch, most) = (&boxes[0], Dim::known(most));
    let each = Type::tensor([batch.clone(), most.clone()], DataType::FLOAT32);
    let kept = Type::tensor([batch.clone(), most, Dim::known(4)], DataType::FLOAT32);
    let numbers = Type::tensor([batch.clone()], DataType::INT32);
    call.output(Type::tuple([kept, each.clone(), each, numbers]))
}

fn get_valid_counts(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    needs_rank(call, 0, &data, 3, "batch, boxes, values")?;
    // The attribute of that name is an older form of the argument, which TVM still accepts.
    if let Some(integer) = Some(call.attrs().get("score_threshold"))
        .filter(|value| matches!(value, AttrValue::Int { .. } | AttrValue::Bool(_)))
        .and_then(AttrValue::as_int)
    {
        return Reason::new(
            Code::AttributeValue,
            text!(
                "`{}`: `score_threshold` takes a floating point number, but {integer} is an \
                 integer",
                call.operator()
            ),
        )
        .attribute("score_threshold", text!("{integer}"))
        .fix("score_threshold", Number(integer as f64))
        .fail();
    }
    call.lenient(within_box(call, &data, ("score_index", 1), false))?;
    call.lenient(within_box(call, &data, ("id_index", 1), true))?;
    let counts = Type::tensor(data.shape.iter().take(1).cloned(), DataType::INT32);
    let indices = Type::tensor(data.shape.iter().take(2).cloned(), DataType::INT32);
    call.output(Type::tuple([counts, Type::Tensor(data), indices]))
}

fn non_max_suppression(call: &mut Call<'_>) -> Outcome {
    let (data, counts) = (call.tensor(0)?, call.tensor(1)?);
    needs_rank(call, 0, &data, 3, "batch, boxes, values")?;
    needs_rank(call, 1, &counts, 1, "the number of valid boxes of each sample")?;
    needs_attrs(call, NON_MAXIMUM_SUPPRESSION.key)?;
    call.lenient(within_box(call, &data, ("coord_start", 4), false))?;
    call.lenient(within_box(call, &data, ("score_index", 1), false))?;
    call.lenient(within_box(call, &data, ("id_index", 1), true))?;
    let rule = "each image has a number of boxes";
    call.lenient(same_size(call, (1, 0, &counts.shape[0]), (0, 0, &data.shape[0]), rule))?;
    if call.attrs().bool("return_indices") && call.is_tensor(2) {
        let indices = call.tensor(2)?;
        call.lenient(index_of_boxes(call, &indices, &data))?;
    }
    if !call.attrs().bool("return_indices") {
        return call.output_tensor(data.shape.clone(), data.dtype);
    }
    let batch = data.shape[0].clone();
    let indices = Type::tensor(data.shape.iter().take(2).cloned(), DataType::INT32);
    let numbers = Type::tensor([batch, Dim::known(1)], DataType::INT32);
    call.output(Type::tuple([indices, numbers]))
}

/// Checks that each box has an index.
fn index_of_boxes(call: &Call<'_>, indices: &TensorType, data: &TensorType) -> Outcome {
    let (found, boxes) = (element_count(&indices.shape), element_count(&data.shape[..2]));
    match (found, boxes) {
        (Some(found), Some(boxes)) if found != boxes => {
            let (name, of) = (call.name(2), call.name(0));
            let message = text!("{name} has {found} elements, {of} has {boxes} boxes");
            fault(call, Code::ShapeMismatch, message)
                .rule("each box of each image has an index")
                .argument(2, shape_text(&indices.shape))
                .argument(0, shape_text(&data.shape))
                .fail()
        }
        _ => Ok(()),
    }
}

fn multibox_prior(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let [_, _, height, width] = &*data.shape else {
        return needs_rank(call, 0, &data, 4, "batch, channels, height, width");
    };
    let length = |name: &str| match call.attrs().get(name) {
        AttrValue::List(values) => i64::try_from(values.len()).map_err(|_| Halt::Silent),
        AttrValue::None => Ok(0),
        _ => Err(Halt::Silent),
    };
    let boxes = height * width * (length("sizes")? + length("ratios")? - 1);
    call.output_tensor([Dim::known(1), boxes, Dim::known(4)], data.dtype)
}

fn multibox_transform_loc(call: &mut Call<'_>) -> Outcome {
    let (prob, offsets, anchors) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    needs_rank(call, 0, &prob, 3, "batch, classes, anchors")?;
    needs_rank(call, 1, &offsets, 2, "batch, 4 · anchors")?;
    needs_rank(call, 2, &anchors, 3, "1, anchors, 4")?;
    let operator = call.operator();
    let (p, o, a) = (call.name(0), call.name(1), call.name(2));
    let (here, there) = (&prob.shape[2], &anchors.shape[1]);
    if !may_equal(here, there) {
        return Reason::new(
            Code::ShapeMismatch,
            text!("`{operator}`: {p} is for {here} anchors, but {a} has {there}"),
        )
        .rule(text!("axis 2 of {p} and axis 1 of {a} are the anchors: {here} ≠ {there}"))
        .axis(2, 1, Fact::Size(there.clone(), "anchors"))
        .axis(0, 2, Fact::Size(here.clone(), "anchors"))
        .fail();
    }
    let (expected, found) = (here * 4, &offsets.shape[1]);
    if !may_equal(&expected, found) {
        return Reason::new(
            Code::ShapeMismatch,
            text!("`{operator}`: {o} has {found} offsets, but {here} anchors require {expected}"),
        )
        .rule(text!("axis 1 of {o} has 4 offsets for each anchor: 4 · {here} ≠ {found}"))
        .axis(1, 1, Fact::Size(found.clone(), "offsets"))
        .axis(0, 2, Fact::Size(here.clone(), "anchors"))
        .fail();
    }
    if there.as_known().is_some_and(|count| count <= 0) {
        return Reason::new(Code::ShapeMismatch, text!("`{operator}`: {a} has no anchors"))
            .rule(text!("axis 1 of {a} must be more than 0"))
            .axis(2, 1, there)
            .fail();
    }
    let corners = &anchors.shape[2];
    if !may_equal(corners, &Dim::known(4)) {
        return Reason::new(
            Code::ShapeMismatch,
            text!("`{operator}`: each anchor of {a} has {corners} numbers, expected 4"),
        )
        .rule(text!("axis 2 of {a} contains the corners of an anchor box"))
        .axis(2, 2, corners)
        .fail();
    }
    let rule = "each image has offsets";
    call.lenient(same_size(call, (1, 0, &offsets.shape[0]), (0, 0, &prob.shape[0]), rule))?;
    let rule = "the anchors are the same for all images";
    call.lenient(has_size(call, (2, 0, &anchors.shape[0]), 1, rule))?;
    for (position, dtype) in [(1, offsets.dtype), (2, anchors.dtype)] {
        if dtype != prob.dtype {
            call.lenient(dtype_mismatch(call, (0, prob.dtype), (position, dtype)))?;
        }
    }
    let batch = prob.shape[0].clone();
    let boxes = Type::tensor([batch.clone(), there.clone(), Dim::known(6)], prob.dtype);
    call.output(Type::tuple([boxes, Type::tensor([batch], DataType::INT32)]))
}

fn proposal(call: &mut Call<'_>) -> Outcome {
    let (prob, offsets, info) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    needs_rank(call, 0, &prob, 4, "batch, 2 · anchors, height, width")?;
    needs_rank(call, 1, &offsets, 4, "batch, 4 · anchors, height, width")?;
    needs_rank(call, 2, &info, 2, "batch, 3")?;
    let numbers = &info.shape[1];
    if !may_equal(numbers, &Dim::known(3)) {
        let (operator, name) = (call.operator(), call.name(2));
        return Reason::new(
            Code::ShapeMismatch,
            text!("`{operator}`: {name} has {numbers} numbers for each image, expected 3"),
        )
        .rule(text!("axis 1 of {name} contains height, width and scale"))
        .axis(2, 1, numbers)
        .fail();
    }
    needs_attrs(call, PROPOSAL.key)?;
    call.lenient(fits_anchors(call, [&prob, &offsets, &info]))?;
    let Some(kept) = call.attrs().int("rpn_post_nms_top_n") else { return Err(Halt::Silent) };
    call.output_tensor([&prob.shape[0] * kept, Dim::known(5)], prob.dtype)
}

/// Checks that each anchor at each position has scores and offsets, and that there are as many
/// anchors as scales and ratios make.
fn fits_anchors(call: &Call<'_>, [prob, offsets, info]: [&TensorType; 3]) -> Outcome {
    let rule = "each image has a row";
    same_size(call, (2, 0, &info.shape[0]), (0, 0, &prob.shape[0]), rule)?;
    let length = |name| call.attrs().get(name).as_list().map(|values| values.len() as i64);
    let Some(channels) = prob.shape[1].as_known() else { return Ok(()) };
    if let (Some(scales), Some(ratios)) = (length("scales"), length("ratios"))
        && channels / 2 != scales * ratios
    {
        return fault(
            call,
            Code::ShapeMismatch,
            text!(
                "axis 1 of {} has size {channels}, but there are {} anchors",
                call.name(0),
                scales * ratios
            ),
        )
        .rule("each anchor has two scores, and each combination of scale and ratio has an anchor")
        .axis(0, 1, channels)
        .attribute("scales", count(scales as usize, "value", "values"))
        .attribute("ratios", count(ratios as usize, "value", "values"))
        .fail();
    }
    let places = [&prob.shape[0], &prob.shape[2], &prob.shape[3]].map(Clone::clone);
    let expected = element_count(&places)
        .map(|places| places.saturating_mul(i128::from(channels / 2)).saturating_mul(4));
    match (element_count(&offsets.shape), expected) {
        (Some(found), Some(expected)) if found != expected => {
            let (p, o) = (call.name(0), call.name(1));
            fault(
                call,
                Code::ShapeMismatch,
                text!("{o} has {found} elements, expected {expected} for {p}"),
            )
            .rule("each anchor has four offsets at each position")
            .argument(1, shape_text(&offsets.shape))
            .argument(0, shape_text(&prob.shape))
            .fail()
        }
        _ => Ok(()),
    }
}

fn roi_align(call: &mut Call<'_>) -> Outcome {
    regions(call, ROI_ALIGN.key)
}

fn roi_pool(call: &mut Call<'_>) -> Outcome {
    regions(call, ROI_POOL.key)
}

/// Pools each region of interest to `pooled_size`.
fn regions(call: &mut Call<'_>, key: &'static str) -> Outcome {
    let (data, rois) = (call.require_tensor(0)?, call.require_tensor(1)?);
    needs_attrs(call, key)?;
    needs_rank(call, 0, &data, 4, "batch, channels, height, width")?;
    needs_rank(call, 1, &rois, 2, "regions, 5")?;
    let operator = call.operator();
    let (channels, spatial) = match call.attrs().str("layout") {
        "NCHW" => (1, 2),
        "NHWC" => (3, 1),
        other => {
            return Reason::new(
                Code::InvalidLayout,
                text!("`{operator}` does not accept the layout \"{other}\""),
            )
            .rule("`layout` is \"NCHW\" or \"NHWC\"")
            .attribute("layout", text!("\"{other}\""))
            .fix("layout", "NCHW")
            .fail();
        }
    };
    let size = list_attr(call, "pooled_size")?;
    let [height, width, ..] = &*size else {
        let found = count(size.len(), "value", "values");
        return Reason::new(
            Code::AttributeLength,
            text!("`{operator}`: `pooled_size` has {found}, expected 2"),
        )
        .rule("`pooled_size` is the height and the width of the pooled regions")
        .attribute("pooled_size", found)
        .fail();
    };
    let rule = "a region has five numbers: its image, and two corners";
    call.lenient(has_size(call, (1, 1, &rois.shape[1]), 5, rule))?;
    let mut shape = data.shape.clone();
    shape[0] = rois.shape[0].clone();
    shape[channels] = data.shape[channels].clone();
    shape[spatial] = height.clone();
    shape[spatial + 1] = width.clone();
    call.output_tensor(shape, data.dtype)
}

fn yolo_reorg(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let [batch, channels, height, width] = &*data.shape else {
        return needs_rank(call, 0, &data, 4, "batch, channels, height, width");
    };
    // `True` counts as 1.
    let stride = call.attrs().dim("stride");
    let Some(stride) = stride.or_else(|| call.attrs().int("stride").map(Dim::known)) else {
        return Err(Halt::Silent);
    };
    if stride.is(0) {
        return Reason::new(
            Code::AttributeValue,
            text!("`{}`: `stride` must not be 0", call.operator()),
        )
        .rule("the height and the width are divided by `stride`")
        .attribute("stride", "0")
        .fix("stride", 1)
        .fail();
    }
    call.lenient(at_least(call, "stride", 1))?;
    if let (Some(found), Some(step)) = (channels.as_known(), stride.as_known())
        && found < step.saturating_mul(step)
    {
        let check = fault(
            call,
            Code::ShapeMismatch,
            text!("axis 1 of {} has size {found}, and `stride` is {step}", call.name(0)),
        )
        .rule("there must be `stride` · `stride` channels at least")
        .axis(0, 1, found)
        .attribute("stride", text!("{step}"))
        .fail();
        call.lenient(check)?;
    }
    let deep = channels * &stride * stride.clone();
    call.output_tensor([batch.clone(), deep, height / &stride, width / &stride], data.dtype)
}
