// The arrangement of one level by dagre: which row each box is in, in which order, and where long edges pass. It depends
// on the closed sizes of boxes only, so that a box that opens leaves the others in their rows and in their order.
import { graphlib, layout } from "@dagrejs/dagre";

/** Distances between boxes and edges. Rows are further apart in the picture. */
const APART = { nodesep: 26, edgesep: 22, ranksep: 40 };

/**
 * Arranges boxes with their `width` and `height`; edges are pairs of indices, and `spine` has the boxes of the main
 * line. Returns elements, which are boxes or the places where an edge passes a row: each has a `row` and an `x`. The
 * elements of box `n` are at `n`; `routes` has those that each edge passes.
 */
export function arrange({ boxes, edges, spine }) {
  const graph = new graphlib.Graph({ multigraph: false });
  graph.setGraph({ rankdir: "TB", ...APART });
  graph.setDefaultEdgeLabel(() => ({}));
  boxes.forEach(({ width, height }, at) => graph.setNode(String(at), { width, height }));
  const main = new Set(spine.slice(1).map((at, index) => `${spine[index]} ${at}`));
  for (const [from, to] of edges) {
    graph.setEdge(String(from), String(to), { weight: main.has(`${from} ${to}`) ? 12 : 1, minlen: 1 });
  }
  layout(graph);
  const places = boxes.map((_, at) => graph.node(String(at)));
  const rows = [...new Set(places.map(({ y }) => Math.round(y)))].sort((a, b) => a - b);
  const rowAt = new Map(rows.map((y, row) => [y, row]));
  const elements = places.map(({ x, y }) => ({ row: rowAt.get(Math.round(y)), x }));
  const routes = edges.map(([from, to]) => {
    const { points } = graph.edge(String(from), String(to));
    const route = [];
    for (let row = elements[from].row + 1; row < elements[to].row; row++) {
      route.push(elements.push({ row, x: crossing(points, rows[row]) }) - 1);
    }
    return route;
  });
  return { rows: rows.length, elements, routes };
}

/** Where a line crosses a height. */
function crossing(points, y) {
  for (let at = 1; at < points.length; at++) {
    const [a, b] = [points[at - 1], points[at]];
    if (y <= b.y) {
      const part = b.y === a.y ? 1 : Math.max(0, (y - a.y) / (b.y - a.y));
      return a.x + (b.x - a.x) * part;
    }
  }
  return points.at(-1)?.x ?? 0;
}
