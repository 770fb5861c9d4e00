// Looks at the site as a reader does: pages have text, pictures and colours, and nothing fails.
//
//   node site.mjs SITE FOLDER
//
// RELAY_EDITORS: where `.ci/install-editors vscode` has put the browser. Screenshots go to FOLDER.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { launch } from "./browser.mjs";

const [site, folder] = process.argv.slice(2).map((name) => path.resolve(name));
mkdirSync(folder, { recursive: true });
const browser = await launch();
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  for (const name of ["introduction", "install", "tour", "editors", "python", "guides/vscode", "language/adts", "operators/nn_conv", "diagnostics", "performance"]) {
    const page = await context.newPage();
    const failures = [];
    page.on("pageerror", (error) => failures.push(String(error)));
    page.on("requestfailed", (request) => failures.push(request.url()));
    await page.goto(pathToFileURL(path.join(site, `${name}.html`)).href);
    await page.waitForLoadState("load");
    const seen = await page.evaluate(() => ({
      text: document.querySelector("main").innerText.length,
      pictures: [...document.querySelectorAll("main img")].map(({ src, naturalWidth }) => [src, naturalWidth]),
      relay: document.querySelectorAll("code.language-relay").length,
      coloured: document.querySelectorAll("code.language-relay .hljs-keyword, code.language-relay .hljs-title").length,
      chapters: document.querySelectorAll(".sidebar a").length,
      wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
    }));
    await page.screenshot({ path: path.join(folder, `${name.replace("/", "-")}.png`) });
    assert.ok(seen.text > 500, `${name}: ${seen.text} letters`);
    for (const [src, width] of seen.pictures) {
      assert.ok(width > 0, `${name}: ${src} is not shown`);
    }
    assert.ok(seen.relay === 0 || seen.coloured > 0, `${name}: no colours`);
    assert.ok(!seen.wide, `${name}: wider than the window`);
    assert.deepEqual(failures, [], name);
    await page.close();
  }
} finally {
  await browser.close();
}
console.log(`site: looked at, see ${folder}`);
