"""Structural differences of modules."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

from . import _binary, _html
from ._errors import RelayError
from ._source import Module, source


@dataclass(frozen=True)
class FunctionDiff:
    """Two functions; one is ``None`` if the function was added or removed."""

    before: Optional[str]
    after: Optional[str]
    equal: bool


@dataclass(frozen=True)
class Diff:
    """The structural differences of two modules; false if there are none. ``str`` is the report."""

    equal: bool
    functions: Tuple[FunctionDiff, ...]
    #: The whole document of ``relay-analyzer diff --format json``.
    document: Dict[str, Any] = field(repr=False, compare=False)
    text: str = field(repr=False)
    html: str = field(repr=False, compare=False)

    @property
    def changed(self) -> List[str]:
        """The names of the functions that differ."""
        different = (function for function in self.functions if not function.equal)
        return [function.after or function.before or "" for function in different]

    def __bool__(self) -> bool:
        return not self.equal

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        summary = _html.escape(self.text.split("\n\n")[0])
        if self.equal:
            return _html.page(f"<p>{summary}</p>")
        return _html.page(
            f"<details open><summary>{summary}</summary>{_html.frame(self.html)}</details>"
        )


def diff(before: Module, after: Module, *, function: Optional[str] = None) -> Diff:
    """Compares the structure of two modules, regardless of names, numbers, order and comments.

    ``function`` limits the comparison to one function: ``@f`` or ``@f=@g``.
    """
    sources = [source(before), source(after)]
    with tempfile.TemporaryDirectory(prefix="relay-analyzer-") as folder:
        names = []
        # Files have their paths in reports. With fixed names, reports of texts depend only on the modules.
        are_files = all(given.file is not None for given in sources)
        for given, name in zip(sources, ("before.relay", "after.relay")):
            if given.file is None:
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(given.text.encode("utf-8"))
                names.append(name)
            else:
                names.append(given.file if are_files else os.path.abspath(given.file))
        only = [] if function is None else [f"--function={function}"]
        working = None if are_files else folder

        def report(form: str) -> _binary.Completed:
            done = _binary.run(["diff", "--format", form, *only, "--", *names], folder=working)
            if done.code == 2:
                raise RelayError(_binary.message(done), code="cannot-compare")
            return done

        document = json.loads(report("json").out)
        text, html = report("human"), report("html")
    notes = "".join(f"{line}\n" for line in text.err.splitlines() if line)
    return Diff(
        equal=text.code == 0,
        functions=tuple(
            FunctionDiff(one["before"], one["after"], one["equal"])
            for one in document["functions"]
        ),
        document=document,
        text=(text.out + notes).rstrip("\n"),
        html=html.out,
    )
