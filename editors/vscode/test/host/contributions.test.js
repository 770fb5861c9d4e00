// Contributions of the manifest apart from the server: the problem matcher, the walkthrough.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { until } = require("./until.js");

const extension = () => vscode.extensions.getExtension("relay-analyzer.relay-analyzer");
const codes = (uri) => vscode.languages.getDiagnostics(uri).map((found) => found.code?.value ?? found.code);

describe("contributions", () => {
  it("parses the output of the command line", async () => {
    const folder = vscode.workspace.workspaceFolders[0];
    const file = vscode.Uri.joinPath(folder.uri, "task.relay");
    fs.writeFileSync(file.fsPath, '#[version = "0.0.5"]\ndef @f(%x: Tensor[(2, 3), float32]) {\n  nn.relu(%y)\n}\n');
    try {
      const program = vscode.workspace.getConfiguration("relay").get("server.path");
      const task = new vscode.Task(
        { type: "process" },
        folder,
        "check",
        "relay",
        new vscode.ProcessExecution(program, ["check", "task.relay"], { cwd: folder.uri.fsPath }),
        ["$relay-analyzer"],
      );
      // A terminal of the web server may close before its program starts; then another one is opened.
      let begun = 0;
      const [found] = await until("a problem of the task", async () => {
        if (Date.now() - begun > 4_000) {
          begun = Date.now();
          await vscode.tasks.executeTask(task);
        }
        const all = vscode.languages.getDiagnostics(file);
        return all.length > 0 && all;
      });
      assert.equal(found.code?.value ?? found.code, "unknown-variable");
      assert.equal(found.severity, vscode.DiagnosticSeverity.Error);
      assert.deepEqual([found.range.start.line, found.range.start.character], [2, 10]);
    } finally {
      fs.rmSync(file.fsPath);
    }
  });

  it("opens the example of the walkthrough, which has one error", async () => {
    await vscode.commands.executeCommand("relay.openExample");
    const { document } = vscode.window.activeTextEditor;
    assert.equal(document.languageId, "relay");
    await until("the error of the example", () => codes(document.uri).includes("shape-mismatch"));
    assert.deepEqual(codes(document.uri), ["shape-mismatch"]);
    const { walkthroughs } = extension().packageJSON.contributes;
    for (const { media, description } of walkthroughs[0].steps) {
      const page = path.join(extension().extensionPath, media.markdown);
      const pictures = [...fs.readFileSync(page, "utf8").matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)];
      assert.equal(pictures.length, 1, `${media.markdown} has a picture`);
      const picture = fs.readFileSync(path.join(path.dirname(page), pictures[0][1]));
      assert.equal(picture.toString("latin1", 1, 4), "PNG", pictures[0][1]);
      const [, command] = /\(command:([\w.]+)/.exec(description);
      assert.ok((await vscode.commands.getCommands(true)).includes(command), command);
    }
  });
});
