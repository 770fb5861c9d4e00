"""Runs on arrays."""

from pathlib import Path
from typing import Any, List

import pytest

import relay_analyzer as ra

np = pytest.importorskip("numpy")


def test_arguments_by_position_and_name(dense: str) -> None:
    x = np.arange(6, dtype="float32").reshape(2, 3) - 2
    w = np.ones((4, 3), "float32")
    wanted = np.maximum(x @ w.T, 0)
    mixed: List[Any] = [
        ra.run(dense, x, w),
        ra.run(dense, x=x, w=w),
        ra.run(dense, x, inputs={"%w": w}),
    ]
    for out, flag in mixed:
        np.testing.assert_array_equal(out, wanted)
        assert out.dtype == np.float32 and flag.dtype == bool and flag
    drawn = [ra.run(dense, seed=3)[0] for _ in range(2)]
    np.testing.assert_array_equal(*drawn)


def test_names_that_python_reserves() -> None:
    text = "def @main(%file: float32, %in.put: float32) { %file - %in.put }"
    assert ra.run(text, file=np.float32(3), inputs={"in.put": np.float32(1)}) == 2


def test_structures() -> None:
    pair = ra.run("def @main() { (1, (2f, True), ()) }")
    assert pair[0] == 1 and pair[1][0] == 2 and pair[2] == ()
    listed = ra.run("def @main() { Cons(1, Cons(2, Nil)) }")
    assert str(listed) == "Cons(1, Cons(2, Nil))" and listed.constructor == "Cons"
    half = ra.run('def @main() { (cast(1.5f, dtype="bfloat16"), ref((1, 2f))) }')
    assert half[0].dtype == np.float32 and half[0] == 1.5
    assert half[1].value[1] == 2
    assert isinstance(ra.run("def @main() { fn (%x: int32) { %x } }"), ra.Closure)


def test_failures_have_code_and_place(dense: str) -> None:
    with pytest.raises(ra.RunError, match="seed=0") as lack:
        ra.run(dense)
    assert lack.value.code == "run-input"
    with pytest.raises(ra.RunError, match="texts"):
        ra.run(dense, x="one", seed=1)
    with pytest.raises(ra.RunError, match="objects"):
        ra.run(dense, x=object(), seed=1)
    with pytest.raises(ra.RunError, match="@nix"):
        ra.run(dense, function="nix", seed=1)
    endless = "def @main(%x: int32) -> int32 {\n  @main(%x)\n}\n"
    with pytest.raises(ra.RunError) as caught:
        ra.run(endless, np.int32(1), time=0.2)
    assert caught.value.code.startswith("run-") and caught.value.line == 2
    with pytest.raises(ra.ModuleError, match="unknown-variable"):
        ra.run("def @main() { %y }")


def test_inputs_are_those_of_the_shape(dense: str, tmp_path: Path) -> None:
    path = tmp_path / "m.relay"
    path.write_text(dense)
    with pytest.raises(ra.RunError, match="%x"):
        ra.run(path, x=np.ones((3, 3), "float32"), seed=1)


def test_messages_name_no_file_of_ours(dense: str) -> None:
    x, w = np.zeros((2, 3), "int64"), np.zeros((4, 3), "float32")
    with pytest.raises(ra.RunError) as raised:
        ra.run(dense, x=x, w=w)
    assert "inputs.npz" not in str(raised.value) and "int64" in str(raised.value)
