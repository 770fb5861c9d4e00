// The dataflow graph of a function on a canvas, because an unrolled network has 14,500 calls. The wheel and keys
// zoom, dragging moves, a click selects.
"use strict";

const ZOOM = { least: 0.001, most: 4, opening: 0.9, selection: 1.2 };
/** The minimal scale at which a graph initially fits as a whole. */
const LEGIBLE = 0.7;
const MINIMAP = { width: 120, height: 180, least: 36 };

class Graph {
  /** `select` is called with an item that is clicked or navigated to, `open` with one on Enter, `point` with the
   * item under the mouse. */
  constructor({ canvas, minimap, paint, isBright, select, open, point }) {
    Object.assign(this, { canvas, minimap, paint, isBright, select, open, point });
    this.scene = sceneOf({ items: [], first: 0 });
    this.selected = -1;
    this.view = undefined;
    this.pending = false;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("dblclick", (event) => this.open(this.at(event).item));
    this.listenToPointer();
    minimap.addEventListener("pointerdown", (event) => {
      minimap.setPointerCapture(event.pointerId);
      this.jump(event);
    });
    minimap.addEventListener("pointermove", (event) => event.buttons > 0 && this.jump(event));
    new ResizeObserver(() => this.redraw()).observe(canvas);
    // The theme is a class of the body.
    new MutationObserver(() => this.recolour()).observe(document.body, { attributeFilter: ["class"] });
  }

