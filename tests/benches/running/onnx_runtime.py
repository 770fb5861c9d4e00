"""Networks as ONNX models and as equal Relay modules, and ONNX Runtime to compare with.

    python3 onnx_runtime.py write FOLDER
    python3 onnx_runtime.py serve FOLDER NETWORK THREADS
    python3 onnx_runtime.py record FOLDER NETWORK [WEIGHT]

`write` makes `NETWORK.onnx`, `NETWORK.relay` and `NETWORK.npz` (the arguments of `@main` as `i0`, `i1`, ...)
of drawn weights; it keeps what was written since this file changed. `serve` writes, for each line that it
reads, the milliseconds of a run, those of CPU, and the first numbers of the result. `record` writes
`NETWORK.values.npz`: the value of each node by the name of its binding in the Relay module. With WEIGHT, an
element of that weight is changed in the ONNX model alone; then the names of the bindings that use it are printed.
It needs numpy, onnx and onnxruntime.
"""

import re
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


class Network:
    """One network in both notations. Values have the same names in both."""

    def __init__(self, name):
        self.name = name
        self.random = np.random.default_rng(0)
        self.nodes, self.lines, self.constants = [], [], []
        self.inputs, self.parameters = [], []
        self.count = 0

    def fresh(self):
        """The number of a graph binding."""
        self.count += 1
        return str(self.count)

    def node(self, kind, inputs, **attributes):
        """A node of the ONNX model."""
        out = self.fresh()
        self.nodes.append(helper.make_node(kind, inputs, [out], **attributes))
        return out

    def bind(self, out, call, result=""):
        """A binding of the Relay module for the value `out`."""
        if result:
            whole = self.bind(self.fresh(), call)
            call = f"%{whole}{result}"
        self.lines.append(f"  %{out} = {call};")
        return out

    def both(self, kind, inputs, call, result="", **attributes):
        return self.bind(self.node(kind, inputs, **attributes), call, result)

    def parameter(self, array, name=None):
        name = name or f"p{len(self.parameters)}"
        self.parameters.append((name, array))
        return name

    def weight(self, *shape, scale=1.0, around=0.0):
        """A parameter of the Relay module that is a constant of the ONNX model."""
        array = self.random.standard_normal(shape, np.float32) * np.float32(scale) + np.float32(around)
        name = self.parameter(array)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def constant(self, array):
        """A constant of the ONNX model alone."""
        name = self.fresh()
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def input(self, array):
        name = self.parameter(array, "x")
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, kind, array.shape))
        return name

    def write(self, folder, result):
        outputs = [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, outputs, self.constants)
        opset = [helper.make_opsetid("", 17)]
        onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), folder / f"{self.name}.onnx")

        def ty(array):
            return f"Tensor[({', '.join(map(str, array.shape))}), {array.dtype}]"

        header = ", ".join(f"%{name}: {ty(array)}" for name, array in self.parameters)
        body = "\n".join(self.lines)
        text = f'#[version = "0.0.5"]\ndef @main({header}) {{\n{body}\n  %{result}\n}}\n'
        (folder / f"{self.name}.relay").write_text(text)
        arrays = {f"i{k}": array for k, (_, array) in enumerate(self.parameters)}
        np.savez(folder / f"{self.name}.npz", **arrays)


