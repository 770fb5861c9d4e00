// The page of the shape panel. It receives the report and the cursor, and sends navigation requests.
"use strict";

const vscode = acquireVsCodeApi();
const byId = (id) => document.getElementById(id);
const TABS = ["table", "graph", "memory", "sums"];
const state = {
  name: undefined,
  search: "",
  sort: { key: "at", down: false },
  tab: "table",
  cost: "macs",
  colour: "kind",
  details: false,
  ...vscode.getState(),
};

let functions = [];
/** The file of the functions. */
let uri;
/** The shown function, and its file. */
let subject;
let one;
let rows = [];
/** The matching rows, in the order of the table. */
let matches = [];
let marked = -1;
let heat = () => 0;
/** The last requested position, whose cursor event is ignored. */
let expected;
/** The tabs with outdated content. */
let stale = new Set(TABS);

const found = (text) => state.search === "" || text.includes(state.search.toLowerCase());

const table = new VirtualTable(byId("scroll"), {
  label: "Calls",
  scroller: byId("scroll"),
  pick: (at) => go(at),
  marked: (at) => mark(at, false),
  sorted: (sort) => {
    state.sort = sort;
    vscode.setState(state);
    countMatches();
  },
});
table.keep = (row) => found(row.haystack);
table.heat = (row) => heat(row);
table.sort = state.sort;

const sumsOf = (what) => new VirtualTable(byId("sums"), { label: `Costs by ${what}`, scroller: byId("sums") });
const layerSums = new LayerTable(byId("sums"), { label: "Costs by layer", scroller: byId("sums") });
const sums = { operator: sumsOf("operator"), source: sumsOf("source") };

/** The boxes with matches of the search. */
let bright = new Map();

const graph = new Graph({
  canvas: byId("canvas"),
  minimap: byId("minimap"),
  list: byId("reader"),
  paint: (at) => paintOf(graph.scene, at, byId("colour").value, state.cost),
  isBright: (at) => {
    const item = graph.scene.items[at];
    if (state.search === "") {
      return true;
    }
    if (!bright.has(item.key)) {
      const own = item.level.scope.one.rows.slice(item.start ?? 0, item.end ?? 0);
      bright.set(item.key, item.start === undefined ? found(item.name.toLowerCase()) : own.some(({ haystack }) => found(haystack)));
    }
    return bright.get(item.key);
  },
  changed: () => {
    scale();
    details();
  },
  select,
  open: (at) => {
    const { range } = graph.scene.items[at] ?? {};
    if (range !== undefined) {
      move(range);
    }
  },
  point: ({ item, pill }, event) => point(item, pill, event),
});

const chart = new MemoryChart({
  canvas: byId("memory-canvas"),
  list: byId("at-peak"),
  valueOf: atOne,
  select: (at) => {
    mark(at);
    move(rows[at].range, true);
  },
  open: (at) => go(at),
  point: (at, event) => {
    const row = rows[at];
    tip(byId("memory-tip"), byId("timeline"), row && `${row.name}  ${row.operator}, line ${row.line}\n${row.type}\n${memoryOf(row)}`, event);
  },
});
/** The results that are live at the peak. */
let live = [];
const liveTable = new VirtualTable(byId("live"), { label: "Live at the peak", scroller: byId("live"), pick: (at) => go(live[at].at), marked: (at) => mark(live[at].at, false) });

/** Adapts the colours to what is shown. */
function scale() {
  bright = new Map();
  graph.recolour();
}

/** Shows a tooltip at the mouse. */
function point(at, pill, event) {
  const item = graph.scene.items[at];
  tip(byId("tip"), byId("picture"), item && tipOf(item, pill), event);
}

