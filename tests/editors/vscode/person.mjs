// A user's first steps in VS Code: opens a module with a broken shape, reads the message, fixes it.
//
//   node person.mjs EXTENSION.vsix FOLDER
//
// RELAY_TEST_FILE: tests/examples/broken-attention.relay. Screenshots go to FOLDER.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";

import { readingView } from "./reading.mjs";
import { resultsView } from "./results.mjs";
import { shapePanel } from "./shapes.mjs";
import { typePanel } from "./type.mjs";
import { PATIENCE, eventually, find, hovered, required, say, withWorkbench } from "./workbench.mjs";

const [extension, folder] = process.argv.slice(2);
const file = required("RELAY_TEST_FILE");
mkdirSync(folder, { recursive: true });

await withWorkbench({ files: [file], extension }, async ({ page, workspace, remote, open, change }) => {
  const shot = (name) => page.screenshot({ path: path.join(folder, `${name}.png`) });
  const squiggles = page.locator(".monaco-editor .squiggly-error");
  const line = (text) => page.locator(".monaco-editor .view-line", { hasText: text }).first();
  /** The first piece of a line that has exactly this text. */
  const word = (inLine, text) => line(inLine).locator("span > span", { hasText: text }).first();
  const hover = async (target, wanted) => {
    const box = page.locator(".monaco-hover:visible .monaco-hover-content").filter({ hasText: wanted }).first();
    await hovered(page, target, box);
    return (await box.innerText()).replace(/\u00a0/g, " ");
  };
  const status = (text) => page.locator(".statusbar-item", { hasText: text }).first();

  try {
    await open([["openFile", remote(path.join(workspace, path.basename(file)))]]);
    await page.waitForSelector(".monaco-editor .view-line", { timeout: PATIENCE });
    say("editor");

    await squiggles.first().waitFor({ timeout: PATIENCE });
    assert.equal(await squiggles.count(), 1, "one cause, one squiggle");
    say("squiggle");
    await status("Relay").waitFor({ timeout: PATIENCE });
    await shot("squiggle");

    // The squiggle is under `%keys` in the line of the product, and under nothing else.
    // Lenses and hints still move it when they arrive.
    const places = () => Promise.all([squiggles.first().boundingBox(), word("let %scores", "%keys").boundingBox()]);
    await eventually(page, places, ([under, keys]) => under && keys && Math.abs(under.x - keys.x) < 3 && Math.abs(under.width - keys.width) < 3);

    const problem = await hover(word("let %scores", "%keys"), "%keys: Tensor[(12, 64, 128), float32]");
    say("hover", JSON.stringify(problem));
    assert.match(problem, /`?nn\.batch_matmul`?: `?tensor_a`? has 64 features, but `?tensor_b`? expects 128/);
    assert.match(problem, /shape-mismatch/);
    assert.equal(problem.split("expects 128").length, 2, "the message is there once");
    await shot("hover");

    // Names, operators and comments have different colours.
    const colour = (target) => target.evaluate((element) => getComputedStyle(element).color);
    const colours = () =>
      Promise.all([
        colour(word("let %scores", "%keys")),
        colour(word("let %scores", "nn.batch_matmul")),
        colour(word("def @attention", "Tensor")),
        colour(word("def @attention", "768")),
        colour(line("// Attention").locator("span > span").first()),
      ]);
    await eventually(page, colours, (colours) => new Set(colours).size === 5);

    // Fixes the axes of %keys with the keyboard.
    await page.keyboard.press("Escape");
    await line("let %keys").click();
    await page.keyboard.press("Home");
    await find(page, "[1, 2, 0]", "of 2");
    await page.keyboard.press("Delete");
    // The bracket closes automatically, and typing it moves past it.
    await page.keyboard.type("[1, 0, 2]");
    await page.waitForFunction(() => !document.querySelector(".squiggly-error"), null, { timeout: PATIENCE });
    say("mended");
    // The signature help is above the text, and the line is longer than the window.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Home");
    const mended = await hover(word("let %scores", "%keys"), "%keys: Tensor[(12, 128, 64), float32]");
    assert.doesNotMatch(mended, /shape-mismatch/);
    await shot("mended");
    await page.keyboard.press("Escape");
    await shapePanel({ page, workspace, shot, say });
    await typePanel({ page, shot, say });

    await page.keyboard.press("Escape");
    await resultsView({ page, shot, say, line, status });
    await readingView({ page, workspace, shot, say });

    // Undo brings the squiggle back.
    await page.keyboard.press("Escape");
    await line("let %weights").click();
    for (let i = 0; i < 12 && !(await line("let %keys").innerText()).includes("2,\u00a00"); i++) {
      await page.keyboard.press("Control+Z");
      await page.waitForTimeout(50);
    }
    await squiggles.first().waitFor({ timeout: PATIENCE });
    assert.equal(await squiggles.count(), 1);

    // The problem in the panel.
    await page.keyboard.press("Control+Shift+M");
    await page.locator(".markers-panel .monaco-list-row", { hasText: "nn.batch_matmul" }).first().waitFor({ timeout: PATIENCE });
    await shot("problems");

    // The server crashes and restarts: a message reports it and offers actions.
    change({ "relay.server.path": "/nowhere/relay-analyzer" });
    const message = page.locator(".notification-toast, .notifications-center").filter({ hasText: "/nowhere/relay-analyzer" }).first();
    await message.waitFor({ timeout: PATIENCE });
    for (const button of ["How to Install", "Open Settings", "Retry"]) {
      assert.equal(await message.getByRole("button", { name: button }).count(), 1, button);
    }
    await squiggles.first().waitFor({ state: "detached", timeout: PATIENCE });
    await page.waitForTimeout(500);
    assert.equal(await page.locator(".notification-toast").count(), 1, "one message");
    await shot("missing");
    say("missing", JSON.stringify(await message.locator(".notification-list-item-message").innerText()));
    change({});
    await squiggles.first().waitFor({ timeout: PATIENCE });
    say("OK");
  } catch (error) {
    await shot("failed");
    throw error;
  }
});
