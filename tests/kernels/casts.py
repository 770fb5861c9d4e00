"""Writes casts.jsonl: the results of numpy's casts between all data types.

    python3 tests/kernels/casts.py

Needs numpy, and ml_dtypes for brain floating point, on x86-64: what a NaN, an infinity or a number that
does not fit is as an integer is up to the processor. A row has the bits of the numbers before and
after, as integers without a sign, so that NaN, the sign of 0 and 64 bits are written as they are.

Each number is cast by itself. The result must be the same in a long array, or the script stops. There
is one exception: of floating point to uint32, long arrays take instructions that give something else for
what does not fit, and for NaN. The short way is what a C compiler makes of the cast, so it is the one
that is written.
"""

import itertools
import json
import pathlib
import random

import ml_dtypes
import numpy as np

np.seterr(all="ignore")
INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
FLOATS = "float16 bfloat16 float32 float64".split()
LENGTH = 4099


def _dtype(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def _bits(array):
    width = array.dtype.itemsize
    return [int(number) for number in np.ascontiguousarray(array).view(f"uint{8 * width}").ravel()]


def _floats(name):
    """Numbers around every bound of an integer, halves, and random bits."""
    special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, 0.99, 1.5, 2.5, 1e-8, 3e-45, 65519.0, 65520.0, 3.4e38]
    bounds = [2.0**power for power in (7, 8, 15, 16, 31, 32, 52, 53, 63, 64)]
    near = [np.nextafter(bound, to) for bound in bounds for to in (0.0, np.inf)]
    # In single precision, the doubles next to a bound are the bound itself.
    near += [float(np.nextafter(np.float32(bound), np.float32(to))) for bound in bounds for to in (0.0, np.inf)]
    # The middle of two neighbours in half precision and bfloat16, and numbers next to it.
    middles = [1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-8 + 2.0**-40, 2.0**-25, 2.0**-25 + 2.0**-60]
    numbers = special + bounds + near + [bound + 0.5 for bound in bounds] + [bound - 0.5 for bound in bounds] + middles
    array = np.array([sign * number for number in numbers for sign in (1, -1)], "float64").astype(_dtype(name))
    drawn = [random.getrandbits(8 * _dtype(name).itemsize) for _ in range(24)]
    drawn = np.array(drawn, f"uint{8 * _dtype(name).itemsize}").view(_dtype(name))
    return _distinct(np.concatenate([array, drawn]))


def _integers(name):
    info = np.iinfo(name)
    powers = [2**power for power in (0, 7, 8, 11, 15, 16, 24, 31, 32, 53, 62, 63)]
    numbers = [sign * power + by for power in powers for sign in (1, -1) for by in (-1, 0, 1)]
    # Numbers that double rounding gets wrong.
    numbers += [2**62 + 2**54 + 1, 2**62 + 2**38 + 1, 2**63 + 2**39 + 1, 2**60 + 2**36 + 1, 65519, 65520, 2049, 2051]
    numbers += [random.randint(info.min, info.max) for _ in range(16)] + [info.min, info.max]
    array = np.array([number for number in numbers if info.min <= number <= info.max], name)
    return _distinct(array)


def _distinct(array):
    seen = {}
    for at, bits in enumerate(_bits(array)):
        seen.setdefault(bits, at)
    return array[list(seen.values())]


def _source(name):
    random.seed(name)
    if name == "bool":
        return np.array([False, True])
    return _floats(name) if name in FLOATS else _integers(name)


def _row(source, target):
    numbers, dtype = _source(source), _dtype(target)
    alone = np.concatenate([numbers[at:at + 1].astype(dtype) for at in range(len(numbers))])
    together = np.resize(numbers, LENGTH).astype(dtype)
    if not (source in FLOATS and target == "uint32"):
        assert _bits(together) == _bits(np.resize(alone, LENGTH)), (source, target)
    return {"from": source, "to": target, "before": _bits(numbers), "after": _bits(alone)}


path = pathlib.Path(__file__).with_name("casts.jsonl")
rows = [_row(*pair) for pair in itertools.permutations(["bool", *INTEGERS, *FLOATS], 2)]
path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
print(len(rows), "pairs,", sum(len(row["before"]) for row in rows), "numbers,", path.stat().st_size // 1000, "kB")
