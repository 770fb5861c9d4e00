"""Reductions of modules to small ones that still show something."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Callable, List, Optional, Tuple, Union

from . import _binary
from ._errors import RelayError
from ._source import Module, source


@dataclass(frozen=True)
class Reduction:
    """A reduced module, which is its text with ``str``."""

    #: The text, with a comment that says what it shows.
    text: str
    #: What it shows, in one line; empty if only the caller knows.
    shows: str
    #: The numbers of bindings before and after.
    bindings: Tuple[int, int]
    #: The number of modules that were tried.
    tried: int

    def __str__(self) -> str:
        return self.text


def reduce(
    mod: Module,
    keep: Union[str, Callable[[str], bool]],
    *,
    seed: Optional[int] = None,
) -> Reduction:
    """Makes a module small that still shows something.

    ``keep`` is what ``relay-analyzer reduce --keep`` takes, such as ``"code:shape-mismatch"``,
    ``"tvm"``, ``"fails"`` or ``"nan"``; or a function that gets the text of a module and returns
    whether that still shows it. The module at the start must. Every text that the function gets has
    no errors, apart from those of the module at the start. An exception of the function ends the
    reduction. ``seed`` is that of the random arguments of runs.

    Raises :class:`RelayError` if the module does not show what is kept.
    """
    given = source(mod)
    with tempfile.TemporaryDirectory(prefix="relay-analyzer-") as folder:
        path = os.path.join(folder, "module.relay")
        with open(path, "wb") as file:
            file.write(given.text.encode("utf-8"))
        output = os.path.join(folder, "reduced.relay")
        what = "ask" if callable(keep) else keep
        command = ["reduce", "--format", "json", f"--keep={what}", "-o", output]
        if seed is not None:
            command.append(f"--random={seed}")
        command += ["--", path]
        done = _asked(command, keep) if callable(keep) else _binary.run(command)
        if done.code != 0:
            raise RelayError(_binary.message(done), code="cannot-reduce")
        document = json.loads(done.out)
        with open(output, encoding="utf-8", newline="") as file:
            text = file.read()
    before, after = document["bindings"]
    return Reduction(text, document["shows"], (before, after), document["tried"])


def _asked(command: List[str], keep: Callable[[str], bool]) -> _binary.Completed:
    """Runs the command, and answers what it asks."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [_binary.find_binary(), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        out = b""
        try:
            assert process.stdin is not None and process.stdout is not None
            for line in process.stdout:
                asked = json.loads(line)
                if "candidate" not in asked:
                    out = line
                    continue
                process.stdin.write(b"true\n" if keep(asked["candidate"]) else b"false\n")
                process.stdin.flush()
        except BaseException:
            process.kill()
            raise
        finally:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
            code = process.wait()
        errors.seek(0)
        return _binary.Completed(
            code, out.decode("utf-8", "replace"), errors.read().decode("utf-8", "replace")
        )
