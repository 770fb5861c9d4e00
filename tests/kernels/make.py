"""Writes cases.jsonl: calls of operators with what numpy computes for them.

    python3 tests/kernels/make.py

Needs numpy alone. Every case is one expression over %a, %b, %c …, the arguments in order, and the
tensors that it gives. Nothing is random from run to run.
"""

import json
import math
import pathlib

import numpy as np

RNG = np.random.default_rng(7)
CASES = []


def encode(array):
    array = np.asarray(array)
    # Single precision in as few digits as tell it.
    flat = [float(str(x)) if array.dtype == "float32" else x.item() for x in array.reshape(-1)]
    names = {math.inf: "inf", -math.inf: "-inf"}
    data = [names.get(x, "nan" if isinstance(x, float) and math.isnan(x) else x) for x in flat]
    return {"dtype": str(array.dtype), "shape": list(array.shape), "data": data}


def case(expr, args, out, tolerance=1e-5):
    out = out if isinstance(out, (list, tuple)) else [out]
    args = [np.asarray(arg) for arg in args]
    CASES.append({
        "expr": expr,
        "args": [encode(arg) for arg in args],
        "out": [encode(each) for each in out],
        "tolerance": tolerance,
    })


def floats(*shape, low=-2.0, high=2.0, dtype="float32"):
    return RNG.uniform(low, high, shape).astype(dtype)


def ints(*shape, low=-9, high=10, dtype="int32"):
    return RNG.integers(low, high, shape).astype(dtype)


def each(function):
    return lambda x: np.vectorize(function, otypes=[np.float64])(x.astype(np.float64)).astype(x.dtype)


erf = each(math.erf)


def unary():
    x = floats(3, 5)
    positive, unit, above = floats(3, 5, low=0.1), floats(3, 5, low=-0.9, high=0.9), floats(3, 5, low=1.1, high=4)
    halves = np.array([[-2.5, -1.5, -0.5, 0.0], [0.5, 1.5, 2.5, 3.49]], "float32")
    away = lambda x: (np.sign(x) * np.floor(np.abs(x) + 0.5)).astype(x.dtype)
    plain = {
        "abs": np.abs, "negative": np.negative, "sign": np.sign, "ceil": np.ceil, "floor": np.floor,
        "trunc": np.trunc, "exp": np.exp, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh,
        "cosh": np.cosh, "tanh": np.tanh, "atan": np.arctan, "asinh": np.arcsinh, "erf": erf,
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "nn.relu": lambda x: np.maximum(x, 0),
        "copy": lambda x: x, "zeros_like": np.zeros_like, "ones_like": np.ones_like,
        "annotation.stop_fusion": lambda x: x,
    }
    for name, function in plain.items():
        case(f"{name}(%a)", [x], function(x))
        case(f"{name}(%a)", [x.astype("float64")], function(x.astype("float64")))
    for name, function in {"log": np.log, "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt,
                           "rsqrt": lambda x: 1 / np.sqrt(x)}.items():
        case(f"{name}(%a)", [positive], function(positive))
    for name, function in {"asin": np.arcsin, "acos": np.arccos, "atanh": np.arctanh}.items():
        case(f"{name}(%a)", [unit], function(unit))
    case("acosh(%a)", [above], np.arccosh(above))
    case("round(%a)", [halves], away(halves))
    for name, function in {"fast_exp": np.exp, "fast_tanh": np.tanh, "fast_erf": erf}.items():
        case(f"{name}(%a)", [x], function(x), 1e-3)
    odd = np.array([1.0, np.nan, np.inf, -np.inf, 0.0], "float32")
    for name, function in {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}.items():
        case(f"{name}(%a)", [odd], function(odd))
    case("clip(%a, a_min=-1f, a_max=0.5f)", [x], np.clip(x, -1, 0.5))
    case("nn.leaky_relu(%a, alpha=0.1f)", [x], np.where(x > 0, x, x * np.float32(0.1)))
    case('cast(%a, dtype="int32")', [x], x.astype("int32"))
    i = ints(3, 4)
    case('cast(%a, dtype="float32")', [i], i.astype("float32"))
    case('cast(%a, dtype="bool")', [i], i.astype("bool"))
    case('reinterpret(%a, dtype="int32")', [x], x.view("int32"))
    case("logical_not(%a)", [i > 0], np.logical_not(i > 0))
    case("bitwise_not(%a)", [i], np.bitwise_not(i))
    case("abs(%a)", [i], np.abs(i))
    case("negative(%a)", [i], -i)
    slope = floats(5, low=0, high=1)
    case("nn.prelu(%a, %b, axis=1)", [x, slope], np.where(x > 0, x, x * slope))


