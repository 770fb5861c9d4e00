"""The functions of the package."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, List, Literal, Optional, Tuple

from . import _binary, _html
from ._errors import RelayError, SourceError
from ._diagnostics import Diagnostics, parse_diagnostics
from ._shapes import Shapes, parse_functions
from ._source import Module, Offsets, Source, source
from ._types import Types, parse_types

if TYPE_CHECKING:
    from . import _protocol

_STYLES = ("tvm", "reading")


def _batch(given: Source, *, tvm: bool, extra: Tuple[str, ...] = ()) -> _protocol.CheckedText:
    """Checks one text, and returns the line of ``check --batch``."""
    request = json.dumps({"id": 0, "text": given.text, "path": given.name})
    strict = ("--tvm",) if tvm else ()
    done = _binary.run(["check", "--batch", "--rendered", *strict, *extra], request + "\n")
    try:
        answer: _protocol.BatchAnswer = json.loads(done.out)
    except ValueError as error:
        raise RelayError(_binary.message(done), code="binary-failed") from error
    if "error" in answer:
        raise RelayError(answer["error"], code="internal-error", path=given.name)
    return answer


def check(mod: Module, *, tvm: bool = False) -> Diagnostics:
    """Checks a module: text, a path, or an object with ``astext()``.

    With ``tvm``, whatever TVM rejects is an error. Errors in the module are diagnostics, not exceptions.
    """
    given = source(mod)
    return parse_diagnostics(_batch(given, tvm=tvm)["diagnostics"], given)


def types(mod: Module, *, partial: bool = False) -> Types:
    """Returns the type of every expression, parameter and variable.

    Raises :class:`ModuleError` for a module with errors, unless ``partial``.
    """
    given = source(mod)
    answer = _batch(given, tvm=False, extra=("--types",))
    if not partial:
        parse_diagnostics(answer["diagnostics"], given).raise_for_errors("cannot type the module")
    return parse_types(answer["types"], given)


def shapes(mod: Module, *, function: Optional[str] = None, partial: bool = False) -> Shapes:
    """Returns shapes, parameters, multiply-accumulates and memory, call by call.

    Raises :class:`ModuleError` for a module with errors, unless ``partial``.
    """
    given = source(mod)
    if not partial:
        check(given).raise_for_errors("cannot report the shapes")
    only = [] if function is None else [f"--function={function}"]
    done = _binary.run(["shapes", "--format", "json", *only, "-"], given.text)
    if not done.out.strip():
        problem = _binary.message(done)
        if problem.startswith("-: "):
            problem = f"{given.name}: {problem[3:]}"
        raise RelayError(problem, code="cannot-report", path=given.name)
    table = _binary.run(["shapes", *only, "-"], given.text).out
    document: _protocol.ShapesDocument = json.loads(done.out)
    functions = parse_functions(document["functions"], given.text)
    return Shapes(functions, given.name, table.rstrip("\n"), given.text)


def fmt(mod: Module, *, style: Literal["tvm", "reading"] = "tvm") -> str:
    """Formats the text as TVM prints it, or for ``reading``. Only white space changes.

    Raises :class:`ParseError` for text that does not parse.
    """
    if style not in _STYLES:
        raise ValueError(f"unknown style {style!r}: expected 'tvm' or 'reading'")
    given = source(mod)
    done = _binary.run(["fmt", "--style", style, "-"], given.text)
    if done.code != 0:
        check(given).raise_for_syntax("cannot format the module")
        raise SourceError(_binary.message(done), code="unreadable", path=given.name)
    return done.out


@dataclass(frozen=True)
class Shown:
    """A module for display in a notebook: colours, types on hover, diagnostics, shapes, a picture.

    ``str`` is the text with its diagnostics.
    """

    text: str
    diagnostics: Diagnostics
    shapes: Optional[Shapes]
    _tokens: List[Tuple[int, int, str]] = field(repr=False)
    _types: List[Tuple[int, int, str]] = field(repr=False)

    def __str__(self) -> str:
        return f"{self.text.rstrip()}\n\n{self.diagnostics}"

    def _repr_html_(self) -> str:
        marks = [
            (one.start, one.end, one.severity, f"{one.code}: {one.message}")
            for one in self.diagnostics
        ]
        parts = [
            _html.code(self.text, self._tokens, self._types, marks),
            self.diagnostics.list_html(),
        ]
        if self.shapes:
            parts.append(self.shapes.report_html())
        return _html.page("".join(parts))


def show(mod: Module, *, tvm: bool = False) -> Shown:
    """Returns the module for display. If it has errors, shapes are omitted."""
    given = source(mod)
    answer = _batch(given, tvm=tvm, extra=("--types", "--tokens"))
    offsets = Offsets(given.text)
    index = offsets.index
    found = parse_diagnostics(answer["diagnostics"], given)
    report: Optional[Shapes] = None
    if found.ok:
        report = shapes(given, partial=True)
    # The metadata section only has weights.
    section = given.text.find("\n#[metadata]")
    text = given.text if section < 0 else given.text[: section + 1]
    return Shown(
        text,
        found,
        report,
        [(index(start), index(end), kind) for start, end, kind in answer["tokens"]],
        [(index(one["start"]), index(one["end"]), one["type"]) for one in answer["types"]],
    )
