// Relay in the strings of Python and in the fences of Markdown.
"use strict";
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { run } = require("./modules.js");
const { until } = require("./until.js");

const PYTHON = [
  "from tvm import relay", // 0
  'mod = relay.fromtext("""',
  '#[version = "0.0.5"]',
  "def @main(%x: Tensor[(2, 3), float32]) {",
  "  add(%x, %nowhere)",
  "}", // 5
  '""")',
  "add = len(mod.functions)",
  "",
].join("\n");

const PAGE = ["# Page", "", "```relay", '#[version = "0.0.5"]', "def @f(%x: int32) { @g(%x) }", "```", ""].join("\n");

const open = async (language, content) => {
  const document = await vscode.workspace.openTextDocument({ language, content });
  await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
  return document;
};
const ours = (uri) => vscode.languages.getDiagnostics(uri).filter(({ source }) => source === "relay");
const shown = (document) =>
  ours(document.uri).map((found) => `${found.code?.value ?? found.code} at ${document.getText(found.range)}`);
const hovers = async (document, line, column) => {
  const found = await run("vscode.executeHoverProvider", document.uri, new vscode.Position(line, column));
  return found.flatMap(({ contents }) => contents.map((content) => content.value ?? content)).join("\n");
};

describe("Relay in other languages", () => {
  it("has diagnostics, hovers, completions and hints in Python", async () => {
    const document = await open("python", PYTHON);
    await until("the error", () => shown(document).includes("unknown-variable at %nowhere"));
    assert.match(await hovers(document, 4, 7), /%x: Tensor\[\(2, 3\), float32\]/);
    const list = await run("vscode.executeCompletionItemProvider", document.uri, new vscode.Position(4, 4));
    const labels = list.items.map(({ label }) => label.label ?? label);
    assert.ok(labels.includes("add") && labels.includes("nn.bias_add"), labels.slice(0, 20).join(" "));
    const jump = await run("vscode.executeDefinitionProvider", document.uri, new vscode.Position(4, 7));
    assert.deepEqual(jump.map((place) => (place.range ?? place.targetSelectionRange).start.line), [3]);
  });

  it("leaves the rest of Python alone", async () => {
    const document = await open("python", PYTHON);
    await until("the error", () => ours(document.uri).length > 0);
    assert.doesNotMatch(await hovers(document, 7, 1), /relay|Tensor/i);
    const list = await run("vscode.executeCompletionItemProvider", document.uri, new vscode.Position(7, 2));
    assert.ok(!list.items.some(({ label }) => (label.label ?? label) === "nn.bias_add"));
    const options = { tabSize: 4, insertSpaces: true };
    const edits = await run("vscode.executeFormatDocumentProvider", document.uri, options);
    assert.ok(edits === undefined || edits.length === 0, "no formatter is registered for Python");
    assert.deepEqual((await run("vscode.executeCodeLensProvider", document.uri)) ?? [], []);
    const legend = await run("vscode.provideDocumentSemanticTokensLegend", document.uri);
    assert.equal(legend, undefined, "no semantic tokens are registered for Python");
  });

  it("follows an edit", async () => {
    const document = await open("python", PYTHON);
    await until("the error", () => ours(document.uri).length > 0);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), "# a line\n");
    edit.replace(document.uri, new vscode.Range(4, 10, 4, 18), "%x");
    await vscode.workspace.applyEdit(edit);
    await until("no error", () => ours(document.uri).every(({ severity }) => severity !== vscode.DiagnosticSeverity.Error));
  });

  it("has diagnostics and hovers in Markdown", async () => {
    const document = await open("markdown", PAGE);
    await until("the error", () => shown(document).includes("unknown-global at @g"));
    assert.match(await hovers(document, 4, 8), /%x: int32/);
  });

  it("can be switched off", async () => {
    const set = (value) =>
      vscode.workspace.getConfiguration("relay").update("embedded.enabled", value, vscode.ConfigurationTarget.Global);
    const document = await open("python", PYTHON);
    await until("the error", () => ours(document.uri).length > 0);
    await set(false);
    try {
      await until("no diagnostics", () => ours(document.uri).length === 0);
    } finally {
      await set(undefined);
    }
    await until("the error again", () => ours(document.uri).length > 0);
  });
});
