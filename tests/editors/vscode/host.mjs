// Runs the tests of the extension (editors/vscode/test/host) in VS Code's extension host.
//
//   node host.mjs EXTENSION_FOLDER
//
// RELAY_TEST_FILE: tests/examples/broken-attention.relay
import path from "node:path";

import { required, say, withWorkbench } from "./workbench.mjs";

const folder = path.resolve(process.argv[2]);
const LIMIT = 300_000;
/** Output of the host itself, such as warnings about native modules that were not compiled. */
const NOISE = /^(?:[^]*(?:bindings file|native-watchdog)|\[Service Worker\]|Creating a socket|Resolv|\[reconnection|\[AgentHost|\[AccountPolicy|Updating additional|connect ECONNREFUSED 127.0.0.1:9:)/;

await withWorkbench({ files: [required("RELAY_TEST_FILE")], tests: true }, async ({ page, remote, open }) => {
  let finish;
  const finished = new Promise((resolve) => {
    finish = resolve;
  });
  await page.exposeFunction("codeAutomationLog", (type, words) => {
    if (!NOISE.test(String(words[0]))) {
      (console[type] ?? console.log)(...words);
    }
  });
  await page.exposeFunction("codeAutomationExit", (code) => finish(code));
  await open([
    ["extensionDevelopmentPath", remote(folder)],
    ["extensionTestsPath", remote(path.join(folder, "test/host/index.js"))],
    ["skipWelcome", "true"],
  ]);
  const limit = setTimeout(() => finish("no end within five minutes"), LIMIT);
  const code = await finished;
  clearTimeout(limit);
  if (code !== 0) {
    throw new Error(`the tests in the extension host ended with ${code}`);
  }
  say("OK");
});
