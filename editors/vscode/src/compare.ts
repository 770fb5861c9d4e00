// Compares two modules side by side, with structural differences marked in both. The comparison follows
// edits, and ends when one side is closed.

import * as vscode from "vscode";
import type { BaseLanguageClient as LanguageClient } from "vscode-languageclient";

import { type Aligned, aligned } from "./aligned.js";
import { type Found, Marks, type PlacedStop, firstFrom, partnersAt, understood } from "./marks.js";
import type { SideName } from "./protocol.js";
import { type RunChoice, type Running, type Side, type Waking, compare, isCancelled } from "./requests.js";
import { fill, recall } from "./run.js";
import { HeatMarks, type PlacedValues, divergenceFrom, valuesOf } from "./values.js";
import { type VirtualDocuments, sideName } from "./virtual.js";

/** The debounce of edits before modules are compared again, in milliseconds. */
const REST = 200;
/** The debounce of scrolling before decorations of visible lines are rendered, in milliseconds. */
const STILL = 40;
/** The maximal length of the headline in the status bar, in characters. */
const LONGEST = 90;

/** An expression that starts within this column is visible when its line is, in characters. */
const NEAR = 60;

/** The shown comparison, for the caller of the command. */
export interface ShownComparison {
  readonly equal: boolean;
  readonly headline: string;
  /** The number of changes to navigate. */
  readonly stops: number;
  /** What both sides compute, if they were run. */
  readonly values?: ShownValues;
}

/** The shown values, for the caller of the command. */
export interface ShownValues {
  readonly equal: boolean;
  readonly summary: string;
  /** The note of each marked line of both sides. */
  readonly notes: Readonly<Record<SideName, readonly string[]>>;
  /** The number of calls with an error of their own. */
  readonly divergences: number;
}

/** A side with the editor that shows it. */
interface SideEditor {
  readonly editor: vscode.TextEditor;
  readonly side: SideName;
}

/** The lines that were added to each side of an aligned comparison. */
type Fillers = Readonly<Record<SideName, Aligned["fillers"]>>;

/** The active comparison. */
interface Session {
  readonly before: vscode.TextDocument;
  readonly after: vscode.TextDocument;
  /** True once both editors are open; before that, tabs may close because others open. */
  isOpen: boolean;
  found: Found | undefined;
  /** What both sides compute, until one of them changes. */
  values: PlacedValues | undefined;
  /** The arguments that the user gave. */
  inputs: RunChoice;
  /** Of two copies that are aligned. */
  readonly fillers: Fillers | undefined;
  /** The target of the last navigation to a change. */
  at: { readonly index: number; readonly document: vscode.TextDocument; readonly position: vscode.Position } | undefined;
}

