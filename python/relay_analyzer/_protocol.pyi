"""The documents of the program, generated from `server/src/protocol` by
`RELAY_WRITE=1 cargo test --workspace --lib generated_types`."""

from typing import Any, Dict, List, Literal, Tuple, TypedDict, Union, final

from typing_extensions import NotRequired

@final
class Amount(TypedDict):
    """A number with its text, which has a unit if it is one of bytes."""

    #: The terms of an amount without a value, which is the sum of them and of summands that are not defined.
    terms: NotRequired[List[Term]]
    #: The text: with a unit, or with the unknown sizes.
    text: str
    #: The number of summands that are not defined.
    undefined: NotRequired[int]
    #: The number; `null` if it depends on unknown sizes.
    value: Union[int, None]

@final
class Attribute(TypedDict):
    """An attribute of a call."""

    name: str
    value: str

#: An answer of `check --batch`: what was found in a text, or why it was not checked.
BatchAnswer = Union[CheckedText, FailedCheck]

@final
class BoundValue(TypedDict):
    """The value of a variable in words."""

    name: str
    #: The first value.
    text: str
    #: The number of values.
    times: int

@final
class CallSite(TypedDict):
    """The costs of the calls of an operator at one place."""

    #: The place, if it is in the document.
    at: str
    #: The variable of the result, or empty.
    binding: str
    #: The size of the results, in bytes.
    bytes: Count
    calls: Count
    #: The function with the call.
    function: str
    #: The multiply-accumulates; without a value if those of some calls are unknown.
    macs: Amount
    operator: str
    time: Seconds

#: The category of an operator, or that of a function.
Category = Union[Literal["product"], Literal["normalization"], Literal["activation"], Literal["reduction"], Literal["arithmetic"], Literal["movement"], Literal["function"]]

@final
class CheckedText(TypedDict):
    """What was found in a text."""

    diagnostics: List[Diagnostic]
    #: The identifier that the client gave.
    id: Any
    #: The start, the end and the kind of each token, if requested.
    tokens: NotRequired[List[Tuple[int, int, str]]]
    #: The types of expressions and variables, if requested.
    types: NotRequired[List[TypedRange]]

@final
class Colouring(TypedDict):
    """A way to colour the graph of a function."""

    key: ColouringKey
    #: The categories of the marks, in order.
    legend: List[LegendEntry]
    #: The marks of calls and groups. Others have no colour.
    marks: List[Mark]
    #: The name in a list of ways: `by run time`.
    title: str

#: What colours say.
ColouringKey = Union[Literal["time"], Literal["error"], Literal["difference"]]

@final
class ConstantInput(TypedDict):
    """A constant."""

    #: True.
    constant: bool
    #: The index in `sources`.
    source: int

@final
class Cost(TypedDict):
    """The cost of running a module."""

    #: The number of operator calls.
    calls: Amount
    #: The name of the function.
    function: str
    #: The number of multiply-accumulates.
    macs: Amount
    #: The number of elements of weights and constants.
    params: Amount
    #: The peak memory of results, in bytes.
    peak: Amount

@final
class Count(TypedDict):
    """A number that is known, with its text."""

    #: The text: with separators, or with a unit.
    text: str
    value: int

@final
class DataDocument(TypedDict):
    """A value of an algebraic data type."""

    constructor: str
    fields: List[ValueDocument]

@final
class Diagnostic(TypedDict):
    """A diagnostic: offsets in bytes, lines and columns from 0, columns in UTF-16 code units."""

    code: str
    column: int
    end: int
    fixes: NotRequired[List[Fix]]
    help: Union[str, None]
    line: int
    message: str
    related: List[RelatedPlace]
    #: The excerpt, if requested.
    rendered: NotRequired[str]
    severity: Severity
    start: int

#: A size of a shape: a number, or the text of an unknown one.
Dim = Union[int, str]

@final
class Edit(TypedDict):
    """The replacement of a range of bytes."""

    end: int
    start: int
    text: str

