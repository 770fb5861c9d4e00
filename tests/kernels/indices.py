"""Operators that gather, scatter and sort."""

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


def looking_up():
    x = floats(4, 5, 2)
    i = np.array([[0, 3], [2, 1]], "int32")
    case('take(%a, %b, axis=-1, mode="clip")', [x, i], x[..., np.clip(i, 0, 1)])
    out = np.array([-7, 9, 1], "int64")
    case('take(%a, %b, axis=1, mode="clip")', [x, out], x[:, np.clip(out, 0, 4)])
    case('take(%a, %b, axis=1, mode="wrap")', [x, out], x[:, out % 5])
    case('take(%a, %b, axis=0, mode="fast")', [x, np.int32(2)], x[2])
    case('take(%a, %b, axis=0, mode="clip")', [x, i[:0]], np.zeros((0, 2, 5, 2), "float32"))
    case('take(%a, %b, batch_dims=1, axis=1, mode="clip")', [x[:2], i],
         np.stack([x[n][i[n]] for n in range(2)]))
    g = ints(4, 5, 3, low=0, high=2, dtype="int64")
    case("gather(%a, %b, axis=-1)", [x, g], np.take_along_axis(x, g, -1))
    g = ints(2, 5, 2, low=0, high=4)
    case("gather(%a, %b, axis=0)", [x, g], np.take_along_axis(x, g.astype("int64"), 0))
    # The first axis of the indices holds the coordinates.
    n = np.array([[[0, 1], [3, 2]]], "int32")
    case("gather_nd(%a, %b)", [x, n], x[n[0]])
    n = np.array([[0, 3, 1], [4, 0, 0], [1, 1, 0]], "int32")
    case("gather_nd(%a, %b)", [x, n], x[tuple(n)])
    n = np.array([[0, 4, 2, 1]], "int64")
    case("gather_nd(%a, %b, batch_dims=1)", [x, n], np.stack([x[b, n[0, b]] for b in range(4)]))
    for begin, end, strides, axes, cut in (
        ([-3, 0], [-1, 5], [1, 2], None, np.s_[-3:-1, 0:5:2]), ([0], [99], [3], [1], np.s_[:, 0:99:3]),
        ([-1], [-99], [-2], [1], np.s_[:, ::-2]), ([2], [2], [1], None, np.s_[2:2]),
                                           ([3, 4], [0, 1], [-1, -1], [0, 1], np.s_[3:0:-1, 4:1:-1]),
    ):
        case(f"strided_slice(%a, begin={begin}, end={end}, strides={strides}, axes={axes})", [x], x[cut])
    case('strided_slice(%a, begin=[1, 2], end=[-1, 2], strides=[1], axes=None, slice_mode="size")', [x], x[1:, 2:4])
    case("slice_like(%a, %b, axes=[-1, 1])", [x, floats(7, 3, 1)], x[:, :3, :1])
    case("slice_like(%a, %b, axes=None)", [x, floats(2, 3, 1)], x[:2, :3, :1])
    b, c = np.array([[2], [0]], "int64"), np.array([1, 3, 4], "int64")
    case("adv_index((%a, %b, %c))", [x, b, c], x[b, c])
    lengths = np.array([1, 5, 3, 0], "int32")
    out = x.copy()
    for n, length in enumerate(lengths):
        out[n, :length] = x[n, :length][::-1]
    case("reverse_sequence(%a, %b, seq_axis=1, batch_axis=0)", [x, lengths], out)
    case("reverse_sequence(%a, %b, seq_axis=0, batch_axis=1)", [x.transpose(1, 0, 2).copy(), lengths],
         out.transpose(1, 0, 2))
    case("sequence_mask(%a, %b, axis=1)", [x, lengths],
         np.where(np.arange(5)[:, None] < lengths[:, None, None], x, np.float32(0)))
    at, shape = np.array([0, 7, 23, 14], "int32"), np.array([2, 3, 4], "int32")
    case("unravel_index(%a, %b)", [at, shape], np.stack(np.unravel_index(at, (2, 3, 4))).astype("int32"))
    case("unravel_index(%a, %b)", [np.int64(17), shape.astype("int64")],
         np.array(np.unravel_index(17, (2, 3, 4)), "int64"))


