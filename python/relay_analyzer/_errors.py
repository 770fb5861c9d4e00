"""The exceptions of the package, each with a code and, if known, a place."""

from __future__ import annotations

from typing import Optional, Sequence


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


class ArgumentError(RunError, TypeError):
    """An argument of a run does not fit its parameter, or no parameter takes it."""
