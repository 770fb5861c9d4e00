"""Pooling and normalisation."""

import numpy as np

from cases import case, floats, ints
from layoutof import relaid


def pooled(x, kind, size, strides, padding, dilation, ceil=False, include=False):
    """Pools the axes after the first two. A mean divides by the positions in the data, or also in the
    padding, but never by those that rounding up adds after it."""
    rank = len(size)
    exact = x.astype("int64" if x.dtype.kind in "iu" else "float64")
    counts = []
    for k, (low, high) in enumerate(padding):
        room = x.shape[2 + k] + low + high - (size[k] - 1) * dilation[k] - 1 + (strides[k] - 1 if ceil else 0)
        counts.append(room // strides[k] + 1)
    out = np.zeros((*x.shape[:2], *counts), exact.dtype)
    for at in np.ndindex(*counts):
        inside, total = [], 1
        for k in range(rank):
            places = at[k] * strides[k] - padding[k][0] + np.arange(size[k]) * dilation[k]
            inside.append(places[(places >= 0) & (places < x.shape[2 + k])])
            total *= (places < x.shape[2 + k] + padding[k][1]).sum() if include else len(inside[-1])
        window = exact[(slice(None), slice(None)) + np.ix_(*inside)].reshape(*x.shape[:2], -1)
        if kind == "max":
            # The maximum of a window after all data is the minimum of the type.
            least = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else np.finfo(x.dtype).min
            out[(slice(None), slice(None)) + at] = window.max(-1, initial=least)
        else:
            sums = window.sum(-1)
            # The mean is divided by 1, or by 0 if the padding counts.
            total = total if include else max(total, 1)
            with np.errstate(invalid="ignore"):
                quotient = sums / np.float64(total)
            out[(slice(None), slice(None)) + at] = np.trunc(quotient) if x.dtype.kind in "iu" else quotient
    return out.astype(x.dtype)


def pools():
    for rank, letters in ((1, "W"), (2, "HW"), (3, "DHW")):
        x = floats(1, 2, *[6, 5, 7][:rank])
        two, three, one = [2] * rank, [3] * rank, [1] * rank
        even, none = [(1, 1)] * rank, [(0, 0)] * rank
        uneven = [(1, 2), (0, 1), (2, 0)][:rank]
        written = [low for low, _ in uneven] + [high for _, high in uneven]
        settings = [
            (three, two, even, one, False, one), (two, two, none, one, False, [0] * rank),
            (two, three, none, one, True, [0] * rank), (three, two, even, one, True, one),
            (two, one, none, two, False, [0] * rank), (three, one, uneven, one, False, written),
            (three, two, even, two, False, one),
        ]
        for size, strides, padding, dilation, ceil, pads in settings:
            tail = f"pool_size={size}, strides={strides}, dilation={dilation}, padding={pads}, ceil_mode={ceil}"
            case(f"nn.max_pool{rank}d(%a, {tail})", [x], pooled(x, "max", size, strides, padding, dilation, ceil))
            for include in (False, True):
                case(f"nn.avg_pool{rank}d(%a, {tail}, count_include_pad={include})", [x],
                     pooled(x, "avg", size, strides, padding, dilation, ceil, include))
        layout = f"N{letters}C"
        tail = f'pool_size={three}, strides={two}, padding={one}, layout="{layout}"'
        for kind in ("max", "avg"):
            case(f"nn.{kind}_pool{rank}d(%a, {tail})", [relaid(x, f"NC{letters}", layout)],
                 relaid(pooled(x, kind, three, two, even, one), f"NC{letters}", layout))
        i = ints(1, 2, *[6, 5, 7][:rank], low=-128, high=128, dtype="int8")
        tail = f"pool_size={two}, strides={two}, padding={one}"
        case(f"nn.max_pool{rank}d(%a, {tail})", [i], pooled(i, "max", two, two, even, one))
        wide = i.astype("int32")
        case(f"nn.avg_pool{rank}d(%a, {tail})", [wide], pooled(wide, "avg", two, two, even, one))
    x = floats(1, 4, 5, 6)
    for kind in ("max", "avg"):
        case(f'nn.{kind}_pool2d(%a, pool_size=[2, 3], strides=[2, 1], padding=[0, 1], layout="NCHW2c")',
             [relaid(x, "NCHW", "NCHW2c")],
             relaid(pooled(x, kind, [2, 3], [2, 1], [(0, 0), (1, 1)], [1, 1]), "NCHW", "NCHW2c"))


def pools_of_fewer_elements():
    """Negative padding removes elements, `out_layout` has no effect, and blocks of channels may have any size."""
    x = floats(1, 2, 6, 5)
    for kind in ("max", "avg"):
        for include in (False, True) if kind == "avg" else (None,):
            tail = "pool_size=[2, 3], strides=[2, 1], padding=[-1, 0, 1, -1]"
            counts = "" if include is None else f", count_include_pad={include}"
            case(f"nn.{kind}_pool2d(%a, {tail}{counts})", [x],
                 pooled(x[:, :, 1:, :4], kind, [2, 3], [2, 1], [(0, 1), (0, 0)], [1, 1], False, bool(include)))
        for layout in ("NHWC", "NCHW4c"):
            case(f'nn.{kind}_pool2d(%a, pool_size=[2, 2], out_layout="{layout}")', [x],
                 pooled(x, kind, [2, 2], [1, 1], [(0, 0)] * 2, [1, 1]))
            case(f'nn.global_{kind}_pool2d(%a, out_layout="{layout}")', [x],
                 pooled(x, kind, [6, 5], [1, 1], [(0, 0)] * 2, [1, 1]))
        blocks = floats(1, 2, 4, 4, 3)
        flat = np.moveaxis(blocks, -1, 2).reshape(1, 6, 4, 4)
        out = pooled(flat, kind, [2, 2], [2, 2], [(0, 0)] * 2, [1, 1])
        case(f'nn.{kind}_pool2d(%a, pool_size=[2, 2], strides=[2, 2], layout="NCHW4c")', [blocks],
             np.moveaxis(out.reshape(1, 2, 3, 2, 2), 2, -1))


def pools_to_a_size():
    """Part `k` of `n` begins at `k · size / n`, rounded down, and ends at `(k + 1) · size / n`, rounded up."""
    def adaptive(x, kind, sizes):
        out = np.zeros((*x.shape[:2], *sizes))
        for at in np.ndindex(*sizes):
            cut = tuple(slice(k * side // n, -(-(k + 1) * side // n)) for k, n, side in zip(at, sizes, x.shape[2:]))
            part = x[(slice(None), slice(None)) + cut].astype("float64").reshape(*x.shape[:2], -1)
            out[(slice(None), slice(None)) + at] = part.max(-1) if kind == "max" else part.mean(-1)
        return out.astype("float32")

    for rank, letters in ((1, "W"), (2, "HW"), (3, "DHW")):
        x = floats(2, 2, *[7, 5, 6][:rank])
        for sizes in ([1] * rank, [3, 2, 4][:rank], [7, 5, 6][:rank]):
            for kind in ("max", "avg"):
                case(f"nn.adaptive_{kind}_pool{rank}d(%a, output_size={sizes})", [x], adaptive(x, kind, sizes))
        layout = f"N{letters}C"
        for kind in ("max", "avg"):
            case(f'nn.adaptive_{kind}_pool{rank}d(%a, output_size={[2] * rank}, layout="{layout}")',
                 [relaid(x, f"NC{letters}", layout)], relaid(adaptive(x, kind, [2] * rank), f"NC{letters}", layout))
    x = floats(2, 3, 4, 6)
    for kind in ("max", "avg"):
        case(f"nn.global_{kind}_pool2d(%a)", [x], adaptive(x, kind, [1, 1]))
        case(f'nn.global_{kind}_pool2d(%a, layout="NHWC")', [relaid(x, "NCHW", "NHWC")],
             relaid(adaptive(x, kind, [1, 1]), "NCHW", "NHWC"))


def pool_gradients():
    """Adds each gradient to the maximum of its window, or in equal parts to all elements."""
    def gradient(dy, x, kind, size, strides, padding):
        out = np.zeros(x.shape)
        for n, c, i, j in np.ndindex(*dy.shape):
            top, left = i * strides[0] - padding[0], j * strides[1] - padding[1]
            rows = [row for row in range(top, top + size[0]) if 0 <= row < x.shape[2]]
            columns = [column for column in range(left, left + size[1]) if 0 <= column < x.shape[3]]
            places = [(row, column) for row in rows for column in columns]
            if kind == "max":
                places = [max(places, key=lambda at: x[n, c, at[0], at[1]])]
            for row, column in places:
                out[n, c, row, column] += dy[n, c, i, j] / len(places)
        return out.astype("float32")

    for size, strides, padding in (([2, 2], [2, 2], [0, 0]), ([3, 3], [2, 1], [0, 0]), ([3, 3], [2, 2], [1, 1])):
        x = floats(1, 2, 6, 5)
        sizes = [(side + 2 * p - k) // s + 1 for side, p, k, s in zip(x.shape[2:], padding, size, strides)]
        dy = floats(1, 2, *sizes)
        for kind in ("max", "avg"):
            # Text cannot set the attribute that determines the divisor of padded windows.
            if kind == "max" or not any(padding):
                tail = f"pool_size={size}, strides={strides}, padding={padding}"
                out = gradient(dy, x, kind, size, strides, padding)
                case(f"nn.{kind}_pool2d_grad(%a, %b, {tail})", [dy, x], out)
                case(f'nn.{kind}_pool2d_grad(%a, %b, {tail}, layout="NHWC")',
                     [relaid(dy, "NCHW", "NHWC"), relaid(x, "NCHW", "NHWC")], relaid(out, "NCHW", "NHWC"))


def norms():
    x = floats(2, 3, 4, 5)
    gamma, beta, mean, var = floats(3), floats(3), floats(3), floats(3, low=0.5)
    wide = lambda v: v[:, None, None]
    case("let %t = nn.batch_norm(%a, %b, %c, %d, %e); %t.0", [x, gamma, beta, mean, var],
         (x - wide(mean)) / np.sqrt(wide(var) + 1e-5) * wide(gamma) + wide(beta), 1e-4)
    y, g, b = floats(4, 6), floats(6), floats(6)
    case("nn.layer_norm(%a, %b, %c)", [y, g, b],
         (y - y.mean(1, keepdims=True)) / np.sqrt(y.var(1, keepdims=True) + 1e-5) * g + b, 1e-4)
    m, v = x.mean((2, 3), keepdims=True), x.var((2, 3), keepdims=True)
    case("nn.instance_norm(%a, %b, %c)", [x, gamma, beta], (x - m) / np.sqrt(v + 1e-5) * wide(gamma) + wide(beta), 1e-4)
    z, g, b = floats(2, 4, 3, 3), floats(4), floats(4)
    parts = z.reshape(2, 2, -1)
    parts = ((parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)).reshape(z.shape)
    case("nn.group_norm(%a, %b, %c, num_groups=2)", [z, g, b], parts * wide(g) + wide(b), 1e-4)
    squares = np.pad(x * x, [(0, 0), (1, 1), (0, 0), (0, 0)])
    total = squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:]
    case("nn.lrn(%a, size=3, axis=1, bias=2f, alpha=0.1f, beta=0.75f)", [x], x / (2 + 0.1 / 3 * total) ** 0.75)
    case("let %t = nn.dropout(%a, rate=0.5f); %t.0", [x], x)
    last = x.transpose(0, 2, 3, 1).copy()
    plain = (x - wide(mean)) / np.sqrt(wide(var) + 0.1)
    case("let %t = nn.batch_norm(%a, %b, %c, %d, %e, axis=-1, epsilon=0.1f, center=False); %t.0",
         [last, gamma, beta, mean, var],
         (plain * wide(gamma)).transpose(0, 2, 3, 1), 1e-4)
    case("let %t = nn.batch_norm(%a, %b, %c, %d, %e, epsilon=0.1f, scale=False); %t.0", [x, gamma, beta, mean, var],
         plain + wide(beta), 1e-4)
    g, b = floats(4), floats(4)
    rows = (x - x.mean(2, keepdims=True)) / np.sqrt(x.var(2, keepdims=True) + 0.1)
    case("nn.layer_norm(%a, %b, %c, axis=-2, epsilon=0.1f, scale=False)", [x, g, b], rows + b[:, None], 1e-4)
    case("nn.layer_norm(%a, %b, %c, axis=2, epsilon=0.1f, center=False)", [x, g, b], rows * g[:, None], 1e-4)
    m, v = last.mean((1, 2), keepdims=True), last.var((1, 2), keepdims=True)
    case("nn.instance_norm(%a, %b, %c, axis=3, epsilon=0.1f)", [last, gamma, beta],
         (last - m) / np.sqrt(v + 0.1) * gamma + beta, 1e-4)
    for axis, size in ((1, 5), (3, 3)):
        squares = np.pad(x * x, [(size // 2, size // 2) if k == axis else (0, 0) for k in range(4)])
        total = sum(np.take(squares, range(k, k + x.shape[axis]), axis) for k in range(size))
        case(f"nn.lrn(%a, size={size}, axis={axis}, bias=1f, alpha=0.5f, beta=1.5f)", [x],
             x / (1 + 0.5 / size * total) ** 1.5, 1e-4)
