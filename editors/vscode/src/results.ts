// The view *Relay Results* in the panel: the tensors of a result, the profile, and the values that are NaN
// or infinite.

import * as vscode from "vscode";
import type { Range } from "vscode-languageclient";

import { showPage } from "./page.js";
import { RESULTS } from "./pages.js";

/** The totals of some calls. `at` is their place, if it is in the file that ran. */
interface Part {
  readonly calls: number;
  readonly seconds: number;
  readonly macs: number | null;
  readonly bytes: number;
}

/** The response to `relay.run`. */
export interface RunResult {
  readonly status: "done" | "failed" | "cancelled";
  readonly title: string;
  readonly text: string;
  readonly function?: string;
  readonly uri?: string;
  readonly milliseconds?: number;
  readonly drawn?: readonly string[];
  readonly seed?: number;
  readonly warnings?: readonly string[];
  readonly error?: { readonly message?: string; readonly range?: Range };
  /** The tensors of the result; other values have only a text. */
  readonly tensors?: readonly {
    readonly name: string;
    readonly text: string;
    readonly type?: string;
    readonly brief?: string;
    readonly scores?: readonly { readonly position: readonly number[]; readonly value: string }[] | null;
  }[];
  readonly profile?: {
    readonly bindings: readonly (Part & { readonly binding: string; readonly operator: string; readonly at: Range | null })[];
    readonly operators: readonly (Part & { readonly operator: string })[];
    readonly layers: readonly (Part & { readonly layer: string })[];
    readonly total: Part & { readonly cut: boolean };
  };
  /** The variables with NaN or Inf, in the order of evaluation. */
  readonly notFinite?: readonly {
    readonly name: string;
    readonly range: Range;
    readonly nan: number;
    readonly infinite: number;
    readonly elements: number;
  }[];
}

/** A message from the page. */
type FromPage = { readonly type: "ready" } | { readonly type: "text" } | { readonly type: "go"; readonly range: Range };

const VIEW = "relay.results";
export class Results implements vscode.Disposable, vscode.WebviewViewProvider {
  private view: vscode.WebviewView | undefined;
  private last: RunResult | undefined;
  private readonly registration: vscode.Disposable;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly showText: () => void,
  ) {
    this.registration = vscode.window.registerWebviewViewProvider(VIEW, this);
  }

  dispose(): void {
    this.registration.dispose();
  }

  /** Opens the view with a result without taking focus. */
  async show(result: RunResult): Promise<void> {
    this.last = result;
    await vscode.commands.executeCommand("setContext", "relay.hasResults", true);
    if (this.view === undefined) {
      await vscode.commands.executeCommand(`${VIEW}.focus`, { preserveFocus: true });
    } else {
      this.view.show(true);
    }
    await this.post();
  }

  /** Closes the view if it shows a result of this file. */
  async clear(uri: string): Promise<void> {
    if (this.last?.uri === uri) {
      this.last = undefined;
      if (this.view?.visible === true) {
        // Otherwise VS Code would focus another view, such as a terminal.
        await vscode.commands.executeCommand("workbench.action.closePanel");
      }
      await vscode.commands.executeCommand("setContext", "relay.hasResults", false);
    }
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    view.webview.onDidReceiveMessage((message: FromPage) => this.hear(message));
    view.onDidDispose(() => {
      this.view = undefined;
    });
    showPage(view.webview, this.extension, RESULTS);
  }

  private hear(message: FromPage): void {
    switch (message.type) {
      case "ready":
        // The page is new, or lost its state while it was hidden.
        void this.post();
        break;
      case "text":
        this.showText();
        break;
      case "go":
        void this.go(message.range);
        break;
    }
  }

  private async post(): Promise<void> {
    if (this.last !== undefined) {
      await this.view?.webview.postMessage({ type: "result", result: this.last });
    }
  }

  private async go({ start, end }: Range): Promise<void> {
    if (this.last?.uri !== undefined) {
      const selection = new vscode.Range(start.line, start.character, end.line, end.character);
      await vscode.window.showTextDocument(vscode.Uri.parse(this.last.uri), { selection });
    }
  }
}
