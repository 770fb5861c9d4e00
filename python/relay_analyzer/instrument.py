"""Records the modules of TVM's passes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Union

if TYPE_CHECKING:
    from ._passes import Passes


#: The name of TVM's container of passes, which changes nothing itself.
_CONTAINER = "sequential"


class _Running(NamedTuple):
    """A pass that has begun, and the names of the passes that ran inside it, in order."""

    name: str
    nested: Dict[str, None]


class PassInstrument:
    """Writes a log of numbered modules, one for each pass with changes.

    >>> with tvm.transform.PassContext(opt_level=3, instruments=[PassInstrument("run.log")]):
    ...     relay.build(mod, target="llvm")                                    # doctest: +SKIP
    >>> relay_analyzer.passes("run.log")                                       # doctest: +SKIP

    Where TVM is installed, this is one of its instruments. Elsewhere ``run_before_pass(mod, info)``
    and ``run_after_pass(mod, info)`` take any objects with ``astext()`` and with a ``name``.
    Passes of TVM run others inside: most end with ``InferType``. A change is that of the outermost pass,
    with the names of those inside it; a ``sequential`` does not count.
    Weights are left out: a pass that changes constants alone leaves no module.
    """

    log_path: str
    _last: Optional[str]
    _count: int
    _running: List[_Running]

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
        self._running = []
        # Reports a missing folder now, not in the middle of a build.
        with open(self.log_path, "wb"):
            pass

    def enter_pass_ctx(self) -> None:
        """Forgets the passes that an error has ended, whose end TVM does not report."""
        self._running.clear()

    def run_before_pass(self, mod: Any, info: Any) -> None:
        """Writes the module before the first pass, or if something else than a pass has changed it."""
        name = _name(info)
        if name != _CONTAINER:
            outermost = self._outermost()
            if outermost is None:
                self._write(mod, f"before {name}", ())
            else:
                outermost.nested[name] = None
        self._running.append(_Running(name, {}))

    def run_after_pass(self, mod: Any, info: Any) -> None:
        """Writes the module if the pass changed it and is not inside another one."""
        name = _name(info)
        nested: Sequence[str] = ()
        for at in range(len(self._running) - 1, -1, -1):
            if self._running[at].name == name:
                nested = tuple(self._running[at].nested)
                del self._running[at:]
                break
        if name != _CONTAINER and self._outermost() is None:
            self._write(mod, f"after {name}", nested)

    def _outermost(self) -> Optional[_Running]:
        """Returns the outermost pass that is running."""
        return next((one for one in self._running if one.name != _CONTAINER), None)

    def passes(self) -> Passes:
        """Reads the log so far."""
        from ._passes import passes

        return passes(self.log_path)

    def _write(self, mod: Any, when: str, nested: Sequence[str]) -> None:
        text = _text(mod)
        if text is None or text == self._last:
            return
        self._last = text
        head = f"// {self._count}: PrintIR({when}):\n"
        if nested:
            head += f"// nested: {', '.join(nested)}\n"
        with open(self.log_path, "ab") as log:
            log.write(f"{head}{text.rstrip()}\n\n".encode("utf-8", "replace"))
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


def _name(info: Any) -> str:
    """Returns the name of a pass in one line."""
    return " ".join(str(info.name).split())


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
