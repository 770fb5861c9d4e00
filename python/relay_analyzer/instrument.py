"""Records the modules of TVM's passes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional, Union

if TYPE_CHECKING:
    from ._passes import Passes


class PassInstrument:
    """Writes a log of numbered modules, one for each pass with changes.

    >>> with tvm.transform.PassContext(opt_level=3, instruments=[PassInstrument("run.log")]):
    ...     relay.build(mod, target="llvm")                                    # doctest: +SKIP
    >>> relay_analyzer.passes("run.log")                                       # doctest: +SKIP

    Where TVM is installed, this is one of its instruments. Elsewhere ``run_before_pass(mod, info)``
    and ``run_after_pass(mod, info)`` take any objects with ``astext()`` and with a ``name``.
    Weights are left out: a pass that changes constants alone leaves no module.
    """

    log_path: str
    _last: Optional[str]
    _count: int

    def __new__(cls, path: Union[str, "os.PathLike[str]"]) -> Any:
        if cls is PassInstrument:
            wrapped = _wrapped()
            if wrapped is not None:
                return wrapped(path)
        return super().__new__(cls)

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.log_path = os.path.abspath(os.fspath(path))
        self._last = None
        self._count = 0
        # Reports a missing folder now, not in the middle of a build.
        with open(self.log_path, "wb"):
            pass

    def run_before_pass(self, mod: Any, info: Any) -> None:
        """Writes the module before the first pass."""
        if self._last is None:
            self._write(mod, f"before {info.name}")

    def run_after_pass(self, mod: Any, info: Any) -> None:
        """Writes the module if the pass changed it."""
        self._write(mod, f"after {info.name}")

    def passes(self) -> Passes:
        """Reads the log so far."""
        from ._passes import passes

        return passes(self.log_path)

    def _write(self, mod: Any, when: str) -> None:
        text = _text(mod)
        if text is None or text == self._last:
            return
        self._last = text
        when = " ".join(when.split())
        with open(self.log_path, "ab") as log:
            log.write(f"// {self._count}: PrintIR({when}):\n{text.rstrip()}\n\n".encode("utf-8", "replace"))
        self._count += 1


class _Recorder(PassInstrument):
    """The class that TVM's decorator wraps."""


def _wrapped() -> Any:
    """Returns the decorated class, if TVM is installed."""
    try:
        from tvm.ir.instrument import pass_instrument  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return None
    return pass_instrument(_Recorder)


def _text(mod: Any) -> Optional[str]:
    """Returns the text without weights; ``None`` for other languages, such as TIR."""
    astext = getattr(mod, "astext", None)
    if astext is None:
        return None
    try:
        text = astext(show_meta_data=False)
    except TypeError:
        text = astext()
    return text if isinstance(text, str) else None