def writing():
    x = floats(3, 4)
    both = {"update": lambda old, new: new, "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
    at = np.array([[2, -1, 0, 1], [0, 1, 2, 2]], "int64")
    new = floats(2, 4)
    for reduction, function in both.items():
        out = x.copy()
        for place in np.ndindex(2, 4):
            out[at[place], place[1]] = function(out[at[place], place[1]], new[place])
        case(f'scatter_elements(%a, %b, %c, axis=0, reduction="{reduction}", attrs_type_key="relay.attrs.ScatterElementsAttrs")',
             [x, at, new], out)
    # Names of earlier versions.
    for name, reduction in (("scatter", "update"), ("scatter_add", "add")):
        out = x.copy()
        for place in np.ndindex(2, 4):
            out[at[place], place[1]] = both[reduction](out[at[place], place[1]], new[place])
        case(f"{name}(%a, %b, %c, axis=0)", [x, at, new], out)
    at = np.array([[1, 0], [3, 3], [0, 2]], "int32")
    new = floats(3, 2)
    out = x.copy()
    for place in np.ndindex(3, 2):
        # Combines the existing element with the updates in order.
        out[place[0], at[place]] = (out[place[0], at[place]] + new[place]) / 2
    case('scatter_elements(%a, %b, %c, axis=-1, reduction="mean", attrs_type_key="relay.attrs.ScatterElementsAttrs")',
         [x, at, new], out)
    places = np.array([[0, 2, 0], [1, 3, 1]], "int64")
    new = floats(3)
    for mode in ("update", "add", "mul", "min", "max"):
        out = x.copy()
        for k in range(3):
            out[tuple(places[:, k])] = both[mode](out[tuple(places[:, k])], new[k])
        case(f'scatter_nd(%a, %b, %c, mode="{mode}", attrs_type_key="relay.attrs.ScatterNDAttrs")', [x, places, new],
             out)
    rows = np.array([[2, 0]], "int32")
    out = x.copy()
    out[[2, 0]] += 1
    case('scatter_nd(%a, %b, %c, mode="add", attrs_type_key="relay.attrs.ScatterNDAttrs")',
         [x, rows, np.ones((2, 4), "float32")], out)
    for begin, end, strides, cut in (([0, 1], [2, 4], [1, 1], np.s_[0:2, 1:4]),
                                     ([2, 3], [0, 0], [-1, -2], np.s_[2:0:-1, 3:0:-2]),
                                     ([1], [3], [1], np.s_[1:3]), ([-2, 0], [3, -1], [1, 2], np.s_[-2:3, 0:-1:2])):
        out = x.copy()
        v = floats(*x[cut].shape)
        out[cut] = v
        case("strided_set(%a, %b, %c, %d, %e)", [x, v, *(np.array(each, "int32") for each in (begin, end, strides))],
             out)


def orders():
    x = ints(3, 4, 5, low=0, high=4).astype("float32")
    for axis in (0, 1, -1):
        # Stable in both directions.
        up, down = np.argsort(x, axis, kind="stable"), np.argsort(-x, axis, kind="stable")
        case(f'argsort(%a, axis={axis}, is_ascend=True, dtype="int64")', [x], up)
        case(f'argsort(%a, axis={axis}, is_ascend=False, dtype="float32")', [x], down.astype("float32"))
        case(f"sort(%a, axis={axis}, is_ascend=False)", [x.astype("int64")], -np.sort(-x.astype("int64"), axis))
        few = np.take(down, range(2), axis)
        case(f'topk(%a, k=2, axis={axis}, ret_type="indices", dtype="int32")', [x], few.astype("int32"))
        case(f'topk(%a, k=2, axis={axis}, ret_type="values", is_ascend=True, dtype="int32")', [x],
             np.take(np.sort(x, axis), range(2), axis))
    case('topk(%a, k=0, axis=1, ret_type="values", dtype="int32")', [x], -np.sort(-x, 1))
    case('argsort(%a, axis=1, dtype="int32")', [x[:, :0, 0]], np.zeros((3, 0), "int32"))
    flags = ints(3, 4, low=0, high=2)
    case("argwhere(%a)", [flags], np.argwhere(flags).astype("int32"))
    case("argwhere(%a)", [np.zeros(5, "float32")], np.zeros((0, 1), "int32"))
    s, v = np.sort(ints(3, 8, low=0, high=6), 1), ints(3, 5, low=-1, high=8)
    for right, side in ((True, "right"), (False, "left")):
        out = np.stack([np.searchsorted(s[n], v[n], side) for n in range(3)])
        case(f'searchsorted(%a, %b, right={right}, dtype="int64")', [s, v], out)


def different():
    """The tail of the results: zeros, the length, zeros."""
    for data in ([4, 5, 1, 2, 3, 3, 4, 5], [7, 7, 7], [2, 1]):
        data = np.array(data, "int32")
        values, first, inverse, counts = np.unique(data, return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first)
        for is_sorted in (True, False):
            new = np.arange(len(values)) if is_sorted else order
            rank = np.argsort(new)
            found = len(values)
            # Elements beyond the number of results are undefined, so they are removed.
            cut = f"begin=[0], end=[{found}], strides=[1], axes=None"
            expr = (f"let %u = unique(%a, sorted={is_sorted}, return_counts=True, attrs_type_key=\"relay.attrs.UniqueAttrs\"); "
                    f"(strided_slice(%u.0, {cut}), strided_slice(%u.1, {cut}), %u.2, %u.3, strided_slice(%u.4, {cut}))")
            case(expr, [data], [values[new], first[new].astype("int32"), rank[inverse].astype("int32"),
                                np.array([found], "int32"), counts[new].astype("int32")])
