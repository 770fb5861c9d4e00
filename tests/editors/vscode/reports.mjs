// The HTML reports of the command line in a headless browser.
//
//   node reports.mjs SHAPES DIFF COMPARE FOLDER
//
// SHAPES, DIFF and COMPARE: reports of modules whose names and strings contain tags. Screenshots go to FOLDER.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { launchBrowser, pageInside, say } from "./workbench.mjs";

const [shapes, diff, compare, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

/** What an attacker adds where a name is not escaped. Each of them would set `attacked`. */
const ATTACKS = [
  "<script>attacked = true</script>",
  "<img src=x onerror='attacked = true'>",
  "<svg onload='attacked = true'></svg>",
  "<a id=link href='javascript:attacked = true'>link</a>",
  "<iframe srcdoc='<script>top.attacked = true</script>'></iframe>",
  "<style>body { background: url(https://example.org/x) }</style>",
  "<link rel=stylesheet href=https://example.org/x.css>",
  "<script src=https://example.org/x.js></script>",
  "<base href=https://example.org/>",
  "<form action=https://example.org/ id=form></form>",
  "<meta http-equiv=Content-Security-Policy content=\"script-src 'unsafe-inline'\">",
].join("\n");

const browser = await launchBrowser();

/** Opens a report. Returns its page, what went wrong in it, and the origins that it asked for. */
async function opened(file) {
  const { page, context, outside } = await pageInside(browser);
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.addInitScript(() => {
    globalThis.attacked = false;
    globalThis.violations = [];
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => violations.push(effectiveDirective));
  });
  await page.goto(pathToFileURL(file).href);
  return { page, context, outside, problems };
}

/** Uses the report as its reader does. */
const uses = {
  async shapes(page) {
    const rows = page.locator("table tbody tr:not([hidden])");
    await rows.first().waitFor();
    const width = await page.locator("table").first().evaluate((table) => table.style.width);
    assert.match(width, /calc/, "the widths of columns are set");
    await page.waitForFunction(() => {
      const canvas = document.querySelector(".picture canvas");
      const { width, height } = canvas;
      return width > 0 && canvas.getContext("2d").getImageData(0, 0, width, height).data.some((part) => part !== 0);
    });
    await page.locator("input").fill("tanh");
    await page.locator("output", { hasText: "found" }).waitFor();
    await page.locator("input").fill("");
    await page.locator("header select").selectOption({ index: 1 });
  },
  async compare(page) {
    await page.locator("#pairs tbody tr[data-at]").first().waitFor();
    // The first call with an error of its own is selected.
    await page.locator(".histogram div").first().waitFor();
    await page.locator("#pairs th[data-key='local-max_abs']").click();
    assert.match(await page.locator("#pairs tbody tr[data-at]").first().innerText(), /tanh/, "the worst error is first");
    // The graph has the colours of the errors.
    await page.locator("#dataflow").scrollIntoViewIfNeeded();
    assert.equal(await page.locator("#dataflow .tools select").first().inputValue(), "error");
    await page.locator("#dataflow .legend", { hasText: "error of its own" }).waitFor();
    await page.locator("input").fill("dense");
    await page.locator("#pairs tbody tr[data-at]", { hasText: "tanh" }).waitFor({ state: "detached" });
  },
  async diff(page) {
    await page.getByRole("button", { name: "Next change" }).click();
    await page.locator(".on").first().waitFor();
    await page.locator("input").fill("tanh");
    await page.locator("input").dispatchEvent("change");
    const colour = await page.locator(".changed").first().evaluate((mark) => getComputedStyle(mark).backgroundColor);
    assert.notEqual(colour, "rgba(0, 0, 0, 0)", "the style is used");
    const way = page.locator("#dataflow .tools select").first();
    await page.locator("#dataflow").scrollIntoViewIfNeeded();
    assert.equal(await way.inputValue(), "difference");
  },
};

/**
 * A report as a notebook shows it, in a frame: each button saves a file, and a saved page is a report again. The frame is
 * that of the Python package.
 */
async function saves(file) {
  const source = readFileSync(new URL("../../../python/relay_analyzer/_html.py", import.meta.url), "utf8");
  const [, sandbox] = source.match(/<iframe sandbox="([^"]*)"/);
  const { page, context } = await pageInside(browser);
  await page.setContent(`<iframe style="height: 800px; width: 1200px" sandbox="${sandbox}"></iframe>`);
  await page.locator("iframe").evaluate((frame, text) => (frame.srcdoc = text), readFileSync(file, "utf8"));
  const report = page.frameLocator("iframe");
  await report.locator(".tools button").first().waitFor();
  const saved = async (button) => {
    const download = page.waitForEvent("download");
    await report.getByRole("button", { name: button, exact: true }).first().click();
    const found = await download;
    return { name: found.suggestedFilename(), file: await found.path() };
  };
  const svg = await saved("SVG");
  assert.match(svg.name, /^main\.svg$/);
  assert.match(readFileSync(svg.file, "utf8"), /^<svg [^]*<\/svg>\s*$/);
  const png = await saved("PNG");
  assert.match(png.name, /^main\.png$/);
  assert.deepEqual([...readFileSync(png.file).subarray(1, 4)], [...Buffer.from("PNG")]);
  const again = await saved("Save page");
  assert.match(again.name, /\.html$/);
  const copy = path.join(folder, "report-saved.html");
  writeFileSync(copy, readFileSync(again.file));
  await context.close();
  const { page: opening, context: reader, problems } = await opened(copy);
  await uses.shapes(opening);
  const count = (where) => where.locator("section").first().locator("details").count();
  assert.equal(await count(opening), 2, "what the script makes is there once");
  assert.deepEqual(problems, []);
  assert.deepEqual(await opening.evaluate(() => violations), []);
  await reader.close();
  say("shapes: saved as SVG, PNG and page from the frame of a notebook");
}

try {
  for (const [name, file] of Object.entries({ shapes, diff, compare })) {
    const { page, context, outside, problems } = await opened(file);
    await uses[name](page);
    await page.screenshot({ path: path.join(folder, `report-${name}.png`) });
    assert.deepEqual(problems, []);
    assert.deepEqual(await page.evaluate(() => [attacked, violations]), [false, []]);
    assert.equal(await page.locator("img, iframe, body style").count(), 0, "names are text");
    assert.ok((await page.locator("body").innerText()).includes("<img"), "names are shown");
    assert.deepEqual([...outside], []);
    await context.close();

    // As if a name were not escaped: the report works, and nothing else happens.
    const attackedFile = path.join(folder, `report-${name}-attacked.html`);
    writeFileSync(attackedFile, readFileSync(file, "utf8").replace("<header>", () => `<div>${ATTACKS}</div><header>`));
    const attack = await opened(attackedFile);
    await uses[name](attack.page);
    await attack.page.locator("#link").click();
    // Before the form, which leaves the page where nothing stops it.
    assert.equal(await attack.page.evaluate(() => globalThis.attacked), false);
    await attack.page.evaluate(() => document.getElementById("form").submit());
    await attack.page.waitForTimeout(200);
    const [attacked, violations] = await attack.page.evaluate(() => [globalThis.attacked, globalThis.violations]);
    assert.equal(attacked, false);
    for (const directive of ["script-src-elem", "script-src-attr", "style-src-elem", "img-src", "base-uri", "form-action"]) {
      assert.ok(violations.includes(directive), `${directive}: ${violations}`);
    }
    assert.deepEqual([...attack.outside], []);
    await attack.context.close();
    say(`${name}: ${violations.length} attacks were stopped`);
  }
  await saves(shapes);
  console.log("OK");
} finally {
  await browser.close();
}
