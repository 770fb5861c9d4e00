// Tabs of editors.

import * as vscode from "vscode";

/** The files that a tab shows. */
export function urisOf({ input }: vscode.Tab): vscode.Uri[] {
  if (input instanceof vscode.TabInputTextDiff) {
    return [input.original, input.modified];
  }
  // Also a file that is too large for an editor, whose tab has an unknown input.
  const { uri } = (input ?? {}) as { readonly uri?: unknown };
  return uri instanceof vscode.Uri ? [uri] : [];
}