def binary():
    a, b = floats(2, 1, 4), floats(3, 1)
    i, j = ints(3, 4), ints(4, low=1)
    both = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum,
            "minimum": np.minimum, "equal": np.equal, "not_equal": np.not_equal, "less": np.less,
            "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal}
    for name, function in both.items():
        case(f"{name}(%a, %b)", [a, b], function(a, b))
        case(f"{name}(%a, %b)", [i, j], function(i, j))
    c = floats(3, 1, low=0.5)
    case("divide(%a, %b)", [a, c], a / c)
    case("power(%a, %b)", [np.abs(a), b], np.power(np.abs(a), b))
    case("floor_divide(%a, %b)", [i, j], np.floor_divide(i, j))
    case("floor_mod(%a, %b)", [i, j], np.mod(i, j))
    case("divide(%a, %b)", [i, j], np.trunc(i / j).astype("int32"))
    case("trunc_divide(%a, %b)", [i, j], np.trunc(i / j).astype("int32"))
    case("mod(%a, %b)", [i, j], np.fmod(i, j))
    case("trunc_mod(%a, %b)", [i, j], np.fmod(i, j))
    case("floor_divide(%a, %b)", [a, c], np.floor(a / c))
    case("floor_mod(%a, %b)", [a, c], np.mod(a, c))
    s = ints(3, 4, low=0, high=6)
    case("left_shift(%a, %b)", [i, s], np.left_shift(i, s))
    case("right_shift(%a, %b)", [i, s], np.right_shift(i, s))
    for name, function in {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
                           "bitwise_xor": np.bitwise_xor}.items():
        case(f"{name}(%a, %b)", [i, j], function(i, j))
    p, q = i > 0, j > 4
    for name, function in {"logical_and": np.logical_and, "logical_or": np.logical_or,
                           "logical_xor": np.logical_xor}.items():
        case(f"{name}(%a, %b)", [p, q], function(p, q))
    x, y = floats(3, 4), floats(4)
    case("where(%a, %b, %c)", [p, x, y], np.where(p, x, y))
    case("nn.bias_add(%a, %b, axis=1)", [x, y], x + y)


def reductions():
    x = floats(2, 3, 4)
    for name, function in {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod,
                           "variance": np.var, "std": np.std}.items():
        if name in ("variance", "std"):
            mean = x.mean(axis=1, keepdims=True)
            if name == "variance":
                case("variance(%a, %b, axis=[1])", [x, mean], np.var(x, axis=1))
            continue
        case(f"{name}(%a)", [x], np.asarray(function(x)))
        case(f"{name}(%a, axis=[1])", [x], function(x, axis=1))
        case(f"{name}(%a, axis=[0, 2], keepdims=True)", [x], function(x, axis=(0, 2), keepdims=True))
        case(f"{name}(%a, axis=[1], exclude=True)", [x], function(x, axis=(0, 2)))
    case("argmax(%a, axis=[1])", [x], x.argmax(1).astype("int32"))
    case("argmin(%a, axis=[2], keepdims=True)", [x], x.argmin(2)[..., None].astype("int32"))
    b = ints(3, 4, low=0, high=2).astype("bool")
    case("all(%a, axis=[1])", [b], b.all(1))
    case("any(%a, axis=[0])", [b], b.any(0))
    case("cumsum(%a, axis=1)", [x], x.cumsum(1))
    case("cumsum(%a, axis=2, exclusive=True)", [x], x.cumsum(2) - x, 1e-4)
    case("cumprod(%a, axis=0)", [x], x.cumprod(0))
    soft = np.exp(x - x.max(-1, keepdims=True))
    soft /= soft.sum(-1, keepdims=True)
    case("nn.softmax(%a)", [x], soft)
    case("nn.log_softmax(%a)", [x], np.log(soft))
    case("nn.fast_softmax(%a)", [x], soft, 1e-3)
    norm = np.sqrt((x * x).sum(1, keepdims=True))
    case("nn.l2_normalize(%a, eps=1e-10f, axis=[1])", [x], x / norm)


