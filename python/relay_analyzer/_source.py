"""The text of a module in any of its representations."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from itertools import accumulate
from typing import Any, List, NamedTuple, Optional, Tuple, Union

from . import _binary, _log
from ._errors import SourceError

#: Text, a path, or an object with ``astext()``, such as ``tvm.IRModule``.
Module = Union[str, "os.PathLike[str]", Any]

_SUFFIXES = (".relay", ".rly", ".json", ".tar", ".log", ".txt")
_MODULE_OF_LOG = re.compile(r"#[\w.:-]+$")


class Source(NamedTuple):
    """The text of a module and its name."""

    text: str
    #: The name in messages.
    name: str
    #: The path, if it is a file.
    file: Optional[str]


def _looks_like_path(text: str) -> bool:
    if "\n" in text or not text.strip() or len(text) > 4096 or "\0" in text:
        return False
    bare = _MODULE_OF_LOG.sub("", text)
    try:
        return os.path.isfile(text) or os.path.isfile(bare) or _has_suffix(bare)
    except (OSError, ValueError):
        return False


def _has_suffix(text: str) -> bool:
    return text.endswith(_SUFFIXES) and not re.search(r"[%{}()]", text)


def path_of(given: Module) -> Optional[str]:
    """Returns the path of the module, if it is a file."""
    if isinstance(given, str):
        return given if _looks_like_path(given) else None
    if isinstance(given, os.PathLike):
        return os.fspath(given)
    return None


def source(given: Module) -> Source:
    """Returns the text of a module."""
    path = path_of(given)
    if path is not None:
        return Source(_read(path), path, path)
    if isinstance(given, Source):
        return given
    if isinstance(given, str):
        return Source(_checked(given, "<text>"), "<text>", None)
    kind = type(given).__name__
    if hasattr(given, "astext"):
        text = given.astext()
        if isinstance(text, str):
            return Source(_checked(text, f"<{kind}>"), f"<{kind}>", None)
        raise _not_a_module(f"`{kind}.astext()` returned `{type(text).__name__}`, not text")
    if isinstance(given, (bytes, bytearray)):
        raise _not_a_module("bytes are not a module: decode them with `.decode()`")
    if isinstance(given, tuple) and given and hasattr(given[0], "astext"):
        raise _not_a_module(
            "a tuple is not a module: `relay.frontend.from_…` returns `(mod, params)`, pass `mod`"
        )
    raise _not_a_module(f"`{kind}` is not a module")


def _not_a_module(what: str) -> SourceError:
    return SourceError(
        f"{what}. Pass the text of a module, a path, or an object with `astext()` such as "
        "`tvm.IRModule`",
        code="not-a-module",
    )


def _checked(text: str, name: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise SourceError(
            f"{name}: character {error.start} is half of a surrogate pair, which is not valid text: "
            'decode the bytes that it came from as UTF-8, without `errors="surrogateescape"`',
            code="invalid-utf8",
            path=name,
        ) from error
    return text


def _read(path: str) -> str:
    if _MODULE_OF_LOG.search(path) and not os.path.exists(path):
        return _module_of_log(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise SourceError(
            f"cannot read `{path}`: {error.strerror or error}", code="unreadable", path=path
        ) from None
    if data.lstrip()[:1] == b"{" or b"\0" in data[:8192] or data[:2] == b"\x1f\x8b":
        # A module that TVM saved as JSON or in an archive.
        done = _binary.run(["convert", "--", path])
        if done.code != 0:
            raise SourceError(_binary.message(done), code="unreadable", path=path)
        return done.out
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(
            f"`{path}` is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}. Relay is "
            "printed as UTF-8; decode the bytes with `.decode(…)` if the file has another encoding",
            code="invalid-utf8",
            path=path,
        ) from error


def _module_of_log(path: str) -> str:
    """Reads ``run.log#7`` or ``run.log#FuseOps``, the last of that name."""
    log, _, name = path.rpartition("#")
    data, shown = _log.read(log)
    modules = _log.modules(data, shown)
    for entry in reversed(modules):
        if name in (str(entry["index"]), entry["pass"]):
            return _log.text(data, entry)
    names = ", ".join(dict.fromkeys(entry["pass"] for entry in modules if entry["pass"]))
    raise SourceError(
        f"`{log}` has no module `{name}`: there are 0 to {len(modules) - 1}, and {names or 'no names'}",
        code="unreadable",
        path=log,
    )


class Offsets:
    """Converts offsets in UTF-8, which the program uses, to those in ``str``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._bytes: Optional[List[int]] = None
        if not text.isascii():
            self._bytes = [0, *accumulate(len(c.encode("utf-8")) for c in text)]
        starts = [0]
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        self._lines = starts

    def index(self, offset: int) -> int:
        """Returns the index of a character by its offset in bytes."""
        if self._bytes is None:
            return offset
        return bisect_right(self._bytes, offset) - 1

    def place(self, index: int) -> Tuple[int, int]:
        """Returns line and column of a character, both from 1."""
        line = bisect_right(self._lines, index)
        return line, index - self._lines[line - 1] + 1
