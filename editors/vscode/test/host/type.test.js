// The view of the type at the cursor, through the API of VS Code.
"use strict";
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { run } = require("./modules.js");
const { until } = require("./until.js");

const MODULE = [
  '#[version = "0.0.5"]',
  "def @main(%x: Tensor[(2, 3, 8, 8), float32], %w: Tensor[(16, 3, 3, 3), float32]) {",
  "  let %y = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]);",
  "  let %t = (%y, %x);",
  "  let %f = fn (%a: Tensor[(2, 3), float32]) { %a };",
  "  nn.relu(%y)",
  "}",
  "",
].join("\n");

const tabs = () =>
  vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => tab.label === "Type at Cursor");

describe("type at the cursor", () => {
  let document;
  let editor;

  const cursor = (line, text) => {
    const character = document.lineAt(line).text.indexOf(text) + 1;
    editor.selection = new vscode.Selection(line, character, line, character);
  };
  const shows = (source) =>
    until(`the type of ${source}`, async () => {
      const shown = await run("relay.typeAtCursor");
      return shown?.source === source && shown;
    });

  before(async () => {
    document = await vscode.workspace.openTextDocument({ language: "relay", content: MODULE });
    editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
  });

  after(async () => {
    await vscode.window.tabGroups.close(tabs());
  });

  it("opens beside the file, and leaves the cursor where it is", async () => {
    cursor(2, "%y");
    const shown = await shows("%y");
    assert.deepEqual(shown.lines, ["Tensor[(2, 16, 8, 8), float32]"]);
    assert.equal(shown.axes, 4);
    assert.equal(tabs().length, 1);
    assert.equal(vscode.window.activeTextEditor.document, document);
  });

  it("follows the cursor, and keeps the last type elsewhere", async () => {
    cursor(3, "%t");
    const tuple = await shows("%t");
    assert.deepEqual(tuple.lines, ["(", "  0: Tensor[(2, 16, 8, 8), float32],", "  1: Tensor[(2, 3, 8, 8), float32],", ")"]);
    assert.equal(tuple.axes, 8);
    cursor(4, "%f");
    const closure = await shows("%f");
    assert.deepEqual(closure.lines, ["fn (", "  %a: Tensor[(2, 3), float32],", ") -> Tensor[(2, 3), float32]"]);
    // An empty line, and a moving cursor: types are only requested where it rests.
    editor.selection = new vscode.Selection(7, 0, 7, 0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal((await run("relay.typeAtCursor")).source, "%f");
    for (let column = 0; column < 30; column++) {
      editor.selection = new vscode.Selection(2, column, 2, column);
    }
    cursor(5, "relu");
    await shows("nn.relu(%y)");
  });

  it("follows the text", async () => {
    cursor(2, "%y");
    await shows("%y");
    const edit = new vscode.WorkspaceEdit();
    const at = document.getText().indexOf("padding=[1, 1, 1, 1], ");
    edit.delete(document.uri, new vscode.Range(document.positionAt(at), document.positionAt(at + 22)));
    assert.ok(await vscode.workspace.applyEdit(edit));
    await until("the new type", async () => (await run("relay.typeAtCursor")).lines[0] === "Tensor[(2, 16, 6, 6), float32]");
    assert.equal(tabs().length, 1);
  });
});
