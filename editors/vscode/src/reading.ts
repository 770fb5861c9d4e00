// The reading view: comments that TVM has printed are out of sight, weights are dim, chains are folded.
// The file stays as it is.

import * as vscode from "vscode";

import { type ReadingView, type Running, readingView } from "./protocol.js";

/** How long the text must rest before the view is made anew, in milliseconds. */
const REST = 200;

/** What is in sight less than usual; the cursor's lines are as ever. */
export interface ShownReading {
  readonly hidden: number;
  readonly dimmed: number;
  readonly chains: number;
}

export class Reading implements vscode.Disposable, vscode.FoldingRangeProvider {
  // An editor has no means to hide text: a style of a decoration has.
  private readonly hidden = vscode.window.createTextEditorDecorationType({ textDecoration: "none; display: none" });
  private readonly dimmed = vscode.window.createTextEditorDecorationType({ opacity: "0.5" });
  /** The documents that are read, with what the server has said of them last. */
  private readonly views = new Map<vscode.TextDocument, ReadingView | undefined>();
  private readonly timers = new Map<vscode.TextDocument, NodeJS.Timeout>();
  private readonly folds = new vscode.EventEmitter<void>();
  readonly onDidChangeFoldingRanges = this.folds.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly running: Running) {
    const command = (name: string, run: () => unknown) => vscode.commands.registerCommand(`relay.${name}`, run);
    this.subscriptions = [
      this.hidden,
      this.dimmed,
      this.folds,
      command("readingView", () => this.toggle()),
      vscode.languages.registerFoldingRangeProvider({ language: "relay" }, this),
      vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.draw(editor))),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.draw(textEditor)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.later(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.forget(document)),
    ];
  }

  dispose(): void {
    for (const timer of this.timers.values()) {
      clearTimeout(timer);
    }
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** The server has started: what it knows may be new. */
  refresh(): void {
    for (const document of this.views.keys()) {
      this.later(document);
    }
  }

  provideFoldingRanges(document: vscode.TextDocument): vscode.FoldingRange[] {
    const chains = this.views.get(document)?.chains ?? [];
    return chains.map(([first, last]) => new vscode.FoldingRange(first, last, vscode.FoldingRangeKind.Region));
  }

  /** Turns the view of the active file on or off; gives what it shows, or nothing. */
  private async toggle(): Promise<ShownReading | undefined> {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.languageId !== "relay") {
      void vscode.window.showWarningMessage("Open a Relay file to read it.");
      return undefined;
    }
    const { document } = editor;
    const before = this.views.get(document);
    if (this.views.has(document)) {
      await this.fold("editor.unfold", before);
      this.forget(document);
      this.folds.fire();
      return undefined;
    }
    this.views.set(document, undefined);
    await this.update(document);
    const view = this.views.get(document);
    if (view !== undefined && document === vscode.window.activeTextEditor?.document) {
      // The editor asks for folds when it is told to, and not at once.
      await vscode.commands.executeCommand("vscode.executeFoldingRangeProvider", document.uri);
      await new Promise((resolve) => setTimeout(resolve, REST));
      await this.fold("editor.fold", view);
    }
    return view && { hidden: view.hidden.length, dimmed: view.dimmed.length, chains: view.chains.length };
  }

  private async fold(command: string, view: ReadingView | undefined): Promise<void> {
    if (view !== undefined && view.chains.length > 0) {
      const selectionLines = view.chains.map(([first]) => first);
      await vscode.commands.executeCommand(command, { levels: 1, direction: "up", selectionLines });
    }
  }

  private forget(document: vscode.TextDocument): void {
    clearTimeout(this.timers.get(document));
    this.timers.delete(document);
    if (this.views.delete(document)) {
      vscode.window.visibleTextEditors.forEach((editor) => editor.document === document && this.draw(editor));
    }
  }

  private later(document: vscode.TextDocument): void {
    if (this.views.has(document)) {
      clearTimeout(this.timers.get(document));
      this.timers.set(document, setTimeout(() => void this.update(document), REST));
    }
  }

  private async update(document: vscode.TextDocument): Promise<void> {
    const client = this.running();
    // A change of the text cancels the question, and asks anew.
    const view = client && (await readingView(client, document).catch(() => undefined));
    if (view === undefined || view.version !== document.version || !this.views.has(document)) {
      return;
    }
    this.views.set(document, view);
    this.folds.fire();
    vscode.window.visibleTextEditors.forEach((editor) => this.draw(editor));
  }

  private draw(editor: vscode.TextEditor): void {
    if (editor.document.languageId !== "relay") {
      return;
    }
    const view = this.views.get(editor.document);
    if (view === undefined && this.views.has(editor.document)) {
      return;
    }
    // What is edited is seen.
    const edited = new Set(editor.selections.map((selection) => selection.active.line));
    const range = ([line, start, end]: readonly [number, number, number]) => new vscode.Range(line, start, line, end);
    const hidden = view?.hidden.filter(([line]) => !edited.has(line)) ?? [];
    editor.setDecorations(this.hidden, hidden.map(range));
    editor.setDecorations(this.dimmed, view?.dimmed.map(range) ?? []);
  }
}
