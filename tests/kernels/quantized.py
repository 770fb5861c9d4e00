"""Integers that stand for reals."""

import numpy as np

from cases import away, case, floats, ints


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
