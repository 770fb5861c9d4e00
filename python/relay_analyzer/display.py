"""Display of modules in notebooks: the magic ``%%relay``, and the display of TVM modules."""

from __future__ import annotations

import importlib
import shlex
from typing import Any, List, Optional

from ._api import Shown, show
from ._errors import RelayError

#: Types by module and name, so that TVM need not be loaded.
_TYPES = (
    ("tvm.ir.module", "IRModule"),
    ("tvm.relay.function", "Function"),
    ("tvm.relay.expr", "Call"),
    ("tvm.relay.expr", "Let"),
    ("tvm.relay.expr", "Tuple"),
)

_USAGE = "usage: %%relay [--tvm] [NAME], where NAME is the variable that takes the text"


def enable(shell: Optional[Any] = None) -> None:
    """Displays TVM modules with colours, types, diagnostics, shapes and a picture from now on."""
    formatter = _shell(shell).display_formatter.formatters["text/html"]
    for module, name in _TYPES:
        formatter.for_type_by_name(module, name, _html)


def disable(shell: Optional[Any] = None) -> None:
    """Undoes :func:`enable`."""
    formatter = _shell(shell).display_formatter.formatters["text/html"]
    for module, name in _TYPES:
        key = (module, name)
        for known in (formatter.deferred_printers, formatter.type_printers):
            for entry in [entry for entry in known if _key(entry) == key]:
                del known[entry]


def _key(entry: Any) -> Any:
    return (entry.__module__, entry.__name__) if isinstance(entry, type) else entry


def _html(module: Any) -> Optional[str]:
    try:
        return show(module)._repr_html_()
    except RelayError:
        # Unreadable modules, such as TIR, are displayed as before.
        return None


def _shell(shell: Optional[Any]) -> Any:
    if shell is not None:
        return shell
    try:
        # Not an import, whose type depends on the release of IPython.
        shell = importlib.import_module("IPython").get_ipython()
    except ImportError:
        pass
    if shell is None:
        raise RelayError(
            "IPython is not running: call this in a notebook, or print `relay_analyzer.show(mod)`",
            code="no-ipython",
        )
    return shell


def relay(shell: Any, line: str, cell: str) -> Optional[Shown]:
    """``%%relay [--tvm] [NAME]``: shows the cell and assigns its text to a variable."""
    names: List[str] = shlex.split(line)
    tvm = "--tvm" in names
    names = [name for name in names if name != "--tvm"]
    if len(names) > 1 or (names and not names[0].isidentifier()):
        raise RelayError(_USAGE, code="usage")
    if not cell.strip():
        raise RelayError(f"the cell is empty; {_USAGE}", code="usage")
    if names:
        shell.push({names[0]: cell})
    return show(cell, tvm=tvm)


def load_magic(shell: Any) -> None:
    """Registers ``%%relay``."""

    def magic(line: str, cell: str) -> Optional[Shown]:
        return relay(shell, line, cell)

    shell.register_magic_function(magic, magic_kind="cell", magic_name="relay")
