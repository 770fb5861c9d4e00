// What both sides of a comparison compute: a heat beside each call, its values on hover, and the calls with an error of
// their own. The server runs the modules, and says what each line shows.

import * as vscode from "vscode";
import type { BaseLanguageClient as LanguageClient } from "vscode-languageclient";

import type { SideName, ValueComparison, ValuePair } from "./protocol.js";
import { type RunChoice, type Side, compareValues, comparedTensors } from "./requests.js";
import type { OpenedTensor, Wanted } from "./tensor.js";

/** The command that opens the view of both tensors of a pair: that of a hover, or at the cursor. */
const VIEW_BOTH = "relay.viewBothTensors";

/** The number of colours: the heat of an error within the tolerance is 1. */
const LEVELS = 4;
/** The number of lines around the visible ones that have notes, so that scrolling reveals them. */
const AROUND = 30;

/** A pair with ranges of the editor. */
export type PlacedPair = Omit<ValuePair, "before" | "after"> & { readonly before: vscode.Range; readonly after: vscode.Range };

/** The values of both sides, with ranges of the editor. */
export type PlacedValues = Omit<ValueComparison, "pairs"> & {
  readonly pairs: readonly PlacedPair[];
  /** The tensors of a pair, for a view of both with their difference. */
  tensors(pair: number): OpenedTensor | undefined;
};

/** Runs a function of both sides. */
export async function valuesOf(client: LanguageClient, before: Side, after: Side, choice: RunChoice): Promise<PlacedValues> {
  const found = await compareValues(client, before, after, choice);
  const convert = client.protocol2CodeConverter;
  const pairs = found.pairs.map((pair) => ({ ...pair, before: convert.asRange(pair.before), after: convert.asRange(pair.after) }));
  const tensors = (number: number): OpenedTensor | undefined => {
    const pair = found.pairs[number];
    const ask = async ({ slice, layout }: Wanted) => ({ tensor: await comparedTensors(client, [before, after], choice, pair, { slice, layout }) });
    return pair && { name: pair.operator, ask };
  };
  return { ...found, pairs, tensors };
}

export class HeatMarks implements vscode.Disposable {
  private readonly levels = Array.from({ length: LEVELS }, (_, at) => style(at + 1));
  /** Pairs without an error have no colour, but values on hover. */
  private readonly plain = vscode.window.createTextEditorDecorationType({});
  private readonly notes = vscode.window.createTextEditorDecorationType({});
  /** What is shown, and the sides of the documents that show it. */
  private shown: PlacedValues | undefined;
  private readonly sides = new Map<vscode.TextDocument, SideName>();
  private readonly registration = vscode.commands.registerCommand(VIEW_BOTH, (pair?: number) => this.openTensors(pair));

  dispose(): void {
    vscode.Disposable.from(...this.levels, this.plain, this.notes, this.registration).dispose();
  }

  draw(editor: vscode.TextEditor, side: SideName, values: PlacedValues): void {
    this.shown = values;
    this.sides.set(editor.document, side);
    const of = (level: number) =>
      values.pairs.flatMap((pair, number) =>
        Math.min(pair.heat, LEVELS) === level ? [{ range: pair[side], hoverMessage: hoverOf(pair, number) }] : [],
      );
    this.levels.forEach((style_, at) => editor.setDecorations(style_, of(at + 1)));
    editor.setDecorations(this.plain, of(0));
    this.drawNotes(editor, side, values);
  }

  /** Shows notes in visible lines only, since each text is a separate decoration style. */
  drawNotes(editor: vscode.TextEditor, side: SideName, values: PlacedValues): void {
    const first = (editor.visibleRanges[0]?.start.line ?? 0) - AROUND;
    const last = (editor.visibleRanges.at(-1)?.end.line ?? 0) + AROUND;
    const notes = values[side].flatMap(({ line, pair }): vscode.DecorationOptions[] => {
      const found = values.pairs[pair];
      if (found === undefined || line < first || line > last || line >= editor.document.lineCount) {
        return [];
      }
      const { start } = found[side];
      const color = new vscode.ThemeColor("relay.heat.note");
      const before = { contentText: found.note, color, margin: "0 0.7em 0 0", fontStyle: "italic" };
      // Before the expression, as the description of a change: the end of a line is often outside of a narrow editor.
      return [{ range: new vscode.Range(start, start), renderOptions: { before } }];
    });
    editor.setDecorations(this.notes, notes);
  }

  /** Opens the view of both tensors of a pair, by default that of the innermost call at the cursor. */
  private async openTensors(pair?: number): Promise<void> {
    const number = pair ?? this.pairAtCursor();
    const opened = number === undefined ? undefined : this.shown?.tensors(number);
    if (opened === undefined) {
      void vscode.window.showWarningMessage("Relay: put the cursor on a call whose values are compared.");
      return;
    }
    await vscode.commands.executeCommand("relay.viewTensor", opened);
  }

  private pairAtCursor(): number | undefined {
    const editor = vscode.window.activeTextEditor;
    const side = editor && this.sides.get(editor.document);
    const around = (this.shown?.pairs ?? []).flatMap((pair, number) =>
      side && editor && pair[side].contains(editor.selection.active) ? [{ range: pair[side], number }] : [],
    );
    // Calls are nested or apart.
    return around.find(({ range }) => around.every((other) => other.range.contains(range)))?.number;
  }

  clear(editor: vscode.TextEditor): void {
    this.shown = undefined;
    this.sides.delete(editor.document);
    [...this.levels, this.plain, this.notes].forEach((style_) => editor.setDecorations(style_, []));
  }
}

/** The values of a pair on hover, with the link to their view. */
function hoverOf({ hover, category }: PlacedPair, number: number): vscode.MarkdownString {
  const link = category === "notRun" ? "" : `\n\n[View Tensors](command:${VIEW_BOTH}?${encodeURIComponent(JSON.stringify([number]))})`;
  const message = new vscode.MarkdownString(hover + link);
  message.isTrusted = { enabledCommands: [VIEW_BOTH] };
  return message;
}

/** The next call with an error of its own after or before a position; the search wraps around at the end. */
export function divergenceFrom(values: PlacedValues, side: SideName, at: vscode.Position, direction: 1 | -1): PlacedPair | undefined {
  const pairs = values.divergences.flatMap((number) => values.pairs[number] ?? []);
  const sorted = pairs.sort((a, b) => a[side].start.compareTo(b[side].start));
  const next =
    direction === 1 ? sorted.find(({ [side]: { start } }) => start.isAfter(at)) : sorted.findLast(({ [side]: { start } }) => start.isBefore(at));
  return next ?? sorted.at(direction === 1 ? 0 : -1);
}

function style(level: number): vscode.TextEditorDecorationType {
  const color = new vscode.ThemeColor(`relay.heat.level${level}`);
  return vscode.window.createTextEditorDecorationType({
    backgroundColor: color,
    borderRadius: "2px",
    overviewRulerColor: color,
    overviewRulerLane: vscode.OverviewRulerLane.Full,
  });
}
