"""Operators whose attributes are tensors."""

import numpy as np

from cases import case, floats, ints


def dynamic():
    x = floats(2, 3, 4)
    case("dyn.reshape(%a, %b, newshape=[])", [x, np.array([4, -1], "int64")], x.reshape(4, 6))
    case("dyn.tile(%a, %b, reps=[])", [x, np.array([1, 2, 1], "int64")], np.tile(x, (1, 2, 1)))
    case("dyn.broadcast_to(%a, %b, shape=[])", [x[:, :1], np.array([2, 3, 4], "int64")],
         np.broadcast_to(x[:, :1], (2, 3, 4)))
    case('dyn.zeros(%a, shape=[], dtype="float32")', [np.array([2, 3], "int64")], np.zeros((2, 3), "float32"))
    case('dyn.ones(%a, shape=[], dtype="int32")', [np.array([2], "int64")], np.ones(2, "int32"))
    case('dyn.full(%a, %b, shape=[], dtype="float32")', [np.float32(4), np.array([2, 2], "int64")],
         np.full((2, 2), 4, "float32"))
    i = np.array([0, 2], "int32")
    case('dyn.one_hot(%a, %b, %c, %d, axis=-1, dtype="float32")', [i, np.float32(1), np.float32(0), np.int32(3)],
         np.eye(3, dtype="float32")[i])
    begin, end, step = (np.array(v, "int64") for v in ([0, 1, 0], [2, 3, 4], [1, 1, 2]))
    case('dyn.strided_slice(%a, %b, %c, %d, begin=[], end=[], strides=[], slice_mode="end", axes=[])',
         [x, begin, end, step], x[0:2, 1:3, 0:4:2])


def corners():
    x = floats(2, 3, 4)
    long = lambda *values: np.array(values, "int64")
    for newshape, out in ((long(0, -1, 2), x.reshape(2, 6, 2)), (long(-3, 0), x.reshape(6, 4)),
                          (long(-1), x.reshape(-1))):
        case("dyn.reshape(%a, %b, newshape=[])", [x, newshape], out)
    case("dyn.reshape(%a, %b, newshape=[])", [x, np.array([12, 2], "int32")], x.reshape(12, 2))
    for axis in (1, -1, 0, 2):
        for count in (1, 2):
            at = axis if axis >= 0 else 3 + axis + 1
            out = x.reshape(*x.shape[:at], *[1] * count, *x.shape[at:])
            case(f'dyn.expand_dims(%a, %b, num_newaxis={count}, attrs_type_key="relay.attrs.DynExpandDimsAttrs")',
                 [x, np.int64(axis)], out)
    y = floats(1, 3, 1, 2)
    case("dyn.squeeze(%a, %b, axis=None)", [y, long(0, 2)], y[0, :, 0])
    case("dyn.squeeze(%a, %b, axis=None)", [y, long(-2)], y[:, :, 0])
    width = [(1, 0), (0, 2), (2, 1)]
    for mode in ("constant", "edge", "reflect"):
        out = np.pad(x, width, mode=mode, **({"constant_values": 7} if mode == "constant" else {}))
        case(f'dyn.nn.pad(%a, %b, %c, pad_width=[], pad_mode="{mode}")', [x, np.array(width, "int64"), np.float32(7)],
             out)
    for axis in (0, 1, -1):
        for ascend in (False, True):
            order = np.argsort(x if ascend else -x, axis, kind="stable")
            few = np.take(order, range(2), axis)
            tail = f'k=None, axis={axis}, is_ascend={ascend}, dtype="int64"'
            case(f'dyn.topk(%a, %b, ret_type="both", {tail})', [x, long(2)], [np.take_along_axis(x, few, axis), few])
            case(f'dyn.topk(%a, %b, ret_type="values", {tail})', [x, np.int32(2)], np.take_along_axis(x, few, axis))
            # No positive number means all.
            case(f'dyn.topk(%a, %b, ret_type="indices", {tail})', [x, long(0)], order)
    case("dyn.tile(%a, %b, reps=[])", [x, long(2)], np.tile(x, 2))
    case("dyn.tile(%a, %b, reps=[])", [x[0], long(2, 1, 3)], np.tile(x[0], (2, 1, 3)))
    case("dyn.broadcast_to(%a, %b, shape=[])", [x[0, :, :1], long(5, 3, 2)], np.broadcast_to(x[0, :, :1], (5, 3, 2)))
    case('dyn.zeros(%a, shape=[], dtype="int8")', [long(0, 3)], np.zeros((0, 3), "int8"))
    case('dyn.full(%a, %b, shape=[], dtype="int32")', [np.int32(-7), long(3)], np.full(3, -7, "int32"))
    ids = ints(2, 3, low=-1, high=5)
    for axis in (0, 1, -1):
        hot = np.where(np.expand_dims(ids,
                                      axis
                                      if axis >= 0 else 2) == np.arange(4).reshape([4 if k == axis % 3 else 1
                                                                                    for k in range(3)]), 3, -1)
        case(f'dyn.one_hot(%a, %b, %c, %d, depth=0, axis={axis}, dtype="int32")',
             [ids, np.int32(3), np.int32(-1), np.int32(4)],
             hot.astype("int32"))
    head = "dyn.strided_slice(%a, %b, %c, %d, begin=None, end=None, strides=None, "
    case(f"{head}axes=None)", [x, long(1, 2, 3), long(-3, -9, 0), long(-1, -1, -2)], x[1::-1, 2::-1, 3:0:-2])
    case(f"{head}axes=None)", [x, long(0, -2), long(2, 9), long(1, 1)], x[0:2, -2:9])
    case(f'{head}slice_mode="size", axes=None)', [x, long(0, 1, 1), long(1, -1, 2), long(1, 1, 1)], x[0:1, 1:, 1:3])
