// Draws a dataflow graph: on a canvas, and with the same strokes as SVG.
"use strict";

/** The scales above which texts are readable, and boxes are more than their outlines. */
const READABLE = { boxes: 0.12, names: 0.42, pills: 0.6, labels: 0.7 };

/**
 * Draws the visible part of a scene. `look` has the theme, `paint(at)` with the colour of an item and its
 * intensity, `isBright(at)`, and the `selected` item.
 */
function paintGraph(pen, scene, look) {
  paintEdges(pen, scene, look);
  for (const at of itemsInSight(scene, look.sight)) {
    pen.globalAlpha = look.isBright(at) ? 1 : 0.15;
    if (look.scale < READABLE.boxes && at !== look.selected) {
      paintSpot(pen, scene, look, at);
    } else {
      paintPills(pen, scene, look, at);
      paintItem(pen, scene, look, at);
    }
  }
  pen.globalAlpha = 1;
}

function* itemsInSight({ nodes, layers }, { left, right, top, bottom }) {
  const half = NODE.width / 2;
  for (let layer = firstLayer(layers, top); layer < layers.length && layers[layer].top <= bottom; layer++) {
    for (const at of layers[layer].items) {
      const { x } = nodes[at];
      if (x + half >= left && x - half - PILL.apart - PILL.width <= right) {
        yield at;
      }
    }
  }
}

/** The first layer that ends below a position. */
function firstLayer(layers, y) {
  let [low, high] = [0, layers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    [low, high] = layers[middle].bottom < y ? [middle + 1, high] : [low, middle];
  }
  return low;
}

function paintEdges(pen, scene, look) {
  const { nodes, layers, edges } = scene;
  const { sight, theme, scale } = look;
  const groups = { dim: [], plain: [], chosen: [] };
  for (const edge of edges) {
    const [from, to] = edge;
    if (nodes[to].y < sight.top || nodes[from].y > sight.bottom) {
      continue;
    }
    const isChosen = from === look.selected || to === look.selected;
    groups[isChosen ? "chosen" : look.isBright(from) && look.isBright(to) ? "plain" : "dim"].push(edge);
  }
  const styles = { dim: [theme.line, 0.12, 1], plain: [theme.line, 0.7, 1], chosen: [theme.focus, 1, 2] };
  for (const [name, [colour, alpha, width]] of Object.entries(styles)) {
    pen.strokeStyle = colour;
    pen.fillStyle = colour;
    pen.globalAlpha = alpha;
    pen.lineWidth = Math.max(width, (0.7 * width) / scale);
    pen.beginPath();
    groups[name].forEach((edge) => edgePath(pen, scene, edge));
    pen.stroke();
    if (scale >= READABLE.names) {
      pen.beginPath();
      for (const [, to] of groups[name]) {
        const { x, y } = nodes[to];
        pen.moveTo(x, y);
        pen.lineTo(x - 3.5, y - 7);
        pen.lineTo(x + 3.5, y - 7);
        pen.closePath();
      }
      pen.fill();
    }
  }
  if (scale >= READABLE.labels) {
    pen.font = theme.font(10);
    pen.textBaseline = "middle";
    pen.textAlign = "center";
    const taken = new Map();
    for (const [from, to, through] of [...groups.chosen, ...groups.plain]) {
      const text = compact(scene.items[from].type);
      const half = (text.length * theme.character * 10) / 12 / 2 + 3;
      const x = ((through.at(-1) ?? nodes[from].x) + nodes[to].x) / 2;
      const y = layers[nodes[to].layer].top - NODE.gapY / 2;
      // A label that would overlap another is omitted: the source node shows the same.
      const beside = taken.get(y) ?? [];
      if (beside.every(([left, right]) => x + half < left || right < x - half)) {
        taken.set(y, [...beside, [x - half, x + half]]);
        pen.globalAlpha = 0.9;
        pen.fillStyle = theme.background;
        pen.fillRect(x - half, y - 7, 2 * half, 14);
        pen.fillStyle = theme.text;
        pen.fillText(text, x, y);
      }
    }
    pen.textAlign = "left";
  }
}

