// Checks an executed notebook in a browser: each kind of result is displayed.
//
//   node notebook.mjs NOTEBOOK.html OUT.png
//
// RELAY_EDITORS: the folder of `.ci/install-editors vscode`, with the browser
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { launch } from "./browser.mjs";

const [notebook, out] = process.argv.slice(2).map((name) => path.resolve(name));
mkdirSync(path.dirname(out), { recursive: true });
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1100, height: 1700 } });
  await page.goto(pathToFileURL(notebook).href, { waitUntil: "load" });
  const visible = async (place, selector) => {
    const box = await place.locator(selector).first().boundingBox();
    assert.ok(box && box.width > 50 && box.height > 20, `${selector}: ${JSON.stringify(box)}`);
  };
  // The module with colours, a finding, and in frames its shapes with a picture and two modules side by side.
  for (const selector of ["pre.ra-code", "pre.ra-s-error", ".relay-analyzer iframe"]) {
    await visible(page, selector);
  }
  await page.locator("pre.ra-code .ra-operator").first().waitFor();
  const report = page.frameLocator(".relay-analyzer iframe").first();
  for (const selector of ["table", "canvas"]) {
    await visible(report, selector);
  }
  const hover = await page.locator("pre.ra-code [title]").first().getAttribute("title");
  assert.match(hover, /Tensor|fn/);
  const colour = await page.locator("pre.ra-code .ra-operator").first().evaluate((element) => getComputedStyle(element).color);
  assert.equal(colour, "rgb(11, 114, 133)");
  const comparison = page.frameLocator('.relay-analyzer iframe[srcdoc*="Next change"]').first();
  await comparison.getByText("Next change").waitFor();
  await page.screenshot({ path: out });
} finally {
  await browser.close();
}
console.log(`notebook: looked at, see ${out}`);
