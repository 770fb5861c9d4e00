// The origin of a shape, references from a lens, and the shape panel, through the API of VS Code.
"use strict";
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { run } = require("./modules.js");
const { until } = require("./until.js");

const MODULE = [
  '#[version = "0.0.5"]',
  "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {",
  "  let %y = nn.dense(%x, %w, units=4);",
  "  nn.relu(%y)",
  "}",
  "def @twice(%x: Tensor[(2, 4), float32]) {",
  "  add(%x, %x)",
  "}",
  "",
].join("\n");


describe("shapes", () => {
  let document;
  let editor;

  const cursor = (line, character) => {
    editor.selection = new vscode.Selection(line, character, line, character);
  };

  beforeEach(async () => {
    document = await vscode.workspace.openTextDocument({ language: "relay", content: MODULE });
    editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
  });

  afterEach(() => run("workbench.action.closeQuickOpen"));

  it("opens beside the file, and follows the cursor and the text", async () => {
    cursor(3, 4);
    const shown = await run("relay.shapes");
    assert.deepEqual(shown.functions, ["@main", "@twice"]);
    assert.equal(shown.rows, 2);
    const groups = vscode.window.tabGroups.all;
    const tabs = groups.flatMap((group) => group.tabs).filter((tab) => /^Shapes: /.test(tab.label));
    assert.equal(tabs.length, 1);
    assert.equal(vscode.window.activeTextEditor.document, document, "the cursor stays in the text");

    const marked = async (name) => until(`the row ${name}`, async () => (await run("relay.shapes")).marked === name);
    await marked("#1");
    cursor(2, 6);
    await marked("%y");

    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(3, 0), "  let %z = nn.relu(%y);\n");
    assert.ok(await vscode.workspace.applyEdit(edit));
    await until("three rows", async () => (await run("relay.shapes")).rows === 3);
    assert.equal(vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => /^Shapes: /.test(tab.label)).length, 1);
  });

  it("explains the origin of a shape, and goes there", async () => {
    const uri = document.uri.toString();
    // The command in a hover.
    const [found] = await until("a link", async () => {
      const hovers = await run("vscode.executeHoverProvider", document.uri, new vscode.Position(3, 11));
      const text = hovers.flatMap((hover) => hover.contents.map((content) => content.value)).join("\n");
      const link = /\[Why this shape\?\]\(command:relay\.whyShape\?([^)]*)\)/.exec(text);
      return link && [JSON.parse(decodeURIComponent(link[1]))];
    });
    assert.equal(found[0], uri);

    const done = run("relay.whyShape", ...found);
    // The first step: axis 0 comes from `%x`. The list must be ready to accept a choice.
    const before = editor.selection.active.line;
    assert.notEqual(before, 1);
    await until("the place of the first step", async () => {
      await run("workbench.action.acceptSelectedQuickOpenItem");
      return vscode.window.activeTextEditor?.selection.active.line === 1;
    });
    await done;
    assert.match(document.getText(vscode.window.activeTextEditor.selection), /^2$|%x|Tensor/);
  });

  it("shows references from a lens", async () => {
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(3, 10, 3, 12), "@twice(%y)");
    assert.ok(await vscode.workspace.applyEdit(edit));
    const lens = await until("a lens that can be clicked", async () => {
      const found = await run("vscode.executeCodeLensProvider", document.uri, 100);
      return found.find((lens) => lens.command?.command === "relay.showReferences");
    });
    assert.match(lens.command.title, /1 reference/);
    assert.equal(lens.range.start.line, 5);
    await run(lens.command.command, ...lens.command.arguments);
    // The peek has the focus: the next reference is the only one.
    await until("the reference", async () => {
      await run("goToNextReference");
      return vscode.window.visibleTextEditors.some((one) => one.document === document && one.selection.active.line === 3);
    });
    await run("closeReferenceSearch");
  });
});
