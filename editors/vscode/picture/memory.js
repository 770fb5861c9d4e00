// Memory over time on a canvas: the live bytes along the evaluation above, the lifetimes of results as bars below. The
// wheel and keys zoom, dragging moves, a click selects a call.
import { clip } from "./paint.js";
import { follow, listenToPointer } from "./surface.js";
import { prepared, themeOf } from "./theme.js";

/** The share of the height that the live bytes take, and its limits in pixels. */
const CURVE = { share: 0.35, least: 60, most: 260 };
/** The height of a line of bars in pixels. */
const LANE = { least: 3, most: 18, apart: 1 };
const MARGIN = { top: 22, side: 8 };
const FONT = 12;
/** The fewest calls that are shown. */
const CLOSEST = 4;
/** The most items of the list for screen readers. */
const LISTED = 300;

/**
 * The line of bars of each row, and their number: bars of a line do not overlap, and there are as many lines as results
 * are live together at most.
 */
export function lanesOf(rows) {
  const lanes = new Int32Array(rows.length);
  const free = [];
  /** The rows whose results are live for the last time during a row. */
  const ends = new Map();
  let count = 0;
  for (const [at, { liveUntil }] of rows.entries()) {
    lanes[at] = free.pop() ?? count++;
    if (liveUntil < rows.length) {
      const end = Math.max(at, liveUntil);
      const dead = ends.get(end) ?? [];
      dead.push(at);
      ends.set(end, dead);
    }
    for (const dead of ends.get(at) ?? []) {
      free.push(lanes[dead]);
    }
    ends.delete(at);
  }
  return { lanes, count };
}

export class MemoryChart {
  /**
   * `select` is called with the row that is clicked or navigated to, `open` with one whose line is wanted, `point` with
   * the row under the mouse or -1, `valueOf` returns the number of an amount. `list` is a list for screen readers.
   */
  constructor({ canvas, list, valueOf, select, open, point = () => {} }) {
    Object.assign(this, { canvas, list, valueOf, select, open, point });
    this.selected = -1;
    this.pending = false;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("dblclick", (event) => this.open(this.at(event)));
    listenToPointer(canvas, {
      at: (event) => this.at(event),
      nothing: -1,
      drag: (dx, dy) => this.view !== undefined && this.pan((-dx * this.view.shown) / this.across(), -dy),
      click: (at) => at >= 0 && this.select(at),
      point: (at, event) => this.point(at, event),
    });
    follow(canvas, { redraw: () => this.redraw(), recolour: () => this.recolour() });
  }

  /** Shows a function. */
  show(one) {
    const { valueOf } = this;
    this.one = one;
    this.selected = -1;
    this.view = { first: 0, shown: Math.max(CLOSEST, one?.rows.length ?? 0), top: 0 };
    if (one !== undefined) {
      Object.assign(this, lanesOf(one.rows));
      this.live = one.rows.map(({ liveBytes, peakBytes }) => valueOf(peakBytes ?? liveBytes));
      this.most = this.live.reduce((a, b) => Math.max(a, b), 1);
      this.atPeak = new Set(one.total.peakRows);
    }
    this.describe();
    this.redraw();
  }

