// The picture of HTML reports in a headless browser of 1400 × 900: what it looks like when it opens, and its times.
//
//   node picture.mjs FOLDER REPORT…
//
// Screenshots go to FOLDER. The times are compared with their bars if RELAY_FIGURES is set.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { FIGURES, PATIENCE, launchBrowser, pageInside, say } from "./workbench.mjs";

const [folder, ...reports] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const SIZE = { width: 1400, height: 900 };
/** The smallest letters, and what a picture may take at their scale, in windows. */
const LEGIBLE = { letters: 11, windows: 2 };
/** Limits in milliseconds: of a page from its data to the picture, and of a panel that has the data. */
const BARS = { page: 200, first: 200, expand: 50, frame: 33 };

const browser = await launchBrowser();
const figures = [];
try {
  for (const report of reports) {
    for (const theme of ["light", "dark", "contrast"]) {
      const name = `${path.basename(report, ".html")}-${theme}`;
      const colours = theme === "contrast" ? { colorScheme: "dark", forcedColors: "active" } : { colorScheme: theme };
      const { page, context, outside } = await pageInside(browser, { viewport: SIZE, acceptDownloads: true, ...colours });
      page.setDefaultTimeout(PATIENCE);
      const problems = [];
      page.on("pageerror", (error) => problems.push(String(error)));
      page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
      await page.addInitScript(() => {
        const { parse } = JSON;
        JSON.parse = (text) => {
          globalThis.began ??= performance.now();
          return parse(text);
        };
        const { fillText } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.fillText = function (...given) {
          // The timer follows the frame with the first letters of a picture.
          globalThis.shows ??= setTimeout(() => (globalThis.seen = performance.now()));
          fillText.apply(this, given);
        };
      });
      await page.goto(pathToFileURL(report).href);
      await page.waitForFunction(() => globalThis.seen !== undefined);
      const whole = await page.evaluate(() => globalThis.seen - globalThis.began);
      await page.waitForFunction(() => graphs.some(({ graph }) => graph.scene.items.length > 0));
      const opened = await page.evaluate(async ({ width, height }) => {
        const drawn = graphs.map(({ graph }) => graph);
        const most = (a, b) => (a.scene.items.length >= b.scene.items.length ? a : b);
        globalThis.shown = drawn.find(({ name }) => name === "@main") ?? drawn.reduce(most);
        // A section that is not in sight is not laid out.
        document.body.append(shown.canvas.parentElement);
        Object.assign(shown.canvas.parentElement.style, { position: "fixed", inset: "0", zIndex: 9, width: `${width}px`, height: `${height}px`, background: "Canvas" });
        const one = report.find((one) => one.name === shown.name);
        const start = performance.now();
        // From the answer to the first picture, as the panel has it.
        const { levels, canvas } = shown;
        levels.known.clear();
        shown.name = undefined;
        await shown.show(one.name, one, report);
        shown.draw();
        const first = performance.now() - start;
        return { first, view: shown.view, size: shown.size(), bounds: shown.scene.bounds, boxes: shown.scene.items.length, canvas: canvas.width };
      }, SIZE);
      const { scale } = opened.view;
      const [across, down] = [(opened.bounds.right - opened.bounds.left) * scale, (opened.bounds.bottom - opened.bounds.top) * scale];
      assert.ok(12 * scale >= LEGIBLE.letters, `${name}: letters of ${12 * scale} pixels`);
      assert.ok(across <= LEGIBLE.windows * SIZE.width && down <= LEGIBLE.windows * SIZE.height, `${name}: ${across} × ${down} pixels`);
      await page.screenshot({ path: path.join(folder, `picture-${name}.png`) });

      // All of it fits.
      const cut = await page.evaluate(() => {
        shown.fit();
        const { scene } = shown;
        const sight = shown.sight();
        return scene.nodes.filter(({ x, left, right, y, height }) => x - left < sight.left || x + right > sight.right || y < sight.top || y + height > sight.bottom).length;
      });
      assert.equal(cut, 0, `${name}: boxes are cut off`);

      // A group opens in place: its header and the main line stay where they are.
      const expanded = await page.evaluate(async () => {
        shown.reset();
        const at = shown.scene.items.findIndex(({ kind }) => kind === "group");
        if (at < 0) {
          return undefined;
        }
        const { key } = shown.scene.items[at];
        const screen = (index) => ({ x: shown.scene.nodes[index].x * shown.view.scale + shown.view.x, y: shown.scene.nodes[index].y * shown.view.scale + shown.view.y });
        const before = screen(at);
        const start = performance.now();
        await shown.toggle(at);
        const time = performance.now() - start;
        const after = screen(shown.scene.items.findIndex((item) => item.key === key));
        await new Promise((resolve) => setTimeout(resolve, 300));
        return { time, moved: Math.hypot(after.x - before.x, after.y - before.y), boxes: shown.scene.items.length };
      });
      if (expanded !== undefined) {
        assert.ok(expanded.moved < 1, `${name}: the group has moved by ${expanded.moved} pixels`);
        assert.ok(expanded.boxes > opened.boxes, `${name}: nothing has opened`);
        await page.screenshot({ path: path.join(folder, `picture-${name}-open.png`) });
      }

      // The time that a frame takes to draw while everything is in sight.
      const frame = await page.evaluate(() => {
        shown.fit();
        let longest = 0;
        for (let step = 0; step < 60; step++) {
          shown.pan(step % 2 === 0 ? 3 : -3, 2);
          const start = performance.now();
          shown.draw();
          longest = Math.max(longest, performance.now() - start);
        }
        return longest;
      });
      // Borders and letters stand out: of a theme of high contrast they have the colour of the text.
      const contrast = await page.evaluate(() => {
        const parts = (colour) => (colour.match(/[0-9a-f]{2}/g) ?? []).map((part) => Number.parseInt(part, 16));
        const { text, border, background } = shown.theme;
        const apart = (a, b) => Math.max(...parts(a).map((part, at) => Math.abs(part - parts(b)[at])));
        return { text: apart(text, background), border: apart(border, background) };
      });
      assert.ok(contrast.text > 150 && contrast.border > (theme === "contrast" ? 150 : 60), `${name}: ${JSON.stringify(contrast)}`);

      // A pinned group is open again when the group around it was closed, or the function was shown again.
      const pinned = await page.evaluate(async () => {
        const at = shown.scene.items.findIndex(({ isOpen }) => isOpen);
        if (at < 0) {
          return undefined;
        }
        const { name } = shown.scene.items[at];
        shown.pin(at);
        const one = report.find((one) => one.name === shown.name);
        await shown.show("another", one, report);
        const other = shown.scene.items.some((item) => item.name === name && item.isOpen);
        await shown.show(one.name, one, report);
        const found = shown.scene.items.findIndex((item) => item.name === name && item.isOpen);
        return { other, isOpen: found >= 0, isMarked: shown.pins.shown.has(found), listed: shown.list.children[found]?.textContent };
      });
      if (pinned !== undefined) {
        assert.deepEqual({ ...pinned, listed: pinned.listed?.endsWith(", pinned") }, { other: false, isOpen: true, isMarked: true, listed: true }, name);
      }

      // The list for screen readers has what is drawn.
      const listed = await page.evaluate(() => [shown.list.children.length, shown.scene.items.length]);
      assert.equal(listed[0], Math.min(300, listed[1]));

      // The buttons of the page: the whole and what is visible are saved, and the page says which.
      await page.evaluate(() => shown.canvas.parentElement.removeAttribute("style"));
      const tools = page.locator(".tools").first();
      for (const [part, button, kind] of [["Whole", "SVG", "svg"], ["Visible", "PNG", "png"]]) {
        await tools.getByLabel("What is saved").selectOption(part);
        const saved = page.waitForEvent("download");
        await tools.getByRole("button", { name: button }).click();
        const download = await saved;
        assert.match(download.suggestedFilename(), new RegExp(`\\.${kind}$`));
        const text = readFileSync(await download.path(), "latin1");
        assert.ok(kind === "svg" ? text.startsWith("<svg") : text.slice(1, 4) === "PNG", `${name}: ${text.slice(0, 20)}`);
        assert.match(await tools.getByRole("status").innerText(), new RegExp(part, "i"));
      }

      // Memory over time: a key goes to the peak, which the table of calls marks, and a click selects a result.
      const memory = page.locator("details", { has: page.getByText("Memory", { exact: true }) }).first();
      await memory.locator("summary").click();
      const canvas = memory.locator("canvas");
      await page.waitForFunction(() => charts.length > 0);
      await canvas.press("p");
      const time = await page.evaluate(() => {
        const [chart] = charts;
        const { total, rows } = chart.one;
        return { selected: chart.selected, peak: total.peakRow, most: chart.live[total.peakRow] === chart.most, listed: chart.list.children.length, live: total.peakRows.length, rows: rows.length };
      });
      assert.equal(time.selected, time.peak, name);
      assert.ok(time.most && time.live > 0 && time.listed === Math.min(300, time.live), JSON.stringify(time));
      await canvas.screenshot({ path: path.join(folder, `memory-${name}.png`) });
      const bar = await page.evaluate(() => {
        const [chart] = charts;
        chart.fit();
        const at = chart.one.total.peakRows[0];
        const { left, top, width, height } = chart.bar(at);
        return { at, x: left + width / 2, y: top + height / 2 };
      });
      await canvas.click({ position: { x: bar.x, y: bar.y } });
      assert.equal(await page.evaluate(() => charts[0].selected), bar.at, `${name}: a click on a bar`);
      assert.deepEqual(problems, []);
      assert.deepEqual([...outside], []);
      const times = { page: whole, first: opened.first, expand: expanded?.time ?? 0, frame };
      say(name, `${opened.boxes} boxes, ${Math.round(across)} × ${Math.round(down)} at ${scale.toFixed(2)};`, ...Object.entries(times).map(([what, time]) => `${what} ${time.toFixed(1)} ms`));
      figures.push(...Object.entries(times).filter(([what, time]) => time > BARS[what]).map(([what, time]) => `${name}: ${what} ${time.toFixed(1)} ms`));
      await context.close();
    }
  }
  assert.ok(!FIGURES || figures.length === 0, figures.join("\n"));
  console.log("OK");
} finally {
  await browser.close();
}
