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
  let shift;
  let bottom = -NODE.gapY;
  for (const [row, layer] of layers.entries()) {
    layer.sort((a, b) => elements[a].x - elements[b].x);
    const centre = layer.findIndex((at) => main.has(at));
    if (centre >= 0) {
      shift = elements[layer[centre]].x;
    }
    shift ??= 0;
    spread(layer, centre, (at) => elements[at].x - shift, size, x);
    tops[row] = bottom + NODE.gapY;
    bottom = tops[row] + Math.max(0, ...layer.map((at) => size(at).height));
    bottoms[row] = bottom;
  }
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

/** Places the elements of a row: that of the main line at 0, the others as near to where they are wanted as they can be. */
function spread(layer, centre, wanted, size, x) {
  const from = Math.max(0, centre);
  const gap = NODE.gapX / 2;
  if (layer.length > 0) {
    x[layer[from]] = centre >= 0 ? 0 : wanted(layer[from]);
  }
  for (let at = from + 1; at < layer.length; at++) {
    const [before, here] = [layer[at - 1], layer[at]];
    x[here] = Math.max(wanted(here), x[before] + size(before).right + gap + size(here).left);
  }
  for (let at = from - 1; at >= 0; at--) {
    const [after, here] = [layer[at + 1], layer[at]];
    x[here] = Math.min(wanted(here), x[after] - size(after).left - gap - size(here).right);
  }
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