  size() {
    return { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  across() {
    return Math.max(1, this.size().width - 2 * MARGIN.side);
  }

  /** The heights of the live bytes and of a line of bars. */
  heights() {
    const { height } = this.size();
    const curve = Math.min(CURVE.most, Math.max(CURVE.least, height * CURVE.share), height);
    const room = Math.max(0, height - curve - MARGIN.top);
    return { curve, room, lane: Math.min(LANE.most, Math.max(LANE.least, room / Math.max(1, this.count))) };
  }

  x(row) {
    return MARGIN.side + ((row - this.view.first) / this.view.shown) * this.across();
  }

  /** The row at a place of the canvas: that of a bar, or of the live bytes; -1 if there is none. */
  at(event) {
    if (this.one === undefined || this.one.rows.length === 0) {
      return -1;
    }
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const row = Math.floor(this.view.first + ((x - MARGIN.side) / this.across()) * this.view.shown);
    const { curve, lane } = this.heights();
    if (row < 0 || row >= this.one.rows.length) {
      return -1;
    }
    if (y < curve + MARGIN.top) {
      return row;
    }
    const wanted = Math.floor((y - curve - MARGIN.top + this.view.top) / lane);
    for (let at = row; at >= 0; at--) {
      if (this.lanes[at] === wanted) {
        return this.one.rows[at].liveUntil >= row ? at : -1;
      }
    }
    return -1;
  }

  /** Selects a row, and moves it into view. */
  mark(at, reveal = true) {
    this.selected = at;
    if (reveal && at >= 0 && this.view !== undefined) {
      const { first, shown } = this.view;
      if (at < first || at + 1 > first + shown) {
        this.view.first = at - shown / 2;
      }
      const { room, lane } = this.heights();
      const y = this.lanes[at] * lane;
      if (y < this.view.top || y + lane > this.view.top + room) {
        this.view.top = y - room / 2;
      }
      this.pan(0, 0);
    }
    this.list?.querySelector("[aria-current]")?.removeAttribute("aria-current");
    this.list?.querySelector(`[data-at="${at}"]`)?.setAttribute("aria-current", "true");
    this.redraw();
  }

  pan(rows, down) {
    const { view } = this;
    const { room, lane } = this.heights();
    const length = this.one?.rows.length ?? 0;
    view.first = Math.max(0, Math.min(length - view.shown, view.first + rows));
    view.top = Math.max(0, Math.min(this.count * lane - room, view.top + down));
    this.redraw();
  }

  /** Zooms around a row, by default the selected one or the centre. */
  zoom(factor, row) {
    const { view } = this;
    const centre = row ?? (this.selected >= 0 ? this.selected : view.first + view.shown / 2);
    const shown = Math.max(CLOSEST, Math.min(Math.max(CLOSEST, this.one?.rows.length ?? 0), view.shown / factor));
    view.first = centre - ((centre - view.first) * shown) / view.shown;
    view.shown = shown;
    this.pan(0, 0);
  }

  fit() {
    this.view = { first: 0, shown: Math.max(CLOSEST, this.one?.rows.length ?? 0), top: 0 };
    this.redraw();
  }

  wheel(event) {
    if (this.one !== undefined) {
      event.preventDefault();
      const x = event.clientX - this.canvas.getBoundingClientRect().left - MARGIN.side;
      this.zoom(Math.exp(-event.deltaY / 400), this.view.first + (x / this.across()) * this.view.shown);
    }
  }

  key(event) {
    const rows = this.one?.rows ?? [];
    const go = (at) => rows.length > 0 && this.select(Math.max(0, Math.min(rows.length - 1, at)));
    const keys = {
      ArrowLeft: () => go(this.selected - 1),
      ArrowRight: () => go(this.selected + 1),
      ArrowUp: () => this.pan(0, -2 * LANE.most),
      ArrowDown: () => this.pan(0, 2 * LANE.most),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      Enter: () => this.open(this.selected),
      "+": () => this.zoom(1.25),
      "=": () => this.zoom(1.25),
      "-": () => this.zoom(0.8),
      f: () => this.fit(),
      p: () => go(this.one.total.peakRow ?? 0),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) {
      return;
    }
    keys[event.key]();
    event.preventDefault();
  }

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

  draw() {
    const { width, height } = this.size();
    if (width === 0 || height === 0) {
      return;
    }
    const pen = prepared(this.canvas, width, height);
    if (this.one === undefined || this.one.rows.length === 0) {
      return;
    }
    const dense = window.devicePixelRatio || 1;
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    this.theme ??= themeOf(pen);
    this.drawBars(pen);
    this.drawCurve(pen);
    this.drawSelected(pen, height);
  }

  drawCurve(pen) {
    const { theme, live, most, one } = this;
    const { curve } = this.heights();
    const y = (value) => MARGIN.top + (curve - MARGIN.top) * (1 - value / most);
    const first = Math.max(0, Math.floor(this.view.first));
    const last = Math.min(live.length, Math.ceil(this.view.first + this.view.shown));
    pen.beginPath();
    pen.moveTo(this.x(first), curve);
    // Of the rows that share a pixel, the highest is drawn.
    const step = Math.max(1, Math.floor(this.view.shown / this.across()));
    for (let row = first; row < last; row += step) {
      let value = 0;
      for (let at = row; at < Math.min(last, row + step); at++) {
        value = Math.max(value, live[at]);
      }
      pen.lineTo(this.x(row), y(value));
      pen.lineTo(this.x(Math.min(last, row + step)), y(value));
    }
    pen.lineTo(this.x(last), curve);
    pen.closePath();
    pen.globalAlpha = 0.3;
    pen.fillStyle = theme.colour("charts-blue");
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = theme.colour("charts-blue");
    pen.lineWidth = 1.2;
    pen.stroke();
    const { peakRow, peakBytes } = one.total;
    if (peakRow !== null) {
      const x = this.x(peakRow + 0.5);
      const text = `peak ${peakBytes.text} at ${one.rows[peakRow].name}`;
      pen.font = theme.font(FONT, "bold");
      pen.textBaseline = "middle";
      pen.fillStyle = theme.text;
      const room = this.size().width;
      const wide = pen.measureText(text).width;
      pen.fillText(text, Math.max(MARGIN.side, Math.min(room - wide - MARGIN.side, x - wide / 2)), MARGIN.top / 2);
      pen.fillStyle = theme.colour("charts-red");
      pen.fillRect(x - 1, MARGIN.top - 4, 2, curve - MARGIN.top + 4);
    }
  }

  /** The place of the bar of a row. */
  bar(at) {
    const { curve, lane } = this.heights();
    const { liveUntil } = this.one.rows[at];
    const left = this.x(at);
    const right = this.x(Math.min(this.one.rows.length, liveUntil + 1));
    return { left, top: curve + MARGIN.top + this.lanes[at] * lane - this.view.top, width: Math.max(1, right - left), height: lane - (lane > 6 ? LANE.apart : 0) };
  }

  drawBars(pen) {
    const { theme, one, view, lanes, count } = this;
    const { curve } = this.heights();
    const end = view.first + view.shown;
    const { width, height } = this.size();
    pen.save();
    pen.beginPath();
    pen.rect(0, curve + 2, width, Math.max(0, height - curve - 2));
    pen.clip();
    pen.textBaseline = "middle";
    pen.font = theme.font(FONT);
    /** How far each line is drawn: bars of the same pixel are one. */
    const drawn = new Float64Array(count).fill(-Infinity);
    for (let at = 0; at < one.rows.length && at < end; at++) {
      const row = one.rows[at];
      if (row.liveUntil < view.first) {
        continue;
      }
      const box = this.bar(at);
      if (box.left + box.width <= drawn[lanes[at]] || box.top + box.height < curve || box.top > height) {
        continue;
      }
      drawn[lanes[at]] = Math.ceil(box.left + box.width);
      pen.globalAlpha = 0.45;
      pen.fillStyle = theme.colour(this.atPeak.has(at) ? "charts-red" : "charts-blue");
      pen.fillRect(box.left, box.top, box.width, box.height);
      pen.globalAlpha = 1;
      if (box.width > 3) {
        pen.strokeStyle = theme.border;
        pen.lineWidth = 0.7;
        pen.strokeRect(box.left + 0.5, box.top + 0.5, box.width - 1, box.height - 1);
      }
      const left = Math.max(box.left, MARGIN.side);
      const room = Math.floor((Math.min(box.left + box.width, width) - left - 8) / theme.character);
      if (box.height >= FONT && room >= 4) {
        pen.fillStyle = theme.text;
        pen.fillText(clip(`${row.name} ${row.bytes.text}`, room), left + 4, box.top + box.height / 2 + 0.5);
      }
    }
    pen.restore();
  }

  drawSelected(pen, height) {
    if (this.selected >= 0 && this.selected < this.one.rows.length) {
      const { curve } = this.heights();
      const box = this.bar(this.selected);
      pen.strokeStyle = this.theme.focus;
      pen.lineWidth = 2;
      if (box.top >= curve) {
        pen.strokeRect(box.left, box.top, box.width, box.height);
      }
      pen.globalAlpha = 0.6;
      pen.lineWidth = 1;
      const x = this.x(this.selected + 0.5);
      pen.beginPath();
      pen.moveTo(x, MARGIN.top);
      pen.lineTo(x, height);
      pen.stroke();
      pen.globalAlpha = 1;
    }
  }

  /** Lists the results that are live at the peak for screen readers. */
  describe() {
    const { peakBytes, peakRows = [] } = this.one?.total ?? {};
    const lines = peakRows.slice(0, LISTED).map((at) => {
      const { name, operator, label, bytes } = this.one.rows[at];
      const line = document.createElement("li");
      line.textContent = `${name}, ${operator}, ${label}, ${bytes.text} of ${peakBytes.text}`;
      line.dataset.at = String(at);
      return line;
    });
    this.list?.replaceChildren(...lines);
  }
}
