// The open levels of a picture, and the arrangements of levels, which a worker makes.
import { lastUses, levelOf, rowsOf } from "./model.js";
import { outline } from "./place.js";

/** The deepest level that opens: calls of a recursive function open into it again and again. */
const MAX_DEPTH = 64;
/** The most boxes whose levels are arranged before they open, and the most calls of each. */
const AHEAD = { boxes: 8, calls: 500 };

/** Arranges levels in a worker; where a browser has none, at once. `source` is the script of the worker. */
export class Arranger {
  constructor(source, start = startWorker) {
    this.waiting = new Map();
    this.number = 0;
    this.source = source;
    this.worker = start(source, ({ id, found }) => this.answer(id, found), () => this.without());
    if (this.worker === undefined) {
      this.without();
    }
  }

  answer(id, found) {
    const { resolve } = this.waiting.get(id) ?? {};
    this.waiting.delete(id);
    resolve?.(found);
  }

  /** No worker starts here: its script runs in the page. */
  without() {
    this.isInPage = true;
    const scope = { postMessage: ({ id, found }) => this.answer(id, found) };
    this.source(scope);
    this.worker = { postMessage: (data) => scope.onmessage({ data }) };
    for (const [id, { level }] of [...this.waiting]) {
      this.worker.postMessage({ id, level });
    }
  }

  arrange(level) {
    const id = this.number++;
    return new Promise((resolve) => {
      this.waiting.set(id, { resolve, level });
      this.worker.postMessage({ id, level });
    });
  }
}

function startWorker(source, answer, fail) {
  try {
    const url = URL.createObjectURL(new Blob([`(${source})(self);`], { type: "text/javascript" }));
    const worker = new Worker(url);
    worker.onmessage = ({ data }) => answer(data);
    worker.onerror = (event) => {
      event.preventDefault();
      fail();
    };
    return worker;
  } catch {
    return undefined;
  }
}

/** The levels of the picture of a function. */
export class Levels {
  /** `functions` are those that calls may open. */
  constructor(one, functions, arranger) {
    Object.assign(this, { one, functions, arranger });
    this.last = new Map();
    /** The open levels by the keys of their boxes. */
    this.open = new Map();
    this.known = new Map();
  }

  async start() {
    const { one } = this;
    this.top = await this.arranged({ one, start: 0, end: one.rows.length, groups: one.groups, delta: 0, isWhole: true, depth: 0 }, one.name);
  }

  /** The level of a scope, which is made once. */
  arranged(scope, key) {
    const name = `${key} ${scope.start}`;
    const known = this.known.get(name) ?? this.made(scope, key);
    this.known.set(name, known);
    return known;
  }

  async made(scope, key) {
    if (!this.last.has(scope.one)) {
      this.last.set(scope.one, lastUses(scope.one));
    }
    const level = levelOf({ ...scope, last: this.last.get(scope.one) }, key);
    level.arrangement = await this.arranger.arrange(outline(level));
    return level;
  }

  /** The function that a call opens into. */
  callee({ kind, row }) {
    return kind === "call" && row.category === "function" ? this.functions.find(({ name, rows }) => name === row.operator && rows.length > 0) : undefined;
  }

  canOpen(box) {
    return box.kind === "group" || this.callee(box) !== undefined;
  }

  /** What a box of a level opens into; of a group, a repetition. */
  scopeIn(level, box, instance) {
    const { one, delta, depth } = level.scope;
    if (depth >= MAX_DEPTH) {
      return undefined;
    }
    if (box.kind === "group") {
      const { group } = box;
      const shown = instance ?? this.open.get(box.key)?.instance ?? group.exemplar;
      const [own, exemplar] = [rowsOf(group, delta, shown), rowsOf(group, delta, group.exemplar)];
      // A repetition that differs in its length has no groups of its own.
      const isEqual = own.end - own.start === exemplar.end - exemplar.start;
      const further = own.start - exemplar.start;
      return { one, ...own, groups: isEqual ? group.groups : [], delta: delta + further, isWhole: false, depth: depth + 1, instance: shown };
    }
    const callee = this.callee(box);
    return callee && { one: callee, start: 0, end: callee.rows.length, groups: callee.groups, delta: 0, isWhole: true, depth: depth + 1 };
  }

  /** Arranges what may open next while the user looks at the picture: a level of 70 calls takes longer than a frame. */
  prepare() {
    const shown = [this.top, ...this.open.values()].flatMap((level) => level.boxes.map((box) => [level, box]));
    const closed = this.arranger.isInPage ? [] : shown.filter(([, box]) => this.canOpen(box) && !this.open.has(box.key));
    for (const [level, box] of closed.slice(0, AHEAD.boxes)) {
      const scope = this.scopeIn(level, box);
      if (scope !== undefined && scope.end - scope.start <= AHEAD.calls) {
        void this.arranged(scope, box.key);
      }
    }
  }

  /** Opens a box of a level. Returns the level inside, if it opens. */
  async openBox(level, box, instance) {
    const scope = this.scopeIn(level, box, instance);
    if (scope === undefined) {
      return undefined;
    }
    const inner = await this.arranged(scope, box.key);
    inner.instance = scope.instance;
    box.instance = scope.instance;
    this.open.set(box.key, inner);
    return inner;
  }

  /** Closes a box, and with it what is open inside of it. */
  close({ key }) {
    for (const inner of [...this.open.keys()]) {
      if (inner === key || inner.startsWith(`${key}/`)) {
        this.open.delete(inner);
      }
    }
  }

  /** Opens what a row of the function is inside of. Returns the keys of the boxes that are open around it. */
  async openTo(row) {
    let level = this.top;
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const box = level.boxes.find(({ start, end }) => start <= row && row < end);
      if (box?.kind !== "group") {
        return;
      }
      const { group } = box;
      const instance = group.rows.findIndex(([from, to]) => from + level.scope.delta <= row && row < to + level.scope.delta);
      if (instance < 0) {
        return;
      }
      level = await this.openBox(level, box, instance);
      if (level === undefined) {
        return;
      }
    }
  }
}
