"""Detection: boxes, their overlap, regions of feature maps."""

import math

import numpy as np

from cases import away, case, floats, ints
from layoutof import relaid


def _boxes(*shape):
    """Two corners each, between 0 and 10."""
    first = floats(*shape, 2, low=0, high=6)
    return np.concatenate([first, first + floats(*shape, 2, low=0.5, high=4)], -1).astype("float32")


def _distinct(*shape):
    """Distinct scores, so that their order is unique."""
    count = int(np.prod(shape))
    order = np.argsort(floats(count))
    return ((order + 1) / (count + 1)).reshape(shape).astype("float32")


def _overlap(a, b):
    """The intersection of two boxes divided by their union."""
    sides = [(min(box[k], box[k + 2]), max(box[k], box[k + 2])) for k in (0, 1) for box in (a, b)]
    common = 1.0
    for one, other in (sides[:2], sides[2:]):
        common *= max(0.0, min(one[1], other[1]) - max(one[0], other[0]))
    area = lambda box: abs(box[2] - box[0]) * abs(box[3] - box[1])
    both = area(a) + area(b) - common
    return common / both if both > 0 else 0.0


def regions():
    rois = np.array([[0, 1, 2, 7, 9], [1, -3, 0.5, 20, 4], [0, 5, 5, 5, 5], [1, 0, 0, 30, 30], [0, 9.3, 8.1, 3, 2]],
                    "float32")
    x, scale = floats(2, 2, 8, 7), 0.7

    def between(plane, y, x):
        height, width = plane.shape
        if not (-1 <= y <= height and -1 <= x <= width):
            return 0.0
        y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
        top, left = min(int(y), max(height - 2, 0)), min(int(x), max(width - 2, 0))
        v, h = y - top, x - left
        return ((1 - v) * ((1 - h) * plane[top, left] + h * plane[top, left + 1])
                + v * ((1 - h) * plane[top + 1, left] + h * plane[top + 1, left + 1]))

    def aligned(high, wide, ratio, mode):
        out = np.zeros((len(rois), 2, high, wide))
        for k, (image, x1, y1, x2, y2) in enumerate(rois.astype("float64")):
            tall, broad = max((y2 - y1) * scale, 1) / high, max((x2 - x1) * scale, 1) / wide
            rows, columns = (ratio, ratio) if ratio > 0 else (math.ceil(tall), math.ceil(broad))
            for c, i, j in np.ndindex(2, high, wide):
                values = [between(x[int(image), c], y1 * scale + (i + (r + 0.5) / rows) * tall,
                                  x1 * scale + (j + (s + 0.5) / columns) * broad)
                          for r in range(rows) for s in range(columns)]
                out[k, c, i, j] = max(values) if mode == "max" else sum(values) / len(values)
        return out.astype("float32")

    for mode in ("avg", "max"):
        for ratio in (-1, 2):
            out = aligned(3, 2, ratio, mode)
            tail = f'pooled_size=[3, 2], spatial_scale=0.7f, sample_ratio={ratio}, mode="{mode}"'
            case(f'vision.roi_align(%a, %b, {tail}, layout="NCHW", attrs_type_key="relay.attrs.ROIAlignAttrs")',
                 [x, rois], out, 1e-4)
            case(f'vision.roi_align(%a, %b, {tail}, layout="NHWC", attrs_type_key="relay.attrs.ROIAlignAttrs")',
                 [relaid(x, "NCHW", "NHWC"), rois], relaid(out, "NCHW", "NHWC"), 1e-4)
    out = np.zeros((len(rois), 2, 3, 2))
    for k, (image, *corners) in enumerate(rois.astype("float64")):
        x1, y1, x2, y2 = (int(away(corner * scale)) for corner in corners)
        tall, broad = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)
        for c, i, j in np.ndindex(2, 3, 2):
            # Rounded outward to integers.
            rows = np.clip([i * tall // 3 + y1, -(-(i + 1) * tall // 3) + y1], 0, 8)
            columns = np.clip([j * broad // 2 + x1, -(-(j + 1) * broad // 2) + x1], 0, 7)
            part = x[int(image), c, rows[0]:rows[1], columns[0]:columns[1]]
            out[k, c, i, j] = part.max() if part.size else 0
    case('vision.roi_pool(%a, %b, pooled_size=[3, 2], spatial_scale=0.7f, layout="NCHW", attrs_type_key="relay.attrs.ROIPoolAttrs")',
         [x, rois], out.astype("float32"))


def reorganised():
    """Moves the positions of squares to planes of their own."""
    for stride, shape in ((2, (1, 8, 4, 6)), (3, (1, 9, 3, 6)), (1, (1, 2, 2, 3))):
        x = floats(*shape)
        _, channels, height, width = shape
        few = channels // stride**2
        squares = x.reshape(few, height, stride, width, stride).transpose(2, 4, 0, 1, 3)
        out = squares.reshape(1, channels * stride**2, height // stride, width // stride)
        case(f"vision.yolo_reorg(%a, stride={stride})", [x], out)


def anchors():
    x = floats(1, 2, 2, 3)
    for sizes, ratios, steps, offsets, clip in (([0.3, 0.7], [1.0, 2.0, 0.5], [-1.0, -1.0], [0.5, 0.5], False),
                                                ([0.9], [1.0, 3.0], [0.1, 0.2], [0.2, 0.7], True)):
        boxes = []
        for i, j in np.ndindex(2, 3):
            middle = ((j + offsets[1]) * (steps[1] if steps[1] > 0 else 1 / 3),
                      (i + offsets[0]) * (steps[0] if steps[0] > 0 else 1 / 2))
            # Each size in the first ratio, and the first size in the other ratios.
            for size, ratio in [(size, 1.0) for size in sizes] + [(sizes[0], ratio) for ratio in ratios[1:]]:
                half = (size * 2 / 3 * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2)
                boxes.append([middle[0] - half[0], middle[1] - half[1], middle[0] + half[0], middle[1] + half[1]])
        out = np.array([boxes])
        written = lambda values: "[" + ", ".join(f"{value:g}f" for value in values) + "]"
        case(f"vision.multibox_prior(%a, sizes={written(sizes)}, ratios={written(ratios)}, steps={written(steps)}, "
             f"offsets={written(offsets)}, clip={clip})", [x], (np.clip(out, 0, 1) if clip else out).astype("float32"))


def moved_anchors():
    probabilities, offsets = _distinct(2, 3, 4), floats(2, 16)
    anchor = np.array([[[0.1, 0.2, 0.5, 0.6], [0, 0, 1, 1], [0.3, 0.1, 0.9, 0.4], [0.5, 0.5, 0.8, 0.9]]], "float32")
    variances = [0.1, 0.1, 0.2, 0.2]
    for background, clip in ((False, True), (True, False), (False, False)):
        rows, counts = [], []
        for n in range(2):
            kept = []
            for k in range(4):
                classes = list(range(0 if background else 1, 3))
                best = max(classes, key=lambda c: probabilities[n, c, k])
                score = probabilities[n, best, k]
                if best > 0 and score < 0.5:
                    best = 0
                if not background and best == 0:
                    continue
                left, top, right, bottom = anchor[0, k].astype("float64")
                px, py, pw, ph = offsets[n, 4 * k:4 * k + 4].astype("float64") * variances
                x, y = px * (right - left) + (left + right) / 2, py * (bottom - top) + (top + bottom) / 2
                w, h = math.exp(pw) * (right - left) / 2, math.exp(ph) * (bottom - top) / 2
                box = [x - w, y - h, x + w, y + h]
                kept.append([best - (0 if background else 1), score, *(np.clip(box, 0, 1) if clip else box)])
            rows.append(kept)
            counts.append(len(kept))
        # Rows after the boxes are undefined.
        least = min(counts)
        expr = (f"let %x = vision.multibox_transform_loc(%a, %b, %c, clip={clip}, threshold=0.5f, "
                f"variances=[0.1f, 0.1f, 0.2f, 0.2f], keep_background={background}); "
                f"(strided_slice(%x.0, begin=[0, 0, 0], end=[2, {least}, 6], strides=[1], axes=None), %x.1)")
        case(expr, [probabilities, offsets, anchor],
             [np.array([row[:least] for row in rows], "float32").reshape(2, least, 6), np.array(counts, "int32")])


def counts():
    x = np.concatenate([ints(2, 6, 1, low=-1, high=3).astype("float32"), _distinct(2, 6, 1), _boxes(2, 6)], -1)
    for id_index in (0, -1):
        out, order, found = np.full(x.shape, -1.0, "float32"), np.full((2, 6), -1, "int32"), []
        for n in range(2):
            kept = [k for k in range(6) if x[n, k, 1] > 0.4 and (id_index < 0 or x[n, k, id_index] >= 0)]
            out[n, :len(kept)], order[n, :len(kept)] = x[n, kept], kept
            found.append(len(kept))
        case(f'vision.get_valid_counts(%a, 0.4f, score_threshold=None, id_index={id_index}, score_index=1, '
             'attrs_type_key="relay.attrs.GetValidCountsAttrs")', [x],
             [np.array(found, "int32"), out, order])


def suppression():
    """Greedy suppression: best first, and none that overlaps a better one of its class."""
    count = 8
    x = np.concatenate([ints(2, count, 1, low=0, high=2).astype("float32"), _distinct(2, count, 1), _boxes(2, count)],
                       -1)
    valid, indices = np.array([8, 6], "int32"), np.stack([np.arange(8)[::-1], np.arange(8)]).astype("int32").copy()

    def suppressed(n, most, threshold, force, top_k, id_index):
        order = sorted(range(valid[n]), key=lambda k: -x[n, k, 1])
        order = order[:top_k] if top_k > 0 else order
        kept = []
        for k in order:
            better = [other for other in kept if other is not None]
            same = [other for other in better if force or id_index < 0 or x[n, k, id_index] == x[n, other, id_index]]
            free = all(_overlap(x[n, k, 2:].astype("float64"), x[n, other, 2:].astype("float64")) < threshold
                       for other in same)
            kept.append(k if free and len(better) != most else None)
        return kept

    for most, force, top_k, id_index in ((-1, False, -1, 0), (-1, True, -1, 0), (2, False, -1, 0), (-1, False, 5, -1),
                                         (3, True, 4, 0)):
        tail = (f"%b, %c, {most}, 0.2f, force_suppress={force}, top_k={top_k}, coord_start=2, score_index=1, id_index={id_index}, "
                'attrs_type_key="relay.attrs.NonMaximumSuppressionAttrs"')
        kept = [suppressed(n, most, 0.2, force, top_k, id_index) for n in range(2)]
        for bottom in (False, True):
            out = np.full(x.shape, -1.0, "float32")
            for n in range(2):
                rows = [k for k in kept[n] if k is not None] if bottom else kept[n]
                for row, k in enumerate(rows):
                    if k is not None:
                        out[n, row] = x[n, k]
            case(f"vision.non_max_suppression(%a, {tail}, return_indices=False, invalid_to_bottom={bottom})",
                 [x, valid, indices], out)
        out, found = np.full((2, count), -1, "int32"), np.zeros((2, 1), "int32")
        for n in range(2):
            rows = [indices[n, k] for k in kept[n] if k is not None]
            out[n, :len(rows)], found[n] = rows, len(rows)
        case(f"vision.non_max_suppression(%a, {tail}, return_indices=True)", [x, valid, indices], [out, found])


def of_all_classes():
    boxes, scores = _boxes(2, 7), _distinct(2, 2, 7)

    def chosen(n, c, most, threshold, least):
        order = [k for k in sorted(range(7), key=lambda k: -scores[n, c, k]) if scores[n, c, k] > least]
        kept = []
        for k in order:
            if len(kept) < (most if most > 0 else 7) and all(_overlap(boxes[n, k], boxes[n, other]) < threshold
                                                             for other in kept):
                kept.append(k)
        return kept

    for most, threshold, least in ((5, 0.2, 0.1), (-1, 0.4, 0.4), (1, 0.1, 0.0)):
        head = f"vision.all_class_non_max_suppression(%a, %b, {most}, {threshold}f, {least}f, output_format="
        tail = ', attrs_type_key="relay.attrs.AllClassNonMaximumSuppressionAttrs"'
        rows = [[n, c, k] for n in range(2) for c in range(2) for k in chosen(n, c, most, threshold, least)]
        # Rows after the boxes are undefined.
        case(f'let %x = {head}"onnx"{tail}); (strided_slice(%x.0, begin=[0], end=[{len(rows)}], strides=[1], axes=[0]), %x.1)',
             [boxes, scores], [np.array(rows, "int64"), np.array([len(rows)], "int64")])
        out, values, found = np.zeros((2, 14, 2), "int64"), np.zeros((2, 14), "float32"), []
        for n in range(2):
            kept = [(c, k) for c in range(2) for k in chosen(n, c, most, threshold, least)]
            out[n, :len(kept)], values[n, :len(kept)] = kept, [scores[n, c, k] for c, k in kept]
            found.append(len(kept))
        case(f'{head}"tensorflow"{tail})', [boxes, scores], [out, values, np.array(found, "int64")])


def regular():
    boxes, scores = _boxes(2, 6), _distinct(2, 6, 3)
    # Class 0 is the background; the best of all classes are kept.
    for each, most, threshold, least in ((2, 3, 0.3, 0.2), (5, 8, 0.1, 0.4)):
        out = [np.zeros((2, most, 4), "float32"), np.zeros((2, most), "float32"), np.zeros((2, most), "float32"),
               np.zeros(2, "int32")]
        for n in range(2):
            found = []
            for c in range(2):
                kept = []
                for k in sorted(range(6), key=lambda k: -scores[n, k, c + 1]):
                    if scores[n, k, c + 1] >= least and len(kept) < each \
                            and all(_overlap(boxes[n, k], boxes[n, other]) <= threshold for other in kept):
                        kept.append(k)
                found += [(scores[n, k, c + 1], k, c) for k in kept]
            found = sorted(found, reverse=True)[:most]
            for row, (score, k, c) in enumerate(found):
                out[0][n, row], out[1][n, row], out[2][n, row] = boxes[n, k], c, score
            out[3][n] = len(found)
        case(f"vision.regular_non_max_suppression(%a, %b, max_detections_per_class={each}, max_detections={most}, num_classes=2, "
             f'iou_threshold={threshold}f, score_threshold={least}f, attrs_type_key="relay.attrs.RegularNonMaximumSuppressionAttrs")',
             [boxes, scores], out)


def proposals():
    high, wide, scales, ratios, stride = 3, 2, [4.0, 8.0], [0.5, 1.0, 2.0], 16
    count = len(scales) * len(ratios)
    probabilities, deltas = _distinct(1, 2 * count, high, wide), floats(1, 4 * count, high, wide) / 10
    for info, threshold, before, after, iou_loss in (([48, 32, 1], 0.7, 200, 10, False),
                                                     ([40, 32, 0.5], 0.3, 12, 8, True),
                                                     ([48, 32, 1], 0.9, -1, 40, False)):
        found = []
        for i, j in np.ndindex(high, wide):
            for k in range(count):
                ratio, scale = ratios[k // len(scales)], scales[k % len(scales)]
                # Integral sizes of the same area.
                w = math.floor(math.sqrt(math.floor(stride * stride / ratio)) + 0.5)
                h = math.floor(w * ratio + 0.5) * scale
                w *= scale
                middle = (stride - 1) / 2
                box = np.array([middle - (w - 1) / 2 + j * stride, middle - (h - 1) / 2 + i * stride,
                                middle + (w - 1) / 2 + j * stride, middle + (h - 1) / 2 + i * stride])
                d = deltas[0, 4 * k:4 * k + 4, i, j].astype("float64")
                if iou_loss:
                    box = box + d
                else:
                    w, h = box[2] - box[0] + 1, box[3] - box[1] + 1
                    x, y = box[0] + (w - 1) / 2 + d[0] * w, box[1] + (h - 1) / 2 + d[1] * h
                    w, h = math.exp(d[2]) * w, math.exp(d[3]) * h
                    box = np.array([x - (w - 1) / 2, y - (h - 1) / 2, x + (w - 1) / 2, y + (h - 1) / 2])
                limits = [info[1] - 1, info[0] - 1]
                box = np.clip(box, 0, limits * 2)
                score = float(probabilities[0, count + k, i, j])
                if i >= int(info[0] / stride) or j >= int(info[1] / stride):
                    score = -1.0
                least = info[2] * 16
                if box[2] - box[0] + 1 < least or box[3] - box[1] + 1 < least:
                    box, score = box + np.array([-1, -1, 1, 1]) * least / 2, -1.0
                found.append((score, box))
        found = sorted(found, key=lambda pair: -pair[0])[:before if before > 0 else None]
        kept = []
        grown = lambda box: np.array([box[0], box[1], box[2] + 1, box[3] + 1])
        for _, box in found:
            if all(_overlap(grown(box), grown(other)) <= threshold for other in kept):
                kept.append(box)
        # Repeated until there are enough.
        rows = [[0, *kept[k % len(kept)]] for k in range(after)]
        case(f"vision.proposal(%a, %b, %c, scales=[4f, 8f], ratios=[0.5f, 1f, 2f], feature_stride=16, threshold={threshold}f, "
             f"rpn_pre_nms_top_n={before}, rpn_post_nms_top_n={after}, rpn_min_size=16, iou_loss={iou_loss}, "
             'attrs_type_key="relay.attrs.ProposalAttrs")',
             [probabilities, deltas.astype("float32"), np.array([info], "float32")],
             np.array(rows, "float32"), 1e-3)
