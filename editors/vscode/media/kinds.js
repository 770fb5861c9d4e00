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

/** The ways to colour any graph. A function may have further ones, its `colourings`. */
const COLOURS = [["kind", "by kind"], ["cost", "by cost"], ["memory", "by memory"]];

/** The colours of the categories of marks. */
const MARKS = {
  time: "charts-red",
  notRun: "charts-foreground",
  tolerated: "charts-green",
  recovered: "charts-yellow",
  inherited: "charts-orange",
  culprit: "charts-red",
  same: "descriptionForeground",
  fused: "charts-blue",
  inlined: "charts-blue",
  folded: "charts-purple",
  expanded: "charts-purple",
  changed: "charts-yellow",
  added: "charts-green",
  removed: "charts-red",
};

/** The marks of each colouring by their rows. */
const MARKED = new WeakMap();

/** The mark of an item of a scene. The rows of a group are those that the report has, also in another repetition. */
function markOf({ row, group, start, level }, key) {
  const colouring = level.scope.one.colourings?.find((one) => one.key === key);
  if (colouring === undefined || (row ?? group) === undefined) {
    return undefined;
  }
  if (!MARKED.has(colouring)) {
    MARKED.set(colouring, new Map(colouring.marks.map((mark) => [mark.rows.join(), mark])));
  }
  const rows = group === undefined ? [start, start + 1] : [group.rows[0][0], group.rows.at(-1)[1]];
  return MARKED.get(colouring).get(rows.join());
}

/** What the marks of an item say, in lines. */
function marksOf(item) {
  const ways = item?.level.scope.one.colourings ?? [];
  return ways.map(({ key }) => markOf(item, key)?.text).filter((text) => text !== undefined).join("\n");
}

/** Offers the ways to colour functions. Returns the chosen one: `way` if it is among them. */
function offerColours(choice, functions, way) {
  const ways = new Map(COLOURS);
  functions.forEach(({ colourings = [] }) => colourings.forEach(({ key, title }) => ways.set(key, title)));
  choice.replaceChildren(...[...ways].map(([key, title]) => new Option(title, key)));
  choice.value = ways.has(way) ? way : "kind";
  return choice.value;
}

/** Shows what the colours of a function mean. */
function showLegend(host, one, colour, cost) {
  const key = colour === "memory" ? "bytes" : cost;
  const colouring = one?.colourings?.find((way) => way.key === colour);
  const kinds = KINDS.filter((kind) => one?.rows.some((row) => kindOf(row) === kind));
  const entries = colouring
    ? colouring.legend.map(({ category, text }) => ({ colour: MARKS[category], title: text }))
    : colour === "kind" ? kinds : [{ colour: "charts-red", title: `${COSTS.find((cost) => cost.key === key).title}: the stronger, the more` }];
  host.replaceChildren(
    ...entries.map(({ colour, title }) => {
      const [entry, swatch] = [document.createElement("div"), document.createElement("i")];
      swatch.className = "swatch";
      swatch.style.background = `var(--vscode-${colour})`;
      entry.append(swatch, title);
      return entry;
    }),
  );
}

/**
 * The colour of an item of a scene and its intensity: by `kind`, by `cost`, which is the key of one, by `memory`, or by
 * what one of the colourings of its function says.
 */
function paintOf(scene, at, colour, cost) {
  const item = scene.items[at];
  if (COLOURS.every(([key]) => key !== colour)) {
    const mark = markOf(item, colour);
    return mark ? { colour: MARKS[mark.category], strength: 0.75 * mark.weight } : { colour: "descriptionForeground", strength: 0.04 };
  }
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
