"""Elementwise operators, broadcasting and losses."""

import numpy as np

from cases import BFloat16, case, erf, floats, ints


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


def corners():
    none, row = np.zeros((0, 3), "float32"), floats(1, 3)
    case("add(%a, %b)", [none, row], none)
    case("exp(%a)", [none], none)
    case("add(%a, %b)", [floats(2, 1)[:, :0], row[:, :1]], np.zeros((2, 0), "float32"))
    scalar = np.float32(1.5)
    case("multiply(%a, %b)", [scalar, row], row * scalar)
    case("subtract(%a, %b)", [scalar, scalar], np.float32(0))
    # Quotients of either sign, and remainders with the sign of the divisor or of the dividend.
    i, j = np.array([7, -7, 7, -7], "int32"), np.array([2, 2, -2, -2], "int32")
    for dtype in ("int8", "int32", "int64"):
        i, j = i.astype(dtype), j.astype(dtype)
        case("floor_divide(%a, %b)", [i, j], np.array([3, -4, -4, 3], dtype))
        case("floor_mod(%a, %b)", [i, j], np.array([1, 1, -1, -1], dtype))
        case("trunc_divide(%a, %b)", [i, j], np.array([3, -3, -3, 3], dtype))
        case("trunc_mod(%a, %b)", [i, j], np.array([1, -1, 1, -1], dtype))
    x, y = np.array([5.5, -5.5, 5.5, -5.5], "float32"), np.array([2, 2, -2, -2], "float32")
    case("trunc_mod(%a, %b)", [x, y], np.fmod(x, y))
    case("floor_mod(%a, %b)", [x, y], np.mod(x, y))
    # Integers wrap.
    case("add(%a, %b)", [np.array([127, -128], "int8"), np.array([1, -1], "int8")], np.array([-128, 127], "int8"))
    case("multiply(%a, %b)", [np.array([200, 3], "uint8"), np.array([2, 5], "uint8")], np.array([144, 15], "uint8"))
    case("subtract(%a, %b)", [np.array([1], "uint8"), np.array([2], "uint8")], np.array([255], "uint8"))
    wide = np.array([2**60, -2**60 + 1], "int64")
    case("add(%a, %b)", [wide, np.array([2**61 + 1, 5], "int64")], wide + np.array([2**61 + 1, 5]))
    case("maximum(%a, %b)", [wide, wide - 1], wide)
    case("right_shift(%a, %b)", [np.array([-9, 9], "int32"), np.array([1, 2], "int32")], np.array([-5, 2], "int32"))
    case("left_shift(%a, %b)", [np.array([3, 1], "int64"), np.array([40, 2], "int64")], np.array([3 << 40, 4], "int64"))
    case("power(%a, %b)", [np.array([2, -3, 5], "int32").astype("float32"), np.array([3, 3, 0], "float32")],
         np.array([8, -27, 1], "float32"))
    # Half the bits.
    h, k = floats(3, 4, dtype="float16"), floats(4, low=0.5, dtype="float16")
    for name, function in {"add": np.add, "subtract": np.subtract, "multiply": np.multiply,
                           "divide": np.divide}.items():
        case(f"{name}(%a, %b)", [h, k], function(h, k), 1e-3)
        left, right = BFloat16(h), BFloat16(k)
        case(f"{name}(%a, %b)", [left, right], BFloat16(function(left.array, right.array)), 1e-2)
    for name, function in {"exp": np.exp, "tanh": np.tanh, "sqrt": np.sqrt}.items():
        case(f"{name}(%a)", [np.abs(h)], function(np.abs(h)), 2e-3)
    case('cast(%a, dtype="bfloat16")', [h.astype("float32")], BFloat16(h))
    case('cast(%a, dtype="float32")', [left], left.array)
    third = np.array([1 / 3, 2049, 65519, 65520, -1e-8], "float32")
    with np.errstate(over="ignore"):
        case('cast(%a, dtype="float16")', [third], third.astype("float16"), 0)
    case('cast(%a, dtype="bfloat16")', [third], BFloat16(third), 0)
    case('cast(%a, dtype="int32")', [np.array([-1.9, 1.9, -0.5], "float32")], np.array([-1, 1, 0], "int32"))
    many = np.array([300, -1, 128, -129], "int32")
    for dtype in ("int8", "uint8", "int16", "int64", "bool"):
        case(f'cast(%a, dtype="{dtype}")', [many], many.astype(dtype))
    case("cast_like(%a, %b)", [many, np.zeros(2, "uint8")], many.astype("uint8"))
    case("cast_like(%a, %b)", [np.array([0.5, 0, -2], "float32"), np.zeros((), "bool")], np.array([True, False, True]))
    case("where(%a, %b, %c)", [np.array([[True], [False]]), row, np.float32(0)],
         np.where([[True], [False]], row, np.float32(0)))
    v = floats(2, 3, 4)
    case("nn.bias_add(%a, %b, axis=-2)", [v, row[0]], v + row[0][:, None])
    case("nn.prelu(%a, %b, axis=2)", [v, np.abs(k).astype("float32")],
         np.where(v > 0, v, v * np.abs(k).astype("float32")), 1e-5)
    case("clip(%a, a_min=-3f, a_max=4f)", [many], np.clip(many, -3, 4))
    case("sign(%a)", [np.array([-3, 0, 9], "int32")], np.array([-1, 0, 1], "int32"))


