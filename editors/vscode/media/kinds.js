// The kinds of operators with their colours.
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
    return { colour: kind === "group" ? "charts-blue" : "descriptionForeground", strength: kind === "group" ? 0.08 : 0.1 };
  }
  const { colour, strength = 0.25 } = kindOf(row);
  return { colour, strength };
}
