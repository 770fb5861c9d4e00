// Takes the screenshots of the documentation and the frames of the recording in the editor.
//
//   node pictures.mjs EXTENSION.vsix FOLDER
//
// RELAY_TEST_FILE: tests/examples/broken-attention.relay
// FOLDER/NAME.png are the pictures; FOLDER/frames has those of the recording, and `frames.json` the duration
// of each, in milliseconds. `.ci/pictures` converts them for the documentation.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { LOG } from "./log.mjs";
import { panelOf } from "./shapes.mjs";
import { PATIENCE, command, find, goTo, hovered, required, say, until, withWorkbench } from "./workbench.mjs";

const [extension, folder] = process.argv.slice(2);
const file = required("RELAY_TEST_FILE");
const network = path.join(path.dirname(file), "resnet-block.relay");
const manual = path.join(path.dirname(file), "manual.rly");
const frames = path.join(folder, "frames");
rmSync(frames, { recursive: true, force: true });
mkdirSync(frames, { recursive: true });

/** Opens a file with only the text visible. */
const SETTINGS = {
  "breadcrumbs.enabled": false,
  "editor.fontSize": 13,
  "editor.stickyScroll.enabled": false,
  "editor.hover.above": false,
  "editor.cursorBlinking": "solid",
  "editor.lightbulb.enabled": "off",
  "editor.parameterHints.enabled": false,
  "workbench.activityBar.location": "hidden",
  "workbench.colorTheme": "Default Light Modern",
  "workbench.sideBar.location": "left",
  "window.commandCenter": false,
  "workbench.layoutControl.enabled": false,
};

/** The parts of the VS Code window that appear in pictures. */
function tools(page) {
  const line = (text) => page.locator(".monaco-editor .view-line", { hasText: text }).first();
  return {
    line,
    word: (inLine, text) => line(inLine).locator("span > span", { hasText: text }).first(),
    status: (text) => page.locator(".statusbar-item", { hasText: text }).first(),
    squiggle: page.locator(".monaco-editor .squiggly-error").first(),
    /** Waits until nothing moves, with the mouse out of the way. */
    async rest() {
      await page.mouse.move(640, 3);
      await page.waitForTimeout(700);
    },
  };
}

async function opened({ page, workspace, remote, open, change }, file, settings) {
  change({ ...SETTINGS, ...settings });
  await open([["openFile", remote(path.join(workspace, path.basename(file)))]]);
  await page.waitForSelector(".monaco-editor .view-line", { timeout: PATIENCE });
  await command(page, "View: Close Primary Side Bar").catch(() => {});
  const seen = tools(page);
  await page.locator(".codelens-decoration a", { hasText: "Run" }).first().waitFor({ timeout: PATIENCE });
  return seen;
}

const shots = (page) => async (name) => {
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
  say(name);
};

/** The message at the call, with its two related places. */
async function errorShown(page, { word }) {
  const box = page.locator(".monaco-hover:visible .monaco-hover-content").filter({ hasText: "expects 128" }).first();
  await hovered(page, word("let %scores", "%keys"), box);
  // A test compares them with the messages of the program.
  writeFileSync(path.join(folder, "errors.txt"), `${(await box.innerText()).trim()}\n`);
}

/** Fixes the axes of `%keys`. `typed` is called after each letter. */
async function mend(page, { line, squiggle }, typed = () => {}) {
  await page.keyboard.press("Escape");
  await line("let %keys").click();
  await page.keyboard.press("Home");
  await find(page, "[1, 2, 0]", "of 2");
  await typed();
  await page.keyboard.press("Delete");
  await typed();
  for (const letter of "[1, 0, 2]") {
    await page.keyboard.type(letter);
    await typed();
  }
  await page.keyboard.press("Escape");
  await squiggle.waitFor({ state: "detached", timeout: PATIENCE });
}

async function ran(page, { status }) {
  const lens = page.locator(".codelens-decoration a", { hasText: "▶ Run" }).first();
  const results = page.frameLocator("iframe.webview").frameLocator("iframe");
  await until(results.locator("header b", { hasText: "@attention" }), () => lens.click({ timeout: 5_000 }));
  await status("@attention: Tensor[(12, 128, 64), float32] in ").waitFor({ timeout: PATIENCE });
}

async function shapesShown(page) {
  await command(page, "Relay: Show Shapes");
  const panel = panelOf(page);
  await panel.locator("#table tbody tr[data-at]", { hasText: "nn." }).first().waitFor({ timeout: PATIENCE });
  return panel;
}

