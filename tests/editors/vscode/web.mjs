// The extension in VS Code's extension host for browsers, with the language server in a worker there.
//
//   node web.mjs EXTENSION.vsix FOLDER
//
// RELAY_TEST_FILE: tests/examples/broken-attention.relay. Screenshots go to FOLDER.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import { PATIENCE, command, eventually, find, hovered, required, say, withWorkbench } from "./workbench.mjs";

const [extension, folder] = process.argv.slice(2);
const file = required("RELAY_TEST_FILE");
mkdirSync(folder, { recursive: true });

/** The server of VS Code would run the extension itself: without its entry for Node, only the browser can. */
function onlyWeb(extensions) {
  const [name] = readdirSync(extensions).filter((name) => name.startsWith("relay-analyzer."));
  const manifest = path.join(extensions, name, "package.json");
  const { main, ...rest } = JSON.parse(readFileSync(manifest, "utf8"));
  assert.ok(main && rest.browser);
  writeFileSync(manifest, JSON.stringify(rest));
}

await withWorkbench({ files: [file], extension, prepare: onlyWeb }, async ({ page, workspace, remote, open }) => {
  const shot = (name) => page.screenshot({ path: path.join(folder, `web-${name}.png`) });
  const squiggles = page.locator(".monaco-editor .squiggly-error");
  const line = (text) => page.locator(".monaco-editor .view-line", { hasText: text }).first();
  const word = (inLine, text) => line(inLine).locator("span > span", { hasText: text }).first();
  const status = (text) => page.locator(".statusbar-item", { hasText: text }).first();

  try {
    await open([["openFile", remote(path.join(workspace, path.basename(file)))]]);
    await page.waitForSelector(".monaco-editor .view-line", { timeout: PATIENCE });
    await squiggles.first().waitFor({ timeout: PATIENCE });
    say("squiggle");
    await status("Relay").waitFor({ timeout: PATIENCE });
    // The server is where it is said to be: in a worker of the page, whose module came from the extension.
    const workers = () => Promise.all(page.workers().map((worker) => worker.evaluate(() => typeof WebAssembly).catch(() => "")));
    await eventually(page, workers, (kinds) => kinds.length > 0);

    const box = page.locator(".monaco-hover:visible .monaco-hover-content").filter({ hasText: "expects 128" }).first();
    await hovered(page, word("let %scores", "%keys"), box);
    assert.match((await box.innerText()).replace(/\u00a0/g, " "), /tensor_a`? has 64 features/);
    await shot("hover");

    await page.keyboard.press("Escape");
    await line("let %keys").click();
    await page.keyboard.press("Home");
    await find(page, "[1, 2, 0]", "of 2");
    await page.keyboard.press("Delete");
    await page.keyboard.type("[1, 0, 2]");
    await page.waitForFunction(() => !document.querySelector(".squiggly-error"), null, { timeout: PATIENCE });
    say("mended");

    await command(page, "Relay: Show Shapes");
    const shapes = page.frameLocator("iframe.webview.ready").last().frameLocator("#active-frame");
    await shapes.locator("#total", { hasText: "MACs" }).waitFor({ timeout: PATIENCE });
    await shot("shapes");
    say("shapes", JSON.stringify(await shapes.locator("#total").innerText()));

    await line("let %keys").click();
    await command(page, "Relay: Run Function");
    await line("mean").waitFor({ timeout: PATIENCE });
    await shot("run");
    say("OK");
  } catch (error) {
    await shot("failed");
    throw error;
  }
});
