// The dataflow graph of a function: which call takes what from which. Drawn on a canvas, because an
// unrolled network has 14,500 calls.
"use strict";

const NODE = { width: 190, height: 40, gapX: 24, gapY: 34 };
/** An edge over more layers than this goes straight: room is made beside nodes for shorter ones only. */
const LONGEST = 24;

/**
 * Where each call stands: below all that it takes from, in the order that crosses the fewest lines
 * that a few sweeps find. `edges` lists the corners that each edge goes through.
 */
function layout(rows) {
  const layer = [];
  const nodes = [];
  const edges = [];
  for (const [at, row] of rows.entries()) {
    const from = new Set(row.inputs.map((input) => input.row).filter((input) => input !== undefined && input < at));
    layer[at] = 0;
    for (const input of from) {
      layer[at] = Math.max(layer[at], layer[input] + 1);
    }
    for (const input of from) {
      edges.push({ from: input, to: at, through: [] });
    }
  }
  // As far down as what takes it allows: the transposed weight of the last layer stands beside the
  // last layer. Calls come in the order of evaluation, so those that take from one are behind it.
  const lowest = [];
  for (const { from, to } of [...edges].reverse()) {
    layer[to] = lowest[to] ?? layer[to];
    lowest[from] = Math.min(lowest[from] ?? Infinity, layer[to] - 1);
  }
  for (let at = 0; at < rows.length; at++) {
    layer[at] = lowest[at] ?? layer[at];
    nodes.push({ row: at, layer: layer[at], up: [], down: [], x: 0 });
  }
  const join = (a, b) => {
    nodes[a].down.push(b);
    nodes[b].up.push(a);
  };
  for (const edge of edges) {
    let last = edge.from;
    const span = layer[edge.to] - layer[edge.from];
    for (let at = layer[edge.from] + 1; span <= LONGEST && at < layer[edge.to]; at++) {
      nodes.push({ row: -1, layer: at, up: [], down: [], x: 0 });
      edge.through.push(nodes.length - 1);
      join(last, nodes.length - 1);
      last = nodes.length - 1;
    }
    join(last, edge.to);
  }
  const layers = [];
  for (const [at, node] of nodes.entries()) {
    (layers[node.layer] ??= []).push(at);
  }
  order(nodes, layers);
  place(nodes, layers);
  const y = (at) => nodes[at].layer * (NODE.height + NODE.gapY);
  return {
    nodes: rows.map((_, at) => ({ x: nodes[at].x, y: y(at) })),
    edges: edges.map((edge) => [
      edge.from,
      edge.to,
      edge.through.map((at) => ({ x: nodes[at].x, y: y(at) })),
    ]),
  };
}

/** Sorts each layer by the middle of its neighbours, down and up in turn. */
function order(nodes, layers) {
  const position = new Float64Array(nodes.length);
  const number = (layer) => layer.forEach((at, index) => (position[at] = index));
  layers.forEach(number);
  for (let sweep = 0; sweep < 4; sweep++) {
    const side = sweep % 2 === 0 ? "up" : "down";
    for (const layer of sweep % 2 === 0 ? layers : [...layers].reverse()) {
      const middle = new Map(layer.map((at) => [at, mean(nodes[at][side], (to) => position[to]) ?? position[at]]));
      layer.sort((a, b) => middle.get(a) - middle.get(b) || position[a] - position[b]);
      number(layer);
    }
  }
}

/** Gives each node its x: as near to the middle of its neighbours as those beside it allow. */
function place(nodes, layers) {
  const room = (at) => (nodes[at].row < 0 ? 24 : NODE.width + NODE.gapX);
  const apart = (a, b) => (room(a) + room(b)) / 2;
  for (const layer of layers) {
    let x = 0;
    layer.forEach((at, index) => {
      x += index === 0 ? 0 : apart(layer[index - 1], at);
      nodes[at].x = x;
    });
    for (const at of layer) {
      nodes[at].x -= x / 2;
    }
  }
  for (let sweep = 0; sweep < 6; sweep++) {
    const side = sweep % 2 === 0 ? "up" : "down";
    for (const layer of sweep % 2 === 0 ? layers : [...layers].reverse()) {
      const wanted = layer.map((at) => mean(nodes[at][side], (to) => nodes[to].x) ?? nodes[at].x);
      // From the left as far left, from the right as far right as order allows; the middle of the two.
      const left = [...wanted];
      const right = [...wanted];
      for (let i = 1; i < layer.length; i++) {
        left[i] = Math.max(left[i], left[i - 1] + apart(layer[i - 1], layer[i]));
      }
      for (let i = layer.length - 2; i >= 0; i--) {
        right[i] = Math.min(right[i], right[i + 1] - apart(layer[i], layer[i + 1]));
      }
      layer.forEach((at, i) => (nodes[at].x = (left[i] + right[i]) / 2));
    }
  }
}

