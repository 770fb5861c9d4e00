// The view of the type at the cursor as a user sees it: opens it, moves, follows a link.
import assert from "node:assert/strict";

import { PATIENCE, command, find, goTo } from "./workbench.mjs";

/** `tests/examples/broken-attention.relay` is open and fixed. */
export async function typePanel({ page, shot, say }) {
  await goTo(page, 10, 8);
  await command(page, "Relay: Show Type at Cursor");
  const view = page.frameLocator("iframe.webview").frameLocator("iframe");
  const at = (source) => view.locator("header .source", { hasText: source }).first().waitFor({ timeout: PATIENCE });
  await at("%keys");
  assert.equal(await view.locator("pre.type").innerText(), "Tensor[(12, 128, 64), float32]");
  const axes = view.locator("tr.axis");
  assert.equal(await axes.count(), 3);
  assert.match(await axes.nth(1).innerText(), /^1\s+128\s+newshape sets axis 0 to 128$/);
  assert.match(await view.locator("table.context").innerText(), /%k\s+Tensor\[\(128, 768\), float32\]/);
  await shot("type");

  // The cursor stays in the text and the view follows it: an argument and its parameter.
  await find(page, "%queries, %keys", "1 of 1");
  const expected = view.locator("section", { hasText: "Expected here" });
  await expected.filter({ hasText: "tensor_b of nn.batch_matmul" }).waitFor({ timeout: PATIENCE });
  await shot("type-argument");

  // A click on the origin of a size goes there.
  await view.locator("tr.axis a").first().click();
  await page.locator(".statusbar-item", { hasText: "Ln 10" }).first().waitFor({ timeout: PATIENCE });
  say("type at the cursor");

  await page.locator(".tab", { hasText: "Type at Cursor" }).first().click({ button: "middle" });
  await page.locator("iframe.webview").first().waitFor({ state: "detached", timeout: PATIENCE });
}
