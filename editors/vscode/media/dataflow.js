// The graph of a function: its calls, inputs and result, and the kinds of its operators.
"use strict";

/** The categories of calls, in the order of the legend. Each has a colour in the graph. */
const KINDS = [
  { key: "product", title: "convolution, product", colour: "charts-blue" },
  { key: "normalization", title: "normalization, quantization", colour: "charts-purple" },
  { key: "activation", title: "activation", colour: "charts-red" },
  { key: "reduction", title: "pooling, reduction, order", colour: "charts-green" },
  { key: "arithmetic", title: "arithmetic, comparison", colour: "charts-yellow" },
  { key: "movement", title: "shape, layout, selection", colour: "charts-foreground", strength: 0.1 },
  { key: "function", title: "call of a function", colour: "charts-orange" },
];

function kindOf(row) {
  return KINDS.find(({ key }) => key === row.category);
}

/** The colour of an item and its intensity, by the category of a call. */
function paintOfKind({ kind, row }) {
  if (kind !== "call") {
    return { colour: "descriptionForeground", strength: 0.1 };
  }
  const { colour, strength = 0.25 } = kindOf(row);
  return { colour, strength };
}

/**
 * The items of a function's graph: inputs, then calls, then the result. Weights and constants are pills
 * at the calls that use them. `first` is the index of the first call.
 */
function dataflow({ rows, sources, results }) {
  const items = [];
  const inputs = new Map();
  const item = (input) => (input.row === undefined ? inputs.get(input.source) : inputs.size + input.row);
  for (const [at, source] of sources.entries()) {
    if (source.kind === "input") {
      inputs.set(at, items.length);
      items.push({ kind: "input", name: source.name, type: source.type, range: source.range, from: [], own: [] });
    }
  }
  for (const [at, row] of rows.entries()) {
    // The inputs of a call precede it; a call that seems to use itself is recursive.
    const from = row.inputs.map(item).filter((from) => from !== undefined && from < inputs.size + at);
    const own = row.inputs.filter((input) => item(input) === undefined).map(({ source }) => sources[source]);
    items.push({ kind: "call", name: row.name, type: row.type, row, range: row.range, from, own, pills: own.length });
  }
  if (results.length > 0) {
    const from = results.map(item).filter((from) => from !== undefined);
    const own = results.filter((input) => item(input) === undefined).map(({ source }) => sources[source]);
    const type = results.length === 1 && from.length === 1 ? items[from[0]].type : `${results.length} values`;
    items.push({ kind: "output", name: "result", type, from, own, pills: own.length });
  }
  return { items, first: inputs.size };
}