export class Comparisons implements vscode.Disposable {
  private readonly marks = new Marks();
  private readonly heat = new HeatMarks();
  private readonly status = vscode.window.createStatusBarItem("relay.comparison", vscode.StatusBarAlignment.Left, 10);
  private readonly report: vscode.Uri;
  private session: Session | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly still = new Map<vscode.TextEditor, ReturnType<typeof setTimeout>>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly running: Running,
    private readonly waking: Waking,
    private readonly virtual: VirtualDocuments,
    /** Called after each change of what is compared. */
    private readonly changed: () => void,
  ) {
    this.report = virtual.keep("Comparison.txt", "");
    const command = (name: string, run: () => unknown) => vscode.commands.registerCommand(`relay.${name}`, run);
    this.status.name = "Relay: Comparison";
    this.status.command = "relay.comparisonReport";
    this.subscriptions = [
      this.marks,
      this.heat,
      this.status,
      command("nextChange", () => this.step(1)),
      command("previousChange", () => this.step(-1)),
      command("comparisonReport", () => vscode.window.showTextDocument(this.report, { preview: false })),
      command("alignedComparison", () => this.align()),
      vscode.commands.registerCommand("relay.revealChange", (number: number) => this.revealLink(number)),
      vscode.languages.registerDocumentLinkProvider({ scheme: this.report.scheme, pattern: "**/Comparison.txt" }, {
        provideDocumentLinks: (document) => this.linksOf(document),
      }),
      command("endComparison", () => this.end()),
      command("runComparison", () => this.run()),
      command("nextDivergence", () => this.diverge(1)),
      command("previousDivergence", () => this.diverge(-1)),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && this.sideOf(document) !== undefined) {
          this.dropValues();
          this.later();
        }
      }),
      vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.draw(editor))),
      vscode.window.onDidChangeActiveTextEditor(() => this.tellKeys()),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.scrolled(textEditor)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => this.tabsClosed(closed)),
      vscode.window.tabGroups.onDidChangeTabGroups(({ closed }) => this.tabsClosed(closed.flatMap(({ tabs }) => tabs))),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.still.forEach((timer) => clearTimeout(timer));
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** The server has started: its results may differ. */
  refresh(): void {
    if (this.session?.found !== undefined) {
      this.later();
    }
  }

  /** The module that a document is compared with, if they differ. */
  before(document: vscode.TextDocument): Side | undefined {
    const { session } = this;
    const client = this.running();
    const differs = document === session?.after && session.found?.equal === false;
    return differs && client !== undefined ? sideFor(client, session.before) : undefined;
  }

  /** Opens two documents side by side. */
  async open(before: vscode.Uri, after: vscode.Uri, fillers?: Fillers): Promise<ShownComparison | undefined> {
    if (before.toString() === after.toString()) {
      void vscode.window.showInformationMessage(`${sideName(after)} is compared with itself: choose another one.`);
      return undefined;
    }
    if ((await this.waking()) === undefined) {
      void vscode.window.showWarningMessage("relay-analyzer does not run.");
      return undefined;
    }
    this.end();
    const session: Session = {
      before: await vscode.workspace.openTextDocument(before),
      after: await vscode.workspace.openTextDocument(after),
      isOpen: false,
      found: undefined,
      values: undefined,
      inputs: {},
      fillers,
      at: undefined,
    };
    this.session = session;
    await vscode.window.showTextDocument(session.before, { viewColumn: vscode.ViewColumn.One, preserveFocus: true });
    await vscode.window.showTextDocument(session.after, { viewColumn: vscode.ViewColumn.Two });
    session.isOpen = true;
    this.status.text = "$(sync~spin) comparing";
    this.status.tooltip = `${sideName(before)} and ${sideName(after)}`;
    this.status.show();
    await this.update();
    const { found } = session;
    if (found === undefined || this.session !== session) {
      return undefined;
    }
    this.greet(found);
    return { equal: found.equal, headline: found.headline, stops: found.stops.length };
  }

  /**
   * Opens copies of both sides with empty lines between, so that partners are at the same height. The API has no space
   * between the lines of an editor, other than lines of its text.
   */
  private async align(): Promise<ShownComparison | undefined> {
    const { session } = this;
    if (session?.found === undefined) {
      void vscode.window.showInformationMessage("There is no comparison: run Relay: Compare with… first.");
      return undefined;
    }
    if (session.fillers !== undefined) {
      void vscode.window.showInformationMessage("This comparison is aligned already.");
      return undefined;
    }
    const { before, after, found } = session;
    const sides = { before: aligned(before, "before", found.fillers), after: aligned(after, "after", found.fillers) };
    const copy = ({ uri }: vscode.TextDocument, { text }: Aligned) =>
      this.virtual.keep(`${sideName(uri).replace(/[/\\]/g, "_")} (aligned).relay`, text);
    return this.open(copy(before, sides.before), copy(after, sides.after), { before: sides.before.fillers, after: sides.after.fillers });
  }

  /** Opens two documents side by side, asks for arguments, and runs both. */
  async openAndRun(before: vscode.Uri, after: vscode.Uri): Promise<ShownComparison | undefined> {
    const shown = await this.open(before, after);
    const values = shown && (await this.run(true));
    return shown && values ? { ...shown, values } : shown;
  }

  /** Runs both sides on the same arguments, which it asks for or not, and shows where they compute other values. */
  private async run(asks = false): Promise<ShownValues | undefined> {
    const { session } = this;
    const client = this.running();
    if (session?.found === undefined || client === undefined) {
      void vscode.window.showInformationMessage("There is no comparison: run Relay: Compare with… first.");
      return undefined;
    }
    const { before, after, found } = session;
    const chosen = await functionOf(found);
    const inputs = chosen && (asks ? await inputsOf(session, chosen) : session.inputs);
    if (inputs === undefined || this.session !== session) {
      return undefined;
    }
    session.inputs = inputs;
    const versions = [before.version, after.version];
    const isCurrent = () => this.session === session && versions[0] === before.version && versions[1] === after.version;
    this.dropValues();
    this.status.text = "$(sync~spin) running both";
    try {
      const values = await valuesOf(client, sideFor(client, before), sideFor(client, after), { ...inputs, ...chosen });
      if (!isCurrent()) {
        return undefined;
      }
      session.values = values;
      this.changed();
      this.show(session, session.found ?? found);
      const first = values.pairs[values.divergences[0] ?? -1];
      const place = this.activeSide();
      if (first !== undefined && place !== undefined) {
        this.goTo(place, first);
      } else {
        void vscode.window.showInformationMessage(`relay-analyzer: ${[values.summary, ...values.notes].join("; ")}`);
      }
      const notes = (side: SideName) => values[side].map(({ pair }) => values.pairs[pair]?.note ?? "");
      const shown = { before: notes("before"), after: notes("after") };
      return { equal: values.equal, summary: values.summary, notes: shown, divergences: values.divergences.length };
    } catch (error) {
      if (isCurrent()) {
        this.show(session, session.found ?? found);
        const reason = error instanceof Error ? error.message : String(error);
        void (isCancelled(error)
          ? vscode.window.showInformationMessage("The runs were cancelled.")
          : vscode.window.showErrorMessage(`relay-analyzer: ${reason}`));
      }
      return undefined;
    }
  }

  /** Removes the values, which are those of another text. */
  private dropValues(): void {
    if (this.session?.values !== undefined) {
      this.session.values = undefined;
      vscode.window.visibleTextEditors.forEach((editor) => this.heat.clear(editor));
      this.tellKeys();
    }
  }

  /** Goes to a call with an error of its own. Returns its operator. */
  private diverge(direction: 1 | -1): string | undefined {
    const { session } = this;
    const place = this.activeSide();
    const pair = session?.values && place && divergenceFrom(session.values, place.side, place.editor.selection.active, direction);
    if (place === undefined || pair === undefined) {
      const what = session?.values === undefined ? "The modules were not run: run Relay: Run Both Sides first." : "No call has an error of its own.";
      void vscode.window.showInformationMessage(what);
      return undefined;
    }
    this.goTo(place, pair);
    return pair.operator;
  }

  /** Goes to an expression of a side, and reveals its counterpart. */
  private goTo({ editor, side }: SideEditor, places: Readonly<Record<SideName, vscode.Range>>): void {
    const { start } = places[side];
    editor.selection = new vscode.Selection(start, start);
    reveal(editor, places[side]);
    const beside = this.beside(editor);
    if (beside !== undefined) {
      reveal(beside, places[side === "before" ? "after" : "before"]);
    }
  }

  /** The active side, or else the new one. */
  private activeSide(): SideEditor | undefined {
    const active = vscode.window.activeTextEditor;
    const after = vscode.window.visibleTextEditors.find(({ document }) => document === this.session?.after);
    const editor = active !== undefined && this.sideOf(active.document) !== undefined ? active : after;
    const side = editor && this.sideOf(editor.document);
    return editor && side && { editor, side };
  }

  /** The links from the places in the report. */
  private linksOf(document: vscode.TextDocument): vscode.DocumentLink[] {
    const found = this.session?.found;
    if (document.uri.toString() !== this.report.toString() || found === undefined || !document.getText().startsWith(found.report)) {
      return [];
    }
    return found.links.map(({ range }, number) => {
      const link = new vscode.DocumentLink(range, vscode.Uri.parse(`command:relay.revealChange?${encodeURIComponent(JSON.stringify([number]))}`));
      link.tooltip = "Show on both sides";
      return link;
    });
  }

  /** Shows the expressions of a link on both sides. */
  private async revealLink(number: number): Promise<void> {
    const { session } = this;
    const link = session?.found?.links[number];
    if (session === undefined || link === undefined) {
      void vscode.window.showInformationMessage("This comparison has ended.");
      return;
    }
    const last = link.after === null ? "before" : "after";
    for (const side of last === "after" ? (["before", "after"] as const) : (["after", "before"] as const)) {
      const viewColumn = side === "before" ? vscode.ViewColumn.One : vscode.ViewColumn.Two;
      const editor = await vscode.window.showTextDocument(session[side], { viewColumn, preserveFocus: side !== last });
      const range = link[side];
      if (range !== null) {
        editor.selection = new vscode.Selection(range.start, range.start);
        reveal(editor, range);
      }
    }
  }

  /** Reveals the first change, which may be far from the cursor, or shows that there is none. */
  private greet(found: Found): void {
    const { before, after } = this.session ?? {};
    if (before === undefined || after === undefined) {
      return;
    }
    if (found.equal) {
      void vscode.window.showInformationMessage(`${sideName(before.uri)} and ${sideName(after.uri)} are equal in structure.`);
    } else {
      void this.step(1);
    }
  }

  private sideOf(document: vscode.TextDocument): SideName | undefined {
    const { before, after } = this.session ?? {};
    return document === before ? "before" : document === after ? "after" : undefined;
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.update(), REST);
  }

  private async update(): Promise<void> {
    const { session } = this;
    const client = this.running();
    if (session === undefined || client === undefined) {
      return;
    }
    const { before, after } = session;
    const versions = [before.version, after.version];
    // Results for an outdated text are dropped; the pending comparison replaces them.
    const isCurrent = () => this.session === session && versions[0] === before.version && versions[1] === after.version;
    try {
      const found = understood(client, await compare(client, sideFor(client, before), sideFor(client, after)));
      if (isCurrent()) {
        session.found = found;
        this.changed();
        session.at = undefined;
        this.show(session, found);
      }
    } catch (error) {
      if (isCurrent()) {
        this.fail(error, session.found === undefined);
      }
    }
  }

  private show({ before, after, values }: Session, found: Found): void {
    const broken = found.broken.length > 0 ? ` (only the valid parts of ${found.broken.join(" and ")})` : "";
    const icon = found.broken.length > 0 ? "warning" : found.equal ? "pass" : "diff";
    const headline = values?.summary ?? found.headline;
    this.status.text = `$(${icon}) ${headline.length > LONGEST ? `${headline.slice(0, LONGEST)}…` : headline}`;
    this.status.tooltip = `${sideName(before.uri)} → ${sideName(after.uri)}: ${headline}${broken}`;
    this.status.show();
    this.virtual.replace(this.report, values === undefined ? found.report : `${found.report}\n${values.report}`);
    this.tellKeys();
    vscode.window.visibleTextEditors.forEach((editor) => this.draw(editor));
  }

  /** Shows at most one message, as a text is often invalid during typing. */
  private fail(error: unknown, isFirst: boolean): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.status.text = "$(error) comparison failed";
    this.status.tooltip = reason;
    if (isFirst) {
      void vscode.window.showErrorMessage(`relay-analyzer cannot compare them: ${reason}`);
    }
  }

  private draw(editor: vscode.TextEditor): void {
    const side = this.sideOf(editor.document);
    const found = this.session?.found;
    if (side !== undefined && found !== undefined) {
      this.marks.draw(editor, side, found);
      this.marks.fill(editor, this.session?.fillers?.[side] ?? []);
    }
    if (side !== undefined && this.session?.values !== undefined) {
      this.heat.draw(editor, side, this.session.values);
    }
  }

  /** Debounces scrolling, and scrolls the other side. */
  private scrolled(editor: vscode.TextEditor): void {
    if (this.sideOf(editor.document) === undefined) {
      return;
    }
    clearTimeout(this.still.get(editor));
    const draw = () => {
      this.still.delete(editor);
      const side = this.sideOf(editor.document);
      if (side !== undefined && this.session?.found !== undefined) {
        this.marks.drawNotes(editor, side, this.session.found);
        this.scrollBeside(editor, side, this.session.found);
      }
      if (side !== undefined && this.session?.values !== undefined) {
        this.heat.drawNotes(editor, side, this.session.values);
      }
    };
    this.still.set(editor, setTimeout(draw, STILL));
  }

  /** Frames the counterpart of the expression at the cursor. */
  private follow(editor: vscode.TextEditor): void {
    const side = this.sideOf(editor.document);
    const found = this.session?.found;
    if (side === undefined || found === undefined || editor !== vscode.window.activeTextEditor) {
      return;
    }
    const partners = partnersAt(found, side, editor.selection.active);
    this.frame(editor, partners === undefined ? [] : [partners.own], partners?.others ?? []);
  }

  private frame(editor: vscode.TextEditor, own: readonly vscode.Range[], others: readonly vscode.Range[]): void {
    this.marks.frame(editor, own);
    const beside = this.beside(editor);
    if (beside !== undefined) {
      this.marks.frame(beside, others);
      if (others[0] !== undefined) {
        reveal(beside, others[0]);
      }
    }
  }

  /** Scrolls the other side so that the counterpart of the expression at the cursor, or at the top, is at the same height. */
  private scrollBeside(editor: vscode.TextEditor, side: SideName, found: Found): void {
    const beside = this.beside(editor);
    const [visible] = editor.visibleRanges;
    if (editor !== vscode.window.activeTextEditor || beside === undefined || visible === undefined) {
      return;
    }
    const cursor = editor.selection.active;
    const pair = (visible.contains(cursor) ? pairAt(found, side, cursor) : undefined) ?? firstFrom(found, side, visible.start.line);
    if (pair !== undefined) {
      const top = Math.max(pair.partner.start.line - (pair.own.start.line - visible.start.line), 0);
      const line = top + linesAbove(beside.document);
      beside.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.AtTop);
    }
  }

  /** The editor of the other side. */
  private beside(editor: vscode.TextEditor): vscode.TextEditor | undefined {
    const side = this.sideOf(editor.document);
    const other = side && this.session?.[side === "before" ? "after" : "before"];
    return vscode.window.visibleTextEditors.find(({ document }) => document === other);
  }

  /** Goes to a change, and wraps around at the end. */
  private step(direction: 1 | -1): (PlacedStop & { readonly index: number }) | undefined {
    const { session } = this;
    const stops = session?.found?.stops ?? [];
    const place = this.activeSide();
    if (session === undefined || place === undefined || stops.length === 0) {
      const what = session?.found === undefined ? "There is no comparison: run Relay: Compare with… first." : "There are no changes.";
      void vscode.window.showInformationMessage(what);
      return undefined;
    }
    const { editor, side } = place;
    const index = nextStop(stops, session.at, editor, side, direction);
    const stop = stops[index];
    if (stop === undefined) {
      return undefined;
    }
    this.goTo(place, stop);
    session.at = { index, document: editor.document, position: stop[side].start };
    return { ...stop, index };
  }

  private tabsClosed(closed: readonly vscode.Tab[]): void {
    const { session } = this;
    const isOf = (document: vscode.TextDocument) => (tab: vscode.Tab) =>
      tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === document.uri.toString();
    const shown = vscode.window.tabGroups.all.flatMap(({ activeTab }) => activeTab ?? []);
    const isGone = (document: vscode.TextDocument) => closed.some(isOf(document)) && !shown.some(isOf(document));
    if (session?.isOpen === true && (isGone(session.before) || isGone(session.after))) {
      this.end();
    }
  }

  private end(): void {
    clearTimeout(this.timer);
    if (this.session !== undefined) {
      this.dropValues();
      this.session = undefined;
      this.changed();
      vscode.window.visibleTextEditors.forEach((editor) => this.marks.clear(editor));
      this.status.hide();
      this.tellKeys();
    }
  }

  /** The keys for navigation are bound in the two sides only. */
  private tellKeys(): void {
    const active = vscode.window.activeTextEditor?.document;
    const comparing = active !== undefined && this.sideOf(active) !== undefined;
    void vscode.commands.executeCommand("setContext", "relay.comparing", comparing);
    void vscode.commands.executeCommand("setContext", "relay.comparingValues", comparing && this.session?.values !== undefined);
  }
}

