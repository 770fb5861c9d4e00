"""Runs of functions on arrays."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
)

from . import _binary
from ._errors import ArgumentError, RelayError, RunError
from ._source import Module, Offsets, Source, path_of, source

if TYPE_CHECKING:
    import numpy

    from . import _protocol


@dataclass(frozen=True)
class Data:
    """A value of an algebraic data type, such as ``Cons(1, Nil)``."""

    constructor: str
    fields: Tuple[Any, ...]

    def __str__(self) -> str:
        inner = ", ".join(str(field) for field in self.fields)
        return f"{self.constructor}({inner})" if self.fields else self.constructor


@dataclass(frozen=True)
class Reference:
    """The result of ``ref(…)``, and its content."""

    value: Any


@dataclass(frozen=True)
class Closure:
    """A function as a result, which cannot be called from Python."""


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise RelayError(
            "runs need numpy for arrays: `pip install numpy`, which the extra `arrays` of the package "
            "installs, too",
            code="numpy-missing",
        ) from None
    return numpy


def run(
    mod: Module,
    *args: Any,
    function: Optional[str] = None,
    inputs: Optional[Mapping[str, Any]] = None,
    seed: Optional[int] = None,
    time: Optional[float] = None,
    memory: Optional[int] = None,
    **arrays: Any,
) -> Any:
    """Runs a function of a module, by default ``@main``, and returns arrays.

    Arguments are given by position (tensors, with each field of a tuple counted), by name as
    keywords, or in ``inputs`` if a name is not valid in Python or is that of an option here, as in
    ``{"conv.weight": w, "seed": s}``. An argument is an array, or whatever ``numpy.asarray`` takes,
    whose data type must be that of the parameter; a number or a list of numbers, which takes that
    data type if it can represent it (one number fills a tensor); a tuple; or a result of another
    run. Only with ``seed`` are missing arguments random. ``time`` limits the seconds, ``memory`` the
    megabytes.

    Returns an array; a tuple if the function returns one; :class:`Data` for a constructor.

    Raises :class:`ArgumentError`, which is a ``TypeError``, for an argument that no parameter takes,
    that is missing, or that does not fit; :class:`RunError` if the run fails otherwise; and
    :class:`ModuleError` if the module has errors.
    """
    numpy = _numpy()
    path = path_of(mod)
    given = source(mod)
    named = _named(args, inputs, arrays)
    with tempfile.TemporaryDirectory(prefix="relay-analyzer-") as folder:
        command = ["run", "--format", "json", "--output", os.path.join(folder, "result.npz")]
        if function is not None:
            command.append(f"--function={function}")
        written = _Arguments(numpy, folder)
        if named:
            command += ["--inputs", written.write(named)]
        for option, limit in (("--random", seed), ("--time", time), ("--memory", memory)):
            if limit is not None:
                command.append(f"{option}={limit}")
        # A saved model has its parameters in its archive; the text does not.
        saved = path is not None and os.path.isfile(path) and not _is_text(path, given)
        if saved and path is not None:
            done = _binary.run([*command, "--", path])
        else:
            done = _binary.run([*command, "-"], given.text)
        shown = _document(done, given, written)
        with numpy.load(os.path.join(folder, "result.npz"), allow_pickle=False) as result:
            leaves = iter([result[f"o{k}"] for k in range(len(result.files))])
            return _value(numpy, shown, leaves)


def _named(
    args: Sequence[Any], inputs: Optional[Mapping[str, Any]], arrays: Mapping[str, Any]
) -> Dict[str, Any]:
    """Returns all arguments by name, those by position as ``i0``, ``i1`` and so on."""
    named: Dict[str, Any] = {f"i{k}": value for k, value in enumerate(args)}
    for name, value in [*(inputs or {}).items(), *arrays.items()]:
        if not isinstance(name, str):
            raise ArgumentError(f"the name of an argument is a text, not {name!r}", code="run-input")
        name = name[1:] if name.startswith("%") else name
        if name in named:
            raise ArgumentError(f"the argument `{name}` is given twice", code="run-input")
        named[name] = value
    return named


def _is_text(path: str, given: Source) -> bool:
    with open(path, "rb") as file:
        return file.read() == given.text.encode("utf-8")


class _Arguments:
    """The file of the arguments of a run, and those of their arrays.

    Numbers and lists are written as such: the program gives them the data type of the parameter.
    """

    #: The program refuses brackets that are nested deeper.
    _MAX_DEPTH = 400

    def __init__(self, numpy: Any, folder: str) -> None:
        self._numpy = numpy
        self._folder = folder
        self.files: List[str] = []

    def write(self, named: Mapping[str, Any]) -> str:
        """Writes the arguments, and returns the path of their file."""
        values = {name: self._text(name, value, 0) for name, value in named.items()}
        path = os.path.join(self._folder, "inputs.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(values, file)
        return path

    def _text(self, name: str, value: Any, depth: int) -> str:
        """The text of a value, in the syntax of ``--input``."""
        if depth > self._MAX_DEPTH:
            raise ArgumentError(
                f"`{name}` is nested deeper than {self._MAX_DEPTH} lists", code="run-input"
            )

        def all_of(values: Iterable[Any]) -> str:
            return ", ".join(self._text(name, one, depth + 1) for one in values)

        if isinstance(value, Data):
            return f"{value.constructor}({all_of(value.fields)})"
        if isinstance(value, Reference):
            return f"ref({all_of([value.value])})"
        if isinstance(value, tuple):
            return f"({all_of(value)},)" if value else "()"
        # The scalars of numpy have a data type of their own.
        is_array = isinstance(value, self._numpy.generic)
        if isinstance(value, (bool, int, float, list)) and not is_array:
            try:
                return json.dumps(value)
            except (TypeError, ValueError, RecursionError):
                # A list of arrays is one.
                pass
        return self._array(name, value)

    def _array(self, name: str, value: Any) -> str:
        try:
            array = self._numpy.asarray(getattr(value, "numpy", lambda: value)())
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"`{name}` is not an array: {error}", code="run-input") from error
        if array.dtype == object:
            raise ArgumentError(
                f"`{name}` is not an array: numpy converts `{type(value).__name__}` to objects",
                code="run-input",
            )
        file = f"{len(self.files)}.npy"
        self.files.append(file)
        self._numpy.save(os.path.join(self._folder, file), array, allow_pickle=False)
        return file

    def without_files(self, message: str) -> str:
        """A message without the names of the files, which are temporary."""
        for file in self.files:
            message = message.replace(f"the file `{file}`", "an array").replace(f"`{file}`: ", "")
        return message


def _document(
    done: _binary.Completed, given: Source, written: _Arguments
) -> Optional[_protocol.ValueDocument]:
    from ._api import check

    lines = done.out.strip().splitlines()
    if not lines:
        check(given).raise_for_errors("cannot run the function")
        raise RunError(_binary.message(done), code="cannot-run", path=given.name)
    shown = json.loads(lines[-1])
    if shown is not None and "error" in shown:
        failed: _protocol.FailedRun = shown
        if failed["error"]["code"] == "run-untyped":
            # The run stopped at an error of the module, which has more to say than the run.
            check(given).raise_for_errors("cannot run the function")
        raise _error(failed["error"], given, written)
    value: Optional[_protocol.ValueDocument] = shown
    return value


def _error(shown: _protocol.RunError, given: Source, written: _Arguments) -> RunError:
    line = column = None
    calls: List[str] = []
    offsets = Offsets(given.text)
    for call in shown["trace"]:
        place = call["place"]
        where = ""
        if place is not None:
            at = offsets.place(offsets.index(place["start"]))
            where = f" ({given.name}:{at[0]}:{at[1]})"
            if line is None:
                line, column = at
        calls.append(f"{call['function']}{where}")
    kind = ArgumentError if shown["code"] == "run-input" else RunError
    return kind(
        written.without_files(shown["message"]),
        code=shown["code"],
        path=given.name,
        line=line,
        column=column,
        help=_python_help(shown.get("help")),
        trace=calls,
    )


def _python_help(help: Optional[str]) -> Optional[str]:
    if help is None or "--" not in help:
        return help
    return "pass it as an argument, as in `run(mod, x=array)`, or use random ones with `seed=0`"


def _value(numpy: Any, shown: Optional[_protocol.ValueDocument], leaves: Iterator[numpy.ndarray]) -> Any:
    if shown is None:
        return None
    if "tuple" in shown:
        return tuple(_value(numpy, one, leaves) for one in shown["tuple"])
    if "constructor" in shown:
        fields = tuple(_value(numpy, one, leaves) for one in shown["fields"])
        return Data(shown["constructor"], fields)
    if "ref" in shown:
        return Reference(_inline(numpy, shown["ref"]))
    if "dtype" in shown:
        return _array(numpy, next(leaves), shown["dtype"])
    return Closure()


def _array(numpy: Any, array: numpy.ndarray, dtype: str) -> Any:
    if dtype == "bfloat16":
        # The upper half of a float32. numpy has no such type.
        bits = numpy.ascontiguousarray(array).view(numpy.uint16).astype(numpy.uint32) << 16
        return bits.view(numpy.float32).reshape(array.shape)
    return array


def _inline(numpy: Any, shown: Optional[_protocol.ValueDocument]) -> Any:
    """The content of a reference, which is not in the result file."""
    if shown is None:
        return None
    if "tuple" in shown:
        return tuple(_inline(numpy, one) for one in shown["tuple"])
    if "constructor" in shown:
        return Data(shown["constructor"], tuple(_inline(numpy, one) for one in shown["fields"]))
    if "ref" in shown:
        return Reference(_inline(numpy, shown["ref"]))
    if "dtype" in shown:
        dtype = "float32" if shown["dtype"] == "bfloat16" else shown["dtype"]
        data = [float(one) if isinstance(one, str) else one for one in shown.get("data", ())]
        return numpy.array(data, dtype=dtype).reshape(shown["shape"])
    return Closure()
