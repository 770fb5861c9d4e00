// The view of the type at the cursor, which follows the cursor.

import * as vscode from "vscode";

import { panelBeside, restored } from "./page.js";
import type { Page } from "./pages.js";
import type { TypeAt } from "./protocol.js";
import { type Running, typeAt } from "./requests.js";

/** The debounce of cursor moves before a request, in milliseconds. */
const REST = 80;

const PAGE: Page = {
  title: "Type at Cursor",
  styles: ["type.css"],
  scripts: ["elements.js", "histogram.js", "type.js"],
  body: `  <p id="nothing">Put the cursor on an expression of a Relay file.</p>
  <main id="info" hidden aria-live="polite"></main>`,
};

const TYPE = "relay.type";

/** A message from the page. */
type FromPage =
  | { readonly type: "ready" }
  | ({ readonly type: "shown" } & ShownType)
  | { readonly type: "go"; readonly location: { readonly uri: string; readonly range: TypeAt["range"] } };

/** The content of the view, as last reported by its page. */
export interface ShownType {
  readonly source: string;
  readonly lines: readonly string[];
  /** The number of rows of axes. */
  readonly axes: number;
  /** Bars of the histogram. */
  readonly bars: number;
}

export class TypePanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked: vscode.CancellationTokenSource | undefined;
  /** The last content: a page that was hidden has lost it. */
  private last: TypeAt | undefined;
  private shown: ShownType | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly running: Running,
    private readonly extension: vscode.Uri,
  ) {
    const command = (name: string, run: () => unknown) => vscode.commands.registerCommand(`relay.${name}`, run);
    this.subscriptions = [
      command("typeAtCursor", () => this.open()),
      restored(TYPE, extension, PAGE, (panel) => {
        this.panel?.dispose();
        this.adopt(panel);
      }),
      vscode.window.onDidChangeActiveTextEditor(() => this.later()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === vscode.window.activeTextEditor) {
          this.later();
        }
      }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document === vscode.window.activeTextEditor?.document) {
          this.later();
        }
      }),
    ];
  }

  /** The server has started: its results may differ. */
  refresh(): void {
    this.later();
  }

  dispose(): void {
    this.forget();
    this.panel?.dispose();
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** Opens the view beside the editor. Returns its current content. */
  private open(): ShownType | undefined {
    if (this.panel === undefined) {
      this.create();
    } else {
      this.panel.reveal(undefined, true);
    }
    return this.shown;
  }

  private create(): void {
    this.adopt(panelBeside(TYPE, this.extension, PAGE));
  }

  private adopt(panel: vscode.WebviewPanel): void {
    panel.webview.onDidReceiveMessage((message: FromPage) => this.hear(message));
    panel.onDidDispose(() => {
      this.forget();
      this.panel = undefined;
      this.last = undefined;
      this.shown = undefined;
    });
    this.panel = panel;
  }

  private hear(message: FromPage): void {
    switch (message.type) {
      case "ready":
        void this.post();
        this.later();
        break;
      case "shown": {
        const { source, lines, axes, bars } = message;
        this.shown = { source, lines, axes, bars };
        break;
      }
      case "go":
        void this.go(message.location);
        break;
    }
  }

  /** Cancels the active and the pending request. */
  private forget(): void {
    clearTimeout(this.timer);
    this.asked?.cancel();
    this.asked?.dispose();
    this.asked = undefined;
  }

  private later(): void {
    if (this.panel !== undefined) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.ask(), REST);
    }
  }

  private async ask(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const client = this.running();
    if (this.panel === undefined || editor?.document.languageId !== "relay" || client === undefined) {
      return;
    }
    this.forget();
    const asked = new vscode.CancellationTokenSource();
    this.asked = asked;
    const found = await typeAt(client, editor.document, editor.selection.active, asked.token).catch(() => null);
    // Without a type at the cursor, the previous one stays, as it does while the text changes, which sends
    // another request.
    if (found !== null && !asked.token.isCancellationRequested) {
      this.last = found;
      await this.post();
    }
  }

  private async post(): Promise<void> {
    if (this.last !== undefined) {
      await this.panel?.webview.postMessage({ type: "info", info: this.last });
    }
  }

  private async go(location: { readonly uri: string; readonly range: TypeAt["range"] }): Promise<void> {
    const convert = this.running()?.protocol2CodeConverter;
    if (convert === undefined) {
      return;
    }
    const uri = convert.asUri(location.uri);
    const open = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString());
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), {
      selection: convert.asRange(location.range),
      viewColumn: open?.viewColumn ?? vscode.ViewColumn.One,
    });
  }
}
