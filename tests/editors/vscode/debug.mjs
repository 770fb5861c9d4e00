// Debugging as a user does it: a breakpoint and F5 without a launch.json, values, steps into a call, over a binding and
// back, to the cursor, an expression in the console, and views of tensors: of variables, results, weights and labels.
//
//   node debug.mjs EXTENSION.vsix FOLDER
//
// Screenshots go to FOLDER.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { PATIENCE, command, eventually, goTo, say, until, withWorkbench } from "./workbench.mjs";

const [extension, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const made = mkdtempSync(path.join(tmpdir(), "relay-debug-"));
const file = path.join(made, "net.relay");
writeFileSync(
  file,
  `#[version = "0.0.5"]
def @square(%v: Tensor[(2, 3), float32]) {
  %0 = multiply(%v, %v);
  add(%0, 1f)
}

def @main(%x: Tensor[(2, 3), float32]) {
  %1 = nn.relu(%x);
  %2 = @square(%1);
  %3 = subtract(%2, 1f);
  nn.softmax(%3)
}
`,
);

await withWorkbench({ files: [file], extension }, async ({ page, workspace, remote, open }) => {
  const shot = (name) => page.screenshot({ path: path.join(folder, `${name}.png`) });
  const status = (text) => page.locator(".statusbar-item", { hasText: text }).first();
  const variable = (name) => page.locator(".debug-variables .monaco-list-row", { hasText: name }).first();
  const scope = variable("Variables");
  const frames = () => page.locator(".debug-call-stack .monaco-list-row .stack-frame").allInnerTexts();
  /** Waits until the program stands at a line. */
  const stoppedAt = (line) => eventually(page, async () => (await frames())[0] ?? "", (text) => text.includes(`\n${line}:`));

  try {
    await open([["openFile", remote(path.join(workspace, "net.relay"))]]);
    await page.waitForSelector(".monaco-editor .view-line", { timeout: PATIENCE });
    await status("OK").waitFor({ timeout: PATIENCE });
    await page.locator(".codelens-decoration a", { hasText: "Debug" }).first().waitFor({ timeout: PATIENCE });

    // F9 and F5.
    await goTo(page, 9, 3);
    await page.keyboard.press("F9");
    await page.locator(".codicon-debug-breakpoint").first().waitFor({ timeout: PATIENCE });
    await page.keyboard.press("F5");
    await page.locator(".debug-toolbar").waitFor({ timeout: PATIENCE });
    await stoppedAt(9);
    say("stopped", JSON.stringify(await frames()));
    // VS Code opens a scope by itself only if it was open before.
    await until(variable("%1"), () => scope.locator(".monaco-tl-twistie").click({ timeout: 5_000 }));
    assert.match(await variable("%1").innerText(), /Tensor\[\(2, 3\), float32\]|\(2, 3\)/);
    await shot("debug-stopped");

    // The values are beside the text, and the shape panel marks where the program is.
    const lines = async () => (await page.locator(".monaco-editor .view-lines").first().innerText()).replaceAll("\u00a0", " ");
    await eventually(page, lines, (text) => text.includes("%1 = (2, 3) min"));
    await command(page, "Relay: Show Shapes");
    const marked = (text) =>
      page.frameLocator("iframe.webview").frameLocator("iframe").locator("tr.marked", { hasText: text }).waitFor({ timeout: PATIENCE });
    await marked("%2");
    await page.keyboard.press("F10");
    await stoppedAt(10);
    await marked("%3");
    await shot("debug-shapes");
    await page.locator(".debug-toolbar .codicon-debug-step-back").click();
    await stoppedAt(9);
    await marked("%2");
    await page.locator(".tab", { hasText: "Shapes" }).first().click({ button: "middle" });
    await page.locator("iframe.webview").first().waitFor({ state: "detached", timeout: PATIENCE });

    // Into the call, over a binding, and back.
    await page.keyboard.press("F11");
    await stoppedAt(3);
    // VS Code asks for the frames below the first one a moment later.
    await eventually(page, async () => (await frames()).length, (count) => count === 2);
    await page.keyboard.press("F10");
    await stoppedAt(4);
    await variable("%0").waitFor({ timeout: PATIENCE });
    await shot("debug-inside");
    await page.locator(".debug-toolbar .codicon-debug-step-back").click();
    await stoppedAt(3);
    say("stepped back");

    // An expression in the console.
    await page.locator(".repl-input-wrapper .monaco-editor").first().click();
    await page.keyboard.type("max(multiply(%v, %v))");
    await page.keyboard.press("Enter");
    const answer = page.locator(".repl .evaluation-result, .repl .monaco-list-row .value").last();
    await answer.waitFor({ timeout: PATIENCE });
    assert.match(await answer.innerText(), /\d/);
    await shot("debug-console");
    say("evaluated", JSON.stringify(await answer.innerText()));

    // To the cursor, which is no breakpoint of the next run, and back.
    await goTo(page, 4, 3);
    await command(page, "Debug: Run to Cursor");
    await stoppedAt(4);
    await eventually(page, () => page.locator(".debug-breakpoints .monaco-list-row", { hasText: "net.relay" }).count(), (count) => count === 1);
    await page.locator(".debug-toolbar .codicon-debug-step-back").click();
    await stoppedAt(3);
    say("ran to the cursor");

    // The view of a tensor: a slice, another tensor beside it, a wrong slice, and the next stop.
    const item = page.locator(".monaco-menu .action-label", { hasText: "View Tensor" }).first();
    // VS Code drops a click on a menu that has only just opened.
    await until(page.locator("iframe.webview").first(), async () => {
      await page.keyboard.press("Escape");
      await variable("%v").click({ button: "right", timeout: 5_000 });
      await item.hover({ timeout: 5_000 });
      await page.keyboard.press("Enter");
    }, "attached");
    const view = page.frameLocator("iframe.webview").frameLocator("iframe");
    const titles = () => view.locator("#pictures h2").allInnerTexts();
    await eventually(page, titles, (found) => found.join() === "%v[:, :]");
    assert.match(await view.locator("canvas").first().getAttribute("aria-label"), /^Heat map of %v\[:, :\]: 2 rows, 3 columns, min /);
    assert.equal(await view.locator("details td").count(), 6, "the table has all elements");
    await shot("debug-tensor");
    await view.locator("#slice").fill("[1, ::2]");
    await view.locator("#slice").press("Enter");
    await eventually(page, titles, (found) => found.join() === "%v[1, ::2]");
    await view.locator("canvas").first().press("ArrowRight");
    assert.match(await view.locator("#cell").innerText(), /^%v\[1, ::2\]: row 0, column 1: -?[\d.]+/);
    await view.locator("#slice").fill("[7]");
    await view.locator("#slice").press("Enter");
    await view.locator("#problem", { hasText: "axis 0 has 2 elements: there is no index 7" }).waitFor({ timeout: PATIENCE });
    await view.locator("#slice").fill("");
    await view.locator("#slice").press("Enter");
    await eventually(page, titles, (found) => found.join() === "%v[:, :]");
    await view.locator("button", { hasText: "Compare with" }).click();
    await page.locator(".quick-input-widget input:focus").first().waitFor({ timeout: PATIENCE });
    await page.keyboard.type("multiply(%v, %v)");
    await page.keyboard.press("Enter");
    await eventually(page, titles, (found) => found.join() === "%v[:, :],multiply(%v, %v)[:, :],%v − multiply(%v, %v)");
    assert.equal(await view.locator("svg.histogram").count(), 3);
    await shot("debug-tensors");
    say("viewed a tensor");

    // To the end.
    await page.keyboard.press("F5");
    await page.locator(".debug-toolbar").waitFor({ state: "hidden", timeout: PATIENCE });
    await view.locator("#problem", { hasText: "The debugger has ended" }).waitFor({ timeout: PATIENCE });
    await shot("debug-ended");

    // Without the debugger, the view has the values of the last run.
    await page.locator(".tab", { hasText: "%v" }).first().click({ button: "middle" });
    await goTo(page, 8, 4);
    await command(page, "Relay: Run Function");
    await status("OK").waitFor({ timeout: PATIENCE });
    const pictures = async () => {
      const found = await Promise.all(page.frames().map((frame) => frame.locator("#pictures h2").allInnerTexts().catch(() => [])));
      return found.flat();
    };
    await eventually(page, lines, (text) => /%1.*min/.test(text));
    await goTo(page, 8, 4);
    await command(page, "Relay: View Tensor");
    await eventually(page, pictures, (found) => found.join() === "%1[:, :]");
    await shot("debug-run-value");

    // A tensor of the result, from the view of results.
    const shown = page.locator(".tab", { hasText: "%1" }).first();
    await shown.click({ button: "middle" });
    await eventually(page, pictures, (found) => found.length === 0);
    const inside = async (selector) => {
      for (const frame of page.frames()) {
        const found = frame.locator(selector).first();
        if ((await found.count().catch(() => 0)) > 0) {
          return found;
        }
      }
      return undefined;
    };
    const button = await eventually(page, () => inside(".tensor .about button"), (found) => found !== undefined);
    await button.click();
    await eventually(page, pictures, (found) => found.join() === "result[:, :]");
    await shot("debug-result");
    await page.locator(".tab", { hasText: "result" }).first().click({ button: "middle" });
    await eventually(page, pictures, (found) => found.length === 0);

    // The label of a value.
    const label = page.locator(".monaco-editor .view-line", { hasText: "@square(%1)" }).locator("span", { hasText: "min" }).last();
    await until(page.locator(".tab", { hasText: "%2" }).first(), () => label.click({ modifiers: ["Control"], timeout: 5_000 }));
    await eventually(page, pictures, (found) => found.join() === "%2[:, :]");
    say("viewed a result and a label");
    say("OK");
  } catch (error) {
    await shot("failed-debug");
    throw error;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
});
