// The shape panel: the report of a file in a panel beside it that follows the cursor.

import * as vscode from "vscode";
import type { BaseLanguageClient as LanguageClient } from "vscode-languageclient";

import { chosenFromDisk, fileBeyondReach } from "./large.js";
import { panelBeside, restored } from "./page.js";
import { SHAPES } from "./pages.js";
import type { FunctionShapes, ShapeReport } from "./protocol.js";
import { type Running, type Side, shapes, shapesOfFile } from "./requests.js";

/** The debounce of edits before the report is updated, in milliseconds. */
const REST = 300;

const TYPE = "relay.shapes";

/** A message from the page. */
type FromPage =
  | { readonly type: "ready" }
  | { readonly type: "shown"; readonly rows: number; readonly functions: readonly string[] }
  | { readonly type: "marked"; readonly name: string }
  | { readonly type: "go"; readonly range: ShapeReport["functions"][number]["range"]; readonly stay?: boolean }
  | { readonly type: "save"; readonly name: string; readonly data: string | Uint8Array; readonly whole: boolean };

/** The content of the panel, as last reported by its page. */
export interface Shown {
  readonly uri: string;
  readonly version: number;
  readonly functions: readonly string[];
  /** The number of rows of the selected function. */
  readonly rows: number;
  /** The row at the cursor: its variable, or its number. */
  readonly marked: string | undefined;
}

/** A request and its pending response. */
interface Asked {
  readonly about: vscode.TextDocument | vscode.Uri;
  readonly version: number | undefined;
  readonly answer: Promise<ShapeReport>;
}

