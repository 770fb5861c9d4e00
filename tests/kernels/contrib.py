"""Other convolutions: blocked, by Winograd's algorithm, bit-serial, deformable."""

import numpy as np

from cases import case, floats, ints
from convolution import convolution
from layoutof import relaid


def blocks():
    x, w = floats(1, 8, 5, 4), floats(12, 8, 3, 3)
    out = convolution(x, w, [1, 1], [1, 1], [1, 1])
    case('nn.contrib_conv2d_NCHWc(%a, %b, padding=[1, 1], channels=12, kernel_size=[3, 3], data_layout="NCHW4c", '
         'kernel_layout="OIHW4i6o", out_layout="NCHW6c")',
         [relaid(x, "NCHW", "NCHW4c"), relaid(w, "OIHW", "OIHW4i6o")], relaid(out, "NCHW", "NCHW6c"), 1e-4)
    out = convolution(x, w, [2, 1], [(0, 1), (2, 0)], [1, 2])
    case('nn.contrib_conv2d_NCHWc(%a, %b, strides=[2, 1], padding=[0, 2, 1, 0], dilation=[1, 2], channels=12, '
         'kernel_size=[3, 3], data_layout="NCHW8c", kernel_layout="OIHW8i4o", out_layout="NCHW4c")',
         [relaid(x, "NCHW", "NCHW8c"), relaid(w, "OIHW", "OIHW8i4o")], relaid(out, "NCHW", "NCHW4c"), 1e-4)
    w = floats(8, 1, 3, 3)
    out = convolution(x, w, [1, 2], [1, 1], [1, 1], 8)
    case('nn.contrib_depthwise_conv2d_NCHWc(%a, %b, strides=[1, 2], padding=[1, 1], groups=8, channels=8, '
         'kernel_size=[3, 3], data_layout="NCHW4c", kernel_layout="OIHW1i4o", out_layout="NCHW4c")',
         [relaid(x, "NCHW", "NCHW4c"), relaid(w, "OIHW", "OIHW1i4o")], relaid(out, "NCHW", "NCHW4c"), 1e-4)


# TVM's evaluation points of polynomials by the sum of the tile and window sizes.
_POINTS = {4: [0, -1, 1], 5: [0, -1, 1, 1 / 2], 6: [0, -1, 1, 1 / 2, -2], 7: [0, -1, 1, 1 / 2, -2, -1 / 2],
           8: [0, -1, 1, 1 / 2, -1 / 2, 2, -2]}


def _window_transform(tile, window):
    """The matrix of Cook and Toom that evaluates a window at the points, each value divided by the
    product of the distances to the other points; the last point is infinity."""
    points = _POINTS[tile + window - 1]
    rows = []
    for k, at in enumerate(points):
        distance = np.prod([at - other for other in points if other != at])
        # The first is positive.
        distance = abs(distance) if k == 0 else distance
        rows.append([at ** power / distance for power in range(window)])
    return np.array(rows + [[0] * (window - 1) + [1]])


def winograd():
    for tile, window in ((2, 3), (4, 3), (6, 3), (2, 5)):
        w = floats(3, 2, window, window)
        g = _window_transform(tile, window)
        weight = np.einsum("ek,nl,oikl->enoi", g, g, w.astype("float64")).astype("float32")
        case(f"nn.contrib_conv2d_winograd_weight_transform(%a, tile_size={tile})", [w], weight, 1e-4)
        if window == 3:
            x = floats(2, 2, 7, 6)
            out = convolution(x, w, [1, 1], [1, 1], [1, 1])
            case(f"nn.contrib_conv2d_winograd_without_weight_transform(%a, %b, tile_size={tile}, padding=[1, 1], "
                 "channels=3, kernel_size=[3, 3])", [x, weight.transpose(0, 1, 3, 2).copy()], out, 1e-3)
    # In "NHWC" the outputs come first, as in the transformed weight.
    g = _window_transform(4, 3)
    w = floats(3, 2, 3, 3)
    weight = np.einsum("ek,nl,oikl->enoi", g, g, w.astype("float64")).astype("float32")
    case("nn.contrib_conv2d_winograd_without_weight_transform(%a, %b, tile_size=4, padding=[0, 1, 1, 0], channels=3, "
         'kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO")', [relaid(x, "NCHW", "NHWC"), weight],
         relaid(convolution(x, w, [1, 1], [(0, 1), (1, 0)], [1, 1]), "NCHW", "NHWC"), 1e-3)
    x, w, g = floats(1, 2, 4, 5, 4), floats(3, 2, 3, 3, 3), _window_transform(2, 3)
    weight = np.einsum("dk,el,nm,oiklm->denoi", g, g, g, w.astype("float64")).astype("float32")
    case("nn.contrib_conv3d_winograd_weight_transform(%a, tile_size=2)", [w], weight, 1e-4)
    case("nn.contrib_conv3d_winograd_without_weight_transform(%a, %b, tile_size=2, padding=[1, 1, 1], channels=3, "
         "kernel_size=[3, 3, 3])", [x, weight.transpose(0, 1, 2, 4, 3).copy()],
         convolution(x, w, [1] * 3, [1] * 3, [1] * 3), 1e-3)
    # The depth of a window of one plane is not transformed.
    flat = floats(3, 2, 1, 3, 3)
    weight = np.einsum("ek,nl,oidkl->endoi", g, g, flat.astype("float64")).astype("float32")
    case("nn.contrib_conv3d_winograd_weight_transform(%a, tile_size=2)", [flat], weight, 1e-4)
    case("nn.contrib_conv3d_winograd_without_weight_transform(%a, %b, tile_size=2, padding=[0, 1, 1], channels=3, "
         "kernel_size=[1, 3, 3])", [x, weight.transpose(0, 1, 2, 4, 3).copy()],
         convolution(x, flat, [1] * 3, [0, 1, 1], [1] * 3), 1e-3)