/** Straight through the layers, bent between them. */
function edgePath(pen, { nodes, layers }, [from, to, through]) {
  let layer = nodes[from].layer;
  let x = nodes[from].x;
  pen.moveTo(x, nodes[from].y + NODE.height);
  for (const next of [...through, nodes[to].x]) {
    const { bottom } = layers[layer];
    const { top } = layers[++layer];
    pen.lineTo(x, bottom);
    if (x === next) {
      pen.lineTo(next, top);
    } else {
      pen.bezierCurveTo(x, (bottom + top) / 2, next, (bottom + top) / 2, next, top);
    }
    x = next;
  }
  pen.lineTo(x, nodes[to].y);
}

/** An item at a scale that shows only its colour. */
function paintSpot(pen, { nodes }, { scale, paint }, at) {
  const { colour, strength } = paint(at);
  const [width, height] = [Math.max(NODE.width, 3 / scale), Math.max(NODE.height, 1 / scale)];
  pen.globalAlpha *= Math.min(1, 0.3 + 2 * strength);
  pen.fillStyle = colour;
  pen.fillRect(nodes[at].x - width / 2, nodes[at].y, width, height);
}

function paintItem(pen, { items, nodes }, { theme, scale, paint, selected }, at) {
  const item = items[at];
  const { x, y } = nodes[at];
  const left = x - NODE.width / 2;
  const outline = () => {
    pen.beginPath();
    pen.roundRect(left, y, NODE.width, NODE.height, item.kind === "call" ? 3 : NODE.height / 2);
  };
  const { colour, strength } = paint(at);
  const alpha = pen.globalAlpha;
  outline();
  pen.fillStyle = theme.background;
  pen.fill();
  pen.globalAlpha = alpha * strength;
  pen.fillStyle = colour;
  pen.fill();
  pen.globalAlpha = alpha;
  if (item.kind === "call") {
    pen.globalAlpha = alpha * Math.min(1, 4 * strength);
    pen.fillRect(left, y, 4, NODE.height);
    pen.globalAlpha = alpha;
  }
  outline();
  pen.strokeStyle = at === selected ? theme.focus : item.kind === "call" ? theme.border : theme.text;
  pen.lineWidth = at === selected ? Math.max(3, 2 / scale) : Math.max(1, 0.5 / scale);
  pen.stroke();
  if (scale < READABLE.names) {
    return;
  }
  const room = Math.floor((NODE.width - 16) / theme.character);
  const type = compact(item.type);
  pen.textBaseline = "middle";
  pen.fillStyle = theme.text;
  if (item.kind === "call") {
    const name = clip(item.name, Math.max(4, room - type.length - 3));
    pen.font = theme.font(12, "bold");
    pen.fillText(clip(item.row.operator, room), left + 11, y + 13);
    pen.font = theme.font(12);
    pen.fillText(clip(`${name} · ${type}`, room), left + 11, y + 28);
  } else {
    pen.textAlign = "center";
    pen.font = theme.font(12, "bold");
    pen.fillText(clip(item.name, room - 2), x, y + 13);
    pen.font = theme.font(12);
    pen.fillText(clip(type, room - 2), x, y + 28);
    pen.textAlign = "left";
  }
}

/** The positions of the pills of an item. */
function pillBoxes({ nodes, pills }, at) {
  const shown = pillsShown(pills[at].length);
  const { x, y } = nodes[at];
  const top = y + (NODE.height - shown * (PILL.height + PILL.gap) + PILL.gap) / 2;
  const left = x - NODE.width / 2 - PILL.apart - PILL.width;
  return Array.from({ length: shown }, (_, index) => ({ left, top: top + index * (PILL.height + PILL.gap) }));
}

