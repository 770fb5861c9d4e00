"""Writes `cases.jsonl`: arrays and how numpy prints them.

    python3 make.py > cases.jsonl

Each line has a data type, a shape, the elements as hexadecimal digits of their little-endian
bytes, and what `print` writes.
"""

import json

import numpy as np

rng = np.random.default_rng(0)
cases = []


def add(values, dtype, shape=None):
    with np.errstate(all="ignore"):
        array = np.asarray(values).astype(dtype)
    cases.append(array if shape is None else array.reshape(shape))


FLOATS = ["float16", "float32", "float64"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]

for dtype in FLOATS:
    # Scalars.
    for number in [0, -0.0, 1, -1, 0.1, 1 / 3, 1e-4, 9.999e-5, 1e-7, 123456.789, 65504, 1e4,
                   np.nan, np.inf, -np.inf, 2048.5]:
        add(number, dtype)
    if dtype != "float16":
        for number in [1e15, 1e16, 123456789012345680.0, 1.5e-30, 3.4e38, 1e5, 1234567.0]:
            add(number, dtype)
    # No elements.
    for shape in [(0,), (0, 3), (3, 0), (2, 0, 2), (1, 1, 0)]:
        add(np.zeros(shape), dtype)
    # One notation for all.
    for numbers in [
        [0.0], [-0.0, 0.0], [1, 2, 3], [0.5, 0.25, 0.125], [1e-4, 1], [9.9e-5, 1], [1, 999.5],
        [1, 1000], [1, 1001], [0.001, 1.01], [1e-5], [1e-5, 0], [-1e-5, 3e4], [1 / 3, 2 / 3, 1],
        [100, 0.1], [0.1, 0.11, 0.111], [-1.5, 22.25], [np.nan], [np.inf, 1], [-np.inf, 0.5],
        [np.nan, -1.25], [np.nan, np.inf, -np.inf], [np.nan, 1e-6], [-np.inf, 1e-6],
        [1e-7, np.nan, -1e-7], [0.1 + 0.2], [16777216, 1], [12345.678, 0.001],
        [0.1, 0.2, 0.30000001], [5e-8, 1e-8], [99999.5, 1.0], [60000, 0.5], [-0.0, 1e-6],
        [1.0, 1.00000001], [0.99999999, 1], [1e-3, 0.999], [2.5e-3, 2.5], [7] * 30,
    ]:
        add(numbers, dtype)
    if dtype != "float16":
        for numbers in [[1e8], [99999999], [99999999.5, 1], [1e8, 1], [1e20, 1e-20], [1e100, 1],
                        [1e-300, 1], [1e300, 1e-300], [-1e9, 1e9], [1e5, 1e8], [123456789.123],
                        [3.4e38, -3.4e38], [1e-45, 1], [1.17549435e-38]]:
            add(numbers, dtype)
    # Many of different sizes.
    for size in [1, 2, 5, 9, 17, 40, 100]:
        add(rng.normal(size=size), dtype)
        add(rng.normal(size=size) * 10.0 ** rng.integers(-3, 4, size=size), dtype)
        add(np.round(rng.normal(size=size), 1), dtype)
        add(np.round(rng.uniform(-50, 50, size=size)), dtype)
    for shape in [(1, 1), (2, 3), (3, 2, 2), (1, 2, 1, 3), (2, 2, 2, 2), (4, 30), (12, 7),
                  (2, 3, 40), (1, 1, 1, 1, 1, 2)]:
        add(rng.normal(size=shape), dtype)
        add(rng.normal(size=shape) * 1e-6, dtype)
    # More than is shown.
    large = [(1000,), (1001,), (40, 30), (1001, 1), (1, 1001), (5, 300), (2, 6, 7, 20),
             (7, 7, 7, 7), (300, 2, 2), (2, 2, 300)]
    for shape in large if dtype == "float16" else [(1001,), (40, 30)]:
        add(rng.integers(-99, 99, size=shape) / 4, dtype)
    # The one that needs an exponent is not among those shown; then it is.
    far = np.ones(1500)
    far[700] = 1e-6
    add(far, dtype)
    far[1] = 1e-6
    add(far, dtype)
    odd = rng.normal(size=1200)
    odd[600] = np.nan
    add(odd, dtype)

for dtype in INTS:
    info = np.iinfo(dtype)
    add(info.min, dtype)
    add(info.max, dtype)
    add([info.min, 0, info.max], dtype)
    add(np.zeros((0,)), dtype)
    add(np.zeros((3, 0)), dtype)
    for shape in [(1,), (7,), (40,), (3, 4), (2, 2, 3), (1001,), (60, 60), (3, 400), (9, 9, 20)] if info.bits == 8 else [(40,), (3, 4), (1001,)]:
        low = 0 if info.min == 0 else -100
        add(rng.integers(low, 100, size=shape), dtype)

for shape in [(), (1,), (3,), (30,), (2, 3), (2, 2, 2), (1001,), (40, 40), (0,), (2, 0)]:
    add(rng.integers(0, 2, size=shape), "bool")

for array in cases:
    little = array.astype(array.dtype.newbyteorder("<"))
    print(json.dumps({
        "dtype": array.dtype.name,
        "shape": array.shape,
        "data": little.tobytes().hex(),
        "text": str(array),
    }))
