// The module that the walkthrough shows.

import * as vscode from "vscode";

export function registerExample(extension: vscode.Uri): vscode.Disposable {
  const command = (name: string, run: () => unknown) => vscode.commands.registerCommand(`relay.${name}`, run);
  return command("openExample", async () => {
    const bytes = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(extension, "media", "example.relay"));
    const content = new TextDecoder().decode(bytes);
    // An untitled document can be edited without changing the example.
    const document = await vscode.workspace.openTextDocument({ language: "relay", content });
    await vscode.window.showTextDocument(document);
  });
}
