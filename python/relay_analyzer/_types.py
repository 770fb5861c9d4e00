"""Types of expressions and variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, List, Optional, Sequence, Union, overload

from . import _html
from ._source import Offsets, Source

if TYPE_CHECKING:
    from . import _protocol


@dataclass(frozen=True)
class TypeAt:
    """The type of an expression, parameter or variable.

    ``start`` and ``end`` are indices into the text; ``line`` and ``column`` count from 1.
    """

    text: str
    type: str
    start: int
    end: int
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.text}: {self.type}"


class Types(Sequence[TypeAt]):
    """The types of a module in the order of its text."""

    def __init__(self, listed: Sequence[TypeAt], source: Source) -> None:
        self._listed = tuple(listed)
        self.text = source.text
        self.path = source.name

    def __len__(self) -> int:
        return len(self._listed)

    @overload
    def __getitem__(self, index: int) -> TypeAt: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TypeAt]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[TypeAt, Sequence[TypeAt]]:
        return self._listed[index]

    def variables(self) -> Dict[str, List[str]]:
        """Returns the types of each variable; several if functions share the name."""
        found: Dict[str, List[str]] = {}
        for one in self:
            if one.text.startswith("%") and " " not in one.text:
                known = found.setdefault(one.text, [])
                if one.type not in known:
                    known.append(one.type)
        # The range of a call may begin and end like that of a variable, as in `%f(%x)`.
        return {name: types for name, types in found.items() if "(" not in name}

    def of(self, name: str) -> str:
        """Returns the type of a variable, such as ``%x``."""
        wanted = name if name.startswith("%") else f"%{name}"
        variables = self.variables()
        types = variables.get(wanted)
        if types is None:
            known = ", ".join(list(variables)[:20])
            raise LookupError(f"{self.path} has no typed variable `{wanted}`: there are {known}")
        if len(types) > 1:
            raise LookupError(
                f"`{wanted}` has several types in {self.path}: {'; '.join(types)}. Select one "
                "with `at(line, column)`"
            )
        return types[0]

    def at(self, line: int, column: int) -> Optional[TypeAt]:
        """Returns the innermost typed expression at a place, both numbers from 1."""
        lines = self.text.split("\n")
        if not 1 <= line <= len(lines):
            return None
        index = sum(len(before) + 1 for before in lines[: line - 1]) + column - 1
        around = [one for one in self if one.start <= index < one.end]
        return min(around, key=lambda one: one.end - one.start, default=None)

    def __str__(self) -> str:
        return "\n".join(str(one) for one in self)

    def __repr__(self) -> str:
        return f"<Types of {self.path}: {len(self)}>"

    def _repr_html_(self) -> str:
        rows = [
            (
                f"{one.line}:{one.column}",
                f"<code>{_html.escape(_short(one.text))}</code>",
                f"<code>{_html.escape(one.type)}</code>",
            )
            for one in self[: _html.MAX_ROWS]
        ]
        table = _html.table(("", "expression", "type"), rows, (0,))
        return _html.page(table + _html.more(len(self), "types"))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:79]}…"


def parse_types(listed: List[_protocol.TypedRange], source: Source) -> Types:
    """Parses types from the output of the program."""
    offsets = Offsets(source.text)

    def one(shown: _protocol.TypedRange) -> TypeAt:
        start, end = offsets.index(shown["start"]), offsets.index(shown["end"])
        line, column = offsets.place(start)
        return TypeAt(source.text[start:end], shown["type"], start, end, line, column)

    return Types([one(shown) for shown in listed], source)
