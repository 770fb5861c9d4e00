// The modules of a log.

import * as vscode from "vscode";

import type { Cost, PassModule } from "./protocol.js";
import { type Running, passes } from "./requests.js";
import { moduleUri, titleOf } from "./virtual.js";

/** The start of a module in a log: its version, or the header of a pass manager. */
const BEGINS = /^(?:#\[version\b|[^\n]{0,200}\bPrintIR\(|\s*#?\s*Print IR (?:before|after)\b|(?:Before|After|Executing) Running Pass:)/gm;

/** The languages of logs. Markdown pages about compilers show modules, but are not logs. */
const LANGUAGES = new Set(["relay", "log", "plaintext"]);

/** Returns true if a document looks like a log of several modules. The server is precise, but slower. */
export function isLog(document: vscode.TextDocument): boolean {
  if (!LANGUAGES.has(document.languageId) || document.uri.scheme === "output") {
    return false;
  }
  let versions = 0;
  let headers = 0;
  for (const [begin] of document.getText().matchAll(BEGINS)) {
    // A header and the version after it belong to one module.
    if (begin.startsWith("#[")) {
      versions += 1;
    } else {
      headers += 1;
    }
    if (versions > 1 || headers > 1) {
      return true;
    }
  }
  return false;
}

/** The modules of a log; undefined for a file with one module. */
export async function modulesOf(running: Running, uri: vscode.Uri): Promise<readonly PassModule[] | undefined> {
  const client = running();
  const document = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (client === undefined || (document !== undefined && !isLog(document))) {
    return undefined;
  }
  const modules = await passes(client, uri);
  return modules.length > 1 ? modules : undefined;
}

/** The module at a line of the log, or the last one before it. */
export function moduleAt(modules: readonly PassModule[], line: number): PassModule | undefined {
  return modules.findLast((module) => module.line <= line + 1) ?? modules[0];
}

/** Describes the functions that the pass changed. */
export function changedText({ index, changed, cut }: PassModule): string {
  const what = index === 0 ? "the first" : changed.length === 0 ? "no change" : changed.join(", ");
  return cut === true ? `${what} (cut off)` : what;
}

const COSTS = [
  { field: "calls", title: "calls" },
  { field: "params", title: "parameters" },
  { field: "macs", title: "MACs" },
  { field: "peak", title: "peak memory" },
] as const;

/** The costs of a module that differ from those of the previous one, such as `calls 73 → 34`. */
export function costChanges(before: Cost | undefined, after: Cost | undefined): readonly string[] {
  if (before === undefined || after === undefined) {
    return [];
  }
  return COSTS.filter(({ field }) => before[field].text !== after[field].text).map(
    ({ field, title }) => `${title} ${before[field].text} → ${after[field].text}`,
  );
}

/** All costs of a module. */
export function costText(cost: Cost): string {
  return `${cost.function}: ${COSTS.map(({ field, title }) => `${cost[field].text} ${title}`).join(", ")}`;
}

/** Lets the user choose a module. */
export async function pickModule(log: vscode.Uri, modules: readonly PassModule[], title: string): Promise<vscode.Uri | undefined> {
  const items = modules.map((module) => ({
    label: titleOf(module),
    description: `line ${module.line} · ${changedText(module)}`,
    module,
  }));
  const chosen = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
  return chosen && moduleUri(log, chosen.module);
}
