"""Reductions, scans and softmax."""

import numpy as np

from cases import case, floats, ints


def plain():
    x = floats(2, 3, 4)
    for name, function in {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod,
                           "variance": np.var, "std": np.std}.items():
        if name in ("variance", "std"):
            mean = x.mean(axis=1, keepdims=True)
            if name == "variance":
                case("variance(%a, %b, axis=[1])", [x, mean], np.var(x, axis=1))
            continue
        case(f"{name}(%a)", [x], np.asarray(function(x)))
        case(f"{name}(%a, axis=[1])", [x], function(x, axis=1))
        case(f"{name}(%a, axis=[0, 2], keepdims=True)", [x], function(x, axis=(0, 2), keepdims=True))
        case(f"{name}(%a, axis=[1], exclude=True)", [x], function(x, axis=(0, 2)))
    case("argmax(%a, axis=[1])", [x], x.argmax(1).astype("int32"))
    case("argmin(%a, axis=[2], keepdims=True)", [x], x.argmin(2)[..., None].astype("int32"))
    b = ints(3, 4, low=0, high=2).astype("bool")
    case("all(%a, axis=[1])", [b], b.all(1))
    case("any(%a, axis=[0])", [b], b.any(0))
    case('cumsum(%a, axis=1, attrs_type_key="relay.attrs.ScanopAttrs")', [x], x.cumsum(1))
    case('cumsum(%a, axis=2, exclusive=True, attrs_type_key="relay.attrs.ScanopAttrs")', [x], x.cumsum(2) - x, 1e-4)
    case('cumprod(%a, axis=0, attrs_type_key="relay.attrs.ScanopAttrs")', [x], x.cumprod(0))
    soft = np.exp(x - x.max(-1, keepdims=True))
    soft /= soft.sum(-1, keepdims=True)
    case("nn.softmax(%a)", [x], soft)
    case("nn.log_softmax(%a)", [x], np.log(soft))
    case("nn.fast_softmax(%a)", [x], soft, 1e-3)
    norm = np.sqrt((x * x).sum(1, keepdims=True))
    case("nn.l2_normalize(%a, eps=1e-10f, axis=[1])", [x], x / norm)


def corners():
    x = floats(2, 3, 4)
    case("sum(%a, axis=[-1])", [x], x.sum(-1))
    case("sum(%a, axis=[-1, 0], keepdims=True)", [x], x.sum((0, 2), keepdims=True))
    case("mean(%a, axis=[-2], exclude=True)", [x], x.mean((0, 2)))
    i = ints(3, 50, low=-128, high=128, dtype="int8")
    case("sum(%a, axis=[1])", [i], i.sum(1, dtype="int8"))
    case("max(%a, axis=[-1])", [i], i.max(1))
    case("prod(%a, axis=[0])", [i.astype("int64")], i.astype("int64").prod(0))
    # The identity for empty reductions.
    none = np.zeros((0, 3), "float32")
    case("sum(%a, axis=[0])", [none], np.zeros(3, "float32"))
    case("prod(%a, axis=[0])", [none], np.ones(3, "float32"))
    case("max(%a, axis=[0])", [none], np.full(3, np.finfo("float32").min))
    case("min(%a, axis=[0])", [none.astype("int32")], np.full(3, 2**31 - 1, "int32"))
    case("all(%a, axis=[0])", [none.astype("bool")], np.ones(3, "bool"))
    case("any(%a, axis=[0])", [none.astype("bool")], np.zeros(3, "bool"))
    case("sum(%a, axis=[1])", [none], np.zeros(0, "float32"))
    # The first or the last of equal elements.
    ties = np.array([[3, 7, 7, 1], [2, 2, 0, 0]], "float32")
    case("argmax(%a, axis=[1])", [ties], np.array([1, 0], "int32"))
    case("argmax(%a, axis=[-1], select_last_index=True)", [ties], np.array([2, 1], "int32"))
    case("argmin(%a, axis=[1])", [ties], np.array([3, 2], "int32"))
    case("argmin(%a, axis=[1], select_last_index=True)", [ties], np.array([3, 3], "int32"))
    case("argmax(%a)", [ties], np.array(1, "int32"))
    case("argmax(%a, axis=[0], exclude=True)", [x], x.reshape(2, 12).argmax(1).astype("int32"))
    mean = x.mean((0, 2), keepdims=True)
    case("variance(%a, %b, axis=[0, 2], keepdims=True, unbiased=True)", [x, mean], x.var((0, 2), keepdims=True, ddof=1))
    # Inclusive and exclusive scans, and scans in another data type.
    case('cumsum(%a, attrs_type_key="relay.attrs.ScanopAttrs")', [x], x.reshape(-1).cumsum(), 1e-4)
    case('cumprod(%a, axis=-1, exclusive=True, attrs_type_key="relay.attrs.ScanopAttrs")', [x],
         np.concatenate([np.ones_like(x[..., :1]), x.cumprod(-1)[..., :-1]], -1))
    case('cumsum(%a, axis=1, dtype="int64", attrs_type_key="relay.attrs.ScanopAttrs")', [i], i.cumsum(1, dtype="int64"))
    case('cumsum(%a, axis=0, dtype="int32", attrs_type_key="relay.attrs.ScanopAttrs")', [i > 0],
         (i > 0).cumsum(0, dtype="int32"))
    case('cumsum(%a, axis=1, dtype="int8", attrs_type_key="relay.attrs.ScanopAttrs")', [i], i.cumsum(1, dtype="int8"))
    case('cumsum(%a, axis=0, attrs_type_key="relay.attrs.ScanopAttrs")', [none], none)
    for axis in (0, 1, -2):
        out = np.exp(x - x.max(axis, keepdims=True))
        out /= out.sum(axis, keepdims=True)
        case(f"nn.softmax(%a, axis={axis})", [x], out)
        case(f"nn.fast_softmax(%a, axis={axis})", [x], out, 1e-3)
    large = np.array([[1000, 1001, 999]], "float32")
    out = np.exp(large - 1001) / np.exp(large - 1001).sum()
    case("nn.softmax(%a)", [large], out)
    case("nn.log_softmax(%a)", [large], np.log(out))
    for axes in ([-1], [0, 2], [2, 1]):
        norm = np.sqrt(np.maximum((x * x).sum(tuple(axes), keepdims=True), 4))
        case(f"nn.l2_normalize(%a, eps=4f, axis={axes})", [x], x / norm)