/** The function to run, without a name if the server knows it: `@main` or the only one. Undefined if the user cancels. */
async function functionOf({ functions }: Found): Promise<Pick<RunChoice, "function"> | undefined> {
  if (functions.length < 2 || functions.includes("@main")) {
    return {};
  }
  const name = await vscode.window.showQuickPick(functions.map((label) => ({ label })), { title: "Which function is run?" });
  return name && { function: name.label };
}

/** The arguments of a form; undefined if the user cancels. A side that cannot be run has no form: the runs say why. */
async function inputsOf({ before, after, inputs }: Session, chosen: Pick<RunChoice, "function">): Promise<RunChoice | undefined> {
  const of = ({ uri }: vscode.TextDocument) => recall({ uri: uri.toString(), ...chosen });
  const known = (await of(before)) ?? (await of(after));
  const filled = known && (await fill(known, "Run and Compare"));
  return known === undefined ? inputs : filled && { ...filled, exact: true };
}

/** A side as the server takes it. */
function sideFor(client: LanguageClient, document: vscode.TextDocument): Side {
  return {
    uri: client.code2ProtocolConverter.asUri(document.uri),
    name: sideName(document.uri),
    // The server only has documents of its language.
    ...(document.languageId === "relay" ? {} : { text: document.getText() }),
  };
}

