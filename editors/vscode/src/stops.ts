// The changes of a comparison in order, each with a place on both sides.

import * as vscode from "vscode";

import type { Found, SideName } from "./marks.js";

/** A change. A side without the expression has the place of the preceding one. */
export interface Stop {
  readonly kind: string;
  readonly before: vscode.Range;
  readonly after: vscode.Range;
  /** The side without the expression. */
  readonly without?: SideName;
}

/** Merges neighbouring changes of the same kind into one stop, as passes such as fusion change many. */
export function stopsOf(found: Found): Stop[] {
  const changed = found.pairs.filter(({ kind }) => kind !== "same").map(({ before, after, kind }): Stop => ({ kind, before, after }));
  const removed = lonely(found, "before", found.removed).map(([before, after]): Stop => ({ kind: "removed", before, after, without: "after" }));
  const added = lonely(found, "after", found.added).map(([after, before]): Stop => ({ kind: "added", before, after, without: "before" }));
  const all = [...changed, ...removed, ...added];
  all.sort((a, b) => a.after.start.compareTo(b.after.start) || a.before.start.compareTo(b.before.start));
  const stops: Stop[] = [];
  let last: Stop | undefined;
  for (const stop of all) {
    if (last === undefined || !isNext(last, stop)) {
      stops.push(stop);
    }
    last = stop;
  }
  return stops;
}

/** The expressions without a counterpart, each with its hypothetical place on the other side. */
function lonely(found: Found, side: SideName, ranges: readonly vscode.Range[]): [vscode.Range, vscode.Range][] {
  const other = side === "before" ? "after" : "before";
  const pairs = [...found.pairs].sort((a, b) => a[side].start.compareTo(b[side].start));
  const sorted = [...ranges].sort((a, b) => a.start.compareTo(b.start));
  let at = 0;
  let place = new vscode.Range(0, 0, 0, 0);
  return sorted.map((range) => {
    for (let pair = pairs[at]; pair !== undefined && pair[side].start.isBeforeOrEqual(range.start); pair = pairs[++at]) {
      place = pair[other];
    }
    return [range, place];
  });
}

/** Changes of attributes are separate stops; adjacent fused, removed or added calls are merged. */
function isNext(last: Stop, stop: Stop): boolean {
  const near = (side: SideName) => Math.abs(stop[side].start.line - last[side].start.line) <= 1;
  switch (stop.kind) {
    case "changed":
      return false;
    case "removed":
      return last.kind === stop.kind && near("before");
    default:
      return last.kind === stop.kind && near("after");
  }
}
