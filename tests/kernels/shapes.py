"""Operators that make, shape and move tensors."""

import numpy as np

from cases import case, floats


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
