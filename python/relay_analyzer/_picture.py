"""The dataflow of a function as SVG: layers from top to bottom."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

if TYPE_CHECKING:
    from ._shapes import Function

#: The largest number of calls that are drawn.
MAX_CALLS = 200

_HEIGHT, _GAP_X, _GAP_Y, _LETTER = 34, 16, 30, 6.7
_KINDS = (
    (re.compile(r"conv|dense|matmul|einsum"), "#4a7fd6"),
    (re.compile(r"relu|sigmoid|tanh|gelu|softmax|erf|exp|clip"), "#c08500"),
    (re.compile(r"pool|mean|sum|max$|min$|norm"), "#2a9d5c"),
    (re.compile(r"^@|^%"), "#9a6700"),
)


def _colour(operator: str) -> str:
    return next((colour for kind, colour in _KINDS if kind.search(operator)), "#888888")


def _label(type: str) -> str:
    found = re.fullmatch(r"Tensor\[\((.*)\), (\w+)\]", type)
    shown = type if found is None else f"{found[2]} [{found[1].replace(', ', '×')}]"
    return shown if len(shown) <= 34 else f"{shown[:33]}…"


def picture(function: Function) -> str:
    """The dataflow of a function: inputs, calls, results, but no weights and constants."""
    calls = function.calls
    if not calls:
        return ""
    if len(calls) > MAX_CALLS:
        return (
            f'<p class="ra-dim">{len(calls):,} calls are too many for a picture: the editors draw '
            "them all, and <code>relay-analyzer shapes --format dot</code> writes them for Graphviz</p>"
        )
    # Nodes are calls, then inputs, then the result.
    labels: List[Tuple[str, str, str]] = [
        (call.operator, _label(call.type), _colour(call.operator)) for call in calls
    ]
    inputs: Dict[int, int] = {}
    edges: List[Tuple[int, int]] = []

    def node(row: Optional[int], source: Optional[int]) -> Optional[int]:
        if row is not None:
            return row
        if source is None or function.parameters[source].kind != "input":
            return None
        if source not in inputs:
            inputs[source] = len(labels)
            parameter = function.parameters[source]
            labels.append((parameter.name, _label(parameter.type), "#2a9d5c"))
        return inputs[source]

    for number, call in enumerate(calls):
        for given in call.inputs:
            origin = node(given.row, given.source)
            if origin is not None and (origin, number) not in edges:
                edges.append((origin, number))
    ends = [node(result.row, result.source) for result in function.results]
    last = len(labels)
    labels.append(("result", function.name, "#9a6700"))
    for end in ends:
        if end is not None and (end, last) not in edges:
            edges.append((end, last))
    return _draw(labels, edges)


def _layers(count: int, edges: List[Tuple[int, int]]) -> List[int]:
    """Returns the layer of each node, which is below those of its operands."""
    takes: List[List[int]] = [[] for _ in range(count)]
    gives: List[List[int]] = [[] for _ in range(count)]
    for origin, target in edges:
        takes[target].append(origin)
        gives[origin].append(target)
    left = [len(origins) for origins in takes]
    ready = [number for number in range(count) if left[number] == 0]
    layer = [0] * count
    for number in ready:
        for target in gives[number]:
            layer[target] = max(layer[target], layer[number] + 1)
            left[target] -= 1
            if left[target] == 0:
                ready.append(target)
    # A node without operands is placed right above its first use.
    for number in range(count):
        if not takes[number] and gives[number]:
            layer[number] = min(layer[target] for target in gives[number]) - 1
    lowest = min(layer)
    return [level - lowest for level in layer]


def _ordered(layer: List[int], edges: List[Tuple[int, int]]) -> List[List[int]]:
    """Orders the nodes of each layer by the mean of their neighbours, which reduces crossings."""
    count = len(layer)
    takes: List[List[int]] = [[] for _ in range(count)]
    gives: List[List[int]] = [[] for _ in range(count)]
    for origin, target in edges:
        takes[target].append(origin)
        gives[origin].append(target)
    layers: List[List[int]] = [[] for _ in range(max(layer) + 1)]
    for number in range(count):
        layers[layer[number]].append(number)
    place = [0] * count
    for nodes in layers:
        for position, number in enumerate(nodes):
            place[number] = position
    for sweep in range(4):
        for nodes in layers if sweep % 2 == 0 else layers[::-1]:
            neighbours = takes if sweep % 2 == 0 else gives

            def mean(number: int, around: List[List[int]] = neighbours) -> float:
                near = around[number]
                return sum(place[k] for k in near) / len(near) if near else place[number]

            nodes.sort(key=lambda number: (mean(number), number))
            for position, number in enumerate(nodes):
                place[number] = position
    return layers


def _draw(labels: List[Tuple[str, str, str]], edges: List[Tuple[int, int]]) -> str:
    layer = _layers(len(labels), edges)
    # An edge across layers gets a place in each, so that it does not cross the boxes.
    chains: List[List[int]] = []
    steps: List[Tuple[int, int]] = []
    for origin, target in edges:
        chain = [origin]
        for level in range(layer[origin] + 1, layer[target]):
            chain.append(len(layer))
            layer.append(level)
        chain.append(target)
        chains.append(chain)
        steps.extend(zip(chain, chain[1:]))
    layers = _ordered(layer, steps)
    widths = [max(len(name), len(type)) * _LETTER + 18 for name, type, _ in labels]
    widths += [12.0] * (len(layer) - len(labels))
    rows = [sum(widths[k] for k in nodes) + _GAP_X * (len(nodes) - 1) for nodes in layers]
    width = max(rows) + 20
    height = len(layers) * (_HEIGHT + _GAP_Y) - _GAP_Y + 20
    centre: Dict[int, Tuple[float, int]] = {}
    for level, nodes in enumerate(layers):
        x = (width - rows[level]) / 2
        for number in nodes:
            centre[number] = (x + widths[number] / 2, 10 + level * (_HEIGHT + _GAP_Y))
            x += widths[number] + _GAP_X
    parts: List[str] = []
    bend = _GAP_Y / 2
    for chain in chains:
        x, y = centre[chain[0]]
        path = f"M{x:.1f} {y + _HEIGHT}"
        for start, stop in zip(chain, chain[1:]):
            (x, y), (to_x, to_y) = centre[start], centre[stop]
            path += (
                f"C{x:.1f} {y + _HEIGHT + bend} {to_x:.1f} {to_y - bend} {to_x:.1f} {to_y}"
            )
            if stop != chain[-1]:
                path += f"V{to_y + _HEIGHT}"
        parts.append(f'<path d="{path}" fill="none" stroke="#888" stroke-opacity="0.7"/>')
    for number, (name, type, colour) in enumerate(labels):
        x, y = centre[number]
        left = x - widths[number] / 2
        parts.append(
            f'<rect x="{left:.1f}" y="{y}" width="{widths[number]:.1f}" height="{_HEIGHT}" rx="4" '
            f'fill="{colour}" fill-opacity="0.16" stroke="{colour}"/>'
            f'<text x="{x:.1f}" y="{y + 14}" text-anchor="middle" font-weight="600">'
            f"{html.escape(name)}</text>"
            f'<text x="{x:.1f}" y="{y + 28}" text-anchor="middle" opacity="0.75">'
            f"{html.escape(type)}</text>"
        )
    return (
        f'<div class="ra-scroll"><svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
        f'height="{height}" viewBox="0 0 {width:.0f} {height}" role="img">{"".join(parts)}</svg></div>'
    )
