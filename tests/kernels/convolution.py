"""Matrix products and convolutions."""

import numpy as np

from cases import BFloat16, case, floats, ints
from layoutof import relaid


def convolution(x, w, strides, padding, dilation, groups=1):
    """The definition of a convolution over any number of axes. `padding` has one or two numbers per axis."""
    spatial = x.ndim - 2
    sides = [p if isinstance(p, tuple) else (p, p) for p in padding]
    exact = "int64" if x.dtype.kind in "iu" else "float64"
    x = np.pad(x, [(0, 0), (0, 0)] + sides).astype(exact)
    outs, inner = w.shape[:2]
    sizes = [max(0, (x.shape[2 + k] - (w.shape[2 + k] - 1) * dilation[k] - 1) // strides[k] + 1)
             for k in range(spatial)]
    out = np.zeros((x.shape[0], outs, *sizes), exact)
    each = outs // groups
    for o in range(outs):
        part = x[:, o // each * inner:(o // each + 1) * inner]
        for at in np.ndindex(*sizes):
            window = tuple(slice(at[k] * strides[k], at[k] * strides[k] + (w.shape[2 + k] - 1) * dilation[k] + 1,
                                 dilation[k]) for k in range(spatial))
            product = part[(slice(None), slice(None)) + window] * w[o].astype(exact)
            out[(slice(None), o) + at] = product.reshape(x.shape[0], -1).sum(1)
    return out if exact == "int64" else out.astype("float32")


def transposed(x, w, strides, padding, output_padding, dilation, groups=1):
    """The transposed convolution: each element is distributed over a window."""
    spatial = x.ndim - 2
    exact = "int64" if x.dtype.kind in "iu" else "float64"
    inner, outs = x.shape[1] // groups, w.shape[1] * groups
    full = [(x.shape[2 + k] - 1) * strides[k] + (w.shape[2 + k] - 1) * dilation[k] + 1 + output_padding[k]
            for k in range(spatial)]
    out = np.zeros((x.shape[0], outs, *full), exact)
    for c in range(x.shape[1]):
        first = c // inner * w.shape[1]
        for at in np.ndindex(*x.shape[2:]):
            window = tuple(slice(at[k] * strides[k], at[k] * strides[k] + (w.shape[2 + k] - 1) * dilation[k] + 1,
                                 dilation[k]) for k in range(spatial))
            spread = np.multiply.outer(x[(slice(None), c) + at].astype(exact), w[c].astype(exact))
            out[(slice(None), slice(first, first + w.shape[1])) + window] += spread
    sides = [p if isinstance(p, tuple) else (p, p) for p in padding]
    crop = tuple(slice(low, size - high) for (low, high), size in zip(sides, full))
    out = out[(slice(None), slice(None)) + crop]
    return out if exact == "int64" else out.astype("float32")


def products():
    a, b = floats(3, 4), floats(5, 4)
    case("nn.dense(%a, %b, units=5)", [a, b], a @ b.T)
    case("nn.dense(%a, %b, units=5)", [a[:0], b], np.zeros((0, 5), "float32"))
    case("nn.dense(%a, %b, units=5)", [np.zeros((2, 0), "float32"), np.zeros((5, 0), "float32")],
         np.zeros((2, 5), "float32"))
    batch = floats(2, 3, 4)
    case("nn.dense(%a, %b, units=5)", [batch, b], batch @ b.T)
    wide = a.astype("float16")
    case('nn.dense(%a, %b, units=5, out_dtype="float32")', [wide, b.astype("float16")],
         wide.astype("float32") @ b.astype("float16").astype("float32").T)
    case("nn.matmul(%a, %b, units=5)", [a, b.T.copy()], a @ b.T)
    case("nn.matmul(%a, %b, units=5, transpose_a=True)", [a.T.copy(), b.T.copy()], a @ b.T)
    case("nn.matmul(%a, %b, units=5, transpose_a=True, transpose_b=True)", [a.T.copy(), b], a @ b.T)
    p, q = floats(2, 3, 4), floats(2, 5, 4)
    case("nn.batch_matmul(%a, %b, transpose_b=True)", [p, q], p @ q.transpose(0, 2, 1))
    case("nn.batch_matmul(%a, %b, transpose_a=True)", [p.transpose(0, 2, 1).copy(), q.transpose(0, 2, 1).copy()],
         p @ q.transpose(0, 2, 1))
    case("nn.batch_matmul(%a, %b, transpose_b=True)", [p, q[:1]], p @ q[:1].transpose(0, 2, 1))
    for equation, arrays in {
        "bij,bkj->bik": [p, q], "ij,jk": [a, b.T.copy()], "bij->ji": [p], "ii": [floats(4, 4)], "ii->i": [floats(4, 4)],
        "i,j->ij": [floats(3), floats(4)], "...ij,...jk->...ik": [p, floats(4, 2)], "ij,ij,ij->": [a, a, floats(3, 4)],
    }.items():
        names = ", ".join(f"%{name}" for name, _ in zip("abc", arrays))
        case(f'einsum(({names}{"," if len(arrays) == 1 else ""}), equation="{equation}")', arrays,
             np.einsum(equation, *(each.astype("float64") for each in arrays)).astype("float32"))
    i, j = ints(3, 4, dtype="int8"), ints(5, 4, dtype="int8")
    case('nn.dense(%a, %b, units=5, out_dtype="int32")', [i, j], i.astype("int32") @ j.astype("int32").T)
    blocks = floats(3, 4, 2)
    case('nn.contrib_dense_pack(%a, %b, units=6, weight_layout="NC2n", attrs_type_key="relay.attrs.DensePackAttrs")',
         [a, blocks], a @ blocks.transpose(0, 2, 1).reshape(6, 4).T)


def convolutions():
    for rank, letters in ((1, "W"), (2, "HW"), (3, "DHW")):
        size = [7, 6, 5][:rank]
        x, w = floats(2, 4, *size), floats(6, 4, *[3] * rank)
        one = [1] * rank
        head = f"nn.conv{rank}d(%a, %b, kernel_size={[3] * rank}"
        # A single axis needs both sides; with more axes, one number may be used for both.
        pad = lambda p: [p] * max(rank, 2)
        case(f"{head}, padding={pad(1)})", [x, w], convolution(x, w, one, one, one), 1e-4)
        case(f"{head}, strides={[2] * rank}, padding={pad(1)})", [x, w], convolution(x, w, [2] * rank, one, one), 1e-4)
        uneven = [(1, 2), (0, 1), (2, 0)][:rank]
        written = [low for low, _ in uneven] + [high for _, high in uneven]
        case(f"{head}, padding={written})", [x, w], convolution(x, w, one, uneven, one), 1e-4)
        case(f"{head}, padding={pad(1)})", [x[:0], w], np.zeros((0, 6, *size), "float32"))
        i, k = ints(1, 4, *size, low=-128, high=128, dtype="int8"), ints(3, 4, *[2] * rank, low=-128, high=128,
                                                                         dtype="int8")
        case(f'nn.conv{rank}d(%a, %b, kernel_size={[2] * rank}, padding={pad(0)}, out_dtype="int32")', [i, k],
             convolution(i, k, one, [0] * rank, one).astype("int32"))
        # TVM cannot type an `nn.conv1d` with several groups.
        if rank > 1:
            half = floats(6, 2, *[3] * rank)
            case(f"{head}, padding={pad(2)}, dilation={[2] * rank}, groups=2)", [x, half],
                 convolution(x, half, one, [2] * rank, [2] * rank, 2), 1e-4)
        layout, kernel = f"N{letters}C", {1: "WIO", 2: "HWIO", 3: "DHWIO"}[rank]
        case(f'{head}, padding={pad(1)}, data_layout="{layout}", kernel_layout="{kernel}")',
             [relaid(x, f"NC{letters}", layout), relaid(w, f"OI{letters}", kernel)],
             relaid(convolution(x, w, one, one, one), f"NC{letters}", layout), 1e-4)
    # One kernel per channel, and two.
    x = floats(1, 3, 5, 6)
    for many in (1, 2):
        w = floats(3 * many, 1, 3, 2)
        out = convolution(x, w, [2, 1], [1, 0], [1, 2], 3)
        tail = f"groups=3, channels={3 * many}, kernel_size=[3, 2], strides=[2, 1], padding=[1, 0], dilation=[1, 2]"
        case(f"nn.conv2d(%a, %b, {tail})", [x, w], out, 1e-4)
        case(f'nn.conv2d(%a, %b, {tail}, data_layout="NHWC", kernel_layout="HWOI")',
             [relaid(x, "NCHW", "NHWC"), w.reshape(3, many, 3, 2).transpose(2, 3, 0, 1).copy()],
             relaid(out, "NCHW", "NHWC"), 1e-4)
    half = [BFloat16(floats(1, 2, 4, 4, low=-1, high=1)), BFloat16(floats(2, 2, 3, 3, low=-1, high=1))]
    case('nn.conv2d(%a, %b, kernel_size=[3, 3], out_dtype="float32")', half,
         convolution(half[0].array, half[1].array, [1, 1], [0, 0], [1, 1]), 1e-4)


def convolutions_of_fewer_elements():
    """Negative padding removes elements, and a weight in blocks may have more kernels than the result has channels."""
    x, w = floats(1, 4, 7, 6), floats(3, 4, 3, 2)
    case("nn.conv2d(%a, %b, kernel_size=[3, 2], padding=[-1, 1, 2, -2])", [x, w],
         convolution(x[:, :, 1:, :4], w, [1, 1], [(0, 2), (1, 0)], [1, 1]), 1e-4)
    case("nn.conv2d_transpose(%a, %b, channels=4, kernel_size=[3, 2], padding=[-1, 0, 1, -2])", [x[:, :3], w],
         np.pad(transposed(x[:, :3], w, [1, 1], [(0, 1), (0, 0)], [0, 0], [1, 1]), [(0, 0), (0, 0), (1, 0), (0, 2)]), 1e-4)
    filled = np.concatenate([w, np.zeros((1, 4, 3, 2), "float32")])
    case('nn.conv2d(%a, %b, channels=3, kernel_size=[3, 2], kernel_layout="OIHW4o")', [x, relaid(filled, "OIHW", "OIHW4o")],
         convolution(x, w, [1, 1], [0, 0], [1, 1]), 1e-4)


def transposed_convolutions():
    for rank, letters in ((1, "W"), (2, "HW"), (3, "DHW")):
        x, w = floats(2, 3, *[4, 5, 3][:rank]), floats(3, 2, *[3, 2, 3][:rank])
        kernel, one, none = list(w.shape[2:]), [1] * rank, [0] * rank
        head = f"nn.conv{rank}d_transpose(%a, %b, channels=2, kernel_size={kernel}"
        pad = lambda p: [p] * max(rank, 2)
        case(f"{head}, padding={pad(0)})", [x, w], transposed(x, w, one, none, none, one), 1e-4)
        case(f"{head}, strides={[2] * rank}, padding={pad(1)}, output_padding={one})", [x, w],
             transposed(x, w, [2] * rank, one, one, one), 1e-4)
        uneven = [(1, 0), (0, 1), (2, 1)][:rank]
        written = [low for low, _ in uneven] + [high for _, high in uneven]
        case(f"{head}, strides={[3, 2, 2][:rank]}, padding={written})", [x, w],
             transposed(x, w, [3, 2, 2][:rank], uneven, none, one), 1e-4)
        layout = f"N{letters}C"
        case(f'{head}, strides={[2] * rank}, padding={pad(0)}, data_layout="{layout}", kernel_layout="{letters}OI")',
             [relaid(x, f"NC{letters}", layout), relaid(w, f"IO{letters}", f"{letters}OI")],
             relaid(transposed(x, w, [2] * rank, none, none, one), f"NC{letters}", layout), 1e-4)
    x, w = floats(1, 4, 3, 4), floats(4, 3, 2, 2)
    case("nn.conv2d_transpose(%a, %b, channels=6, kernel_size=[2, 2], strides=[2, 2], groups=2)", [x, w],
         transposed(x, w, [2, 2], [0, 0], [0, 0], [1, 1], 2), 1e-4)
    i, k = ints(1, 2, 3, 3, dtype="int8"), ints(2, 3, 2, 2, dtype="int8")
    case('nn.conv2d_transpose(%a, %b, channels=3, kernel_size=[2, 2], strides=[2, 1], out_dtype="int32")', [i, k],
         transposed(i, k, [2, 1], [0, 0], [0, 0], [1, 1]).astype("int32"))


def weight_gradients():
    """Sums up the factors of each element of the weight."""
    def gradient(dy, x, kernel, strides, padding, groups):
        x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding]).astype("float64")
        inner, each = x.shape[1] // groups, dy.shape[1] // groups
        out = np.zeros((dy.shape[1], inner, *kernel))
        for o, i, r, s in np.ndindex(*out.shape):
            plane = x[:, o // each * inner + i]
            seen = plane[:, r:r + (dy.shape[2] - 1) * strides[0] + 1:strides[0],
                         s:s + (dy.shape[3] - 1) * strides[1] + 1:strides[1]]
            out[o, i, r, s] = (dy[:, o] * seen).sum()
        return out.astype("float32")

    for groups in (1, 4):
        x, dy = floats(2, 4, 5, 6), floats(2, 4, 3, 6)
        out = gradient(dy, x, [3, 3], [2, 1], [1, 1], groups)
        case(f"nn.conv2d_backward_weight(%a, %b, strides=[2, 1], padding=[1, 1], kernel_size=[3, 3], groups={groups}, "
             'channels=4, data_layout="NCHW", kernel_layout="NCHW", out_layout="OIHW")', [dy, x], out, 1e-4)
    case('nn.conv2d_backward_weight(%a, %b, padding=[1, 1], kernel_size=[3, 3], channels=3, data_layout="NHWC", '
         'kernel_layout="NHWC", out_layout="OHWI")',
         [relaid(dy[:, :3], "NCHW", "NHWC"), relaid(x[:, :, :3], "NCHW", "NHWC")],
         gradient(dy[:, :3], x[:, :, :3], [3, 3], [1, 1], [1, 1], 1).transpose(0, 2, 3, 1).copy(), 1e-4)
