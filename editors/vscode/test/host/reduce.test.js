// The smallest module with a diagnostic, through the API of VS Code.
"use strict";
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { run } = require("./modules.js");
const { until } = require("./until.js");

const BROKEN = `#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 5), float32]) {
  %0 = tanh(%x);
  %1 = nn.relu(%0);
  %2 = nn.dense(%1, %w, units=4);
  nn.softmax(%2)
}
`;

/** A module that takes much longer to reduce than a request to cancel. */
function longModule() {
  const steps = Array.from({ length: 2999 }, (_, i) => `  %${i + 1} = add(%${i}, %${(i + 1) >> 1});\n`);
  return `def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 5), float32]) {
  %0 = tanh(%x);
${steps.join("")}  nn.dense(%2999, %w, units=4)
}
`;
}

describe("reduction", () => {
  let document;
  const { withProgress, showErrorMessage } = vscode.window;

  before(async () => {
    document = await vscode.workspace.openTextDocument({ language: "relay", content: BROKEN });
    await until("the diagnostic", () => vscode.languages.getDiagnostics(document.uri).length > 0);
  });

  async function selectCall() {
    const editor = await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.One });
    const at = document.positionAt(BROKEN.indexOf("nn.dense"));
    editor.selection = new vscode.Selection(at, at);
  }

  beforeEach(selectCall);

  afterEach(() => {
    Object.assign(vscode.window, { withProgress, showErrorMessage });
  });

  after(async () => {
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.One });
    await run("workbench.action.revertAndCloseActiveEditor");
  });

  /** The text of the new document beside, which is closed. */
  async function reduced(act) {
    await act();
    const editor = vscode.window.activeTextEditor;
    assert.notEqual(editor.document, document);
    assert.deepEqual([editor.viewColumn, editor.document.languageId, editor.document.isUntitled], [vscode.ViewColumn.Two, "relay", true]);
    // It is analysed like a file.
    await until("the diagnostic", () => vscode.languages.getDiagnostics(editor.document.uri).length > 0);
    const text = editor.document.getText();
    await run("workbench.action.revertAndCloseActiveEditor");
    return text;
  }

  it("opens the smallest module with the diagnostic at the cursor", async () => {
    const text = await reduced(() => run("relay.reduceToDiagnostic"));
    assert.match(text, /^\/\/ Reduced by `relay-analyzer reduce --keep code:shape-mismatch`$/m);
    assert.match(text, /nn\.dense\(/);
    assert.doesNotMatch(text, /tanh|nn\.softmax/);
    // The quick fix does the same.
    const { range } = vscode.languages.getDiagnostics(document.uri)[0];
    const actions = await run("vscode.executeCodeActionProvider", document.uri, range);
    const { command } = actions.find(({ title }) => title === "Reduce to This Diagnostic");
    assert.equal(await reduced(() => run(command.command, ...command.arguments)), text);
  });

  it("can be cancelled", async () => {
    const content = longModule();
    const long = await vscode.workspace.openTextDocument({ language: "relay", content });
    await until("the diagnostic", () => vscode.languages.getDiagnostics(long.uri).length > 0);
    const editor = await vscode.window.showTextDocument(long, { viewColumn: vscode.ViewColumn.One });
    const at = long.positionAt(content.indexOf("nn.dense"));
    editor.selection = new vscode.Selection(at, at);
    const messages = [];
    vscode.window.showErrorMessage = async (message) => void messages.push(message);
    vscode.window.withProgress = async (options, task) => {
      assert.ok(options.cancellable);
      const source = new vscode.CancellationTokenSource();
      const pending = task({ report() {} }, source.token);
      source.cancel();
      return pending;
    };
    const shown = vscode.workspace.textDocuments.length;
    // More often than modules may be reduced at once.
    for (let i = 0; i < 4; i++) {
      await run("relay.reduceToDiagnostic");
    }
    assert.deepEqual([messages, vscode.workspace.textDocuments.length], [[], shown]);
    vscode.window.withProgress = withProgress;
    await run("workbench.action.revertAndCloseActiveEditor");
    await selectCall();
    assert.match(await reduced(() => run("relay.reduceToDiagnostic")), /nn\.dense\(/);
  });

  it("says that there is no diagnostic at the cursor", async () => {
    const messages = [];
    vscode.window.showErrorMessage = async (message) => void messages.push(message);
    vscode.window.activeTextEditor.selection = new vscode.Selection(2, 0, 2, 0);
    await run("relay.reduceToDiagnostic");
    assert.deepEqual(messages, ["there is no diagnostic here"]);
  });
});
