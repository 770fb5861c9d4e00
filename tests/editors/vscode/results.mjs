// A run as a user sees it: the lens, values at the ends of lines, the view with the results.
import assert from "node:assert/strict";

import { PATIENCE, command, until } from "./workbench.mjs";

/** `tests/examples/broken-attention.relay` is open and fixed. */
export async function resultsView({ page, shot, say, line, status }) {
  const lens = page.locator(".codelens-decoration a", { hasText: "▶ Run" }).first();
  const results = page.frameLocator("iframe.webview").frameLocator("iframe");
  await until(results.locator("header b", { hasText: "@attention" }), () => lens.click({ timeout: 5_000 }));
  await status("@attention: Tensor[(12, 128, 64), float32] in ").waitFor({ timeout: PATIENCE });

  // The value follows the line and does not repeat the shape.
  const value = page.locator(".monaco-editor .view-line", { hasText: "let %k:" }).first();
  await value.locator("span", { hasText: "mean" }).first().waitFor({ timeout: PATIENCE });
  const text = (await value.innerText()).replace(/\u00a0/g, " ");
  assert.match(text, /units=768\);\s*= min \S+ mean \S+ max \S+$/);
  await page.locator(".codelens-decoration a", { hasText: /▶ Run · \d/ }).first().waitFor({ timeout: PATIENCE });
  say("ran", JSON.stringify(text));

  const section = (title) => results.locator("section", { hasText: title });
  assert.match(await section("Result").locator(".about").first().innerText(), /result\s+Tensor\[\(12, 128, 64\), float32\]\s+min/);
  assert.match(await section("Time by operator").innerText(), /nn\.dense\s+3×\s+[\d.]+ m?s/);
  assert.match(await section("Time by layer").innerText(), /attention\s+(\d+×\s+)?[\d.]+ [mµ]?s/);
  await shot("results");
  // The slowest call links to its position.
  const slowest = section("Slowest calls").locator("button", { hasText: "%q = nn.dense" });
  await slowest.click();
  await page.locator(".statusbar-item", { hasText: /Ln 6,/ }).first().waitFor({ timeout: PATIENCE });

  // The values disappear together with the view. The palette closes without running the command
  // if the editor takes the focus at that moment, as it does after a link of the view.
  const values = value.locator("span", { hasText: "mean" }).first();
  await until(values, () => command(page, "Relay: Clear Values"), "detached");
  await page.locator("iframe.webview").first().waitFor({ state: "detached", timeout: PATIENCE });
  await line("let %weights").click();
  say("results");
}
