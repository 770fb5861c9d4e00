// Draws a picture: on a canvas, and with the same strokes as SVG.
import { FRAME, NODE, PILL, pillsShown } from "./place.js";

/** The scales above which texts are readable. */
const READABLE = { names: 0.4, pills: 0.5, labels: 0.55 };
const FONT = 12;
/** An edge that passes this many rows is a skip connection. */
const SKIP = 2;
/** The mark of a pinned box. */
const PIN = "◆ ";
/** The kinds of boxes with the shape of what goes out of them. */
const NAMED = new Set(["input", "entry"]);

/**
 * Draws what of a scene is in sight. `look` has the theme, `paint(at)` with the colour of an item and its intensity,
 * `isBright(at)`, and the `selected` item.
 */
export function paintScene(pen, scene, look) {
  const { sight } = look;
  const isInSight = ({ x, y, left, right, height }, beside = PILL.apart + PILL.width) =>
    x + right >= sight.left && x - left - beside <= sight.right && y + height >= sight.top && y <= sight.bottom;
  const shown = [...scene.items.keys()].filter((at) => isInSight(scene.nodes[at]));
  // Outer frames come first.
  for (const at of shown.filter((at) => scene.items[at].isOpen)) {
    pen.globalAlpha = fade(scene, look, at);
    paintFrame(pen, scene, look, at);
  }
  paintEdges(pen, scene, look);
  for (const at of shown) {
    pen.globalAlpha = fade(scene, look, at);
    paintPills(pen, scene, look, at);
    if (!scene.items[at].isOpen) {
      paintItem(pen, scene, look, at);
    }
  }
  pen.globalAlpha = 1;
}

function fade({ nodes, items }, { isBright }, at) {
  return (isBright(at) || items[at].isOpen ? 1 : 0.18) * (nodes[at].alpha ?? 1);
}

function outlineOf(pen, { x, y, left, right, height }, radius, by = 0) {
  pen.beginPath();
  pen.roundRect(x - left + by, y + by, left + right, height, radius);
}

function paintFrame(pen, { items, nodes }, look, at) {
  const { theme, scale, selected, paint, pinned, sight } = look;
  const [item, node] = [items[at], nodes[at]];
  const { colour } = paint(at);
  const alpha = pen.globalAlpha;
  outlineOf(pen, node, 6);
  pen.fillStyle = theme.background;
  pen.fill();
  pen.globalAlpha = alpha * 0.05;
  pen.fillStyle = colour;
  pen.fill();
  pen.globalAlpha = alpha;
  outlineOf(pen, node, 6);
  pen.strokeStyle = at === selected || pinned?.has(at) ? theme.focus : theme.border;
  pen.lineWidth = at === selected ? Math.max(2.5, 2 / scale) : Math.max(1, 0.5 / scale);
  pen.stroke();
  const { left, right } = headerOf(node, sight);
  if (scale < READABLE.names || right < left) {
    return;
  }
  const y = node.y + FRAME.header / 2;
  pen.textBaseline = "middle";
  pen.fillStyle = theme.text;
  pen.font = theme.font(FONT, "bold");
  const steps = stepsOf(item);
  const room = Math.floor((right - left - (steps ? 24 + (steps.text.length + 6) * theme.character : 0)) / theme.character);
  pen.fillText(clip(`▾ ${pinned?.has(at) ? PIN : ""}${titleOf(item)}`, room), left, y);
  if (steps) {
    pen.font = theme.font(FONT);
    pen.textAlign = "right";
    pen.fillText(`◂ ${steps.text} ▸`, right, y);
    pen.textAlign = "left";
  }
}

/** The ends of the header of an open group, of which a part may be in sight. */
function headerOf({ x, left, right }, sight) {
  return { left: Math.max(x - left, sight.left) + 10, right: Math.min(x + right, sight.right) - 10 };
}