export class ShapePanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private document: vscode.TextDocument | undefined;
  /** The file that is read from disk, if it has no document. */
  private file: vscode.Uri | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private report: ShapeReport | undefined;
  /** The last request; the page shows that it is loading until the response arrives. */
  private asked: Asked | undefined;
  private isReady = false;
  private shown: Shown | undefined;
  private waiting: (() => void)[] = [];
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly running: Running,
    private readonly extension: vscode.Uri,
    /** The module that a document is compared with. */
    private readonly before: (document: vscode.TextDocument) => Side | undefined,
  ) {
    const command = (name: string, run: () => unknown) => vscode.commands.registerCommand(`relay.${name}`, run);
    this.subscriptions = [
      command("shapes", () => this.open()),
      restored(TYPE, extension, SHAPES, (panel, state) => this.restore(panel, state)),
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        if (editor !== undefined && isRelay(editor.document) && editor.document !== this.document) {
          this.follow(editor.document);
        }
      }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.markCursor(textEditor)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document === this.document) {
          this.later(REST);
        }
      }),
    ];
  }

  /** The server has started, a run has ended, or a comparison has changed: the results may differ. */
  refresh(): void {
    this.asked = undefined;
    if (this.panel !== undefined) {
      this.later(0);
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** Opens the panel beside the editor. Returns its content. */
  private async open(): Promise<Shown | undefined> {
    const file = fileBeyondReach();
    if (file !== undefined && !(await chosenFromDisk(file))) {
      return undefined;
    }
    const document = file ?? vscode.window.activeTextEditor?.document ?? this.document;
    if (document === undefined || (!(document instanceof vscode.Uri) && !isRelay(document))) {
      void vscode.window.showWarningMessage("Open a Relay file to see its shapes.");
      return undefined;
    }
    const drawn = new Promise<void>((resolve) => this.waiting.push(resolve));
    if (this.panel === undefined) {
      this.create();
    } else {
      this.panel.reveal(undefined, true);
      // The settings may have changed without an edit.
      this.asked = undefined;
    }
    this.follow(document);
    await drawn;
    return this.shown;
  }

  private create(): void {
    this.adopt(panelBeside(TYPE, this.extension, SHAPES));
  }

  /** Shows the file of a panel that VS Code has restored. */
  private async restore(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    this.panel?.dispose();
    this.adopt(panel);
    const { uri: name } = (state ?? {}) as { readonly uri?: string };
    if (name === undefined) {
      // VS Code lost the state of the page: it was closed before it was stored.
      const editor = vscode.window.visibleTextEditors.find(({ document }) => isRelay(document));
      if (editor !== undefined) {
        this.follow(editor.document);
      }
      return;
    }
    const uri = vscode.Uri.parse(name);
    // VS Code withholds large files.
    const document = await Promise.resolve(vscode.workspace.openTextDocument(uri)).catch(() => undefined);
    this.follow(document ?? uri);
  }

  private adopt(panel: vscode.WebviewPanel): void {
    panel.webview.onDidReceiveMessage((message: FromPage) => this.hear(message));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.asked = undefined;
      this.isReady = false;
      this.report = undefined;
      this.shown = undefined;
      this.answer();
    });
    this.panel = panel;
  }

  private hear(message: FromPage): void {
    switch (message.type) {
      case "ready":
        // The page is new, or lost its state while it was hidden.
        this.isReady = true;
        this.report = undefined;
        clearTimeout(this.timer);
        void this.send();
        break;
      case "shown":
        this.shown = {
          uri: (this.document?.uri ?? this.file)?.toString() ?? "",
          version: this.report?.version ?? 0,
          functions: message.functions,
          rows: message.rows,
          marked: this.shown?.marked,
        };
        this.answer();
        break;
      case "marked":
        if (this.shown !== undefined) {
          this.shown = { ...this.shown, marked: message.name };
        }
        break;
      case "go":
        void this.go(message.range, message.stay ?? false);
        break;
      case "save":
        void this.save(message.name, message.data, message.whole);
        break;
    }
  }

  private answer(): void {
    for (const resolve of this.waiting.splice(0)) {
      resolve();
    }
  }

  private follow(shown: vscode.TextDocument | vscode.Uri): void {
    this.document = shown instanceof vscode.Uri ? undefined : shown;
    this.file = shown instanceof vscode.Uri ? shown : undefined;
    if (this.panel !== undefined) {
      this.report = undefined;
      clearTimeout(this.timer);
      void this.send();
    }
  }

  private later(milliseconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.send(), milliseconds);
  }

  private async send(): Promise<void> {
    const { panel, document, file } = this;
    const uri = document?.uri ?? file;
    if (panel === undefined || uri === undefined) {
      return;
    }
    const post = (message: object) => panel.webview.postMessage(message);
    panel.title = `Shapes: ${uri.path.split("/").pop() ?? ""}`;
    const client = this.running();
    if (client === undefined) {
      await post({ type: "problem", text: "relay-analyzer does not run." });
      return;
    }
    const version = document?.version;
    const asked = this.ask(client, document ?? uri, version);
    let report: ShapeReport;
    try {
      report = await asked.answer;
    } catch (error) {
      if (asked === this.asked) {
        this.asked = undefined;
      }
      // A change of the text cancels the request and sends it again.
      if (document === this.document && document?.version === version && document?.isClosed !== true) {
        await post({ type: "problem", text: error instanceof Error ? error.message : String(error) });
      }
      return;
    }
    const isOther = document !== this.document || file !== this.file;
    // A page that has not loaded yet requests the report itself.
    if (panel !== this.panel || isOther || !this.isReady) {
      return;
    }
    this.report = report;
    await post({ type: "report", uri: uri.toString(), functions: report.functions.flatMap(flat) });
    const editor = vscode.window.visibleTextEditors.find((editor) => editor.document === document);
    if (editor !== undefined) {
      this.markCursor(editor);
    }
  }

  /** The report of the current text, requested at most once. */
  private ask(client: LanguageClient, about: vscode.TextDocument | vscode.Uri, version: number | undefined): Asked {
    if (this.asked?.about !== about || this.asked.version !== version) {
      const answer = about instanceof vscode.Uri ? shapesOfFile(client, about) : shapes(client, about, this.before(about));
      this.asked = { about, version, answer };
    }
    return this.asked;
  }

  private markCursor(editor: vscode.TextEditor): void {
    if (this.panel !== undefined && editor.document === this.document && this.report !== undefined) {
      const { line, character } = editor.selection.active;
      void this.panel.webview.postMessage({ type: "cursor", line, character });
    }
  }

  private async go(range: ShapeReport["functions"][number]["range"], stay: boolean): Promise<void> {
    const { document, file } = this;
    const convert = this.running()?.protocol2CodeConverter;
    if (convert === undefined) {
      return;
    }
    if (document === undefined) {
      const { start } = convert.asRange(range);
      const options = { selection: new vscode.Range(start, start), viewColumn: vscode.ViewColumn.One, preserveFocus: stay };
      await vscode.commands.executeCommand("vscode.open", file, options);
      return;
    }
    const open = vscode.window.visibleTextEditors.find((editor) => editor.document === document);
    const start = convert.asRange(range).start;
    await vscode.window.showTextDocument(document, {
      selection: new vscode.Range(start, start),
      viewColumn: open?.viewColumn ?? vscode.ViewColumn.One,
      preserveFocus: stay,
    });
  }

  /** Saves the graph to a file that the user chooses, by default next to the module. */
  private async save(name: string, data: string | Uint8Array, whole: boolean): Promise<void> {
    const kind = name.split(".").pop() ?? "";
    const shown = this.document?.isUntitled ? undefined : (this.document?.uri ?? this.file);
    const folder = shown ? vscode.Uri.joinPath(shown, "..") : vscode.workspace.workspaceFolders?.[0]?.uri;
    const uri = await vscode.window.showSaveDialog({
      ...(folder && { defaultUri: vscode.Uri.joinPath(folder, name) }),
      filters: { [kind.toUpperCase()]: [kind] },
    });
    if (uri === undefined) {
      return;
    }
    const file = uri.path.split("/").pop() ?? name;
    try {
      await vscode.workspace.fs.writeFile(uri, typeof data === "string" ? new TextEncoder().encode(data) : data);
    } catch (error) {
      void vscode.window.showErrorMessage(`${file} cannot be saved: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    const part = "It shows the visible part, because the whole graph is too large for a PNG. Use SVG for the whole graph.";
    void vscode.window.showInformationMessage(whole ? `Saved ${file}.` : `Saved ${file}. ${part}`);
  }
}

function isRelay(document: vscode.TextDocument): boolean {
  return document.languageId === "relay";
}

/** A function and its inner functions. */
function flat(one: FunctionShapes): FunctionShapes[] {
  return [{ ...one, functions: [] }, ...one.functions.flatMap(flat)];
}
