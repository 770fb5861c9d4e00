"""Writes cases.jsonl: calls of operators with results computed by numpy.

    python3 tests/kernels/make.py

Needs numpy alone. Nothing is random from run to run. One module a family; in each, every function
without parameters whose name does not begin with an underscore adds cases.
"""

import importlib
import inspect
import json
import pathlib
import sys

sys.dont_write_bytecode = True

import cases  # noqa: E402

FAMILIES = """annotations convolution contrib dynamic elementwise generators images indices layouts quantized
              reductions shapes signals sparse vision windows""".split()

counts = {}
for name in FAMILIES:
    module = importlib.import_module(name)
    before = len(cases.ROWS)
    for function, value in list(vars(module).items()):
        adds = inspect.isfunction(value) and value.__module__ == name and not inspect.signature(value).parameters
        if adds and not function.startswith("_"):
            cases.NUMBERS.restart(f"{name}.{function}")
            value()
    counts[name] = len(cases.ROWS) - before
path = pathlib.Path(__file__).with_name("cases.jsonl")
with open(path, "w") as file:
    for row in cases.ROWS:
        file.write(json.dumps(row, separators=(",", ":")) + "\n")
print(counts)
print(len(cases.ROWS), "cases,", path.stat().st_size // 1000, "kB")
