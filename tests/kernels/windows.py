"""Pooling, normalisation and layouts."""

import numpy as np

from cases import case, floats


def windows(x, size, strides, padding, fill):
    rank = len(size)
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding], constant_values=fill)
    sizes = [(x.shape[2 + k] - size[k]) // strides[k] + 1 for k in range(rank)]
    parts = []
    for at in np.ndindex(*sizes):
        cut = tuple(slice(at[k] * strides[k], at[k] * strides[k] + size[k]) for k in range(rank))
        parts.append(x[(slice(None), slice(None)) + cut].reshape(*x.shape[:2], -1))
    return np.stack(parts, 2).reshape(*x.shape[:2], *sizes, -1)


def pools():
    for rank in (1, 2, 3):
        x = floats(2, 3, *[6, 5, 7][:rank])
        two, three, one = [2] * rank, [3] * rank, [1] * rank
        case(f"nn.max_pool{rank}d(%a, pool_size={three}, strides={two}, padding={one})", [x],
             windows(x, three, two, one, -np.inf).max(-1))
        case(f"nn.avg_pool{rank}d(%a, pool_size={two}, strides={two})", [x], windows(x, two, two, [0] * rank, 0).mean(-1))
        case(f"nn.avg_pool{rank}d(%a, pool_size={three}, strides={two}, padding={one}, count_include_pad=True)", [x],
             windows(x, three, two, one, 0).mean(-1))
        counted = windows(np.ones_like(x), three, two, one, 0).sum(-1)
        case(f"nn.avg_pool{rank}d(%a, pool_size={three}, strides={two}, padding={one})", [x],
             windows(x, three, two, one, 0).sum(-1) / counted)
    x = floats(2, 3, 4, 6)
    case("nn.global_avg_pool2d(%a)", [x], x.mean((2, 3), keepdims=True))
    case("nn.global_max_pool2d(%a)", [x], x.max((2, 3), keepdims=True))
    case("nn.adaptive_avg_pool2d(%a, output_size=[2, 3])", [x], x.reshape(2, 3, 2, 2, 3, 2).mean((3, 5)))
    case("nn.adaptive_max_pool2d(%a, output_size=[2, 3])", [x], x.reshape(2, 3, 2, 2, 3, 2).max((3, 5)))


def norms():
    x = floats(2, 3, 4, 5)
    gamma, beta, mean, var = floats(3), floats(3), floats(3), floats(3, low=0.5)
    wide = lambda v: v[:, None, None]
    case("nn.batch_norm(%a, %b, %c, %d, %e).0", [x, gamma, beta, mean, var],
         (x - wide(mean)) / np.sqrt(wide(var) + 1e-5) * wide(gamma) + wide(beta), 1e-4)
    y, g, b = floats(4, 6), floats(6), floats(6)
    case("nn.layer_norm(%a, %b, %c)", [y, g, b],
         (y - y.mean(1, keepdims=True)) / np.sqrt(y.var(1, keepdims=True) + 1e-5) * g + b, 1e-4)
    m, v = x.mean((2, 3), keepdims=True), x.var((2, 3), keepdims=True)
    case("nn.instance_norm(%a, %b, %c)", [x, gamma, beta], (x - m) / np.sqrt(v + 1e-5) * wide(gamma) + wide(beta), 1e-4)
    z, g, b = floats(2, 4, 3, 3), floats(4), floats(4)
    parts = z.reshape(2, 2, -1)
    parts = ((parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)).reshape(z.shape)
    case("nn.group_norm(%a, %b, %c, num_groups=2)", [z, g, b], parts * wide(g) + wide(b), 1e-4)
    squares = np.pad(x * x, [(0, 0), (1, 1), (0, 0), (0, 0)])
    total = squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:]
    case("nn.lrn(%a, size=3, axis=1, bias=2f, alpha=0.1f, beta=0.75f)", [x], x / (2 + 0.1 / 3 * total) ** 0.75)
    case("nn.dropout(%a, rate=0.5f).0", [x], x)


def layouts():
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
    case("nn.dilate(%a, strides=[1, 1, 2, 3])", [x], out)
