// The picture of a function's dataflow on a canvas: groups that open in place. The wheel and keys zoom, dragging moves,
// a click selects, a double click opens a group or goes to the line.
import { Levels } from "./levels.js";
import { Minimap } from "./minimap.js";
import { clip, paintScene, partOfFrame, pillBoxes, titleOf } from "./paint.js";
import { Pins } from "./pins.js";
import { FRAME, PILL, sceneOf } from "./place.js";
import { follow, listenToPointer } from "./surface.js";
import { prepared, themeOf } from "./theme.js";

const ZOOM = { least: 0.005, most: 4, opening: 0.92, largest: 1.2, selection: 1.1 };
/** How long boxes move when one opens, in milliseconds. */
const MOTION = 180;
/** The most boxes in the list for screen readers. */
const LISTED = 300;

export class Graph {
  /**
   * `select` is called with an item that is clicked or navigated to, `open` with one whose line is wanted, `point` with
   * the item under the mouse, `changed` after each change of the boxes. `list` is a list for screen readers.
   */
  constructor({ canvas, minimap, list, arranger, paint, isBright, select, open, point, changed = () => {} }) {
    Object.assign(this, { canvas, list, arranger, paint, isBright, select, open, point, changed });
    this.minimap = new Minimap(minimap, this);
    this.scene = emptyScene();
    this.selected = -1;
    this.pins = new Pins(this);
    this.view = undefined;
    this.pending = false;
    this.turn = Promise.resolve();
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("dblclick", (event) => {
      const { item, part } = this.at(event);
      if (part === undefined || part === "header") {
        this.enter(item);
      }
    });
    listenToPointer(canvas, {
      at: (event) => this.at(event),
      nothing: { item: -1 },
      drag: (dx, dy) => this.view !== undefined && this.pan(dx, dy),
      click: (found) => this.click(found),
      point: (found, event) => this.point(found, event),
    });
    follow(canvas, { redraw: () => this.redraw(), recolour: () => this.recolour() });
  }

  click({ item, pill, part }) {
    if (part === "toggle") {
      void this.toggle(item);
    } else if (part === "next" || part === "previous") {
      void this.step(item, part === "next" ? 1 : -1);
    } else if (pill?.origin !== undefined) {
      void this.reveal(pill.origin).then((at) => at >= 0 && this.select(at));
    } else if (item >= 0) {
      this.select(item);
    }
  }

  /** One change of the levels after the other. */
  queue(change) {
    this.turn = this.turn.then(change, change);
    return this.turn;
  }

  /** Shows a function; `name` identifies it. After an edit, what was open is open again. */
  show(name, one, functions) {
    return this.queue(async () => {
      if (one === undefined) {
        [this.scene, this.levels, this.selected] = [emptyScene(), undefined, -1];
        this.settled();
        return;
      }
      const isSame = name === this.name && this.levels !== undefined;
      const paths = isSame ? new Set(this.scene.items.filter(({ isOpen }) => isOpen).map((item) => this.pathOf(item))) : new Set();
      const selected = isSame ? this.scene.items[this.selected] : undefined;
      const place = this.scene.nodes[this.selected];
      const levels = new Levels(one, functions, this.arranger);
      await levels.start();
      this.levels = levels;
      this.name = name;
      this.pins.paths().forEach((path) => paths.add(path));
      await this.openAgain(levels.top, "", paths);
      this.scene = sceneOf(levels.top, levels.open);
      this.selected = selected === undefined ? -1 : this.scene.items.findIndex((item) => item.kind === selected.kind && item.name === selected.name);
      const now = this.scene.nodes[this.selected];
      if (this.view !== undefined && isSame && now !== undefined && place !== undefined) {
        this.view.x += (place.x - now.x) * this.view.scale;
        this.view.y += (place.y - now.y) * this.view.scale;
      } else if (!isSame) {
        this.view = undefined;
      }
      this.settled();
    });
  }

  /** The names of a box and of those that it is in. */
  pathOf(item) {
    const names = [];
    for (let at = this.scene.items.indexOf(item); at >= 0; at = this.scene.nodes[at].frame) {
      names.push(titleOf(this.scene.items[at]));
    }
    return names.reverse().join("/");
  }

  async openAgain(level, path, paths) {
    for (const box of paths.size > 0 ? level.boxes : []) {
      const own = path === "" ? titleOf(box) : `${path}/${titleOf(box)}`;
      const inner = paths.has(own) ? await this.levels.openBox(level, box) : undefined;
      if (inner !== undefined) {
        await this.openAgain(inner, own, paths);
      }
    }
  }

  /** Pins an item, by default the selected one, or releases it. */
  pin(at = this.selected) {
    if (this.scene.items[at] !== undefined) {
      this.pins.toggle(at);
      this.settled();
    }
  }

