"""Integers that represent real numbers: `scale · (integer - zero point)`."""

import numpy as np

from cases import away, case, erf, floats, ints
from convolution import convolution, transposed
from layoutof import relaid
from windows import pooled

RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "int32": (-2**31, 2**31 - 1)}


def _factor(real):
    """A factor below 1 as 31 bits and a power of 2."""
    part, exponent = np.frexp(np.float64(real))
    whole = int(away(part * 2.0**31))
    return (whole // 2, int(exponent) + 1) if whole == 2**31 else (whole, int(exponent))


def _scaled(x, real, up=True):
    """`x · real` in integer arithmetic; halves are rounded up, or away from zero."""
    whole, exponent = _factor(real)
    shift = 31 - min(exponent, 0)
    product = np.asarray(x).astype(object) * 2 ** max(exponent, 0) * whole
    half = 2 ** (shift - 1)
    nearest = lambda p: (p + half) // 2**shift if up or p >= 0 else (p + half - 1) // 2**shift
    return np.vectorize(nearest, otypes=["int64"])(product)


def requantized(x, scale, zero, new_scale, new_zero, dtype, rounding="UPWARD", compute="int64"):
    scale, new_scale = np.float32(scale), np.float32(new_scale)
    shifted = x.astype("int64") - zero
    if scale == new_scale:
        scaled = shifted
    elif compute == "int64":
        scaled = _scaled(shifted, np.float64(scale) / np.float64(new_scale), rounding == "UPWARD")
    else:
        real = np.dtype(compute).type
        product = shifted.astype(compute) * real(np.float64(scale) / np.float64(new_scale)) + real(new_zero)
        nearest = np.floor(product + real(0.5)) if rounding == "UPWARD" else away(product)
        scaled = nearest.astype("int64") - new_zero
    return np.clip(scaled + new_zero, *RANGES[dtype]).astype(dtype)


def _quantized(x, scale, zero, dtype):
    with np.errstate(divide="ignore"):
        nearest = away(np.float32(x) / np.float32(scale)) + zero
    return np.clip(nearest, *RANGES[dtype]).astype(dtype)


def _real(q, scale, zero):
    return (q.astype("int32") - np.int32(zero)).astype("float32") * np.float32(scale)


def conversion():
    x = np.concatenate([floats(12) * 40, [0.25, 0.75, -0.25, -0.75, 1e10, -1e10, np.inf,
                                          -np.inf]]).astype("float32").reshape(4, 5)
    for dtype in ("int8", "uint8", "int16"):
        for scale, zero in ((0.5, 3), (0.1, -3)):
            case(f'qnn.quantize(%a, {scale}f, {zero}, out_dtype="{dtype}", axis=-1)', [x],
                 _quantized(x, scale, zero, dtype))
    scales, zeros = np.array([0.5, 0.25, 1, 2], "float32"), np.array([0, 3, -5, 1], "int32")
    for axis in (0, -2):
        case(f'qnn.quantize(%a, %b, %c, out_dtype="int8", axis={axis})', [x, scales, zeros],
             _quantized(x, scales[:, None], zeros[:, None], "int8"))
    for dtype in ("int8", "uint8", "int16", "int32"):
        q = ints(3, 4, low=max(RANGES[dtype][0], -10**6), high=min(RANGES[dtype][1], 10**6), dtype=dtype)
        case('qnn.dequantize(%a, 0.3f, 5, out_dtype="float32", axis=-1)', [q], _real(q, 0.3, 5))
    q = ints(3, 4, low=-128, high=128, dtype="int8")
    case('qnn.dequantize(%a, 0.3f, -5, out_dtype="float16", axis=-1)', [q], _real(q, 0.3, -5).astype("float16"), 1e-3)
    case('qnn.dequantize(%a, %b, %c, out_dtype="float32", axis=1)', [q, scales, zeros],
         (q - zeros).astype("float32") * scales)
    case('qnn.quantize(%a, 0.5f, 0, out_dtype="int8")', [x[:0]], np.zeros((0, 5), "int8"))


def requantization():
    x = np.array([[-2**31, 2**31 - 1, 0, 1, -1, 5, -5, 2**30], [-2**30, 12345678, -7654321, 3, -3, 255, -256, 100]],
                 "int32")
    small = ints(2, 8, low=-1000, high=1000)
    halves = np.arange(-8, 8, dtype="int32").reshape(2, 8)
    for rounding in ("UPWARD", "TONEAREST"):
        for dtype in ("int8", "uint8", "int16", "int32"):
            for scale, zero, new_scale, new_zero in ((0.5, 0, 1.0, 0), (0.3, -4, 0.7, 5), (1.0, 3, 0.25, -7),
                                                     (0.7, 1, 0.7, 2)):
                # Only 32 bit integers whose sums and products do not overflow.
                data = halves if scale == 0.5 else x // 8 if dtype != "int32" else small
                for compute in ("int64", "float64", "float32"):
                    if compute == "float32" and data is not halves:
                        continue
                    tail = f'rounding="{rounding}", compute_dtype="{compute}", out_dtype="{dtype}"'
                    case(f"qnn.requantize(%a, {scale}f, {zero}, {new_scale}f, {new_zero}, {tail})", [data],
                         requantized(data, scale, zero, new_scale, new_zero, dtype, rounding, compute))
    # By default, halves are rounded up.
    case('qnn.requantize(%a, 0.5f, 0, 1f, 0, out_dtype="int8")', [halves], requantized(halves, 0.5, 0, 1, 0, "int8"))
    for dtype in ("int8", "uint8", "int16"):
        q = ints(2, 8, low=RANGES[dtype][0], high=RANGES[dtype][1], dtype=dtype)
        case('qnn.requantize(%a, 0.3f, 5, 0.1f, 2, compute_dtype="int64", out_dtype="uint8")', [q],
             requantized(q, 0.3, 5, 0.1, 2, "uint8"))
    scales, zeros = np.array([0.5, 0.013, 3], "float32"), np.array([0, 7, -2], "int32")
    q = ints(2, 3, 4, low=-500, high=500)
    for rounding in ("UPWARD", "TONEAREST"):
        for axis in (1, -2):
            out = np.stack([requantized(q[:, k], scales[k], zeros[k], 0.25, 3, "int8", rounding) for k in range(3)], 1)
            case(f'qnn.requantize(%a, %b, %c, 0.25f, 3, axis={axis}, rounding="{rounding}", compute_dtype="int64", out_dtype="int8")',
                 [q, scales, zeros], out)


def simulation():
    x = floats(3, 4) * 60
    codes = {"int8": 1, "uint8": 2, "int32": 3}
    case("qnn.simulated_quantize(%a, 0, 0.5f, 3)", [x], x)
    case('qnn.simulated_dequantize(%a, 0, 0.5f, 3, out_dtype="float32")', [x], x)
    scales, zeros = np.array([0.5, 0.25, 1], "float32"), np.array([0, 3, -5], "int32")
    for dtype, code in codes.items():
        nearest = np.clip(away(x / np.float32(0.5)) + 3, *RANGES[dtype]).astype("float32")
        case(f"qnn.simulated_quantize(%a, {code}, 0.5f, 3)", [x], nearest)
        case(f'qnn.simulated_dequantize(%a, {code}, 0.5f, 3, out_dtype="float32")', [x], (x - 3) * np.float32(0.5))
        nearest = np.clip(away(x / scales[:, None]) + zeros[:, None], *RANGES[dtype]).astype("float32")
        case(f"qnn.simulated_quantize(%a, {code}, %b, %c, axis=0)", [x, scales, zeros], nearest)
        case(f'qnn.simulated_dequantize(%a, {code}, %b, %c, out_dtype="float32", axis=0)', [x, scales, zeros],
             ((x - zeros[:, None]) * scales[:, None]).astype("float32"))


def unary():
    """Dequantizes and quantizes again."""
    functions = {"abs": np.abs, "erf": erf, "exp": np.exp, "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
                 "log": np.log,
                 "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "sqrt": np.sqrt,
                 "tanh": np.tanh}
    for name, function in functions.items():
        for dtype in ("int8", "uint8"):
            low, high = RANGES[dtype]
            every = np.arange(low, high + 1, 5).astype(dtype)
            # If the function needs positive numbers, the minimum represents 0.
            zero = low if name in ("log", "rsqrt", "sqrt") else low + 138
            with np.errstate(divide="ignore", over="ignore"):
                out = _quantized(function(_real(every, 0.05, zero)), 0.03, 5, dtype)
            case(f"qnn.{name}(%a, 0.05f, {zero}, 0.03f, 5)", [every], out)
    for alpha in (0.1, 0.5, 0.9):
        for new_scale, new_zero in ((0.02, 5), (0.05, 10)):
            every = np.arange(-128, 128, 3).astype("int8")
            same = (new_scale, new_zero) == (0.05, 10)
            moved = every.astype("int64") if same else requantized(every, 0.05, 10, new_scale, new_zero,
                                                                   "int32").astype("int64")
            below = _scaled(moved, alpha) + _scaled(np.array(new_zero), 1 - alpha)
            out = np.clip(np.where(every < 10, below, moved), -128, 127).astype("int8")
            case(f"qnn.leaky_relu(%a, 0.05f, 10, {new_scale}f, {new_zero}, alpha={alpha}f)", [every], out)


def softmax():
    """Integer softmax: `2^x` by shifts and linear interpolation between powers of 2."""
    x = ints(4, 6, low=-128, high=128, dtype="int8")
    for axis in (-1, 0):
        for scale in (0.02, 0.1, 0.5, 1.0):
            shifted = x.astype("int64") - 3
            shifted -= shifted.max(axis, keepdims=True)
            one = int(away(np.float32(1) / np.float32(scale)))
            # Approximately `x / ln 2`.
            power = shifted + (shifted >> 1) - (shifted >> 4)
            whole = np.clip((-power) // one, 0, 20)
            rest = power + whole * one
            values = ((rest >> 1) + one) << (whole.max(axis, keepdims=True) - whole)
            share = (2**30 // values.sum(axis, keepdims=True) * values) >> 23
            out = requantized(share, 1 / 128, 0, 0.0039, -128, "int8")
            assert (out == requantized(share, 1 / 128, 0, 0.0039, -128, "int8", compute="float64")).all()
            case(f"qnn.softmax(%a, {scale}f, 3, 0.0039f, -128, axis={axis})", [x], out)


def arithmetic():
    for dtype in ("int8", "uint8"):
        low, high = RANGES[dtype]
        a, b = ints(3, 4, low=low, high=high + 1, dtype=dtype), ints(4, low=low, high=high + 1, dtype=dtype)
        for new_scale, new_zero in ((0.07, 7), (0.05, 10)):
            # An argument with the scale and zero point of the result is unchanged.
            left = a.astype("int64") if (new_scale, new_zero) == (0.05, 10) else requantized(a, 0.05, 10, new_scale,
                                                                                             new_zero,
                                                                                             "int32").astype("int64")
            right = requantized(b, 0.03, -5, new_scale, new_zero, "int32").astype("int64")
            tail = f"0.05f, 10, 0.03f, -5, {new_scale}f, {new_zero}"
            case(f"qnn.add(%a, %b, {tail})", [a, b], np.clip(left + right - new_zero, low, high).astype(dtype))
            case(f"qnn.subtract(%a, %b, {tail})", [a, b], np.clip(left - right + new_zero, low, high).astype(dtype))
            product = (a.astype("int64") - 10) * (b.astype("int64") + 5)
            case(f"qnn.mul(%a, %b, {tail})", [a, b],
                 requantized(product, np.float32(0.05) * np.float32(0.03), 0, new_scale, new_zero, dtype))
    scales = np.array([0.05, 0.011, 0.2], "float32")
    c = ints(3, 4, low=-128, high=128, dtype="int8")
    d = ints(3, 4, low=-128, high=128, dtype="int8")
    left = np.stack([requantized(c[k], scales[k], 1, 0.1, 3, "int32") for k in range(3)]).astype("int64")
    right = requantized(d, 0.03, -5, 0.1, 3, "int32").astype("int64")
    case("qnn.add(%a, %b, %c, 1, 0.03f, -5, 0.1f, 3, lhs_axis=0)", [c, d, scales],
         np.clip(left + right - 3, -128, 127).astype("int8"))
    parts = [requantized(c, 0.1, 3, 0.3, 1, "int8"), requantized(d, 0.2, -4, 0.3, 1, "int8")]
    case("qnn.concatenate((%a, %b), (0.1f, 0.2f), (3, -4), 0.3f, 1, axis=-1)", [c, d], np.concatenate(parts, -1))
    case("qnn.concatenate((%a, %b), (0.3f, 0.2f), (1, -4), 0.3f, 1, axis=0)", [c, d], np.concatenate([c, parts[1]]))


def products():
    """The 32 bit integers minus their zero points; padding is the zero point."""
    one = [1, 1]
    for data, weight, x, w in (("uint8", "int8", 5, 0), ("int8", "int8", 0, 3), ("uint8", "uint8", 12, 7)):
        X = lambda *shape: ints(*shape, low=RANGES[data][0], high=RANGES[data][1] + 1, dtype=data)
        W = lambda *shape: ints(*shape, low=RANGES[weight][0], high=RANGES[weight][1] + 1, dtype=weight)
        points = f"{x}, {w}, 0.1f, 0.2f"
        wide = lambda a, b: (a.astype("int64") - x, b.astype("int64") - w)
        a, b = X(3, 6), W(4, 6)
        p, q = wide(a, b)
        case(f'qnn.dense(%a, %b, {points}, units=4, out_dtype="int32")', [a, b], (p @ q.T).astype("int32"))
        blocks = b.reshape(2, 2, 3, 2).transpose(0, 2, 1, 3).copy()
        case(f'qnn.contrib_dense_pack(%a, %b, {points}, units=4, out_dtype="int32", weight_layout="NC2n2c")',
             [a, blocks],
             (p @ q.T).astype("int32"))
        a, b = X(2, 3, 6), W(2, 4, 6)
        p, q = wide(a, b)
        case(f'qnn.batch_matmul(%a, %b, {points}, out_dtype="int32", transpose_b=True)', [a, b],
             (p @ q.transpose(0, 2, 1)).astype("int32"))
        a, b = X(1, 4, 5, 4), W(4, 4, 3, 2)
        p, q = wide(a, b)
        tail = 'channels=4, kernel_size=[3, 2], out_dtype="int32"'
        for strides, padding, written, dilation in (([2, 1], [(1, 2), (0, 1)], [1, 0, 2, 1], one),
                                                    (one, [(1, 1), (1, 1)], [1, 1, 1, 1], [2, 2])):
            out = convolution(p, q, strides, padding, dilation).astype("int32")
            settings = f"strides={strides}, padding={written}, dilation={dilation}, {tail}"
            case(f"qnn.conv2d(%a, %b, {points}, {settings})", [a, b], out)
            case(f'qnn.conv2d(%a, %b, {points}, {settings}, data_layout="NHWC", kernel_layout="HWIO")',
                 [relaid(a, "NCHW", "NHWC"), relaid(b, "OIHW", "HWIO")], relaid(out, "NCHW", "NHWC"))
        for groups in (2, 4):
            part = b[:, :4 // groups].copy()
            case(f"qnn.conv2d(%a, %b, {points}, padding=[1, 1, 1, 1], groups={groups}, {tail})", [a, part],
                 convolution(p, part.astype("int64") - w, one, [1, 1], one, groups).astype("int32"))
        a, b = X(1, 3, 3, 4), W(3, 4, 3, 2)
        p, q = wide(a, b)
        case(f"qnn.conv2d_transpose(%a, %b, {points}, strides=[2, 2], padding=[1, 1, 1, 1], output_padding=[1, 0], {tail})", [a, b],
             transposed(p, q, [2, 2], [1, 1], [1, 0], one).astype("int32"))


def pools():
    for dtype in ("int8", "uint8"):
        x = ints(1, 2, 5, 6, low=RANGES[dtype][0], high=RANGES[dtype][1] + 1, dtype=dtype)
        for include in (False, True):
            # Converts to the scale of the result first, where the padding is 0.
            moved = requantized(x, 0.1, 3, 0.2, 7, "int32")
            out = pooled(moved, "avg", [3, 2], [2, 1], [(1, 1), (1, 1)], [1, 1], False, include)
            tail = f"pool_size=[3, 2], strides=[2, 1], padding=[1, 1, 1, 1], count_include_pad={include}"
            case(f"qnn.avg_pool2d(%a, 0.1f, 3, 0.2f, 7, {tail})", [x], np.clip(out, *RANGES[dtype]).astype(dtype))
            out = pooled(x.astype("int32"), "avg", [2, 2], [1, 1], [(0, 0), (0, 0)], [1, 1], True, include)
            case(f'qnn.avg_pool2d(%a, 0.1f, 3, 0.1f, 3, pool_size=[2, 2], layout="NHWC", ceil_mode=True, count_include_pad={include})',
                 [relaid(x, "NCHW", "NHWC")], relaid(out.astype(dtype), "NCHW", "NHWC"))
