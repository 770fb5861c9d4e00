// A text with the empty lines of a comparison, which bring partners to the same height.

import * as vscode from "vscode";

import type { Filler, SideName } from "./protocol.js";

/** A text, and the lines that were added to it. */
export interface Aligned {
  readonly text: string;
  readonly fillers: readonly vscode.Range[];
}

/** Adds the empty lines of one side, which are in order. */
export function aligned(document: vscode.TextDocument, side: SideName, all: readonly Filler[]): Aligned {
  const lines: string[] = [];
  const fillers: vscode.Range[] = [];
  let next = 0;
  for (const { line, count } of all.filter((filler) => filler.side === side)) {
    for (; next < line; next++) {
      lines.push(document.lineAt(next).text);
    }
    fillers.push(new vscode.Range(lines.length, 0, lines.length + count - 1, 0));
    lines.push(...Array.from({ length: count }, () => ""));
  }
  for (; next < document.lineCount; next++) {
    lines.push(document.lineAt(next).text);
  }
  return { text: lines.join("\n"), fillers };
}
