// What survives a reload of the window, and what a theme of high contrast shows: the panel of shapes.
//
//   node reload.mjs EXTENSION.vsix FOLDER
//
// Screenshots go to FOLDER.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { FIRST } from "./log.mjs";
import { panelOf } from "./shapes.mjs";
import { PATIENCE, command, eventually, say, withWorkbench } from "./workbench.mjs";

const [extension, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const made = mkdtempSync(path.join(tmpdir(), "relay-reload-"));
const file = path.join(made, "net.relay");
writeFileSync(file, FIRST);

await withWorkbench({ files: [file], extension }, async ({ page, workspace, remote, open, change }) => {
  const shot = (name) => page.screenshot({ path: path.join(folder, `${name}.png`) });
  const panel = panelOf(page);
  const row = (text) => panel.locator("#table tbody tr[data-at]", { hasText: text }).first();
  const status = (text) => page.locator(".statusbar-item", { hasText: text }).first();

  /** The colours and lines of an element, and the colour with which a theme of high contrast marks what is active. */
  const styleOf = (found) =>
    found.evaluate((element) => {
      const { outlineStyle, outlineColor, borderTopColor, boxShadow } = getComputedStyle(element);
      const probe = document.createElement("i");
      probe.style.color = "var(--vscode-contrastActiveBorder)";
      document.body.append(probe);
      const active = getComputedStyle(probe).color;
      probe.remove();
      return { outlineStyle, outlineColor, borderTopColor, boxShadow, active };
    });

  try {
    const sums = panel.locator("#sums tr", { hasText: "nn.dense" }).first();
    // VS Code stores the state of a page when it is idle, and a page that is left loses what is not stored: once a
    // minute at the latest.
    for (const wait of [3_000, 15_000, 65_000]) {
      await open([["openFile", remote(path.join(workspace, "net.relay"))]]);
      await page.waitForSelector(".monaco-editor .view-line", { timeout: PATIENCE });
      await status("OK").waitFor({ timeout: PATIENCE });
      await command(page, "Relay: Show Shapes");
      await row("nn.dense").waitFor({ timeout: PATIENCE });
      await panel.locator("#search").fill("nn.dense");
      await panel.locator("#show-sums").click();
      await sums.waitFor({ timeout: PATIENCE });
      await page.waitForTimeout(wait);
      // Without the file in the address, VS Code opens what was open.
      await open([]);
      const isStored = await sums.waitFor({ timeout: PATIENCE / 2 }).then(
        () => true,
        () => false,
      );
      if (isStored) {
        break;
      }
      say(`no state was stored after ${wait / 1_000} s`);
    }

    // The panel is there without a command, with the view and the search of before, and the data of the file.
    await page.locator(".tab", { hasText: "Shapes:" }).first().waitFor({ timeout: PATIENCE });
    await sums.waitFor({ timeout: PATIENCE });
    assert.equal(await panel.locator("#search").inputValue(), "nn.dense");
    await panel.locator("#search").fill("");
    await panel.locator("#show-table").click();
    // A row moves the cursor.
    await row("nn.softmax").click();
    await status("Ln 5").waitFor({ timeout: PATIENCE });
    await panel.locator("tr.marked", { hasText: "nn.softmax" }).waitFor({ timeout: PATIENCE });
    await shot("reloaded");
    say("reloaded");

    // Lines show what other themes show by colours: the selected view, and the row of the cursor.
    change({ "workbench.colorTheme": "Default High Contrast" });
    await panel.locator("body.vscode-high-contrast").waitFor({ timeout: PATIENCE });
    await page.mouse.move(3, 3);
    const marked = await eventually(
      page,
      () => styleOf(panel.locator("tr.marked").first()),
      ({ outlineStyle, outlineColor, active }) => outlineStyle === "solid" && outlineColor === active,
    );
    assert.notEqual(marked.active, "rgba(0, 0, 0, 0)");
    const others = await styleOf(row("tanh"));
    assert.notEqual(others.outlineColor, others.active, "a row that is not marked");
    const selected = await styleOf(panel.locator("#show-table"));
    assert.equal(selected.borderTopColor, selected.active, "the border of the selected view");
    assert.ok(selected.boxShadow.startsWith(selected.active), selected.boxShadow);
    const idle = await styleOf(panel.locator("#show-graph"));
    assert.ok(!idle.boxShadow.startsWith(idle.active), idle.boxShadow);
    await shot("high-contrast");
    say("high contrast");
    say("OK");
  } catch (error) {
    await shot("failed-reload");
    throw error;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
});
