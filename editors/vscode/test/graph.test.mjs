// The picture of the dataflow without a browser: its levels, their layout, what is stable when a group opens, and the
// resulting SVG.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import vm from "node:vm";

import { build } from "esbuild";

import { assertAtMost, cpuTime } from "./cpu-time.mjs";

// The sources are modules, the extension is not.
const parts = ["arrange", "contrast", "levels", "memory", "model", "paint", "pins", "place", "svg"];
const { outputFiles } = await build({
  stdin: { contents: parts.map((name) => `export * from "./${name}.js";`).join("\n"), resolveDir: new URL("../picture", import.meta.url).pathname },
  bundle: true, write: false, format: "esm", platform: "neutral", mainFields: ["module", "main"],
});
const { arrange, legible, strongest, Levels, Arranger, levelOf, lastUses, paintScene, partOfFrame, clip, titleOf, NODE, PILL, FRAME, outline, sceneOf, SvgPen, lanesOf, Pins } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`
);
const amounts = await readFile(new URL("../media/amounts.js", import.meta.url), "utf8");
const kinds = await readFile(new URL("../media/kinds.js", import.meta.url), "utf8");
const { tensor, layerRows, layerColumns, paintOf, marksOf } = vm.runInNewContext(`${amounts}; ${kinds}; ({ tensor, layerRows, layerColumns, paintOf, marksOf })`);

const range = { start: { line: 1, character: 2 }, end: { line: 1, character: 9 } };
const amount = { value: 1, text: "1" };

/** A function whose rows take the rows of the lists, or a source where it is a text. */
function made(lists, { groups = [], results, name = "@main", operators = {} } = {}) {
  const sources = [];
  const source = (text) => {
    const at = sources.findIndex((one) => one.name === text);
    return at >= 0 ? at : sources.push({ name: text, type: "T", label: "2 f32", kind: text.startsWith("%w") ? "weight" : "input", range }) - 1;
  };
  const rows = lists.map((inputs, at) => ({
    name: `%${at}`, operator: operators[at] ?? "nn.relu", category: operators[at]?.startsWith("@") ? "function" : "activation", type: "T", label: `${at}×64 f32`, range, at,
    inputs: inputs.map((one) => (typeof one === "number" ? { row: one } : typeof one === "string" ? { source: source(one) } : one)),
  }));
  return { name, rows, sources, results: results ?? [{ row: rows.length - 1 }], groups };
}

/** A group of repetitions of rows. */
const group = (name, rows, groups = [], more = {}) =>
  ({ name, kind: "block", rows, ranges: rows.map(() => range), exemplar: 0, calls: { value: 1, text: `${rows.length} calls` }, label: "1×64 f32", parameters: amount, macs: amount, bytes: amount, groups, ...more });

/** An arranger in this thread, as a page without workers has it. */
const inPlace = () => new Arranger((scope) => {
  scope.onmessage = ({ data: { id, level } }) => scope.postMessage({ id, found: arrange(level) });
}, () => undefined);

async function opened(one, functions = [one]) {
  const levels = new Levels(one, functions, inPlace());
  await levels.start();
  return levels;
}

const scene = (levels) => sceneOf(levels.top, levels.open);
const named = ({ items, nodes }, name) => nodes[items.findIndex((item) => titleOf(item) === name || item.name === name)];

/** Invariants of every picture. */
function assertSound({ items, nodes, edges, bounds }) {
  for (const [at, { x, y, left, right, height, frame }] of nodes.entries()) {
    assert.ok([x, y, left, right, height].every(Number.isFinite), items[at].name);
    const beside = items[at].pills.length > 0 && !(items[at].isOpen && items[at].kind === "group") ? PILL.apart + PILL.width : 0;
    const own = { left: x - left - beside, right: x + right, top: y, bottom: y + height };
    const around = frame < 0 ? bounds : { left: nodes[frame].x - nodes[frame].left, right: nodes[frame].x + nodes[frame].right, top: nodes[frame].y + FRAME.header - 1, bottom: nodes[frame].y + nodes[frame].height };
    assert.ok(own.left >= around.left && own.right <= around.right && own.top >= around.top && own.bottom <= around.bottom, `${items[at].name} is outside`);
    for (const [other, node] of nodes.entries()) {
      if (other !== at && node.frame === frame) {
        const isApart = node.x + node.right <= own.left || node.x - node.left >= own.right || node.y + node.height <= own.top || node.y >= own.bottom;
        assert.ok(isApart, `${items[at].name} lies over ${items[other].name}`);
      }
    }
  }
  for (const { from, to, band } of edges) {
    assert.ok(nodes[from].y + nodes[from].height <= nodes[to].y, "an edge goes up");
    assert.ok(band.bottom <= band.top, "a row is above the one before");
  }
}

test("a residual block: the main line is straight, and the skip connection passes beside it", async () => {
  const levels = await opened(made([["%x"], [0], [1], [2], [0, 3]]));
  const picture = scene(levels);
  assertSound(picture);
  assert.deepEqual([...new Set(picture.items.filter(({ kind }) => kind === "call").map((_, at) => picture.nodes[at].x))], [0]);
  const skip = picture.edges.find(({ route }) => route.length > 0);
  assert.equal(skip.route.length, 3);
  assert.ok(skip.route.every(({ x }) => Math.abs(x) > NODE.width / 2), "it would cross a call");
});

test("attention: what is beside the main line is near to it", async () => {
  // Queries, keys and values; the keys have one call more. Then scores, a mask, and the values.
  const one = made([["%x"], [0, "%wq"], [1], [2], [0, "%wk"], [4], [5], [6], [0, "%wv"], [8], [9], [3, 7], [11], [12], [13, 10], [14], [15, "%wo"], [16, 0]]);
  const { items, nodes } = scene(await opened(one));
  assertSound(scene(await opened(one)));
  const beside = NODE.width + PILL.width + PILL.apart + NODE.gapX / 2;
  for (const [at, { x }] of nodes.entries()) {
    assert.ok(Math.abs(x) <= beside, `${items[at].name} is at ${x}`);
  }
});

test("attention in a layer: the main line is that of the data, also where weights take a longer path", async () => {
  // As `nn.batch_matmul` has no operand that is a weight by its role, its weights are inputs: each takes three calls.
  const lists = [["%x"]];
  const linear = (weight) => {
    const at = lists.length;
    lists.push([weight], [at], [at + 1], [0], [at + 3, at + 2], [at + 4]);
    return at + 5;
  };
  const [queries, keys] = [linear("%q"), linear("%k")];
  lists.push([queries, keys], [lists.length]);
  const scores = lists.length - 1;
  lists.push([scores, linear("%v")]);
  const one = made([...lists, [lists.length - 1]], { groups: [group("attention", [[1, lists.length]])] });
  const levels = await opened(one);
  const level = await levels.openBox(levels.top, levels.top.boxes[1]);
  const { items, nodes } = scene(levels);
  assertSound(scene(levels));
  const line = level.spine.map((at) => level.boxes[at].name);
  assert.deepEqual([line[0], line.at(-1)], ["%0", "result"]);
  assert.ok(["%1", "%7", "%15"].every((name) => !line.includes(name)), `${line} has a weight`);
  const most = 2 * (NODE.width + PILL.width);
  items.forEach(({ name }, at) => assert.ok(Math.abs(nodes[at].x) <= most, `${name} is at ${nodes[at].x}`));
});

test("an edge with a field says which, with its shape", async () => {
  const one = made([["%x"], [{ row: 0, fields: [{ index: 1, label: "1×64 f32" }] }], [{ row: 0, fields: [{ index: 0, label: "2×64 f32" }, { index: 2, label: "3 i8" }] }], [1, 2]]);
  const picture = scene(await opened(one));
  assert.deepEqual(picture.edges.filter(({ from }) => picture.items[from].name === "%0").map(({ texts }) => texts), [[".1 1×64 f32"], [".0 2×64 f32", ".2 3 i8"]]);
});

test("weights are pills, and a parameter that is used deep inside is one there", async () => {
  const one = made([["%x", "%w0"], [0], [1, "%mask"], [2, "%w1", "%w2"]]);
  const { items } = scene(await opened(one));
  assert.deepEqual(items.filter(({ kind }) => kind === "input").map(({ name }) => name), ["%x"]);
  assert.deepEqual(items.filter(({ pills }) => pills.length > 0).map(({ name, pills }) => [name, pills.map(({ name, kind }) => `${kind} ${name}`)]), [
    ["%0", ["weight %w0"]],
    ["%2", ["input %mask"]],
    ["%3", ["weight %w1", "weight %w2"]],
  ]);
  assert.equal(items.at(-1).kind, "output");
});

/** Twelve blocks of three calls with a skip connection, between two calls. */
function network(inner = []) {
  const lists = [["%x"]];
  const rows = [];
  for (let block = 0; block < 12; block++) {
    const at = lists.length;
    rows.push([at, at + 3]);
    lists.push([at - 1, "%w0"], [at], [at + 1, at - 1]);
  }
  lists.push([lists.length - 1]);
  return made(lists, { groups: [group("block", rows, inner)] });
}

test("a group with repetitions is closed first, and opens in place", async () => {
  const levels = await opened(network());
  const before = scene(levels);
  assert.deepEqual(before.items.map(titleOf), ["nn.relu", "block × 12", "nn.relu", "%x", "result"]);
  await levels.openBox(levels.top, levels.top.boxes[1]);
  const after = scene(levels);
  assertSound(after);
  const frame = after.items.findIndex(({ isOpen }) => isOpen);
  assert.deepEqual(after.items.filter((_, at) => after.nodes[at].frame === frame).map(({ name }) => name), ["%1", "%2", "%3", "%0", "result"]);
  for (const name of ["%0", "%x", "%37", "result"]) {
    assert.equal(named(after, name).x, named(before, name).x, `${name} has moved to the side`);
  }
  for (const name of ["%0", "%x"]) {
    assert.equal(named(after, name).y, named(before, name).y, "what is above stays");
  }
  const grown = after.nodes[frame].height - named(before, "block × 12").height;
  assert.ok(Math.abs(named(after, "%37").y - named(before, "%37").y - grown) < 1, "what is below moves by as much as the group grew");
  levels.close(levels.top.boxes[1]);
  assert.deepEqual(scene(levels).nodes, before.nodes);
});

test("a row of another repetition is shown there, also inside of groups", async () => {
  const levels = await opened(network([group("inner", [[2, 4]])]));
  await levels.openTo(9);
  const { items } = scene(levels);
  // The third block has rows 7 to 9; its inner group 8 and 9.
  assert.deepEqual(items.filter(({ kind }) => kind === "call").map(({ name }) => name), ["%0", "%7", "%8", "%9", "%37"]);
  assert.equal(items.find(({ group }) => group?.name === "block").instance, 2);
  await levels.openTo(4);
  assert.deepEqual(scene(levels).items.filter(({ kind }) => kind === "call").map(({ name }) => name), ["%0", "%4", "%37"]);
});

test("a call of a function opens into it; recursion ends", async () => {
  const callee = made([["%a"], [0]], { name: "@f", operators: { 1: "@f" } });
  const one = made([["%x"], [0]], { operators: { 1: "@f" } });
  const levels = await opened(one, [one, callee]);
  let level = levels.top;
  let depth = 0;
  for (; level !== undefined; depth++) {
    level = await levels.openBox(level, level.boxes[1]);
  }
  assert.ok(depth > 10 && depth < 100);
  assertSound(scene(levels));
});

test("bad input: no rows, one row, a call that takes itself, groups out of order", async () => {
  for (const one of [made([], { results: [] }), made([[]]), made([[0], [5, 1]]), made([["%x"], [0], [1]], { groups: [group("a", [[1, 3]]), group("b", [[0, 2]])] }), made([[]], { groups: [group("c", [[0, 9]])] })]) {
    assertSound(scene(await opened(one)));
  }
});

test("any function with any groups: nothing lies over another, no edge goes up", async () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 60; round++) {
    const lists = Array.from({ length: 1 + random(40) }, (_, at) => [
      ...Array.from({ length: at === 0 ? 0 : random(4) }, () => random(at)),
      ...(random(4) === 0 ? ["%x", "%y", "%w"].slice(random(3)) : []),
    ]);
    const groups = [];
    for (let at = random(4); at + 3 < lists.length; at += 3 + random(8)) {
      groups.push(group(`g${at}`, [[at, at + 2], [at + 2, at + 3]]));
    }
    const levels = await opened(made(lists, { groups }));
    assertSound(scene(levels));
    for (const box of levels.top.boxes.filter(({ kind }) => kind === "group")) {
      await levels.openBox(levels.top, box, random(2));
    }
    assertSound(scene(levels));
  }
});

test("a level of 100 boxes is arranged, and one of a network of 14,500 calls is made", () => {
  const lists = Array.from({ length: 14_500 }, (_, at) => (at === 0 ? ["%x"] : [at - 1]));
  const groups = Array.from({ length: 100 }, (_, at) => group(`g${at}`, [[at * 145, (at + 1) * 145]]));
  const one = made(lists, { groups });
  const start = cpuTime();
  const level = levelOf({ one, start: 0, end: lists.length, groups, delta: 0, isWhole: true, last: lastUses(one) }, "all");
  level.arrangement = arrange(outline(level));
  assertAtMost("both", cpuTime() - start, 2_000);
  assertSound(sceneOf(level, new Map()));
});

test("a worker that does not start is replaced, and answers what was asked of it", async () => {
  let fail;
  const arranger = new Arranger((scope) => {
    scope.onmessage = ({ data: { id, level } }) => scope.postMessage({ id, found: arrange(level) });
  }, (_source, _answer, failed) => {
    fail = failed;
    return { postMessage() {} };
  });
  const asked = arranger.arrange({ boxes: [{ width: 10, height: 10 }], edges: [], spine: [0] });
  fail();
  assert.equal((await asked).rows, 1);
});

test("what may open next is arranged once, before it opens", async () => {
  const asked = [];
  const levels = new Levels(network(), [], { arrange: async (level) => asked.push(level) && arrange(level) });
  await levels.start();
  levels.prepare();
  assert.equal(asked.length, 2, "the function, and the first repetition of its group");
  const [, box] = levels.top.boxes;
  await levels.openBox(levels.top, box);
  await levels.openBox(levels.top, box);
  levels.prepare();
  assert.equal(asked.length, 2);
  await levels.openBox(levels.top, box, 3);
  assert.equal(asked.length, 3);
  assertSound(scene(levels));
});

test("SVG has each box and escapes names", async () => {
  const one = made([["%data", "%w"], [0], [1]], { operators: { 1: "@f<&>", 2: "nn.conv2d" }, groups: [group("block", [[2, 3]])] });
  const picture = scene(await opened(one));
  const pen = new SvgPen();
  const theme = { text: "#000", line: "#888", border: "#888", focus: "#00f", background: "#fff", weight: "#eee", character: 7.2, font: (size, weight) => `${weight ? `${weight} ` : ""}${size}px monospace` };
  paintScene(pen, picture, {
    theme, sight: picture.bounds, scale: 1, selected: -1, isBright: () => true, canOpen: ({ kind }) => kind === "group", paint: () => ({ colour: "#0f0", strength: 0.2 }),
  });
  const svg = pen.svg({ left: 0, top: 0, right: 100, bottom: 50 }, theme.background);
  assert.match(svg, /^<svg xmlns="[^"]*" viewBox="0 0 100 50" width="100" height="50">/);
  for (const text of ["nn.relu", "@f&lt;&amp;&gt;", "block", "1 calls · 1×64 f32", "%data", "result", "%w", "%0 · 0×64 f32", "▸"]) {
    assert.ok(svg.includes(`>${text}</text>`), text);
  }
  assert.doesNotMatch(svg, /NaN|undefined|<&/);
  assert.equal(svg.match(/<text/g).length, svg.match(/<\/text>/g).length);
});

test("the header of an open group is in sight where a part of the group is", async () => {
  const levels = await opened(network());
  await levels.openBox(levels.top, levels.top.boxes[1]);
  const picture = scene(levels);
  const theme = { text: "#000", line: "#888", border: "#888", focus: "#00f", background: "#fff", weight: "#eee", character: 7.2, font: (size) => `${size}px monospace` };
  const at = picture.items.findIndex(({ isOpen }) => isOpen);
  const node = picture.nodes[at];
  const sight = { ...picture.bounds, left: node.x - 40, right: node.x + 150 };
  const pen = new SvgPen();
  paintScene(pen, picture, { theme, sight, scale: 1, selected: -1, isBright: () => true, canOpen: () => false, paint: () => ({ colour: "#0f0", strength: 0.2 }) });
  const place = (text) => Number(new RegExp(`<text x="([-\\d.]+)"[^>]*>${text}`).exec(pen.svg({ left: 0, top: 0, right: 9, bottom: 9 }, "#fff"))?.[1]);
  assert.equal(place("▾"), sight.left + 10);
  assert.equal(place("◂"), sight.right - 10);
  const part = (x) => partOfFrame(picture.items[at], node, theme.character, sight, { x, y: node.y + 5 });
  assert.deepEqual([part(sight.left + 12), part(sight.left + 40), part(sight.right - 12)], ["toggle", "header", "next"]);
});

test("letters can be read on every colour, and a greater cost has a stronger one", () => {
  // The colours of the default themes of VS Code: dark, light, and both of high contrast.
  const themes = [
    [{ text: "#cccccc", background: "#1f1f1f" }, ["#f14c4c", "#cca700", "#ee9d28", "#89d185", "#3794ff", "#b180d7", "#cccccc"]],
    [{ text: "#3b3b3b", background: "#ffffff" }, ["#e51400", "#bf8803", "#d67e00", "#388a34", "#1a85ff", "#652d90", "rgba(234, 92, 0, 0.33)"]],
    [{ text: "#ffffff", background: "#000000" }, ["#f48771", "#ffd370", "#ee9d28", "#89d185", "#3794ff", "#b180d7", "#ffffff"]],
    [{ text: "#292929", background: "#ffffff" }, ["#b5200d", "#895503", "#d67e00", "#374e06", "#1a85ff", "#652d90", "#292929"]],
  ];
  const parts = (colour) => colour.match(/[0-9a-f]{2}/g).map((part) => Number.parseInt(part, 16) / 255);
  const luminance = (rgb) => rgb.map((part) => (part <= 0.0404 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  for (const [theme, colours] of themes) {
    for (const colour of colours) {
      const most = strongest(theme, colour);
      assert.ok(most >= 0.25 && most <= 0.75, colour);
      assert.equal(legible(0.1, most), 0.1);
      assert.ok(Math.abs(legible(0.75, most) - most) < 1e-9 && legible(0.5, most) <= legible(0.6, most));
      if (colour.startsWith("#")) {
        const [text, behind, own] = [theme.text, theme.background, colour].map(parts);
        const [a, b] = [luminance(text), luminance(behind.map((part, at) => part + (own[at] - part) * most))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        assert.ok(ratio >= 4.5, `${theme.text} on ${colour}: ${ratio}`);
      }
    }
  }
});

test("types in a table", () => {
  const image = "Tensor[(1, 3, 8, 8), float32]";
  assert.equal(tensor(image), "(1, 3, 8, 8), float32");
  assert.equal(tensor(`(${image}, Tensor[(3), int64])`), "(1, 3, 8, 8), float32 … 2 fields");
  assert.equal(tensor("fn (int32) -> int32"), "fn (int32) -> int32");
  assert.equal(clip("%layer1.0.bn1.weight", 12, true), "….bn1.weight");
  assert.equal(clip("nn.conv2d", 5), "nn.c…");
});

/** Converts values of the page's realm to ours. */
const plain = (value) => JSON.parse(JSON.stringify(value));

test("layers know those around them, and say whether they are open", () => {
  const list = [["stage", 0], ["unit 1", 1], ["convolution", 2], ["unit 2", 1], ["head", 0]];
  const rows = layerRows(list.map(([name, depth]) => ({ name, depth })));
  assert.deepEqual(plain(rows.map(({ parents }) => parents)), [[], [0], [0, 1], [0], []]);
  assert.deepEqual(plain(rows.map(({ isParent }) => isParent)), [true, true, false, false, false]);
  const [{ text }] = layerColumns();
  assert.equal(text(rows[0]), "▸ stage");
  assert.equal(text({ ...rows[1], isOpen: true }).trim(), "▾ unit 1");
});

test("the bars of memory do not overlap, in as many lines as results are live together at most", () => {
  let state = 7;
  const random = (most) => (state = (state * 48_271) % 2_147_483_647) % most;
  for (let round = 0; round < 50; round++) {
    const count = random(60);
    const rows = Array.from({ length: count }, (_, at) => ({ liveUntil: Math.min(count, at + random(8)) }));
    const { lanes, count: lines } = lanesOf(rows);
    const live = rows.map((_, now) => rows.filter(({ liveUntil }, at) => at <= now && now <= liveUntil).length);
    assert.equal(lines, Math.max(0, ...live));
    for (const [a, { liveUntil }] of rows.entries()) {
      for (let b = a + 1; b < count && b <= liveUntil; b++) {
        assert.notEqual(lanes[a], lanes[b], `rows ${a} and ${b}`);
      }
    }
  }
});

test("the lines of bars of 100,000 results take little time", () => {
  const rows = Array.from({ length: 100_000 }, (_, at) => ({ liveUntil: at % 3 === 0 ? 100_000 : at + 1 }));
  const before = cpuTime();
  lanesOf(rows);
  assertAtMost("lanes", cpuTime() - before, 500);
});

test("a pin keeps the name of its box and the groups around it, for each function", async () => {
  const one = made([["%x"], [0], [1], [2]], { groups: [group("layer", [[1, 3]])] });
  const levels = await opened(one);
  await levels.openTo(1);
  const graph = { name: "@main", scene: scene(levels) };
  graph.pathOf = (item) => titleOf(item);
  const at = graph.scene.items.findIndex(({ kind, isOpen }) => kind === "group" && isOpen);
  const pins = new Pins(graph);
  pins.toggle(at);
  pins.find();
  assert.deepEqual([...pins.shown], [at]);
  assert.deepEqual([...pins.paths()], ["layer"]);
  // Another function has pins of its own.
  graph.name = "@other";
  pins.find();
  assert.deepEqual([[...pins.shown], [...pins.paths()]], [[], []]);
  graph.name = "@main";
  pins.toggle(at);
  assert.deepEqual([...pins.paths()], []);
});

test("a colouring paints calls and groups, also those of another repetition", async () => {
  const colourings = [{
    key: "error", title: "by error", legend: [],
    marks: [{ rows: [0, 1], category: "culprit", weight: 1, text: "diverges by 1" }, { rows: [1, 5], category: "tolerated", weight: 0.2, text: "equal values" }],
  }];
  const one = { ...made([["%x"], [0], [1], [2], [3], [4]], { groups: [group("block", [[1, 3], [3, 5]])] }), colourings };
  const levels = await opened(one);
  const shown = scene(levels);
  const at = (name) => shown.items.findIndex((item) => titleOf(item).startsWith(name) || item.name === name);
  assert.deepEqual({ ...paintOf(shown, at("%0"), "error", "macs") }, { colour: "charts-red", strength: 0.75 });
  const { colour, strength } = paintOf(shown, at("block"), "error", "macs");
  assert.equal(colour, "charts-green");
  assert.ok(Math.abs(strength - 0.15) < 1e-9);
  assert.equal(marksOf(shown.items[at("block")]), "equal values");
  // A call without a mark, and a way that this function does not have, have no colour.
  assert.equal(paintOf(shown, at("%5"), "error", "macs").colour, "descriptionForeground");
  assert.equal(paintOf(shown, at("%0"), "time", "macs").colour, "descriptionForeground");
});
