// What a person sees of the shape panel: opens it, clicks a row, searches, colours, looks at the graph.
import assert from "node:assert/strict";

import { PATIENCE, command, eventually, goTo, hovered } from "./workbench.mjs";

/** `tests/examples/broken-attention.relay` is open, and mended. */
export async function shapePanel({ page, shot, say }) {
  // What it says of the file follows the diagnostics after a moment.
  const health = page.locator(".statusbar-item", { hasText: /1 function\s*$/ }).first();
  await health.waitFor({ timeout: PATIENCE });
  const table = page.locator(".monaco-hover:visible, .workbench-hover:visible").filter({ hasText: "TVM 0.14 takes it" }).first();
  await hovered(page, health, table);
  await shot("health");

  await command(page, "Relay: Show Shapes");
  const panel = page.frameLocator("iframe.webview").frameLocator("iframe");
  const row = (text) => panel.locator("#table tbody tr[data-at]", { hasText: text }).first();
  await row("%scores").waitFor({ timeout: PATIENCE });
  assert.match(await panel.locator("#total").innerText(), /MACs, \d+ calls; peak memory .* at /);
  assert.match(await row("%scores").innerText(), /nn\.batch_matmul\s+\(12, 128, 128\), float32/);

  // The row follows the cursor, and the cursor the row.
  await goTo(page, 5, 3);
  await panel.locator("tr.marked", { hasText: "%flat" }).waitFor({ timeout: PATIENCE });
  await row("%weights").click();
  await page.locator(".statusbar-item", { hasText: "Ln 13" }).first().waitFor({ timeout: PATIENCE });
  await panel.locator("tr.marked", { hasText: "%weights" }).waitFor({ timeout: PATIENCE });
  await shot("shapes");

  // The dearest first; the cheapest is no more than as dear.
  await panel.locator("#table th", { hasText: "MACs" }).click();
  assert.match(await panel.locator("#table tbody tr[data-at]").first().innerText(), /nn\.dense/);
  await panel.locator("#search").fill("softmax");
  await panel.locator("#table tbody tr[data-at]", { hasText: "nn.dense" }).first().waitFor({ state: "detached", timeout: PATIENCE });
  assert.equal(await panel.locator("#table tbody tr[data-at]").count(), 1);
  await panel.locator("#search").fill("");

  // The graph: something is drawn; the wheel makes it larger; a click goes to the line.
  await panel.locator("#show-graph").click();
  const canvas = panel.locator("canvas");
  const inked = () =>
    canvas.evaluate((element) => {
      const { data } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
      let count = 0;
      for (let at = 3; at < data.length; at += 4) {
        count += data[at] > 0 ? 1 : 0;
      }
      return count;
    });
  await eventually(page, inked, (points) => points > 1_000);
  // The window may still grow, and the drawing with it.
  await page.waitForTimeout(200);
  const drawn = await inked();
  await shot("shapes-graph");
  await canvas.hover();
  await page.mouse.wheel(0, -300);
  await eventually(page, inked, (points) => points > 1_000 && points !== drawn);
  await shot("shapes-zoomed");
  await panel.locator("#show-sums").click();
  assert.match(await panel.locator("#sums tr", { hasText: "nn.dense" }).first().innerText(), /nn\.dense\s+3\s+226,492,416\s+1\.1 MiB/);
  await panel.locator("#show-table").click();
  say("shape panel");

  await page.locator(".tab", { hasText: "Shapes:" }).first().click({ button: "middle" });
  await page.locator("iframe.webview").first().waitFor({ state: "detached", timeout: PATIENCE });
}