def shapes():
    x = floats(2, 3, 4)
    case("reshape(%a, newshape=[4, 6])", [x], x.reshape(4, 6))
    case("reshape(%a, newshape=[0, -1])", [x], x.reshape(2, 12))
    case("reshape(%a, newshape=[-3, 4])", [x], x.reshape(6, 4))
    case("reshape(%a, newshape=[-4, 1, 2, -2])", [x], x.reshape(1, 2, 3, 4))
    case("contrib_reverse_reshape(%a, newshape=[-1, 0])", [x], x.reshape(6, 4))
    case("transpose(%a, axes=None)", [x], x.T)
    case("transpose(%a, axes=[1, 0, 2])", [x], x.transpose(1, 0, 2))
    case("expand_dims(%a, axis=1, num_newaxis=2)", [x], x[:, None, None])
    case("squeeze(%a, axis=[1])", [x[:, :1]], x[:, 0])
    case("reverse(%a, axis=1)", [x], x[:, ::-1])
    case("concatenate((%a, %b), axis=1)", [x, x[:, :2]], np.concatenate([x, x[:, :2]], 1))
    case("stack((%a, %b), axis=-1)", [x, x], np.stack([x, x], -1))
    case("split(%a, indices_or_sections=2, axis=2)", [x], np.split(x, 2, 2))
    case("split(%a, indices_or_sections=[1, 2], axis=1)", [x], np.split(x, [1, 2], 1))
    case("broadcast_to(%a, shape=[2, 3, 4])", [x[:, :1]], np.broadcast_to(x[:, :1], (2, 3, 4)))
    case("broadcast_to_like(%a, %b)", [x[:1], x], np.broadcast_to(x[:1], (2, 3, 4)))
    case("collapse_sum_like(%a, %b)", [x, x[:, :1]], x.sum(1, keepdims=True))
    case("collapse_sum_to(%a, %b, shape=[2, 1, 4])", [x, np.array([2, 1, 4], "int64")], x.sum(1, keepdims=True))
    case("reshape_like(%a, %b)", [x, floats(6, 4)], x.reshape(6, 4))
    case("tile(%a, reps=[2, 1, 2])", [x], np.tile(x, (2, 1, 2)))
    case("repeat(%a, repeats=2, axis=1)", [x], np.repeat(x, 2, 1))
    case("nn.batch_flatten(%a)", [x], x.reshape(2, 12))
    case('shape_of(%a, dtype="int32")', [x], np.array([2, 3, 4], "int32"))
    case('ndarray_size(%a, dtype="int32")', [x], np.array(24, "int32"))
    y = floats(2, 4)
    case("sliding_window(%a, axis=1, window_shape=[2], strides=[1])", [y],
         np.stack([y[:, k:k + 2] for k in range(3)], 1))


def creation():
    v = np.float32(2.5)
    case('full(%a, shape=[2, 3], dtype="float32")', [v], np.full((2, 3), v))
    case('zeros(shape=[2, 3], dtype="int32")', [], np.zeros((2, 3), "int32"))
    case('ones(shape=[2], dtype="float64")', [], np.ones(2))
    x = floats(3, 4)
    case("full_like(%a, %b)", [x, v], np.full((3, 4), v))
    case("trilu(%a, %b, upper=True)", [x, np.int32(1)], np.triu(x, 1))
    case("trilu(%a, %b, upper=False)", [x, np.int32(0)], np.tril(x, 0))
    i = np.array([0, 2, 1], "int32")
    case('one_hot(%a, %b, %c, depth=4, axis=-1, dtype="float32")', [i, np.float32(1), np.float32(0)],
         np.eye(4, dtype="float32")[i])
    p, q = floats(3), floats(2)
    case('meshgrid((%a, %b), indexing="ij")', [p, q], np.meshgrid(p, q, indexing="ij"))


