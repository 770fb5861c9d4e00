// Decorations of a comparison: a colour for each kind of change, a description of the change, and a frame
// around the counterpart of the expression at the cursor.

import * as vscode from "vscode";
import type { BaseLanguageClient as LanguageClient } from "vscode-languageclient";

import type { Comparison, Filler, PairKind, SideName, Stop } from "./protocol.js";

/** A kind of decoration of an expression. */
type Mark = Exclude<PairKind, "same"> | "removed" | "added";

const MARKS: readonly Mark[] = ["changed", "removed", "added", "fused", "inlined", "folded", "expanded"];

/** The maximal length of the description of a change, in characters. */
const LONGEST = 120;
/** The number of lines around the visible ones that have descriptions, so that scrolling reveals them. */
const AROUND = 30;

/** Two corresponding expressions. */
interface Partners {
  readonly before: vscode.Range;
  readonly after: vscode.Range;
  readonly kind: PairKind;
  readonly changes: readonly { readonly text: string; readonly note: string; readonly before: vscode.Range | null; readonly after: vscode.Range | null }[];
}

/** A change with ranges of the editor. */
export type PlacedStop = Omit<Stop, "before" | "after"> & { readonly before: vscode.Range; readonly after: vscode.Range };

/** A place in the report, with the expressions of its change. */
export interface PlacedLink {
  readonly range: vscode.Range;
  readonly before: vscode.Range | null;
  readonly after: vscode.Range | null;
}

/** A comparison with ranges of the editor. */
export interface Found {
  readonly equal: boolean;
  readonly headline: string;
  readonly report: string;
  readonly links: readonly PlacedLink[];
  readonly fillers: readonly Filler[];
  readonly broken: readonly string[];
  readonly pairs: readonly Partners[];
  readonly removed: readonly vscode.Range[];
  readonly added: readonly vscode.Range[];
  readonly stops: readonly PlacedStop[];
  /** The names of the functions that both sides have. */
  readonly functions: readonly string[];
}

export function understood(client: LanguageClient, found: Comparison): Found {
  const convert = client.protocol2CodeConverter;
  const pairs = found.functions.flatMap((function_) =>
    function_.pairs.map(({ before, after, kind, changes }) => ({
      before: convert.asRange(before),
      after: convert.asRange(after),
      kind,
      changes: (changes ?? []).map((change) => ({
        text: change.text,
        note: change.note,
        before: change.before && convert.asRange(change.before),
        after: change.after && convert.asRange(change.after),
      })),
    })),
  );
  const { equal, headline, report, fillers, broken } = found;
  const links = found.links.map(({ range, before, after }) => ({
    range: convert.asRange(range),
    before: before && convert.asRange(before),
    after: after && convert.asRange(after),
  }));
  const lonely = (side: "removed" | "added") =>
    found.functions.flatMap((function_) => function_[side].map(({ range }) => convert.asRange(range)));
  const stops = found.stops.map((stop) => ({ ...stop, before: convert.asRange(stop.before), after: convert.asRange(stop.after) }));
  const functions = found.functions.flatMap(({ before, after }) => (after !== null && after !== "" && before === after ? [after] : []));
  return { equal, headline, report, links, fillers, broken, pairs, removed: lonely("removed"), added: lonely("added"), stops, functions };
}

/** The smallest expression at a position, with its counterparts. */
export function partnersAt(found: Found, side: SideName, at: vscode.Position): { own: vscode.Range; others: vscode.Range[] } | undefined {
  const other = side === "before" ? "after" : "before";
  const around = found.pairs.filter((pair) => pair[side].contains(at));
  // At the name of a binding, before its expression.
  const near = around.length > 0 ? around : found.pairs.filter((pair) => pair[side].start.line === at.line && pair[side].start.isAfter(at));
  const inner = (a: Partners, b: Partners) => (b[side].contains(a[side]) ? a : b);
  const outer = (a: Partners, b: Partners) => (b[side].contains(a[side]) ? b : a);
  const [first, ...rest] = near;
  if (first === undefined) {
    return undefined;
  }
  const own = rest.reduce(around.length > 0 ? inner : outer, first)[side];
  return { own, others: near.filter((pair) => pair[side].isEqual(own)).map((pair) => pair[other]) };
}

/** The first expression with a counterpart that starts at or after a line. */
export function firstFrom(found: Found, side: SideName, line: number): { own: vscode.Range; partner: vscode.Range } | undefined {
  let first: Partners | undefined;
  for (const pair of found.pairs) {
    const { start } = pair[side];
    if (start.line >= line && (first === undefined || start.isBefore(first[side].start))) {
      first = pair;
    }
  }
  return first && { own: first[side], partner: first[side === "before" ? "after" : "before"] };
}

