// The smallest module that still has a diagnostic: the server reduces the document, and the result is a new one.

import * as vscode from "vscode";
import type { Position } from "vscode-languageclient";

import { type Running, reduceTo } from "./requests.js";

/** The command of the code action. */
export const REDUCE_TO = "relay.reduceToDiagnostic";

export function registerReduce(running: Running): vscode.Disposable {
  const command = (name: string, run: (uri?: string, at?: Position, code?: string) => unknown) =>
    vscode.commands.registerCommand(`relay.${name}`, run);
  return command("reduceToDiagnostic", (uri, at, code) => reduce(running, uri, at, code));
}

/** Reduces to a diagnostic: that of a code action, or the one at the cursor. */
async function reduce(running: Running, uri?: string, at?: Position, code?: string): Promise<void> {
  const client = running();
  if (client === undefined) {
    void vscode.window.showWarningMessage("relay-analyzer does not run.");
    return;
  }
  if (uri === undefined || at === undefined) {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.languageId !== "relay") {
      void vscode.window.showWarningMessage("Put the cursor on a diagnostic of a Relay file.");
      return;
    }
    uri = client.code2ProtocolConverter.asUri(editor.document.uri);
    at = client.code2ProtocolConverter.asPosition(editor.selection.active);
  }
  const target = { uri, position: at, ...(code === undefined ? {} : { code }) };
  const progress = { location: vscode.ProgressLocation.Notification, title: "Reducing to the diagnostic", cancellable: true };
  try {
    const found = await vscode.window.withProgress(progress, (_, token) => reduceTo(client, target, token));
    const document = await vscode.workspace.openTextDocument({ language: "relay", content: found.text });
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside });
  } catch (error) {
    // A cancelled request has no result.
    if (!(error instanceof vscode.CancellationError) && (error as { code?: number }).code !== CANCELLED) {
      void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
    }
  }
}

/** `RequestCancelled` of the protocol. */
const CANCELLED = -32800;