/** A module with an error, its message, and the module after the fix. */
async function attention(window) {
  const { page } = window;
  const seen = await opened(window, file);
  const shot = shots(page);
  await errorShown(page, seen);
  await page.waitForTimeout(500);
  await shot("errors");
  await mend(page, seen);
  await ran(page, seen);
  await seen.rest();
  await shot("run");
}

/** The type at the cursor; long lines are truncated. */
async function types(window) {
  const { page } = window;
  const seen = await opened(window, file);
  await goTo(page, 10, 8);
  await command(page, "Relay: Show Type at Cursor");
  const view = page.frameLocator("iframe.webview").frameLocator("iframe");
  await view.locator("tr.axis").nth(2).waitFor({ timeout: PATIENCE });
  await seen.rest();
  await shots(page)("types");
}

/** The graph beside a printed module without its comments. */
async function shapes(window) {
  const { page } = window;
  const seen = await opened(window, network);
  await goTo(page, 7, 3);
  await command(page, "Relay: Toggle Reading View");
  const panel = await shapesShown(page);
  await panel.locator("#show-graph").click();
  await panel.locator("#fit").click();
  await seen.rest();
  await shots(page)("shapes");
}

/** Findings about TVM. */
async function tvm(window) {
  const { page } = window;
  const seen = await opened(window, manual, { "relay.tvm": true });
  await seen.squiggle.waitFor({ timeout: PATIENCE });
  await page.keyboard.press("Control+Shift+M");
  await page.locator(".markers-panel .monaco-list-row", { hasText: "TVM" }).first().waitFor({ timeout: PATIENCE });
  await seen.rest();
  await shots(page)("tvm");
}

/** Two modules of a log side by side. */
async function compare(window) {
  const { page, workspace, remote, open, change } = window;
  change({ ...SETTINGS, "relay.inlayHints.types": false });
  const seen = tools(page);
  await open([["openFile", remote(path.join(workspace, path.basename(log)))]]);
  await page.locator(".activitybar .action-label[aria-label^='Relay Passes']").first().waitFor({ timeout: PATIENCE });
  await command(page, "Relay: Show Passes");
  const row = page.locator(".pane-body .monaco-list-row", { hasText: "SimplifyExpr" }).first();
  await row.hover();
  await row.locator(".action-label[aria-label*='Compare with Previous']").click();
  await seen.status("1 expression changed").waitFor({ timeout: PATIENCE });
  await seen.rest();
  await shots(page)("compare");
}

/** From the message to the graph in a few seconds. */
async function recording(window) {
  const { page } = window;
  const list = [];
  const frame = async (milliseconds) => {
    const name = `${String(list.length).padStart(3, "0")}.png`;
    await page.screenshot({ path: path.join(frames, name) });
    list.push({ name, milliseconds });
  };
  const seen = await opened(window, file);
  await seen.squiggle.waitFor({ timeout: PATIENCE });
  await seen.rest();
  await frame(1_500);
  await errorShown(page, seen);
  await page.waitForTimeout(500);
  await frame(4_000);
  await mend(page, seen, () => frame(130));
  await seen.rest();
  await frame(1_500);
  await ran(page, seen);
  await seen.rest();
  await frame(3_500);
  await page.keyboard.press("Control+J");
  const panel = await shapesShown(page);
  await seen.rest();
  await frame(2_500);
  await panel.locator("#show-graph").click();
  await seen.rest();
  await frame(3_500);
  writeFileSync(path.join(frames, "frames.json"), JSON.stringify(list, null, 1));
  say("recording", list.length);
}

const size = { viewport: { width: 1200, height: 675 }, deviceScaleFactor: 1.5 };
const made = mkdtempSync(path.join(tmpdir(), "relay-pictures-"));
const log = path.join(made, "run.log");
writeFileSync(log, LOG);
try {
  await withWorkbench({ files: [file], extension, size }, attention);
  await withWorkbench({ files: [file], extension, size }, types);
  await withWorkbench({ files: [network], extension, size }, shapes);
  await withWorkbench({ files: [manual], extension, size }, tvm);
  await withWorkbench({ files: [log], extension, size }, compare);
  await withWorkbench({ files: [file], extension, size: { viewport: { width: 1100, height: 620 } } }, recording);
} finally {
  rmSync(made, { recursive: true, force: true });
}
say("OK");
