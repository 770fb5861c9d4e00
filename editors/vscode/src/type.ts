// The view of the type at the cursor: it stays open, and follows.

import * as vscode from "vscode";

import { panelBeside } from "./page.js";
import type { Page } from "./pages.js";
import { type Running, type TypeAt, typeAt } from "./protocol.js";

/** How long the cursor must rest before the server is asked, in milliseconds. */
const REST = 80;

const PAGE: Page = {
  title: "Type at Cursor",
  styles: ["type.css"],
  scripts: ["elements.js", "type.js"],
  body: `  <p id="nothing">Put the cursor on an expression of a Relay file.</p>
  <main id="info" hidden aria-live="polite"></main>`,
};

/** What the page says. */
type FromPage =
  | { readonly type: "ready" }
  | { readonly type: "shown"; readonly source: string; readonly lines: readonly string[]; readonly axes: number }
  | { readonly type: "go"; readonly location: { readonly uri: string; readonly range: TypeAt["range"] } };

/** What the view shows, as its page has said last. */
export interface ShownType {
  readonly source: string;
  readonly lines: readonly string[];
  /** Rows of axes. */
  readonly axes: number;
}

export class TypePanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked: vscode.CancellationTokenSource | undefined;
  /** What the page has been given last: a page that was hidden has forgotten it. */
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

  /** The server has started: what it knows may be new. */
  refresh(): void {
    this.later();
  }

  dispose(): void {
    this.forget();
    this.panel?.dispose();
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** Opens the view beside the editor; gives what it shows at the moment. */
  private open(): ShownType | undefined {
    if (this.panel === undefined) {
      this.create();
    } else {
      this.panel.reveal(undefined, true);
    }
    return this.shown;
  }

  private create(): void {
    const panel = panelBeside("relay.type", this.extension, PAGE);
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
        const { source, lines, axes } = message;
        this.shown = { source, lines, axes };
        break;
      }
      case "go":
        void this.go(message.location);
        break;
    }
  }

  /** Drops the question that is under way, and the one that would come next. */
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
    // Between names there is no type: what was shown stays. So it does where the text has changed
    // meanwhile, which asks anew.
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
