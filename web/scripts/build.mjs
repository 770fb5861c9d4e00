// Builds the playground, or the parts of it that an extension of VS Code needs.
//
//   node scripts/build.mjs [--wasm MODULE] [--out FOLDER]
//
// MODULE is the output of `cargo build --profile web -p relay-web --target wasm32-unknown-unknown`; the default
// is the one in `target`. FOLDER, by default `target/playground`, is self-contained: any static file server can
// serve it.
import { cpSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

import { build } from "esbuild";

const web = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const root = path.join(web, "..");
const extension = path.join(root, "editors/vscode");

const { values } = parseArgs({ options: { wasm: { type: "string" }, out: { type: "string" } } });
const target = process.env.CARGO_TARGET_DIR ?? path.join(root, "target");
const wasm = path.resolve(values.wasm ?? path.join(target, "wasm32-unknown-unknown/web/relay_web.wasm"));
const out = path.resolve(values.out ?? path.join(root, "target/playground"));

if (!existsSync(wasm)) {
  console.error(`build: there is no ${wasm}; cargo build --profile web -p relay-web --target wasm32-unknown-unknown`);
  process.exit(1);
}

/** The examples in the playground. The first one is open at the start. */
const SAMPLES = {
  "A small network, with an error": "editors/vscode/media/example.relay",
  "A block of ResNet": "tests/examples/resnet-block.relay",
  "Lists and recursion": "tests/examples/lists.relay",
  "Attention, with an error": "tests/examples/broken-attention.relay",
  "Printed by TVM from PyTorch": "tests/examples/printed-torch.relay",
};
const samples = Object.fromEntries(Object.entries(SAMPLES).map(([name, file]) => [name, readFileSync(path.join(root, file), "utf8")]));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const common = { bundle: true, minify: true, target: "es2022", logLevel: "warning", absWorkingDir: web };
await build({
  ...common,
  entryPoints: { boot: "playground/boot.ts", main: "playground/main.ts", server: "worker/main.ts", editor: "node_modules/monaco-editor/esm/vs/editor/editor.worker.js" },
  format: "esm",
  outdir: out,
  define: { SAMPLES: JSON.stringify(samples) },
  loader: { ".ttf": "file" },
  legalComments: "linked",
});
// The styles that the modules of Monaco import.
writeFileSync(path.join(out, "editor.css"), readFileSync(path.join(out, "main.css")));
await build({ ...common, entryPoints: { main: "playground/main.css", theme: "playground/theme.css" }, outdir: out, allowOverwrite: true });
copyFileSync(path.join(web, "playground/index.html"), path.join(out, "index.html"));
copyFileSync(path.join(web, "playground/host.js"), path.join(out, "host.js"));
copyFileSync(wasm, path.join(out, "relay.wasm"));
copyFileSync(path.join(extension, "media/relay.svg"), path.join(out, "relay.svg"));

// The views are shared with the extension.
const pages = await build({ ...common, entryPoints: [path.join(extension, "src/pages.ts")], format: "esm", write: false });
const { SHAPES, RESULTS } = await import(`data:text/javascript;base64,${Buffer.from(pages.outputFiles[0].text).toString("base64")}`);
for (const [id, page] of Object.entries({ shapes: SHAPES, results: RESULTS })) {
  for (const file of [...page.styles, ...page.scripts]) {
    cpSync(path.join(extension, "media", file), path.join(out, "media", file));
  }
  writeFileSync(path.join(out, `${id}.html`), `<!doctype html>
<html lang="en" id="${id}">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src data: blob:; worker-src blob:">
${["theme.css", ...page.styles.map((name) => `media/${name}`)].map((name) => `  <link rel="stylesheet" href="${name}">`).join("\n")}
  <title>${page.title}</title>
</head>
<body>
${page.body}
${["host.js", ...page.scripts.map((name) => `media/${name}`)].map((name) => `  <script src="${name}"></script>`).join("\n")}
</body>
</html>
`);
}

const bytes = readFileSync(wasm);
const sizes = {
  wasm: bytes.length,
  gzip: gzipSync(bytes, { level: 9 }).length,
  brotli: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 } }).length,
  page: readdirSync(out).filter((name) => /\.(js|css|html)$/.test(name)).reduce((sum, name) => sum + statSync(path.join(out, name)).size, 0),
};
console.log(`playground: ${out}`);
console.log(JSON.stringify(sizes));
