// The page of the shape report: tables of calls, and of what they cost together.
const flat = (functions) => functions.flatMap((one) => [one, ...flat(one.functions)]);
const report = flat(JSON.parse(document.getElementById("report").textContent)).map((one) => ({
  ...one,
  rows: one.rows.map((row, at) => ({ ...row, at, line: row.range, name: row.binding ?? `#${at}` })),
}));
const search = document.querySelector("input");
const chosen = document.querySelector("select");
chosen.append(...COSTS.map(({ key, title }) => new Option(title, key)));

/** A table below a function. `columns` and `cost` are called again when another cost is selected. */
function table(section, label, rows, columns, cost, picked = () => {}) {
  const pick = (at) => {
    made.mark(at, false);
    picked(at);
  };
  const made = new VirtualTable(section, { label, pick });
  const texts = columns().map(({ text, hint }) => hint ?? text);
  const haystacks = new Map(rows.map((row) => [row, texts.map((text) => text(row)).join(" ").toLowerCase()]));
  made.keep = (row) => haystacks.get(row).includes(search.value.toLowerCase());
  const fill = () => {
    made.heat = heatOf(rows, cost());
    made.show(rows, columns());
  };
  fill();
  return { made, fill };
}

/** A table of totals by layer below a function. A search opens all layers. */
function layerTable(section, label, list) {
  const made = new LayerTable(section, { label });
  const isOpen = made.keep;
  made.keep = (row) => (search.value === "" ? isOpen(row) : row.name.toLowerCase().includes(search.value.toLowerCase()));
  made.table.classList.add("groups");
  const fill = () => {
    made.heat = heatOf(list, "macs");
    made.list(list);
  };
  fill();
  return { made, fill };
}

