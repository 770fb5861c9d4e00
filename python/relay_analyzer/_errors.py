"""The exceptions of the package, each with a code and, if known, a place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Sequence

if TYPE_CHECKING:
    from ._findings import Finding


class RelayError(Exception):
    """A failure, with its code and place.

    ``line`` and ``column`` count from 1, in characters.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        path: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.path = path
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return self.message


class BinaryError(RelayError):
    """The program ``relay-analyzer`` is missing, too old, or failed."""


class SourceError(RelayError, ValueError):
    """The argument is not a module, or cannot be read."""


class ModuleError(RelayError, ValueError):
    """The module has errors, and the result would be wrong or missing.

    ``findings`` are its errors. ``code``, ``line`` and ``column`` are those of the first.
    """

    def __init__(self, what: str, findings: Sequence[Finding]) -> None:
        first = findings[0]
        count = len(findings)
        shown = "\n\n".join(str(finding) for finding in findings[:5])
        more = "" if count <= 5 else f"\n\n… and {count - 5} more"
        found = "1 error" if count == 1 else f"{count} errors"
        super().__init__(
            f"{what}: the module has {found}\n\n{shown}{more}",
            code=first.code,
            path=first.path,
            line=first.line,
            column=first.column,
        )
        self.findings = tuple(findings)


class ParseError(ModuleError):
    """The text has syntax errors."""


class RunError(RelayError):
    """A run failed. ``trace`` has the calls that led there, innermost first."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        path: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
        help: Optional[str] = None,
        trace: Sequence[str] = (),
    ) -> None:
        whole = message
        if help:
            whole += f"\nhelp: {help}"
        for call in trace:
            whole += f"\n  at {call}"
        super().__init__(whole, code=code, path=path, line=line, column=column)
        self.help = help
        self.trace = tuple(trace)
