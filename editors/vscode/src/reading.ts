// The reading view: hides printed comments and shows the shape of each statement in a column, dims weights,
// and folds chains with a summary. The file is not changed.

import * as vscode from "vscode";

import type { ReadingView } from "./protocol.js";
import { type Running, readingView } from "./requests.js";

/** The debounce of edits before the view is updated, in milliseconds. */
const REST = 200;
/** The debounce of scrolling before decorations of visible lines are rendered, in milliseconds. */
const STILL = 40;

/** The maximal start of the column of shapes, in characters, so that it stays visible. */
const FURTHEST = 80;
/** Longer shapes, as of tuples, do not widen the column. */
const WIDEST = 18;
/** The gap between the text and the column. */
const GAP = 3;
/** The padding of an inlay hint, in characters. */
const PADDING = 1;
const SPACE = "\u00a0";

/** The hidden parts of the view; the lines of the cursor are shown in full. */
export interface ShownReading {
  readonly hidden: number;
  readonly dimmed: number;
  readonly chains: number;
  /** Lines that show the shape of their statement. */
  readonly shapes: number;
}

/** The response of the server for a document, and derived data. */
interface View extends ReadingView {
  /** The number of hidden characters by line. */
  readonly out: ReadonlyMap<number, number>;
  readonly shapeOf: ReadonlyMap<number, string>;
  /** The width of the column of shapes. */
  readonly width: number;
  /** The start of the column, which only increases, to avoid flicker. */
  column: number;
  /** The first lines of folded chains. */
  folded: ReadonlySet<number>;
  /** The number of levels that are folded. */
  level: number;
}

/** The level that was folded, for the caller of the command. */
export interface FoldedLevel {
  /** From 1; 0 if everything is visible again. */
  readonly level: number;
  readonly levels: number;
}

