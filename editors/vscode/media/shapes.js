// The page of the shape panel. It is told the report and where the cursor is; it tells where to go.
"use strict";

const vscode = acquireVsCodeApi();
const byId = (id) => document.getElementById(id);
const state = { name: undefined, search: "", sort: "at", down: false, tab: "table", colour: "macs", ...vscode.getState() };
const ROW_HEIGHT = 22;

let functions = [];
let rows = [];
/** Positions in `rows`, sorted and searched. */
let visible = [];
let marked = -1;
let most = 1;

const columns = [
  { key: "at", title: "line", number: true, text: (row) => String(row.range.start.line + 1) },
  { key: "name", title: "binding" },
  { key: "operator", title: "operator" },
  { key: "type", title: "output", text: (row) => tensor(row.type) },
  { key: "parameters", title: "parameters", number: true, text: (row) => count(row.parameters) },
  { key: "macs", title: "MACs", number: true, text: (row) => count(row.macs) },
  { key: "bytes", title: "bytes", number: true, text: (row) => memory(row.bytes) },
  { key: "liveBytes", title: "live", number: true, text: (row) => memory(row.liveBytes) },
  { key: "span", title: "source" },
];
const isAmount = (key) => ["parameters", "macs", "bytes", "liveBytes"].includes(key);

/** `(1, 64), float32`: that it is a tensor goes without saying. */
function tensor(type) {
  return type.replace(/^Tensor\[(\(.*\), \w+)\]$/, "$1");
}

/** Of an amount with unknowns, what it is if each of them is 1. */
function atOne(amount) {
  return typeof amount === "number" ? amount : amount.terms.reduce((sum, term) => sum + term.coefficient, 0);
}

function count(amount) {
  if (typeof amount !== "number") {
    return amount.text;
  }
  return amount === 0 ? "-" : amount.toLocaleString("en");
}

function memory(amount) {
  if (typeof amount !== "number") {
    return `${amount.text} bytes`;
  }
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let [size, unit] = [amount, 0];
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return amount === 0 ? "-" : `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}

/** How much of the costliest row this one costs, from 0 to 1: by the root, so that small costs are seen. */
const heat = (row) => Math.sqrt(Math.min(1, atOne(row[state.colour]) / most));

const found = (row) => state.search === "" || row.haystack.includes(state.search.toLowerCase());

const graph = new Graph(document.querySelector("canvas"), {
  choose: (at) => go(at),
  point: (at, event) => {
    const tip = byId("tip");
    tip.hidden = at < 0;
    if (at >= 0) {
      const row = rows[at];
      tip.textContent = [
        `${row.name}  ${row.operator}, line ${row.range.start.line + 1}`,
        row.type,
        `takes ${row.inputs.map(named).join(", ") || "nothing"}`,
        `parameters ${count(row.parameters)}, MACs ${count(row.macs)}, result ${memory(row.bytes)}, live ${memory(row.liveBytes)}`,
      ].join("\n");
      const box = byId("graph").getBoundingClientRect();
      tip.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 12, box.width - tip.offsetWidth))}px`;
      tip.style.top = `${Math.max(0, Math.min(event.clientY - box.top + 12, box.height - tip.offsetHeight))}px`;
    }
  },
});
graph.colour = heat;
graph.found = found;

function named(input) {
  return input.variable ?? (input.row === undefined ? "a constant" : rows[input.row]?.name ?? "?");
}

function go(at) {
  const row = rows[at];
  if (row !== undefined) {
    mark(at, false);
    vscode.postMessage({ type: "go", range: row.range });
  }
}

function heads() {
  const line = document.createElement("tr");
  for (const { key, title, number } of columns) {
    const head = document.createElement("th");
    head.textContent = title;
    head.tabIndex = 0;
    head.className = number ? "number" : "";
    head.dataset.key = key;
    const sort = () => {
      // The dearest and the largest first, the first name first.
      state.down = state.sort === key ? !state.down : isAmount(key);
      state.sort = key;
      arrange();
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort());
    line.append(head);
  }
  document.querySelector("#table thead").append(line);
}