#: An element of a tensor: NaN and infinities are strings.
Element = Union[float, bool, str]

@final
class FailedCheck(TypedDict):
    """Why a text was not checked."""

    error: str
    #: The identifier that the client gave; `null` if the request could not be read.
    id: Any

@final
class FailedRun(TypedDict):
    """A run that failed, in `relay-analyzer run --format json`."""

    error: RunError
    #: The profile up to the failure, if requested.
    profile: NotRequired[Profile]
    #: The values of the variables before the error of the text at which the run stopped, in the order of evaluation.
    values: NotRequired[List[BoundValue]]

@final
class Fix(TypedDict):
    """The edits that fix a diagnostic."""

    edits: List[Edit]
    title: str

@final
class FunctionDocument(TypedDict):
    """A function."""

    function: bool

@final
class FunctionShapes(TypedDict):
    """A function with its calls."""

    #: The totals of the layers, each before those inside of it.
    byLayer: List[LayerTotal]
    byOperator: List[Group]
    bySpan: List[Group]
    #: The ways to colour the graph by what is known of its calls besides their types.
    colourings: NotRequired[List[Colouring]]
    #: The inner functions.
    functions: List[FunctionShapes]
    #: The groups of the dataflow graph, in order. Calls between them are in no group.
    groups: List[GraphGroup]
    name: str
    range: LineRange
    results: List[Input]
    rows: List[Row]
    sources: List[Source]
    total: Total
    #: The unknown sizes of the amounts.
    unknowns: List[UnknownSize]

@final
class GraphGroup(TypedDict):
    """Calls that follow one another and are drawn as one box until it is opened: a layer, or a part of a long sequence of calls. Amounts are sums over all calls of all repetitions."""

    #: The size of all results.
    bytes: Amount
    calls: Count
    #: The number of repetitions that differ from it in details.
    exceptions: NotRequired[int]
    #: The index of the repetition whose groups are in `groups`.
    exemplar: int
    groups: List[GraphGroup]
    #: The kind of the layer; `sequence` for calls without structure.
    kind: str
    #: The name of the kind, if it says more than the name.
    kindName: NotRequired[str]
    #: The type of the result, for narrow places.
    label: str
    macs: Amount
    name: str
    parameters: Amount
    #: The range of each repetition.
    ranges: List[LineRange]
    #: The calls of each repetition: the indices of the first and of the one after the last. Calls between two repetitions belong to the group, too.
    rows: List[Tuple[int, int]]

@final
class Group(TypedDict):
    """The totals of the calls of one operator or one `span=` source."""

    bytes: Amount
    count: int
    macs: Amount
    name: str

#: An input of a call, or a result of a function: that of a row, or one of the `sources` of the function.
Input = Union[RowInput, VariableInput, ConstantInput]

@final
class LayerTotal(TypedDict):
    """The totals of the calls of a layer, or of those in no layer."""

    bytes: Amount
    #: The number of calls of operators, also in functions that are called.
    count: int
    #: The number of layers around it. One inside of a layer that repeats itself is that of one repetition.
    depth: int
    macs: Amount
    #: The name with the kind and the number of repetitions, and what is not counted.
    name: str
    #: The elements of weights and constants; those that several calls share count once.
    parameters: Amount
    range: LineRange

@final
class LayerTotals(TypedDict):
    """The costs of the calls of a layer."""

    #: The size of the results, in bytes.
    bytes: Count
    calls: Count
    #: The number of layers around it.
    depth: int
    layer: str
    #: The multiply-accumulates; without a value if those of some calls are unknown.
    macs: Amount
    time: Seconds

@final
class LegendEntry(TypedDict):
    """A category with its meaning."""

    category: MarkCategory
    text: str

@final
class LineColumn(TypedDict):
    """A line and a column in characters, from 1."""

    column: int
    line: int

@final
class LineRange(TypedDict):
    """A range with lines and columns in characters, from 1."""

    end: LineColumn
    start: LineColumn