/** The tooltip of a box of the graph, or of the values beside it. */
function tipOf(item, pill) {
  if (pill !== undefined) {
    return item.pills.slice(0, 30).map(({ name, type, kind }) => `${kind === "jump" ? "from" : kind} ${name}: ${type}`).join("\n");
  }
  const marks = marksOf(item);
  const end = marks === "" ? "" : `\n${marks}`;
  if (item.kind === "group") {
    const { group } = item;
    return `${titleOf(item)}\n${group.calls.text}, ${item.label}\nMACs ${textOf(group.macs)}, bytes ${textOf(group.bytes)}, parameters ${textOf(group.parameters)}${end}`;
  }
  if (item.row === undefined) {
    return `${item.kind} ${item.name}\n${item.label}`;
  }
  const costs = COSTS.map(({ title, text }) => `${title} ${text(item.row)}`).join(", ");
  return `${item.name}  ${item.row.operator}, line ${item.row.line}\n${item.row.type}\n${costs}${end}`;
}

/** Shows a text beside the mouse, inside of a box; hides it without one. */
function tip(host, around, text, event) {
  host.hidden = text === undefined;
  if (text !== undefined) {
    host.textContent = text;
    const box = around.getBoundingClientRect();
    host.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 12, box.width - host.offsetWidth))}px`;
    host.style.top = `${Math.max(0, Math.min(event.clientY - box.top + 12, box.height - host.offsetHeight))}px`;
  }
}

/** Selects an item of the graph, opens its details, and moves the cursor to it without taking focus. */
function select(at) {
  byId("tip").hidden = true;
  const { row, range, level } = graph.scene.items[at] ?? {};
  if (level === undefined) {
    return;
  }
  state.details = true;
  vscode.setState(state);
  mark(row === undefined || level.scope.one !== one ? -1 : row.at, false);
  graph.mark(at, false);
  details();
  // The details have reduced the space of the graph.
  requestAnimationFrame(() => graph.mark(at, true));
  if (range !== undefined) {
    move(range, true);
  }
}

/** Moves the cursor of the editor, and the focus unless `stay` is set. */
function move(range, stay = false) {
  expected = range.start;
  vscode.postMessage({ type: "go", range, stay });
}

function details() {
  const at = graph.selected;
  const host = byId("details");
  host.hidden = !state.details || graph.scene.items[at] === undefined;
  if (!host.hidden) {
    const row = graph.scene.items[at].row;
    const amounts = row ? COSTS.map(({ text }) => text(row)).join(" ") : "";
    const unknowns = (one?.unknowns ?? []).filter(({ name }) => new RegExp(`\\b${name}\\b`).test(amounts));
    showDetails(host, { scene: graph.scene, at, unknowns, toggle: () => graph.toggle(at), canOpen: graph.levels.canOpen(graph.scene.items[at]) }, {
      select,
      go: (range) => move(range),
      close: closeDetails,
    });
  }
}

function closeDetails() {
  state.details = false;
  vscode.setState(state);
  details();
  byId("canvas").focus();
}

function go(at) {
  const row = rows[at];
  if (row !== undefined) {
    mark(at, false);
    move(row.range);
  }
}

/** Marks a row in the table and in the graph, and scrolls it into view; with `opens`, groups open for it. */
function mark(at, reveal = true, opens = false) {
  const changed = at !== marked;
  marked = at;
  if (!stale.has("table")) {
    table.mark(at, reveal && changed);
  }
  if (!stale.has("graph")) {
    if (opens && at >= 0) {
      void graph.reveal(at).then(details);
    } else {
      graph.mark(at < 0 ? -1 : graph.boxOf(at), reveal && changed);
      details();
    }
  }
  if (!stale.has("memory")) {
    chart.mark(at, reveal && changed);
    liveTable.mark(live.findIndex((row) => row.at === at), reveal && changed);
  }
  countMatches();
  vscode.postMessage({ type: "marked", name: rows[at]?.name ?? "" });
}

/** Tests if a range contains a position, and returns its length. */
const before = (a, b) => a.line < b.line || (a.line === b.line && a.character <= b.character);
const holds = (range, place) => before(range.start, place) && before(place, range.end);
const smaller = (a, b) => before(b.start, a.start) && before(a.end, b.end);

/** The cursor has moved: marks the innermost call at it, or the outermost one of its line. */
function follow(place) {
  const isExpected = expected?.line === place.line && expected.character === place.character;
  expected = undefined;
  if (isExpected) {
    return;
  }
  const inside = functions.filter((one) => holds(one.range, place));
  const innermost = inside.reduce((best, one) => (best && !smaller(one.range, best.range) ? best : one), undefined);
  if (innermost !== undefined && innermost.name !== state.name) {
    choose(innermost.name);
  }
  let best = -1;
  let ofLine = -1;
  for (const [at, { range }] of rows.entries()) {
    if (holds(range, place) && (best < 0 || smaller(range, rows[best].range))) {
      best = at;
    }
    if (range.start.line === place.line) {
      ofLine = at;
    }
  }
  mark(best >= 0 ? best : ofLine);
}

/** Shows a function, by default the first one. */
function choose(name) {
  one = functions.find((one) => one.name === name) ?? functions[0];
  state.name = one?.name;
  byId("function").value = one?.name ?? "";
  rows = one?.rows ?? [];
  marked = -1;
  if (subject !== `${uri} ${state.name}`) {
    subject = `${uri} ${state.name}`;
    byId("scroll").scrollTop = 0;
  }
  total();
  refresh();
}

/** Marks all views as outdated; hidden ones are drawn when they become visible. */
function refresh() {
  heat = heatOf(rows, state.cost);
  stale = new Set(TABS);
  render();
}

const RENDERERS = {
  table() {
    table.show(rows, callColumns(state.cost));
    table.mark(marked, true);
  },
  graph() {
    const shown = one;
    void graph.show(subject, shown, functions).then(() => {
      if (marked >= 0 && shown === one) {
        graph.mark(graph.boxOf(marked), true);
      }
      details();
    });
    legend();
  },
  memory() {
    chart.show(one);
    live = (one?.total.peakRows ?? []).map((at) => rows[at]);
    liveTable.show(live, memoryColumns());
    chart.mark(marked);
    liveTable.mark(live.findIndex(({ at }) => at === marked), true);
  },
  sums() {
    const layers = one?.byLayer ?? [];
    layerSums.table.hidden = layers.length === 0;
    layerSums.heat = heatOf(layers, "macs");
    layerSums.list(layers);
    for (const [what, list] of [["operator", one?.byOperator ?? []], ["source", one?.bySpan ?? []]]) {
      sums[what].table.hidden = list.length === 0;
      sums[what].heat = heatOf(list, "macs");
      sums[what].show(list, groupColumns(what));
    }
  },
};

function render() {
  if (stale.delete(state.tab)) {
    RENDERERS[state.tab]();
  }
  countMatches();
}

/** The legend of the colours. */
function legend() {
  showLegend(byId("legend"), one, byId("colour").value, state.cost);
}

/** The position of the marked row among the matches: `3 of 12`. */
function countMatches() {
  matches = state.tab === "table" ? table.visible : rows.map((_, at) => at).filter((at) => found(rows[at].haystack));
  const position = matches.indexOf(marked) + 1;
  const [n, m] = [position, matches.length].map((number) => NUMBERS.format(number));
  byId("matches").textContent = state.search === "" ? "" : position > 0 ? `${n} of ${m}` : m === "0" ? "No results" : `? of ${m}`;
}

/** Goes to the next or previous match. */
function step(by) {
  if (matches.length > 0) {
    const here = matches.indexOf(marked);
    const next = here < 0 ? (by > 0 ? 0 : matches.length - 1) : (here + by + matches.length) % matches.length;
    mark(matches[next], true, true);
  }
}

function search(text) {
  state.search = text;
  vscode.setState(state);
  byId("scroll").scrollTop = 0;
  table.arrange();
  scale();
  countMatches();
  // The first match after the marked row, like the search of the editor.
  if (text !== "" && !matches.includes(marked)) {
    const next = matches.find((at) => at > marked) ?? matches[0];
    if (next !== undefined) {
      mark(next, true, state.tab === "graph");
    }
  }
}

function total() {
  const line = byId("total");
  line.className = "";
  if (one === undefined) {
    line.textContent = "No function of this file has calls.";
    return;
  }
  line.textContent = [
    one.total.text,
    ...one.unknowns.map((unknown) => `where ${unknown.name} is ${unknown.what}`),
  ].join("\n");
}

/** A row with what the table and the graph show of it. */
function described(row, at) {
  const name = row.binding ?? `#${at}`;
  const line = row.range.start.line + 1;
  return { ...row, at, name, line, haystack: `${name} ${row.operator} ${row.type} ${row.span ?? ""}`.toLowerCase() };
}