def indices():
    x = floats(4, 5)
    i = np.array([[0, 3], [2, 1]], "int64")
    case('take(%a, %b, axis=0, mode="clip")', [x, i], x[i])
    case('take(%a, %b, axis=1, mode="clip")', [x, i], x[:, i])
    case('take(%a, %b, mode="wrap")', [x, np.array([-1, 21], "int32")], x.reshape(-1)[[19, 1]])
    g = ints(4, 3, low=0, high=5, dtype="int64")
    case("gather(%a, %b, axis=1)", [x, g], np.take_along_axis(x, g, 1))
    n = np.array([[0, 1, 3], [4, 0, 2]], "int64")
    case("gather_nd(%a, %b)", [x, n], x[n[0], n[1]])
    case("strided_slice(%a, begin=[1, 4], end=[4, 0], strides=[2, -2], axes=None)", [x], x[1:4:2, 4:0:-2])
    case('strided_slice(%a, begin=[1], end=[2], strides=[1], axes=[1], slice_mode="size")', [x], x[:, 1:3])
    case("slice_like(%a, %b, axes=[0])", [x, floats(2, 9)], x[:2])
    u = floats(2, 5)
    s = np.array([[3, 0, 1, 2, 3], [0, 1, 2, 3, 0]], "int64")
    out = x.copy()
    for r in range(2):
        for c in range(5):
            out[s[r, c], c] += u[r, c]
    case('scatter_elements(%a, %b, %c, axis=0, reduction="add", attrs_type_key="relay.attrs.ScatterElementsAttrs")',
         [x, s, u], out)
    out = x.copy()
    out[[1, 3], [2, 4]] = [9, 8]
    case('scatter_nd(%a, %b, %c, mode="update", attrs_type_key="relay.attrs.ScatterNDAttrs")',
         [x, np.array([[1, 3], [2, 4]], "int64"), np.array([9, 8], "float32")], out)
    case("adv_index((%a, %b))", [x, np.array([2, 0], "int64")], x[[2, 0]])
    case("reverse_sequence(%a, %b, seq_axis=1, batch_axis=0)", [x[:2], np.array([2, 5], "int64")],
         np.stack([np.concatenate([x[0, 1::-1], x[0, 2:]]), x[1, ::-1]]))
    case("sequence_mask(%a, %b, mask_value=7f, axis=0)", [x, np.array([1, 2, 3, 4, 0], "int32")],
         np.where(np.arange(4)[:, None] < np.array([1, 2, 3, 4, 0]), x, np.float32(7)))


def sorting():
    x = RNG.permutation(24).reshape(4, 6).astype("float32")
    case('argsort(%a, axis=1, is_ascend=True, dtype="int32")', [x], x.argsort(1).astype("int32"))
    case('argsort(%a, axis=0, is_ascend=False, dtype="int32")', [x], (-x).argsort(0).astype("int32"))
    case("sort(%a, axis=1, is_ascend=True)", [x], np.sort(x, 1))
    order = (-x).argsort(1)[:, :3]
    case('topk(%a, k=3, axis=1, ret_type="both", dtype="int64")', [x],
         [np.take_along_axis(x, order, 1), order])
    flags = np.array([[1, 0], [1, 1]], "bool")
    case("argwhere(%a)", [flags], np.argwhere(flags).astype("int32"))
    s, v = np.sort(floats(9)), floats(4)
    case('searchsorted(%a, %b, right=False, dtype="int32")', [s, v], np.searchsorted(s, v).astype("int32"))
    case('searchsorted(%a, %b, right=True, dtype="int32")', [s, s[:3]],
         np.searchsorted(s, s[:3], "right").astype("int32"))
    order = RNG.permutation(5).astype("int32")
    case("invert_permutation(%a)", [order], np.argsort(order).astype("int32"))