function paintPills(pen, scene, { theme, scale, selected }, at) {
  const pills = scene.pills[at];
  const boxes = pillBoxes(scene, at);
  const { x, y } = scene.nodes[at];
  pen.lineWidth = Math.max(1, 0.5 / scale);
  for (const [index, { left, top }] of boxes.entries()) {
    const pill = pills[index];
    const isJump = pill.item !== undefined;
    pen.strokeStyle = isJump && pill.item === selected ? theme.focus : theme.border;
    pen.beginPath();
    pen.moveTo(left + PILL.width, top + PILL.height / 2);
    pen.lineTo(x - NODE.width / 2, y + NODE.height / 2);
    pen.stroke();
    pen.beginPath();
    pen.roundRect(left, top, PILL.width, PILL.height, isJump ? PILL.height / 2 : 2);
    pen.fillStyle = isJump ? theme.background : theme.weight;
    pen.fill();
    pen.stroke();
    if (scale >= READABLE.pills) {
      const more = pills.length - index;
      const text = index === boxes.length - 1 && more > 1 ? `… ${more} more` : isJump ? `↑ ${pill.name}` : pill.name;
      pen.fillStyle = theme.text;
      pen.font = theme.font(10);
      pen.textBaseline = "middle";
      pen.fillText(clip(text, Math.floor((PILL.width - 8) / ((theme.character * 10) / 12)), true), left + 5, top + PILL.height / 2);
    }
  }
}

/** Truncates a text to a width; names of weights are cut at the start, as their ends are the most specific. */
function clip(text, room, keepsEnd = false) {
  if (text.length <= room) {
    return text;
  }
  return keepsEnd ? `…${text.slice(text.length - room + 1)}` : `${text.slice(0, Math.max(1, room - 1))}…`;
}

/** Implements the methods of a canvas context and generates SVG. */
class SvgPen {
  constructor() {
    this.parts = [];
    this.path = [];
    this.globalAlpha = 1;
    this.lineWidth = 1;
    this.textAlign = "left";
  }

  beginPath() {
    this.path = [];
  }

  moveTo(x, y) {
    this.path.push(`M${short(x)} ${short(y)}`);
  }

  lineTo(x, y) {
    this.path.push(`L${short(x)} ${short(y)}`);
  }

  bezierCurveTo(...places) {
    this.path.push(`C${places.map(short).join(" ")}`);
  }

  closePath() {
    this.path.push("Z");
  }

  roundRect(x, y, width, height, radius) {
    const arc = (dx, dy) => `a${radius} ${radius} 0 0 1 ${dx} ${dy}`;
    const [across, down] = [short(width - 2 * radius), short(height - 2 * radius)];
    this.path.push(
      `M${short(x + radius)} ${short(y)}h${across}${arc(radius, radius)}v${down}${arc(-radius, radius)}`,
      `h${-across}${arc(-radius, -radius)}v${-down}${arc(radius, -radius)}Z`,
    );
  }

  stroke() {
    if (this.path.length > 0) {
      const style = `stroke="${escapeXml(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}" opacity="${short(this.globalAlpha)}"`;
      this.parts.push(`<path d="${this.path.join("")}" fill="none" ${style}/>`);
    }
  }

  fill() {
    if (this.path.length > 0) {
      this.parts.push(`<path d="${this.path.join("")}" fill="${escapeXml(this.fillStyle)}" opacity="${short(this.globalAlpha)}"/>`);
    }
  }

  fillRect(x, y, width, height) {
    const box = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<rect ${box} fill="${escapeXml(this.fillStyle)}" opacity="${short(this.globalAlpha)}"/>`);
  }

  fillText(text, x, y) {
    const [, weight, size, family] = /^(bold )?(\d+)px (.*)$/.exec(this.font);
    const font = `font-family="${escapeXml(family)}" font-size="${size}"${weight ? ' font-weight="bold"' : ""}`;
    const anchor = this.textAlign === "center" ? ' text-anchor="middle"' : "";
    const place = `x="${short(x)}" y="${short(y)}" dominant-baseline="central"${anchor}`;
    this.parts.push(`<text ${place} ${font} fill="${escapeXml(this.fillStyle)}" opacity="${short(this.globalAlpha)}">${escapeXml(text)}</text>`);
  }

  /** The image of a part of the plane. */
  svg({ left, top, right, bottom }, background) {
    const [width, height] = [right - left, bottom - top].map(short);
    const view = `viewBox="${short(left)} ${short(top)} ${width} ${height}" width="${width}" height="${height}"`;
    const ground = `<rect x="${short(left)}" y="${short(top)}" width="${width}" height="${height}" fill="${escapeXml(background)}"/>`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${view}>\n${ground}\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

/** A number with at most two decimals. */
function short(number) {
  return Math.round(number * 100) / 100;
}

function escapeXml(text) {
  return String(text).replace(/[&<>"]/g, (found) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[found]);
}
