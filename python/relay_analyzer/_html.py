"""HTML for notebooks: self-contained, escaped and deterministic."""

from __future__ import annotations

import html as _escaping
from typing import TYPE_CHECKING, Iterable, List, Optional, Sequence, Tuple

from ._picture import picture

if TYPE_CHECKING:
    from ._diff import Diff
    from ._findings import Finding, Findings
    from ._passes import Passes
    from ._shapes import Function
    from ._types import Types

__all__ = ["page", "picture"]

#: The longest text that is shown, in characters, and the largest numbers of rows.
MAX_TEXT = 200_000
MAX_LINES = 5_000
MAX_ROWS = 500
MAX_FINDINGS = 100

# The variables are those of Jupyter's themes; without them, the browser's colours apply.
STYLE = """<style>
.relay-analyzer { color: var(--jp-content-font-color1, inherit); font-size: 13px; line-height: 1.4; }
.relay-analyzer pre.ra-code, .relay-analyzer pre.ra-excerpt { background: var(--jp-cell-editor-background, #8881); \
border: 1px solid #8884; border-radius: 3px; color: inherit; font: 12px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; \
margin: 4px 0; max-height: 32em; overflow: auto; padding: 6px 8px; white-space: pre; }
.relay-analyzer pre.ra-excerpt { border-left-width: 4px; line-height: 1.25; }
.relay-analyzer pre.ra-s-error { border-left-color: #d1383d; }
.relay-analyzer pre.ra-s-warning { border-left-color: #c08500; }
.relay-analyzer pre.ra-s-info, .relay-analyzer pre.ra-s-hint { border-left-color: #4a7fd6; }
.relay-analyzer .ra-m-error { text-decoration: underline wavy #d1383d; }
.relay-analyzer .ra-m-warning { text-decoration: underline wavy #c08500; }
.relay-analyzer .ra-m-info { text-decoration: underline dotted #4a7fd6; }
.relay-analyzer .ra-ln { color: #888; display: inline-block; min-width: 3em; padding-right: 1em; text-align: right; \
user-select: none; }
.relay-analyzer .ra-keyword { color: #8250df; }
.relay-analyzer .ra-operator { color: #0b7285; }
.relay-analyzer .ra-function, .relay-analyzer .ra-enumMember { color: #9a6700; }
.relay-analyzer .ra-type, .relay-analyzer .ra-typeParameter { color: #1a7f37; }
.relay-analyzer .ra-number, .relay-analyzer .ra-string { color: #b35900; }
.relay-analyzer .ra-parameter { font-style: italic; }
.relay-analyzer .ra-property, .relay-analyzer .ra-comment, .relay-analyzer .ra-macro { color: #777; }
.relay-analyzer [title]:hover { background: #4a7fd622; }
.relay-analyzer table.ra-table { border-collapse: collapse; margin: 4px 0; }
.relay-analyzer table.ra-table th, .relay-analyzer table.ra-table td { border-bottom: 1px solid #8883; padding: 2px 10px; \
text-align: left; }
.relay-analyzer table.ra-table td.ra-n, .relay-analyzer table.ra-table th.ra-n { font-variant-numeric: tabular-nums; \
text-align: right; }
.relay-analyzer table.ra-table tfoot td { font-weight: 600; }
.relay-analyzer .ra-scroll { max-height: 32em; overflow: auto; }
.relay-analyzer code { background: none; color: inherit; font-size: 12px; }
.relay-analyzer .ra-dim { color: #888; }
.relay-analyzer iframe { background: #fff; border: 1px solid #8884; height: 32em; width: 100%; }
.relay-analyzer svg text { fill: currentColor; font: 11px ui-monospace, "DejaVu Sans Mono", monospace; }
.relay-analyzer summary { cursor: pointer; font-weight: 600; margin: 4px 0; }
</style>"""


def escape(text: object) -> str:
    """Escapes text for elements and attributes."""
    return _escaping.escape(str(text), quote=True)


def page(body: str) -> str:
    """Puts the style before the parts of an output."""
    return f'<div class="relay-analyzer">{STYLE}{body}</div>'


def finding(found: Finding) -> str:
    """A finding with its excerpt."""
    return f'<pre class="ra-excerpt ra-s-{escape(found.severity)}">{escape(found)}</pre>'


def findings(found: Findings) -> str:
    """The findings except hints, and the counts."""
    shown = [one for one in found if one.severity != "hint"]
    parts = [finding(one) for one in shown[:MAX_FINDINGS]]
    if len(shown) > MAX_FINDINGS:
        parts.append(f'<p class="ra-dim">… and {len(shown) - MAX_FINDINGS} more</p>')
    parts.append(f"<p>{escape(found.path)}: {escape(found.summary())}</p>")
    return "".join(parts)


def count(number: Optional[int]) -> str:
    """A number with separators."""
    return "?" if number is None else f"{number:,}"


def size(number: Optional[int]) -> str:
    """A number of bytes with a unit."""
    if number is None:
        return "?"
    value = float(number)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{number} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], foot: Sequence[str], numeric: Sequence[int]
) -> str:
    """A table of HTML cells."""

    def cells(tag: str, row: Sequence[str]) -> str:
        parts = []
        for column, cell in enumerate(row):
            kind = ' class="ra-n"' if column in numeric else ""
            parts.append(f"<{tag}{kind}>{cell}</{tag}>")
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(cells("td", row) for row in rows)
    end = f"<tfoot>{cells('td', foot)}</tfoot>" if foot else ""
    return (
        f'<div class="ra-scroll"><table class="ra-table"><thead>{cells("th", head)}</thead>'
        f"<tbody>{body}</tbody>{end}</table></div>"
    )