export class Reading implements vscode.Disposable, vscode.FoldingRangeProvider {
  // The API has no way to hide text, except through the style of a decoration.
  private readonly hidden = vscode.window.createTextEditorDecorationType({ textDecoration: "none; display: none" });
  private readonly dimmed = vscode.window.createTextEditorDecorationType({ opacity: "0.5" });
  private readonly shapes = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor("descriptionForeground") },
  });
  private readonly summaries = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor("descriptionForeground") },
  });
  /** The documents with a reading view, with the last response of the server. */
  private readonly views = new Map<vscode.TextDocument, View | undefined>();
  private readonly still = new Map<vscode.TextEditor, ReturnType<typeof setTimeout>>();
  private readonly timers = new Map<vscode.TextDocument, ReturnType<typeof setTimeout>>();
  private readonly folds = new vscode.EventEmitter<void>();
  readonly onDidChangeFoldingRanges = this.folds.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly running: Running) {
    const command = (name: string, run: () => unknown) => vscode.commands.registerCommand(`relay.${name}`, run);
    this.subscriptions = [
      this.hidden,
      this.dimmed,
      this.shapes,
      this.summaries,
      this.folds,
      command("readingView", () => this.toggle()),
      command("foldLevel", () => this.foldLevel()),
      vscode.languages.registerFoldingRangeProvider({ language: "relay" }, this),
      vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.draw(editor))),
      vscode.window.onDidChangeActiveTextEditor(() => this.tellKeys()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.draw(textEditor)),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.drawLinesSoon(textEditor)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.later(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.forget(document)),
    ];
  }

  dispose(): void {
    for (const timer of [...this.timers.values(), ...this.still.values()]) {
      clearTimeout(timer);
    }
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** The server has started: its results may differ. */
  refresh(): void {
    for (const document of this.views.keys()) {
      this.later(document);
    }
  }

  /** Turns the view of a document on, without folds. */
  async show(document: vscode.TextDocument): Promise<void> {
    if (!this.views.has(document)) {
      this.views.set(document, undefined);
      this.tellKeys();
      await this.update(document);
    }
  }

  provideFoldingRanges(document: vscode.TextDocument): vscode.FoldingRange[] {
    const chains = this.views.get(document)?.chains ?? [];
    return chains.map(([first, last]) => new vscode.FoldingRange(first, last, vscode.FoldingRangeKind.Region));
  }

  /** The folding ranges of the server without those that begin with a chain: VS Code folds one range from a line. */
  besideChains(document: vscode.TextDocument, ranges: readonly vscode.FoldingRange[]): vscode.FoldingRange[] {
    const chains = new Set((this.views.get(document)?.chains ?? []).map(([first]) => first));
    return ranges.filter(({ start }) => !chains.has(start));
  }

  /** Toggles the view of the active file. Returns what it shows, or undefined if it is off. */
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
    this.tellKeys();
    await this.update(document);
    const view = this.views.get(document);
    if (view !== undefined && document === vscode.window.activeTextEditor?.document) {
      // VS Code requests folding ranges asynchronously after a notification.
      await vscode.commands.executeCommand("vscode.executeFoldingRangeProvider", document.uri);
      await new Promise((resolve) => setTimeout(resolve, REST));
      await this.fold("editor.fold", view);
      view.folded = new Set(view.chains.map(([first]) => first));
    }
    return (
      view && {
        hidden: view.hidden.length,
        dimmed: view.dimmed.length,
        chains: view.chains.length,
        shapes: view.shapes.length,
      }
    );
  }

  /**
   * Folds the next level: what is inside bindings, then inner functions, then definitions. *Fold All* of VS Code leaves
   * one line of a function. After the last level, everything is unfolded.
   */
  private async foldLevel(): Promise<FoldedLevel | undefined> {
    const editor = vscode.window.activeTextEditor;
    if (editor !== undefined && !this.views.has(editor.document)) {
      await this.toggle();
    }
    const view = editor && this.views.get(editor.document);
    if (view === undefined) {
      return undefined;
    }
    // The view itself folds chains, which may be all of the first level.
    if (view.level === 0 && view.levels[0]?.every((line) => view.folded.has(line)) === true) {
      view.level = 1;
    }
    const selectionLines = view.levels[view.level];
    if (selectionLines === undefined) {
      view.level = 0;
      await vscode.commands.executeCommand("editor.unfoldAll");
    } else {
      view.level += 1;
      await vscode.commands.executeCommand("editor.fold", { levels: 1, direction: "up", selectionLines });
    }
    return { level: view.level, levels: view.levels.length };
  }

  /** The key of *Fold All* folds a level in a reading view. */
  private tellKeys(): void {
    const document = vscode.window.activeTextEditor?.document;
    void vscode.commands.executeCommand("setContext", "relay.reading", document !== undefined && this.views.has(document));
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
      this.tellKeys();
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
    // A change of the text cancels the request and sends it again.
    const view = client && (await readingView(client, document).catch(() => undefined));
    if (view === undefined || view.version !== document.version || !this.views.has(document)) {
      return;
    }
    const level = Math.min(this.views.get(document)?.level ?? 0, view.levels.length);
    this.views.set(document, { ...understood(view), level });
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
    // Edited lines are shown in full.
    const edited = new Set(editor.selections.map((selection) => selection.active.line));
    const range = ([line, start, end]: readonly [number, number, number]) => new vscode.Range(line, start, line, end);
    const hidden = view?.hidden.filter(([line]) => !edited.has(line)) ?? [];
    editor.setDecorations(this.hidden, hidden.map(range));
    editor.setDecorations(this.dimmed, view?.dimmed.map(range) ?? []);
    if (view === undefined) {
      editor.setDecorations(this.shapes, []);
      editor.setDecorations(this.summaries, []);
    } else {
      this.drawLinesSoon(editor);
    }
  }

  /** Debounces scrolling and folding. */
  private drawLinesSoon(editor: vscode.TextEditor): void {
    if (this.views.has(editor.document)) {
      clearTimeout(this.still.get(editor));
      this.still.set(
        editor,
        setTimeout(() => {
          this.still.delete(editor);
          void this.drawLines(editor);
        }, STILL),
      );
    }
  }

  /**
   * Shows shapes and summaries of folded chains in visible lines only, since each text is a separate
   * decoration style.
   */
  private async drawLines(editor: vscode.TextEditor): Promise<void> {
    const { document, visibleRanges } = editor;
    const view = this.views.get(document);
    if (view === undefined || view.version !== document.version || visibleRanges[0] === undefined) {
      return;
    }
    const hints = await hintLengths(document, visibleRanges);
    if (this.views.get(document) !== view) {
      return;
    }
    const edited = new Set(editor.selections.map((selection) => selection.active.line));
    view.folded = foldedOf(view, visibleRanges);
    const summaryOf = new Map(view.chains.map(([first], at) => [first, view.summaries[at] ?? ""]));
    const found = visibleRanges.flatMap(linesOf).map((line) => {
      const summary = view.folded.has(line) ? `${SPACE}… ${summaryOf.get(line)}` : "";
      const shape = edited.has(line) ? "" : (view.shapeOf.get(line) ?? "").replaceAll(" ", SPACE);
      const shown = document.lineAt(line).text.length - (view.out.get(line) ?? 0);
      return { line, summary, shape, end: shown + summary.length + (hints.get(line) ?? 0) + GAP };
    });
    const needed = found.filter(({ shape, end }) => shape !== "" && end <= FURTHEST).map(({ end }) => end);
    view.column = Math.max(view.column, ...needed);
    const summaries: vscode.DecorationOptions[] = [];
    const shapes: vscode.DecorationOptions[] = [];
    for (const { line, summary, shape, end } of found) {
      // If a line extends into the column, its shape follows the line.
      const own = shape !== "" && end > view.column ? SPACE.repeat(GAP) + shape : "";
      if (summary + own !== "") {
        summaries.push(atLineEnd(document, line, { contentText: summary + own }));
      }
      if (shape !== "" && own === "") {
        const contentText = SPACE.repeat(Math.max(view.width - shape.length, 0)) + shape;
        const textDecoration = `none; position: absolute; left: ${view.column}ch`;
        shapes.push(atLineEnd(document, line, { contentText, textDecoration }));
      }
    }
    editor.setDecorations(this.summaries, summaries);
    editor.setDecorations(this.shapes, shapes);
  }
}

