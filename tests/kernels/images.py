"""Resizing, sampling and cropping images."""

import numpy as np

from cases import away, case, floats, ints, text
from layoutof import relaid


def _coordinates(size, target, mode, start=0.0, end=0.0):
    """The position in the source of each element of the target."""
    x, scale = np.arange(target, dtype="float64"), size / target
    if mode == "align_corners":
        return x * (size - 1) / (target - 1)
    if mode == "asymmetric":
        return x * scale
    if mode == "tf_half_pixel_for_nn":
        return (x + 0.5) * scale
    if mode == "tf_crop_and_resize":
        if target == 1:
            return np.array([0.5 * (start + end) * (size - 1)])
        return start * (size - 1) + x * (end - start) * (size - 1) / (target - 1)
    if mode == "pytorch_half_pixel" and target == 1:
        return np.zeros(1)
    return (x + 0.5) * scale - 0.5


def _weights(size, at, method, rounding, alpha=-0.5, exclude=False):
    """A row of source weights for each target element. The border extends outside."""
    out = np.zeros((len(at), size))
    for row, x in zip(out, at):
        if method == "nearest_neighbor":
            nearest = {"round": away, "round_prefer_floor": lambda x: np.ceil(x - 0.5),
                       "round_prefer_ceil": lambda x: np.floor(x + 0.5), "floor": lambda x: np.floor(x + 1e-5),
                       "ceil": lambda x: np.ceil(x - 1e-5)}[rounding]
            row[int(np.clip(nearest(x), 0, size - 1))] = 1
            continue
        low, t = int(np.floor(x)), x - np.floor(x)
        if method == "linear":
            taps = {0: 1 - t, 1: t}
        else:
            near, far = (lambda d: (alpha + 2) * d**3 - (alpha + 3) * d**2 + 1,
                         lambda d: alpha * (d**3 - 5 * d**2 + 8 * d - 4))
            taps = {-1: far(1 + t), 0: near(t), 1: near(1 - t), 2: far(2 - t)}
            if exclude:
                taps = {k: w for k, w in taps.items() if 0 <= low + k < size}
                taps = {k: w / sum(taps.values()) for k, w in taps.items()}
        for k, weight in taps.items():
            row[min(max(low + k, 0), size - 1)] += weight
    return out


def resized(x, target, method="linear", mode="half_pixel", rounding="round", alpha=-0.5, exclude=False, roi=None,
            outside=0.0):
    """Resizes axis by axis. `roi` has a pair for each axis."""
    out = x.astype("float64")
    missing = np.zeros(target, bool)
    whole = method == "nearest_neighbor" and mode == "asymmetric" and len(target) == 2
    for k, count in enumerate(target):
        size = x.shape[2 + k]
        at = _coordinates(size, count, mode, *(roi[k] if roi else ()))
        # TVM uses integer division if an image grows by an integral factor.
        way = "floor" if whole and count % size == 0 else rounding or ("round" if mode == "align_corners" else "floor")
        out = np.moveaxis(np.tensordot(_weights(size, at, method, way, alpha, exclude), out, (1, 2 + k)), 0, 2 + k)
        # In volumes, the border extends along the depth.
        if mode == "tf_crop_and_resize" and not (len(target) == 3 and k == 0):
            gone = (at < 0) | (at > size - 1)
            missing |= gone.reshape([-1 if j == k else 1 for j in range(len(target))])
    out[..., missing] = outside
    return out


MODES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn")


def _resize_cases(rank, letters, x, targets):
    head = f"image.resize{rank}d(%a, size="
    none = text([0.0] * (2 * rank))
    def add(target, x=x, data=None, out=None, tolerance=1e-4, **settings):
        written = {"method": settings.get("method", "linear"),
                   "coordinate_transformation_mode": settings.get("mode", "half_pixel")}
        written["rounding_method"] = settings.get("rounding", "round")
        tail = ", ".join(f'{name}="{value}"' for name, value in written.items())
        if settings.get("method") == "cubic":
            tail += f", cubic_alpha={settings.get('alpha', -0.5)}f, cubic_exclude={int(settings.get('exclude', False))}"
        case(f'{head}{target}, roi={none}, layout="NC{letters}", {tail})', [x],
             resized(x, target, **settings).astype("float32"), tolerance)

    for mode in MODES:
        for target in targets:
            add(target, mode=mode)
            add(target, mode=mode, method="nearest_neighbor")
            add(target, mode=mode, method="cubic")
    for rounding in ("round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", ""):
        # Coordinates with halves: each element twice.
        twice = [2 * side for side in x.shape[2:]]
        add(twice, method="nearest_neighbor", mode="asymmetric", rounding=rounding)
        add(targets[0], method="nearest_neighbor", mode="half_pixel", rounding=rounding)
        add(targets[0], method="nearest_neighbor", mode="align_corners", rounding=rounding)
    add(targets[0], method="cubic", alpha=-0.75)
    if rank < 3:
        add(targets[0], method="cubic", exclude=True)
        add(targets[0], method="cubic", mode="asymmetric", alpha=-0.75, exclude=True)
    layout = f"N{letters}C"
    case(f'{head}{targets[0]}, roi={none}, layout="{layout}")', [relaid(x, f"NC{letters}", layout)],
         relaid(resized(x, targets[0]).astype("float32"), f"NC{letters}", layout), 1e-4)


