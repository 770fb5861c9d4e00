// The positions of boxes, from the arrangement of each open level: a box that opens grows where it is, and the others
// keep their rows, their order and the main line.

export const NODE = { width: 220, height: 42, gapX: 24, gapY: 40 };
export const PORT = { width: 220, height: 22 };
export const PILL = { width: 124, height: 17, gap: 3, apart: 14, most: 4 };
export const FRAME = { header: 30, side: 18, bottom: 14 };
/** The room on both sides of an edge that passes a row. */
const EDGE = 9;

/** The room that pills take beside a box: an open group has none, as the boxes inside of it have them. */
const beside = ({ kind, pills }, isOpen) => (pills.length > 0 && !(isOpen && kind === "group") ? PILL.apart + PILL.width : 0);

const isPort = ({ kind }) => kind === "entry" || kind === "exit";

/** The number of drawn pills: the last one shows the number of the others. */
export const pillsShown = (count) => Math.min(count, PILL.most);

/** How far a closed box extends to the left and to the right of the main line through it, and its height. */
export function closedSize(box) {
  if (isPort(box)) {
    return { left: PORT.width / 2, right: PORT.width / 2, height: PORT.height };
  }
  const pills = pillsShown(box.pills.length);
  return { left: NODE.width / 2 + beside(box, false), right: NODE.width / 2, height: Math.max(NODE.height, pills * (PILL.height + PILL.gap)) };
}

/** What is to be arranged of a level. */
export function outline({ boxes, edges, spine }) {
  // As much room on both sides: dagre aligns the middles of boxes, and pills are on one side only.
  const sizes = boxes.map(closedSize).map(({ left, right, height }) => ({ width: 2 * Math.max(left, right), height }));
  return { boxes: sizes, edges: edges.map(({ from, to }) => [from, to]), spine };
}

/**
 * The positions in a level whose main line is at 0: `x` of each element, and the `tops` and `bottoms` of its rows.
 * `open` has the levels inside of boxes by their keys.
 */
export function placed(level, open) {
  const { boxes, edges, spine, arrangement } = level;
  const inner = boxes.map(({ key }) => (open.has(key) ? placed(open.get(key), open) : undefined));
  const sizes = boxes.map((box, at) => {
    const within = inner[at];
    if (within === undefined) {
      return closedSize(box);
    }
    const { left, right, bottom } = within.bounds;
    const pills = beside(box, true);
    const least = NODE.width / 2 + 70;
    return { left: Math.max(least, FRAME.side - left) + pills, right: Math.max(least, right + FRAME.side), height: FRAME.header + bottom + FRAME.bottom };
  });
  const { elements, routes, rows } = arrangement;
  const main = mainElements(spine, edges, routes);
  const layers = Array.from({ length: rows }, () => []);
  elements.forEach(({ row }, at) => layers[row].push(at));
  const size = (at) => sizes[at] ?? { left: EDGE, right: EDGE, height: 0 };
  const x = new Float64Array(elements.length);
  const [tops, bottoms] = [[], []];
  let bottom = -NODE.gapY;
  const wanted = sidesOf({ elements, routes, edges, main, rows, size });
  for (const [row, layer] of layers.entries()) {
    layer.sort((a, b) => wanted[a] - wanted[b]);
    tops[row] = bottom + NODE.gapY;
    bottom = tops[row] + Math.max(0, ...layer.map((at) => size(at).height));
    bottoms[row] = bottom;
  }
  gather({ layers, elements, routes, edges, main, wanted, size, x });
  routes.forEach((route) => straighten(route, layers, elements, size, x));
  const bounds = { left: 0, right: 0, top: 0, bottom: Math.max(0, bottom) };
  elements.forEach((_, at) => {
    bounds.left = Math.min(bounds.left, x[at] - size(at).left);
    bounds.right = Math.max(bounds.right, x[at] + size(at).right);
  });
  return { level, inner, sizes, x, tops, bottoms, bounds };
}

/** The boxes of the main line, and the elements that its edges pass. */
function mainElements(spine, edges, routes) {
  const main = new Set(spine);
  const pairs = new Set(spine.slice(1).map((at, index) => `${spine[index]} ${at}`));
  edges.forEach(({ from, to }, at) => pairs.has(`${from} ${to}`) && routes[at].forEach((one) => main.add(one)));
  return main;
}

/**
 * The side of each element and its distance from the main line, which is at 0, as dagre has it. What is connected without
 * the main line stays together, on the side that is less full: dagre often puts all of it on one side.
 */
function sidesOf({ elements, routes, edges, main, rows, size }) {
  const line = [...main].reduce((sum, at) => sum + elements[at].x, 0) / Math.max(1, main.size);
  const parts = partsOf(elements, routes, edges, (at) => !main.has(at), () => true);
  const wanted = new Float64Array(elements.length);
  const distance = (at) => Math.max(1, Math.abs(elements[at].x - line));
  const nearest = new Map(parts.map((part) => [part, Math.min(...part.map(distance))]));
  parts.sort((a, b) => nearest.get(a) - nearest.get(b));
  const filled = { [-1]: new Float64Array(rows), 1: new Float64Array(rows) };
  for (const part of parts) {
    const widths = new Map();
    for (const at of part) {
      const { left, right } = size(at);
      widths.set(elements[at].row, (widths.get(elements[at].row) ?? 0) + left + right + NODE.gapX / 2);
    }
    const extent = (side) => Math.max(...[...widths].map(([row, width]) => filled[side][row] + width));
    const own = part.reduce((sum, at) => sum + elements[at].x - line, 0) < 0 ? -1 : 1;
    const side = extent(-own) < extent(own) ? -own : own;
    widths.forEach((width, row) => (filled[side][row] += width));
    part.forEach((at) => (wanted[at] = side * distance(at)));
  }
  return wanted;
}