function understood(view: ReadingView): View {
  const out = new Map<number, number>();
  for (const [line, start, end] of view.hidden) {
    out.set(line, (out.get(line) ?? 0) + end - start);
  }
  const widths = view.shapes.map(([, shape]) => shape.length).filter((length) => length <= WIDEST);
  const width = widths.reduce((most, length) => Math.max(most, length), 0);
  return { ...view, out, shapeOf: new Map(view.shapes), width, column: 0, folded: new Set(), level: 0 };
}

function linesOf({ start, end }: vscode.Range): number[] {
  return Array.from({ length: end.line - start.line + 1 }, (_, at) => start.line + at);
}

/** A text at the end of a line. */
function atLineEnd(
  document: vscode.TextDocument,
  line: number,
  after: vscode.ThemableDecorationAttachmentRenderOptions,
): vscode.DecorationOptions {
  return { range: new vscode.Range(document.lineAt(line).range.end, document.lineAt(line).range.end), renderOptions: { after } };
}

/** The first lines of folded chains. Folded lines are in no visible range; nothing is known about the last visible line. */
function foldedOf(view: View, visible: readonly vscode.Range[]): Set<number> {
  const folded = new Set(view.folded);
  for (const [first] of view.chains) {
    const at = visible.findIndex(({ start, end }) => start.line <= first && first <= end.line);
    const range = visible[at];
    if (range !== undefined && first < range.end.line) {
      folded.delete(first);
    } else if (range !== undefined && at < visible.length - 1) {
      folded.add(first);
    }
  }
  return folded;
}

/** The width of the inlay hints in the lines of some ranges, in characters. */
async function hintLengths(document: vscode.TextDocument, ranges: readonly vscode.Range[]): Promise<Map<number, number>> {
  const lengths = new Map<number, number>();
  const settings = vscode.workspace.getConfiguration("editor.inlayHints", document);
  if (!settings.get<string>("enabled", "on").startsWith("on")) {
    return lengths;
  }
  const most = settings.get<number>("maximumLength", 0);
  const all = await Promise.all(
    ranges.map((range) =>
      vscode.commands.executeCommand<vscode.InlayHint[] | undefined>("vscode.executeInlayHintProvider", document.uri, range),
    ),
  );
  for (const { position, label } of all.flatMap((hints) => hints ?? [])) {
    const text = typeof label === "string" ? label : label.map(({ value }) => value).join("");
    const shown = most > 0 ? Math.min(text.length, most + 1) : text.length;
    lengths.set(position.line, (lengths.get(position.line) ?? 0) + shown + PADDING);
  }
  return lengths;
}
