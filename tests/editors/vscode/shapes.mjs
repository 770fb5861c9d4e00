// What a person sees of the shape panel: opens it, clicks a row, searches, colours, looks at the graph.
import assert from "node:assert/strict";

const PATIENCE = 60_000;

/** `tests/examples/broken-attention.relay` is open, and mended. */
export async function shapePanel({ page, shot, say }) {
  const health = page.locator(".statusbar-item", { hasText: "1 function" }).first();
  await health.waitFor({ timeout: PATIENCE });
  assert.doesNotMatch(await health.innerText(), /error/);
  await health.hover();
  const table = page.locator(".monaco-hover:visible, .workbench-hover:visible").filter({ hasText: "TVM 0.14 takes it" }).first();
  await table.waitFor({ timeout: PATIENCE });
  await shot("health");

  await page.keyboard.press("F1");
  await page.keyboard.type("Relay: Show Shapes");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "Show Shapes" }).first().waitFor({ timeout: PATIENCE });
  await page.keyboard.press("Enter");
  const panel = page.frameLocator("iframe.webview").frameLocator("iframe");
  const row = (text) => panel.locator("#table tbody tr[data-at]", { hasText: text }).first();
  await row("%scores").waitFor({ timeout: PATIENCE });
  assert.match(await panel.locator("#total").innerText(), /MACs, \d+ calls; peak memory .* at /);
  assert.match(await row("%scores").innerText(), /nn\.batch_matmul\s+\(12, 128, 128\), float32/);

  // The row follows the cursor, and the cursor the row.
  await page.keyboard.press("Control+Home");
  for (let line = 1; line < 5; line++) {
    await page.keyboard.press("ArrowDown");
  }
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
  await page.waitForTimeout(200);
  const drawn = await inked();
  assert.ok(drawn > 1_000, `${drawn} points are drawn`);
  await shot("shapes-graph");
  await canvas.hover();
  await page.mouse.wheel(0, -300);
  await page.waitForTimeout(200);
  assert.notEqual(await inked(), drawn);
  await shot("shapes-zoomed");
  await panel.locator("#show-sums").click();
  assert.match(await panel.locator("#sums tr", { hasText: "nn.dense" }).first().innerText(), /nn\.dense\s+3\s+226,492,416\s+1\.1 MiB/);
  await panel.locator("#show-table").click();
  say("shape panel");

  await page.locator(".tab", { hasText: "Shapes:" }).first().click({ button: "middle" });
  await page.locator("iframe.webview").first().waitFor({ state: "detached", timeout: PATIENCE });
}
