"""Tensors in other layouts."""

import re

import numpy as np


def relaid(x, source, target):
    """Converts `x` from a plain layout such as "NCHW" to `target`: "NHWC", or "NCHW4c" in whole blocks."""
    blocks = [(int(size), axis) for size, axis in re.findall(r"(\d+)([a-z])", target)]
    plain = re.sub(r"\d+[a-z]", "", target)
    x = np.asarray(x)
    shape, names = [], []
    for size, axis in zip(x.shape, source):
        inner = [block for block, name in blocks if name.upper() == axis]
        shape += [size // int(np.prod(inner, dtype=int)), *inner]
        names += [axis] + [axis.lower()] * len(inner)
    order = [names.index(axis) for axis in plain]
    order += [names.index(axis) for _, axis in blocks]
    return np.ascontiguousarray(x.reshape(shape).transpose(order))
