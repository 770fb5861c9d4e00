"""Types, shapes, errors, runs and diffs of Relay modules, without TVM.

>>> import relay_analyzer as ra
>>> ra.check("def @main(%x: int32) { %y }").errors[0].code
'unknown-variable'
"""

import sys

# Before anything that an old Python cannot parse.
if sys.version_info < (3, 8):
    raise ImportError(
        "relay-analyzer needs Python 3.8 or newer, and this is Python %d.%d: "
        "create an environment with a newer one, or run the program `relay-analyzer` itself"
        % sys.version_info[:2]
    )

from ._api import Shown, check, fmt, shapes, show, types
from ._binary import find_binary
from ._diagnostics import Diagnostic, Diagnostics, Edit, Fix, ModuleError, ParseError, Related
from ._diff import Diff, FunctionDiff, diff
from ._errors import ArgumentError, BinaryError, RelayError, RunError, SourceError
from ._passes import Pass, Passes, passes
from ._reduce import Reduction, reduce
from ._run import Closure, Data, Reference, run
from ._shapes import Call, Function, Input, Parameter, Shapes, Total
from ._types import TypeAt, Types
from .instrument import PassInstrument

__version__: str

__all__ = [
    "ArgumentError",
    "BinaryError",
    "Call",
    "Closure",
    "Data",
    "Diagnostic",
    "Diagnostics",
    "Diff",
    "Edit",
    "Fix",
    "Function",
    "FunctionDiff",
    "Input",
    "ModuleError",
    "Parameter",
    "ParseError",
    "Pass",
    "PassInstrument",
    "Passes",
    "Reduction",
    "Reference",
    "Related",
    "RelayError",
    "RunError",
    "Shapes",
    "Shown",
    "SourceError",
    "Total",
    "TypeAt",
    "Types",
    "__version__",
    "check",
    "diff",
    "find_binary",
    "fmt",
    "passes",
    "reduce",
    "run",
    "shapes",
    "show",
    "types",
]


def __getattr__(name: str) -> str:
    # Read when it is asked for: not all start with it, and it may need the program.
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._binary import version

    return version()


def load_ipython_extension(shell):  # type: ignore[no-untyped-def]
    """Registers ``%%relay`` on ``%load_ext relay_analyzer``."""
    from .display import load_magic

    load_magic(shell)