/** Sorts and searches, then draws. */
function arrange() {
  const sorts = state.down ? -1 : 1;
  const value = (row) => (isAmount(state.sort) ? atOne(row[state.sort]) : row[state.sort] ?? "");
  visible = rows.map((_, at) => at).filter((at) => found(rows[at]));
  if (state.sort !== "at" || state.down) {
    const values = rows.map(value);
    const compare = (a, b) =>
      typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
    visible.sort((a, b) => sorts * compare(values[a], values[b]) || a - b);
  }
  for (const head of document.querySelectorAll("#table th")) {
    const order = state.down ? "descending" : "ascending";
    head.setAttribute("aria-sort", head.dataset.key === state.sort ? order : "none");
  }
  vscode.setState(state);
  draw();
  graph.redraw();
}

/** Draws the rows that are in sight: a network unrolled has 14,500. */
function draw() {
  const scroll = byId("scroll");
  const first = Math.max(0, Math.floor(scroll.scrollTop / ROW_HEIGHT) - 10);
  const last = Math.min(visible.length, first + Math.ceil(scroll.clientHeight / ROW_HEIGHT) + 20);
  const body = [space(first)];
  for (const at of visible.slice(first, last)) {
    const row = rows[at];
    const line = document.createElement("tr");
    line.dataset.at = String(at);
    line.className = at === marked ? "marked" : "";
    for (const { key, number, text } of columns) {
      const cell = document.createElement("td");
      cell.textContent = text ? text(row) : row[key] ?? "";
      cell.title = cell.textContent;
      cell.className = number ? "number" : "";
      if (key === state.colour || key === "operator") {
        cell.style.backgroundColor = `rgba(230, 85, 51, ${0.7 * heat(row)})`;
      }
      line.append(cell);
    }
    body.push(line);
  }
  body.push(space(visible.length - last));
  document.querySelector("#table tbody").replaceChildren(...body);
}

/** As high as this many rows. */
function space(height) {
  const line = document.createElement("tr");
  line.className = "space";
  line.hidden = height <= 0;
  const cell = document.createElement("td");
  cell.colSpan = columns.length;
  cell.style.height = `${Math.max(0, height) * ROW_HEIGHT}px`;
  line.append(cell);
  return line;
}

/** Marks a row, and brings it into sight. */
function mark(at, reveal = true) {
  const changed = at !== marked;
  marked = at;
  graph.marked = at;
  const position = visible.indexOf(at);
  const scroll = byId("scroll");
  if (reveal && changed && position >= 0 && scroll.clientHeight > 0) {
    const top = position * ROW_HEIGHT;
    // The head covers the first row.
    if (top < scroll.scrollTop || top + 2 * ROW_HEIGHT > scroll.scrollTop + scroll.clientHeight) {
      scroll.scrollTop = Math.max(0, top - scroll.clientHeight / 2);
    }
  }
  draw();
  if (reveal && changed) {
    graph.reveal(at);
  }
  graph.redraw();
  vscode.postMessage({ type: "marked", name: rows[at]?.name ?? "" });
}

/** Whether a range holds a place, and how far it reaches. */
const before = (a, b) => a.line < b.line || (a.line === b.line && a.character <= b.character);
const holds = (range, place) => before(range.start, place) && before(place, range.end);
const smaller = (a, b) => before(b.start, a.start) && before(a.end, b.end);

