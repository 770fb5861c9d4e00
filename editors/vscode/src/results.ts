// The view *Relay Results* in the panel: the tensors of a result, the profile, and the values that are NaN
// or infinite.

import * as vscode from "vscode";

import { showPage } from "./page.js";
import { RESULTS } from "./pages.js";
import type { Range, RunResult } from "./protocol.js";
import type { ValueArgument } from "./run.js";

/** A message from the page. */
type FromPage =
  | { readonly type: "ready" }
  | { readonly type: "text" }
  | { readonly type: "go"; readonly range: Range }
  | { readonly type: "view"; readonly name: string };

/** What a result is the value of. */
interface ResultOrigin {
  readonly uri: string;
  readonly value: ValueArgument;
}

const VIEW = "relay.results";
export class Results implements vscode.Disposable, vscode.WebviewViewProvider {
  private view: vscode.WebviewView | undefined;
  private last: RunResult | undefined;
  private origin: ResultOrigin | undefined;
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
  async show(result: RunResult, origin: ResultOrigin): Promise<void> {
    this.last = result;
    this.origin = origin;
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
      case "view":
        void this.openTensor(message.name);
        break;
    }
  }

  private async post(): Promise<void> {
    if (this.last !== undefined) {
      await this.view?.webview.postMessage({ type: "result", result: this.last });
    }
  }

  /** Opens the view of a tensor of the result, for which the function is run again. */
  private async openTensor(name: string): Promise<void> {
    if (this.origin !== undefined) {
      const { uri, value } = this.origin;
      await vscode.commands.executeCommand("relay.viewTensor", { name, uri, value: { ...value, part: name } });
    }
  }

  private async go({ start, end }: Range): Promise<void> {
    if (this.last?.uri !== undefined) {
      const selection = new vscode.Range(start.line, start.character, end.line, end.character);
      await vscode.window.showTextDocument(vscode.Uri.parse(this.last.uri), { selection });
    }
  }
}
