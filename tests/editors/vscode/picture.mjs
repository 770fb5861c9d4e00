// The picture of HTML reports in a headless browser of 1400 × 900: what it looks like when it opens, and its times.
//
//   node picture.mjs FOLDER REPORT…
//
// Screenshots go to FOLDER. The times are compared with their bars if RELAY_FIGURES is set.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { FIGURES, PATIENCE, launchBrowser, pageInside, say } from "./workbench.mjs";

const [folder, ...reports] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const SIZE = { width: 1400, height: 900 };
/** The smallest letters, and what a picture may take at their scale, in windows. */
const LEGIBLE = { letters: 11, windows: 2 };
/** Limits in milliseconds. */
const BARS = { first: 200, expand: 50, frame: 33 };

const browser = await launchBrowser();
const figures = [];
try {
  for (const report of reports) {
    for (const colorScheme of ["light", "dark"]) {
      const name = `${path.basename(report, ".html")}-${colorScheme}`;
      const { page, context, outside } = await pageInside(browser, { viewport: SIZE, colorScheme });
      page.setDefaultTimeout(PATIENCE);
      const problems = [];
      page.on("pageerror", (error) => problems.push(String(error)));
      page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
      await page.goto(pathToFileURL(report).href);
      await page.waitForFunction(() => graphs.some(({ scene }) => scene.items.length > 0));
      const opened = await page.evaluate(async ({ width, height }) => {
        const most = (a, b) => (a.scene.items.length >= b.scene.items.length ? a : b);
        globalThis.shown = graphs.find(({ name }) => name === "@main") ?? graphs.reduce(most);
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
      // The list for screen readers has what is drawn.
      const listed = await page.evaluate(() => [shown.list.children.length, shown.scene.items.length]);
      assert.equal(listed[0], Math.min(300, listed[1]));
      assert.deepEqual(problems, []);
      assert.deepEqual([...outside], []);
      const times = { first: opened.first, expand: expanded?.time ?? 0, frame };
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
