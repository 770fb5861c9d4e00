// The reading view, through the API of VS Code.
"use strict";
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { until } = require("./until.js");

const MODULE = [
  '#[version = "0.0.5"]',
  "def @main(%x: Tensor[(2, 8), float32] /* ty=Tensor[(2, 8), float32] */, %w: Tensor[(4, 8), float32]) {",
  "  %0 = nn.dense(%x, %w, units=4) /* ty=Tensor[(2, 4), float32] */;",
  "  %1 = nn.relu(%0) /* ty=Tensor[(2, 4), float32] */;",
  "  %2 = nn.softmax(%1) /* ty=Tensor[(2, 4), float32] */;",
  "  add(%2, %2) /* ty=Tensor[(2, 4), float32] */",
  "}",
  "",
].join("\n");

const run = (command, ...given) => vscode.commands.executeCommand(command, ...given);

describe("reading view", () => {
  it("hides, dims and folds, changes nothing, and goes", async () => {
    const document = await vscode.workspace.openTextDocument({ language: "relay", content: MODULE });
    const editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    const { version } = document;
    const chain = async () => {
      const folds = await run("vscode.executeFoldingRangeProvider", document.uri);
      return folds.some((fold) => fold.start === 2 && fold.end === 3);
    };
    await until("a server", async () => (await run("vscode.executeHoverProvider", document.uri, new vscode.Position(2, 3))).length > 0);
    assert.ok(!(await chain()));
    assert.deepEqual(await run("relay.readingView"), { hidden: 5, dimmed: 2, chains: 1 });
    assert.ok(await chain());
    // Lines 3 is folded away: what is visible has a gap.
    await until("a fold", () => editor.visibleRanges.length === 2);
    assert.deepEqual(editor.visibleRanges.map((range) => [range.start.line, range.end.line])[0], [0, 2]);
    assert.equal(document.version, version);
    assert.ok(!document.isDirty || document.isUntitled);
    assert.equal(await run("relay.readingView"), undefined);
    await until("no fold", () => editor.visibleRanges.length === 1);
    assert.ok(!(await chain()));
    assert.equal(document.getText(), MODULE);
  });
});
