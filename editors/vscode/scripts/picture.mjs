// Bundles the picture of the dataflow, with dagre, for the shape panel and for the HTML report: `media/picture.js`.
//
//   node scripts/picture.mjs [--check]
//
// The bundle is part of the repository, because the server contains it and is built without npm. With `--check`, fails
// if it is not that of the sources.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const extension = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const common = { bundle: true, minify: true, write: false, platform: "browser", target: "es2022", format: "iife", charset: "utf8", logLevel: "warning", absWorkingDir: extension };

/** `worker:FILE` is a function with the script of a worker: its source starts one, and a call runs it without. */
const worker = {
  name: "worker",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^worker:/ }, ({ path: name, resolveDir }) => ({ path: path.join(resolveDir, name.slice("worker:".length)), namespace: "worker" }));
    onLoad({ filter: /.*/, namespace: "worker" }, async ({ path: file }) => {
      const { outputFiles } = await build({ ...common, entryPoints: [file] });
      return { contents: `export default function (self) { ${outputFiles[0].text} }`, loader: "js" };
    });
  },
};

export async function bundle() {
  // The license of dagre, which its bundle has in a file of its own.
  const license = readFileSync(path.join(extension, "node_modules/@dagrejs/dagre/LICENSE"), "utf8").trim();
  const banner = { js: `/*! Contains dagre (https://github.com/dagrejs/dagre):\n${license}\n*/` };
  const { outputFiles } = await build({ ...common, entryPoints: ["picture/index.js"], plugins: [worker], banner });
  return outputFiles[0].text;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = path.join(extension, "media/picture.js");
  const text = await bundle();
  if (process.argv.includes("--check")) {
    if (readFileSync(file, "utf8") !== text) {
      console.error("media/picture.js is not the bundle of picture/: run `npm run build:picture`");
      process.exit(1);
    }
  } else {
    writeFileSync(file, text);
  }
}
