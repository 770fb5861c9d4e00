"""Pass logs."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, Tuple, Union, overload

from . import _binary, _html, _log
from ._diff import Diff, diff

if TYPE_CHECKING:
    from . import _protocol


@dataclass(frozen=True)
class Pass:
    """A module of a log, and the changes of its pass."""

    index: int
    name: Optional[str]
    #: The names of the passes that ran inside this one.
    nested: Tuple[str, ...]
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
    #: The numbers of calls, parameters (``params``) and multiply-accumulates (``macs``), the bytes of peak memory
    #: (``peak``), and the name of the ``function``, if requested. A number is ``None`` if it depends on unknown sizes.
    cost: Optional[Dict[str, Union[int, str, None]]]
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
        rows = []
        for entry in self[: _html.MAX_ROWS]:
            name = _html.escape(entry.name or "-")
            changed = ", ".join(_html.escape(one) for one in entry.changed[:4])
            if len(entry.changed) > 4:
                changed += f" and {len(entry.changed) - 4} more"
            if entry.index > 0 and not entry.changed:
                name, changed = f'<span class="ra-dim">{name}</span>', '<span class="ra-dim">nothing</span>'
            notes = " (printed before the pass)" if entry.is_before else ""
            notes += " (cut off)" if entry.is_cut else ""
            rows.append((str(entry.index), name, str(entry.functions), changed + notes))
            rows.extend(
                ("", f'<span class="ra-dim">&emsp;{_html.escape(one)}</span>', "", "") for one in entry.nested
            )
        table = _html.table(("#", "pass", "functions", "changed"), rows, (0, 2))
        return _html.page(table + _html.more(len(self), "modules"))


def passes(log: Union[str, "os.PathLike[str]", Any], *, costs: bool = False) -> Passes:
    """Reads a pass log: text, a path, or a :class:`PassInstrument`.

    ``costs`` adds calls, parameters, multiply-accumulates and memory of each module.
    """
    data, name = _log.read(log)
    extra = ["--costs"] if costs else []
    listed = _log.modules(data, name, extra)
    table = _binary.run(["passes", *extra, "-"], data.decode("utf-8")).out
    entries = [
        Pass(
            index=shown["index"],
            name=shown["pass"],
            nested=tuple(shown.get("nested", ())),
            line=shown["line"],
            changed=tuple(shown["changed"]),
            functions=shown["functions"],
            is_before=shown.get("before", False),
            is_cut=shown.get("cut", False),
            cost=_cost(shown.get("cost")),
            text=_log.text(data, shown),
        )
        for shown in listed
    ]
    return Passes(entries, name, table.rstrip("\n"))


def _cost(shown: Optional[_protocol.Cost]) -> Optional[Dict[str, Union[int, str, None]]]:
    """The numbers of a cost, each of which the program writes with a text."""
    if shown is None:
        return None
    return {
        "function": shown["function"],
        "calls": shown["calls"]["value"],
        "params": shown["params"]["value"],
        "macs": shown["macs"]["value"],
        "peak": shown["peak"]["value"],
    }
