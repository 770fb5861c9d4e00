"""Test cases and their numbers.

A case is one expression over %a, %b, %c …, the arguments in order, and the tensors that it gives, or
the message that it fails with.
"""

import math
import zlib

import numpy as np

ROWS = []


class BFloat16:
    """A float32 array with the precision of bfloat16."""

    def __init__(self, array):
        # Rounds to nearest, ties to even.
        bits = np.ascontiguousarray(array, "float32").view("uint32").astype("uint64")
        bits += 0x7FFF + (bits >> np.uint64(16) & np.uint64(1))
        self.array = (bits & np.uint64(0xFFFF0000)).astype("uint32").view("float32").reshape(np.shape(array))


def encode(array):
    name = None
    if isinstance(array, BFloat16):
        array, name = array.array, "bfloat16"
    array = np.asarray(array)
    name = name or str(array.dtype)
    # The shortest digits that identify the single precision number.
    flat = [float(str(x)) if name == "float32" else x.item() for x in array.reshape(-1)]
    names = {math.inf: "inf", -math.inf: "-inf"}
    data = [names.get(x, "nan" if isinstance(x, float) and math.isnan(x) else x) for x in flat]
    return {"dtype": name, "shape": list(array.shape), "data": data}


def case(expr, args, out, tolerance=1e-5, after=""):
    """`expr` evaluates to `out`, an array or a list of them; `after` follows the definitions."""
    out = out if isinstance(out, (list, tuple)) else [out]
    ROWS.append({
        "expr": expr,
        "args": [encode(arg) for arg in args],
        "out": [encode(each) for each in out],
        "tolerance": tolerance,
        **({"after": after} if after else {}),
    })


def refused(expr, args, fault, before=""):
    """`expr`, after the definitions `before`, has a type but cannot be computed."""
    ROWS.append({"expr": expr, "args": [encode(arg) for arg in args], "fault": fault, "before": before})


class Numbers:
    """Pseudo-random numbers; `restart` makes them independent of other families."""

    def __init__(self):
        self.restart("")

    def restart(self, name):
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def floats(self, *shape, low=-2.0, high=2.0, dtype="float32"):
        # Four digits keep the file of cases small.
        return np.asarray(self.rng.uniform(low, high, shape).round(4)).astype(dtype)

    def ints(self, *shape, low=-9, high=10, dtype="int32"):
        return np.asarray(self.rng.integers(low, high, shape)).astype(dtype)

    def permutation(self, n):
        return self.rng.permutation(n)


NUMBERS = Numbers()
floats, ints, permutation = NUMBERS.floats, NUMBERS.ints, NUMBERS.permutation


def away(x):
    """Rounds to the nearest integer, halves away from zero, like C's `round`."""
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def each(function):
    """A function of the C library, element by element, in double precision."""
    return lambda x: np.vectorize(function, otypes=[np.float64])(np.asarray(x, np.float64)).astype(np.asarray(x).dtype)


erf = each(math.erf)


def text(values):
    """A list of numbers as Relay writes it; floats end in `f`."""
    if isinstance(values, (list, tuple)):
        return "[" + ", ".join(text(value) for value in values) + "]"
    if isinstance(values, bool) or not isinstance(values, float):
        return str(values)
    return f"{values:g}f"