  settled() {
    this.levels?.prepare();
    this.pins.find();
    this.describe();
    this.recolour();
    this.changed();
  }

  /** Changes what is open; the box at `anchor` stays where it is on the screen. */
  change(anchor, act) {
    return this.queue(async () => {
      const before = this.scene;
      const { key } = before.items[anchor] ?? {};
      const selected = before.items[this.selected]?.key;
      const old = new Map(before.items.map((item, at) => [item.key, before.nodes[at]]));
      const lines = new Map(before.edges.map((edge) => [edge.key, edge]));
      await act();
      this.scene = sceneOf(this.levels.top, this.levels.open);
      this.selected = this.scene.items.findIndex((item) => item.key === selected);
      const at = this.scene.items.findIndex((item) => item.key === key);
      if (at >= 0 && this.view !== undefined) {
        const [was, is] = [before.nodes[anchor], this.scene.nodes[at]];
        const [dx, dy] = [was.x - is.x, was.y - is.y];
        this.view.x += dx * this.view.scale;
        this.view.y += dy * this.view.scale;
        // In the new plane, for the motion.
        old.forEach((node, name) => old.set(name, { ...node, x: node.x - dx, y: node.y - dy }));
        lines.forEach((edge, name) => lines.set(name, moved(edge, -dx, -dy)));
      }
      if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) {
        this.motion = { start: performance.now(), old, lines };
      }
      this.settled();
    });
  }

  /** Opens or closes a box. */
  toggle(at) {
    const item = this.scene.items[at];
    if (item === undefined || !this.levels.canOpen(item)) {
      return this.turn;
    }
    const { level } = item;
    const box = level.boxes.find(({ key }) => key === item.key);
    const path = this.pathOf(item);
    return this.change(at, async () => {
      if (item.isOpen) {
        this.levels.close(item);
        return;
      }
      const inner = await this.levels.openBox(level, box);
      if (inner !== undefined) {
        await this.openAgain(inner, path, this.pins.paths());
      }
    });
  }

  /** Shows the next or previous repetition in an open group. */
  step(at, by) {
    const item = this.scene.items[at];
    const count = item.group.rows.length;
    const next = ((item.instance ?? 0) + by + count) % count;
    const box = item.level.boxes.find(({ key }) => key === item.key);
    return this.change(at, async () => {
      this.levels.close(item);
      await this.levels.openBox(item.level, box, next);
    });
  }

  /** Opens a group, or goes to the line of a call. */
  enter(at) {
    const item = this.scene.items[at];
    if (item !== undefined && this.levels.canOpen(item)) {
      void this.toggle(at);
    } else if (item !== undefined) {
      this.open(at);
    }
  }

  /** The innermost visible box of a row of the function. */
  boxOf(row) {
    let found = -1;
    for (const [at, { start, end, level, isOpen, instance, group }] of this.scene.items.entries()) {
      if (start <= row && row < end && level.scope.one === this.levels.one) {
        const shown = isOpen && group !== undefined ? group.rows[instance ?? 0] : undefined;
        const isElsewhere = shown !== undefined && (row < shown[0] + level.scope.delta || row >= shown[1] + level.scope.delta);
        found = at;
        if (isElsewhere) {
          break;
        }
      }
    }
    return found;
  }

  /** Opens what a row is inside of, and zooms to it. Returns its item. */
  async reveal(row) {
    await this.turn;
    if (this.levels === undefined) {
      return -1;
    }
    if (this.scene.items[this.boxOf(row)]?.kind !== "call") {
      await this.change(this.boxOf(row), () => this.levels.openTo(row));
    }
    const at = this.boxOf(row);
    const node = this.scene.nodes[at];
    if (node !== undefined && this.view !== undefined) {
      this.centre(node.x, node.y + node.height / 2, Math.min(ZOOM.largest, Math.max(ZOOM.opening, this.view.scale)));
    }
    this.mark(at, false);
    return at;
  }

  /** Colours or highlighting have changed. */
  recolour() {
    this.theme = undefined;
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
      const high = Math.min(node.height, FRAME.header * 2) * scale;
      if (x - node.left * scale < 0 || x + node.right * scale > width || y < 0 || y + high > height) {
        this.centre(node.x, node.y + high / 2 / scale, scale);
      }
    }
    this.list?.querySelector("[aria-current]")?.removeAttribute("aria-current");
    this.list?.children[at]?.setAttribute("aria-current", "true");
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
    const scale = Math.min(most, (width - 2) / (right - left), (height - 2) / (bottom - top));
    this.centre((left + right) / 2, (top + bottom) / 2, Math.max(ZOOM.least, scale));
  }

  fit() {
    this.frame(this.scene.bounds, ZOOM.largest);
  }

  /** The initial view: the whole picture if it is readable, otherwise the selected box or the start. */
  reset() {
    this.fit();
    if (this.view.scale < ZOOM.opening) {
      const { bounds, nodes } = this.scene;
      const { width, height } = this.size();
      const chosen = nodes[this.selected];
      // The main line is at 0; the start is at the top. What is narrower than the canvas is all there.
      const isNarrow = (bounds.right - bounds.left) * ZOOM.opening <= width;
      const x = chosen?.x ?? (isNarrow ? (bounds.left + bounds.right) / 2 : 0);
      this.centre(x, chosen?.y ?? bounds.top + height / 2 / ZOOM.opening, ZOOM.opening);
    }
  }

  /** The selected item and its neighbours. */
  zoomToSelection() {
    const { nodes, edges } = this.scene;
    const chosen = nodes[this.selected];
    if (chosen !== undefined) {
      const near = [chosen];
      for (const { from, to, route } of edges) {
        const other = from === this.selected ? nodes[to] : to === this.selected ? nodes[from] : undefined;
        if (other !== undefined && route.length < 2) {
          near.push(other);
        }
      }
      const side = 16;
      this.frame({
        left: Math.min(...near.map(({ x, left }) => x - left)) - side - PILL.apart - PILL.width,
        right: Math.max(...near.map(({ x, right }) => x + right)) + side,
        top: Math.min(...near.map(({ y }) => y)) - side,
        bottom: Math.max(...near.map(({ y, height }) => y + height)) + side,
      }, Math.max(ZOOM.selection, this.view.scale * 1.3));
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
      Enter: () => this.enter(this.selected),
      " ": () => void this.toggle(this.selected),
      Backspace: () => this.leave(),
      p: () => this.pin(),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || this.view === undefined) {
      return;
    }
    if (event.key in steps) {
      const [dx, dy] = steps[event.key];
      if (event.shiftKey) {
        this.pan(-80 * dx, -80 * dy);
      } else {
        this.follow(dx, dy);
      }
    } else if (event.key in keys) {
      keys[event.key]();
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Closes the group around the selected item, and selects it. */
  leave() {
    const around = this.scene.nodes[this.selected]?.frame ?? -1;
    if (around >= 0) {
      const { key } = this.scene.items[around];
      void this.toggle(around).then(() => this.select(this.scene.items.findIndex((item) => item.key === key)));
    }
  }

  /** Moves the selection to an input, a use or a neighbour of the selected item; down from a frame is into it. */
  follow(dx, dy) {
    const { nodes, items, edges } = this.scene;
    const here = nodes[this.selected];
    const inside = (frame) => [...nodes.keys()].filter((at) => nodes[at].frame === frame);
    let next;
    if (here === undefined) {
      next = inside(-1).sort((a, b) => nodes[a].y - nodes[b].y)[0];
    } else if (dx !== 0) {
      const beside = inside(here.frame).filter((at) => Math.abs(nodes[at].y - here.y) < 60 && (nodes[at].x - here.x) * dx > 0);
      next = beside.sort((a, b) => Math.abs(nodes[a].x - here.x) - Math.abs(nodes[b].x - here.x))[0];
    } else if (dy > 0 && items[this.selected].isOpen) {
      next = inside(this.selected).sort((a, b) => nodes[a].y - nodes[b].y)[0];
    } else {
      const ends = edges.flatMap(({ from, to }) => (dy > 0 && from === this.selected ? [to] : dy < 0 && to === this.selected ? [from] : []));
      // The straightest edge first.
      const bend = (at) => Math.abs(nodes[at].x - here.x) + Math.abs(nodes[at].y - here.y);
      next = ends.sort((a, b) => bend(a) - bend(b))[0];
      // Out of a frame.
      next ??= here.frame >= 0 ? here.frame : undefined;
    }
    if (next !== undefined) {
      this.select(next);
    }
  }

  /** The item at a point of the screen, with its pill or the part of its header. */
  at(event) {
    if (this.view === undefined) {
      return { item: -1 };
    }
    const { scene } = this;
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - this.view.x) / this.view.scale;
    const y = (event.clientY - box.top - this.view.y) / this.view.scale;
    // The inner ones come last.
    for (let item = scene.items.length - 1; item >= 0; item--) {
      const node = scene.nodes[item];
      if (node.x - node.left <= x && x <= node.x + node.right && node.y <= y && y <= node.y + node.height) {
        const { character } = this.theme ?? { character: 7 };
        if (scene.items[item].isOpen) {
          const part = partOfFrame(scene.items[item], node, character, this.sight(), { x, y });
          return part === undefined ? { item: -1 } : { item, part };
        }
        const isToggle = this.levels.canOpen(scene.items[item]) && x > node.x + node.right - 24 && y < node.y + 24;
        return { item, part: isToggle ? "toggle" : undefined };
      }
      const hit = ({ left, top }) => left <= x && x <= left + PILL.width && top <= y && y <= top + PILL.height;
      const index = pillBoxes(scene, item).findIndex(hit);
      if (index >= 0) {
        return { item, pill: scene.items[item].pills[index] };
      }
    }
    return { item: -1 };
  }

  /** The visible part of the plane of the picture. */
  sight() {
    const { width, height } = this.size();
    const { scale, x, y } = this.view;
    return { left: -x / scale, right: (width - x) / scale, top: -y / scale, bottom: (height - y) / scale };
  }

  /** The appearance of the scene, for the screen and for exports. */
  look(pen, sight, scale) {
    this.theme ??= themeOf(pen);
    const { theme } = this;
    const paint = (at) => {
      const { colour, strength } = this.paint(at);
      return { colour: theme.colour(colour), strength: theme.strength(colour, strength) };
    };
    return { theme, sight, scale, paint, isBright: (at) => this.pins.shown.has(at) || this.isBright(at), selected: this.selected, pinned: this.pins.shown, canOpen: (item) => this.levels.canOpen(item) };
  }

  draw() {
    const { width, height } = this.size();
    if (width === 0 || height === 0 || this.scene.items.length === 0) {
      this.minimap.hide();
      return;
    }
    if (this.view === undefined) {
      this.reset();
    }
    const pen = prepared(this.canvas, width, height);
    const dense = window.devicePixelRatio || 1;
    const { scale, x, y } = this.view;
    pen.setTransform(dense * scale, 0, 0, dense * scale, dense * x, dense * y);
    paintScene(pen, this.inMotion(), this.look(pen, this.sight(), scale));
    this.minimap.draw();
  }

  /** The scene between two states of what is open. */
  inMotion() {
    const { motion, scene } = this;
    const part = motion === undefined ? 1 : Math.min(1, (performance.now() - motion.start) / MOTION);
    if (part >= 1) {
      this.motion = undefined;
      return scene;
    }
    this.redraw();
    const eased = 1 - (1 - part) ** 3;
    const mix = (a, b) => a + (b - a) * eased;
    const nodes = scene.nodes.map((node, at) => {
      const was = motion.old.get(scene.items[at].key);
      if (was === undefined) {
        return { ...node, alpha: eased };
      }
      return { ...node, x: mix(was.x, node.x), y: mix(was.y, node.y), left: mix(was.left, node.left), right: mix(was.right, node.right), height: mix(was.height, node.height) };
    });
    const edges = scene.edges.flatMap((edge) => {
      const was = motion.lines.get(edge.key);
      if (was === undefined || was.route.length !== edge.route.length) {
        return part > 0.6 ? [edge] : [];
      }
      const route = edge.route.map((place, at) => ({ x: mix(was.route[at].x, place.x), top: mix(was.route[at].top, place.top), bottom: mix(was.route[at].bottom, place.bottom) }));
      return [{ ...edge, route, band: { bottom: mix(was.band.bottom, edge.band.bottom), top: mix(was.band.top, edge.band.top) } }];
    });
    return { ...scene, nodes, edges };
  }

  /** Lists the boxes for screen readers. */
  describe() {
    const { items, nodes } = this.scene;
    const lines = items.slice(0, LISTED).map((item, at) => {
      const line = document.createElement("li");
      const mark = this.pins.shown.has(at) ? "pinned" : "";
      line.textContent = [titleOf(item), item.name, item.label, mark].filter((text, at, all) => text && all.indexOf(text) === at).map((text) => clip(text, 200)).join(", ");
      return line;
    });
    lines.forEach((line, at) => {
      let level = 1;
      for (let frame = nodes[at].frame; frame >= 0; frame = nodes[frame].frame) {
        level++;
      }
      line.setAttribute("role", "treeitem");
      line.setAttribute("aria-level", String(level));
      if (this.levels.canOpen(items[at])) {
        line.setAttribute("aria-expanded", String(items[at].isOpen));
      }
    });
    this.list?.replaceChildren(...lines);
  }
}

function emptyScene() {
  return { items: [], nodes: [], edges: [], bounds: { left: 0, right: 1, top: 0, bottom: 1 } };
}

function moved(edge, dx, dy) {
  const route = edge.route.map(({ x, top, bottom }) => ({ x: x + dx, top: top + dy, bottom: bottom + dy }));
  return { ...edge, route, band: { top: edge.band.top + dy, bottom: edge.band.bottom + dy } };
}
