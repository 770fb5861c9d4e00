// The shape panel: the report of the file beside it, following the cursor.

import * as vscode from "vscode";

import { chosenFromDisk, fileBeyondReach } from "./large.js";
import { type FunctionShapes, type Report, type Running, shapes, shapesOfFile } from "./protocol.js";

/** How long the text must rest before it is reported anew, in milliseconds. */
const REST = 300;

/** What the page says. */
type FromPage =
  | { readonly type: "ready" }
  | { readonly type: "shown"; readonly rows: number; readonly functions: readonly string[] }
  | { readonly type: "marked"; readonly name: string }
  | { readonly type: "go"; readonly range: Report["functions"][number]["range"] };

/** What the panel shows, as its page has said last. */
export interface Shown {
  readonly uri: string;
  readonly version: number;
  readonly functions: readonly string[];
  /** Rows of the function that is chosen. */
  readonly rows: number;
  /** The row under the cursor: its variable, else its number. */
  readonly marked: string | undefined;
}

export class ShapePanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private document: vscode.TextDocument | undefined;
  /** The file that is read from disk, where there is no document for it. */
  private file: vscode.Uri | undefined;
  private timer: NodeJS.Timeout | undefined;
  private report: Report | undefined;
  private shown: Shown | undefined;
  private waiting: (() => void)[] = [];
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly running: Running,
    private readonly extension: vscode.Uri,
  ) {
    const command = (name: string, run: () => unknown) => vscode.commands.registerCommand(`relay.${name}`, run);
    this.subscriptions = [
      command("shapes", () => this.open()),
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

  /** The server has started: what it reports may be new. */
  refresh(): void {
    if (this.panel !== undefined) {
      this.later(0);
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** Opens the panel beside the editor; gives what it shows. */
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
    }
    this.follow(document);
    await drawn;
    return this.shown;
  }

  private create(): void {
    const media = vscode.Uri.joinPath(this.extension, "media");
    const panel = vscode.window.createWebviewPanel(
      "relay.shapes",
      "Shapes",
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [media] },
    );
    panel.webview.html = page(panel.webview, media);
    panel.webview.onDidReceiveMessage((message: FromPage) => this.hear(message));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.report = undefined;
      this.shown = undefined;
      this.answer();
    });
    this.panel = panel;
  }

  private hear(message: FromPage): void {
    switch (message.type) {
      case "ready":
        // The page is new, or was hidden and has forgotten everything.
        this.report = undefined;
        this.later(0);
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
        void this.go(message.range);
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
      this.later(0);
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
    let report: Report;
    try {
      report = await (document === undefined ? shapesOfFile(client, uri) : shapes(client, document));
    } catch (error) {
      // A change of the text cancels the question; the change asks anew.
      if (document === this.document && document?.version === version && document?.isClosed !== true) {
        await post({ type: "problem", text: error instanceof Error ? error.message : String(error) });
      }
      return;
    }
    if (panel !== this.panel || document !== this.document || file !== this.file) {
      return;
    }
    this.report = report;
    await post({ type: "report", functions: report.functions.flatMap(flat) });
    const editor = vscode.window.visibleTextEditors.find((editor) => editor.document === document);
    if (editor !== undefined) {
      this.markCursor(editor);
    }
  }

  private markCursor(editor: vscode.TextEditor): void {
    if (this.panel !== undefined && editor.document === this.document && this.report !== undefined) {
      const { line, character } = editor.selection.active;
      void this.panel.webview.postMessage({ type: "cursor", line, character });
    }
  }

  private async go(range: Report["functions"][number]["range"]): Promise<void> {
    const { document, file } = this;
    const convert = this.running()?.protocol2CodeConverter;
    if (convert === undefined) {
      return;
    }
    if (document === undefined) {
      const { start } = convert.asRange(range);
      const options = { selection: new vscode.Range(start, start), viewColumn: vscode.ViewColumn.One };
      await vscode.commands.executeCommand("vscode.open", file, options);
      return;
    }
    const open = vscode.window.visibleTextEditors.find((editor) => editor.document === document);
    const start = convert.asRange(range).start;
    await vscode.window.showTextDocument(document, {
      selection: new vscode.Range(start, start),
      viewColumn: open?.viewColumn ?? vscode.ViewColumn.One,
    });
  }
}

function isRelay(document: vscode.TextDocument): boolean {
  return document.languageId === "relay";
}

/** A function, and those inside it. */
function flat(one: FunctionShapes): FunctionShapes[] {
  return [{ ...one, functions: [] }, ...one.functions.flatMap(flat)];
}

/** The page: it may load its own script and style, and nothing else. */
function page(webview: vscode.Webview, media: vscode.Uri): string {
  const local = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src ${webview.cspSource}`;
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <link rel="stylesheet" href="${local("shapes.css")}">
  <title>Shapes</title>
</head>
<body>
  <header>
    <select id="function" aria-label="Function"></select>
    <input id="search" type="search" placeholder="Search" aria-label="Search">
    <span id="tabs" role="tablist">
      <button id="show-table" role="tab" aria-selected="true">Table</button>
      <button id="show-graph" role="tab" aria-selected="false">Graph</button>
      <button id="show-sums" role="tab" aria-selected="false">Sums</button>
    </span>
    <label>Colour <select id="colour">
      <option value="macs">MACs</option>
      <option value="bytes">bytes</option>
      <option value="liveBytes">live memory</option>
      <option value="parameters">parameters</option>
    </select></label>
  </header>
  <p id="total" role="status"></p>
  <main id="table"><div id="scroll" tabindex="0">
    <table><thead></thead><tbody></tbody></table>
  </div></main>
  <main id="graph" hidden><canvas tabindex="0" aria-label="Dataflow graph"></canvas><div id="tip" hidden></div></main>
  <main id="sums" hidden></main>
  <script src="${local("graph.js")}"></script>
  <script src="${local("shapes.js")}"></script>
</body>
</html>`;
}