def resize():
    _resize_cases(1, "W", floats(1, 2, 4), [[7], [3]])
    _resize_cases(2, "HW", floats(1, 2, 3, 4), [[5, 7], [2, 9]])
    _resize_cases(3, "DHW", floats(1, 1, 2, 3, 4), [[3, 5, 7]])
    x = floats(1, 2, 3, 4)
    case('image.resize2d(%a, size=[5, 7], roi=[0f, 0f, 0f, 0f], layout="NCHW2c")', [relaid(x, "NCHW", "NCHW2c")],
         relaid(resized(x, [5, 7]).astype("float32"), "NCHW", "NCHW2c"), 1e-4)
    # A region, in fractions, with its own value for the outside.
    crop = 'coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9f'
    for target in ([5, 6], [1, 1]):
        out = resized(x, target, mode="tf_crop_and_resize", roi=[(0.2, 1.3), (-0.1, 0.8)], outside=9.0)
        case(f'image.resize2d(%a, size={target}, roi=[0.2f, -0.1f, 1.3f, 0.8f], layout="NCHW", {crop})', [x],
             out.astype("float32"), 1e-4)
    y = floats(1, 2, 4)
    out = resized(y, [6], mode="tf_crop_and_resize", roi=[(-0.2, 0.9)], outside=9.0)
    case(f'image.resize1d(%a, size=[6], roi=[-0.2f, 0.9f], layout="NCW", {crop})', [y], out.astype("float32"), 1e-4)
    z = floats(1, 1, 3, 3, 4)
    out = resized(z, [4, 4, 5], mode="tf_crop_and_resize", roi=[(-0.3, 0.9), (0.2, 1.3), (-0.1, 0.8)], outside=9.0)
    case(f'image.resize3d(%a, size=[4, 4, 5], roi=[-0.1f, 0.2f, -0.3f, 0.8f, 1.3f, 0.9f], layout="NCDHW", {crop})', [z],
         out.astype("float32"), 1e-4)
    # Integers are truncated toward zero; another data type can be requested.
    i = ints(1, 1, 3, 4, low=0, high=256, dtype="uint8")
    smooth = resized(i, [5, 7])
    case('image.resize2d(%a, size=[5, 7], roi=[0f, 0f, 0f, 0f], out_dtype="float32")', [i], smooth.astype("float32"),
         1e-4)
    case('image.resize2d(%a, size=[5, 7], roi=[0f, 0f, 0f, 0f], method="nearest_neighbor")', [i],
         resized(i, [5, 7], "nearest_neighbor").astype("uint8"))
    case('image.resize2d(%a, size=[4, 8], roi=[0f, 0f, 0f, 0f])', [i[:, :, :2]],
         resized(i[:, :, :2], [4, 8]).astype("uint8"))


