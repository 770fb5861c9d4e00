"""Pass logs, and the instrument that writes them."""

import sys
import types
from pathlib import Path
from typing import Any, Callable, List

import pytest

import relay_analyzer as ra

MODULES = [
    "def @main(%x: int32) {\n  add(%x, 1)\n}\n",
    "def @main(%x: int32) {\n  add(%x, 2)\n}\n",
    "def @f(%x: int32) {\n  %x\n}\n",
]


class Printed:
    """A module that prints itself as TVM 0.14 does."""

    def __init__(self, text: str) -> None:
        self.text = text

    def astext(self, show_meta_data: bool = True) -> str:
        return '#[version = "0.0.5"]\n' + self.text + ("#[metadata]\n{}" if show_meta_data else "")


class Context:
    """Runs passes as TVM 0.8 does: a pass on functions ends with ``InferType``, and a container runs others."""

    def __init__(self, instrument: Any) -> None:
        self.instrument = instrument
        instrument.enter_pass_ctx()

    def run(self, name: str, mod: Printed, passes: "List[Callable[[Printed], Printed]]") -> Printed:
        self.instrument.run_before_pass(mod, Info(name))
        for one in passes:
            mod = one(mod)
        self.instrument.run_after_pass(mod, Info(name))
        return mod

    def infer(self, mod: Printed) -> Printed:
        return self.run("InferType", mod, [lambda mod: Printed(mod.text.replace("UNTYPED", "int32"))])

    def function_pass(self, name: str, change: Callable[[str], str]) -> "Callable[[Printed], Printed]":
        return lambda mod: self.run(name, mod, [lambda mod: Printed(change(mod.text)), self.infer])

    def sequential(self, *passes: "Callable[[Printed], Printed]") -> "Callable[[Printed], Printed]":
        return lambda mod: self.run("sequential", mod, list(passes))


class Info:
    """The information of a pass."""

    def __init__(self, name: str) -> None:
        self.name = name


def record(instrument: Any) -> None:
    """Runs passes, one of which changes nothing."""
    last = Printed(MODULES[0])
    steps = [("InferType", MODULES[0]), ("FoldConstant", MODULES[1]), ("Strange/*", MODULES[2])]
    for name, after in steps:
        instrument.run_before_pass(last, Info(name))
        last = Printed(after)
        instrument.run_after_pass(last, Info(name))
    instrument.run_after_pass(object(), Info("tir.Simplify"))


def test_snapshots_are_numbered_and_written_once(tmp_path: Path) -> None:
    instrument = ra.PassInstrument(tmp_path / "run.log")
    record(instrument)
    text = (tmp_path / "run.log").read_text()
    heads = [line for line in text.splitlines() if line.startswith("//")]
    assert heads == [
        "// 0: PrintIR(before InferType):",
        "// 1: PrintIR(after FoldConstant):",
        "// 2: PrintIR(after Strange/*):",
    ]
    assert "#[metadata]" not in text
    log = instrument.passes()
    assert [(one.index, one.name) for one in log] == [
        (0, "InferType"),
        (1, "FoldConstant"),
        (2, "Strange/*"),
    ]
    assert log[0].is_before and log[1].changed == ("@main",)
    assert log.diff(0, 1).changed == ["@main"]
    assert ra.check(log.named("FoldConstant")).ok
    with pytest.raises(LookupError, match="InferType, FoldConstant"):
        log.named("Fuse")
    cost = ra.passes(instrument, costs=True)[1].cost
    assert cost == {"function": "@main", "calls": 1, "params": 0, "macs": 0, "peak": 4}
    assert ra.passes(text)[2].text == log[2].text


def test_a_change_belongs_to_the_outermost_pass(tmp_path: Path) -> None:
    instrument = ra.PassInstrument(tmp_path / "run.log")
    context = Context(instrument)

    def simplify(text: str) -> str:
        return text.replace("%x: int32", "%x: UNTYPED").replace("1)", "2)")

    def other(mod: Printed) -> Printed:
        # A constant is computed by passes over a module of its own.
        context.sequential(context.function_pass("ToANormalForm", str.upper))(Printed("1"))
        return mod

    context.sequential(
        context.infer,
        context.function_pass("SimplifyInference", simplify),
        context.sequential(context.function_pass("FuseOps", lambda text: text.replace("2)", "3)"))),
        lambda mod: context.run("FoldConstant", mod, [other, lambda mod: Printed(mod.text.replace("3)", "4)"))]),
    )(Printed(MODULES[0]))
    # Something else than a pass, such as binding parameters.
    context.sequential(context.infer)(Printed(MODULES[2]))

    log = instrument.passes()
    assert [(one.name, one.is_before, one.nested) for one in log] == [
        ("InferType", True, ()),
        ("SimplifyInference", False, ("InferType",)),
        ("FuseOps", False, ("InferType",)),
        ("FoldConstant", False, ("ToANormalForm", "InferType")),
        ("InferType", True, ()),
    ]
    assert "int32" in log[1].text and "add(%x, 2)" in log[1].text
    assert "// nested" not in log[1].text
    rows = [line.split() for line in str(log).splitlines()]
    assert rows[2][1] == "SimplifyInference" and rows[3] == ["InferType"]
    assert log._repr_html_().count("&emsp;InferType") == 3


def test_a_pass_that_fails_is_not_the_outermost_of_the_next_run(tmp_path: Path) -> None:
    instrument = ra.PassInstrument(tmp_path / "run.log")

    def fail(mod: Printed) -> Printed:
        raise ValueError

    with pytest.raises(ValueError):
        Context(instrument).run("Broken", Printed(MODULES[0]), [fail])
    Context(instrument).function_pass("FuseOps", lambda text: text.replace("1)", "2)"))(Printed(MODULES[0]))
    assert [(one.name, one.is_before) for one in instrument.passes()] == [("Broken", True), ("FuseOps", False)]


def test_it_is_an_instrument_of_tvm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrapped:
        """Like TVM's decorator: an object that forwards to ours."""

        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

    def pass_instrument(cls: Any) -> Any:
        return lambda *args: Wrapped(cls(*args))

    fake = types.ModuleType("tvm.ir.instrument")
    fake.pass_instrument = pass_instrument  # type: ignore[attr-defined]
    for name in ("tvm", "tvm.ir"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "tvm.ir.instrument", fake)
    instrument = ra.PassInstrument(tmp_path / "run.log")
    assert isinstance(instrument, Wrapped)
    record(instrument)
    assert len(ra.passes(instrument)) == 3


def test_bad_logs(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        ra.PassInstrument(tmp_path / "missing" / "run.log")
    (tmp_path / "empty.log").write_text("nothing\n")
    with pytest.raises(ra.SourceError, match="empty.log.* has no modules"):
        ra.passes(tmp_path / "empty.log")
    with pytest.raises(ra.SourceError, match="cannot read the log"):
        ra.passes(tmp_path / "none.log")
    with pytest.raises(ra.SourceError, match="`int` is not a log"):
        ra.passes(3)