@final
class Mark(TypedDict):
    """The mark of a call or a group."""

    category: MarkCategory
    #: The rows: the first, and the one after the last.
    rows: Tuple[int, int]
    #: The mark in words.
    text: str
    #: The strength of the colour, from 0 to 1.
    weight: float

#: What a mark says. Of several calls, the last category counts.
MarkCategory = Union[Literal["time"], Literal["notRun"], Literal["tolerated"], Literal["recovered"], Literal["inherited"], Literal["culprit"], Literal["same"], Literal["fused"], Literal["inlined"], Literal["folded"], Literal["expanded"], Literal["changed"], Literal["added"], Literal["removed"]]

@final
class OperatorTotals(TypedDict):
    """The costs of the calls of an operator."""

    #: The size of the results, in bytes.
    bytes: Count
    calls: Count
    #: The multiply-accumulates; without a value if those of some calls are unknown.
    macs: Amount
    operator: str
    time: Seconds

@final
class PassLog(TypedDict):
    """The response to `relay/passes`, and `relay-analyzer passes --format json`."""

    file: str
    modules: List[PassModule]

#: A module of a log.
PassModule = TypedDict(
    "PassModule",
    {
        #: True if the module was printed before the pass.
        "before": NotRequired[bool],
        #: The functions that differ from the previous module.
        "changed": List[str],
        #: The cost of running it, if requested and known.
        "cost": NotRequired[Cost],
        #: True if the module is truncated.
        "cut": NotRequired[bool],
        #: The offset after its last byte in the log.
        "end": int,
        "functions": int,
        "index": int,
        #: The first line in the log, from 1.
        "line": int,
        #: The passes that ran inside it.
        "nested": NotRequired[List[str]],
        #: The pass in its header.
        "pass": Union[str, None],
        #: The offset of its first byte in the log.
        "start": int,
    },
)

@final
class Plan(TypedDict):
    """The memory of a compiled module. Amounts are in bytes."""

    activation_bytes: int
    argument_bytes: int
    storages: int
    tensors: int
    unshared_bytes: int

@final
class Profile(TypedDict):
    """The costs of the operator calls of a run, slowest first."""

    bindings: List[CallSite]
    #: The layers in their order, each before those inside of it; without layers, the places that `span=` comments name, slowest first.
    layers: List[LayerTotals]
    operators: List[OperatorTotals]
    total: ProfileTotal

@final
class ProfileTotal(TypedDict):
    """The costs of all calls that were measured."""

    #: The size of the results, in bytes.
    bytes: Count
    calls: Count
    #: True if only the first calls were measured.
    cut: bool
    #: The multiply-accumulates; without a value if those of some calls are unknown.
    macs: Amount
    #: What the run did in this time; the times sum to it.
    parts: List[TimePart]
    time: Seconds
    #: The time of the run.
    wall: Seconds

@final
class ReferenceDocument(TypedDict):
    """A reference."""

    ref: ValueDocument

@final
class RelatedPlace(TypedDict):
    """A place that a diagnostic refers to."""

    end: int
    message: str
    start: int

@final
class Row(TypedDict):
    """A call with its result and cost. Amounts of memory are in bytes."""

    attributes: NotRequired[List[Attribute]]
    binding: Union[str, None]
    bytes: Amount
    category: Category
    dtype: NotRequired[str]
    inputs: List[Input]
    #: The type for narrow places: `1×64 f32`.
    label: str
    liveBytes: Amount
    #: The last row during which the result is live; the number of rows if it is a result of the function.
    liveUntil: int
    macs: Amount
    operator: str
    parameters: Amount
    #: What is live during the call with what the callee computes, if that is more.
    peakBytes: NotRequired[Amount]
    range: LineRange
    #: The shape of a single tensor.
    shape: NotRequired[List[Dim]]
    #: The source that a `span=` comment names.
    span: Union[str, None]
    type: str
    #: Why the operations are not counted.
    undefined: NotRequired[str]

