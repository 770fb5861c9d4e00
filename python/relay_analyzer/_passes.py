"""Pass logs."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Dict, Optional, Sequence, Tuple, Union, overload

from . import _binary, _html
from ._diff import Diff, diff
from ._errors import SourceError


@dataclass(frozen=True)
class Pass:
    """A module of a log, and the changes of its pass."""

    index: int
    name: Optional[str]
    #: The line of the log where the module begins, from 1.
    line: int
    #: The functions that differ from the previous module.
    changed: Tuple[str, ...]
    #: The number of functions.
    functions: int
    #: True if the module was printed before the pass.
    is_before: bool
    #: True if the output ends in the middle of the module.
    is_cut: bool
    #: Calls, parameters, multiply-accumulates and peak memory, if requested.
    cost: Optional[Dict[str, Any]]
    text: str = field(repr=False)

    def astext(self) -> str:
        """The text of the module."""
        return self.text


class Passes(Sequence[Pass]):
    """The modules of a log in order."""

    def __init__(self, entries: Sequence[Pass], path: str, table: str) -> None:
        self._entries = tuple(entries)
        self.path = path
        self._table = table

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> Pass: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Pass]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Pass, Sequence[Pass]]:
        return self._entries[index]

    def named(self, name: str) -> Pass:
        """Returns the last module of a pass."""
        for entry in reversed(self):
            if entry.name == name:
                return entry
        known = ", ".join(dict.fromkeys(entry.name for entry in self if entry.name))
        raise LookupError(f"{self.path} has no pass `{name}`: there are {known or 'no names'}")

    def diff(self, before: int, after: int) -> Diff:
        """Compares two modules of the log."""
        return diff(self[before], self[after])

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        return f"<Passes of {self.path}: {len(self)}>"

    def _repr_html_(self) -> str:
        return _html.page(_html.passes(self))


def passes(log: Union[str, "os.PathLike[str]", Any], *, costs: bool = False) -> Passes:
    """Reads a pass log: text, a path, or a :class:`PassInstrument`.

    ``costs`` adds calls, parameters, multiply-accumulates and memory of each module.
    """
    data, name = _log(log)
    extra = ["--costs"] if costs else []
    done = _binary.run(["passes", "--format", "json", *extra, "-"], data.decode("utf-8"))
    if done.code != 0:
        raise SourceError(_binary.message(done).replace("`-`", f"`{name}`"), code="no-modules", path=name)
    table = _binary.run(["passes", *extra, "-"], data.decode("utf-8")).out
    entries = [
        Pass(
            index=shown["index"],
            name=shown["pass"],
            line=shown["line"],
            changed=tuple(shown["changed"]),
            functions=shown["functions"],
            is_before=shown.get("before", False),
            is_cut=shown.get("cut", False),
            cost=shown.get("cost"),
            text=data[shown["start"] : shown["end"]].decode("utf-8"),
        )
        for shown in json.loads(done.out)["modules"]
    ]
    return Passes(entries, name, table.rstrip("\n"))


def _log(log: Any) -> Tuple[bytes, str]:
    if hasattr(log, "log_path"):
        log = log.log_path
    is_path = isinstance(log, os.PathLike) or (
        isinstance(log, str) and "\n" not in log and log.strip() != ""
    )
    if is_path:
        path = os.fspath(log)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            raise SourceError(
                f"cannot read the log `{path}`: {error.strerror or error}",
                code="unreadable",
                path=path,
            ) from error
        # Other output between the modules of a log may have any encoding.
        return data.decode("utf-8", "replace").encode("utf-8"), path
    if isinstance(log, str):
        return log.encode("utf-8", "replace"), "<log>"
    raise SourceError(
        f"`{type(log).__name__}` is not a log: pass its text, a path or a `PassInstrument`",
        code="not-a-log",
    )
