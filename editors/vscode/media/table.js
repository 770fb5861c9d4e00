// A table that renders only visible rows: an unrolled network has 14,500. It is used in the shape panel and
// in the HTML page of the command line.
"use strict";

const ROW_HEIGHT = 22;
/** The number of rows that are rendered above and below the visible ones. */
const MARGIN = 20;
/** The maximal number of characters in a column; the full text is the title of the cell. */
const WIDEST = 40;
const COLLATOR = new Intl.Collator("en", { numeric: true });

/**
 * The tables that scroll with the page, which may have thousands: those that are not near what is visible are not drawn.
 * To ask each for its place would lay out the page again and again.
 */
class PageTables {
  constructor() {
    this.everything = false;
    this.tables = new Map();
    this.near = new Set();
    const draw = () => this.near.forEach((table) => table.draw());
    window.addEventListener("scroll", draw, { passive: true });
    window.addEventListener("resize", draw);
    // A printed page cannot scroll.
    for (const [event, everything] of [["beforeprint", true], ["afterprint", false]]) {
      window.addEventListener(event, () => {
        this.everything = everything;
        this.tables.forEach((table) => table.draw());
      });
    }
    this.sight = new IntersectionObserver((seen) => seen.forEach(({ target, isIntersecting }) => this.see(target, isIntersecting)), { rootMargin: "400px" });
  }

  add(table) {
    this.tables.set(table.table, table);
    this.sight.observe(table.table);
  }

  see(element, isNear) {
    const table = this.tables.get(element);
    if (table.isNear !== isNear) {
      table.isNear = isNear;
      this.near[isNear ? "add" : "delete"](table);
      table.draw();
    }
  }
}

let onPage;
function pageTables() {
  onPage ??= new PageTables();
  return onPage;
}

/**
 * `scroller` is the scrolling element, or undefined for the window. `pick` is called with a row on a click or
 * Enter, `sorted` with the new order.
 */
class VirtualTable {
  constructor(host, { label, scroller, pick = () => {}, marked = () => {}, sorted = () => {} }) {
    this.scroller = scroller;
    this.pick = pick;
    this.onMarked = marked;
    this.onSorted = sorted;
    this.columns = [];
    this.rows = [];
    this.visible = [];
    this.keep = () => true;
    this.heat = () => 0;
    this.sort = { key: undefined, down: false };
    this.marked = -1;
    /** True if the table is near what is visible. Others have the height of their rows, but no rows. */
    this.isNear = scroller !== undefined;
    this.hasHead = false;
    this.id = `table-${VirtualTable.made++}`;

    this.table = document.createElement("table");
    this.table.className = "virtual";
    this.table.tabIndex = 0;
    this.table.setAttribute("role", "grid");
    this.table.setAttribute("aria-label", label);
    this.sizes = this.table.appendChild(document.createElement("colgroup"));
    this.head = this.table.createTHead();
    this.body = this.table.createTBody();
    host.append(this.table);

    this.head.addEventListener("click", ({ target }) => this.sortBy(target.closest("th")?.dataset.key));
    this.body.addEventListener("click", ({ target }) => {
      const line = target.closest("tr[data-at]");
      if (line !== null) {
        this.pick(Number(line.dataset.at));
      }
    });
    this.table.addEventListener("keydown", (event) => this.key(event));
    if (scroller) {
      scroller.addEventListener("scroll", () => this.draw(), { passive: true });
      new ResizeObserver(() => this.draw()).observe(scroller);
    } else {
      pageTables().add(this);
    }
  }

  /** Shows rows in columns. */
  show(rows, columns) {
    this.rows = rows;
    this.columns = columns;
    this.marked = -1;
    this.hasHead = false;
    this.table.setAttribute("aria-rowcount", String(rows.length + 1));
    this.arrange();
  }

  /** Draws the head, with columns as wide as their texts. */
  drawHead() {
    const { rows, columns } = this;
    this.hasHead = true;
    const line = document.createElement("tr");
    this.sizes.replaceChildren();
    let whole = 0;
    for (const { key, title, number, text } of columns) {
      const head = document.createElement("th");
      head.textContent = title;
      head.tabIndex = 0;
      head.className = number ? "number" : "";
      head.dataset.key = key;
      line.append(head);
      // The arrow of the sort order takes two characters.
      const width = rows.reduce((widest, row) => Math.max(widest, text(row).length), title.length + 2);
      const column = document.createElement("col");
      const characters = Math.min(width, WIDEST);
      whole += characters;
      column.style.width = `calc(${characters}ch + 16px)`;
      this.sizes.append(column);
    }
    this.table.style.width = `calc(${whole}ch + ${16 * columns.length}px)`;
    this.head.replaceChildren(line);
    this.drawOrder();
  }

  drawOrder() {
    for (const head of this.head.querySelectorAll("th")) {
      const order = this.sort.down ? "descending" : "ascending";
      head.setAttribute("aria-sort", head.dataset.key === this.sort.key ? order : "none");
    }
  }

  sortBy(key) {
    const column = this.columns.find((column) => column.key === key);
    if (column !== undefined) {
      // Initially descending for costs and sizes, ascending for names and lines.
      const down = this.sort.key === key ? !this.sort.down : Boolean(column.number) && key !== "at";
      this.sort = { key, down };
      this.arrange();
      this.onSorted(this.sort);
    }
  }