/**
 * Places the main line at 0 and the others beside it, as near as there is room: dagre keeps the distances that closed
 * boxes with values on both sides would need. Elements below one another stay so.
 */
function gather({ layers, elements, routes, edges, main, wanted, size, x }) {
  const gap = NODE.gapX / 2;
  for (const side of [-1, 1]) {
    const own = (at) => !main.has(at) && (wanted[at] < 0 ? -1 : 1) === side;
    // Edges that meet pass a row at the same place.
    const isApart = (above, below) => above.every((a) => below.every((b) => elements[a].row !== elements[b].row));
    const isStraight = (a, b) => Math.abs(wanted[a] - wanted[b]) < 1;
    const columns = partsOf(elements, routes, edges, own, (a, b, above, below) => isStraight(a, b) && isApart(above, below));
    // The next element towards the main line has been placed: it is in a column that is nearer to it.
    columns.sort((a, b) => side * (wanted[a[0]] - wanted[b[0]]));
    for (const column of columns) {
      let far = -Infinity;
      for (const at of column) {
        const layer = layers[elements[at].row];
        const next = layer[layer.indexOf(at) - side];
        // A row that the main line does not pass has elements of both sides only between them.
        const isNext = next !== undefined && (side > 0 || main.has(next) || own(next));
        const [outer, inner] = side > 0 ? ["right", "left"] : ["left", "right"];
        far = Math.max(far, isNext ? side * x[next] + size(next)[outer] + gap + size(at)[inner] : column.length > 1 ? -Infinity : side * wanted[at]);
      }
      column.forEach((at) => (x[at] = side * (far === -Infinity ? side * wanted[column[0]] : far)));
    }
  }
}

/** Some elements in parts: those that edges join, if `joins` says so of two elements and of their parts. */
function partsOf(elements, routes, edges, own, joins) {
  const parts = new Map();
  elements.forEach((_, at) => own(at) && parts.set(at, [at]));
  edges.forEach(({ from, to }, edge) => {
    const path = [from, ...routes[edge], to];
    for (let at = 1; at < path.length; at++) {
      const [above, below] = [parts.get(path[at - 1]), parts.get(path[at])];
      if (above !== undefined && below !== undefined && above !== below && joins(path[at - 1], path[at], above, below)) {
        above.push(...below);
        below.forEach((one) => parts.set(one, above));
      }
    }
  });
  return [...new Set(parts.values())];
}

/** Moves what an edge passes outwards to one line, where nothing is in the way. */
function straighten(route, layers, elements, size, x) {
  const side = Math.sign(route.reduce((sum, at) => sum + x[at], 0));
  if (route.length < 2 || side === 0) {
    return;
  }
  const line = side * Math.max(...route.map((at) => side * x[at]));
  for (const at of route) {
    const layer = layers[elements[at].row];
    const next = layer[layer.indexOf(at) + side];
    const inner = next === undefined ? Infinity : side * x[next] - (side > 0 ? size(next).left : size(next).right);
    if (side * line + EDGE < inner) {
      x[at] = line;
    }
  }
}

/**
 * The picture: boxes with absolute positions, those of a frame after it, and edges as paths. `from` and `to` of an edge
 * are indices of boxes.
 */
export function sceneOf(top, open) {
  const scene = { items: [], nodes: [], edges: [], bounds: undefined };
  const whole = placed(top, open);
  draw(whole, 0, 0, -1, scene);
  const { left, right, bottom } = whole.bounds;
  scene.bounds = { left: left - 16, right: right + 16, top: -16, bottom: bottom + 16 };
  return scene;
}

function draw({ level, inner, sizes, x, tops, bottoms }, x0, y0, frame, scene) {
  const { boxes, edges, arrangement } = level;
  const indices = boxes.map((box, at) => {
    const { left, right, height } = sizes[at];
    const { row } = arrangement.elements[at];
    const within = inner[at];
    const [wide, high] = isPort(box) ? [PORT.width, PORT.height] : [NODE.width, NODE.height];
    const node = {
      x: x0 + x[at],
      y: y0 + (within ? tops[row] : (tops[row] + bottoms[row] - high) / 2),
      left: within ? left - beside(box, true) : wide / 2,
      right: within ? right : wide / 2,
      height: within ? height : high,
      frame,
    };
    const index = scene.items.push({ ...box, level, isOpen: within !== undefined }) - 1;
    scene.nodes.push(node);
    if (within) {
      draw(within, node.x, node.y + FRAME.header, index, scene);
    }
    return index;
  });
  edges.forEach(({ from, to, texts }, at) => {
    const route = arrangement.routes[at].map((element) => {
      const { row } = arrangement.elements[element];
      return { x: x0 + x[element], top: y0 + tops[row], bottom: y0 + bottoms[row] };
    });
    const [rowFrom, rowTo] = [arrangement.elements[from].row, arrangement.elements[to].row];
    const band = { bottom: y0 + bottoms[rowFrom], top: y0 + tops[rowTo] };
    scene.edges.push({ from: indices[from], to: indices[to], texts, route, band, key: `${boxes[from].key}>${boxes[to].key}` });
  });
}
