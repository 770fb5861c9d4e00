"""Elementwise operators, broadcasting, reductions and losses."""

import numpy as np

from cases import away, case, erf, floats, ints


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