/** The name of a box with its number of repetitions. */
export function titleOf({ group, row, name, kind }) {
  if (kind === "group") {
    return `${group.name}${timesOf(group)}`;
  }
  return row?.operator ?? name;
}

/** The number of repetitions, with a mark if some differ. */
function timesOf({ rows, exceptions = 0 }) {
  return rows.length > 1 ? ` × ${rows.length}${exceptions > 0 ? " ≠" : ""}` : "";
}

/** Which repetition an open group shows. */
function stepsOf({ group, instance }) {
  return group !== undefined && group.rows.length > 1 ? { text: `${(instance ?? 0) + 1} of ${group.rows.length}` } : undefined;
}

/** The part of an open group that a place in its header is for. */
export function partOfFrame({ group }, node, character, sight, place) {
  if (place.y > node.y + FRAME.header) {
    return undefined;
  }
  const steps = group !== undefined && group.rows.length > 1;
  const { left, right: end } = headerOf(node, sight);
  const width = steps ? (`${group.rows.length} of ${group.rows.length}`.length + 4) * character : 0;
  if (steps && place.x > end - 2.5 * character) {
    return "next";
  }
  if (steps && place.x > end - width && place.x < end - width + 3 * character + 8) {
    return "previous";
  }
  return place.x < left + 16 ? "toggle" : "header";
}

function paintEdges(pen, scene, look) {
  const { nodes, edges } = scene;
  const { sight, theme, scale, selected, pinned } = look;
  const groups = { dim: [], plain: [], skip: [], chosen: [] };
  for (const edge of edges) {
    if (edge.band.top < sight.top - NODE.gapY || edge.band.bottom > sight.bottom + NODE.gapY) {
      continue;
    }
    const isChosen = [edge.from, edge.to].some((at) => at === selected || pinned?.has(at));
    const isPlain = look.isBright(edge.from) && look.isBright(edge.to);
    groups[isChosen ? "chosen" : !isPlain ? "dim" : edge.route.length >= SKIP ? "skip" : "plain"].push(edge);
  }
  const styles = { dim: [theme.line, 0.15, 1, []], plain: [theme.line, 0.85, 1.2, []], skip: [theme.line, 0.85, 1.2, [7, 4]], chosen: [theme.focus, 1, 2, []] };
  for (const [name, [colour, alpha, width, dash]] of Object.entries(styles)) {
    pen.strokeStyle = colour;
    pen.fillStyle = colour;
    pen.globalAlpha = alpha * (scene.edgeAlpha ?? 1);
    pen.lineWidth = Math.max(width, (0.7 * width) / scale);
    pen.setLineDash(dash);
    pen.beginPath();
    groups[name].forEach((edge) => edgePath(pen, scene, edge));
    pen.stroke();
    pen.setLineDash([]);
    if (scale >= READABLE.names) {
      pen.beginPath();
      for (const edge of groups[name]) {
        const x = landing(nodes, edge);
        const { y } = nodes[edge.to];
        pen.moveTo(x, y);
        pen.lineTo(x - 4, y - 8);
        pen.lineTo(x + 4, y - 8);
        pen.closePath();
      }
      pen.fill();
    }
  }
  if (scale >= READABLE.labels) {
    paintLabels(pen, scene, look, [...groups.chosen, ...groups.plain, ...groups.skip]);
  }
}

/** The shapes on edges. One that would be over another is left out, unless it names a field. */
function paintLabels(pen, { items, nodes, edgeAlpha }, { theme }, edges) {
  pen.font = theme.font(FONT);
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  const taken = new Map();
  const isField = ({ texts }) => texts[0]?.startsWith(".");
  for (const edge of [...edges].sort((a, b) => isField(b) - isField(a))) {
    const [first, ...others] = edge.texts;
    // A value from outside has its shape in its box.
    if (!isField(edge) && NAMED.has(items[edge.from].kind)) {
      continue;
    }
    const text = others.length > 0 ? `${first} +${others.length}` : first;
    if (text === undefined) {
      continue;
    }
    const half = (text.length * theme.character) / 2 + 3;
    const x = landing(nodes, edge);
    const y = nodes[edge.to].y - 19;
    const beside = taken.get(Math.round(y)) ?? [];
    if (beside.every(([left, right]) => x + half < left || right < x - half)) {
      taken.set(Math.round(y), [...beside, [x - half, x + half]]);
      pen.globalAlpha = 0.92 * (edgeAlpha ?? 1);
      pen.fillStyle = theme.background;
      pen.fillRect(x - half, y - 8, 2 * half, 16);
      pen.fillStyle = theme.text;
      pen.fillText(text, x, y);
    }
  }
  pen.textAlign = "left";
}