def _more(count: int, what: str) -> str:
    """A note on the rows that a table omits."""
    hidden = count - MAX_ROWS
    return f'<p class="ra-dim">… and {hidden} more {what}</p>' if hidden > 0 else ""


def shape_table(function: Function) -> str:
    """The calls of a function with their costs."""
    rows = [
        (
            f"<code>{escape(call.binding)}</code>" if call.binding else "",
            f"<code>{escape(call.operator)}</code>",
            f"<code>{escape(call.type)}</code>",
            count(call.parameters),
            count(call.macs),
            size(call.bytes),
        )
        for call in function.calls[:MAX_ROWS]
    ]
    more = _more(len(function.calls), "calls")
    total = function.total
    foot = (
        "1 call" if total.calls == 1 else f"{count(total.calls)} calls",
        "",
        "",
        count(total.parameters),
        count(total.macs),
        f"peak {size(total.peak_bytes)}",
    )
    head = ("", "operator", "type", "parameters", "MACs", "bytes")
    return (
        f"<details open><summary><code>{escape(function.name)}</code></summary>"
        f"{table(head, rows, foot, (3, 4, 5))}{more}</details>"
    )


def types(found: Types) -> str:
    """The types as a table."""
    rows = [
        (
            f"{one.line}:{one.column}",
            f"<code>{escape(_short(one.text))}</code>",
            f"<code>{escape(one.type)}</code>",
        )
        for one in found[:MAX_ROWS]
    ]
    return table(("", "expression", "type"), rows, (), (0,)) + _more(len(found), "types")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:79]}…"


def passes(log: Passes) -> str:
    """The modules of a log, dimmed if nothing changed."""
    rows = []
    for entry in log[:MAX_ROWS]:
        name = escape(entry.name or "-")
        changed = ", ".join(escape(one) for one in entry.changed[:4])
        if len(entry.changed) > 4:
            changed += f" and {len(entry.changed) - 4} more"
        if entry.index > 0 and not entry.changed:
            name, changed = f'<span class="ra-dim">{name}</span>', '<span class="ra-dim">nothing</span>'
        notes = " (printed before the pass)" if entry.is_before else ""
        notes += " (cut off)" if entry.is_cut else ""
        rows.append((str(entry.index), name, str(entry.functions), changed + notes))
    more = f'<p class="ra-dim">… and {len(log) - MAX_ROWS} more</p>' if len(log) > MAX_ROWS else ""
    return table(("#", "pass", "functions", "changed"), rows, (), (0, 2)) + more


def diff(found: Diff) -> str:
    """The HTML page of the program, isolated in a frame."""
    summary = escape(found.text.split("\n\n")[0])
    if found.equal:
        return f"<p>{summary}</p>"
    return (
        f'<details open><summary>{summary}</summary><iframe sandbox="allow-scripts" '
        f'srcdoc="{escape(found.html)}"></iframe></details>'
    )


def code(
    text: str,
    tokens: Sequence[Tuple[int, int, str]],
    types: Sequence[Tuple[int, int, str]],
    marks: Sequence[Tuple[int, int, str, str]],
) -> str:
    """A module with colours, types on hover, and highlighted findings.

    ``tokens`` are ``(start, end, kind)``, ``types`` are ``(start, end, type)``, and ``marks`` are
    ``(start, end, severity, message)``. Elements nest; one that would cross another is closed and
    opened again.
    """
    end = len(text)
    cut = ""
    if end > MAX_TEXT:
        end = text.rfind("\n", 0, MAX_TEXT) + 1 or MAX_TEXT
    if text.count("\n", 0, end) > MAX_LINES:
        end = sum(len(row) + 1 for row in text.split("\n", MAX_LINES)[:MAX_LINES])
    if end < len(text):
        cut = f'<p class="ra-dim">… and {text.count(chr(10), end) + 1:,} more lines</p>'
    spans: List[Tuple[int, int, int, str]] = []
    for start, stop, kind in types:
        spans.append((start, stop, 0, f'<span title="{escape(kind)}">'))
    for start, stop, severity, message in marks:
        if severity != "hint":
            label = f' class="ra-m-{escape(severity)}" title="{escape(message)}"'
            spans.append((start, max(stop, start + 1), 1, f"<span{label}>"))
    for start, stop, kind in tokens:
        spans.append((start, stop, 2, f'<span class="ra-{escape(kind)}">'))
    spans = [span for span in spans if span[0] < span[1] and span[0] < end]
    spans.sort(key=lambda span: (span[0], -span[1], span[2]))
    out: List[str] = []
    line = 1
    opened: List[Tuple[int, str]] = []
    at = 0

    def number() -> str:
        return f'<span class="ra-ln">{line}</span>'

    def put(until: int) -> None:
        nonlocal at, line
        while at < until:
            stop = text.find("\n", at, until)
            if stop < 0:
                out.append(escape(text[at:until]))
                at = until
                return
            out.append(escape(text[at:stop]))
            # Elements end with their line, so that line numbers are outside of them.
            out.append("</span>" * len(opened) + "\n")
            at = stop + 1
            line += 1
            if at < end:
                out.append(number())
            out.append("".join(tag for _, tag in opened))

    def close(until: int) -> None:
        while opened:
            first = min(stop for stop, _ in opened)
            if first > until:
                return
            put(min(first, end))
            depth = next(k for k, (stop, _) in enumerate(opened) if stop == first)
            out.append("</span>" * (len(opened) - depth))
            del opened[depth]
            out.append("".join(tag for _, tag in opened[depth:]))

    out.append(number())
    for start, stop, _, tag in spans:
        close(start)
        put(start)
        out.append(tag)
        opened.append((stop, tag))
    close(end)
    put(end)
    out.append("</span>" * len(opened))
    return f'<pre class="ra-code">{"".join(out)}</pre>{cut}'
