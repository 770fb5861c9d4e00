// The page of the errors after each pass of a log.
const { modules } = JSON.parse(document.getElementById("report").textContent);
const search = document.querySelector("input");
const textOf = (value) => (value === 0 ? "0" : value.toExponential(3));
const errorText = ({ result }, key) => (result === null ? "" : result[key] === null ? "∞" : textOf(result[key]));
/** Infinite errors, which JSON does not have, are the largest numbers. */
const amount = ({ result }, key) => (result === null ? -1 : (result[key] ?? Number.MAX_VALUE));
const error = (key, title) => ({
  key,
  title,
  number: true,
  heated: key === "max_abs",
  text: (row) => errorText(row, key),
  value: (row) => amount(row, key),
});
const columns = [
  { key: "at", title: "#", number: true, text: ({ index }) => String(index), value: ({ index }) => index },
  { key: "pass", title: "pass", text: ({ pass }) => pass ?? "" },
  { key: "state", title: "result", text: ({ state }) => state },
  error("max_abs", "max abs"),
  error("max_rel", "max rel"),
  { key: "cosine", title: "cosine", number: true, text: ({ result }) => result?.cosine.toFixed(6) ?? "", value: ({ result }) => result?.cosine ?? 2 },
  { key: "reason", title: "reason", text: ({ reason }) => reason ?? "" },
];
const table = new VirtualTable(document.querySelector("section"), { label: "Modules", pick: (at) => table.mark(at, false) });
const haystacks = new Map(modules.map((row) => [row, columns.map(({ text }) => text(row)).join(" ").toLowerCase()]));
table.keep = (row) => haystacks.get(row).includes(search.value.toLowerCase());
const most = Math.max(...modules.map((row) => amount(row, "max_abs")), Number.MIN_VALUE);
table.heat = (row) => Math.max(0, Math.min(1, amount(row, "max_abs") / most));
table.show(modules, columns);
search.addEventListener("input", () => table.arrange());
