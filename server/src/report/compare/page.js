// The page of a comparison of values: tables of pairs of calls and of their sources, and the histogram of a pair.
const { pairs, sources, histogram } = JSON.parse(document.getElementById("report").textContent);
const search = document.querySelector("input");
const errorText = (error) => (error === null ? "unknown" : error === 0 ? "0" : error.toExponential(3));
/** Infinite errors, which JSON does not have, are the largest numbers. */
const amount = (errors, key) => (errors === null ? -1 : (errors[key] ?? Number.MAX_VALUE));
const errorOf = (errors, key) =>
  errors === null ? "unknown" : errors[key] === null ? "∞" : errorText(errors[key]);
const errorColumn = (side, key, title) => ({
  key: `${side}-${key}`,
  title,
  number: true,
  heated: side === "local" && key === "max_abs",
  text: (row) => errorOf(row[side], key),
  value: (row) => amount(row[side], key),
});

const columns = [
  { key: "at", title: "#", number: true, text: (row) => String(row.at), value: (row) => row.at },
  { key: "operator", title: "operator", text: (row) => row.operator },
  { key: "culprit", title: "own error", text: (row) => (row.culprit ? "yes" : "") },
  errorColumn("local", "max_abs", "local max abs"),
  errorColumn("local", "max_rel", "local max rel"),
  errorColumn("accumulated", "max_abs", "accumulated max abs"),
  { key: "cosine", title: "cosine", number: true, text: (row) => row.local.cosine.toFixed(6), value: (row) => row.local.cosine },
  { key: "nan", title: "NaN", number: true, text: (row) => String(row.local.nan), value: (row) => row.local.nan },
  { key: "before", title: "before", number: true, text: (row) => String(row.lines[0]), value: (row) => row.lines[0] },
  { key: "after", title: "after", number: true, text: (row) => String(row.lines[1]), value: (row) => row.lines[1] },
  { key: "source", title: "source", text: (row) => row.source ?? "" },
  { key: "changes", title: "changes", text: (row) => row.changes.join("; ") },
  ...(pairs.some((row) => row.sample) ? [{ key: "sample", title: "sample", text: (row) => row.sample ?? "" }] : []),
];

const sourceColumns = [
  { key: "name", title: "by source", text: (row) => row.name },
  { key: "calls", title: "calls", number: true, text: (row) => String(row.calls), value: (row) => row.calls },
  { key: "culprits", title: "own errors", number: true, text: (row) => String(row.culprits), value: (row) => row.culprits },
  errorColumn("local", "max_abs", "local max abs"),
  errorColumn("accumulated", "max_abs", "accumulated max abs"),
];

/** Shows the values and the histogram of a pair. */
function detail(row) {
  const aside = document.querySelector("aside");
  aside.replaceChildren();
  const add = (tag, text) => {
    const element = aside.appendChild(document.createElement(tag));
    element.textContent = text;
    return element;
  };
  add("h2", `${row.operator}, line ${row.lines[0]} → ${row.lines[1]}`);
  row.values?.forEach((text, side) => add("p", `${["before", "after"][side]}: ${text}`));
  if (!row.histogram) {
    add("p", "The error is tolerated.");
    return;
  }
  add("p", "Elements by the error relative to the largest element:");
  const most = Math.max(...row.histogram, 1);
  const chart = add("div", "");
  chart.className = "histogram";
  row.histogram.forEach((count, bin) => {
    const line = chart.appendChild(document.createElement("div"));
    const bar = document.createElement("i");
    bar.style.width = `${(30 * Math.log1p(count)) / Math.log1p(most)}em`;
    line.append(Object.assign(document.createElement("b"), { textContent: histogram[bin] }), bar, ` ${count}`);
  });
}

function table(selector, label, rows, columns, pick) {
  const made = new VirtualTable(document.querySelector(selector), { label, pick: (at) => {
    made.mark(at, false);
    pick(rows[at]);
  } });
  const haystacks = new Map(rows.map((row) => [row, columns.map(({ text }) => text(row)).join(" ").toLowerCase()]));
  made.keep = (row) => haystacks.get(row).includes(search.value.toLowerCase());
  const most = Math.max(...rows.map(({ local }) => amount(local, "max_abs")), Number.MIN_VALUE);
  made.heat = ({ local }) => Math.min(1, amount(local, "max_abs") / most);
  made.show(rows, columns);
  return made;
}

const tables = [
  table("#pairs", "Pairs of calls", pairs, columns, detail),
  ...(sources.length > 0 ? [table("#sources", "Errors by source", sources, sourceColumns, () => {})] : []),
];
const first = pairs.findIndex(({ culprit }) => culprit);
if (first >= 0) {
  tables[0].mark(first, true);
  detail(pairs[first]);
}
search.addEventListener("input", () => tables.forEach((made) => made.arrange()));
if (document.getElementById("graphs") !== null) {
  drawGraphs(document.getElementById("dataflow"), "error");
}
