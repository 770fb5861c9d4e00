// Formatting of amounts and types, for the shape panel and the HTML page of the command line.
"use strict";

const NUMBERS = new Intl.NumberFormat("en");

/** The value of an amount if each unknown is 1. */
function atOne(amount) {
  return amount.value ?? (amount.terms ?? []).reduce((sum, term) => sum + term.coefficient, 0);
}

/** The text of an amount in a table, where a zero is a dash. */
function textOf(amount) {
  return amount.value === 0 ? "-" : amount.text;
}

/** The tensors in a type, each with its shape and data type. */
function tensors(type) {
  return [...type.matchAll(/Tensor\[\((.*?)\), (\w+)\]/g)].map(([, shape, dtype]) => ({ shape, dtype }));
}

/** `(1, 64), float32`, without the constructor `Tensor`. Of a tuple, the first field. */
function tensor(type) {
  const [first, ...others] = tensors(type);
  if (first === undefined || !(type.startsWith("Tensor[") || type.startsWith("(Tensor["))) {
    return type;
  }
  const text = `(${first.shape}), ${first.dtype}`;
  return type.startsWith("(") ? `${text} … ${others.length + 1} fields` : text;
}

/** The costs of a call that can be shown next to the operator. */
const COSTS = [
  { key: "macs", title: "MACs", text: (row) => textOf(row.macs) },
  { key: "bytes", title: "bytes", text: (row) => textOf(row.bytes) },
  { key: "liveBytes", title: "live", text: (row) => textOf(row.liveBytes) },
  { key: "parameters", title: "parameters", text: (row) => textOf(row.parameters) },
];

/** The columns of a table of calls; the selected cost comes first, next to the operator. */
function callColumns(cost) {
  const costs = COSTS.map((one) => ({ ...one, number: true, value: (row) => atOne(row[one.key]), heated: one.key === cost }));
  const [chosen, ...others] = [...costs].sort((a, b) => Number(b.heated) - Number(a.heated));
  return [
    { key: "at", title: "line", number: true, text: (row) => String(row.line), value: (row) => row.at },
    { key: "name", title: "binding", text: (row) => row.name },
    { key: "operator", title: "operator", text: (row) => row.operator, heated: true },
    chosen,
    { key: "type", title: "output", text: (row) => tensor(row.type), hint: (row) => row.type },
    ...others,
    { key: "span", title: "source", text: (row) => row.span ?? "" },
  ];
}

/** The columns of a table of results that are live at the peak. */
function memoryColumns() {
  const wanted = ["at", "name", "operator", "bytes", "type"];
  return callColumns("bytes").filter(({ key }) => wanted.includes(key)).map((column) => ({ ...column, heated: false }));
}

/** The memory of a call: its result, what is live, and what the callee adds. */
function memoryOf({ bytes, liveBytes, peakBytes }) {
  return `result ${bytes.text}, live ${liveBytes.text}${peakBytes === undefined ? "" : `, in the call ${peakBytes.text}`}`;
}

/** The columns of a table of totals by operator or by source. */
function groupColumns(what) {
  return [
    { key: "name", title: `by ${what}`, text: (group) => group.name },
    { key: "count", title: "calls", number: true, text: (group) => NUMBERS.format(group.count), value: (group) => group.count },
    { key: "macs", title: "MACs", number: true, text: (group) => textOf(group.macs), value: (group) => atOne(group.macs), heated: true },
    { key: "bytes", title: "bytes", number: true, text: (group) => textOf(group.bytes), value: (group) => atOne(group.bytes) },
  ];
}

/** The columns of a table of totals by layer. */
function layerColumns() {
  const [name, count, macs, bytes] = groupColumns("layer");
  const marked = ({ depth, isParent, isOpen, name }) => `${"\u2003".repeat(depth)}${isParent ? (isOpen ? "▾ " : "▸ ") : "  "}${name}`;
  const parameters = { key: "parameters", title: "parameters", number: true, text: (one) => textOf(one.parameters), value: (one) => atOne(one.parameters) };
  return [{ ...name, text: marked, hint: (one) => one.name }, count, parameters, macs, bytes];
}

/** The layers as rows of a table, all of them closed. `parents` are the numbers of the layers around one. */
function layerRows(list) {
  const around = [];
  return list.map((layer, at) => {
    around.length = layer.depth;
    const parents = around.slice();
    around.push(at);
    return { ...layer, at, parents, isParent: list[at + 1]?.depth > layer.depth, isOpen: false };
  });
}

/** The cost of each row relative to the maximum, from 0 to 1, on a square-root scale so that small costs are visible. */
function heatOf(rows, cost) {
  const most = rows.reduce((most, row) => Math.max(most, atOne(row[cost])), 1);
  return (row) => Math.sqrt(Math.min(1, atOne(row[cost]) / most));
}
