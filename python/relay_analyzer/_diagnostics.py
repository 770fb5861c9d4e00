"""Diagnostics in a module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Iterator, List, Literal, Optional, Sequence, Tuple, Union, overload

from . import _html
from ._errors import RelayError
from ._source import Offsets, Source

if TYPE_CHECKING:
    from . import _protocol

#: The largest number of diagnostics that a notebook shows.
MAX_SHOWN = 100

#: How serious a diagnostic is.
Severity = Literal["error", "warning", "info", "hint"]

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
    """A place that a diagnostic refers to."""

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
    """The edits that fix a diagnostic."""

    title: str
    edits: Tuple[Edit, ...]


@dataclass(frozen=True)
class Diagnostic:
    """An error, warning, info or hint.

    ``start`` and ``end`` are indices into the text of the module; ``line`` and ``column`` count
    from 1, in characters. ``str`` is the excerpt with marks.
    """

    code: str
    severity: Severity
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
        return _html.page(self.excerpt_html())

    def excerpt_html(self) -> str:
        """The excerpt as HTML."""
        severity, text = _html.escape(self.severity), _html.escape(self)
        return f'<pre class="ra-excerpt ra-s-{severity}">{text}</pre>'


class ModuleError(RelayError, ValueError):
    """The module has errors, and the result would be wrong or missing.

    ``diagnostics`` are its errors. ``code``, ``line`` and ``column`` are those of the first.
    """

    def __init__(self, what: str, diagnostics: Sequence[Diagnostic]) -> None:
        first = diagnostics[0]
        count = len(diagnostics)
        shown = "\n\n".join(str(diagnostic) for diagnostic in diagnostics[:5])
        more = "" if count <= 5 else f"\n\n… and {count - 5} more"
        found = "1 error" if count == 1 else f"{count} errors"
        super().__init__(
            f"{what}: the module has {found}\n\n{shown}{more}",
            code=first.code,
            path=first.path,
            line=first.line,
            column=first.column,
        )
        self.diagnostics = tuple(diagnostics)


class ParseError(ModuleError):
    """The text has syntax errors."""


class Diagnostics(Sequence[Diagnostic]):
    """The diagnostics of a module in the order of its text."""

    def __init__(self, found: Sequence[Diagnostic], source: Source) -> None:
        self._found = tuple(found)
        #: The text that was checked.
        self.text = source.text
        #: The name of the module in messages.
        self.path = source.name

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Diagnostic: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Diagnostic]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Diagnostic, Sequence[Diagnostic]]:
        return self._found[index]

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Diagnostics) and self._found == other._found

    def __hash__(self) -> int:
        return hash(self._found)

    @property
    def errors(self) -> List[Diagnostic]:
        """The errors."""
        return [diagnostic for diagnostic in self if diagnostic.severity == "error"]

    @property
    def ok(self) -> bool:
        """True if there are no errors."""
        return not self.errors

    def raise_for_errors(self, what: str = "cannot use the module") -> None:
        """Raises :class:`ModuleError`, or :class:`ParseError`, if there are errors."""
        errors = self.errors
        syntax = [diagnostic for diagnostic in errors if diagnostic.code in _SYNTAX]
        if syntax:
            raise ParseError(what, syntax)
        if errors:
            raise ModuleError(what, errors)

    def raise_for_syntax(self, what: str) -> None:
        """Raises :class:`ParseError` if the text has syntax errors."""
        syntax = [diagnostic for diagnostic in self.errors if diagnostic.code in _SYNTAX]
        if syntax:
            raise ParseError(what, syntax)

    def summary(self) -> str:
        """Returns the counts, as in ``1 error, 2 hints``."""
        counted = []
        for severity in ("error", "warning", "info", "hint"):
            count = sum(diagnostic.severity == severity for diagnostic in self)
            if count:
                counted.append(f"{count} {severity}{'' if count == 1 else 's'}")
        return ", ".join(counted) or "no errors"

    def __str__(self) -> str:
        shown = [str(diagnostic) for diagnostic in self if diagnostic.severity != "hint"]
        return "\n\n".join([*shown, f"{self.path}: {self.summary()}"])

    def __repr__(self) -> str:
        return f"<Diagnostics of {self.path}: {self.summary()}>"

    def _repr_html_(self) -> str:
        return _html.page(self.list_html())

    def list_html(self) -> str:
        """The diagnostics except hints, and the counts, as HTML."""
        shown = [one for one in self if one.severity != "hint"]
        parts = [one.excerpt_html() for one in shown[:MAX_SHOWN]]
        if len(shown) > MAX_SHOWN:
            parts.append(f'<p class="ra-dim">… and {len(shown) - MAX_SHOWN} more</p>')
        parts.append(f"<p>{_html.escape(self.path)}: {_html.escape(self.summary())}</p>")
        return "".join(parts)


def parse_diagnostics(listed: List[_protocol.Diagnostic], source: Source) -> Diagnostics:
    """Parses diagnostics from the output of the program."""
    offsets = Offsets(source.text)

    def edit(shown: _protocol.Edit) -> Edit:
        return Edit(offsets.index(shown["start"]), offsets.index(shown["end"]), shown["text"])

    def related(shown: _protocol.RelatedPlace) -> Related:
        start, end = offsets.index(shown["start"]), offsets.index(shown["end"])
        return Related(shown["message"], start, end, *offsets.place(start))

    def diagnostic(shown: _protocol.Diagnostic) -> Diagnostic:
        start, end = offsets.index(shown["start"]), offsets.index(shown["end"])
        line, column = offsets.place(start)
        return Diagnostic(
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

    return Diagnostics([diagnostic(shown) for shown in listed], source)