def upsampling():
    x = floats(1, 2, 3, 4)
    modes = {"nearest_neighbor": "nearest_neighbor", "bilinear": "linear", "bicubic": "cubic"}
    for name, method in modes.items():
        for corners in (False, True):
            mode = "align_corners" if corners else "asymmetric"
            for high, wide in ((2.0, 3.0), (1.5, 1.75)):
                target = [int(np.round(3 * high)), int(np.round(4 * wide))]
                out = resized(x, target, method, mode, "").astype("float32")
                tail = f'scale_h={high:g}f, scale_w={wide:g}f, method="{name}", align_corners={corners}'
                case(f"nn.upsampling(%a, {tail})", [x], out, 1e-4)
                # Halves are rounded up if the factor is an argument, and to even otherwise.
                out = resized(x, [int(away(3 * high)), int(away(4 * wide))], method, mode, "").astype("float32")
                case(f'dyn.nn.upsampling(%a, %b, %c, scale_h=0f, scale_w=0f, method="{name}", align_corners={corners})',
                     [x, np.float32(high), np.float32(wide)], out, 1e-4)
    case('nn.upsampling(%a, scale_h=2f, scale_w=2f, layout="NHWC", method="bilinear")', [relaid(x, "NCHW", "NHWC")],
         relaid(resized(x, [6, 8], "linear", "asymmetric").astype("float32"), "NCHW", "NHWC"), 1e-4)
    x = floats(1, 1, 2, 3, 4)
    for name, method in (("nearest_neighbor", "nearest_neighbor"), ("trilinear", "linear")):
        for mode in ("half_pixel", "align_corners", "asymmetric"):
            out = resized(x, [4, 4, 8], method, mode, "").astype("float32")
            case(f'nn.upsampling3d(%a, scale_d=2f, scale_h=1.25f, scale_w=2f, method="{name}", '
                 f'coordinate_transformation_mode="{mode}")', [x], out, 1e-4)
            case('dyn.nn.upsampling3d(%a, %b, %c, %d, scale_d=0f, scale_h=0f, scale_w=0f, '
                 f'method="{name}", coordinate_transformation_mode="{mode}")',
                 [x, np.float32(2), np.float32(1.25), np.float32(2)], out, 1e-4)
    case('nn.upsampling3d(%a, scale_d=1f, scale_h=2f, scale_w=1f, layout="NDHWC")', [relaid(x, "NCDHW", "NDHWC")],
         relaid(resized(x, [2, 6, 4], "nearest_neighbor", rounding="").astype("float32"), "NCDHW", "NDHWC"))
    # The size is an argument.
    x = floats(1, 2, 3, 4)
    for method, target in (("linear", [5, 7]), ("nearest_neighbor", [6, 3]), ("cubic", [2, 8])):
        case(f'dyn.image.resize2d(%a, %b, %c, method="{method}", layout="NHWC")',
             [relaid(x, "NCHW", "NHWC"), np.array(target, "int64"), np.zeros(4, "float32")],
             relaid(resized(x, target, method).astype("float32"), "NCHW", "NHWC"), 1e-4)


def crops():
    x = floats(2, 2, 5, 6)
    boxes = np.array([[0, 0, 1, 1], [0.25, 0.1, 0.75, 0.6], [-0.2, 0.3, 0.5, 1.25], [0.9, 0.8, 0.1, 0.2]], "float32")
    of = np.array([0, 1, 1, 0], "int32")
    for method, way in (("bilinear", "linear"), ("nearest_neighbor", "nearest_neighbor")):
        parts = [resized(x[k:k + 1], [3, 4], way, "tf_crop_and_resize", roi=[(y1, y2), (x1, x2)], outside=-5.0)
                 for k, (y1, x1, y2, x2) in zip(of, boxes.astype("float64"))]
        out = np.concatenate(parts).astype("float32")
        tail = f'crop_size=[3, 4], method="{method}", extrapolation_value=-5f'
        case(f'image.crop_and_resize(%a, %b, %c, {tail}, layout="NCHW")', [x, boxes, of], out, 1e-4)
        case(f'image.crop_and_resize(%a, %b, %c, {tail}, layout="NHWC")', [relaid(x, "NCHW", "NHWC"), boxes, of],
             relaid(out, "NCHW", "NHWC"), 1e-4)


def grids():
    theta = floats(2, 2, 3)
    y, x = np.meshgrid(np.linspace(-1, 1, 3), np.linspace(-1, 1, 5), indexing="ij")
    places = np.stack([x.ravel(), y.ravel(), np.ones(15)])
    case("image.affine_grid(%a, target_shape=[3, 5])", [theta], (theta @ places).reshape(2, 2, 3, 5).astype("float32"))


def _folded(x, size, corners):
    """Reflects until the position is inside."""
    start, size = (0, size - 1) if corners else (-0.5, size)
    if start <= x <= start + size:
        return x
    far = abs(start - x)
    times = int(int(far) / size)
    rest = far - times * size
    return start + (rest if times % 2 == 0 else size - rest)


