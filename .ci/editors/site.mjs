// Checks the site in a browser: pages have text, pictures and highlighting, and no request fails.
//
//   node site.mjs SITE FOLDER
//
// RELAY_EDITORS: where `.ci/install-editors vscode` has put the browser. Screenshots go to FOLDER.
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";

import { launch } from "./browser.mjs";
import { serve } from "./serve.mjs";

const [site, folder] = process.argv.slice(2).map((name) => path.resolve(name));
mkdirSync(folder, { recursive: true });
const { server, origin } = await serve(site);
const browser = await launch();
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  for (const name of ["introduction", "install", "tour", "editors", "python", "guides/vscode", "language/adts", "operators/nn_conv", "diagnostics", "performance"]) {
    const page = await context.newPage();
    const failures = [];
    page.on("pageerror", (error) => failures.push(String(error)));
    page.on("requestfailed", (request) => failures.push(request.url()));
    await page.goto(`${origin}/${name}.html`);
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
  // Follow the link to the playground, whose example has an error.
  if (existsSync(path.join(site, "playground"))) {
    const page = await context.newPage();
    await page.goto(`${origin}/playground.html`);
    await page.locator('main a[href="playground/index.html"]').first().click();
    await page.locator("#status", { hasText: /1 error/ }).waitFor({ timeout: 60_000 });
    await page.screenshot({ path: path.join(folder, "playground-itself.png") });
  } else {
    console.log("SKIPPED: the playground is not built; .ci/site --playground");
  }
} finally {
  await browser.close();
  server.close();
}
console.log(`site: looked at, see ${folder}`);