/** The number of lines that sticky scroll covers above a line that is revealed at the top. */
function linesAbove(document: vscode.TextDocument): number {
  const settings = vscode.workspace.getConfiguration("editor", document);
  const headings = settings.get("stickyScroll.enabled", true) ? settings.get("stickyScroll.maxLineCount", 5) : 0;
  return Math.max(headings, settings.get("cursorSurroundingLines", 0));
}

/** The expression at a position, and its first counterpart. */
function pairAt(found: Found, side: SideName, at: vscode.Position): { own: vscode.Range; partner: vscode.Range } | undefined {
  const partners = partnersAt(found, side, at);
  const [partner] = partners?.others ?? [];
  return partners && partner && { own: partners.own, partner };
}

/** Scrolls to the first line of an expression. Revealing all of a long one would hide the names of the bindings. */
function reveal(editor: vscode.TextEditor, { start }: vscode.Range): void {
  const place = start.character < NEAR ? start.with({ character: 0 }) : start;
  editor.revealRange(new vscode.Range(place, place), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** The next change after or before the cursor. */
function nextStop(
  stops: readonly PlacedStop[],
  at: Session["at"],
  editor: vscode.TextEditor,
  side: SideName,
  direction: 1 | -1,
): number {
  const cursor = editor.selection.active;
  // Several changes may be at the same expression of this side.
  if (at !== undefined && at.document === editor.document && at.position.isEqual(cursor)) {
    return (at.index + direction + stops.length) % stops.length;
  }
  const starts = stops.map((stop, index) => ({ index, start: stop[side].start })).sort((a, b) => a.start.compareTo(b.start) || a.index - b.index);
  const found =
    direction === 1 ? starts.find(({ start }) => start.isAfter(cursor)) : starts.findLast(({ start }) => start.isBefore(cursor));
  return (found ?? starts.at(direction === 1 ? 0 : -1))?.index ?? 0;
}
