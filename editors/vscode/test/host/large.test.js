// A file over 50 MB, which VS Code displays but hides from extensions.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const vscode = require("vscode");
const { run } = require("./modules.js");
const { until } = require("./until.js");

const SMALL = '#[version = "0.0.5"]\ndef @small() { add(1, 2) }\n';
const LARGE = '#[version = "0.0.5"]\ndef @large(%x: Tensor[(2, 3), float32]) { nn.relu(%x) }\n#[metadata]\n';


describe("a file over 50 MB", () => {
  it("is supported: its shapes are read from disk", async () => {
    const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, "large.relay");
    fs.writeFileSync(uri.fsPath, `${LARGE}{ "root": "${"x".repeat(51 * 2 ** 20)}" }\n`);
    const settings = vscode.workspace.getConfiguration("workbench");
    await settings.update("editorLargeFileConfirmation", 1000, vscode.ConfigurationTarget.Global);
    // Its code would be shown otherwise.
    const views = vscode.workspace.getConfiguration("relay");
    await views.update("codeView.automatic", false, vscode.ConfigurationTarget.Global);
    const { showWarningMessage } = vscode.window;
    const told = [];
    let answer;
    vscode.window.showWarningMessage = async (...message) => {
      told.push(message);
      return answer;
    };
    try {
      const small = await vscode.workspace.openTextDocument({ language: "relay", content: SMALL });
      await vscode.window.showTextDocument(small, vscode.ViewColumn.One);
      assert.deepEqual((await run("relay.shapes")).functions, ["@small"]);
      await run("vscode.open", uri, { viewColumn: vscode.ViewColumn.One, preview: false });
      await until("the large file", () => {
        const { input } = vscode.window.tabGroups.activeTabGroup.activeTab ?? {};
        return input?.uri?.toString() === uri.toString() && vscode.window.activeTextEditor === undefined;
      });
      assert.equal(await run("relay.shapes"), undefined);
      assert.match(told[0][0], /^large\.relay has 51 MiB: VS Code withholds files of more than 50 MB from extensions/);
      answer = told[0][1];
      assert.equal(answer, "Analyse from Disk");
      const shown = await run("relay.shapes");
      assert.deepEqual([shown.uri, shown.functions, shown.rows], [uri.toString(), ["@large"], 1]);
    } finally {
      vscode.window.showWarningMessage = showWarningMessage;
      await settings.update("editorLargeFileConfirmation", undefined, vscode.ConfigurationTarget.Global);
      await views.update("codeView.automatic", undefined, vscode.ConfigurationTarget.Global);
      await run("workbench.action.closeActiveEditor");
      fs.rmSync(uri.fsPath);
    }
  });
});