  /** Searches and sorts, then renders. */
  arrange() {
    this.visible = [];
    for (let at = 0; at < this.rows.length; at++) {
      if (this.keep(this.rows[at])) {
        this.visible.push(at);
      }
    }
    const column = this.columns.find(({ key }) => key === this.sort.key);
    if (column !== undefined) {
      const value = column.value ?? column.text;
      const values = this.rows.map(value);
      const sign = this.sort.down ? -1 : 1;
      const compare = column.value ? (a, b) => a - b : COLLATOR.compare;
      this.visible.sort((a, b) => sign * compare(values[a], values[b]) || a - b);
    }
    this.drawOrder();
    this.draw();
  }

  /** The first visible row and the one after the last, as positions in `visible`. */
  sight() {
    if (this.scroller === undefined && pageTables().everything) {
      return [0, this.visible.length];
    }
    if (!this.isNear) {
      return [0, 0];
    }
    const top = this.scroller?.getBoundingClientRect().top ?? 0;
    const height = this.scroller?.clientHeight ?? window.innerHeight;
    const above = top - this.table.getBoundingClientRect().top;
    const first = Math.floor(above / ROW_HEIGHT) - MARGIN;
    const last = first + Math.ceil(height / ROW_HEIGHT) + 2 * MARGIN;
    const within = (at) => Math.max(0, Math.min(this.visible.length, at));
    return [within(first), within(last)];
  }

  draw() {
    const [first, last] = this.sight();
    if (!this.hasHead && (this.isNear || last > 0)) {
      this.drawHead();
    }
    const lines = [this.space(first)];
    for (let position = first; position < last; position++) {
      lines.push(this.line(position));
    }
    lines.push(this.space(this.visible.length - last));
    this.body.replaceChildren(...lines);
    const inSight = this.body.querySelector("tr.marked");
    this.table.setAttribute("aria-activedescendant", inSight?.id ?? "");
  }

  line(position) {
    const at = this.visible[position];
    const row = this.rows[at];
    const line = document.createElement("tr");
    line.dataset.at = String(at);
    line.id = `${this.id}-${at}`;
    line.className = at === this.marked ? "marked" : "";
    line.setAttribute("aria-rowindex", String(position + 2));
    line.setAttribute("aria-selected", String(at === this.marked));
    for (const { number, text, hint, heated } of this.columns) {
      const cell = document.createElement("td");
      cell.textContent = text(row);
      cell.title = hint ? hint(row) : cell.textContent;
      cell.className = number ? "number" : "";
      if (heated) {
        cell.style.backgroundColor = `rgba(230, 85, 51, ${0.7 * this.heat(row)})`;
      }
      line.append(cell);
    }
    return line;
  }

  /** A spacer with the height of some rows. */
  space(height) {
    const line = document.createElement("tr");
    line.className = "space";
    line.hidden = height <= 0;
    const cell = document.createElement("td");
    cell.colSpan = this.columns.length;
    cell.style.height = `${Math.max(0, height) * ROW_HEIGHT}px`;
    line.append(cell);
    return line;
  }

  /** Marks a row, and scrolls it into view if `reveal` is set. */
  mark(at, reveal) {
    this.marked = at;
    const position = this.visible.indexOf(at);
    if (reveal && position >= 0) {
      this.reveal(position);
    }
    this.draw();
  }

  reveal(position) {
    const area = this.scroller ?? document.scrollingElement;
    const height = this.scroller?.clientHeight ?? window.innerHeight;
    if (height === 0) {
      return;
    }
    const edge = this.scroller?.getBoundingClientRect().top ?? 0;
    // The header covers rows at the top.
    const top = this.table.getBoundingClientRect().top - edge + (position + 1) * ROW_HEIGHT;
    if (top < ROW_HEIGHT || top + ROW_HEIGHT > height) {
      area.scrollTop += top - height / 2;
    }
  }

  key(event) {
    const head = event.target.closest("th");
    if (head !== null) {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        this.sortBy(head.dataset.key);
      }
      return;
    }
    const position = this.visible.indexOf(this.marked);
    const page = Math.max(1, Math.floor((this.scroller?.clientHeight ?? window.innerHeight) / ROW_HEIGHT) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps && !event.altKey && !event.metaKey) {
      event.preventDefault();
      const last = this.visible.length - 1;
      const next = this.visible[Math.max(0, Math.min(last, position + steps[event.key]))];
      if (next !== undefined) {
        this.mark(next, true);
        this.onMarked(next);
      }
    } else if (event.key === "Enter" && position >= 0) {
      this.pick(this.marked);
    }
  }
}
VirtualTable.made = 0;

/** A table of totals by layer, whose rows open and close those inside of them on a click or Enter. */
class LayerTable extends VirtualTable {
  constructor(host, options) {
    super(host, { ...options, pick: (at) => this.toggle(at) });
    this.keep = ({ parents }) => parents.every((at) => this.rows[at].isOpen);
  }

  /** Shows the layers of a function. */
  list(layers) {
    this.show(layerRows(layers), layerColumns());
  }

  toggle(at) {
    const row = this.rows[at];
    row.isOpen = row.isParent && !row.isOpen;
    this.arrange();
    this.mark(at, false);
  }

  line(position) {
    const line = super.line(position);
    const row = this.rows[this.visible[position]];
    line.setAttribute("aria-level", String(row.depth + 1));
    if (row.isParent) {
      line.setAttribute("aria-expanded", String(row.isOpen));
    }
    return line;
  }
}
