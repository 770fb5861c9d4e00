"""A notebook in a real kernel, which is written to the file RELAY_NOTEBOOK."""

import os
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

CELLS = [
    "import relay_analyzer as ra\n%load_ext relay_analyzer",
    "%%relay mod\ndef @main(%x: Tensor[(2, 3), float32]) {\n  nn.relu(%x)\n}",
    "ra.shapes(mod)",
    "ra.check('def @f() { %y }')",
    "ra.diff(mod, mod.replace('nn.relu', 'tanh'))",
    "import sys, types\nfrom relay_analyzer import display\n"
    "tvm = types.ModuleType('tvm.ir.module')\n"
    "class IRModule:\n    def astext(self): return mod\n"
    "IRModule.__module__ = 'tvm.ir.module'\n"
    "display.enable()\nIRModule()",
    "display.disable()\nIRModule()",
    "import numpy\nra.run(mod, numpy.float32([[-1, 2, 3]] * 2)).tolist()",
]


def test_a_notebook(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    if os.environ.get("RELAY_NOTEBOOK"):
        nbformat.write(notebook, os.environ["RELAY_NOTEBOOK"])

    def data(number: int) -> "dict[str, str]":
        (output,) = cells[number].outputs
        assert output.output_type == "execute_result", output
        return dict(output.data)

    assert 'class="ra-code"' in data(1)["text/html"] and "<iframe" in data(1)["text/html"]
    assert "nn.relu" in data(2)["text/html"] and "<Shapes of" in data(2)["text/plain"]
    assert "unknown-variable" in data(3)["text/html"]
    assert "srcdoc=" in data(4)["text/html"]
    assert 'class="ra-code"' in data(5)["text/html"]
    assert "text/html" not in data(6)
    assert data(7)["text/plain"] == "[[0.0, 2.0, 3.0], [0.0, 2.0, 3.0]]"
