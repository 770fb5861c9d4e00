"""Sparse tensors."""

import numpy as np

from cases import case, floats, ints
from layoutof import relaid


def _stored(matrix, rows=1, columns=1):
    """The nonzero blocks, their columns, and the start of each row of blocks."""
    data, indices, starts = [], [], [0]
    for i in range(0, matrix.shape[0], rows):
        for j in range(0, matrix.shape[1], columns):
            block = matrix[i:i + rows, j:j + columns]
            if block.any():
                data.append(block)
                indices.append(j // columns)
        starts.append(len(data))
    data = np.array(data, matrix.dtype).reshape(-1, rows, columns)
    return (data if (rows, columns) != (1, 1) else data.reshape(-1)), np.array(indices, "int32"), np.array(starts,
                                                                                                           "int32")


def _thin(*shape, block=(1, 1)):
    """A matrix half of whose blocks are zero."""
    there = ints(shape[0] // block[0], shape[1] // block[1], low=0, high=2)
    there[0] = 0
    there[-1, -1] = 1
    return (floats(*shape, low=0.5, high=2) * there.repeat(block[0], 0).repeat(block[1], 1)).astype("float32")


def products():
    for block in ((1, 1), (2, 1), (2, 3)):
        w, x = _thin(4, 6, block=block), floats(3, 6)
        stored = _stored(w, *block)
        case("nn.sparse_dense(%a, %b, %c, %d)", [x, *stored], x @ w.T)
        case("nn.sparse_dense(%a, %b, %c, %d, sparse_lhs=True)", [x, *stored], w @ x.T)
        case("nn.internal.sparse_dense_padded(%a, %b, %c, %d)", [x, *stored], x @ w.T)
    w, i = (_thin(4, 6) > 0).astype("int32") * 3, ints(3, 6)
    case("nn.sparse_dense(%a, %b, %c, %d)", [i, *_stored(w)], i @ w.T)
    for block in ((2, 1), (2, 3)):
        w, x = _thin(4, 6, block=block), floats(2, 6, 3, 2)
        data, indices, starts = _stored(w, *block)
        # Blocks of one column are rows.
        data = data[:, :, 0].copy() if block[1] == 1 else data
        out = np.einsum("nkhw,ok->nohw", x, w)
        case('nn.sparse_conv2d(%a, %b, %c, %d, layout="NCHW", kernel_size=[1, 1])', [x, data, indices, starts], out)
        case('nn.sparse_conv2d(%a, %b, %c, %d, layout="NHWC", kernel_size=[1, 1])',
             [relaid(x, "NCHW", "NHWC"), data, indices, starts],
             relaid(out, "NCHW", "NHWC"))


def sums():
    w, x = _thin(4, 5), floats(4, 5)
    case("nn.sparse_add(%a, %b, %c, %d)", [x, *_stored(w)], x + w)
    w = _thin(5, 5)
    case("nn.sparse_transpose(%a, %b, %c)", list(_stored(w)), list(_stored(w.T)))


def dense():
    values = floats(4)
    at = np.array([[0, 1], [2, 3], [0, 1], [5, 0]], "int32")
    out = np.full((3, 4), -1, "float32")
    # The last write wins, and writes out of range are ignored.
    out[0, 1], out[2, 3] = values[2], values[1]
    case("sparse_to_dense(%a, %b, %c, output_shape=[3, 4])", [at, values, np.float32(-1)], out)
    case("dyn.sparse_to_dense(%a, %b, %c, %d)", [at, values, np.float32(-1), np.array([3, 4], "int64")], out)
    case("sparse_to_dense(%a, %b, %c, output_shape=[6])",
         [np.array([0, 4], "int64"), np.array([7, 8], "int32"), np.int32(2)],
         np.array([7, 2, 2, 2, 8, 2], "int32"))
    case("sparse_to_dense(%a, %b, %c, output_shape=[4])", [np.int32(3), np.int32(5), np.int32(1)],
         np.array([1, 1, 1, 5], "int32"))
    case("dyn.sparse_to_dense(%a, %b, %c, %d)",
         [np.array([1], "int32"), np.array([7], "int32"), np.int32(0), np.array([3], "int32")],
         np.array([0, 7, 0], "int32"))


def rows():
    """Each row without an element gets the default in its first column."""
    for at, height in (([[1, 2], [1, 3], [3, 0]], 5), ([[0, 0], [2, 1]], 3), ([], 2)):
        at, values = np.array(at, "int64").reshape(-1, 2), np.arange(len(at), dtype="int64") + 5
        there = list(at[:, 0])
        full = sorted([(row, [row, column], value) for (row, column), value in zip(at.tolist(), values.tolist())]
                      + [(row, [row, 0], 9) for row in range(height) if row not in there], key=lambda each: each[0])
        out = [np.array([place for _, place, _ in full], "int64").reshape(-1, 2),
               np.array([value for _, _, value in full], "int64"),
               np.array([int(row not in there) for row in range(height)], "int64")]
        case("sparse_fill_empty_rows(%a, %b, %c, %d)",
             [at, values, np.array([height, 6], "int64"), np.array([9], "int64")], out)


def shapes():
    at = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 2, 3]])
    flat = np.ravel_multi_index(at.T, (2, 3, 4))
    for dtype in ("int32", "int64"):
        for asked, shape in (([4, -1], (4, 6)), ([2, 2, 3, -1], (2, 2, 3, 2)), ([2, 3, 4], (2, 3, 4)), ([24], (24,))):
            new = np.stack(np.unravel_index(flat, shape), 1).astype(dtype)
            case("sparse_reshape(%a, %b, %c)", [at.astype(dtype), np.array([2, 3, 4], dtype), np.array(asked, dtype)],
                 [new, np.array(shape, dtype)])
