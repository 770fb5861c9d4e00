"""Operators that create and rearrange tensors."""

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
    case('collapse_sum_to(%a, %b, shape=[2, 1, 4], attrs_type_key="relay.attrs.InitOpAttrs")',
         [x, np.array([2, 1, 4], "int64")], x.sum(1, keepdims=True))
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
    case('trilu(%a, %b, upper=True, attrs_type_key="relay.attrs.TriluAttrs")', [x, np.int32(1)], np.triu(x, 1))
    case('trilu(%a, %b, upper=False, attrs_type_key="relay.attrs.TriluAttrs")', [x, np.int32(0)], np.tril(x, 0))
    i = np.array([0, 2, 1], "int32")
    case('one_hot(%a, %b, %c, depth=4, axis=-1, dtype="float32")', [i, np.float32(1), np.float32(0)],
         np.eye(4, dtype="float32")[i])
    p, q = floats(3), floats(2)
    case('meshgrid((%a, %b), indexing="ij")', [p, q], np.meshgrid(p, q, indexing="ij"))
    case('meshgrid((%a, %b), indexing="xy")', [p, q], np.meshgrid(p, q, indexing="xy"))
    for dtype, start, stop, step in (("int32", 2, 11, 3), ("float32", 0.5, 3.7, 1.5), ("int64", 9, -2, -4),
                                     ("int32", 5, 5, 1)):
        bounds = [np.array(bound, dtype) for bound in (start, stop, step)]
        case(f'arange(%a, %b, %c, start=None, stop=None, step=None, dtype="{dtype}")', bounds,
             np.arange(start, stop, step, dtype))
    case('full(%a, shape=[0, 2], dtype="float32")', [v], np.zeros((0, 2), "float32"))
    case('full(%a, shape=[], dtype="int64")', [np.int64(2**40 + 1)], np.int64(2**40 + 1))
    case('zeros(shape=[], dtype="bool")', [], np.array(False))
    for axis in (0, 1, 2, -1):
        ids = np.array([[0, 3], [2, 1], [4, -1]], "int32")
        hot = np.where(np.expand_dims(ids, axis if axis >= 0 else 2) == np.arange(4).reshape(
            [4 if k == (axis % 3) else 1 for k in range(3)]), np.float32(2), np.float32(-1))
        case(f'one_hot(%a, %b, %c, depth=4, axis={axis}, dtype="float32")', [ids, np.float32(2), np.float32(-1)], hot)
    y = floats(2, 4, 3)
    for k in (-2, 0, 1):
        case('trilu(%a, %b, upper=True, attrs_type_key="relay.attrs.TriluAttrs")', [y, np.int32(k)], np.triu(y, k))
        case('trilu(%a, %b, upper=False, attrs_type_key="relay.attrs.TriluAttrs")', [y, np.int64(k)], np.tril(y, k))


def diagonals():
    x = floats(2, 3, 4)

    def written(x, diagonal, low, high, right_above=True, right_below=False):
        """Diagonal `k` begins at column `k`, or at row `-k`; shorter ones are aligned to one end of their row."""
        out = x.copy()
        rows, columns = x.shape[-2:]
        for k in range(low, high + 1):
            length = min(columns - max(k, 0), rows + min(k, 0))
            values = diagonal if low == high else diagonal[..., high - k, :]
            skip = values.shape[-1] - length if (right_above if k >= 0 else right_below) else 0
            for i in range(length):
                out[..., i + max(-k, 0), i + max(k, 0)] = values[..., i + skip]
        return out

    for k, length in ((0, 3), (2, 2), (-1, 2)):
        d = floats(2, length)
        case(f"matrix_set_diag(%a, %b, k1={k}, k2={k})", [x, d], written(x, d, k, k))
    for above in (False, True):
        for below in (False, True):
            d = floats(2, 4, 3)
            case(f"matrix_set_diag(%a, %b, k1=-1, k2=2, super_diag_right_align={above}, sub_diag_right_align={below})",
                 [x, d], written(x, d, -1, 2, above, below))


def corners():
    x = floats(2, 3, 4)
    none = x[:, :0]
    case("reshape(%a, newshape=[-1])", [none], none.reshape(-1))
    case("reshape(%a, newshape=[0, 3, 0], allowzero=True)", [none.reshape(0, 3, 8)[:, :, :0]],
         np.zeros((0, 3, 0), "float32"))
    case("reshape(%a, newshape=[-2])", [x], x)
    case("reshape(%a, newshape=[2, -4, -1, 3, -2])", [x], x.reshape(2, 1, 3, 4))
    case("contrib_reverse_reshape(%a, newshape=[-3, 0])", [x], x.reshape(6, 4))
    case("transpose(%a, axes=[-1, 0, -2])", [x], x.transpose(2, 0, 1))
    case("expand_dims(%a, axis=-1, num_newaxis=2)", [x], x[..., None, None])
    case("expand_dims(%a, axis=-2)", [x], x[:, :, None])
    case("squeeze(%a)", [x[:1, :1]], x[0, 0])
    case("squeeze(%a, axis=[-2, 0])", [x[:1, :1]], x[0, 0])
    case("reverse(%a, axis=-1)", [x], x[..., ::-1])
    case("concatenate((%a, %b, %c), axis=-2)", [x, none, x], np.concatenate([x, x], 1))
    case("concatenate((%a,), axis=0)", [x], x)
    case("stack((%a, %b, %c), axis=-2)", [x, x, x], np.stack([x, x, x], -2))
    case("stack((%a,), axis=0)", [x], x[None])
    case("split(%a, indices_or_sections=[1, 3], axis=-1)", [x], np.split(x, [1, 3], -1))
    case("broadcast_to(%a, shape=[2, 0, 3])", [np.zeros((0, 1), "float32")], np.zeros((2, 0, 3), "float32"))
    case("broadcast_to(%a, shape=[2, 2])", [np.float32(3)], np.full((2, 2), np.float32(3)))
    case("collapse_sum_like(%a, %b)", [x, x[0, :1]], x.sum((0, 1))[None])
    case("tile(%a, reps=[2])", [x], np.tile(x, 2))
    case("tile(%a, reps=[2, 1, 1, 3])", [x], np.tile(x, (2, 1, 1, 3)))
    case("repeat(%a, repeats=3, axis=-1)", [x], np.repeat(x, 3, -1))
    case("nn.batch_flatten(%a)", [x[:0]], np.zeros((0, 12), "float32"))
    case('ndarray_size(%a, dtype="int64")', [none], np.int64(0))
    case("sliding_window(%a, axis=1, window_shape=[2, 3], strides=[1, 2])", [x],
         np.stack([[[x[n, i:i + 2, j:j + 3] for j in range(0, 2, 2)] for i in range(2)] for n in range(2)]))
    case("zeros_like(%a)", [x.astype("int8")], np.zeros((2, 3, 4), "int8"))
    case("ones_like(%a)", [x > 0], np.ones((2, 3, 4), "bool"))
