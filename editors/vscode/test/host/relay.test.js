// The extension and the real server, through the API of VS Code. `relay.server.path` is set.
"use strict";
const assert = require("node:assert/strict");
const vscode = require("vscode");

const BROKEN = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 5), float32]) {\n  nn.dense(%x, %w, units=4)\n}\n';
const FINE = BROKEN.replace("(4, 5)", "(4, 3)");

async function until(what, holds) {
  for (const start = Date.now(); Date.now() - start < 15_000; ) {
    const value = await holds();
    if (value) {
      return value;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited in vain: ${what}`);
}

const errors = (document) =>
  vscode.languages
    .getDiagnostics(document.uri)
    .filter((found) => found.severity === vscode.DiagnosticSeverity.Error)
    .map((found) => `${found.code?.value ?? found.code} at ${document.getText(found.range)}`);

function errorsAre(document, wanted) {
  return until(`errors ${JSON.stringify(wanted)}`, () => {
    const found = errors(document);
    return JSON.stringify(found) === JSON.stringify(wanted);
  }).catch((error) => {
    throw new Error(`${error.message}, found ${JSON.stringify(errors(document))}`);
  });
}

async function untitled(content) {
  const document = await vscode.workspace.openTextDocument({ language: "relay", content });
  await vscode.window.showTextDocument(document);
  return document;
}

async function replace(document, from, to) {
  const at = document.getText().indexOf(from);
  assert.ok(at >= 0, from);
  const edit = new vscode.WorkspaceEdit();
  const range = new vscode.Range(document.positionAt(at), document.positionAt(at + from.length));
  edit.replace(document.uri, range, to);
  assert.ok(await vscode.workspace.applyEdit(edit));
}

async function hover(document, text) {
  const at = document.positionAt(document.getText().lastIndexOf(text));
  const hovers = await vscode.commands.executeCommand("vscode.executeHoverProvider", document.uri, at);
  return hovers.flatMap((found) => found.contents.map((content) => content.value)).join("\n");
}

const settings = () => vscode.workspace.getConfiguration("relay");
const set = (name, value) => settings().update(name, value, vscode.ConfigurationTarget.Global);

describe(`relay-analyzer in VS Code ${vscode.version}`, () => {
  let file;

  before(async () => {
    const folder = vscode.workspace.workspaceFolders[0].uri;
    file = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder, "broken-attention.relay"));
    await vscode.window.showTextDocument(file);
  });

  it("knows the language, and is woken by it", async () => {
    assert.equal(file.languageId, "relay");
    const extension = vscode.extensions.getExtension("relay-analyzer.relay-analyzer");
    await until("the extension is active", () => extension.isActive);
  });

  it("knows a module by its first line", async () => {
    const document = await vscode.workspace.openTextDocument({ content: FINE });
    await until("the language of a module without a name", () => document.languageId === "relay");
  });

  it("shows one error for one cause, with where it comes from", async () => {
    await errorsAre(file, ["shape-mismatch at %keys"]);
    const [found] = vscode.languages.getDiagnostics(file.uri);
    assert.match(found.message, /64 features/);
    assert.deepEqual(
      found.relatedInformation.map((related) => related.location.range.start.line).sort((a, b) => a - b),
      [8, 9, 11],
    );
  });

  it("hovers, jumps, lists", async () => {
    assert.match(await hover(file, "%keys"), /%keys: Tensor\[\(12, 64, 128\), float32\]/);
    const at = file.positionAt(file.getText().lastIndexOf("%keys"));
    const [definition] = await vscode.commands.executeCommand("vscode.executeDefinitionProvider", file.uri, at);
    assert.equal((definition.targetRange ?? definition.range).start.line, 9);
    const references = await vscode.commands.executeCommand("vscode.executeReferenceProvider", file.uri, at);
    assert.deepEqual(references.map((reference) => reference.range.start.line), [9, 11]);
    const symbols = await vscode.commands.executeCommand("vscode.executeDocumentSymbolProvider", file.uri);
    assert.deepEqual(symbols.map((symbol) => symbol.name), ["@attention"]);
  });

  it("works in a document that is no file, and follows its changes", async () => {
    const document = await untitled(BROKEN);
    assert.equal(document.uri.scheme, "untitled");
    await errorsAre(document, ["shape-mismatch at %w"]);
    await replace(document, "(4, 5)", "(4, 3)");
    await errorsAre(document, []);
    assert.match(await hover(document, "nn.dense"), /Tensor\[\(2, 4\), float32\]/);
    await replace(document, "(2, 3)", "(2, 30)");
    await errorsAre(document, ["shape-mismatch at %w"]);
  });

  it("offers to mend a name", async () => {
    const document = await untitled(FINE.replace("nn.dense", "nn.dens"));
    await errorsAre(document, ["unknown-name at nn.dens"]);
    const [found] = vscode.languages.getDiagnostics(document.uri);
    const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", document.uri, found.range);
    const action = actions.find((offered) => offered.edit);
    assert.ok(action, JSON.stringify(actions.map((offered) => offered.title)));
    assert.ok(await vscode.workspace.applyEdit(action.edit));
    await errorsAre(document, []);
  });

  it("applies settings at once", async () => {
    const document = await untitled(BROKEN);
    await errorsAre(document, ["shape-mismatch at %w"]);
    try {
      await set("diagnostics.disabled", ["shape-mismatch"]);
      await errorsAre(document, []);
      await set("diagnostics.disabled", undefined);
      await errorsAre(document, ["shape-mismatch at %w"]);
      await set("diagnostics.delivery", "push");
      await replace(document, "(4, 5)", "(4, 6)");
      await errorsAre(document, ["shape-mismatch at %w"]);
    } finally {
      await set("diagnostics.disabled", undefined);
      await set("diagnostics.delivery", undefined);
    }
  });

  it("says its version, and restarts", async () => {
    const version = await vscode.commands.executeCommand("relay.showServerVersion");
    assert.match(version, /^\d+\.\d+\.\d+/);
    const document = await untitled(BROKEN);
    await errorsAre(document, ["shape-mismatch at %w"]);
    await vscode.commands.executeCommand("relay.restartServer");
    await replace(document, "(4, 5)", "(4, 3)");
    await errorsAre(document, []);
  });

  it("lives without a server, and takes one as soon as there is one", async () => {
    const good = settings().get("server.path");
    try {
      await set("server.path", "/nowhere/relay-analyzer");
      await until("no server", async () => !(await vscode.commands.executeCommand("relay.showServerVersion")));
      // Not a server, though it runs.
      await set("server.path", process.execPath);
      await vscode.commands.executeCommand("relay.restartServer");
      assert.equal(await vscode.commands.executeCommand("relay.showServerVersion"), undefined);
    } finally {
      await set("server.path", good);
    }
    await until("a server", () => vscode.commands.executeCommand("relay.showServerVersion"));
    const document = await untitled(BROKEN);
    await errorsAre(document, ["shape-mismatch at %w"]);
  });
});
