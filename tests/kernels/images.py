"""Images that are resized and sampled."""

import numpy as np

from cases import case, floats


def images():
    x = floats(1, 2, 3, 4)
    near = x[:, :, (np.arange(6) // 2)][:, :, :, np.arange(8) // 2]
    case('image.resize2d(%a, size=[6, 8], roi=[0f, 0f, 0f, 0f], layout="NCHW", method="nearest_neighbor", '
         'coordinate_transformation_mode="asymmetric", rounding_method="floor")', [x], near)

    def linear(size, target):
        at = np.clip((np.arange(target) + 0.5) * size / target - 0.5, 0, size - 1)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, size - 1)
        matrix = np.zeros((target, size))
        matrix[np.arange(target), low] += 1 - (at - low)
        matrix[np.arange(target), high] += at - low
        return matrix

    smooth = np.einsum("ph,qw,nchw->ncpq", linear(3, 5), linear(4, 7), x.astype("float64")).astype("float32")
    case('image.resize2d(%a, size=[5, 7], roi=[0f, 0f, 0f, 0f], layout="NCHW", method="linear", '
         'coordinate_transformation_mode="half_pixel")', [x], smooth)
    y = floats(1, 2, 4)
    case('image.resize1d(%a, size=[8], roi=[0f, 0f], layout="NCW", method="nearest_neighbor", '
         'coordinate_transformation_mode="asymmetric", rounding_method="floor")', [y], y.repeat(2, 2))
    flat = floats(1, 2, 3, 4)
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-1, 1, 3)), 0)[None].astype("float32")
    case('image.grid_sample(%a, %b, method="bilinear", layout="NCHW", padding_mode="zeros", align_corners=True)',
         [flat, grid], flat, 1e-4)