function report(data) {
  uri = data.uri;
  functions = data.functions.map((one) => ({ ...one, rows: one.rows.map(described) }));
  // The panel of a new window shows this file again.
  state.uri = uri;
  vscode.setState(state);
  byId("function").replaceChildren(...functions.map(({ name }) => new Option(name, name)));
  offerColours(byId("colour"), functions, state.colour);
  choose(state.name);
  vscode.postMessage({ type: "shown", rows: rows.length, functions: functions.map((one) => one.name) });
}

function problem(text) {
  byId("total").textContent = text;
  byId("total").className = "problem";
  vscode.postMessage({ type: "shown", rows: 0, functions: [] });
}

function tab(name) {
  state.tab = name;
  vscode.setState(state);
  for (const one of TABS) {
    byId(one).hidden = one !== name;
    byId(`show-${one}`).setAttribute("aria-selected", String(one === name));
  }
  render();
}

async function save(kind) {
  const part = byId("extent").value;
  const { data, whole } = kind === "svg" ? exportSvg(graph, part) : await exportPng(graph, part);
  const name = (state.name ?? "graph").replace(/^[@%]/, "").replace(/[^\w.-]/g, "_");
  vscode.postMessage({ type: "save", name: `${name}.${kind}`, data, whole });
}

byId("search").value = state.search;
byId("cost").append(...COSTS.map(({ key, title }) => new Option(title, key)));
byId("cost").value = state.cost;
byId("search").addEventListener("input", ({ target }) => search(target.value));
byId("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    step(event.shiftKey ? -1 : 1);
  }
});
byId("function").addEventListener("change", ({ target }) => choose(target.value));
byId("cost").addEventListener("change", ({ target }) => {
  state.cost = target.value;
  const at = marked;
  refresh();
  mark(at);
});
byId("colour").addEventListener("change", ({ target }) => {
  state.colour = target.value;
  vscode.setState(state);
  legend();
  scale();
});
for (const one of TABS) {
  byId(`show-${one}`).addEventListener("click", () => tab(one));
}
const TOOLS = {
  fit: () => graph.fit(),
  reset: () => graph.reset(),
  selection: () => graph.zoomToSelection(),
  pin: () => graph.pin(),
  svg: () => void save("svg"),
  png: () => void save("png"),
};
for (const [id, act] of Object.entries(TOOLS)) {
  byId(id).addEventListener("click", act);
}
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, select");
  if (event.key === "Escape" && !isTyping && state.details) {
    closeDetails();
  } else if (event.key === "/" && !isTyping) {
    event.preventDefault();
    byId("search").select();
  }
});
window.addEventListener("message", ({ data }) => {
  if (data.type === "report") {
    report(data);
  } else if (data.type === "cursor") {
    follow(data);
  } else if (data.type === "problem") {
    problem(data.text);
  }
});
tab(TABS.includes(state.tab) ? state.tab : "table");
vscode.postMessage({ type: "ready" });
