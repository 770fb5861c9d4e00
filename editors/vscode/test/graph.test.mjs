// The dataflow graph of the shape panel without a browser: its nodes, their layout, and the resulting
// SVG.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import vm from "node:vm";

import { assertAtMost, cpuTime } from "./cpu-time.mjs";

const media = (name) => readFile(new URL(`../media/${name}.js`, import.meta.url), "utf8");
const source = (await Promise.all(["amounts", "layout", "dataflow", "paint"].map(media))).join("\n");
const page = vm.runInNewContext(
  `${source}; ({ layout, NODE, PILL, LONGEST, dataflow, tensor, compact, SvgPen, paintGraph, clip, layerRows, layerColumns })`,
);
const { layout, NODE, PILL, LONGEST, dataflow, tensor, compact, SvgPen, paintGraph, clip, layerRows, layerColumns } = page;

/** Converts values of the page's realm to ours. */
const plain = (value) => JSON.parse(JSON.stringify(value));

/** Items, each with its operands. */
const items = (...lists) => lists.map((from) => ({ from }));

/** Invariants of every picture. */
function assertSound(list, { nodes, edges, jumps, layers }) {
  assert.equal(nodes.length, list.length);
  for (const [at, { top, bottom, items }] of layers.entries()) {
    assert.ok(at === 0 || top - layers[at - 1].bottom >= NODE.gapY, "layers lie over one another");
    const left = (item) => nodes[item].x - NODE.width / 2 - ((list[item].pills ?? 0) > 0 ? PILL.apart + PILL.width : 0);
    const sorted = [...items].sort((a, b) => nodes[a].x - nodes[b].x);
    for (const [position, item] of sorted.entries()) {
      const { x, y, layer } = nodes[item];
      assert.ok(Number.isFinite(x) && layer === at && top <= y && y + NODE.height <= bottom);
      assert.ok(position === 0 || left(item) >= nodes[sorted[position - 1]].x + NODE.width / 2, "calls lie over one another");
    }
  }
  assert.equal(edges.length + jumps.length, list.reduce((sum, { from }) => sum + new Set(from).size, 0));
  for (const [from, to, through] of edges) {
    assert.ok(nodes[from].layer < nodes[to].layer, "an edge goes up");
    assert.equal(through.length, nodes[to].layer - nodes[from].layer - 1);
  }
  for (const [from, to] of jumps) {
    assert.ok(nodes[to].layer - nodes[from].layer > LONGEST);
  }
}

test("a residual block: both paths join without crossing a call", () => {
  const list = items([], [0], [1], [0, 2], [3, 3]);
  const picture = layout(list);
  assertSound(list, picture);
  const [, , through] = picture.edges.find(([from, to]) => from === 0 && to === 3);
  assert.equal(through.length, 2, "the short cut has a corner beside each layer that it passes");
  for (const [index, x] of through.entries()) {
    for (const node of picture.nodes.filter(({ layer }) => layer === index + 1)) {
      assert.ok(Math.abs(x - node.x) > NODE.width / 2);
    }
  }
});

test("the preparation of a weight is next to its use", () => {
  // A chain of four, and a transposed weight for the last.
  const { nodes } = layout(items([], [0], [1], [], [2, 3]));
  assert.equal(nodes[3].layer, nodes[2].layer);
});

test("a mask with a distant use is a pill there instead of a long edge", () => {
  const chain = Array.from({ length: 60 }, (_, at) => (at === 0 ? [] : at === 59 ? [at - 1, 0] : [at - 1]));
  const picture = layout(items(...chain));
  assert.deepEqual(plain(picture.jumps), [[0, 59]]);
  assertSound(items(...chain), picture);
});

test("the main path of a deep network is vertical", () => {
  const list = [{ kind: "input", from: [] }];
  let last = 0;
  for (let block = 0; block < 100; block++) {
    // The weight of a layer is transposed, and a skip connection bypasses it.
    list.push({ from: [] }, { from: [list.length] }, { from: [last, list.length + 1], pills: 1 }, { from: [list.length + 2, last] });
    last = list.length - 1;
  }
  const picture = layout(list);
  assertSound(list, picture);
  const adds = picture.nodes.filter((_, at) => at % 4 === 0).map(({ x }) => x);
  assert.ok(Math.max(...adds) - Math.min(...adds) < NODE.width, `${Math.min(...adds)} to ${Math.max(...adds)}`);
});

test("any graph: no overlap, no edge upwards", () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 200; round++) {
    const list = Array.from({ length: 1 + random(60) }, (_, at) => ({
      from: Array.from({ length: at === 0 ? 0 : random(4) }, () => random(at)),
      kind: random(8) === 0 ? "input" : "call",
      pills: random(7),
    }));
    assertSound(list, layout(list));
  }
});

test("a network of 14,500 calls in a chain, and a fan of 5,000", () => {
  const start = cpuTime();
  const chain = items(...Array.from({ length: 14_500 }, (_, at) => (at === 0 ? [] : [at - 1, Math.max(0, at - 9)])));
  assertSound(chain, layout(chain));
  const fan = items(...Array.from({ length: 5_000 }, (_, at) => (at === 0 ? [] : [0])));
  assertSound(fan, layout(fan));
  assertAtMost("both", cpuTime() - start, 10_000);
});