def sampled(x, grid, method, padding, corners):
    """Samples any number of axes; the first coordinate of the grid belongs to the last axis."""
    sizes, rank = x.shape[2:], x.ndim - 2
    x = x.astype("float64")
    out = np.zeros((*x.shape[:2], *grid.shape[2:]))

    def inside(at, k):
        if padding == "reflection":
            at = _folded(at, sizes[k], corners)
        return at if padding == "zeros" else min(max(at, 0), sizes[k] - 1)

    def pixel(n, at):
        if any(not 0 <= p < size for p, size in zip(at, sizes)):
            return 0.0
        return x[(n, slice(None)) + tuple(at)]

    for place in np.ndindex(grid.shape[0], *grid.shape[2:]):
        n, at = place[0], []
        for k, size in enumerate(sizes):
            g = float(grid[(n, rank - 1 - k) + place[1:]])
            at.append((g + 1) * (size - 1) / 2 if corners else (g + 1) * size / 2 - 0.5)
        if method != "bicubic":
            at = [inside(p, k) for k, p in enumerate(at)]
        total = 0.0
        if method == "nearest":
            total = pixel(n, [int(np.rint(p)) for p in at])
        else:
            reach = 2 if method == "bilinear" else 4
            for taps in np.ndindex(*[reach] * rank):
                weight, corner = 1.0, []
                for k, (tap, p) in enumerate(zip(taps, at)):
                    low = int(np.floor(p))
                    t = p - low
                    if method == "bilinear":
                        weight *= (1 - t, t)[tap]
                        corner.append(low + tap)
                    else:
                        a, d = -0.75, abs(t + 1 - tap)
                        weight *= (a + 2) * d**3 - (a + 3) * d**2 + 1 if d <= 1 else a * (d**3 - 5 * d**2 + 8 * d - 4)
                        corner.append(int(inside(low - 1 + tap, k)))
                total = total + weight * pixel(n, corner)
        out[(n, slice(None)) + place[1:]] = total
    return out.astype("float32")


def sampling():
    x, grid = floats(1, 2, 4, 5), floats(1, 2, 3, 3, low=-1.9, high=1.9)
    for corners in (True, False):
        for padding in ("zeros", "border", "reflection"):
            for method in ("bilinear", "nearest", "bicubic"):
                case(f'image.grid_sample(%a, %b, method="{method}", layout="NCHW", padding_mode="{padding}", '
                     f"align_corners={corners})", [x, grid], sampled(x, grid, method, padding, corners), 1e-4)
    x, grid = floats(1, 1, 3, 4, 5), floats(1, 3, 2, 2, 3, low=-1.7, high=1.7)
    for corners in (True, False):
        for padding in ("zeros", "border", "reflection"):
            for method in ("bilinear", "nearest"):
                case(f'image.grid_sample(%a, %b, method="{method}", layout="NCDHW", padding_mode="{padding}", '
                     f"align_corners={corners})", [x, grid], sampled(x, grid, method, padding, corners), 1e-4)


def dilation():
    """The maximum sum of a window and the kernel; the padding is 0."""
    def dilated(x, w, strides, padding, dilations):
        x = np.pad(x, [(0, 0), (0, 0)] + padding).astype("float64")
        sizes = [(x.shape[2 + k] - (w.shape[1 + k] - 1) * dilations[k] - 1) // strides[k] + 1 for k in (0, 1)]
        out = np.full((*x.shape[:2], *sizes), -np.inf)
        for r, s in np.ndindex(*w.shape[1:]):
            part = x[:, :, r * dilations[0]:, s * dilations[1]:][:, :, ::strides[0], ::strides[1]][:, :, :sizes[0],
                                                                                                   :sizes[1]]
            out = np.maximum(out, part + w[:, r, s][:, None, None])
        return out.astype("float32")

    x, w = floats(2, 2, 5, 6), floats(2, 3, 2)
    for strides, padding, written, dilations in (([1, 1], [(0, 0), (0, 0)], [0, 0], [1, 1]),
                                                 ([2, 1], [(1, 1), (1, 1)], [1, 1], [1, 2]),
                                                 ([1, 2], [(1, 0), (0, 2)], [1, 0, 0, 2], [2, 1])):
        out = dilated(x, w, strides, padding, dilations)
        tail = f"strides={strides}, padding={written}, dilations={dilations}"
        case(f"image.dilation2d(%a, %b, {tail})", [x, w], out)
        case(f'image.dilation2d(%a, %b, {tail}, data_layout="NHWC", kernel_layout="HWI")',
             [relaid(x, "NCHW", "NHWC"), w.transpose(1, 2, 0).copy()], relaid(out, "NCHW", "NHWC"))