/** Saves data as a file of the browser. */
function download(name, data, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([data], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

/** The buttons of a picture, as the shape panel has them. `graph` returns the picture; a status says what was saved. */
function tools(host, name, graph) {
  host.innerHTML = `<button title="All of the graph (F)">Fit</button> <button title="As it opens, to be read (0)">Reset</button>
    <button title="Zoom to the selected call and those beside it (S)">Selection</button> <button title="Keeps the selected box marked, and a group open (P)">Pin</button>
    <label>Colour <select><option value="kind">by kind</option><option value="cost">by cost</option><option value="memory">by memory</option></select></label>
    <select aria-label="What is saved"><option value="whole">Whole</option><option value="visible">Visible</option></select>
    <button title="Save the graph as SVG">SVG</button> <button title="Save the graph as PNG">PNG</button> <span role="status"></span>`;
  const [fit, reset, selection, pin, svg, png] = host.querySelectorAll("button");
  const [colour, extent] = host.querySelectorAll("select");
  const file = name.replace(/^[@%]/, "").replace(/[^\w.-]/g, "_");
  const save = ({ data, whole }, kind, type) => {
    const what = whole ? extent.selectedOptions[0].text.toLowerCase() : "the visible part, as the whole is too large for an image";
    host.querySelector("span").textContent = `Saved ${what}`;
    download(`${file}.${kind}`, data, type);
  };
  fit.addEventListener("click", () => graph().fit());
  reset.addEventListener("click", () => graph().reset());
  selection.addEventListener("click", () => graph().zoomToSelection());
  pin.addEventListener("click", () => graph().pin());
  svg.addEventListener("click", () => save(exportSvg(graph(), extent.value), "svg", "image/svg+xml"));
  png.addEventListener("click", async () => save(await exportPng(graph(), extent.value), "png", "image/png"));
  colour.addEventListener("change", () => graph().recolour());
  return colour;
}

/** The memory of a function over time, and what is live at the peak: they are made once they are opened, as a module may have hundreds of functions. */
function memory(section, one, pick) {
  const details = document.createElement("details");
  details.innerHTML = `<summary>Memory</summary>`;
  section.append(details);
  let mark = () => {};
  details.addEventListener("toggle", () => {
    mark = timeline(details, one, pick);
  }, { once: true });
  return (row) => mark(row);
}

/** Fills the opened part of a page for the memory of a function. Returns a function that marks a call in it. */
function timeline(details, one, pick) {
  details.insertAdjacentHTML("beforeend", `<div class="picture timeline"><ul class="reader"></ul><canvas tabindex="0" role="application"></canvas><div class="tip" hidden></div></div><p>Live at the peak</p>`);
  const canvas = details.querySelector("canvas");
  const list = details.querySelector("ul");
  const note = details.querySelector(".tip");
  list.setAttribute("aria-label", `Live at the peak of ${one.name}`);
  canvas.setAttribute("aria-label", `Memory of ${one.name} over time: left and right go along the evaluation, P goes to the peak, F fits`);
  const select = (at) => {
    chart.mark(at);
    pick(at);
  };
  const point = (at, event) => {
    const row = one.rows[at];
    note.hidden = row === undefined;
    if (row !== undefined) {
      note.textContent = `${row.name}  ${row.operator}, line ${row.line}\n${row.type}\n${memoryOf(row)}`;
      note.style.left = `${Math.min(event.offsetX + 12, canvas.clientWidth - note.offsetWidth)}px`;
      note.style.top = `${Math.min(event.offsetY + 12, canvas.clientHeight - note.offsetHeight)}px`;
    }
  };
  const chart = new MemoryChart({ canvas, list, valueOf: atOne, select, open: select, point });
  charts.push(chart);
  chart.show(one);
  const live = one.total.peakRows.map((at) => one.rows[at]);
  const made = table(details, `Live at the peak of ${one.name}`, live, memoryColumns, () => "bytes", (at) => select(live[at].at));
  made.made.table.classList.add("groups");
  tables.push(made);
  return (row) => chart.mark(row);
}

/** The number of graphs that are open at first. */
const OPEN = 8;
/** The graphs that are laid out, in the order in which they were opened. */
const graphs = [];
/** The pictures of memory that were opened. */
const charts = [];
let opened = 0;

/** The dataflow graph of a function, which is laid out once it is open. `pick` is called with a call that is clicked. */
function picture(section, one, pick) {
  const details = document.createElement("details");
  details.innerHTML = `<summary>Dataflow</summary><div class="tools" role="toolbar" aria-label="Graph"></div><div class="picture"><ul class="reader" role="tree"></ul><canvas tabindex="0" role="application"></canvas><canvas class="minimap" aria-hidden="true" hidden></canvas></div>`;
  const [canvas, minimap] = details.querySelectorAll("canvas");
  const list = details.querySelector("ul");
  list.setAttribute("aria-label", `Dataflow of ${one.name}`);
  canvas.setAttribute("aria-label", `Dataflow of ${one.name}: arrows go along it, Enter opens a group, F fits, S zooms to the selection, P pins`);
  let graph;
  const select = (at) => {
    graph.mark(at, true);
    const { kind, row, level } = graph.scene.items[at] ?? {};
    if (kind === "call" && level.scope.one === one) {
      pick(row.at);
    }
  };
  details.addEventListener("toggle", () => {
    if (details.open && graph === undefined) {
      const colour = tools(details.querySelector(".tools"), one.name, () => graph);
      const paint = (at) => paintOf(graph.scene, at, colour.value, chosen.value);
      graph = new Graph({ canvas, minimap, list, paint, isBright: () => true, select, open: () => {}, point: () => {} });
      graphs.push(graph);
      void graph.show(one.name, one, report);
    }
  });
  section.append(details);
  details.open = opened++ < OPEN;
  // A call that is chosen in the table is shown in the picture.
  return (row) => graph?.reveal(row);
}

const tables = [...document.querySelectorAll("section")].flatMap((section, at) => {
  const { name, rows, byLayer, byOperator, bySpan } = report[at];
  const one = report[at];
  const show = picture(section, one, (row) => calls.made.mark(row, true));
  const time = memory(section, one, (row) => calls.made.mark(row, true));
  const picked = (row) => {
    show(row);
    time(row);
  };
  const calls = table(section, `Calls of ${name}`, rows, () => callColumns(chosen.value), () => chosen.value, picked);
  const layers = byLayer.length > 0 ? [layerTable(section, `Costs of ${name} by layer`, byLayer)] : [];
  const groups = [["operator", byOperator], ["source", bySpan]].filter(([, list]) => list.length > 0);
  return [
    calls,
    ...layers,
    ...groups.map(([what, list]) => {
      const sums = table(section, `Costs of ${name} by ${what}`, list, () => groupColumns(what), () => "macs");
      sums.made.table.classList.add("groups");
      return sums;
    }),
  ];
});

search.addEventListener("input", () => {
  tables.forEach(({ made }) => made.arrange());
  const found = tables.reduce((sum, { made }) => sum + made.visible.length, 0);
  document.querySelector("output").textContent = search.value === "" ? "" : `${NUMBERS.format(found)} found`;
});
chosen.addEventListener("change", () => {
  tables.forEach(({ fill }) => fill());
  graphs.forEach((graph) => graph.recolour());
});
