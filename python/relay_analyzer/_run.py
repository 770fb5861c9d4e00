"""Runs of functions on arrays."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Tuple

from . import _binary
from ._errors import RelayError, RunError
from ._source import Module, Offsets, Source, path_of, source

if TYPE_CHECKING:
    import numpy


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
    except ImportError as error:
        raise RelayError(
            "runs need numpy for arrays: `pip install numpy`", code="numpy-missing"
        ) from error
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

    Arguments are arrays, or whatever ``numpy.asarray`` takes: by position (tensors, with each
    field of a tuple counted), by name as keywords, or in ``inputs`` if a name is not valid in
    Python, as in ``{"conv.weight": w}``. With ``seed``, missing ones are random. ``time`` limits
    the seconds, ``memory`` the megabytes.

    Returns an array; a tuple if the function returns one; :class:`Data` for a constructor.

    Raises :class:`RunError` if the run fails, and :class:`ModuleError` if the module has errors.
    """
    numpy = _numpy()
    path = path_of(mod)
    given = source(mod)
    named: Dict[str, Any] = {f"i{k}": value for k, value in enumerate(args)}
    for name, value in [*(inputs or {}).items(), *arrays.items()]:
        named[name[1:] if name.startswith("%") else name] = value
    with tempfile.TemporaryDirectory(prefix="relay-analyzer-") as folder:
        command = ["run", "--format", "json", "--output", os.path.join(folder, "result.npz")]
        if function is not None:
            command += ["--function", function]
        if named:
            archive = os.path.join(folder, "inputs.npz")
            _save(numpy, archive, named)
            command += ["--inputs", archive]
        for option, limit in (("--random", seed), ("--time", time), ("--memory", memory)):
            if limit is not None:
                command += [option, str(limit)]
        # A saved model has its parameters in its archive; the text does not.
        saved = path is not None and os.path.isfile(path) and not _is_text(path, given)
        if saved and path is not None:
            done = _binary.run([*command, "--", path])
        else:
            done = _binary.run([*command, "-"], given.text)
        shown = _document(done, given, folder)
        with numpy.load(os.path.join(folder, "result.npz"), allow_pickle=False) as result:
            leaves = iter([result[f"o{k}"] for k in range(len(result.files))])
            return _value(numpy, shown, leaves)


def _is_text(path: str, given: Source) -> bool:
    with open(path, "rb") as file:
        return file.read() == given.text.encode("utf-8")


def _save(numpy: Any, archive: str, named: Mapping[str, Any]) -> None:
    # `numpy.savez` reserves the name `file`.
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED, allowZip64=True) as out:
        for name, value in named.items():
            array = numpy.asarray(getattr(value, "numpy", lambda: value)())
            if array.dtype == object:
                raise RunError(
                    f"`{name}` is not an array: numpy converts `{type(value).__name__}` to objects. "
                    "Pass the fields of a tuple one by one, by position",
                    code="run-input",
                )
            with out.open(f"{name}.npy", "w", force_zip64=True) as file:
                numpy.lib.format.write_array(file, array, allow_pickle=False)


def _document(done: _binary.Completed, given: Source, folder: str) -> Dict[str, Any]:
    lines = done.out.strip().splitlines()
    shown: Dict[str, Any] = json.loads(lines[-1]) if lines else {}
    if "error" in shown:
        # The file is temporary.
        error = shown["error"]
        file = f"`{os.path.join(folder, 'inputs.npz')}`"
        message = error["message"].replace(f"{file}: ", "").replace(f"in {file} ", "")
        raise _error({**error, "message": message}, given)
    if not shown:
        from ._api import check

        check(given).raise_for_errors("cannot run the function")
        raise RunError(_binary.message(done), code="cannot-run", path=given.name)
    return shown


def _error(shown: Dict[str, Any], given: Source) -> RunError:
    line = column = None
    calls: List[str] = []
    offsets = Offsets(given.text)
    for call in shown.get("trace", ()):
        place = call.get("place")
        where = ""
        if place and "start" in place:
            at = offsets.place(offsets.index(place["start"]))
            where = f" ({given.name}:{at[0]}:{at[1]})"
            if line is None:
                line, column = at
        calls.append(f"{call.get('function')}{where}")
    return RunError(
        shown["message"],
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


def _value(numpy: Any, shown: Optional[Dict[str, Any]], leaves: Iterator[numpy.ndarray]) -> Any:
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


def _inline(numpy: Any, shown: Optional[Dict[str, Any]]) -> Any:
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
        data = [float(one) if isinstance(one, str) else one for one in shown["data"]]
        return numpy.array(data, dtype=dtype).reshape(shown["shape"])
    return Closure()