/** Where an edge ends: edges from the side end beside the main line. */
function landing(nodes, { from, to, route }) {
  const { x, left, right } = nodes[to];
  const before = route.at(-1)?.x ?? nodes[from].x;
  const most = Math.min(left, right) * 0.55;
  return Math.abs(before - x) < 2 ? x : x + Math.max(-most, Math.min(most, (before - x) * 0.3));
}

/** Straight through the rows, bent between them. */
function edgePath(pen, { nodes }, edge) {
  const { from, to, route, band } = edge;
  let { x } = nodes[from];
  const start = nodes[from].y + nodes[from].height;
  pen.moveTo(x, start);
  let y = Math.max(start, band.bottom);
  if (y > start) {
    pen.lineTo(x, y);
  }
  const bend = (next, top) => {
    if (Math.abs(x - next) < 1) {
      pen.lineTo(next, top);
    } else {
      pen.bezierCurveTo(x, (y + top) / 2, next, (y + top) / 2, next, top);
    }
  };
  for (const place of route) {
    bend(place.x, place.top);
    if (place.bottom > place.top) {
      pen.lineTo(place.x, place.bottom);
    }
    [x, y] = [place.x, place.bottom];
  }
  const end = landing(nodes, edge);
  bend(end, Math.max(y, Math.min(band.top, nodes[to].y - 8)));
  pen.lineTo(end, nodes[to].y);
}

function paintItem(pen, { items, nodes }, { theme, scale, paint, selected, canOpen, pinned }, at) {
  const [item, node] = [items[at], nodes[at]];
  const isCall = item.kind === "call" || item.kind === "group";
  const radius = isCall ? 4 : node.height / 2;
  const { colour, strength } = paint(at);
  const alpha = pen.globalAlpha;
  pen.strokeStyle = theme.border;
  pen.lineWidth = Math.max(1, 0.5 / scale);
  if (item.group?.rows.length > 1) {
    for (const by of [6, 3]) {
      outlineOf(pen, node, radius, by);
      pen.fillStyle = theme.background;
      pen.fill();
      pen.stroke();
    }
  }
  outlineOf(pen, node, radius);
  pen.fillStyle = theme.background;
  pen.fill();
  pen.globalAlpha = alpha * strength;
  pen.fillStyle = colour;
  pen.fill();
  pen.globalAlpha = alpha;
  if (item.kind === "call") {
    pen.globalAlpha = alpha * Math.min(1, 4 * strength);
    pen.fillRect(node.x - node.left, node.y, 4, node.height);
    pen.globalAlpha = alpha;
  }
  outlineOf(pen, node, radius);
  pen.strokeStyle = at === selected || pinned?.has(at) ? theme.focus : item.kind === "input" || item.kind === "output" ? theme.text : theme.border;
  pen.lineWidth = at === selected ? Math.max(3, 2 / scale) : Math.max(1, 0.5 / scale);
  pen.stroke();
  if (scale < READABLE.names) {
    return;
  }
  const left = node.x - node.left + 11;
  const room = Math.floor((node.left + node.right - 20) / theme.character);
  pen.textBaseline = "middle";
  pen.fillStyle = theme.text;
  if (isCall) {
    const canBeOpened = canOpen(item);
    const second = item.kind === "group" ? item.group.calls.text : item.name;
    const rest = room - item.label.length - 3;
    pen.font = theme.font(FONT, "bold");
    // The number of repetitions is not cut off.
    const times = item.kind === "group" ? timesOf(item.group) : "";
    const title = `${pinned?.has(at) ? PIN : ""}${titleOf(item)}`;
    pen.fillText(`${clip(title.slice(0, title.length - times.length), (canBeOpened ? room - 2 : room) - times.length)}${times}`, left, node.y + 13);
    pen.font = theme.font(FONT);
    const isWhole = item.kind === "call" ? rest >= 6 : rest >= second.length;
    pen.fillText(clip(isWhole ? `${clip(second, rest)} · ${item.label}` : item.label, room), left, node.y + 30);
    if (canBeOpened) {
      pen.textAlign = "right";
      pen.fillText("▸", node.x + node.right - 7, node.y + 13);
      pen.textAlign = "left";
    }
    return;
  }
  pen.textAlign = "center";
  if (item.kind === "entry" || item.kind === "exit") {
    pen.font = theme.font(FONT);
    const text = item.kind === "exit" ? item.label : `${clip(item.name, Math.max(4, room - item.label.length - 1))} · ${item.label}`;
    pen.fillText(clip(text, room), node.x, node.y + node.height / 2);
  } else {
    pen.font = theme.font(FONT, "bold");
    pen.fillText(clip(item.name, room - 2), node.x, node.y + 13);
    pen.font = theme.font(FONT);
    pen.fillText(clip(item.label, room - 2), node.x, node.y + 30);
  }
  pen.textAlign = "left";
}

