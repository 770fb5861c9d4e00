"""Fixtures of the tests. The program is that of RELAY_ANALYZER, or is searched for."""

from pathlib import Path
from typing import List

import pytest

pytest_plugins: List[str] = ["pytester"]

EXAMPLES = Path(__file__).resolve().parents[2] / "tests" / "examples"


@pytest.fixture
def examples() -> Path:
    """The folder of example modules."""
    return EXAMPLES


@pytest.fixture
def dense() -> str:
    """A function of two tensors that returns a tuple."""
    return (
        '#[version = "0.0.5"]\n'
        "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32])"
        " -> (Tensor[(2, 4), float32], bool) {\n"
        "  %0 = nn.dense(%x, %w, units=None);\n"
        "  let %y = nn.relu(%0);\n"
        "  (%y, True)\n"
        "}\n"
    )