const range = { start: { line: 1, character: 2 }, end: { line: 1, character: 9 } };
const IMAGE = "Tensor[(1, 3, 8, 8), float32]";
const FUNCTION = {
  sources: [
    { name: "%data", type: IMAGE, kind: "input", range },
    { name: "%w", type: "Tensor[(4, 3, 1, 1), float32]", kind: "weight", range },
    { name: "2f", type: "Tensor[(), float32]", kind: "constant", range },
  ],
  rows: [
    { name: "%0", operator: "nn.conv2d", category: "product", type: "Tensor[(1, 4, 8, 8), float32]", range, inputs: [{ source: 0 }, { source: 1 }] },
    { name: "%1", operator: "split", category: "movement", type: `(${IMAGE}, ${IMAGE})`, range, inputs: [{ row: 0 }, { source: 2 }] },
    { name: "%2", operator: "@f<&>", category: "function", type: IMAGE, range, inputs: [{ row: 1 }, { row: 2 }] },
  ],
  results: [{ row: 1 }, { row: 2 }, { source: 0 }],
};

test("inputs and the result are nodes, weights and constants pills", () => {
  const { items, first } = dataflow(FUNCTION);
  assert.deepEqual(plain(items.map(({ kind, name, from, own }) => [kind, name, from, own.map((one) => one.name)])), [
    ["input", "%data", [], []],
    ["call", "%0", [0], ["%w"]],
    ["call", "%1", [1], ["2f"]],
    // A recursive call has no edge to itself.
    ["call", "%2", [2], []],
    ["output", "result", [2, 3, 0], []],
  ]);
  assert.equal(first, 1);
  assert.equal(items[4].type, "3 values");
});

test("SVG has each node and escapes names", () => {
  const { items } = dataflow(FUNCTION);
  const places = layout(items);
  const pen = new SvgPen();
  const theme = { text: "#000", line: "#888", border: "#888", focus: "#00f", background: "#fff", weight: "#eee", character: 7.2, font: (size, weight) => `${weight ? `${weight} ` : ""}${size}px monospace` };
  const everything = { left: -1e4, top: -1e4, right: 1e4, bottom: 1e4 };
  paintGraph(pen, { items, ...places, pills: items.map(({ own }) => own) }, {
    theme, sight: everything, scale: 1, selected: -1, isBright: () => true, paint: () => ({ colour: "#0f0", strength: 0.2 }),
  });
  const svg = pen.svg({ left: 0, top: 0, right: 100, bottom: 50 }, theme.background);
  assert.match(svg, /^<svg xmlns="[^"]*" viewBox="0 0 100 50" width="100" height="50">/);
  for (const text of ["nn.conv2d", "split", "@f&lt;&amp;&gt;", "%data", "result", "%w", "2f", "%0 · 1×4×8×8 f32", "1×3×8×8 f32 +1"]) {
    assert.ok(svg.includes(`>${text}</text>`), text);
  }
  assert.doesNotMatch(svg, /NaN|undefined|<&/);
  assert.equal(svg.match(/<text/g).length, svg.match(/<\/text>/g).length);
});

test("types in a table and on an edge", () => {
  assert.equal(tensor(IMAGE), "(1, 3, 8, 8), float32");
  assert.equal(tensor(`(${IMAGE}, Tensor[(3), int64])`), "(1, 3, 8, 8), float32 … 2 fields");
  assert.equal(tensor("fn (int32) -> int32"), "fn (int32) -> int32");
  assert.equal(compact(`(${IMAGE}, Tensor[(3), int64])`), "1×3×8×8 f32 +1");
  assert.equal(compact("Tensor[(), bool]"), "scalar bool");
  assert.equal(compact("Tensor[(?, n), uint8]"), "?×n u8");
  assert.equal(compact("Tensor[(2), bfloat16]"), "2 bf16");
  assert.equal(compact("List[Tensor[(2), int8]]"), "List[Tensor[(2), int8]]");
  assert.equal(clip("%layer1.0.bn1.weight", 12, true), "….bn1.weight");
  assert.equal(clip("nn.conv2d", 5), "nn.c…");
});

test("layers know those around them, and say whether they are open", () => {
  const list = [["stage", 0], ["unit 1", 1], ["convolution", 2], ["unit 2", 1], ["head", 0]];
  const rows = layerRows(list.map(([name, depth]) => ({ name, depth })));
  assert.deepEqual(plain(rows.map(({ parents }) => parents)), [[], [0], [0, 1], [0], []]);
  assert.deepEqual(plain(rows.map(({ isParent }) => isParent)), [true, true, false, false, false]);
  const [{ text }] = layerColumns();
  assert.equal(text(rows[0]), "▸ stage");
  assert.equal(text({ ...rows[1], isOpen: true }).trim(), "▾ unit 1");
});