def fixed_points():
    """`data · multiplier / 2^31 · 2^shift`, with halves rounded up."""
    def product(x, multiplier, left, right):
        wide = (x.astype(object) * 2 ** left) * multiplier
        return ((wide + 2 ** (30 + right)) // 2 ** (31 + right)).astype("int32")

    x = np.array([[0, 1, -1, 5, -5, 1000], [123456, -123457, 3, -3, 2, 1000001]], "int32")
    for multiplier, shift in ((1395864371, 1), (1395864371, -3), (2**30, 3), (2**30, -2), (2**31 - 1, 0),
                              (1717986918, 5)):
        case(f"fixed_point_multiply(%a, multiplier={multiplier}, shift={shift})", [x],
             product(x, multiplier, max(shift, 0), max(-shift, 0)))
    m = np.array([1395864371, 2**30, 1717986918, 2**31 - 1, 1200000000, 1073741825], "int32")
    left, right = np.array([0, 1, 2, 0, 3, 1], "int32"), np.array([0, 4, 2, 1, 0, 3], "int32")
    columns = lambda left, right: np.stack([product(x[:, k], int(m[k]), int(left[k]), int(right[k])) for k in range(6)],
                                           1)
    head = "fixed_point_multiply_per_axis(%a, %b, %c, %d, "
    case(f"{head}is_lshift_required=True, is_rshift_required=True, axes=[1])", [x, m, left, right],
         columns(left, right))
    case(f"{head}is_lshift_required=True, axes=[1])", [x, m, left, 0 * right], columns(left, 0 * right))
    case(f"{head}is_rshift_required=True, axes=[1])", [x, m, left, right], columns(0 * left, right))


def losses():
    p, t = floats(3, 4, low=0.1, high=1), floats(3, 4, low=0, high=1)
    case("nn.cross_entropy(%a, %b)", [p, t], np.float32(-(np.log(p) * t).sum() / 3))
    case("nn.cross_entropy_with_logits(%a, %b)", [np.log(p), t], np.float32(-(np.log(p) * t).sum() / 3))
    for shape in ((), (2,), (2, 3)):
        p, w = floats(3, 4, *shape), floats(4, low=0.1)
        t = ints(3, *shape, low=0, high=4)
        t.reshape(-1)[0] = 2
        for ignore in (-100, 2):
            out, total = np.zeros(t.shape), 0.0
            for at in np.ndindex(*t.shape):
                if t[at] != ignore:
                    out[at] = -p[(at[0], t[at]) + at[1:]] * w[t[at]]
                    total += w[t[at]]
            for reduction, value in (("none", out), ("sum", out.sum()), ("mean", out.sum() / total)):
                case(f'nn.nll_loss(%a, %b, %c, reduction="{reduction}", ignore_index={ignore})', [p, t, w],
                     np.asarray(value).astype("float32"))
