"""Operators that look up, write at places and sort."""

import numpy as np

from cases import case, floats, ints, permutation


def indices():
    x = floats(4, 5)
    i = np.array([[0, 3], [2, 1]], "int64")
    case('take(%a, %b, axis=0, mode="clip")', [x, i], x[i])
    case('take(%a, %b, axis=1, mode="clip")', [x, i], x[:, i])
    case('take(%a, %b, mode="wrap")', [x, np.array([-1, 21], "int32")], x.reshape(-1)[[19, 1]])
    g = ints(4, 3, low=0, high=5, dtype="int64")
    case("gather(%a, %b, axis=1)", [x, g], np.take_along_axis(x, g, 1))
    n = np.array([[0, 1, 3], [4, 0, 2]], "int64")
    case("gather_nd(%a, %b)", [x, n], x[n[0], n[1]])
    case("strided_slice(%a, begin=[1, 4], end=[4, 0], strides=[2, -2], axes=None)", [x], x[1:4:2, 4:0:-2])
    case('strided_slice(%a, begin=[1], end=[2], strides=[1], axes=[1], slice_mode="size")', [x], x[:, 1:3])
    case("slice_like(%a, %b, axes=[0])", [x, floats(2, 9)], x[:2])
    u = floats(2, 5)
    s = np.array([[3, 0, 1, 2, 3], [0, 1, 2, 3, 0]], "int64")
    out = x.copy()
    for r in range(2):
        for c in range(5):
            out[s[r, c], c] += u[r, c]
    case('scatter_elements(%a, %b, %c, axis=0, reduction="add", attrs_type_key="relay.attrs.ScatterElementsAttrs")',
         [x, s, u], out)
    out = x.copy()
    out[[1, 3], [2, 4]] = [9, 8]
    case('scatter_nd(%a, %b, %c, mode="update", attrs_type_key="relay.attrs.ScatterNDAttrs")',
         [x, np.array([[1, 3], [2, 4]], "int64"), np.array([9, 8], "float32")], out)
    case("adv_index((%a, %b))", [x, np.array([2, 0], "int64")], x[[2, 0]])
    case("reverse_sequence(%a, %b, seq_axis=1, batch_axis=0)", [x[:2], np.array([2, 5], "int64")],
         np.stack([np.concatenate([x[0, 1::-1], x[0, 2:]]), x[1, ::-1]]))
    case("sequence_mask(%a, %b, mask_value=7f, axis=0)", [x, np.array([1, 2, 3, 4, 0], "int32")],
         np.where(np.arange(4)[:, None] < np.array([1, 2, 3, 4, 0]), x, np.float32(7)))


def sorting():
    x = permutation(24).reshape(4, 6).astype("float32")
    case('argsort(%a, axis=1, is_ascend=True, dtype="int32")', [x], x.argsort(1).astype("int32"))
    case('argsort(%a, axis=0, is_ascend=False, dtype="int32")', [x], (-x).argsort(0).astype("int32"))
    case("sort(%a, axis=1, is_ascend=True)", [x], np.sort(x, 1))
    order = (-x).argsort(1)[:, :3]
    case('topk(%a, k=3, axis=1, ret_type="both", dtype="int64")', [x],
         [np.take_along_axis(x, order, 1), order])
    flags = np.array([[1, 0], [1, 1]], "bool")
    case("argwhere(%a)", [flags], np.argwhere(flags).astype("int32"))
    s, v = np.sort(floats(9)), floats(4)
    case('searchsorted(%a, %b, right=False, dtype="int32")', [s, v], np.searchsorted(s, v).astype("int32"))
    case('searchsorted(%a, %b, right=True, dtype="int32")', [s, s[:3]],
         np.searchsorted(s, s[:3], "right").astype("int32"))
    order = permutation(5).astype("int32")
    case("invert_permutation(%a)", [order], np.argsort(order).astype("int32"))
