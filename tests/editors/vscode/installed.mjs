// The packed extension with its own server in VS Code: nothing else is installed, and nothing is set.
//
//   node installed.mjs EXTENSION.vsix MODULE
//
// MODULE: tests/examples/broken-attention.relay. RELAY_TEST_SERVER: empty
import assert from "node:assert/strict";
import path from "node:path";

import { PATIENCE, command, say, withWorkbench } from "./workbench.mjs";

const [extension, file] = process.argv.slice(2);

await withWorkbench({ files: [file], extension: path.resolve(extension) }, async ({ page, workspace, remote, open }) => {
  await open([["openFile", remote(path.join(workspace, path.basename(file)))]]);
  await page.locator(".monaco-editor .squiggly-error").first().waitFor({ timeout: PATIENCE });
  say("squiggle");
  await command(page, "Relay: Show Server Version");
  const message = page.locator(".notification-toast", { hasText: "relay-analyzer" }).first();
  await message.waitFor({ timeout: PATIENCE });
  assert.match(await message.innerText(), /relay-analyzer \d+\.\d+\.\d+/);
  say("OK");
});
