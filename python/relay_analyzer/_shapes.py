"""The shape report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, List, Literal, Mapping, Optional, Sequence, Tuple, Union, overload

from . import _binary, _html

if TYPE_CHECKING:
    from . import _protocol


#: The category of an operator; that of a function is ``function``.
Category = Literal[
    "product", "normalization", "activation", "reduction", "arithmetic", "movement", "function"
]

#: The largest page that is shown, in characters.
MAX_PAGE = 1_000_000


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
    category: Category
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
    #: The text of each cost as the program writes it: ``{"bytes": "1.0 KiB", …}``.
    texts: Mapping[str, str]


@dataclass(frozen=True)
class Parameter:
    """An input of a function."""

    name: str
    type: str
    kind: Literal["input", "weight", "constant"]


@dataclass(frozen=True)
class Total:
    """The totals of a function."""

    calls: int
    parameters: Optional[int]
    parameter_bytes: Optional[int]
    macs: Optional[int]
    peak_bytes: Optional[int]
    #: The totals in one line.
    text: str


@dataclass(frozen=True)
class Function:
    """The calls of a function."""

    name: str
    calls: Tuple[Call, ...]
    parameters: Tuple[Parameter, ...]
    results: Tuple[Input, ...]
    total: Total
    #: The text of the module.
    _module: str = field(default="", repr=False, compare=False)

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
        return _html.page(self.report_html())

    def report_html(self) -> str:
        """The calls with their costs and a picture of the dataflow, as HTML."""
        # A bare expression has no name, and is all of its module.
        name = self.name if self.name.startswith("@") else None
        return _frame(self.name, _page(self._module, name)) + _total(self)


def _total(function: Function) -> str:
    return f"<p>{_html.escape(function.name)}: {_html.escape(function.total.text)}</p>"


class Shapes(Sequence[Function]):
    """The shape report of a module, function by function. ``str`` is the table."""

    def __init__(self, functions: Sequence[Function], path: str, table: str, module: str = "") -> None:
        self._functions = tuple(functions)
        self.path = path
        self._table = table
        self._module = module

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
        return _html.page(self.report_html())

    def report_html(self) -> str:
        """The calls of all functions with their costs and pictures of the dataflow, as HTML."""
        if not self:
            return "<p>There are no calls.</p>"
        if len(self) == 1:
            return self[0].report_html()
        names = ", ".join(one.name for one in self)
        return _frame(names, _page(self._module, None)) + "".join(_total(one) for one in self)


def _input(shown: _protocol.Input) -> Input:
    if "row" in shown:
        return Input(shown["row"], None, None)
    if "variable" in shown:
        return Input(None, shown["source"], shown["variable"])
    return Input(None, shown["source"], None)


def _number(shown: _protocol.Amount) -> Optional[int]:
    """A count, unless it depends on unknown sizes."""
    return shown["value"]


def _call(shown: _protocol.Row) -> Call:
    shape = shown.get("shape")
    return Call(
        binding=shown["binding"],
        operator=shown["operator"],
        category=shown["category"],
        type=shown["type"],
        shape=None if shape is None else tuple(shape),
        dtype=shown.get("dtype"),
        line=shown["range"]["start"]["line"],
        column=shown["range"]["start"]["column"],
        parameters=_number(shown["parameters"]),
        macs=_number(shown["macs"]),
        bytes=_number(shown["bytes"]),
        live_bytes=_number(shown["liveBytes"]),
        span=shown["span"],
        inputs=tuple(_input(one) for one in shown["inputs"]),
        attributes=tuple((one["name"], one["value"]) for one in shown.get("attributes", ())),
        texts={
            "parameters": shown["parameters"]["text"],
            "macs": shown["macs"]["text"],
            "bytes": shown["bytes"]["text"],
        },
    )


def parse_functions(listed: List[_protocol.FunctionShapes], module: str) -> List[Function]:
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
                _number(shown["total"]["parameters"]),
                _number(shown["total"]["parameterBytes"]),
                _number(shown["total"]["macs"]),
                _number(shown["total"]["peakBytes"]),
                shown["total"]["text"],
            ),
            _module=module,
        )
        for shown in listed
    ]


def _frame(title: str, page: str) -> str:
    """The page of the program in a frame."""
    summary = f"<summary><code>{_html.escape(title)}</code></summary>"
    if len(page) > MAX_PAGE:
        return (
            f'<details open>{summary}<p class="ra-dim">The report is too large for a notebook: the editors show it, '
            "and <code>relay-analyzer shapes --format html</code> writes it</p></details>"
        )
    return f"<details open>{summary}{_html.frame(page)}</details>"


def _page(text: str, name: Optional[str]) -> str:
    """The report of a text, or of one of its functions, as a page."""
    only = [] if name is None else [f"--function={name}"]
    return _binary.run(["shapes", "--format", "html", *only, "-"], text).out
