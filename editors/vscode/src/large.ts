// Files of more than 50 MB, which VS Code withholds from extensions.

import * as vscode from "vscode";

const DISK = "Analyse from Disk";

/** The file in the active tab if it has no document. */
export function uriBeyondReach(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return vscode.window.activeTextEditor === undefined && input instanceof vscode.TabInputText ? input.uri : undefined;
}

/** The same, if it is a Relay file. */
export function fileBeyondReach(): vscode.Uri | undefined {
  const uri = uriBeyondReach();
  return uri !== undefined && /\.(relay|rly)$/.test(uri.path) ? uri : undefined;
}

/** Explains that a file has no document, and asks whether to read it from disk. */
export async function chosenFromDisk(uri: vscode.Uri): Promise<boolean> {
  const name = uri.path.split("/").pop() ?? "";
  if (uri.scheme !== "file") {
    void vscode.window.showWarningMessage(`VS Code withholds ${name} from extensions, and it is not a file on disk.`);
    return false;
  }
  const { size } = await vscode.workspace.fs.stat(uri);
  const why = `${name} has ${Math.round(size / 2 ** 20)} MiB: VS Code withholds files of more than 50 MB from extensions.`;
  const choice = await vscode.window.showWarningMessage(`${why} The server can read its shapes from disk.`, DISK);
  return choice === DISK;
}