@final
class RowInput(TypedDict):
    """The result of a row."""

    #: The fields of the result that are taken, if it is a tuple and not taken as a whole.
    fields: NotRequired[List[TakenField]]
    row: int

@final
class RunError(TypedDict):
    """The failure of a run."""

    #: The types of the arguments of the operator that failed.
    arguments: List[str]
    #: The name of the code.
    code: str
    help: NotRequired[str]
    message: str
    #: The number of calls in the middle of the trace that are omitted.
    omitted: int
    #: The innermost place in the document.
    range: NotRequired[LineRange]
    #: The calls, the innermost first.
    trace: List[TraceStep]

@final
class Seconds(TypedDict):
    """A time in seconds, with its text."""

    #: The text, as in `12.3 ms`.
    text: str
    value: float

#: The severity of a diagnostic.
Severity = Union[Literal["error"], Literal["warning"], Literal["info"], Literal["hint"]]

@final
class ShapesDocument(TypedDict):
    """The shape report of a file."""

    functions: List[FunctionShapes]
    path: str
    #: The memory that the graph executor takes for the compiled module, if the file has a plan.
    plan: NotRequired[Plan]

@final
class Source(TypedDict):
    """An input of a function."""

    kind: SourceKind
    #: The type for narrow places: `1×64 f32`.
    label: str
    name: str
    range: LineRange
    type: str

#: The kind of an input of a function.
SourceKind = Union[Literal["input"], Literal["weight"], Literal["constant"]]

@final
class SummaryDocument(TypedDict):
    """A summary of the elements of a tensor."""

    #: The minimum, mean and maximum of the finite elements, if there are any.
    finite: Union[Tuple[float, float, float], None]
    infinite: int
    nan: int
    shape: List[int]
    type: str

@final
class TakenField(TypedDict):
    """A field of a tuple that is taken."""

    #: The index, from 0.
    index: int
    #: The type for narrow places: `1×64 f32`.
    label: str

@final
class TensorDocument(TypedDict):
    """A tensor. `data` are the elements in row-major order, unless they are in a file or too many."""

    data: NotRequired[List[Element]]
    dtype: str
    shape: List[int]
    summary: NotRequired[SummaryDocument]
    type: str

@final
class Term(TypedDict):
    """A coefficient, and unknown sizes with their powers, by which it is multiplied."""

    coefficient: int
    factors: Dict[str, int]

@final
class TimePart(TypedDict):
    """A part of the time of a run."""

    time: Seconds
    what: str

@final
class Total(TypedDict):
    """The totals of a function."""

    calls: int
    macs: Amount
    parameterBytes: Amount
    parameters: Amount
    peakBytes: Amount
    #: The row at which the peak is reached.
    peakRow: Union[int, None]
    #: The rows whose results are live at the peak, the largest first.
    peakRows: List[int]
    #: The totals in one line.
    text: str

@final
class TracePlace(TypedDict):
    """A place of a trace."""

    #: The file, the line and the column, as in `net.relay:12:3`.
    at: str
    #: The offset after the last byte.
    end: int
    #: The offset of the first byte.
    start: int

@final
class TraceStep(TypedDict):
    """A call of a trace."""

    function: str
    place: Union[TracePlace, None]

@final
class TupleDocument(TypedDict):
    """A tuple."""

    tuple: List[ValueDocument]

@final
class TypedRange(TypedDict):
    """A type and its range in bytes."""

    end: int
    start: int
    type: str

@final
class UnknownSize(TypedDict):
    """An unknown size."""

    name: str
    what: str

#: A value, as `relay-analyzer run --format json` writes it.
ValueDocument = Union[TensorDocument, TupleDocument, DataDocument, FunctionDocument, ReferenceDocument, None]

@final
class VariableInput(TypedDict):
    """A parameter or free variable."""

    #: The index in `sources`.
    source: int
    variable: str
