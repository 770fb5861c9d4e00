// Untitled documents that begin with a module become Relay when it is typed or pasted.

import * as vscode from "vscode";

/** The first line of a module, as in `firstLine` of the manifest, which VS Code reads only where it opens a file. */
const MODULE = /^(?:#\[version\s*=|def @[A-Za-z_])/;

export function registerDetection(): vscode.Disposable {
  const detect = (document: vscode.TextDocument) => {
    if (document.isUntitled && document.languageId === "plaintext" && MODULE.test(document.lineAt(0).text)) {
      void vscode.languages.setTextDocumentLanguage(document, "relay");
    }
  };
  vscode.workspace.textDocuments.forEach(detect);
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(detect),
    vscode.workspace.onDidChangeTextDocument(({ document }) => detect(document)),
  );
}
