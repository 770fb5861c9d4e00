"""Annotations, the operators of TVM's virtual machine, and operators that cannot be run."""

import base64
import json
import struct

import numpy as np

from cases import away, case, floats, ints, refused


def _section(entries, arrays=()):
    """A metadata section of the entries, each a kind and its attributes. Node 2 is an empty name."""
    kinds = sorted({kind for kind, _ in entries})
    first = 3 + len(kinds)
    lists = [[first + k for k, entry in enumerate(entries) if entry[0] == kind] for kind in kinds]
    nodes = [{"type_key": ""}, {"type_key": "Map", "keys": kinds, "data": [3 + k for k in range(len(kinds))]},
             {"type_key": "runtime.String"}, *({"type_key": "Array", "data": each} for each in lists),
             *({"type_key": kind, "attrs": attrs} for kind, attrs in entries)]
    section = {"root": 1, "nodes": nodes, "b64ndarrays": list(arrays), "attrs": {"tvm_version": "0.14.0"}}
    return "\n#[metadata]\n" + json.dumps(section)


def _serialized(array):
    """A vector of int64 as TVM writes it: a magic number, the device, the type, the shape, the bytes."""
    header = struct.pack("<QQiiiBBHqq", 0xDD5E40F096B4A13F, 0, 1, 0, 1, 0, 64, 1, len(array), array.nbytes)
    return base64.b64encode(header + array.tobytes()).decode()


def _device(number):
    return "VirtualDevice", {"device_type_int": "1", "memory_scope": "2", "target": "0",
                             "virtual_device_id": str(number)}


def _constant(number):
    return "relay.Constant", {"_checked_type_": "0", "data": str(number), "span": "0", "virtual_device_": "0"}


_DEVICES = _section([_device(0), _device(1)])


def the_same():
    x = floats(2, 3)
    for name in ("bitpack_start", "bitpack_end", "checkpoint"):
        case(f"annotation.{name}(%a)", [x], x)
    case('annotation.cast_hint(%a, dtype="int8", attrs_type_key="relay.attrs.CastHintAttrs")', [x], x)
    for name in ("compiler_begin", "compiler_end"):
        case(f'annotation.{name}(%a, compiler="dnnl", attrs_type_key="relay.attrs.CompilerAttrs")', [x], x)
    case("debug(%a, debug_func=None)", [x], x)
    case("on_device(%a, virtual_device=meta[VirtualDevice][0], constrain_result=True)", [x], x, after=_DEVICES)
    case("device_copy(%a, src_virtual_device=meta[VirtualDevice][0], dst_virtual_device=meta[VirtualDevice][1])", [x],
         x,
         after=_DEVICES)
    # Also for a tuple and a tensor without elements.
    case("annotation.checkpoint((%a, %b))", [x, x[:0]], [x, x[:0]])


def virtual_machine():
    x, shape = floats(2, 3), np.array([2, 3], "int64")
    case('vm.shape_of(%a, dtype="int64")', [x], shape)
    case('vm.shape_of(%a, dtype="int32")', [x[:, :0]], np.array([2, 0], "int32"))
    case("vm.reshape_tensor(%a, %b, newshape=[3, 2])", [x, np.array([3, 2], "int64")], x.reshape(3, 2))
    case("memory.kill(%a)", [x], [])
    # Only the shape of allocated memory is defined.
    storage = 'memory.alloc_storage(24i64, %a, 64i64, dtype="float32", virtual_device=meta[VirtualDevice][0])'
    case(f"let %s = {storage}; let %t = memory.alloc_tensor(%s, 0i64, %a, const_shape=meta[relay.Constant][0], assert_shape=None); "
         'shape_of(%t, dtype="int64")', [shape], shape,
         after=_section([_device(0), _constant(0)], [_serialized(shape)]))


def simulated_quantization():
    x = np.array([[0.25, 0.75, 1.25, -0.25], [-0.75, 9, -9, 1.7]], "float32")
    for scale, low, high in ((0.5, -4, 3), (0.1, -127, 127)):
        exact = np.clip(x / np.float32(scale), low, high)
        case(f"relay.op.annotation.simulated_quantize(%a, {scale}f, {low}f, {high}f)", [x],
             (away(exact) * np.float32(scale)).astype("float32"))


def without_computation():
    x = floats(4)
    before = "def @f(%x: Tensor[(4), float32]) -> Tensor[(4), float32] { %x }"
    refused("call_lowered(@f, (%a,))", [x],
            "it calls a function that TVM has lowered to TIR, which Relay text cannot contain",
            before)
    refused("vm.invoke_tvm_op(@f, (%a,), (%b,))", [x, x],
            "it calls compiled code and writes to memory, only inside of TVM's virtual machine", before)
    refused("nn.contrib_conv2d_winograd_nnpack_weight_transform(%a, convolution_algorithm=3)", [floats(4, 3, 3, 3)],
            "the layout of its result is private to the NNPACK library")
    device = "it exists only on Arm's Ethos-U, an accelerator"
    image, table = ints(1, 4, 4, 4, dtype="int8"), np.zeros(0, "int8")
    scales = "ifm_scale=1f, ifm_zero_point=0, ofm_scale=1f, ofm_zero_point=0"
    refused(f"contrib.ethosu.identity(%a, %b, {scales})", [image, table], device)
    refused(f'contrib.ethosu.unary_elementwise(%a, %b, operator_type="ABS", {scales}, ofm_channels=4)', [image, table],
            device)
    refused(f'contrib.ethosu.binary_elementwise(%a, %b, %c, operator_type="ADD", {scales}, ifm2_scale=1f, '
            'ifm2_zero_point=0, ifm_channels=4, ifm2_channels=4, ofm_dtype="int8")', [image, image, table], device)
    refused(f'contrib.ethosu.pooling(%a, %b, pooling_type="MAX", {scales}, pool_shape=[2, 2], ofm_channels=4, '
            'ofm_dtype="int8", strides=[2, 2])', [image, table], device)
    for name, inputs in (("conv2d", 4), ("depthwise_conv2d", 1)):
        refused(f"contrib.ethosu.{name}(%a, %b, %c, %d, {scales}, weight_zero_point=0, kernel_shape=[3, 3], ofm_channels=4)",
                [image, ints(4, 3, 3, inputs, dtype="int8"), np.zeros((4, 10), "uint8"), table], device)
    # Names without a type.
    refused("hardswish(%a)", [x], "`hardswish` is registered in TVM without a definition")
    refused('annotation.with_funcid(@f, fid=1, attrs_type_key="relay.attrs.WithFuncIdAttrs")', [],
            "`annotation.with_funcid` has no type: TVM uses it inside a single pass only", before)
