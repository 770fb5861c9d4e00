// Code views of modules with large metadata sections, through the API of VS Code.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const vscode = require("vscode");
const { run } = require("./modules.js");
const { until } = require("./until.js");

const CODE = `#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32]) {
  add(%x, meta[relay.Constant][0])
}

`;
/** `[1, 2]` */
const ARRAY = "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQACAAAAAAAAAAgAAAAAAAAAAACAPwAAAEA=";

/** A section with one constant, and the given number of bytes of white space. */
const section = (length) => `#[metadata]
{"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
{"type_key": "Array", "data": [3]}, {"type_key": "relay.Constant", "attrs": {"data": "0"}}], "b64ndarrays": ["${ARRAY}"]${" ".repeat(length)}}
`;

describe("code views", () => {
  let count = 0;
  let uri;
  let told;
  let answer;
  const { showInformationMessage, showErrorMessage, showWarningMessage } = vscode.window;

  beforeEach(() => {
    // VS Code caches files by name.
    uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, `code ${++count}.relay`);
    told = [];
    answer = undefined;
    const note = async (...message) => {
      told.push(message[0]);
      return answer;
    };
    Object.assign(vscode.window, { showInformationMessage: note, showErrorMessage: note, showWarningMessage: note });
  });

  afterEach(async () => {
    Object.assign(vscode.window, { showInformationMessage, showErrorMessage, showWarningMessage });
    await run("workbench.action.revertAndCloseActiveEditor");
    await run("workbench.action.closeAllEditors");
    fs.rmSync(uri.fsPath, { force: true });
  });

  const shown = () =>
    until("the code", () => {
      const document = vscode.window.activeTextEditor?.document;
      return document?.uri.scheme === "relay-code" && document;
    });

  const edit = async (document, from, to) => {
    const change = new vscode.WorkspaceEdit();
    const at = document.getText().indexOf(from);
    change.replace(document.uri, new vscode.Range(document.positionAt(at), document.positionAt(at + from.length)), to);
    assert.ok(await vscode.workspace.applyEdit(change));
  };

  it("take the place of files with large sections, and only save code", async () => {
    const large = section(2_000_000);
    fs.writeFileSync(uri.fsPath, CODE + large);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
    const document = await shown();
    await until("the message", async () => told.length > 0);
    assert.match(told[0], /^code \d+\.relay is shown without its 2\.0 MB of weights, which stay in the file\.$/);
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.input?.uri?.toString()));
    assert.deepEqual(tabs, [document.uri.toString()]);
    assert.equal(document.getText(), `${CODE}#[metadata] folded: 1 constant, 2.0 MB\n`);
    assert.equal(document.languageId, "relay");
    const text = await until("a hover", async () => {
      const at = document.positionAt(document.getText().indexOf("meta[") + 1);
      const hovers = await run("vscode.executeHoverProvider", document.uri, at);
      const found = hovers.flatMap((hover) => hover.contents.map((part) => part.value)).join("\n");
      return found.includes("min 1, max 2") && found;
    });
    assert.match(text, /Tensor\[\(2\), float32\]/);
    await edit(document, "add", "multiply");
    assert.ok(await document.save());
    assert.ok(fs.readFileSync(uri.fsPath, "utf8") === CODE.replace("add", "multiply") + large);
    await edit(document, "multiply", "subtract");
    assert.ok(await document.save());
    assert.ok(fs.readFileSync(uri.fsPath, "utf8") === CODE.replace("add", "subtract") + large);
  });

  it("have pictures of their constants, which are lifted and bound", async () => {
    fs.writeFileSync(uri.fsPath, CODE + section(2_000_000));
    await run("relay.openCode", uri);
    const document = await shown();
    const at = document.positionAt(document.getText().indexOf("meta[") + 1);
    vscode.window.activeTextEditor.selection = new vscode.Selection(at, at);
    await until("the picture", async () => (await run("relay.typeAtCursor"))?.bars === 64);
    const actions = await until("an action", async () => {
      const found = await run("vscode.executeCodeActionProvider", document.uri, new vscode.Range(at, at));
      const ours = found.filter((action) => action.command?.command === "relay.liftConstants");
      return ours.length === 1 && ours;
    });
    const { showSaveDialog, showOpenDialog } = vscode.window;
    const file = (name) => vscode.Uri.joinPath(uri, "..", name);
    const [lifted, bound] = ["lifted.relay", "bound.relay"].map(file);
    let target = lifted;
    const asked = [];
    Object.assign(vscode.window, {
      showSaveDialog: async (options) => asked.push(options.defaultUri.path) && target,
      showOpenDialog: async () => [file("lifted.npz")],
    });
    try {
      await run(actions[0].command.command, ...actions[0].command.arguments);
      assert.match(asked[0], /code \d+\.lifted\.relay$/);
      assert.match(fs.readFileSync(lifted.fsPath, "utf8"), /add\(%x, %constant_0\)/);
      assert.equal(vscode.window.activeTextEditor.document.uri.toString(), lifted.toString());
      assert.match(told.at(-1), /^1 constant is a parameter of lifted\.relay; the tensors are in lifted\.npz\.$/);
      target = bound;
      await until("the server", async () => {
        await run("relay.bindParameters");
        return fs.existsSync(bound.fsPath);
      });
      assert.match(fs.readFileSync(bound.fsPath, "utf8"), /add\(%x, meta\[relay\.Constant\]\[0\]\)/);
    } finally {
      Object.assign(vscode.window, { showSaveDialog, showOpenDialog });
      [lifted, bound, file("lifted.npz")].forEach(({ fsPath }) => fs.rmSync(fsPath, { force: true }));
    }
  });

  it("are not offered for small sections, and open on demand", async () => {
    fs.writeFileSync(uri.fsPath, CODE + section(0));
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
    await run("relay.openCode");
    await shown();
    assert.deepEqual(told, []);
  });

  it("report why there is none", async () => {
    fs.writeFileSync(uri.fsPath, CODE);
    assert.equal(await run("relay.openCode", uri), undefined);
    assert.match(told[0], /it has no metadata section/);
  });

  it("ask before saving to a file that has changed", async () => {
    fs.writeFileSync(uri.fsPath, CODE + section(10));
    await run("relay.openCode", uri);
    const document = await shown();
    await edit(document, "add", "multiply");
    const other = section(11);
    fs.writeFileSync(uri.fsPath, CODE + other);
    // VS Code itself refuses if it has noticed the change; otherwise the user is asked.
    await document.save();
    assert.ok(fs.readFileSync(uri.fsPath, "utf8") === CODE + other);
    answer = "Save Code Anyway";
    const written = new TextEncoder().encode(document.getText());
    await vscode.workspace.fs.writeFile(document.uri, written);
    assert.ok(fs.readFileSync(uri.fsPath, "utf8") === CODE.replace("add", "multiply") + other);
  });
});