/** The positions of the pills of an item. */
export function pillBoxes({ items, nodes }, at) {
  const shown = items[at].isOpen && items[at].kind === "group" ? 0 : pillsShown(items[at].pills.length);
  const { x, y, left: half, height } = nodes[at];
  const room = items[at].isOpen ? NODE.height : height;
  const top = y + (room - shown * (PILL.height + PILL.gap) + PILL.gap) / 2;
  const left = x - half - PILL.apart - PILL.width;
  return Array.from({ length: shown }, (_, index) => ({ left, top: top + index * (PILL.height + PILL.gap) }));
}

function paintPills(pen, scene, { theme, scale }, at) {
  const { pills, isOpen } = scene.items[at];
  const boxes = pillBoxes(scene, at);
  const { x, y, left: half, height } = scene.nodes[at];
  pen.lineWidth = Math.max(1, 0.5 / scale);
  for (const [index, { left, top }] of boxes.entries()) {
    const pill = pills[index];
    const isData = pill.kind === "jump" || pill.kind === "input";
    pen.strokeStyle = theme.border;
    pen.beginPath();
    pen.moveTo(left + PILL.width, top + PILL.height / 2);
    pen.lineTo(x - half, isOpen ? y + NODE.height / 2 : y + height / 2);
    pen.stroke();
    pen.beginPath();
    pen.roundRect(left, top, PILL.width, PILL.height, isData ? PILL.height / 2 : 2);
    pen.fillStyle = isData ? theme.background : theme.weight;
    pen.fill();
    pen.stroke();
    if (scale >= READABLE.pills) {
      const more = pills.length - index;
      const text = index === boxes.length - 1 && more > 1 ? `… ${more} more` : pill.kind === "jump" ? `↑ ${pill.name}` : pill.name;
      pen.fillStyle = theme.text;
      pen.font = theme.font(FONT);
      pen.textBaseline = "middle";
      pen.fillText(clip(text, Math.floor((PILL.width - 10) / theme.character), true), left + 6, top + PILL.height / 2);
    }
  }
}

/** Truncates a text to a width; names of weights are cut at the start, as their ends are the most specific. */
export function clip(text, room, keepsEnd = false) {
  if (text.length <= room) {
    return text;
  }
  return keepsEnd ? `…${text.slice(text.length - room + 1)}` : `${text.slice(0, Math.max(1, room - 1))}…`;
}