function mean(list, value) {
  return list.length === 0 ? undefined : list.reduce((sum, at) => sum + value(at), 0) / list.length;
}

/** The canvas: wheel zooms, dragging moves, a click chooses. */
class Graph {
  constructor(canvas, { choose, point }) {
    this.canvas = canvas;
    this.rows = [];
    this.drawing = { nodes: [], edges: [] };
    this.colour = () => 0;
    this.found = () => true;
    this.marked = -1;
    this.view = undefined;
    this.pending = false;
    canvas.addEventListener("wheel", (event) => this.zoom(event), { passive: false });
    let from;
    let moved = false;
    canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY };
      moved = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (from !== undefined) {
        const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
        // A hand that clicks trembles.
        if (moved || Math.abs(dx) + Math.abs(dy) > 3) {
          moved = true;
          canvas.classList.add("dragged");
          this.view.x += dx;
          this.view.y += dy;
          from = { x: event.clientX, y: event.clientY };
          this.redraw();
        }
      }
      point(from === undefined ? this.at(event) : -1, event);
    });
    canvas.addEventListener("pointerup", (event) => {
      from = undefined;
      canvas.classList.remove("dragged");
      const at = this.at(event);
      if (!moved && at >= 0) {
        choose(at);
      }
    });
    canvas.addEventListener("pointerleave", (event) => point(-1, event));
    new ResizeObserver(() => this.redraw()).observe(canvas);
  }

  /** Shows these rows; the view stays where it is if they are as before, but for their text. */
  show(rows) {
    const shape = JSON.stringify(rows.map((row) => row.inputs));
    this.rows = rows;
    if (shape !== this.shape) {
      this.shape = shape;
      this.drawing = layout(rows);
      this.view = undefined;
    }
    this.redraw();
  }

  redraw() {
    if (!this.pending) {
      this.pending = true;
      requestAnimationFrame(() => {
        this.pending = false;
        this.draw();
      });
    }
  }

  /** Brings a row into the middle, if it is out of sight. */
  reveal(at) {
    const node = this.drawing.nodes[at];
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (node === undefined || this.view === undefined || width === 0) {
      return;
    }
    const { scale } = this.view;
    const [x, y] = [node.x * scale + this.view.x, node.y * scale + this.view.y];
    if (x < 0 || x > width || y < 0 || y + NODE.height * scale > height) {
      this.view.x = width / 2 - node.x * scale;
      this.view.y = height / 2 - (node.y + NODE.height / 2) * scale;
    }
    this.redraw();
  }

  zoom(event) {
    event.preventDefault();
    if (this.view === undefined) {
      return;
    }
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const scale = Math.min(4, Math.max(0.01, this.view.scale * Math.exp(-event.deltaY / 400)));
    const factor = scale / this.view.scale;
    this.view = { scale, x: x - (x - this.view.x) * factor, y: y - (y - this.view.y) * factor };
    this.redraw();
  }

  /** The row at a place of the screen, or -1. */
  at(event) {
    if (this.view === undefined) {
      return -1;
    }
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - this.view.x) / this.view.scale;
    const y = (event.clientY - box.top - this.view.y) / this.view.scale;
    return this.drawing.nodes.findIndex(
      (node) => Math.abs(node.x - x) <= NODE.width / 2 && node.y <= y && y <= node.y + NODE.height,
    );
  }

  /** All of it, if it can be read so; else its beginning. */
  fit(width, height) {
    let [left, right, bottom] = [-NODE.width, NODE.width, NODE.height];
    for (const node of this.drawing.nodes) {
      left = Math.min(left, node.x - NODE.width / 2);
      right = Math.max(right, node.x + NODE.width / 2);
      bottom = Math.max(bottom, node.y + NODE.height);
    }
    const whole = Math.min(width / (right - left + 40), height / (bottom + 40));
    const scale = Math.min(1, Math.max(whole, 0.4));
    const x = whole >= 0.4 ? (left + right) / 2 : this.drawing.nodes[0]?.x ?? 0;
    this.view = { scale, x: width / 2 - x * scale, y: 20 * scale };
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) {
      return;
    }
    if (this.view === undefined) {
      this.fit(width, height);
    }
    const dense = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * dense);
    this.canvas.height = Math.round(height * dense);
    const style = getComputedStyle(document.body);
    const theme = (name, otherwise) => style.getPropertyValue(`--vscode-${name}`).trim() || otherwise;
    const text = theme("editor-foreground", "#888");
    const focus = theme("focusBorder", "#08f");
    const background = theme("editor-background", "#fff");
    const pen = this.canvas.getContext("2d");
    const { scale, x, y } = this.view;
    pen.setTransform(dense * scale, 0, 0, dense * scale, dense * x, dense * y);
    const sight = { left: -x / scale, right: (width - x) / scale, top: -y / scale, bottom: (height - y) / scale };

    const { nodes, edges } = this.drawing;
    pen.strokeStyle = theme("descriptionForeground", "#888");
    pen.lineWidth = Math.max(1, 0.6 / scale);
    pen.globalAlpha = 0.6;
    pen.beginPath();
    for (const [from, to, through] of edges) {
      const [start, end] = [nodes[from], nodes[to]];
      if (end.y < sight.top || start.y > sight.bottom) {
        continue;
      }
      let [lastX, lastY] = [start.x, start.y + NODE.height];
      pen.moveTo(lastX, lastY);
      const bend = (toX, toY) => {
        const middle = (lastY + toY) / 2;
        pen.bezierCurveTo(lastX, middle, toX, middle, toX, toY);
        [lastX, lastY] = [toX, toY];
      };
      for (const corner of through) {
        bend(corner.x, corner.y);
        pen.lineTo(corner.x, corner.y + NODE.height);
        lastY = corner.y + NODE.height;
      }
      bend(end.x, end.y);
    }
    pen.stroke();
    pen.globalAlpha = 1;

    pen.font = `12px ${theme("editor-font-family", "monospace")}`;
    pen.textBaseline = "middle";
    const readable = scale > 0.35;
    for (const [at, node] of nodes.entries()) {
      const left = node.x - NODE.width / 2;
      if (node.y + NODE.height < sight.top || node.y > sight.bottom || left + NODE.width < sight.left || left > sight.right) {
        continue;
      }
      const row = this.rows[at];
      pen.globalAlpha = this.found(row) ? 1 : 0.2;
      pen.fillStyle = background;
      pen.fillRect(left, node.y, NODE.width, NODE.height);
      pen.fillStyle = `rgba(230, 85, 51, ${0.8 * this.colour(row)})`;
      pen.fillRect(left, node.y, NODE.width, NODE.height);
      pen.strokeStyle = at === this.marked ? focus : text;
      pen.lineWidth = at === this.marked ? Math.max(3, 2 / scale) : Math.max(0.5, 0.5 / scale);
      pen.strokeRect(left, node.y, NODE.width, NODE.height);
      if (readable) {
        pen.fillStyle = text;
        pen.fillText(clipped(pen, `${row.name}  ${row.operator}`), left + 6, node.y + 12);
        pen.fillText(clipped(pen, tensor(row.type)), left + 6, node.y + 28);
      }
    }
    pen.globalAlpha = 1;
  }
}

/** As much of a text as a node has room for. */
function clipped(pen, text) {
  const room = NODE.width - 12;
  const width = pen.measureText(text).width;
  return width <= room ? text : `${text.slice(0, Math.max(1, Math.floor((text.length * room) / width) - 1))}…`;
}
