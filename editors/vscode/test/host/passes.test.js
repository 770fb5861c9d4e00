// A log of passes: the view of its modules, and the history of an expression, through the API of VS Code.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const vscode = require("vscode");
const { A, B, run } = require("./modules.js");
const { until } = require("./until.js");

const RENAMED = A.replaceAll("%x", "%input");
const LOG = [["InferType", A], ["FoldConstant", RENAMED], ["Last", B]]
  .map(([pass, text], at) => `[10:00:0${at}] a.cc:1: PrintIR(${pass}):\n${text}`)
  .join("\nwarning: a line of something else\n");

/** Answers a quick pick that an extension creates itself. */
async function choosing(choose, act) {
  const { createQuickPick } = vscode.window;
  vscode.window.createQuickPick = () => {
    const list = createQuickPick.call(vscode.window);
    const { show } = list;
    list.show = () => {
      show.call(list);
      void choose(list);
    };
    return list;
  };
  try {
    return await act();
  } finally {
    vscode.window.createQuickPick = createQuickPick;
  }
}

describe("a log of passes", () => {
  let uri;
  let count = 0;

  beforeEach(async () => {
    // VS Code caches files by name.
    uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, `run${++count}.log`);
    fs.writeFileSync(uri.fsPath, LOG);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), vscode.ViewColumn.One);
  });

  afterEach(async () => {
    await run("relay.endComparison");
    await run("workbench.action.closeAllEditors");
    fs.rmSync(uri.fsPath);
  });

  it("lists the changes of each pass, and dims passes without changes", async () => {
    const shown = await run("relay.passes");
    assert.equal(shown.uri, uri.toString());
    assert.deepEqual(shown.passes, [
      { title: "0 InferType", what: "the first", dim: false },
      { title: "1 FoldConstant", what: "no change", dim: true },
      { title: "2 Last", what: "@main", dim: false },
    ]);
  });

  it("lists the passes inside a pass", async () => {
    const nested = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, "nested.log");
    fs.writeFileSync(nested.fsPath, LOG.replace("PrintIR(Last):\n", "PrintIR(Last):\n// nested: InferType, Inner\n"));
    try {
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(nested), vscode.ViewColumn.One);
      const { passes } = await run("relay.passes");
      assert.deepEqual(passes.map(({ nested }) => nested), [undefined, undefined, ["InferType", "Inner"]]);
    } finally {
      await run("workbench.action.closeActiveEditor");
      fs.rmSync(nested.fsPath);
    }
  });

  it("shows the error of each module on request", async () => {
    await run("relay.passes");
    const { passes } = await run("relay.passErrors");
    const errors = passes.map(({ error }) => error);
    assert.deepEqual(errors.slice(0, 2), ["0", "0"]);
    assert.match(errors[2], /^\d\.\d+e-?\d+$/);
    await run("relay.hidePassErrors");
    assert.deepEqual((await run("relay.passes")).passes.map(({ error }) => error), [undefined, undefined, undefined]);
  });

  it("marks the end of an incomplete log", async () => {
    const editor = vscode.window.activeTextEditor;
    const end = editor.document.lineAt(editor.document.lineCount - 1).range.end;
    const start = editor.document.positionAt(editor.document.getText().lastIndexOf("exp("));
    const edit = new vscode.WorkspaceEdit();
    edit.delete(uri, new vscode.Range(start, end));
    assert.ok(await vscode.workspace.applyEdit(edit));
    await editor.document.save();
    const shown = await run("relay.passes");
    assert.deepEqual(shown.passes[2], { title: "2 Last", what: "@main (cut off)", dim: false });
  });

  it("is read from disk if the editor hides it from extensions", async () => {
    const large = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, "large.log");
    fs.writeFileSync(large.fsPath, `${LOG}#[metadata]\n{ "root": "${"x".repeat(51 * 2 ** 20)}" }\n`);
    const settings = vscode.workspace.getConfiguration("workbench");
    await settings.update("editorLargeFileConfirmation", 1000, vscode.ConfigurationTarget.Global);
    try {
      await run("vscode.open", large, { viewColumn: vscode.ViewColumn.One, preview: false });
      await until("the large log", () => {
        const { input } = vscode.window.tabGroups.activeTabGroup.activeTab ?? {};
        return input?.uri?.toString() === large.toString() && vscode.window.activeTextEditor === undefined;
      });
      const shown = await run("relay.passes");
      assert.deepEqual([shown.uri, shown.passes.length], [large.toString(), 3]);
      const first = { log: { uri: large, modules: [] }, module: { index: 0, pass: "InferType" } };
      await run("relay.openModule", first);
      assert.equal(vscode.window.activeTextEditor.document.getText().trimEnd(), A.trimEnd());
    } finally {
      await settings.update("editorLargeFileConfirmation", undefined, vscode.ConfigurationTarget.Global);
      fs.rmSync(large.fsPath);
    }
  });

  it("compares the module at the cursor with another one", async () => {
    const editor = vscode.window.activeTextEditor;
    const line = editor.document.getText().split("\n").findIndex((text) => text.includes("axis=0"));
    editor.selection = new vscode.Selection(line, 10, line, 10);
    const { showQuickPick } = vscode.window;
    const asked = [];
    vscode.window.showQuickPick = async (items) => {
      asked.push((await items).map((item) => item.label));
      return (await items)[0];
    };
    let shown;
    try {
      shown = await run("relay.compareWith");
    } finally {
      vscode.window.showQuickPick = showQuickPick;
    }
    assert.deepEqual(asked[1], ["1 FoldConstant", "0 InferType"]);
    assert.deepEqual([shown.equal, shown.stops], [false, 2]);
    const after = vscode.window.activeTextEditor.document;
    assert.equal(after.uri.scheme, "relay-module");
    assert.equal(after.uri.path, `/run${count}.log/2 Last.relay`);
    assert.equal(after.languageId, "relay");
    assert.equal(after.getText().trimEnd(), B.trimEnd());
    // The open module is compared with the previous one.
    const previous = await run("relay.comparePrevious");
    assert.equal(previous.headline, shown.headline);
    // Modules have types like any other document.
    const hovers = await run("vscode.executeHoverProvider", after.uri, new vscode.Position(2, 8));
    assert.match(hovers.flatMap(({ contents }) => contents.map(({ value }) => value)).join("\n"), /Tensor\[\(2, 4\), float32\]/);
  });

  it("forgets a log that is closed", async () => {
    await run("relay.passes");
    await run("workbench.action.closeAllEditors");
    const { showWarningMessage } = vscode.window;
    const told = [];
    vscode.window.showWarningMessage = async (message) => void told.push(message);
    try {
      // The view is cleared after a while; without a row, the command then asks for one.
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await run("relay.showInLog");
      assert.deepEqual(told, ["Choose a pass of the view Relay Passes."]);
    } finally {
      vscode.window.showWarningMessage = showWarningMessage;
    }
  });

  it("updates modules with the log", async () => {
    await run("relay.passes");
    const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
    const module = vscode.Uri.from({ scheme: "relay-module", path: `/run${count}.log/2 Last.relay`, query: JSON.stringify({ log: uri.toString(), module: 2 }) });
    const shown = await vscode.workspace.openTextDocument(module);
    await vscode.window.showTextDocument(shown, vscode.ViewColumn.Two);
    const text = editor.document.getText();
    const at = editor.document.positionAt(text.lastIndexOf("axis=0"));
    const edit = new vscode.WorkspaceEdit();
    edit.replace(uri, new vscode.Range(at, at.translate(0, 6)), "axis=-1");
    assert.ok(await vscode.workspace.applyEdit(edit));
    await editor.document.save();
    await until("the change in the module", () => shown.getText().includes("axis=-1"));
  });

  it("lists the history of an expression, and goes to its entries", async () => {
    const editor = vscode.window.activeTextEditor;
    const line = editor.document.getText().split("\n").findIndex((text) => text.includes("axis=0"));
    editor.selection = new vscode.Selection(line, 10, line, 10);
    let items;
    const shown = await choosing(
      async (list) => {
        await until("the list", () => list.items.length > 0);
        items = list.items;
        // The last one is the current position.
        assert.equal(list.activeItems[0], items[2]);
        await until("the first", async () => {
          await run("workbench.action.quickOpenSelectPrevious");
          return list.activeItems[0] === items[0];
        });
        await run("workbench.action.acceptSelectedQuickOpenItem");
      },
      () => run("relay.history"),
    );
    assert.equal(shown.here, 2);
    assert.deepEqual(items.map(({ detail }) => detail), ["nn.softmax(%0, axis=1)", "nn.softmax(%0, axis=1)", "nn.softmax(%0, axis=0)"]);
    assert.deepEqual(items.map(({ description }) => description), ["in the first module", "", "changed: attribute axis 1 → 0"]);
    const { document, selection } = vscode.window.activeTextEditor;
    assert.equal(document.uri.path, `/run${count}.log/0 InferType.relay`);
    assert.equal(document.getText(selection), "nn.softmax(%0, axis=1)");
  });
});