def resnet18(net, before):
    """ResNet-18; with `before`, the second form, which normalises before each convolution."""

    def norm(x, channels, epsilon=1e-5):
        args = [net.weight(channels, scale=0.1, around=1.0), net.weight(channels, scale=0.1)]
        args += [net.weight(channels, scale=0.1)]
        variance = np.abs(net.random.standard_normal(channels, np.float32)) * np.float32(0.1) + np.float32(1)
        args.append(net.parameter(variance))
        net.constants.append(numpy_helper.from_array(variance, args[-1]))
        call = f"nn.batch_norm({', '.join('%' + a for a in [x, *args])}, epsilon={epsilon}f)"
        return net.both("BatchNormalization", [x, *args], call, ".0", epsilon=epsilon)

    def relu(x):
        return net.both("Relu", [x], f"nn.relu(%{x})")

    def add(x, y):
        return net.both("Add", [x, y], f"add(%{x}, %{y})")

    def conv(x, inputs, outputs, size, stride):
        weight = net.weight(outputs, inputs, size, size, scale=(inputs * size * size) ** -0.5)
        pad = size // 2
        call = (
            f"nn.conv2d(%{x}, %{weight}, strides=[{stride}, {stride}], padding=[{pad}, {pad}, {pad}, {pad}], "
            f"channels={outputs}, kernel_size=[{size}, {size}])"
        )
        return net.both("Conv", [x, weight], call, strides=[stride] * 2, pads=[pad] * 4, kernel_shape=[size] * 2)

    x = net.input(net.random.standard_normal((1, 3, 224, 224), np.float32))
    x = relu(norm(conv(x, 3, 64, 7, 2), 64))
    call = f"nn.max_pool2d(%{x}, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])"
    x = net.both("MaxPool", [x], call, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inputs = 64
    for stage, outputs in enumerate([64, 128, 256, 512]):
        for unit in range(2):
            stride = 2 if stage > 0 and unit == 0 else 1
            if before:
                y = relu(norm(x, inputs))
                short = x if unit else conv(y, inputs, outputs, 1, stride)
                y = relu(norm(conv(y, inputs, outputs, 3, stride), outputs))
                x = add(conv(y, outputs, outputs, 3, 1), short)
            else:
                y = relu(norm(conv(x, inputs, outputs, 3, stride), outputs))
                y = norm(conv(y, outputs, outputs, 3, 1), outputs)
                short = x if stride == 1 else norm(conv(x, inputs, outputs, 1, stride), outputs)
                x = relu(add(y, short))
            inputs = outputs
    if before:
        x = relu(norm(x, 512))
    x = net.both("GlobalAveragePool", [x], f"nn.global_avg_pool2d(%{x})")
    x = net.both("Flatten", [x], f"nn.batch_flatten(%{x})")
    weight, bias = net.weight(1000, 512, scale=0.05), net.weight(1000, scale=0.1)
    y = net.bind(net.fresh(), f"nn.dense(%{x}, %{weight}, units=1000)")
    return net.both("Gemm", [x, weight, bias], f"nn.bias_add(%{y}, %{bias}, axis=-1)", transB=1)


def bert(net, tokens=128, width=768, heads=12, layers=12):
    """BERT-base as TVM imports it from PyTorch: weights are transposed in the module."""
    size = width // heads
    words = net.input(net.random.integers(0, 30000, (1, tokens)).astype(np.int64))

    def dense(x, inputs, outputs):
        weight = net.random.standard_normal((outputs, inputs), np.float32) * np.float32(inputs**-0.5)
        name = net.parameter(weight)
        bias = net.weight(outputs, scale=0.1)
        # The constant of the ONNX model is the transposed weight.
        net.constants.append(numpy_helper.from_array(np.ascontiguousarray(weight.T), name))
        value = net.bind(net.fresh(), f"transpose(%{name}, axes=[1, 0])")
        value = net.bind(net.fresh(), f"broadcast_to(%{value}, shape=[1, {inputs}, {outputs}])")
        value = net.bind(net.fresh(), f"reshape(%{value}, newshape=[-1, {inputs}, {outputs}])")
        y = net.both("MatMul", [x, name], f"nn.batch_matmul(%{x}, %{value}, transpose_b=False)")
        return net.both("Add", [y, bias], f"nn.bias_add(%{y}, %{bias}, axis=-1)")

    def norm(x):
        gamma, beta = net.weight(width, scale=0.1, around=1.0), net.weight(width, scale=0.1)
        call = f"nn.layer_norm(%{x}, %{gamma}, %{beta}, epsilon=1e-12f)"
        return net.both("LayerNormalization", [x, gamma, beta], call, epsilon=1e-12)

    def add(x, y):
        return net.both("Add", [x, y], f"add(%{x}, %{y})")

    def split(x, order=(0, 2, 1, 3)):
        shape = [1, tokens, heads, size]
        x = net.both("Reshape", [x, net.constant(shape)], f"reshape(%{x}, newshape={shape})")
        return net.both("Transpose", [x], f"transpose(%{x}, axes={list(order)})", perm=order)

    def product(x, y, left, right, out):
        x3 = net.bind(net.fresh(), f"reshape(%{x}, newshape=[{heads}, {left}])")
        y3 = net.bind(net.fresh(), f"reshape(%{y}, newshape=[{heads}, {right}])")
        z3 = net.bind(net.fresh(), f"nn.batch_matmul(%{x3}, %{y3}, transpose_b=False)")
        return net.both("MatMul", [x, y], f"reshape(%{z3}, newshape=[1, {heads}, {out}])")

    def gelu(x):
        number = lambda value: net.constant(np.float32(value))
        y = net.both("Mul", [x, number(0.70710678)], f"multiply(%{x}, 0.70710678f)")
        y = net.both("Erf", [y], f"erf(%{y})")
        y = net.both("Add", [y, number(1)], f"add(%{y}, 1f)")
        y = net.both("Mul", [x, y], f"multiply(%{x}, %{y})")
        return net.both("Mul", [y, number(0.5)], f"multiply(%{y}, 0.5f)")

    table = net.weight(30522, width, scale=0.5)
    places = net.weight(1, tokens, width, scale=0.1)
    index = net.bind(net.fresh(), f'cast(%{words}, dtype="int32")')
    x = net.both("Gather", [table, words], f"take(%{table}, %{index}, axis=0)")
    x = norm(add(x, places))
    for _ in range(layers):
        query = split(dense(x, width, width))
        key = split(dense(x, width, width), (0, 2, 3, 1))
        value = split(dense(x, width, width))
        scores = product(query, key, f"{tokens}, {size}", f"{size}, {tokens}", f"{tokens}, {tokens}")
        root = net.constant(np.float32(size**0.5))
        scores = net.both("Div", [scores, root], f"divide(%{scores}, {size**0.5:.1f}f)")
        scores = net.both("Softmax", [scores], f"nn.softmax(%{scores})", axis=-1)
        y = product(scores, value, f"{tokens}, {tokens}", f"{tokens}, {size}", f"{tokens}, {size}")
        y = net.both("Transpose", [y], f"transpose(%{y}, axes=[0, 2, 1, 3])", perm=[0, 2, 1, 3])
        shape = [1, tokens, width]
        y = net.both("Reshape", [y, net.constant(shape)], f"reshape(%{y}, newshape={shape})")
        x = norm(add(dense(y, width, width), x))
        y = dense(gelu(dense(x, width, 4 * width)), 4 * width, width)
        x = norm(add(y, x))
    return x


NETWORKS = {
    "resnet18": lambda net: resnet18(net, False),
    "resnet18-v2": lambda net: resnet18(net, True),
    "bert-base": bert,
}


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    written = Path(__file__).stat().st_mtime
    for name, build in NETWORKS.items():
        arrays = folder / f"{name}.npz"
        if not arrays.exists() or arrays.stat().st_mtime < written:
            net = Network(name)
            net.write(folder, build(net))


def serve(folder, name, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Threads that spin between two runs would take the time of the other program.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = onnxruntime.InferenceSession(folder / f"{name}.onnx", options, providers=["CPUExecutionProvider"])
    arrays = np.load(folder / f"{name}.npz")
    feed = {session.get_inputs()[0].name: arrays["i0"]}
    session.run(None, feed)
    print(onnxruntime.__version__, flush=True)
    for _ in sys.stdin:
        start, used = time.perf_counter(), time.process_time()
        (out,) = session.run(None, feed)
        took = (time.perf_counter() - start) * 1e3
        used = (time.process_time() - used) * 1e3
        print(took, used, *out.ravel()[:64], flush=True)


def record(folder, name, weight=None):
    model = onnx.load(folder / f"{name}.onnx")
    if weight:
        (changed,) = [it for it in model.graph.initializer if it.name == weight]
        array = numpy_helper.to_array(changed).copy()
        array.flat[0] += np.abs(array).max() * 10
        changed.CopyFrom(numpy_helper.from_array(array, weight))
    names = [node.output[0] for node in model.graph.node]
    # The value of a call with several results is that of the first one.
    first = dict(re.findall(r"%(\w+) = %(\w+)\.0;", (folder / f"{name}.relay").read_text()))
    if weight:
        users = [node.output[0] for node in model.graph.node if weight in node.input]
        print(*[first.get(user, user) for user in users], flush=True)
    known = {output.name for output in model.graph.output}
    model.graph.output.extend(helper.make_empty_tensor_value_info(it) for it in names if it not in known)
    options = onnxruntime.SessionOptions()
    # An optimised graph lacks values.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feed = {session.get_inputs()[0].name: np.load(folder / f"{name}.npz")["i0"]}
    values = zip(names, session.run(names, feed))
    np.savez(folder / f"{name}.values.npz", **{first.get(of, of): value for of, value in values})


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]))
    elif sys.argv[1] == "record":
        record(Path(sys.argv[2]), *sys.argv[3:])
    else:
        serve(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
