// Parameters that become constants, and constants that become parameters: the reader is asked for the files, the
// server writes a new module, and it is shown.

import * as vscode from "vscode";

import { openModule } from "./code.js";
import { type Running, bindParameters, liftConstants } from "./requests.js";
import { nameOf } from "./virtual.js";

/** The commands of the code actions. */
export const BIND = "relay.bindParameters";
export const LIFT = "relay.liftConstants";

export function registerBinding(running: Running): vscode.Disposable {
  const command = (name: string, run: (client: Client, document: vscode.TextDocument) => Promise<void>) =>
    vscode.commands.registerCommand(name, (uri?: string) => withDocument(running, uri, run));
  return vscode.Disposable.from(command(BIND, bind), command(LIFT, lift));
}

type Client = NonNullable<ReturnType<Running>>;

/** Runs a command on a document: that of a code action, else that of the editor. */
async function withDocument(
  running: Running,
  uri: string | undefined,
  run: (client: Client, document: vscode.TextDocument) => Promise<void>,
): Promise<void> {
  const client = running();
  const wanted = uri === undefined ? undefined : client?.protocol2CodeConverter.asUri(uri).toString();
  const document =
    wanted === undefined
      ? vscode.window.activeTextEditor?.document
      : vscode.workspace.textDocuments.find((document) => document.uri.toString() === wanted);
  if (client === undefined || document?.languageId !== "relay") {
    void vscode.window.showWarningMessage(client === undefined ? "relay-analyzer does not run." : "Open a Relay file.");
    return;
  }
  try {
    await run(client, document);
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
}

async function bind(client: Client, document: vscode.TextDocument): Promise<void> {
  const files = await vscode.window.showOpenDialog({
    title: "Arrays by the names of parameters",
    openLabel: "Bind",
    canSelectMany: true,
    defaultUri: folderOf(document),
    filters: { "Arrays of TVM and NumPy": ["params", "npz"] },
  });
  const output = files && (await target(document, "bound"));
  if (files === undefined || output === undefined) {
    return;
  }
  const names = await bindParameters(client, document.uri, files, output);
  await openModule(output);
  void vscode.window.showInformationMessage(`${counted(names.length, "parameter is a constant", "parameters are constants")} of ${nameOf(output)}.`);
}

async function lift(client: Client, document: vscode.TextDocument): Promise<void> {
  const output = await target(document, "lifted");
  if (output === undefined) {
    return;
  }
  const arrays = output.with({ path: output.path.replace(/(\.\w+)?$/, ".npz") });
  const names = await liftConstants(client, document.uri, output, arrays);
  await openModule(output);
  const lifted = counted(names.length, "constant is a parameter", "constants are parameters");
  void vscode.window.showInformationMessage(`${lifted} of ${nameOf(output)}; the tensors are in ${nameOf(arrays)}.`);
}

/** Asks for the file of the new module. */
function target(document: vscode.TextDocument, ending: string): Thenable<vscode.Uri | undefined> {
  const name = nameOf(document.uri).replace(/\.(relay|rly|json|tar)\b.*$/, "");
  return vscode.window.showSaveDialog({
    title: "The new module",
    defaultUri: vscode.Uri.joinPath(folderOf(document), `${name}.${ending}.relay`),
    filters: { Relay: ["relay", "rly"] },
  });
}

/** The folder of a document's file, else that of the workspace. */
function folderOf({ uri }: vscode.TextDocument): vscode.Uri {
  const isFile = uri.scheme === "file" || uri.scheme === "relay-code";
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file("/");
  return isFile ? vscode.Uri.joinPath(vscode.Uri.file(uri.path), "..") : folder;
}

function counted(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}
