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

/** The largest cost of a box of each scene. */
const SCALES = new WeakMap();

/** The colour of an item of a scene and its intensity: by `kind`, by `cost`, which is the key of one, or by `memory`. */
function paintOf(scene, at, colour, cost) {
  const item = scene.items[at];
  const key = colour === "memory" ? "bytes" : cost;
  const amount = (item.row ?? item.group)?.[key];
  if (colour === "kind" || amount === undefined) {
    return paintOfKind(item);
  }
  const known = SCALES.get(scene) ?? new Map();
  SCALES.set(scene, known);
  if (!known.has(key)) {
    const amounts = scene.items.filter(({ isOpen }) => !isOpen).map(({ row, group }) => (row ?? group)?.[key]);
    known.set(key, amounts.reduce((most, one) => (one === undefined ? most : Math.max(most, atOne(one))), 1));
  }
  return { colour: "charts-red", strength: 0.75 * Math.sqrt(Math.min(1, atOne(amount) / known.get(key))) };
}

/** The colour of an item and its intensity, by the category of a call. */
function paintOfKind({ kind, row }) {
  if (kind !== "call") {
    return { colour: kind === "group" ? "charts-blue" : "descriptionForeground", strength: kind === "group" ? 0.08 : 0.1 };
  }
  const { colour, strength = 0.25 } = kindOf(row);
  return { colour, strength };
}
