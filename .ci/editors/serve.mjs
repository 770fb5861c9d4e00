// A static file server for tests in a browser.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { gzipSync } from "node:zlib";

const TYPES = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml", ttf: "font/ttf", wasm: "application/wasm" };

/** Serves the files below a folder, compressed, on a free port: `{ server, origin }`. */
export function serve(root) {
  const cache = new Map();
  const server = createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url, "http://localhost").pathname).replace(/\/$/, "/index.html");
    const file = path.join(root, path.normalize(name));
    try {
      if (!cache.has(file)) {
        cache.set(file, gzipSync(readFileSync(file)));
      }
      const type = TYPES[path.extname(file).slice(1)] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type, "content-encoding": "gzip" }).end(cache.get(file));
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve({ server, origin: `http://127.0.0.1:${server.address().port}` })));
}
