// Files that VS Code shows and keeps from extensions: those over 50 MB.

import * as vscode from "vscode";

const DISK = "Analyse from Disk";

/** The file in the active tab, if there is no document for it. */
export function uriBeyondReach(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return vscode.window.activeTextEditor === undefined && input instanceof vscode.TabInputText ? input.uri : undefined;
}

/** The same, if it is a Relay file. */
export function fileBeyondReach(): vscode.Uri | undefined {
  const uri = uriBeyondReach();
  return uri !== undefined && /\.(relay|rly)$/.test(uri.path) ? uri : undefined;
}

/** Says why nothing is known of a file, and asks whether it shall be read from disk. */
export async function chosenFromDisk(uri: vscode.Uri): Promise<boolean> {
  const name = uri.path.split("/").pop() ?? "";
  if (uri.scheme !== "file") {
    void vscode.window.showWarningMessage(`VS Code does not give ${name} to extensions, and it is no file on disk.`);
    return false;
  }
  const { size } = await vscode.workspace.fs.stat(uri);
  const why = `${name} has ${Math.round(size / 2 ** 20)} MB: VS Code gives files over 50 MB to no extension.`;
  const choice = await vscode.window.showWarningMessage(`${why} Its shapes can be read from disk.`, DISK);
  return choice === DISK;
}