export class Marks implements vscode.Disposable {
  private readonly styles = new Map(MARKS.map((mark) => [mark, style(mark)]));
  private readonly parts = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor("relay.comparison.changedPart"),
    borderRadius: "2px",
    fontWeight: "bold",
  });
  private readonly notes = vscode.window.createTextEditorDecorationType({});
  private readonly partners = vscode.window.createTextEditorDecorationType({
    border: "1px solid",
    borderColor: new vscode.ThemeColor("focusBorder"),
    borderRadius: "2px",
    overviewRulerColor: new vscode.ThemeColor("focusBorder"),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  });

  private readonly fillers = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("relay.comparison.filler"),
  });

  dispose(): void {
    vscode.Disposable.from(...this.styles.values(), this.parts, this.notes, this.partners, this.fillers).dispose();
  }

  draw(editor: vscode.TextEditor, side: SideName, found: Found): void {
    for (const [mark, style_] of this.styles) {
      editor.setDecorations(style_, marked(found, side, mark));
    }
    const parts = found.pairs.flatMap(({ changes }) => changes.map((change) => change[side]));
    editor.setDecorations(this.parts, parts.filter((part) => part !== null));
    this.drawNotes(editor, side, found);
  }

  /** Shows descriptions of changes in visible lines only, since each text is a separate decoration style. */
  drawNotes(editor: vscode.TextEditor, side: SideName, found: Found): void {
    const { visibleRanges } = editor;
    const first = (visibleRanges[0]?.start.line ?? 0) - AROUND;
    const last = (visibleRanges.at(-1)?.end.line ?? 0) + AROUND;
    const texts = new Map<number, { readonly at: vscode.Range; readonly words: string[] }>();
    for (const { [side]: at, changes } of side === "after" ? found.pairs : []) {
      if (changes.length > 0 && at.start.line <= last && at.start.line >= first) {
        const known = texts.get(at.start.line) ?? { at, words: [] };
        known.words.push(...changes.map(({ note }) => note));
        texts.set(at.start.line, known);
      }
    }
    const color = new vscode.ThemeColor("relay.comparison.note");
    const shown = [...texts.values()].map(({ at, words }): vscode.DecorationOptions => {
      const text = words.join("; ");
      const contentText = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
      // Before the expression: the end of a printed line is often outside of a narrow editor.
      const range = new vscode.Range(at.start, at.start);
      return { range, renderOptions: { before: { contentText, color, margin: "0 0.7em 0 0", fontStyle: "italic" } } };
    });
    editor.setDecorations(this.notes, shown);
  }

  /** Frames expressions; an empty list removes the frames. */
  frame(editor: vscode.TextEditor, ranges: readonly vscode.Range[]): void {
    editor.setDecorations(this.partners, ranges);
  }

  /** Shows which lines are not in the text itself. */
  fill(editor: vscode.TextEditor, lines: readonly vscode.Range[]): void {
    editor.setDecorations(this.fillers, lines);
  }

  clear(editor: vscode.TextEditor): void {
    for (const style_ of [...this.styles.values(), this.parts, this.notes, this.partners, this.fillers]) {
      editor.setDecorations(style_, []);
    }
  }
}

function style(mark: Mark): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor(`relay.comparison.${mark}`),
    borderRadius: "2px",
    overviewRulerColor: new vscode.ThemeColor(`relay.comparison.${mark}Ruler`),
    overviewRulerLane: mark === "removed" ? vscode.OverviewRulerLane.Left : vscode.OverviewRulerLane.Right,
  });
}

function marked(found: Found, side: SideName, mark: Mark): vscode.DecorationOptions[] {
  switch (mark) {
    case "removed":
    case "added": {
      const here = (mark === "removed") === (side === "before") ? found[mark] : [];
      return here.map((range) => ({ range, hoverMessage: mark === "removed" ? "Removed" : "Added" }));
    }
    default:
      return found.pairs
        .filter(({ kind }) => kind === mark)
        .map(({ [side]: range, [side === "before" ? "after" : "before"]: partner, changes }) => ({
          range,
          hoverMessage: hover(mark, partner, changes.map(({ text }) => text)),
        }));
  }
}

function hover(mark: Mark, partner: vscode.Range, changes: readonly string[]): vscode.MarkdownString {
  const text = new vscode.MarkdownString(`**${mark}**, line ${partner.start.line + 1} of the other side`);
  changes.forEach((change) => text.appendMarkdown("\n\n").appendText(change));
  return text;
}