  listenToPointer() {
    const { canvas } = this;
    let from;
    let moved = false;
    canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY };
      moved = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (from !== undefined && this.view !== undefined) {
        const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
        // Tolerates small movements during a click.
        if (moved || Math.abs(dx) + Math.abs(dy) > 3) {
          moved = true;
          canvas.classList.add("dragged");
          this.pan(dx, dy);
          from = { x: event.clientX, y: event.clientY };
        }
      }
      this.point(from === undefined ? this.at(event) : { item: -1 }, event);
    });
    canvas.addEventListener("pointerup", (event) => {
      from = undefined;
      canvas.classList.remove("dragged");
      const { item, pill } = this.at(event);
      if (!moved && item >= 0) {
        this.select(pill?.item ?? item);
      }
    });
    canvas.addEventListener("pointerleave", (event) => this.point({ item: -1 }, event));
  }

  /** Shows a function; `name` identifies it. If it was shown before an edit, the selected call keeps its position. */
  show(name, flow) {
    const shape = JSON.stringify(flow.items.map(({ kind, from, pills }) => [kind, from, pills]));
    const before = this.scene;
    if (name === this.name && shape === this.shape) {
      this.scene = { ...before, ...flow, pills: pillsOf(flow.items, before.jumps) };
    } else {
      const anchor = name === this.name ? before.items[this.selected] : undefined;
      const place = before.nodes[this.selected];
      this.scene = sceneOf(flow);
      const same = anchor === undefined ? -1 : flow.items.findIndex((item) => item.kind === anchor.kind && item.name === anchor.name);
      if (same >= 0 && this.view !== undefined) {
        const { scale } = this.view;
        this.view.x += (place.x - this.scene.nodes[same].x) * scale;
        this.view.y += (place.y - this.scene.nodes[same].y) * scale;
      } else {
        this.view = undefined;
      }
      this.selected = -1;
    }
    [this.name, this.shape] = [name, shape];
    this.recolour();
  }

  /** Colours or highlighting have changed. */
  recolour() {
    this.overview = undefined;
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

  size() {
    return { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  /** Selects an item, and scrolls it into view. */
  mark(at, reveal) {
    this.selected = at;
    const node = this.scene.nodes[at];
    const { width, height } = this.size();
    if (reveal && node !== undefined && this.view !== undefined && width > 0) {
      const { scale } = this.view;
      const [x, y] = [node.x * scale + this.view.x, node.y * scale + this.view.y];
      const half = (NODE.width / 2) * scale;
      if (x - half < 0 || x + half > width || y < 0 || y + NODE.height * scale > height) {
        this.centre(node.x, node.y + NODE.height / 2, scale);
      }
    }
    this.redraw();
  }

  centre(x, y, scale) {
    const { width, height } = this.size();
    this.view = { scale, x: width / 2 - x * scale, y: height / 2 - y * scale };
    this.redraw();
  }

  pan(dx, dy) {
    this.view.x += dx;
    this.view.y += dy;
    this.redraw();
  }

  /** Zooms around a point of the canvas, by default its centre. */
  zoom(factor, place) {
    if (this.view !== undefined) {
      const { width, height } = this.size();
      const { x, y } = place ?? { x: width / 2, y: height / 2 };
      const scale = Math.min(ZOOM.most, Math.max(ZOOM.least, this.view.scale * factor));
      const grown = scale / this.view.scale;
      this.view = { scale, x: x - (x - this.view.x) * grown, y: y - (y - this.view.y) * grown };
      this.redraw();
    }
  }

  wheel(event) {
    event.preventDefault();
    const box = this.canvas.getBoundingClientRect();
    this.zoom(Math.exp(-event.deltaY / 400), { x: event.clientX - box.left, y: event.clientY - box.top });
  }

  /** Fits a part of the plane into the canvas. */
  frame({ left, top, right, bottom }, most) {
    const { width, height } = this.size();
    const scale = Math.min(most, width / (right - left + 40), height / (bottom - top + 40));
    this.centre((left + right) / 2, (top + bottom) / 2, Math.max(ZOOM.least, scale));
  }

  fit() {
    this.frame(this.scene.bounds, 1);
  }

  /** The initial view: the whole graph if it is readable, otherwise the selected call or the start. */
  reset() {
    this.fit();
    if (this.view.scale < LEGIBLE) {
      const { scene } = this;
      const chosen = scene.nodes[this.selected];
      const { x } = chosen ?? scene.nodes[scene.first] ?? scene.nodes[0];
      // The start is at the top.
      const y = chosen?.y ?? scene.bounds.top + this.size().height / 2 / ZOOM.opening;
      this.centre(x, y, ZOOM.opening);
    }
  }

  /** The selected item and its neighbours. */
  zoomToSelection() {
    const { nodes, edges } = this.scene;
    const chosen = nodes[this.selected];
    if (chosen !== undefined) {
      const near = [chosen];
      for (const [from, to] of edges) {
        const other = from === this.selected ? nodes[to] : to === this.selected ? nodes[from] : undefined;
        if (other !== undefined && Math.abs(other.layer - chosen.layer) <= 2) {
          near.push(other);
        }
      }
      this.frame(boundsOf(near), ZOOM.selection);
    }
  }

  key(event) {
    const steps = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
    const keys = {
      f: () => this.fit(),
      0: () => this.reset(),
      s: () => this.zoomToSelection(),
      "+": () => this.zoom(1.25),
      "=": () => this.zoom(1.25),
      "-": () => this.zoom(0.8),
      Enter: () => this.open(this.selected),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || this.view === undefined) {
      return;
    }
    if (event.key in steps) {
      const [dx, dy] = steps[event.key];
      if (event.shiftKey) {
        this.pan(-80 * dx, -80 * dy);
      } else {
        this.step(dx, dy);
      }
    } else if (event.key in keys) {
      keys[event.key]();
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Moves the selection to an input, a use or a neighbour of the selected item. */
  step(dx, dy) {
    const { nodes, layers, edges, jumps } = this.scene;
    const here = nodes[this.selected];
    let next;
    if (here === undefined) {
      next = layers[0]?.items[0];
    } else if (dx !== 0) {
      const row = [...layers[here.layer].items].sort((a, b) => nodes[a].x - nodes[b].x);
      next = row[row.indexOf(this.selected) + dx];
    } else {
      const ends = [...edges, ...jumps].flatMap(([from, to]) =>
        dy > 0 && from === this.selected ? [to] : dy < 0 && to === this.selected ? [from] : [],
      );
      // The straightest edge first.
      const bend = (at) => Math.abs(nodes[at].x - here.x) + Math.abs(nodes[at].y - here.y);
      next = ends.sort((a, b) => bend(a) - bend(b))[0];
    }
    if (next !== undefined) {
      this.select(next);
    }
  }

  /** The item at a point of the screen, and its pill, if there is one. */
  at(event) {
    if (this.view === undefined) {
      return { item: -1 };
    }
    const { scene } = this;
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - this.view.x) / this.view.scale;
    const y = (event.clientY - box.top - this.view.y) / this.view.scale;
    for (const item of itemsInSight(scene, { left: x, right: x, top: y, bottom: y })) {
      const node = scene.nodes[item];
      if (Math.abs(node.x - x) <= NODE.width / 2 && node.y <= y && y <= node.y + NODE.height) {
        return { item };
      }
      const hit = ({ left, top }) => left <= x && x <= left + PILL.width && top <= y && y <= top + PILL.height;
      const index = pillBoxes(scene, item).findIndex(hit);
      if (index >= 0) {
        return { item, pill: scene.pills[item][index] };
      }
    }
    return { item: -1 };
  }

  jump(event) {
    const { bounds } = this.scene;
    const box = this.minimap.getBoundingClientRect();
    const part = (from, to, share) => from + (to - from) * share;
    const x = part(bounds.left, bounds.right, (event.clientX - box.left) / box.width);
    const y = part(bounds.top, bounds.bottom, (event.clientY - box.top) / box.height);
    this.centre(x, y, this.view.scale);
  }

  /** The visible part of the plane of the graph. */
  sight() {
    const { width, height } = this.size();
    const { scale, x, y } = this.view;
    return { left: -x / scale, right: (width - x) / scale, top: -y / scale, bottom: (height - y) / scale };
  }

  /** The appearance of the scene, for the screen and for exports. */
  look(pen, sight, scale) {
    const theme = themeOf(pen);
    const paint = (at) => {
      const { colour, strength } = this.paint(at);
      return { colour: theme.colour(colour), strength };
    };
    return { theme, sight, scale, paint, isBright: this.isBright, selected: this.selected };
  }

  draw() {
    const { width, height } = this.size();
    if (width === 0 || height === 0 || this.scene.items.length === 0) {
      this.minimap.hidden = true;
      return;
    }
    if (this.view === undefined) {
      this.reset();
    }
    const pen = prepared(this.canvas, width, height);
    const dense = window.devicePixelRatio || 1;
    const { scale, x, y } = this.view;
    pen.setTransform(dense * scale, 0, 0, dense * scale, dense * x, dense * y);
    paintGraph(pen, this.scene, this.look(pen, this.sight(), scale));
    this.drawMinimap();
  }

  drawMinimap() {
    const { bounds, nodes } = this.scene;
    const sight = this.sight();
    const isWhole = sight.left <= bounds.left && sight.right >= bounds.right && sight.top <= bounds.top && sight.bottom >= bounds.bottom;
    this.minimap.hidden = isWhole;
    if (isWhole) {
      return;
    }
    const [across, down] = [bounds.right - bounds.left, bounds.bottom - bounds.top];
    const room = this.size();
    const most = { width: Math.min(MINIMAP.width, room.width / 4), height: Math.min(MINIMAP.height, room.height / 2) };
    const scale = Math.min(most.width / across, most.height / down);
    const width = Math.max(MINIMAP.least, across * scale);
    const height = Math.max(MINIMAP.least, down * scale);
    Object.assign(this.minimap.style, { width: `${width}px`, height: `${height}px` });
    const [sx, sy] = [width / across, height / down];
    const pen = prepared(this.minimap, width, height);
    const dense = window.devicePixelRatio || 1;
    if (this.overview?.width !== this.minimap.width || this.overview.height !== this.minimap.height) {
      this.overview = document.createElement("canvas");
      this.overview.width = this.minimap.width;
      this.overview.height = this.minimap.height;
      const ground = this.overview.getContext("2d");
      const theme = themeOf(ground);
      ground.scale(dense, dense);
      for (const [at, node] of nodes.entries()) {
        const { colour, strength } = this.paint(at);
        ground.globalAlpha = (this.isBright(at) ? 1 : 0.15) * Math.max(0.3, strength);
        ground.fillStyle = theme.colour(colour);
        const [left, top] = [(node.x - NODE.width / 2 - bounds.left) * sx, (node.y - bounds.top) * sy];
        ground.fillRect(left, top, Math.max(1, NODE.width * sx), Math.max(1, NODE.height * sy));
      }
    }
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(this.overview, 0, 0);
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.strokeStyle = themeOf(pen).focus;
    pen.lineWidth = 1.5;
    const left = Math.max(1, (sight.left - bounds.left) * sx);
    const top = Math.max(1, (sight.top - bounds.top) * sy);
    const right = Math.min(width - 1, (sight.right - bounds.left) * sx);
    const bottom = Math.min(height - 1, (sight.bottom - bounds.top) * sy);
    const [wide, high] = [Math.max(6, right - left), Math.max(6, bottom - top)];
    const corner = [Math.min(left, width - wide - 1), Math.min(top, height - high - 1)];
    pen.strokeRect(...corner, wide, high);
    pen.globalAlpha = 0.3;
    pen.fillStyle = pen.strokeStyle;
    pen.fillRect(...corner, wide, high);
    pen.globalAlpha = 1;
  }
}

/** The items with their positions and pills. */
function sceneOf(flow) {
  const places = layout(flow.items);
  return { ...flow, ...places, pills: pillsOf(flow.items, places.jumps), bounds: boundsOf(places.nodes) };
}

/** Weights and constants, then inputs that are too far away for an edge. */
function pillsOf(items, jumps) {
  const pills = items.map(({ own }) => [...own]);
  for (const [from, to] of jumps) {
    const { name, type } = items[from];
    pills[to].push({ name, type, kind: "jump", item: from });
  }
  return pills;
}

/** The bounding box of nodes, with room for their pills. */
function boundsOf(nodes) {
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { x, y } of nodes) {
    bounds.left = Math.min(bounds.left, x - NODE.width / 2 - PILL.apart - PILL.width - 16);
    bounds.right = Math.max(bounds.right, x + NODE.width / 2 + 16);
    bounds.top = Math.min(bounds.top, y - 16);
    bounds.bottom = Math.max(bounds.bottom, y + NODE.height + 16);
  }
  return bounds;
}

/** The context of a cleared canvas, resized to its displayed size. */
function prepared(canvas, width, height) {
  const dense = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * dense), Math.round(height * dense)];
  if (canvas.width !== across || canvas.height !== down) {
    [canvas.width, canvas.height] = [across, down];
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, across, down);
  return pen;
}

/** The colours and the font of the editor. */
function themeOf(pen) {
  const style = getComputedStyle(document.body);
  const colour = (name) => style.getPropertyValue(`--vscode-${name}`).trim() || "#888888";
  const family = style.getPropertyValue("--vscode-editor-font-family").trim() || "monospace";
  const font = (size, weight) => `${weight ? `${weight} ` : ""}${size}px ${family}`;
  pen.font = font(12);
  return {
    colour,
    font,
    character: pen.measureText("0".repeat(20)).width / 20,
    text: colour("editor-foreground"),
    line: colour("descriptionForeground"),
    border: colour("descriptionForeground"),
    focus: colour("focusBorder"),
    background: colour("editor-background"),
    weight: colour("editorWidget-background"),
  };
}
