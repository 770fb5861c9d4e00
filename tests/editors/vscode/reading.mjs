// The reading view as a user sees it: the column of shapes, and the summary of a folded chain.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";

import { PATIENCE, command, eventually, openFile, until } from "./workbench.mjs";

const TYPE = "Tensor[(1, 128, 768), float32]";
const STEPS = ["nn.relu", "nn.dropout", "nn.softmax", "tanh", "sigmoid"];

/** A printed module: a chain of calls that is used twice at its end. */
function printed() {
  const ty = `/* ty=${TYPE} span=model.py:1:2 */`;
  const scaled = `multiply(%x ${ty}, %scale /* ty=float32 */) ${ty}`;
  const chain = STEPS.map((step, at) => {
    const call = step === "nn.dropout" ? `nn.dropout(%${at})` : `${step}(%${at})`;
    return step === "nn.dropout" ? `  %${at + 1} = ${call}.0 ${ty};` : `  %${at + 1} = ${call} ${ty};`;
  });
  const last = STEPS.length;
  const lines = [
    '#[version = "0.0.5"]',
    `def @main(%x: ${TYPE}, %scale: float32) -> ${TYPE} {`,
    `  %0 = ${scaled};`,
    ...chain,
    `  add(%${last}, %${last}) ${ty}`,
    "}",
    "",
  ];
  return lines.join("\n");
}

/** Opens another file next to the open one, and closes it at the end. */
export async function readingView({ page, workspace, shot, say }) {
  writeFileSync(path.join(workspace, "printed.relay"), printed());
  await openFile(page, "printed.relay");
  const line = (text) => page.locator(".editor-instance .view-line", { hasText: text }).first();
  await line("%scale").waitFor({ timeout: PATIENCE });
  await page.locator(".statusbar-item", { hasText: "OK" }).first().waitFor({ timeout: PATIENCE });
  await command(page, "Relay: Toggle Reading View");

  const after = (text) =>
    line(text).evaluate((element) => {
      const contents = [...element.querySelectorAll("span")].map((span) => getComputedStyle(span, "::after").content);
      return contents.filter((content) => content !== "none").join(" ").replace(/["\u00a0]/g, " ");
    });
  // The chain is folded: its first line summarizes it, next to its shape.
  const shown = await eventually(page, () => after("%0 ="), (text) => text.includes("…") && text.includes("f32"));
  assert.match(shown, /… relu → dropout ⋯ 2 more/);
  // The value that goes on, by name, and the shape of the line.
  assert.match(shown, /⇒ %4: 1×128×768 f32/);
  await line("%3 =").waitFor({ state: "detached", timeout: PATIENCE });
  assert.doesNotMatch(await line("add(").innerText(), /ty=/);
  // All shapes are aligned at the right.
  const edges = await page.locator(".editor-instance .view-lines").evaluate((lines) =>
    [...lines.querySelectorAll(".view-line span")]
      .filter((span) => {
        const { content } = getComputedStyle(span, "::after");
        return content.includes("f32") && !content.includes("⇒");
      })
      .map((span) => getComputedStyle(span, "::after").left),
  );
  assert.ok(edges.length >= 2 && new Set(edges).size === 1, JSON.stringify(edges));
  await shot("reading");

  // The key of *Fold All* folds a level, here the function; at the next time, everything is visible.
  const fold = async () => {
    await line("def @main").click();
    await page.keyboard.press("Control+K");
    await page.keyboard.press("Control+0");
  };
  await until(line("add("), fold, "detached");
  await line("def @main").waitFor({ timeout: PATIENCE });
  await until(line("%3 ="), fold);
  await command(page, "Relay: Toggle Reading View");
  await line("%3 =").waitFor({ timeout: PATIENCE });
  await eventually(page, () => after("%0 ="), (text) => !text.includes("f32"));
  say("reading view");
  await page.locator(".tab.active", { hasText: "printed.relay" }).click({ button: "middle" });
  await page.locator(".tab", { hasText: "printed.relay" }).waitFor({ state: "detached", timeout: PATIENCE });
}
