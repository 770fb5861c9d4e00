// The shape panel as a user sees it: opens it, clicks a row, searches, colours, looks at the graph.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { PATIENCE, command, eventually, goTo, hovered, until } from "./workbench.mjs";

/** The page of the panel. */
export const panelOf = (page) => page.frameLocator("iframe.webview").frameLocator("iframe");

/** `tests/examples/broken-attention.relay` is open and fixed. */
export async function shapePanel({ page, workspace, shot, say }) {
  // The panel is updated shortly after the diagnostics.
  const health = page.locator(".statusbar-item", { hasText: /1 function\s*$/ }).first();
  await health.waitFor({ timeout: PATIENCE });
  const table = page.locator(".monaco-hover:visible, .workbench-hover:visible").filter({ hasText: "compatible with TVM 0.14" }).first();
  await hovered(page, health, table);
  await shot("health");

  await command(page, "Relay: Show Shapes");
  const panel = panelOf(page);
  const row = (text) => panel.locator("#table tbody tr[data-at]", { hasText: text }).first();
  await row("%scores").waitFor({ timeout: PATIENCE });
  assert.match(await panel.locator("#total").innerText(), /MACs, \d+ calls; peak memory .* at /);
  // The selected cost is next to the operator.
  assert.match(await row("%scores").innerText(), /nn\.batch_matmul\s+12,582,912\s+\(12, 128, 128\), float32/);
  await panel.locator("#cost").selectOption("bytes");
  assert.match(await row("%scores").innerText(), /nn\.batch_matmul\s+768\.0 KiB\s+\(12, 128, 128\), float32\s+12,582,912/);
  await panel.locator("#cost").selectOption("macs");

  // The row follows the cursor, and the cursor the row.
  await goTo(page, 5, 3);
  await panel.locator("tr.marked", { hasText: "%flat" }).waitFor({ timeout: PATIENCE });
  await row("%weights").click();
  await page.locator(".statusbar-item", { hasText: "Ln 13" }).first().waitFor({ timeout: PATIENCE });
  await panel.locator("tr.marked", { hasText: "%weights" }).waitFor({ timeout: PATIENCE });
  await shot("shapes");

  // With the keyboard only: to the first row, down, and to its line.
  await panel.locator("#table table").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await panel.locator('tr.marked[data-at="1"]').waitFor({ timeout: PATIENCE });
  const line = await panel.locator("tr.marked td").first().innerText();
  await page.keyboard.press("Enter");
  await page.locator(".statusbar-item", { hasText: `Ln ${line},` }).first().waitFor({ timeout: PATIENCE });

  // The most expensive first; the least expensive is not more expensive.
  await panel.locator("#table th", { hasText: "MACs" }).click();
  assert.match(await panel.locator("#table tbody tr[data-at]").first().innerText(), /nn\.dense/);
  const search = panel.locator("#search");
  const matches = (text) => panel.locator("#matches", { hasText: text }).waitFor({ timeout: PATIENCE });
  await search.fill("softmax");
  await panel.locator("#table tbody tr[data-at]", { hasText: "nn.dense" }).first().waitFor({ state: "detached", timeout: PATIENCE });
  assert.equal(await panel.locator("#table tbody tr[data-at]").count(), 1);
  await matches("1 of 1");
  await search.fill("nn.dense");
  await matches("1 of 3");
  await search.press("Enter");
  await matches("2 of 3");
  await search.press("Shift+Enter");
  await search.press("Shift+Enter");
  await matches("3 of 3");
  await search.fill("");

  await graphOf({ page, panel, workspace, shot });
  await panel.locator("#show-sums").click();
  assert.match(await panel.locator("#sums tr", { hasText: "nn.dense" }).first().innerText(), /nn\.dense\s+3\s+226,492,416\s+1\.1 MiB/);
  // Memory over time: a key goes to the peak, and the table names what is live there.
  await panel.locator("#show-memory").click();
  await panel.locator("#live tbody tr[data-at]").first().waitFor();
  await panel.locator("#memory-canvas").press("p");
  const memory = () => panel.locator("body").evaluate(() => [chart.selected, one.total.peakRow, marked]);
  await eventually(page, memory, ([selected, peak, marked]) => selected === peak && marked === peak);
  await shot("memory");
  await panel.locator("#show-table").click();
  say("shape panel");

  await page.locator(".tab", { hasText: "Shapes:" }).first().click({ button: "middle" });
  await page.locator("iframe.webview").first().waitFor({ state: "detached", timeout: PATIENCE });
}

/** The state of the graph in the page's script. */
const graphState = (panel) =>
  panel.locator("body").evaluate(() => {
    // A global of the page's script.
    const { scene, view, selected } = graph;
    return {
      ...view,
      sight: view && graph.sight(),
      bounds: scene.bounds,
      selected: scene.items[selected]?.name,
      items: scene.items.map(({ kind, name, row }, at) => ({ kind, name, operator: row?.operator, ...scene.nodes[at] })),
      pills: scene.items.flatMap(({ pills }) => pills).map(({ name, kind }) => `${kind} ${name}`),
    };
  });

