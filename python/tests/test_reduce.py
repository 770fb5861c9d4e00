"""Reductions."""

from typing import List

import pytest

import relay_analyzer as ra

NETWORK = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], %v: Tensor[(5, 7), float32]) {
  %0 = nn.dense(%x, %w, units=4);
  %1 = nn.relu(%0);
  %2 = tanh(%1);
  %3 = nn.dense(%2, %v, units=5);
  nn.softmax(%3)
}
"""


def test_a_diagnostic_is_kept() -> None:
    found = ra.reduce(NETWORK, "code:shape-mismatch")
    assert "nn.dense" in found.text and "tanh" not in found.text
    assert str(found) == found.text and found.bindings == (4, 0)
    assert found.tried > 0 and "features" in found.shows
    assert ra.check(found.text).errors[0].code == "shape-mismatch"


def test_a_function_decides() -> None:
    asked: List[str] = []

    def keep(text: str) -> bool:
        asked.append(text)
        return "tanh(" in text

    module = NETWORK.replace("(5, 7)", "(5, 4)")
    found = ra.reduce(module, keep)
    assert "tanh(" in found.text and "nn." not in found.text
    assert asked[0] == module
    # What the function gets has no errors.
    assert not any(ra.check(text).errors for text in asked[1:6])


def test_what_does_not_hold_at_the_start_and_exceptions() -> None:
    with pytest.raises(ra.RelayError, match="nothing to keep"):
        ra.reduce(NETWORK, "code:rank-mismatch")
    with pytest.raises(ra.RelayError, match="no code"):
        ra.reduce(NETWORK, "code:no-such-code")
    with pytest.raises(ra.RelayError, match="is no"):
        ra.reduce(NETWORK, lambda text: False)

    def fail(text: str) -> bool:
        raise ValueError("it broke")

    with pytest.raises(ValueError, match="it broke"):
        ra.reduce(NETWORK, fail)
