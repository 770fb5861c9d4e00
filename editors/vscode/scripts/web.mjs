// Builds the parts of the extension for browsers: the extension, and the worker of the language server.
import path from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const extension = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");

const common = { bundle: true, minify: true, platform: "browser", target: "es2022", logLevel: "warning", absWorkingDir: extension };
// The session is shared with the playground, and finds the packages of the extension here.
const textDocument = path.join(extension, "node_modules/vscode-languageserver-textdocument");
await build({
  ...common,
  entryPoints: ["src/browser.ts"],
  format: "cjs",
  external: ["vscode"],
  alias: { "vscode-languageserver-textdocument": textDocument },
  outfile: "dist/web/extension.js",
});
await build({ ...common, entryPoints: ["../../web/worker/main.ts"], format: "iife", outfile: "dist/web/server.js" });
