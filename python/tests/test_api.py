"""The functions of the package, and their errors for bad input."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import pytest

import relay_analyzer as ra

BROKEN = "def @f(%x: int32) { /* ä𝄞 */ %y }\n"


class Printable:
    """An object that prints itself, like a TVM module."""

    def __init__(self, text: Any) -> None:
        self.text = text

    def astext(self) -> Any:
        return self.text


def test_diagnostics_have_places_in_characters() -> None:
    found = ra.check(BROKEN)
    (error,) = found.errors
    assert (error.code, error.severity, error.line) == ("unknown-variable", "error", 1)
    assert BROKEN[error.start : error.end] == "%y"
    assert error.column == BROKEN.index("%y") + 1
    assert "error[unknown-variable]" in str(error) and "<text>:1:" in str(error)
    assert not found.ok and "1 error" in repr(found)
    with pytest.raises(ra.ModuleError) as caught:
        found.raise_for_errors()
    assert (caught.value.code, caught.value.line) == ("unknown-variable", 1)


def test_fixes_and_related_places(examples: Path) -> None:
    (error,) = ra.check(examples / "broken-attention.relay").errors
    text = (examples / "broken-attention.relay").read_text()
    assert error.code == "shape-mismatch"
    assert "newshape" in error.related[0].message
    assert text[error.related[0].start : error.related[0].end].startswith("[128")
    old = "def @main(%x: Tensor[(1, 2), float32]) { nn.relu(%x) }"
    fixes = [fix for diagnostic in ra.check(old) for fix in diagnostic.fixes]
    assert any(edit.text.startswith("#[version") for fix in fixes for edit in fix.edits)


def test_tvm_mode_is_stricter() -> None:
    text = "def @main(%x: int32) { %x }"
    assert ra.check(text).ok
    assert not ra.check(text, tvm=True).ok


def test_modules_are_text_paths_and_objects(dense: str, tmp_path: Path) -> None:
    path = tmp_path / "ä b.relay"
    path.write_bytes(dense.encode())
    types = [ra.types(given).of("x") for given in (dense, path, str(path), Printable(dense))]
    assert types == ["Tensor[(2, 3), float32]"] * 4
    assert ra.check(Printable("def @f() { %y }")).errors[0].path == "<Printable>"


def test_types(dense: str) -> None:
    types = ra.types(dense)
    at = types.at(3, dense.splitlines()[2].index("%x") + 1)
    assert at is not None and (at.text, at.type) == ("%x", "Tensor[(2, 3), float32]")
    assert types.at(99, 1) is None
    with pytest.raises(LookupError, match="%nix"):
        types.of("nix")
    two = "def @f(%x: int32) { %x }\ndef @g(%x: bool) { %x }"
    with pytest.raises(LookupError, match="several types"):
        ra.types(two).of("%x")


def test_shapes(dense: str) -> None:
    report = ra.shapes(dense)
    function = report.function()
    call = function.calls[0]
    assert (call.operator, call.shape, call.macs, call.parameters) == ("nn.dense", (2, 4), 24, 12)
    assert function.result_types == ("Tensor[(2, 4), float32]", "bool")
    assert function.total.calls == 2 and "nn.dense" in str(report)
    with pytest.raises(LookupError, match="@main"):
        report.function("nix")


def test_small_functions_of_a_fused_module_have_one_line_each() -> None:
    def module(count: int) -> str:
        lines = ["def @main(%x: Tensor[(1, 4), float32]) {"]
        for k in range(count):
            body = f"{{ tanh(nn.relu(%p{k})) }};"
            lines.append(f"  %{2 * k} = fn (%p{k}: Tensor[(1, 4), float32], Primitive=1) {body}")
            lines.append(f"  %{2 * k + 1} = %{2 * k}({f'%{2 * k - 1}' if k else '%x'});")
        return "\n".join([*lines, f"  %{2 * count - 1}", "}"])

    report = ra.shapes(module(30))
    table = str(report)
    assert table.count("total:") == 1 and "\n30 small functions that these call\n" in table
    assert table.count("nn.relu, tanh") == 30
    assert len(report.function("@main").calls) == 30
    # A few of them have tables.
    assert str(ra.shapes(module(3))).count("total:") == 4


def test_fmt() -> None:
    assert ra.fmt("def @main(%x:   int32) { %x }") == "def @main(%x: int32) {\n  %x\n}\n"
    with pytest.raises(ra.ParseError) as caught:
        ra.fmt("def @main( {")
    assert (caught.value.code, caught.value.line, caught.value.column) == ("syntax-error", 1, 12)
    with pytest.raises(ValueError, match="reading"):
        ra.fmt("1", style="pretty")  # type: ignore[arg-type]


def test_diff(dense: str) -> None:
    assert ra.diff(dense, dense.replace("%y", "%other")).equal
    found = ra.diff(dense, dense.replace("nn.relu", "tanh"))
    assert not found.equal and found.changed == ["@main"]
    assert "nn.relu" in str(found) and "tanh" in str(found)
    with pytest.raises(ra.RelayError, match="@nix"):
        ra.diff(dense, dense, function="@nix")


def test_diffs_have_the_paths_of_files(tmp_path: Path, dense: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = dense.replace("nn.relu", "tanh")
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "old.relay").write_text(dense)
    (tmp_path / "-new.relay").write_text(changed)
    monkeypatch.chdir(tmp_path)
    both = ra.diff(Path("net", "old.relay"), "-new.relay")
    old = os.path.join("net", "old.relay")
    assert both.changed == ["@main"]
    assert f"`{old}` → `-new.relay`" in str(both)
    one = ra.diff(Path("net", "old.relay"), changed)
    assert f"`{tmp_path / old}` → `after.relay`" in str(one)


def test_diff_of_modules_in_a_log(tmp_path: Path, dense: str) -> None:
    log = tmp_path / "run.log"
    changed = dense.replace("nn.relu", "tanh")
    log.write_text(f"PrintIR(after One):\n{dense}\nPrintIR(after Two):\n{changed}\n")
    assert ra.diff(f"{log}#0", f"{log}#Two").changed == ["@main"]
    with pytest.raises(ra.SourceError, match="One, Two"):
        ra.check(f"{log}#Three")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (3, "an object with `astext"),
        (None, "`NoneType` is not a module"),
        (b"def", "decode"),
        ((Printable("1"), {}), "pass `mod`"),
        (Printable(7), "returned `int`"),
        ("\udc80", "surrogate"),
        ("missing.relay", "No such file"),
    ],
)
def test_what_is_no_module(given: Any, says: str) -> None:
    for function in (ra.check, ra.types, ra.shapes, ra.fmt, ra.show):
        with pytest.raises(ra.SourceError, match=says):
            function(given)


def test_a_missing_file_is_one_error(tmp_path: Path) -> None:
    for call in (ra.check, ra.passes):
        with pytest.raises(ra.SourceError, match="No such file") as caught:
            call(tmp_path / "missing.relay")
        assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_the_version_is_that_of_the_program() -> None:
    printed = subprocess.run([ra.find_binary(), "--version"], stdout=subprocess.PIPE, check=True).stdout
    assert printed.decode().split() == ["relay-analyzer", ra.__version__]
    assert not hasattr(ra, "__nix__")


def test_files_that_are_no_text(tmp_path: Path) -> None:
    latin = tmp_path / "latin.relay"
    latin.write_bytes(b"// \xe4\ndef @main() { 1 }")
    with pytest.raises(ra.SourceError, match="byte 3 is 0xe4"):
        ra.check(latin)
    saved = tmp_path / "bad.json"
    saved.write_text("{}")
    with pytest.raises(ra.SourceError):
        ra.check(saved)


@pytest.mark.parametrize("function", [ra.types, ra.shapes])
def test_modules_with_errors(function: Callable[..., Any]) -> None:
    with pytest.raises(ra.ModuleError, match="there is no variable `%y`"):
        function(BROKEN)
    assert function("def @g(%z: int32) { negative(%z) }\n" + BROKEN, partial=True)


def test_a_missing_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from relay_analyzer import _binary

    monkeypatch.setenv("RELAY_ANALYZER", str(tmp_path / "none"))
    with pytest.raises(ra.BinaryError, match="which is not a file") as named:
        ra.check("1")
    assert named.value.code == "binary-missing"
    monkeypatch.delenv("RELAY_ANALYZER")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_binary, "_folders", lambda: [tmp_path])
    with pytest.raises(ra.BinaryError, match="pip install --force-reinstall relay-analyzer.*reinstall ./python"):
        ra.check("1")


@pytest.mark.skipif(os.name == "nt", reason="a script of sh")
def test_programs_that_fail(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def program(text: str) -> None:
        path = tmp_path / "relay-analyzer"
        path.write_text(text)
        path.chmod(0o755)
        monkeypatch.setenv("RELAY_ANALYZER", str(path))

    program("#!/bin/sh\necho \"error: unexpected argument '--rendered' found\" >&2; exit 2\n")
    with pytest.raises(ra.BinaryError, match="older than this package"):
        ra.check("1")
    program("#!/bin/sh\necho gone >&2; exit 101\n")
    with pytest.raises(ra.BinaryError, match="ended with 101: gone"):
        ra.check("1")
    program("not a program")
    with pytest.raises(ra.BinaryError, match="another platform"):
        ra.check("1")


def test_an_old_python_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(ra.__file__)
    # The oldest grammar that this Python supports.
    ast.parse(path.read_text(), feature_version=(3, 7))
    monkeypatch.setattr(sys, "version_info", (3, 6, 9, "final", 0))
    with pytest.raises(ImportError, match="3.8 or newer, and this is Python 3.6"):
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "relay_analyzer"})


def test_sources_are_of_python_3_8() -> None:
    for path in Path(ra.__file__).parent.glob("*.py"):
        ast.parse(path.read_text(), feature_version=(3, 8))


def test_the_module_is_the_program() -> None:
    command = [sys.executable, "-m", "relay_analyzer", "--version"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    assert done.stdout.startswith(b"relay-analyzer ")


def test_types_are_strict() -> None:
    pytest.importorskip("mypy")
    package = Path(ra.__file__).parent
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, str(package)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout.decode()
