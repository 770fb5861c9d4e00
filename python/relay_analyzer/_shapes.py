"""The shape report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union, overload

from . import _html


@dataclass(frozen=True)
class Input:
    """An argument of a call: the index of a call, or of a parameter or constant."""

    row: Optional[int]
    source: Optional[int]
    variable: Optional[str]


@dataclass(frozen=True)
class Call:
    """A call of an operator or function.

    Counts are ``None`` where a shape is not known. ``shape`` is that of a single tensor.
    """

    binding: Optional[str]
    operator: str
    is_operator: bool
    type: str
    shape: Optional[Tuple[Union[int, str, None], ...]]
    dtype: Optional[str]
    line: int
    column: int
    parameters: Optional[int]
    macs: Optional[int]
    bytes: Optional[int]
    live_bytes: Optional[int]
    span: Optional[str]
    inputs: Tuple[Input, ...]
    attributes: Tuple[Tuple[str, str], ...]


@dataclass(frozen=True)
class Parameter:
    """An input of a function: ``kind`` is ``input``, ``weight`` or ``constant``."""

    name: str
    type: str
    kind: str


@dataclass(frozen=True)
class Total:
    """The totals of a function."""

    calls: int
    parameters: Optional[int]
    parameter_bytes: Optional[int]
    macs: Optional[int]
    peak_bytes: Optional[int]


@dataclass(frozen=True)
class Function:
    """The calls of a function."""

    name: str
    calls: Tuple[Call, ...]
    parameters: Tuple[Parameter, ...]
    results: Tuple[Input, ...]
    total: Total

    @property
    def result_types(self) -> Tuple[Optional[str], ...]:
        """The types of the results that are calls or parameters."""

        def one(result: Input) -> Optional[str]:
            if result.row is not None:
                return self.calls[result.row].type
            if result.source is not None:
                return self.parameters[result.source].type
            return None

        return tuple(one(result) for result in self.results)

    def _repr_html_(self) -> str:
        return _html.page(_html.shape_table(self) + _html.picture(self))


class Shapes(Sequence[Function]):
    """The shape report of a module, function by function. ``str`` is the table."""

    def __init__(self, functions: Sequence[Function], path: str, table: str) -> None:
        self._functions = tuple(functions)
        self.path = path
        self._table = table

    def __len__(self) -> int:
        return len(self._functions)

    @overload
    def __getitem__(self, index: int) -> Function: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Function]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Function, Sequence[Function]]:
        return self._functions[index]

    def function(self, name: str = "@main") -> Function:
        """Returns a function by name."""
        wanted = name if name.startswith("@") else f"@{name}"
        for function in self:
            if function.name == wanted:
                return function
        known = ", ".join(function.name for function in self)
        raise LookupError(f"{self.path} has no calls in `{wanted}`: there are {known or 'none'}")

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        return f"<Shapes of {self.path}: {', '.join(f.name for f in self)}>"

    def _repr_html_(self) -> str:
        return _html.page(
            "".join(_html.shape_table(one) + _html.picture(one) for one in self)
            or "<p>There are no calls.</p>"
        )


def _input(shown: Dict[str, Any]) -> Input:
    return Input(shown.get("row"), shown.get("source"), shown.get("variable"))


def _call(shown: Dict[str, Any]) -> Call:
    shape = shown.get("shape")
    return Call(
        binding=shown["binding"],
        operator=shown["operator"],
        is_operator=shown["isOperator"],
        type=shown["type"],
        shape=None if shape is None else tuple(shape),
        dtype=shown.get("dtype"),
        line=shown["range"]["start"]["line"],
        column=shown["range"]["start"]["column"],
        parameters=shown.get("parameters"),
        macs=shown.get("macs"),
        bytes=shown.get("bytes"),
        live_bytes=shown.get("liveBytes"),
        span=shown.get("span"),
        inputs=tuple(_input(one) for one in shown.get("inputs", ())),
        attributes=tuple((one["name"], one["value"]) for one in shown.get("attributes", ())),
    )


def parse_functions(listed: List[Dict[str, Any]]) -> List[Function]:
    """Parses the report of the program."""
    return [
        Function(
            name=shown["name"],
            calls=tuple(_call(row) for row in shown["rows"]),
            parameters=tuple(
                Parameter(one["name"], one["type"], one["kind"]) for one in shown["sources"]
            ),
            results=tuple(_input(one) for one in shown["results"]),
            total=Total(
                shown["total"]["calls"],
                shown["total"].get("parameters"),
                shown["total"].get("parameterBytes"),
                shown["total"].get("macs"),
                shown["total"].get("peakBytes"),
            ),
        )
        for shown in listed
    ]
