// Shows modules that TVM saved as JSON or in archives as documents with their text.

import * as vscode from "vscode";

import { uriBeyondReach } from "./large.js";
import { type Waking, convertFile } from "./requests.js";
import { convertedUri, nameOf } from "./virtual.js";

const OPEN = "Open as Relay";

/** The number of characters that distinguish a module from other JSON. */
const HEAD = 2_000;
/** The members at the start of the output of `tvm.ir.save_json`. */
const MARKERS = ['"root"', '"nodes"', '"type_key"'];

export function registerSaved(waking: Waking): vscode.Disposable {
  const command = (name: string, run: (uri?: vscode.Uri) => unknown) => vscode.commands.registerCommand(`relay.${name}`, run);
  const offered = new Set<string>();
  const offer = async (document: vscode.TextDocument): Promise<void> => {
    const { uri } = document;
    if (offered.has(uri.toString()) || !isSavedModule(document)) {
      return;
    }
    offered.add(uri.toString());
    const choice = await vscode.window.showInformationMessage(`${nameOf(uri)} is a module that TVM saved.`, OPEN);
    if (choice === OPEN) {
      await open(waking, uri);
    }
  };
  vscode.workspace.textDocuments.forEach((document) => void offer(document));
  return vscode.Disposable.from(
    command("openSaved", (uri) => openChosen(waking, uri)),
    vscode.workspace.onDidOpenTextDocument((document) => void offer(document)),
  );
}

/** Returns true if a JSON document looks like a saved graph of TVM. The server is precise, and reads all of it. */
export function isSavedModule(document: vscode.TextDocument): boolean {
  if (document.languageId !== "json" || document.uri.scheme !== "file") {
    return false;
  }
  const end = document.positionAt(HEAD);
  const head = document.getText(new vscode.Range(new vscode.Position(0, 0), end));
  return MARKERS.every((marker) => head.includes(marker));
}

/** Opens a file, by default the one in the active tab or one that the user chooses. Returns the document. */
async function openChosen(waking: Waking, uri?: vscode.Uri): Promise<vscode.Uri | undefined> {
  const active = vscode.window.activeTextEditor?.document.uri ?? uriBeyondReach();
  const file = uri ?? (active && /\.(json|tar)$/i.test(active.path) ? active : await chosenFile());
  return file && open(waking, file);
}

async function chosenFile(): Promise<vscode.Uri | undefined> {
  const filters = { "Saved Modules": ["json", "tar"], "All Files": ["*"] };
  const [uri] = (await vscode.window.showOpenDialog({ title: "Open Saved Module", openLabel: OPEN, filters })) ?? [];
  return uri;
}

/** Shows the text of a file, or an error message. */
async function open(waking: Waking, file: vscode.Uri): Promise<vscode.Uri | undefined> {
  const uri = convertedUri(file);
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document);
    return uri;
  } catch (error) {
    await explain(waking, file, error);
    return undefined;
  }
}

/** Requests the text again for the error message, which VS Code does not show for a failed document. */
async function explain(waking: Waking, file: vscode.Uri, error: unknown): Promise<void> {
  const client = await waking();
  if (client === undefined) {
    // An error of starting the server was shown already.
    return;
  }
  let reason = error instanceof Error ? error.message : String(error);
  try {
    await convertFile(client, file);
  } catch (refusal) {
    reason = refusal instanceof Error ? refusal.message : String(refusal);
  }
  void vscode.window.showErrorMessage(`${nameOf(file)}: ${reason}`);
}
