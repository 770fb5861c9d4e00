"""Findings in a module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union, overload

from . import _html
from ._errors import ModuleError, ParseError
from ._source import Offsets, Source

_SYNTAX = {
    "not-text",
    "syntax-error",
    "unclosed-comment",
    "unclosed-string",
    "unknown-character",
    "nested-too-deep",
}


@dataclass(frozen=True)
class Related:
    """A place that a finding refers to."""

    message: str
    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True)
class Edit:
    """A replacement of ``text[start:end]``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Fix:
    """The edits that fix a finding."""

    title: str
    edits: Tuple[Edit, ...]


@dataclass(frozen=True)
class Finding:
    """An error, warning, remark or hint.

    ``start`` and ``end`` are indices into the text of the module; ``line`` and ``column`` count
    from 1, in characters. ``str`` is the excerpt with marks.
    """

    code: str
    severity: str
    message: str
    start: int
    end: int
    line: int
    column: int
    path: str
    related: Tuple[Related, ...] = ()
    help: Optional[str] = None
    fixes: Tuple[Fix, ...] = ()
    rendered: str = ""

    def __str__(self) -> str:
        return self.rendered or f"{self.path}:{self.line}:{self.column}: {self.message}"

    def _repr_html_(self) -> str:
        return _html.page(_html.finding(self))


class Findings(Sequence[Finding]):
    """The findings of a module in the order of its text."""

    def __init__(self, found: Sequence[Finding], source: Source) -> None:
        self._found = tuple(found)
        #: The text that was checked.
        self.text = source.text
        #: The name of the module in messages.
        self.path = source.name

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Finding, Sequence[Finding]]:
        return self._found[index]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Findings) and self._found == other._found

    def __hash__(self) -> int:
        return hash(self._found)

    @property
    def errors(self) -> List[Finding]:
        """The errors."""
        return [finding for finding in self if finding.severity == "error"]

    @property
    def ok(self) -> bool:
        """True if there are no errors."""
        return not self.errors

    def raise_for_errors(self, what: str = "cannot use the module") -> None:
        """Raises :class:`ModuleError`, or :class:`ParseError`, if there are errors."""
        errors = self.errors
        syntax = [finding for finding in errors if finding.code in _SYNTAX]
        if syntax:
            raise ParseError(what, syntax)
        if errors:
            raise ModuleError(what, errors)

    def raise_for_syntax(self, what: str) -> None:
        """Raises :class:`ParseError` if the text has syntax errors."""
        syntax = [finding for finding in self.errors if finding.code in _SYNTAX]
        if syntax:
            raise ParseError(what, syntax)

    def summary(self) -> str:
        """Returns the counts, as in ``1 error, 2 hints``."""
        words = {"error": "error", "warning": "warning", "info": "remark", "hint": "hint"}
        counted = []
        for severity, word in words.items():
            count = sum(finding.severity == severity for finding in self)
            if count:
                counted.append(f"{count} {word}{'' if count == 1 else 's'}")
        return ", ".join(counted) or "no errors"

    def __str__(self) -> str:
        shown = [str(finding) for finding in self if finding.severity != "hint"]
        return "\n\n".join([*shown, f"{self.path}: {self.summary()}"])

    def __repr__(self) -> str:
        return f"<Findings of {self.path}: {self.summary()}>"

    def _repr_html_(self) -> str:
        return _html.page(_html.findings(self))


def parse_findings(listed: List[Dict[str, Any]], source: Source) -> Findings:
    """Parses findings from the output of the program."""
    offsets = Offsets(source.text)

    def edit(shown: Dict[str, Any]) -> Edit:
        return Edit(offsets.index(shown["start"]), offsets.index(shown["end"]), shown["text"])

    def related(shown: Dict[str, Any]) -> Related:
        start, end = offsets.index(shown["start"]), offsets.index(shown["end"])
        return Related(shown["message"], start, end, *offsets.place(start))

    def finding(shown: Dict[str, Any]) -> Finding:
        start, end = offsets.index(shown["start"]), offsets.index(shown["end"])
        line, column = offsets.place(start)
        return Finding(
            code=shown["code"],
            severity=shown["severity"],
            message=shown["message"],
            start=start,
            end=end,
            line=line,
            column=column,
            path=source.name,
            related=tuple(related(one) for one in shown["related"]),
            help=shown["help"],
            fixes=tuple(
                Fix(fix["title"], tuple(edit(one) for one in fix["edits"]))
                for fix in shown.get("fixes", ())
            ),
            rendered=shown.get("rendered", "").rstrip(),
        )

    return Findings([finding(shown) for shown in listed], source)
