"""Finds and runs the program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Iterator, NamedTuple, Optional, Sequence

from ._errors import BinaryError

VARIABLE = "RELAY_ANALYZER"
_NAME = "relay-analyzer.exe" if sys.platform == "win32" else "relay-analyzer"


def _folders() -> Iterator[Path]:
    """The folders that installers put programs into, most likely first."""
    yield Path(sysconfig.get_path("scripts"))
    yield Path(sys.executable).parent
    user = f"{os.name}_user"
    if user in sysconfig.get_scheme_names():
        yield Path(sysconfig.get_path("scripts", scheme=user))
    # `pip install --target FOLDER` and `--prefix FOLDER`.
    package = Path(__file__).resolve().parent
    for parent in list(package.parents)[:4]:
        yield parent / ("Scripts" if os.name == "nt" else "bin")


def find_binary() -> str:
    """Returns the path of the program.

    The variable ``RELAY_ANALYZER`` counts most, then the program of this package, then PATH.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if os.path.isfile(named):
            # Commands may have another working directory.
            return os.path.abspath(named)
        raise BinaryError(
            f"{VARIABLE} is `{named}`, which is not a file: unset it, or set it to the program",
            code="binary-missing",
            path=named,
        )
    folders = list(dict.fromkeys(_folders()))
    for folder in folders:
        program = folder / _NAME
        if program.is_file():
            return str(program)
    found = shutil.which("relay-analyzer")
    if found:
        return os.path.abspath(found)
    looked = ", ".join(f"`{folder}`" for folder in folders)
    raise BinaryError(
        f"the program `{_NAME}` is missing: it is neither in {looked} nor on PATH.\n"
        "Reinstall the package with `pip install --force-reinstall relay-analyzer` or, in the folder of "
        "its source code, with `pip install --force-reinstall ./python`; or set the "
        f"environment variable {VARIABLE} to a program that you have built",
        code="binary-missing",
    )


class Completed(NamedTuple):
    """The result of a command."""

    code: int
    out: str
    err: str


def run(
    args: Sequence[str], text: Optional[str] = None, folder: Optional[str] = None
) -> Completed:
    """Runs the program with ``text`` on standard input."""
    program = find_binary()
    try:
        done = subprocess.run(
            [program, *args],
            input=b"" if text is None else text.encode("utf-8"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            check=False,
        )
    except OSError as error:
        raise BinaryError(
            f"cannot start `{program}`: {error}. It may be built for another platform: reinstall the "
            f"package, or set {VARIABLE} to a program that you have built",
            code="binary-failed",
            path=program,
        ) from error
    out = done.stdout.decode("utf-8", "replace")
    err = done.stderr.decode("utf-8", "replace")
    if done.returncode == 2 and re.search(r"unexpected argument|unrecognized subcommand", err):
        raise BinaryError(
            f"`{program}` is older than this package: {err.splitlines()[0]}. Update it, or unset "
            f"{VARIABLE}",
            code="binary-outdated",
            path=program,
        )
    if done.returncode not in (0, 1, 2):
        end = err.strip().splitlines()[-1:] or ["no message"]
        raise BinaryError(
            f"`{program} {args[0]}` ended with {done.returncode}: {end[0]}",
            code="binary-failed",
            path=program,
        )
    return Completed(done.returncode, out, err)


def version() -> str:
    """Returns the version of the package; without an installed package, that of the program."""
    from importlib import metadata

    try:
        return metadata.version("relay-analyzer")
    except metadata.PackageNotFoundError:
        return run(["--version"]).out.split()[-1]


def message(done: Completed) -> str:
    """Returns the error message of a failed command."""
    text = done.err.strip()
    return text[len("error: ") :] if text.startswith("error: ") else text or "no message"