def as_one_product():
    """Unfolds the window into rows, and splits the matrix into tiles padded with zeros."""
    x, w = floats(2, 5, 4, 3), floats(3, 2, 3, 6)
    matrix = w.reshape(18, 6)
    for rows, columns in ((4, 4), (2, 8)):
        tall, wide = -(-6 // rows) * rows, -(-18 // (4 * columns)) * 4 * columns
        padded = np.zeros((wide, tall), "float32")
        padded[:18, :6] = matrix
        tiles = padded.reshape(wide // columns, columns, tall // rows, rows).transpose(2, 0, 3, 1).copy()
        case(f"nn.contrib_conv2d_gemm_weight_transform(%a, tile_rows={rows}, tile_cols={columns})", [w], tiles)
    i, k = ints(1, 5, 4, 2, dtype="int8"), ints(3, 3, 2, 4, dtype="int8")
    padded = np.zeros((64, 4), "int8")
    padded[:18] = k.reshape(18, 4)
    tiles = padded.reshape(4, 16, 1, 4).transpose(2, 0, 3, 1).copy()
    plain = convolution(relaid(i, "NHWC", "NCHW"), k.transpose(3, 2, 0, 1), [1, 1], [1, 1], [1, 1])
    case('nn.contrib_conv2d_gemm_without_weight_transform(%a, %b, padding=[1, 1], channels=4, kernel_size=[3, 3], '
         'data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32")', [i, tiles],
         relaid(plain, "NCHW", "NHWC").astype("int32"))


def bits():
    x = ints(2, 32, 3, low=0, high=4, dtype="uint8")

    def pack(x, bits, axis, at, width):
        """Packs `axis` into words of `width` bits, with the first element in the highest bit and bit `b`
        of the elements at `b` of a new axis."""
        moved = np.moveaxis(x.astype("uint64"), axis, -1)
        words = moved.reshape(*moved.shape[:-1], -1, width)
        planes = []
        for bit in range(bits):
            ones = words >> np.uint64(bit) & np.uint64(1)
            word = sum(ones[..., k] << np.uint64(width - 1 - k) for k in range(width))
            planes.append(np.moveaxis(word, -1, axis))
        return np.stack(planes, at).astype(f"uint{width}")

    for bit_axis, width in ((0, 8), (2, 16), (3, 32), (1, 8)):
        case(f'nn.bitpack(%a, bits=2, pack_axis=1, bit_axis={bit_axis}, pack_type="uint{width}")', [x],
             pack(x, 2, 1, bit_axis, width))
    d, w = ints(3, 32, low=0, high=4, dtype="uint8"), ints(5, 32, low=0, high=2, dtype="uint8")
    product = lambda d, w: d.astype("int64") @ w.astype("int64").T
    tail = 'units=5, data_bits=2, weight_bits=1, pack_dtype="uint32", out_dtype="int16"'
    # A bit of a weight means 1 or -1, or 1 or 0.
    case(f"nn.bitserial_dense(%a, %b, {tail}, unipolar=True)", [d, w],
         product(d, 2 * w.astype("int64") - 1).astype("int16"))
    case(f"nn.bitserial_dense(%a, %b, {tail}, unipolar=False)", [d, w], product(d, w).astype("int16"))
    x, w = ints(1, 16, 4, 5, low=0, high=4, dtype="uint8"), ints(3, 16, 3, 3, low=0, high=4, dtype="uint8")
    tail = ('strides=[1, 2], padding=[1, 1], kernel_size=[3, 3], channels=3, activation_bits=2, weight_bits=2, '
            'pack_dtype="uint8", out_dtype="int32"')
    signed = 2 * w.astype("int64") - 3
    for unipolar, factors in (("True", signed), ("False", w.astype("int64"))):
        out = convolution(x.astype("int64"), factors, [1, 2], [1, 1], [1, 1]).astype("int32")
        case(f"nn.bitserial_conv2d(%a, %b, {tail}, unipolar={unipolar})", [x, w], out)
        case(f'nn.bitserial_conv2d(%a, %b, {tail}, data_layout="NHWC", kernel_layout="HWIO", unipolar={unipolar})',
             [relaid(x, "NCHW", "NHWC"), relaid(w, "OIHW", "HWIO")], relaid(out, "NCHW", "NHWC"))


def displaced():
    def sampled(plane, y, x):
        """Interpolates between four elements; the outside is 0."""
        height, width = plane.shape
        if y < 0 or x < 0 or y >= height or x >= width:
            return 0.0
        top, left = int(np.floor(y)), int(np.floor(x))
        value = 0.0
        for row, vertical in ((top, top + 1 - y), (top + 1, y - top)):
            for column, horizontal in ((left, left + 1 - x), (left + 1, x - left)):
                if row < height and column < width:
                    value += vertical * horizontal * plane[row, column]
        return value

    def deformable(x, offset, w, strides, padding, dilation, sets, groups):
        x, offset = x.astype("float64"), offset.astype("float64")
        n, channels = x.shape[:2]
        outs, inner, kh, kw = w.shape
        offset = offset.reshape(n, sets, kh, kw, 2, *offset.shape[2:])
        out = np.zeros((n, outs, *offset.shape[5:]))
        for b, o, i, j in np.ndindex(*out.shape):
            first = o // (outs // groups) * inner
            for c, r, s in np.ndindex(inner, kh, kw):
                channel = first + c
                dy, dx = offset[b, channel // (channels // sets), r, s, :, i, j]
                at = (i * strides[0] - padding[0] + r * dilation[0] + dy,
                      j * strides[1] - padding[1] + s * dilation[1] + dx)
                out[b, o, i, j] += w[o, c, r, s] * sampled(x[b, channel], *at)
        return out.astype("float32")

    x, offset, w = floats(1, 4, 5, 4), floats(1, 18, 5, 4), floats(3, 4, 3, 3)
    tail = "channels=3, kernel_size=[3, 3]"
    out = deformable(x, offset, w, [1, 1], [1, 1], [1, 1], 1, 1)
    case(f"nn.deformable_conv2d(%a, %b, %c, padding=[1, 1], {tail})", [x, offset, w], out, 1e-4)
    case(f'nn.deformable_conv2d(%a, %b, %c, padding=[1, 1], {tail}, data_layout="NHWC", kernel_layout="HWIO")',
         [relaid(x, "NCHW", "NHWC"), relaid(offset, "NCHW", "NHWC"), relaid(w, "OIHW", "HWIO")],
         relaid(out, "NCHW", "NHWC"), 1e-4)
    offset = floats(1, 36, 3, 2)
    case(f"nn.deformable_conv2d(%a, %b, %c, strides=[2, 1], padding=[1, 1], dilation=[1, 2], deformable_groups=2, {tail})",
         [x, offset, w], deformable(x, offset, w, [2, 1], [1, 1], [1, 2], 2, 1), 1e-4)


def correlations():
    def correlate(a, b, size, reach, stride1, stride2, padding, multiply):
        n, channels = a.shape[:2]
        a, b = (np.pad(each, [(0, 0), (0, 0), (padding, padding), (padding, padding)]).astype("float64")
                for each in (a, b))
        border = reach + (size - 1) // 2
        high, wide = (-(-(side - 2 * border) // stride1) for side in a.shape[2:])
        steps = range(-(reach // stride2), reach // stride2 + 1)
        out = np.zeros((n, len(steps) ** 2, high, wide))
        for k, (dy, dx) in enumerate((dy, dx) for dy in steps for dx in steps):
            for i, j in np.ndindex(high, wide):
                y, x = i * stride1 + reach, j * stride1 + reach
                one = a[:, :, y:y + size, x:x + size]
                other = b[:, :, y + dy * stride2:y + dy * stride2 + size, x + dx * stride2:x + dx * stride2 + size]
                both = one * other if multiply else np.abs(one - other)
                out[:, k, i, j] = both.sum((1, 2, 3)) / (size * size * channels)
        return out.astype("float32")

    a, b = floats(2, 3, 6, 7), floats(2, 3, 6, 7)
    for size, reach, stride1, stride2, padding, multiply in ((1, 1, 1, 1, 1, True), (3, 2, 2, 2, 3, True),
                                                             (1, 2, 1, 1, 2, False)):
        case(f"nn.correlation(%a, %b, kernel_size={size}, max_displacement={reach}, stride1={stride1}, stride2={stride2}, "
             f'padding=[{padding}, {padding}], is_multiply={multiply}, layout="NCHW")', [a, b],
             correlate(a, b, size, reach, stride1, stride2, padding, multiply), 1e-4)
    x, kept = floats(2, 2, 3), floats(2, 5, 3)
    case("nn.fifo_buffer(%a, %b, axis=1)", [x, kept], np.concatenate([kept[:, 2:], x], 1))
    x = floats(3, 5)
    case("nn.fifo_buffer(%a, %b, axis=0)", [x[:1], x], np.concatenate([x[1:], x[:1]]))