/** The cursor has moved: the innermost call that it is in, else the outermost one of its line. */
function follow(place) {
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

/** Shows a function; the first one, where there is none of this name. */
function choose(name) {
  const one = functions.find((one) => one.name === name) ?? functions[0];
  state.name = one?.name;
  byId("function").value = one?.name ?? "";
  rows = (one?.rows ?? []).map((row, at) => {
    const name = row.binding ?? `#${at}`;
    return { ...row, at, name, haystack: `${name} ${row.operator} ${row.type} ${row.span ?? ""}`.toLowerCase() };
  });
  marked = -1;
  costs();
  total(one);
  sums(one);
  graph.show(rows);
  arrange();
}

function costs() {
  most = rows.reduce((most, row) => Math.max(most, atOne(row[state.colour])), 1);
}

function total(one) {
  const line = byId("total");
  line.className = "";
  if (one === undefined) {
    line.textContent = "No function of this file computes anything.";
    return;
  }
  const { parameters, parameterBytes, macs, peakBytes, peakRow, calls } = one.total;
  const peak = peakRow === null ? "" : `; peak memory ${memory(peakBytes)} at ${rows[peakRow]?.name ?? "?"}`;
  line.textContent = [
    `${count(parameters)} parameters (${memory(parameterBytes)}), ${count(macs)} MACs, ${calls.toLocaleString("en")} calls${peak}`,
    ...one.unknowns.map((unknown) => `where ${unknown.name} is ${unknown.what}`),
  ].join("\n");
}

function report(all) {
  functions = all;
  byId("function").replaceChildren(
    ...functions.map(({ name }) => {
      const option = document.createElement("option");
      option.value = name;
      option.textContent = name;
      return option;
    }),
  );
  choose(state.name);
  vscode.postMessage({ type: "shown", rows: rows.length, functions: functions.map((one) => one.name) });
}

function problem(text) {
  byId("total").textContent = text;
  byId("total").className = "problem";
  vscode.postMessage({ type: "shown", rows: 0, functions: [] });
}

/** What the calls of one operator, and those of one source, cost together. */
function sums(one) {
  const tables = [["operator", one?.byOperator ?? []], ["source", one?.bySpan ?? []]]
    .filter(([, groups]) => groups.length > 0)
    .map(([what, groups]) => {
      const largest = groups.reduce((largest, group) => Math.max(largest, atOne(group.macs)), 1);
      const table = document.createElement("table");
      const line = (cells, kind, cost) => {
        const row = table.insertRow();
        cells.forEach((text, at) => {
          const cell = document.createElement(kind);
          cell.textContent = text;
          cell.className = at > 0 ? "number" : "";
          row.append(cell);
        });
        if (cost > 0) {
          row.cells[2].style.backgroundColor = `rgba(230, 85, 51, ${0.7 * Math.sqrt(cost / largest)})`;
        }
      };
      line([`by ${what}`, "calls", "MACs", "bytes"], "th", 0);
      for (const { name, count: calls, macs, bytes } of groups) {
        line([name, count(calls), count(macs), memory(bytes)], "td", atOne(macs));
      }
      return table;
    });
  byId("sums").replaceChildren(...tables);
}

const TABS = ["table", "graph", "sums"];

function tab(name) {
  state.tab = name;
  for (const one of TABS) {
    byId(one).hidden = one !== name;
    byId(`show-${one}`).setAttribute("aria-selected", String(one === name));
  }
  arrange();
}

heads();
byId("search").value = state.search;
byId("colour").value = state.colour;
byId("search").addEventListener("input", (event) => {
  state.search = event.target.value;
  byId("scroll").scrollTop = 0;
  arrange();
});
byId("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && visible.length > 0) {
    // Through what is found, from the row that is marked.
    const next = visible[(visible.indexOf(marked) + 1) % visible.length];
    mark(next);
  }
});
byId("function").addEventListener("change", (event) => choose(event.target.value));
byId("colour").addEventListener("change", (event) => {
  state.colour = event.target.value;
  costs();
  arrange();
});
for (const one of TABS) {
  byId(`show-${one}`).addEventListener("click", () => tab(one));
}
byId("scroll").addEventListener("scroll", draw);
new ResizeObserver(draw).observe(byId("scroll"));
document.querySelector("#table tbody").addEventListener("click", (event) => {
  const line = event.target.closest("tr[data-at]");
  if (line !== null) {
    go(Number(line.dataset.at));
  }
});
window.addEventListener("message", ({ data }) => {
  if (data.type === "report") {
    report(data.functions);
  } else if (data.type === "cursor") {
    follow(data);
  } else if (data.type === "problem") {
    problem(data.text);
  }
});
tab(TABS.includes(state.tab) ? state.tab : "table");
vscode.postMessage({ type: "ready" });
