// How the dataflow graph of the shape panel is laid out, without a canvas.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import vm from "node:vm";

const source = await readFile(new URL("../media/graph.js", import.meta.url), "utf8");
const { layout, NODE } = vm.runInNewContext(`${source}; ({ layout, NODE })`);

/** Calls, each with the calls that it takes from. */
const calls = (...inputs) => inputs.map((list) => ({ inputs: list.map((row) => ({ row })) }));

/** What holds of every picture. */
function assertSound(rows, { nodes, edges }) {
  assert.equal(nodes.length, rows.length);
  const layers = new Map();
  for (const { x, y } of nodes) {
    assert.ok(Number.isFinite(x) && Number.isFinite(y));
    layers.set(y, [...(layers.get(y) ?? []), x]);
  }
  for (const layer of layers.values()) {
    layer.sort((a, b) => a - b);
    layer.forEach((x, at) => assert.ok(at === 0 || x - layer[at - 1] >= NODE.width, "calls lie over one another"));
  }
  assert.equal(edges.length, rows.reduce((sum, row) => sum + new Set(row.inputs.map((input) => input.row)).size, 0));
  for (const [from, to] of edges) {
    assert.ok(nodes[from].y < nodes[to].y, "an edge goes up");
  }
}

test("a residual block: two ways meet, and neither crosses a call", () => {
  const rows = calls([], [0], [1], [0, 2], [3, 3]);
  const picture = layout(rows);
  assertSound(rows, picture);
  const [, , through] = picture.edges.find(([from, to]) => from === 0 && to === 3);
  assert.equal(through.length, 2, "the short cut has a corner beside each layer that it passes");
  for (const corner of through) {
    for (const node of picture.nodes.filter((node) => node.y === corner.y)) {
      assert.ok(Math.abs(corner.x - node.x) > NODE.width / 2);
    }
  }
});

test("what prepares a weight stands beside what takes it", () => {
  // A chain of four, and a transposed weight for the last.
  const rows = calls([], [0], [1], [], [2, 3]);
  const { nodes } = layout(rows);
  assert.equal(nodes[3].y, nodes[2].y);
});

test("any graph: no overlap, no edge upwards", () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 200; round++) {
    const rows = calls(
      ...Array.from({ length: 1 + random(60) }, (_, at) =>
        Array.from({ length: at === 0 ? 0 : random(4) }, () => random(at)),
      ),
    );
    assertSound(rows, layout(rows));
  }
});

test("a network of 14,500 calls in a chain, and a fan of 5,000", () => {
  const start = performance.now();
  const chain = calls(...Array.from({ length: 14_500 }, (_, at) => (at === 0 ? [] : [at - 1, Math.max(0, at - 9)])));
  assertSound(chain, layout(chain));
  const fan = calls(...Array.from({ length: 5_000 }, (_, at) => (at === 0 ? [] : [0])));
  assertSound(fan, layout(fan));
  assert.ok(performance.now() - start < 10_000, `${performance.now() - start} ms`);
});
