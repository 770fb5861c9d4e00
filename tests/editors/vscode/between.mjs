// Comparing modules as a user sees it: the passes of a log, two of its modules side by side, the changes
// one after another, the history of an expression, and a file against its last commit while it is edited.
//
//   node between.mjs EXTENSION.vsix FOLDER
//
// RELAY_TEST_LOG: a log of a real network, if there is one; screenshots of it go to FOLDER, too.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { FIRST, LOG } from "./log.mjs";
import { PATIENCE, command, eventually, find, say, until, withWorkbench } from "./workbench.mjs";

const [extension, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const made = mkdtempSync(path.join(tmpdir(), "relay-between-"));
const log = path.join(made, "run.log");
writeFileSync(log, LOG);
const files = [log];
const real = process.env.RELAY_TEST_LOG;
if (real) {
  copyFileSync(real, path.join(made, "network.log"));
  files.push(path.join(made, "network.log"));
}

await withWorkbench({ files, extension }, async ({ page, workspace, remote, open, change }) => {
  const shot = (name) => page.screenshot({ path: path.join(folder, `${name}.png`) });
  const row = (text) => page.locator(".tree-explorer-viewlet-tree-view .monaco-list-row, .pane-body .monaco-list-row").filter({ hasText: text }).first();
  const status = (text) => page.locator(".statusbar-item", { hasText: text }).first();
  const tab = (text) => page.locator(".tab", { hasText: text }).first();
  /** The editor in a column. */
  const column = (at) => page.locator(".editor-group-container").nth(at);
  const line = (at, text) => column(at).locator(".view-line", { hasText: text }).first();
  const pick = async (text) => {
    const item = page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first();
    await item.waitFor({ timeout: PATIENCE });
    await item.click();
  };
  /** The background decorations of the text, by colour. */
  const coloured = (at) => column(at).locator(".view-overlays .cdr[class*='ced-']").count();

  try {
    // The file adds the view, which lists its passes and dims those without changes.
    await open([["openFile", remote(path.join(workspace, "run.log"))]]);
    await page.waitForSelector(".monaco-editor .view-line", { timeout: PATIENCE });
    await page.locator(".activitybar .action-label[aria-label^='Relay Passes']").first().waitFor({ timeout: PATIENCE });
    await command(page, "Relay: Show Passes");
    await row("FuseOps").waitFor({ timeout: PATIENCE });
    assert.match(await row("FoldConstant").innerText(), /1 FoldConstant\s*no change · line 12/);
    assert.match(await row("SimplifyExpr").innerText(), /2 SimplifyExpr\s*@main · line 22/);
    const colour = (text) => row(text).locator(".monaco-icon-label").first().evaluate((label) => getComputedStyle(label.querySelector(".label-name") ?? label).color);
    await eventually(page, async () => [await colour("FoldConstant"), await colour("SimplifyExpr")], ([dim, bright]) => dim !== bright);
    await shot("passes");
    say("passes");

    // The passes inside a pass are below it, once it is expanded.
    const inside = row("ToANormalForm");
    assert.equal(await inside.count(), 0);
    await until(inside, () => row("FuseOps").locator(".monaco-tl-twistie.collapsible").click({ timeout: 5_000 }));
    const levels = await Promise.all([row("FuseOps"), inside].map((found) => found.getAttribute("aria-level")));
    assert.deepEqual(levels, ["1", "2"]);
    await shot("passes-inside");
    await until(inside, () => row("FuseOps").locator(".monaco-tl-twistie.collapsible").click({ timeout: 5_000 }), "detached");
    say("passes inside");

    // The difference in cost of each pass, on request.
    await command(page, "Relay: Costs of Passes");
    await row("calls 5 → 6").waitFor({ timeout: PATIENCE });
    assert.match(await row("SimplifyExpr").innerText(), /@main · calls 5 → 6.* · line 22/);
    assert.match(await row("FoldConstant").innerText(), /no change · line 12/);
    await shot("pass-costs");
    await command(page, "Relay: Hide Costs of Passes");
    await eventually(page, () => row("SimplifyExpr").innerText(), (text) => !text.includes("calls"));
    say("costs of passes");

    // A module is a separate document.
    await row("SimplifyExpr").click();
    await tab("2 SimplifyExpr.relay").waitFor({ timeout: PATIENCE });
    await line(0, "nn.softmax").waitFor({ timeout: PATIENCE });

    // Next to the previous one.
    await row("SimplifyExpr").hover();
    await row("SimplifyExpr").locator(".action-label[aria-label*='Compare with Previous']").click();
    await status("1 expression changed").waitFor({ timeout: PATIENCE });
    await line(1, "axis=").waitFor({ timeout: PATIENCE });
    await eventually(page, () => coloured(1), (count) => count >= 2);
    const note = (at, text) =>
      line(at, text).evaluate((element) => [...element.querySelectorAll("span")].map((span) => getComputedStyle(span, "::before").content).filter((content) => content !== "none").join(" "));
    await eventually(page, () => note(1, "axis=0"), (text) => text.includes("axis 1 → 0"));
    await shot("compare");
    say("compared");

    // The cursor on one side reveals the counterpart on the other.
    await line(1, "tanh").click();
    await eventually(page, () => column(0).locator(".view-overlays .cdr[class*='ced-']").count(), (count) => count >= 2);
    // The first change, and the next, by the keyboard.
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Alt+F5");
    await status("Ln 5,").waitFor({ timeout: PATIENCE });
    await page.keyboard.press("Alt+F5");
    await status("Ln 7,").waitFor({ timeout: PATIENCE });
    await page.keyboard.press("Shift+Alt+F5");
    await status("Ln 5,").waitFor({ timeout: PATIENCE });
    await status("1 expression changed").click();
    await line(1, "changed: `nn.softmax`: attribute `axis` 1 → 0").waitFor({ timeout: PATIENCE });
    await shot("compare-report");
    await tab("Comparison.txt").click({ button: "middle" });
    await tab("Comparison.txt").waitFor({ state: "detached", timeout: PATIENCE });

    // Both sides are run: the error of each call is beside it on both sides, and its values are in a hover.
    await command(page, "Relay: Run Both Sides");
    await status("first divergence: `nn.softmax` in line 5").waitFor({ timeout: PATIENCE });
    for (const at of [0, 1]) {
      await eventually(page, () => note(at, "nn.softmax"), (text) => text.includes("diverges by"));
      await eventually(page, () => note(at, "add("), (text) => text.includes("inherits"));
    }
    const divergence = () => status("Ln 5,");
    await divergence().waitFor({ timeout: PATIENCE });
    await line(1, "tanh").click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Alt+F6");
    await divergence().waitFor({ timeout: PATIENCE });
    const values = page.locator(".monaco-hover", { hasText: "has an error of its own" }).first();
    await until(values, () => line(1, "nn.softmax").locator("span", { hasText: "softmax" }).last().hover({ timeout: 5_000 }));
    const text = await values.innerText();
    assert.match(text, /before: \(2, 8\) min[^]*after: \(2, 8\) min/);
    await shot("compare-values");
    // Its link shows both values beside each other.
    const heads = async () => {
      const found = await Promise.all(page.frames().map((frame) => frame.locator("#pictures h2").allInnerTexts().catch(() => [])));
      return found.flat();
    };
    await values.locator("a", { hasText: "View Tensors" }).first().click();
    const [first, second, difference] = await eventually(page, heads, (found) => found.length === 3);
    assert.equal(difference, `${first} − ${second}`.replaceAll("[:, :]", ""));
    await shot("compare-tensors");
    await tab("nn.softmax").click({ button: "middle" });
    await eventually(page, heads, (found) => found.length === 0);
    say("values");

    // The error of each module, beside its pass.
    await command(page, "Relay: Errors of Passes");
    await row("max error").waitFor({ timeout: PATIENCE });
    assert.match(await row("FoldConstant").innerText(), /max error 0 · line 12/);
    assert.match(await row("SimplifyExpr").innerText(), /max error \d\.\d+e-?\d+ · line 22/);
    await shot("pass-errors");
    await command(page, "Relay: Hide Errors of Passes");
    await eventually(page, () => row("SimplifyExpr").innerText(), (text) => !text.includes("max error"));
    say("errors of passes");

    // Calls in the functions that they were fused into.
    await until(status("fused function"), async () => {
      await row("FuseOps").click({ button: "right", timeout: 5_000 });
      const item = page.locator(".context-view .action-item", { hasText: /^Compare with Previous$/ }).first();
      await item.hover({ timeout: 5_000 });
      await page.keyboard.press("Enter");
    });
    await eventually(page, () => coloured(1), (count) => count >= 3);
    await shot("compare-fused");
    say("fused");

    // The pass that made a change.
    await until(page.locator(".quick-input-list .monaco-list-row", { hasText: "SimplifyExpr" }).first(), async () => {
      await line(1, "exp(%1)").click({ timeout: 5_000 });
      // The editor may be scrolled, so that a click is beside the text: to the end of `exp`.
      await page.keyboard.press("End");
      for (const _ of "(%1);") {
        await page.keyboard.press("ArrowLeft");
      }
      await command(page, "Relay: History of Expression");
    });
    await shot("history");
    await pick("SimplifyExpr");
    await eventually(page, () => page.locator(".tab.active", { hasText: "2 SimplifyExpr.relay" }).count(), (count) => count > 0);
    say("history");

    // A file against the last commit, while it is edited.
    const git = (...given) => execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...given], { cwd: workspace, stdio: "pipe" });
    writeFileSync(path.join(workspace, "net.relay"), FIRST);
    git("init", "-q");
    git("add", "net.relay");
    git("commit", "-qm", "net");
    change({ "git.enabled": true, "git.openRepositoryInParentFolders": "always" });
    await open([["openFile", remote(path.join(workspace, "net.relay"))]]);
    await line(0, "nn.softmax").waitFor({ timeout: PATIENCE });
    const head = page.locator(".quick-input-list .monaco-list-row", { hasText: "Git HEAD" }).first();
    await until(head, async () => {
      await command(page, "Relay: Compare with…");
    });
    await shot("compare-choose");
    await head.click();
    await page.locator(".notification-toast", { hasText: "are equal in structure" }).first().waitFor({ timeout: PATIENCE });
    await line(1, "tanh").waitFor({ timeout: PATIENCE });
    // The comparison follows edits.
    await line(1, "nn.softmax").click();
    await find(page, "axis=1", "1 of 1");
    // The first Escape closed the message.
    await page.locator(".find-widget.visible").first().waitFor({ state: "detached", timeout: 1_000 }).catch(() => page.keyboard.press("Escape"));
    await page.keyboard.type("axis=0");
    await eventually(page, () => note(1, "axis=0"), (text) => text.includes("axis 1 → 0"));
    await status("1 expression changed").waitFor({ timeout: PATIENCE });
    await shot("compare-head");
    say("head");

    // Another line puts partners out of level; copies with an empty line bring them back.
    await line(1, "tanh").click();
    await page.keyboard.press("Home");
    await page.keyboard.type("// one");
    await page.keyboard.press("Enter");
    const heights = async () => (await Promise.all([0, 1].map((at) => line(at, "tanh").boundingBox()))).map((box) => box?.y);
    // Until the comparison has followed.
    await page.waitForTimeout(2_000);
    await until(tab("net.relay (aligned)"), () => command(page, "Relay: Align the Comparison"));
    await eventually(page, heights, ([before, after]) => before !== undefined && Math.abs(before - after) < 2);
    assert.equal(await line(0, "// one").count(), 0);
    await shot("compare-aligned");
    say("aligned");

    if (real) {
      await open([["openFile", remote(path.join(workspace, "network.log"))]]);
      await page.waitForSelector(".monaco-editor .view-line", { timeout: PATIENCE });
      await command(page, "Relay: Show Passes");
      for (const pass of ["ToMixedPrecision", "FuseOps"]) {
        await until(row(pass), async () => {
          await page.locator(".pane-body .monaco-list-row", { hasText: "line" }).last().hover({ timeout: 5_000 });
          await page.mouse.wheel(0, 60);
          await row(pass).hover({ timeout: 500 });
        });
        await row(pass).locator(".action-label[aria-label*='Compare with Previous']").click();
        await tab(pass).waitFor({ timeout: PATIENCE });
        await eventually(page, () => coloured(1), (count) => count >= 3);
        await page.waitForTimeout(500);
        await shot(`compare-${pass}`);
        say(pass);
      }
    }
    say("OK");
  } catch (error) {
    await shot("failed-between");
    throw error;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
});
