"""HTML for notebooks: self-contained, escaped and deterministic."""

from __future__ import annotations

import html as _escaping
from typing import Iterable, List, Optional, Sequence, Tuple

#: The longest text that is shown, in characters, and the largest numbers of rows.
MAX_TEXT = 200_000
MAX_LINES = 5_000
MAX_ROWS = 500

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
.relay-analyzer .ra-scroll { max-height: 32em; overflow: auto; }
.relay-analyzer code { background: none; color: inherit; font-size: 12px; }
.relay-analyzer .ra-dim { color: #888; }
.relay-analyzer iframe { background: #fff; border: 1px solid #8884; height: 32em; width: 100%; }
.relay-analyzer summary { cursor: pointer; font-weight: 600; margin: 4px 0; }
</style>"""


def escape(text: object) -> str:
    """Escapes text for elements and attributes."""
    return _escaping.escape(str(text), quote=True)


def page(body: str) -> str:
    """Puts the style before the parts of an output."""
    return f'<div class="relay-analyzer">{STYLE}{body}</div>'


def frame(document: str) -> str:
    """A page of the program, isolated: its scripts run and its buttons save files, and it reaches nothing outside."""
    return f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{escape(document)}"></iframe>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int]) -> str:
    """A table of HTML cells."""

    def cells(tag: str, row: Sequence[str]) -> str:
        parts = []
        for column, cell in enumerate(row):
            kind = ' class="ra-n"' if column in numeric else ""
            parts.append(f"<{tag}{kind}>{cell}</{tag}>")
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(cells("td", row) for row in rows)
    return (
        f'<div class="ra-scroll"><table class="ra-table"><thead>{cells("th", head)}</thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def more(count: int, what: str) -> str:
    """A note on the rows that a table omits."""
    hidden = count - MAX_ROWS
    return f'<p class="ra-dim">… and {hidden} more {what}</p>' if hidden > 0 else ""


def code(
    text: str,
    tokens: Sequence[Tuple[int, int, str]],
    types: Sequence[Tuple[int, int, str]],
    marks: Sequence[Tuple[int, int, str, str]],
) -> str:
    """A module with colours, types on hover, and highlighted diagnostics.

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
