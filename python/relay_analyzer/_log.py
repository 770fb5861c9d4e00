"""The modules of pass logs, as the program lists them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, List, Sequence, Tuple

from . import _binary
from ._errors import SourceError

if TYPE_CHECKING:
    from . import _protocol


def read(log: Any) -> Tuple[bytes, str]:
    """Returns a log as UTF-8, and its name in messages: of a text, a path, or an object with ``log_path``."""
    if hasattr(log, "log_path"):
        log = log.log_path
    is_path = isinstance(log, os.PathLike) or (
        isinstance(log, str) and "\n" not in log and log.strip() != ""
    )
    if is_path:
        path = os.fspath(log)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            raise SourceError(
                f"cannot read the log `{path}`: {error.strerror or error}",
                code="unreadable",
                path=path,
            ) from None
        # Other output between the modules of a log may have any encoding.
        return data.decode("utf-8", "replace").encode("utf-8"), path
    if isinstance(log, str):
        return log.encode("utf-8", "replace"), "<log>"
    raise SourceError(
        f"`{type(log).__name__}` is not a log: pass its text, a path or a `PassInstrument`",
        code="not-a-log",
    )


def modules(data: bytes, name: str, extra: Sequence[str] = ()) -> List[_protocol.PassModule]:
    """Returns the entries of ``relay-analyzer passes``."""
    done = _binary.run(["passes", "--format", "json", *extra, "-"], data.decode("utf-8"))
    if done.code != 0:
        raise SourceError(_binary.message(done).replace("`-`", f"`{name}`"), code="no-modules", path=name)
    listed: _protocol.PassLog = json.loads(done.out)
    return listed["modules"]


def text(data: bytes, entry: _protocol.PassModule) -> str:
    """Returns the text of an entry."""
    return data[entry["start"] : entry["end"]].decode("utf-8")