def convolution(x, w, strides, padding, dilation, groups):
    """Over any number of axes, as the definition says."""
    spatial = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding]).astype("float64")
    outs, inner = w.shape[:2]
    sizes = [(x.shape[2 + k] - (w.shape[2 + k] - 1) * dilation[k] - 1) // strides[k] + 1 for k in range(spatial)]
    out = np.zeros((x.shape[0], outs, *sizes))
    each = outs // groups
    for o in range(outs):
        part = x[:, o // each * inner:(o // each + 1) * inner]
        for at in np.ndindex(*sizes):
            window = tuple(slice(at[k] * strides[k], at[k] * strides[k] + (w.shape[2 + k] - 1) * dilation[k] + 1,
                                 dilation[k]) for k in range(spatial))
            out[(slice(None), o) + at] = (part[(slice(None), slice(None)) + window] * w[o]).reshape(x.shape[0], -1).sum(1)
    return out.astype("float32")


def products():
    a, b = floats(3, 4), floats(5, 4)
    case("nn.dense(%a, %b, units=5)", [a, b], a @ b.T)
    case("nn.matmul(%a, %b, units=5)", [a, b.T.copy()], a @ b.T)
    case("nn.matmul(%a, %b, units=5, transpose_a=True, transpose_b=True)", [a.T.copy(), b], a @ b.T)
    p, q = floats(2, 3, 4), floats(2, 5, 4)
    case("nn.batch_matmul(%a, %b, transpose_b=True)", [p, q], p @ q.transpose(0, 2, 1))
    case('einsum((%a, %b), equation="bij,bkj->bik")', [p, q], np.einsum("bij,bkj->bik", p, q))
    i, j = ints(3, 4, dtype="int8"), ints(5, 4, dtype="int8")
    case('nn.dense(%a, %b, units=5, out_dtype="int32")', [i, j], i.astype("int32") @ j.astype("int32").T)
    for rank, letters in ((1, "W"), (2, "HW"), (3, "DHW")):
        size = [7, 6, 5][:rank]
        x, w = floats(2, 4, *size), floats(6, 4, *[3] * rank)
        one = [1] * rank
        head = f"nn.conv{rank}d(%a, %b, kernel_size={[3] * rank}"
        # Both sides of one axis are written; of more, one may stand for both.
        pad = lambda p: [p] * max(rank, 2)
        case(f"{head}, padding={pad(1)})", [x, w], convolution(x, w, one, one, one, 1), 1e-4)
        case(f"{head}, strides={[2] * rank}, padding={pad(1)})", [x, w], convolution(x, w, [2] * rank, one, one, 1), 1e-4)
        half = floats(6, 2, *[3] * rank)
        # TVM types no `nn.conv1d` of several groups.
        if rank > 1:
            case(f"{head}, padding={pad(2)}, dilation={[2] * rank}, groups=2)", [x, half],
                 convolution(x, half, one, [2] * rank, [2] * rank, 2), 1e-4)
        channels_last = np.moveaxis(x, 1, -1).copy()
        weight = np.moveaxis(w, (0, 1), (-1, -2)).copy()
        layout, kernel = f"N{letters}C", {1: "WIO", 2: "HWIO", 3: "DHWIO"}[rank]
        case(f'{head}, padding={pad(1)}, data_layout="{layout}", kernel_layout="{kernel}")', [channels_last, weight],
             np.moveaxis(convolution(x, w, one, one, one, 1), 1, -1), 1e-4)
    # A transposed convolution is the gradient of the other: spread, turned around.
    x, w = floats(1, 3, 4, 5), floats(3, 2, 3, 3)
    spread = np.zeros((1, 3, 7, 9), "float32")
    spread[:, :, ::2, ::2] = x
    turned = w[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    case("nn.conv2d_transpose(%a, %b, channels=2, kernel_size=[3, 3], strides=[2, 2], padding=[1, 1])", [x, w],
         convolution(spread, turned, [1, 1], [1, 1], [1, 1], 1), 1e-4)


def windows(x, size, strides, padding, fill):
    rank = len(size)
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding], constant_values=fill)
    sizes = [(x.shape[2 + k] - size[k]) // strides[k] + 1 for k in range(rank)]
    parts = []
    for at in np.ndindex(*sizes):
        cut = tuple(slice(at[k] * strides[k], at[k] * strides[k] + size[k]) for k in range(rank))
        parts.append(x[(slice(None), slice(None)) + cut].reshape(*x.shape[:2], -1))
    return np.stack(parts, 2).reshape(*x.shape[:2], *sizes, -1)


def pools():
    for rank in (1, 2, 3):
        x = floats(2, 3, *[6, 5, 7][:rank])
        two, three, one = [2] * rank, [3] * rank, [1] * rank
        case(f"nn.max_pool{rank}d(%a, pool_size={three}, strides={two}, padding={one})", [x],
             windows(x, three, two, one, -np.inf).max(-1))
        case(f"nn.avg_pool{rank}d(%a, pool_size={two}, strides={two})", [x], windows(x, two, two, [0] * rank, 0).mean(-1))
        case(f"nn.avg_pool{rank}d(%a, pool_size={three}, strides={two}, padding={one}, count_include_pad=True)", [x],
             windows(x, three, two, one, 0).mean(-1))
        counted = windows(np.ones_like(x), three, two, one, 0).sum(-1)
        case(f"nn.avg_pool{rank}d(%a, pool_size={three}, strides={two}, padding={one})", [x],
             windows(x, three, two, one, 0).sum(-1) / counted)
    x = floats(2, 3, 4, 6)
    case("nn.global_avg_pool2d(%a)", [x], x.mean((2, 3), keepdims=True))
    case("nn.global_max_pool2d(%a)", [x], x.max((2, 3), keepdims=True))
    case("nn.adaptive_avg_pool2d(%a, output_size=[2, 3])", [x], x.reshape(2, 3, 2, 2, 3, 2).mean((3, 5)))
    case("nn.adaptive_max_pool2d(%a, output_size=[2, 3])", [x], x.reshape(2, 3, 2, 2, 3, 2).max((3, 5)))


def norms():
    x = floats(2, 3, 4, 5)
    gamma, beta, mean, var = floats(3), floats(3), floats(3), floats(3, low=0.5)
    wide = lambda v: v[:, None, None]
    case("nn.batch_norm(%a, %b, %c, %d, %e).0", [x, gamma, beta, mean, var],
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
    case("nn.dropout(%a, rate=0.5f).0", [x], x)


def layouts():
    x = floats(2, 4, 2, 6)
    case('layout_transform(%a, src_layout="NCHW", dst_layout="NHWC")', [x], x.transpose(0, 2, 3, 1))
    case('layout_transform(%a, src_layout="NCHW", dst_layout="NCHW2c")', [x],
         x.reshape(2, 2, 2, 2, 6).transpose(0, 1, 3, 4, 2))
    case("nn.pad(%a, 3f, pad_width=[[0, 0], [1, 0], [0, 2], [1, 1]])", [x],
         np.pad(x, [(0, 0), (1, 0), (0, 2), (1, 1)], constant_values=3))
    case('nn.mirror_pad(%a, mode="REFLECT", pad_width=[[0, 0], [0, 0], [1, 1], [2, 3]])', [x],
         np.pad(x, [(0, 0), (0, 0), (1, 1), (2, 3)], mode="reflect"))
    case('nn.mirror_pad(%a, mode="SYMMETRIC", pad_width=[[0, 0], [0, 0], [1, 1], [2, 3]])', [x],
         np.pad(x, [(0, 0), (0, 0), (1, 1), (2, 3)], mode="symmetric"))
    case('nn.depth_to_space(%a, block_size=2, layout="NCHW", mode="DCR")', [x],
         x.reshape(2, 2, 2, 1, 2, 6).transpose(0, 3, 4, 1, 5, 2).reshape(2, 1, 4, 12))
    case('nn.space_to_depth(%a, block_size=2, layout="NCHW")', [x],
         x.reshape(2, 4, 1, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 16, 1, 3))
    near = x.repeat(2, 2).repeat(3, 3)
    case('nn.upsampling(%a, scale_h=2f, scale_w=3f, layout="NCHW", method="nearest_neighbor")', [x], near)
    out = np.zeros((2, 4, 3, 16), "float32")
    out[:, :, ::2, ::3] = x
    case("nn.dilate(%a, strides=[1, 1, 2, 3])", [x], out)


def images():
    x = floats(1, 2, 3, 4)
    near = x[:, :, (np.arange(6) // 2)][:, :, :, np.arange(8) // 2]
    case('image.resize2d(%a, size=[6, 8], roi=[0f, 0f, 0f, 0f], layout="NCHW", method="nearest_neighbor", '
         'coordinate_transformation_mode="asymmetric", rounding_method="floor")', [x], near)

    def linear(size, target):
        at = np.clip((np.arange(target) + 0.5) * size / target - 0.5, 0, size - 1)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, size - 1)
        matrix = np.zeros((target, size))
        matrix[np.arange(target), low] += 1 - (at - low)
        matrix[np.arange(target), high] += at - low
        return matrix

    smooth = np.einsum("ph,qw,nchw->ncpq", linear(3, 5), linear(4, 7), x.astype("float64")).astype("float32")
    case('image.resize2d(%a, size=[5, 7], roi=[0f, 0f, 0f, 0f], layout="NCHW", method="linear", '
         'coordinate_transformation_mode="half_pixel")', [x], smooth)
    y = floats(1, 2, 4)
    case('image.resize1d(%a, size=[8], roi=[0f, 0f], layout="NCW", method="nearest_neighbor", '
         'coordinate_transformation_mode="asymmetric", rounding_method="floor")', [y], y.repeat(2, 2))
    flat = floats(1, 2, 3, 4)
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-1, 1, 3)), 0)[None].astype("float32")
    case('image.grid_sample(%a, %b, method="bilinear", layout="NCHW", padding_mode="zeros", align_corners=True)',
         [flat, grid], flat, 1e-4)


def quantized():
    x = floats(3, 4)
    scale, zero = np.float32(0.05), np.int32(3)
    away = lambda v: np.sign(v) * np.floor(np.abs(v) + 0.5)
    q = np.clip(away(x.astype("float64") / np.float64(scale)) + 3, -128, 127).astype("int8")
    case('qnn.quantize(%a, %b, %c, out_dtype="int8", axis=-1)', [x, scale, zero], q)
    case('qnn.dequantize(%a, %b, %c, out_dtype="float32", axis=-1)', [q, scale, zero], (q.astype("float32") - 3) * scale)
    a, b = ints(2, 4, dtype="int8"), ints(3, 4, dtype="int8")
    case('qnn.dense(%a, %b, %c, %d, %e, %f, units=3, out_dtype="int32")',
         [a, b, np.int32(2), np.int32(-1), np.float32(0.1), np.float32(0.2)],
         (a.astype("int32") - 2) @ (b.astype("int32") + 1).T)


def dynamic():
    x = floats(2, 3, 4)
    case("dyn.reshape(%a, %b, newshape=[])", [x, np.array([4, -1], "int64")], x.reshape(4, 6))
    case("dyn.tile(%a, %b, reps=[])", [x, np.array([1, 2, 1], "int64")], np.tile(x, (1, 2, 1)))
    case("dyn.broadcast_to(%a, %b, shape=[])", [x[:, :1], np.array([2, 3, 4], "int64")], np.broadcast_to(x[:, :1], (2, 3, 4)))
    case('dyn.zeros(%a, shape=[], dtype="float32")', [np.array([2, 3], "int64")], np.zeros((2, 3), "float32"))
    case('dyn.ones(%a, shape=[], dtype="int32")', [np.array([2], "int64")], np.ones(2, "int32"))
    case('dyn.full(%a, %b, shape=[], dtype="float32")', [np.float32(4), np.array([2, 2], "int64")], np.full((2, 2), 4, "float32"))
    i = np.array([0, 2], "int32")
    case('dyn.one_hot(%a, %b, %c, %d, axis=-1, dtype="float32")', [i, np.float32(1), np.float32(0), np.int32(3)],
         np.eye(3, dtype="float32")[i])
    begin, end, step = (np.array(v, "int64") for v in ([0, 1, 0], [2, 3, 4], [1, 1, 2]))
    case('dyn.strided_slice(%a, %b, %c, %d, begin=[], end=[], strides=[], slice_mode="end", axes=[])', [x, begin, end, step], x[0:2, 1:3, 0:4:2])


for family in (unary, binary, reductions, shapes, creation, indices, sorting, products, pools, norms, layouts, images,
               quantized, dynamic):
    family()
path = pathlib.Path(__file__).with_name("cases.jsonl")
with open(path, "w") as file:
    for row in CASES:
        file.write(json.dumps(row, separators=(",", ":")) + "\n")
print(len(CASES), "cases,", path.stat().st_size // 1000, "kB")
