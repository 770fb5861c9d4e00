// Contributions of the manifest apart from the server: snippets, the problem matcher, the walkthrough.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { until } = require("./until.js");

const extension = () => vscode.extensions.getExtension("relay-analyzer.relay-analyzer");
const codes = (uri) => vscode.languages.getDiagnostics(uri).map((found) => found.code?.value ?? found.code);

describe("contributions", () => {
  it("has valid snippets", async () => {
    const snippets = JSON.parse(fs.readFileSync(path.join(extension().extensionPath, "snippets/relay.json"), "utf8"));
    // The context of each; `|` marks the position.
    const rooms = {
      "Version header": "|",
      Definition: '#[version = "0.0.5"]\n|',
      "Algebraic data type": '#[version = "0.0.5"]\n|',
      "External type": '#[version = "0.0.5"]\n|',
      "Let binding": '#[version = "0.0.5"]\ndef @f(%value: int32) {\n  |%value\n}\n',
      "Tensor type": '#[version = "0.0.5"]\ndef @f(%value: |) {\n  %value\n}\n',
      Function: '#[version = "0.0.5"]\ndef @f() {\n  |\n}\n',
      Match: '#[version = "0.0.5"]\ndef @f(%value: List[int32]) {\n  |\n}\n',
      If: '#[version = "0.0.5"]\ndef @f(%condition: bool, %x: int32, %y: int32) {\n  |\n}\n',
    };
    assert.deepEqual(Object.keys(snippets).sort(), Object.keys(rooms).sort());
    for (const [name, room] of Object.entries(rooms)) {
      const at = room.indexOf("|");
      const document = await vscode.workspace.openTextDocument({ language: "relay", content: room.replace("|", "") });
      const editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
      const body = [snippets[name].body].flat().join("\n");
      await editor.insertSnippet(new vscode.SnippetString(body), document.positionAt(at));
      // An unbound variable is reported after all other findings.
      const probe = new vscode.WorkspaceEdit();
      const end = document.lineAt(document.lineCount - 1).range.end;
      probe.insert(document.uri, end, "\ndef @probe() {\n  %nowhere\n}\n");
      assert.ok(await vscode.workspace.applyEdit(probe));
      await until(`findings after ${name}`, () => codes(document.uri).includes("unknown-variable"));
      const errors = vscode.languages
        .getDiagnostics(document.uri)
        .filter((found) => found.severity === vscode.DiagnosticSeverity.Error)
        .map((found) => `${found.code?.value ?? found.code}: ${found.message}`);
      assert.equal(errors.length, 1, `${name}:\n${document.getText()}\n${errors.join("\n")}`);
    }
  });

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