/** The graph: legible, with inputs, weights and a result; tools, keys, details, and saved files. */
async function graphOf({ page, panel, workspace, shot }) {
  await panel.locator("#show-graph").click();
  const canvas = panel.locator("#canvas");
  const state = () => graphState(panel);
  const settled = (holds) => eventually(page, state, holds);
  const opened = await settled(({ scale }) => scale > 0);
  assert.ok(opened.scale >= 0.7, `letters of ${12 * opened.scale} pixels`);
  assert.deepEqual(opened.items.filter(({ kind }) => kind === "input").map(({ name }) => name), ["%tokens"]);
  assert.equal(opened.items.filter(({ kind }) => kind === "output").length, 1);
  // Groups are closed first, and the row at the cursor is in one.
  assert.deepEqual(opened.items.map(({ name }) => name), ["%flat", "attention", "%tokens", "result"]);
  assert.equal(opened.selected, "attention");
  await shot("shapes-closed");
  const box = await canvas.boundingBox();
  const click = async (name) => {
    const { items, scale, x, y } = await state();
    const item = items.find((item) => item.name === name);
    await page.mouse.click(box.x + item.x * scale + x, box.y + (item.y + 20) * scale + y);
  };
  await canvas.focus();
  await page.keyboard.press("Space");
  const inside = await settled(({ items }) => items.some(({ name }) => name === "%scores"));
  assert.ok(inside.pills.includes("weight %wq"), inside.pills.join(", "));
  const place = (state, name) => state.items.find((item) => item.name === name);
  assert.equal(place(inside, "%flat").x, place(opened, "%flat").x, "the main line stays");
  const listed = await panel.locator("#reader [aria-level='2']").allInnerTexts();
  assert.ok(listed.some((line) => line.includes("nn.softmax")), listed.join("; "));
  const legend = (await panel.locator("#legend").innerText()).split("\n");
  assert.ok(legend.includes("convolution, product") && legend.includes("activation"), legend.join(", "));
  await shot("shapes-graph");

  // A click selects a call, shows its details and moves the cursor to it.
  await panel.locator("#fit").click();
  await settled(({ sight, bounds }) => sight.left <= bounds.left && sight.right >= bounds.right && sight.top <= bounds.top && sight.bottom >= bounds.bottom);
  assert.ok(await panel.locator("#minimap").isHidden(), "all is in sight");
  await click("%scores");
  const details = panel.locator("#details");
  await details.locator("h2", { hasText: "nn.batch_matmul" }).waitFor({ timeout: PATIENCE });
  const text = await details.innerText();
  for (const part of ["transpose_b", "12×128×128 f32", "Tensor[(12, 128, 128), float32]", "12,582,912", "%keys", "convolution, product"]) {
    assert.ok(text.includes(part), `${part}: ${text}`);
  }
  // The focus stays in the graph; the editor only highlights the line.
  await page.locator(".monaco-editor .line-numbers.active-line-number", { hasText: /^12$/ }).first().waitFor({ timeout: PATIENCE });
  await shot("shapes-details");

  // The keyboard follows edges and zooms. The overview appears when a part of the graph is hidden.
  await page.keyboard.press("ArrowDown");
  await settled(({ selected }) => selected !== "%scores");
  await page.keyboard.press("ArrowUp");
  await settled(({ selected }) => selected === "%scores");
  const before = await state();
  await page.keyboard.press("s");
  const near = await settled(({ scale }) => scale > before.scale);
  for (const key of ["+", "+"]) {
    await page.keyboard.press(key);
  }
  await settled(({ scale }) => scale > near.scale);
  await panel.locator("#minimap").waitFor({ timeout: PATIENCE });
  await shot("shapes-zoomed");
  await page.keyboard.press("0");
  await settled(({ scale }) => scale <= 1);
  await page.keyboard.press("f");
  await panel.locator("#minimap").waitFor({ state: "hidden", timeout: PATIENCE });
  await page.keyboard.press("0");
  await page.keyboard.press("/");
  await panel.locator("#search:focus").waitFor({ timeout: PATIENCE });

  // Other nodes are dimmed, and Enter jumps to the next match.
  await panel.locator("#search").fill("nn.dense");
  await panel.locator("#matches", { hasText: /^\d of 3$/ }).waitFor({ timeout: PATIENCE });
  const first = (await state()).selected;
  await panel.locator("#search").press("Enter");
  await settled(({ selected }) => selected !== first);
  await shot("shapes-found");
  await panel.locator("#search").fill("");
  await panel.locator("#colour").selectOption("cost");
  await panel.locator("#legend", { hasText: "MACs: the stronger, the more" }).waitFor({ timeout: PATIENCE });
  await shot("shapes-cost");
  await panel.locator("#colour").selectOption("kind");

  await details.locator("header button").click();
  await details.waitFor({ state: "hidden", timeout: PATIENCE });

  for (const [kind, begins] of [["svg", "<svg "], ["png", "\x89PNG"]]) {
    const file = path.join(workspace, `attention.${kind}`);
    const dialog = page.locator(".quick-input-widget input:focus").first();
    await until(dialog, () => panel.locator(`#${kind}`).click());
    await page.keyboard.press("Enter");
    await eventually(page, () => existsSync(file) && readFileSync(file, "latin1").slice(0, begins.length), (start) => start === begins);
  }
  const svg = readFileSync(path.join(workspace, "attention.svg"), "utf8");
  assert.ok(svg.includes(">nn.batch_matmul</text>") && svg.includes(">%wq</text>"));

  const isLight = await panel.locator("body.vscode-light").count() > 0;
  for (const theme of isLight ? ["dark", "light"] : ["light", "dark"]) {
    await command(page, "Preferences: Toggle between Light/Dark Themes");
    await panel.locator(`body.vscode-${theme}`).waitFor({ timeout: PATIENCE });
    await page.waitForTimeout(200);
    await shot(`shapes-${theme}`);
  }
}
