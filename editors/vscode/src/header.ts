// Wraps headers, which can be one line of 180,000 characters, to one parameter per line, in a read-only
// document, so that the file is not changed.

import * as vscode from "vscode";
import type { Position } from "vscode-languageclient";

import { type Running, readingFormat } from "./requests.js";
import type { Reading } from "./reading.js";

/** The scheme of documents that show a file in the format for reading. */
export const READING_SCHEME = "relay-reading";

/** The debounce of edits before the document is updated, in milliseconds. */
const REST = 300;

export class WrappedHeaders implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly running: Running,
    private readonly reading: Reading,
  ) {
    const command = (name: string, run: (uri?: string, at?: Position) => unknown) =>
      vscode.commands.registerCommand(`relay.${name}`, run);
    this.subscriptions = [
      this.changed,
      command("wrapHeader", (uri, at) => this.wrap(uri, at)),
      vscode.workspace.registerTextDocumentContentProvider(READING_SCHEME, this),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.later(document.uri)),
    ];
  }

  dispose(): void {
    this.timers.forEach((timer) => clearTimeout(timer));
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const client = this.running();
    const source = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri.query));
    return client === undefined ? source.getText() : readingFormat(client, source);
  }

  /** The file has changed, so the document must be updated. */
  private later(source: vscode.Uri): void {
    const uri = shownAs(source);
    const key = uri.toString();
    if (vscode.workspace.textDocuments.some((document) => document.uri.toString() === key)) {
      clearTimeout(this.timers.get(key));
      this.timers.set(key, setTimeout(() => this.changed.fire(uri), REST));
    }
  }

  /** Shows the function at a position: that of a lens, or the cursor. */
  private async wrap(uri?: string, at?: Position): Promise<void> {
    const client = this.running();
    const editor = vscode.window.activeTextEditor;
    const source =
      client !== undefined && uri !== undefined
        ? await vscode.workspace.openTextDocument(client.protocol2CodeConverter.asUri(uri))
        : editor?.document;
    if (source?.languageId !== "relay" || source.uri.scheme === READING_SCHEME) {
      void vscode.window.showWarningMessage("Open a Relay file to wrap its headers.");
      return;
    }
    const line = at?.line ?? editor?.selection.active.line ?? 0;
    const shown = await vscode.workspace.openTextDocument(shownAs(source.uri));
    const header = headerAt(source, line);
    const found = header === undefined ? 0 : Math.max(shown.getText().indexOf(header), 0);
    const start = shown.positionAt(found);
    await vscode.window.showTextDocument(shown, { selection: new vscode.Range(start, start), preview: true });
    await this.reading.show(shown);
  }
}

/** Names the document of `net.relay` `net (reading).relay`: the extension determines the language. */
function shownAs(source: vscode.Uri): vscode.Uri {
  const name = source.path.split("/").pop() ?? "";
  const stem = name.replace(/\.(relay|rly)$/, "");
  return vscode.Uri.from({ scheme: READING_SCHEME, path: `/${stem} (reading).relay`, query: source.toString() });
}

/** Returns `def @main(` of the last function that starts at or before a line. */
function headerAt(document: vscode.TextDocument, line: number): string | undefined {
  for (let at = Math.min(line, document.lineCount - 1); at >= 0; at--) {
    const found = /^\s*(def\s+@[\w/]+)/.exec(document.lineAt(at).text.slice(0, 500));
    if (found !== null) {
      return found[1];
    }
  }
  return undefined;
}
