// The page of the shape report: tables of calls, and of what they cost together.
const report = functionsOf(JSON.parse(document.getElementById("report").textContent));
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
  const haystacks = new Map();
  const haystack = (row) => {
    if (!haystacks.has(row)) {
      haystacks.set(row, texts.map((text) => text(row)).join(" ").toLowerCase());
    }
    return haystacks.get(row);
  };
  made.keep = (row) => search.value === "" || haystack(row).includes(search.value.toLowerCase());
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

/** The pictures of memory that were opened. */
const charts = [];

const tables = [];

/** Makes the picture of a function. Returns a function that makes what is below it. */
function drawn(section, one) {
  const { name, rows, byLayer, byOperator, bySpan } = one;
  let calls;
  const show = picture(section, one, report, { pick: (row) => calls?.made.mark(row, true), cost: () => chosen.value });
  return () => {
    const time = memory(section, one, (row) => calls.made.mark(row, true));
    const picked = (row) => {
      show(row);
      time(row);
    };
    calls = table(section, `Calls of ${name}`, rows, () => callColumns(chosen.value), () => chosen.value, picked);
    const layers = byLayer.length > 0 ? [layerTable(section, `Costs of ${name} by layer`, byLayer)] : [];
    const groups = [["operator", byOperator], ["source", bySpan]].filter(([, list]) => list.length > 0);
    const sums = groups.map(([what, list]) => {
      const sums = table(section, `Costs of ${name} by ${what}`, list, () => groupColumns(what), () => "macs");
      sums.made.table.classList.add("groups");
      return sums;
    });
    tables.push(calls, ...layers, ...sums);
  };
}

// The first picture does not wait for hundreds of tables: they are made once it is on the screen.
const sections = [...document.querySelectorAll("section")];
const [first, ...others] = sections.map((section, at) => () => drawn(section, report[at]));
if (first !== undefined) {
  const below = first();
  firstPicture.then(() => {
    below();
    others.forEach((draw) => draw()());
  });
}

// The page as it was loaded: what this script has made is made again.
document.querySelector("header button").addEventListener("click", () => {
  const page = document.documentElement.cloneNode(true);
  page.querySelectorAll("section > :not(h2, p)").forEach((made) => made.remove());
  page.querySelectorAll("header select, header output").forEach((made) => made.replaceChildren());
  const name = document.title.split(/[/\\]/).pop().replace(/[^\w.-]/g, "_");
  download(`${name}.html`, `<!doctype html>\n${page.outerHTML}`, "text/html");
});
search.addEventListener("input", () => {
  tables.forEach(({ made }) => made.arrange());
  const found = tables.reduce((sum, { made }) => sum + made.visible.length, 0);
  document.querySelector("output").textContent = search.value === "" ? "" : `${NUMBERS.format(found)} found`;
});
chosen.addEventListener("change", () => {
  tables.forEach(({ fill }) => fill());
  graphs.forEach(({ graph, explain }) => {
    explain();
    graph.recolour();
  });
});
