"""Operators whose attributes are tensors."""

import numpy as np

from cases import case, floats


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
