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
function table(section, label, rows, columns, cost) {
  const made = new VirtualTable(section, { label, pick: (at) => made.mark(at, false) });
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

const tables = [...document.querySelectorAll("section")].flatMap((section, at) => {
  const { name, rows, byOperator, bySpan } = report[at];
  const calls = table(section, `Calls of ${name}`, rows, () => callColumns(chosen.value), () => chosen.value);
  const groups = [["operator", byOperator], ["source", bySpan]].filter(([, list]) => list.length > 0);
  return [
    calls,
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
