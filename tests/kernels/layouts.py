"""Layouts, blocks, padding and upsampling."""

import numpy as np

from cases import case, floats, ints, text
from layoutof import relaid


def plain():
    x = floats(2, 4, 2, 6)
    case('layout_transform(%a, src_layout="NCHW", dst_layout="NHWC")', [x], x.transpose(0, 2, 3, 1))
    case('layout_transform(%a, src_layout="NCHW", dst_layout="NCHW2c")', [x],
         x.reshape(2, 2, 2, 2, 6).transpose(0, 1, 3, 4, 2))
    case("nn.pad(%a, 3f, pad_width=[[0, 0], [1, 0], [0, 2], [1, 1]])", [x],
         np.pad(x, [(0, 0), (1, 0), (0, 2), (1, 1)], constant_values=3))
    case('nn.mirror_pad(%a, mode="REFLECT", pad_width=[[0, 0], [0, 0], [1, 1], [2, 3]])', [x],
         np.pad(x, [(0, 0), (0, 0), (1, 1), (2, 3)], mode="reflect"))
    case('nn.mirror_pad(%a, mode="SYMMETRIC", pad_width=[[0, 0], [0, 0], [1, 1], [2, 3]])', [x],
         np.pad(x, [(0, 0), (0, 0), (1, 1), (2, 3)], mode="symmetric"))
    case('nn.depth_to_space(%a, block_size=2, layout="NCHW", mode="DCR")', [x],
         x.reshape(2, 2, 2, 1, 2, 6).transpose(0, 3, 4, 1, 5, 2).reshape(2, 1, 4, 12))
    case('nn.space_to_depth(%a, block_size=2, layout="NCHW")', [x],
         x.reshape(2, 4, 1, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 16, 1, 3))
    near = x.repeat(2, 2).repeat(3, 3)
    case('nn.upsampling(%a, scale_h=2f, scale_w=3f, layout="NCHW", method="nearest_neighbor")', [x], near)
    out = np.zeros((2, 4, 3, 16), "float32")
    out[:, :, ::2, ::3] = x
    case('nn.dilate(%a, strides=[1, 1, 2, 3], attrs_type_key="relay.attrs.DilateAttrs")', [x], out)


def transforms():
    x = floats(2, 6, 3, 4)
    for target in ("NHWC", "HWCN", "NCHW3c", "NHWC2c", "NCHW2n3c", "CNWH"):
        case(f'layout_transform(%a, src_layout="NCHW", dst_layout="{target}")', [x], relaid(x, "NCHW", target))
        if target != "NHWC":
            case(f'layout_transform(%a, src_layout="{target}", dst_layout="NCHW")', [relaid(x, "NCHW", target)], x)
    case('layout_transform(%a, src_layout="NCHW2c", dst_layout="NCHW3c")', [relaid(x, "NCHW", "NCHW2c")],
         relaid(x, "NCHW", "NCHW3c"))
    # An incomplete last block ends in zeros, which are removed by the inverse.
    filled = np.pad(x, [(0, 0), (0, 2), (0, 0), (0, 0)])
    case('layout_transform(%a, src_layout="NCHW", dst_layout="NCHW4c")', [x], relaid(filled, "NCHW", "NCHW4c"))
    w = floats(8, 4, 3, 1)
    case('layout_transform(%a, src_layout="OIHW", dst_layout="OIHW2i4o")', [w], relaid(w, "OIHW", "OIHW2i4o"))
    case('layout_transform(%a, src_layout="OIHW", dst_layout="HWIO")', [w], relaid(w, "OIHW", "HWIO"))
    y = floats(8, 6)
    # The parts of an axis share one name, outermost first.
    case('auto_scheduler_layout_transform(%a, src_layout="8O6I", dst_layout="2O6I4O")', [y],
         y.reshape(2, 4, 6).transpose(0, 2, 1))
    case('auto_scheduler_layout_transform(%a, src_layout="8O6I", dst_layout="3I2O2I2O2O")', [y],
         y.reshape(2, 2, 2, 3, 2).transpose(3, 0, 4, 1, 2))


def padding():
    x = floats(2, 3, 4)
    width = [(1, 0), (0, 2), (2, 1)]
    written = text([list(pair) for pair in width])
    for mode, name in (("constant", "constant"), ("edge", "edge"), ("reflect", "reflect")):
        case(f'nn.pad(%a, 1.5f, pad_width={written}, pad_mode="{mode}")', [x],
             np.pad(x, width, mode=name, **({"constant_values": 1.5} if mode == "constant" else {})))
    case("nn.pad(%a, 0f, pad_width=[[0, 0], [-1, 0], [1, -2]])", [x],
         np.pad(x[:, 1:, :2], [(0, 0), (0, 0), (1, 0)]))
    i = ints(2, 3, dtype="int8")
    case("nn.pad(%a, %b, pad_width=[[1, 1], [0, 1]])", [i, np.int8(-7)],
         np.pad(i, [(1, 1), (0, 1)], constant_values=-7))
    case("nn.pad(%a, 1f, pad_width=[[0, 0], [1, 1]])", [floats(2, 0)], np.ones((2, 2), "float32"))
    out = np.full((2, 3, 10), 2.5, "float32")
    out[:, :, ::3] = x
    case('nn.dilate(%a, strides=[1, 1, 3], dilation_value=2.5f, attrs_type_key="relay.attrs.DilateAttrs")', [x], out)


def batches():
    """Moves blocks of positions to batches and back."""
    x = floats(2, 4, 6, 3)
    out = x.reshape(2, 2, 2, 2, 3, 3).transpose(2, 4, 0, 1, 3, 5).reshape(12, 2, 2, 3)
    case("nn.space_to_batch_nd(%a, block_shape=[2, 3], paddings=[[0, 0], [0, 0]])", [x], out)
    case("nn.batch_to_space_nd(%a, block_shape=[2, 3], crops=[[0, 0], [0, 0]])", [out], x)
    case("nn.space_to_batch_nd(%a, block_shape=[2, 3], paddings=[[1, 0], [0, 2]], pad_value=1.5f)",
         [x[:, :3, :4].copy()],
         np.pad(x[:, :3, :4], [(0, 0), (1, 0), (0, 2), (0, 0)], constant_values=1.5)
         .reshape(2, 2, 2, 2, 3, 3).transpose(2, 4, 0, 1, 3, 5).reshape(12, 2, 2, 3))
    case("nn.batch_to_space_nd(%a, block_shape=[2, 3], crops=[[1, 0], [0, 2]])", [out], x[:, 1:, :4])
    y = floats(3, 4)
    case("nn.space_to_batch_nd(%a, block_shape=[2], paddings=[[0, 0]])", [y], np.concatenate([y[:, ::2], y[:, 1::2]]))
    z = floats(1, 8, 2, 3)
    deep = {"DCR": z.reshape(1, 2, 2, 2, 2, 3).transpose(0, 3, 4, 1, 5, 2),
            "CDR": z.reshape(1, 2, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3)}
    for mode, out in deep.items():
        out = out.reshape(1, 2, 4, 6)
        case(f'nn.depth_to_space(%a, block_size=2, layout="NCHW", mode="{mode}")', [z], out)
        case(f'nn.depth_to_space(%a, block_size=2, layout="NHWC", mode="{mode}")', [relaid(z, "NCHW", "NHWC")],
             relaid(out, "NCHW", "NHWC"))
    case('nn.space_to_depth(%a, block_size=2, layout="NHWC")',
         [relaid(deep["DCR"].reshape(1, 2, 4, 6), "NCHW", "NHWC")],
         relaid(z, "NCHW", "NHWC"))
