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

/** The number of graphs that are open at first. */
const OPEN = 8;
/** The graphs that are laid out, in the order in which they were opened. */
const graphs = [];
let opened = 0;

/** The dataflow graph of a function, which is laid out once it is open. `pick` is called with a call that is clicked. */
function picture(section, one, pick) {
  const details = document.createElement("details");
  details.innerHTML = `<summary>Dataflow</summary><div class="picture"><ul class="reader" role="tree"></ul><canvas tabindex="0" role="application"></canvas><canvas class="minimap" aria-hidden="true" hidden></canvas></div>`;
  const [canvas, minimap] = details.querySelectorAll("canvas");
  const list = details.querySelector("ul");
  list.setAttribute("aria-label", `Dataflow of ${one.name}`);
  canvas.setAttribute("aria-label", `Dataflow of ${one.name}: arrows go along it, Enter opens a group, F fits, S zooms to the selection`);
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
      const paint = (at) => paintOfKind(graph.scene.items[at]);
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
  const show = picture(section, report[at], (row) => calls.made.mark(row, true));
  const calls = table(section, `Calls of ${name}`, rows, () => callColumns(chosen.value), () => chosen.value, show);
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
chosen.addEventListener("change", () => tables.forEach(({ fill }) => fill()));
