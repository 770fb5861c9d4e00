// The reading view, through the API of VS Code.
"use strict";
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { run } = require("./modules.js");
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


describe("reading view", () => {
  it("hides, dims and folds without changing the text, and can be closed", async () => {
    const document = await vscode.workspace.openTextDocument({ language: "relay", content: MODULE });
    const editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    const { version } = document;
    const chain = async () => {
      const folds = await run("vscode.executeFoldingRangeProvider", document.uri);
      return folds.some((fold) => fold.start === 2 && fold.end === 3);
    };
    await until("a server", async () => (await run("vscode.executeHoverProvider", document.uri, new vscode.Position(2, 3))).length > 0);
    assert.ok(!(await chain()));
    assert.deepEqual(await run("relay.readingView"), { hidden: 5, dimmed: 2, chains: 1, shapes: 4 });
    assert.ok(await chain());
    // Line 3 is folded, which leaves a gap in the visible ranges.
    await until("a fold", () => editor.visibleRanges.length === 2);
    assert.deepEqual(editor.visibleRanges.map((range) => [range.start.line, range.end.line])[0], [0, 2]);
    assert.equal(document.version, version);
    assert.ok(!document.isDirty || document.isUntitled);
    assert.equal(await run("relay.readingView"), undefined);
    await until("no fold", () => editor.visibleRanges.length === 1);
    assert.ok(!(await chain()));
    assert.equal(document.getText(), MODULE);
  });

  it("folds a level at a time, and then unfolds", async () => {
    const lines = [
      '#[version = "0.0.5"]',
      "def @main(%x: Tensor[(2, 8), float32]) {",
      "  %0 = nn.relu(%x);",
      "  %1 = tanh(%0);",
      "  %2 = nn.softmax(%1);",
      "  let %f = fn (%y: Tensor[(2, 8), float32]) {",
      "    add(%y,",
      "      %y)",
      "  };",
      "  (%f(%2), %2)",
      "}",
      "def @one() {",
      "  1",
      "}",
      "",
    ];
    const document = await vscode.workspace.openTextDocument({ language: "relay", content: lines.join("\n") });
    const editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    await until("a server", async () => (await run("vscode.executeHoverProvider", document.uri, new vscode.Position(2, 3))).length > 0);
    assert.equal((await run("relay.readingView")).chains, 1);
    const visible = () => editor.visibleRanges.flatMap(({ start, end }) => lines.map((_, at) => at).slice(start.line, end.line + 1));
    const levels = [
      // The chain is one line; the body of the inner function is visible, with its call in one line.
      [1, [0, 1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14]],
      [2, [0, 1, 2, 4, 5, 8, 9, 10, 11, 12, 13, 14]],
      [3, [0, 1, 10, 11, 13, 14]],
      [0, lines.map((_, at) => at)],
    ];
    for (const [level, wanted] of levels) {
      assert.deepEqual(await run("relay.foldLevel"), { level, levels: 3 });
      await until(`level ${level}`, () => visible().join() === wanted.join()).catch(() => assert.deepEqual(visible(), wanted));
    }
    await run("relay.readingView");
  });

  it("wraps a long header in a separate document", async () => {
    const params = Array.from({ length: 200 }, (_, at) => `%weight_${at}: Tensor[(64, 64), float32]`);
    const text = `#[version = "0.0.5"]\ndef @first() { 1 }\ndef @main(${params.join(", ")}) {\n  nn.dense(%weight_0, %nowhere)\n}\n`;
    const document = await vscode.workspace.openTextDocument({ language: "relay", content: text });
    await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    const lens = await until("a lens", async () => {
      const lenses = await run("vscode.executeCodeLensProvider", document.uri, 100);
      return lenses.find((found) => found.command?.title === "Wrap Header (200 parameters)");
    });
    await run(lens.command.command, ...lens.command.arguments);
    const editor = vscode.window.activeTextEditor;
    const shown = editor.document;
    assert.equal(shown.uri.scheme, "relay-reading");
    assert.equal(shown.languageId, "relay");
    assert.equal(shown.lineAt(editor.selection.active.line).text, "def @main(");
    assert.equal(shown.lineAt(editor.selection.active.line + 1).text.trim(), `${params[0]},`);
    assert.equal(document.getText(), text);
    // It has types like the file, but findings are only reported for the file.
    const hovers = await run("vscode.executeHoverProvider", shown.uri, editor.selection.active.translate(1, 6));
    assert.ok(hovers.length > 0);
    await until("the finding of the file", () => vscode.languages.getDiagnostics(document.uri).length > 0);
    assert.deepEqual(vscode.languages.getDiagnostics(shown.uri), []);
    // The document follows the file.
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, document.positionAt(text.length), "def @more() { 2 }\n");
    assert.ok(await vscode.workspace.applyEdit(edit));
    await until("the change", () => shown.getText().includes("@more"));
  });
});
