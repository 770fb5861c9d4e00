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


BOTH = "def @main(%x: Tensor[(2), float32], %n: int8) { (%x, %n) }"
PAIR = "def @main(%t: (Tensor[(2), float32], (int8, bool))) { %t }"
LIST = "def @main(%l: List[int32]) { %l }"


@pytest.mark.parametrize(
    "args, named, inputs, parts",
    [
        ((), {"y": 1}, {}, ["`y`", "x, n"]),
        ((), {"nn": 1}, {}, ["`nn`", "did you mean `n`?"]),
        ((), {}, {"%xx": [1, 2]}, ["`xx`", "did you mean `x`?"]),
        (([1, 2], 3, 4), {}, {}, ["`i2`", "2 tensors", "x, n"]),
        (([1, 2],), {"x": [1, 2]}, {}, ["`%x` is given twice"]),
        ((), {"x": [1, 2]}, {"%x": [1, 2]}, ["`x` is given twice"]),
        ((), {}, {3: 1}, ["the name of an argument is a text"]),
    ],
)
def test_no_argument_is_ignored(args: Any, named: Any, inputs: Any, parts: List[str]) -> None:
    with pytest.raises(TypeError) as raised:
        ra.run(BOTH, *args, inputs=inputs, seed=0, **named)
    assert isinstance(raised.value, ra.ArgumentError)
    assert all(part in str(raised.value) for part in parts), str(raised.value)


def test_options_are_checked() -> None:
    with pytest.raises(TypeError, match="has no value"):
        ra.run(BOTH, x=[1, 2])
    with pytest.raises(TypeError, match="the function has none"):
        ra.run("def @main() { 1 }", 3)
    with pytest.raises(ra.RunError, match="-1"):
        ra.run(BOTH, seed=-1)
    # The name of a parameter may be that of an option.
    assert ra.run("def @main(%seed: int32) { %seed }", inputs={"seed": 3}) == 3


@pytest.mark.parametrize(
    "x, n, wanted",
    [
        ([1, 2], 3, [1, 2]),
        ((1, 2.5), True, [1, 2.5]),
        (2, 3.0, [2, 2]),
        ([float("nan"), float("-inf")], -128, [np.nan, -np.inf]),
        ([np.float32(1), np.float32(2)], np.int8(1), [1, 2]),
        (np.ones(2, "float32"), np.array(2, "int8"), [1, 1]),
    ],
)
def test_numbers_have_the_type_of_the_parameter(x: Any, n: Any, wanted: Any) -> None:
    found, number = ra.run(BOTH, x=x, n=n)
    assert found.dtype == np.float32 and number.dtype == np.int8 and number == n
    np.testing.assert_array_equal(found, np.array(wanted, "float32"))


@pytest.mark.parametrize(
    "x, n, part",
    [
        ([1, 2], 2.5, "`2.5` is not a valid int8"),
        ([1, 2], 200, "the range is -128 to 127"),
        ([1, 2], float("nan"), "`nan` is not a valid int8"),
        ([1e39, 2], 1, "out of its range"),
        ([1, 2, 3], 1, r"Tensor\[\(3\), float32\]"),
        ([[1], 2], 1, "different lengths"),
        (np.ones(2), 1, "float64"),
        (np.float64(1), 1, "float64"),
        ({"a": 1}, 1, "objects"),
        (["a", "b"], 1, "not a number"),
        (None, 1, "objects"),
    ],
)
def test_nothing_is_converted_with_a_loss(x: Any, n: Any, part: str) -> None:
    with pytest.raises(TypeError, match=part) as raised:
        ra.run(BOTH, x=x, n=n)
    assert "0.npy" not in str(raised.value)


def test_lists_that_contain_themselves() -> None:
    endless: List[Any] = []
    endless.append(endless)
    with pytest.raises(TypeError, match="`x`"):
        ra.run(BOTH, x=endless, n=1)


def test_tuples_and_results_are_arguments() -> None:
    given: List[Any] = [
        ([1, 2], (3, True)),
        [[1, 2], [3, True]],
        (np.array([1, 2], "float32"), (np.int8(3), np.array(True))),
    ]
    for value in given:
        tensor, (number, flag) = ra.run(PAIR, t=value)
        np.testing.assert_array_equal(tensor, [1, 2])
        assert number == 3 and number.dtype == np.int8 and flag.dtype == bool and flag
    tensor, (number, flag) = ra.run(PAIR, [1, 2], 3, True)
    assert number == 3 and flag
    listed = ra.run(LIST, l=[1, 2])
    assert str(listed) == "Cons(1, Cons(2, Nil))"
    assert str(ra.run(LIST, l=listed)) == str(listed)
    held = ra.run("def @main(%x: Tensor[(2), float32]) { ref(%x) }", x=[1, 2])
    read = ra.run("def @main(%r: ref(Tensor[(2), float32])) { ref_read(%r) }", r=held)
    np.testing.assert_array_equal(read, [1, 2])


def test_messages_name_no_file_of_ours(dense: str) -> None:
    x, w = np.zeros((2, 3), "int64"), np.zeros((4, 3), "float32")
    with pytest.raises(ra.RunError) as raised:
        ra.run(dense, x=x, w=w)
    assert "inputs.npz" not in str(raised.value) and "int64" in str(raised.value)
