// *Relay: History of Expression*: the passes of a log that changed an expression.

import * as vscode from "vscode";

import { isLog } from "./modules.js";
import type { History } from "./protocol.js";
import { type Running, history } from "./requests.js";
import { moduleOf, moduleUri, nameOf, titleOf } from "./virtual.js";

/** The maximal length of the name and annotation of a binding, in characters. */
const LONGEST_BINDING = 1_000;

/** A module that contains the expression. */
interface Stop extends vscode.QuickPickItem {
  readonly uri: vscode.Uri;
  readonly range: vscode.Range;
}

/** The shown history, for the caller of the command. */
export interface ShownHistory {
  readonly stops: readonly string[];
  readonly here: number;
}

export function registerHistory(running: Running): vscode.Disposable {
  const command = (name: string, run: () => unknown) => vscode.commands.registerCommand(`relay.${name}`, run);
  return command("history", () => show(running));
}

async function show(running: Running): Promise<ShownHistory | undefined> {
  const client = running();
  const editor = vscode.window.activeTextEditor;
  if (client === undefined) {
    void vscode.window.showWarningMessage("relay-analyzer does not run.");
    return undefined;
  }
  const place = editor && moduleOf(editor.document.uri);
  if (editor === undefined || (place === undefined && !isLog(editor.document))) {
    void vscode.window.showWarningMessage("Put the cursor on an expression of a log of passes, or of one of its modules.");
    return undefined;
  }
  const log = place?.log ?? editor.document.uri;
  const found = await history(client, log, expressionAt(editor), place?.module);
  const items = listed(found, log, (range) => client.protocol2CodeConverter.asRange(range));
  const chosen = await pick(found, items, nameOf(log));
  if (chosen !== undefined) {
    await vscode.window.showTextDocument(chosen.uri, { selection: chosen.range, preview: true });
  }
  return { stops: items.map(({ label }) => label), here: found.here };
}

/** The position of the cursor, or of the value if the cursor is on the name of a binding. */
function expressionAt({ document, selection: { active } }: vscode.TextEditor): vscode.Position {
  const [binding] = /^\s*(?:let )?%[^\s:=]+[^=]*=\s*/.exec(document.lineAt(active.line).text.slice(0, LONGEST_BINDING)) ?? [""];
  return active.character < binding.length ? active.with({ character: binding.length }) : active;
}

/** The stops in the order of the log, each with the change of its pass. */
function listed(found: History, log: vscode.Uri, asRange: (range: History["stops"][number]["range"]) => vscode.Range): Stop[] {
  return found.stops.map(({ module, pass, range, text, kind, changes }, at) => {
    const title = titleOf({ index: module, pass });
    const what = kind === null ? (found.new ? "added here" : "in the first module") : kind === "same" ? "" : kind;
    const description = [what, ...(changes ?? [])].filter((part) => part !== "").join(": ");
    const icon = at === found.here ? "$(arrow-right)" : kind === "same" ? "$(circle-outline)" : "$(circle-filled)";
    return {
      label: `${icon} ${title}`,
      description: at === found.stops.length - 1 && found.gone ? [description, "removed after this"].filter(Boolean).join(", ") : description,
      detail: text,
      uri: moduleUri(log, { index: module, pass }),
      range: asRange(range),
    };
  });
}

/** The module in which the history was requested is selected. */
async function pick(found: History, items: Stop[], name: string): Promise<Stop | undefined> {
  const list = vscode.window.createQuickPick<Stop>();
  list.title = `History of ${found.stops[found.here]?.text ?? "an expression"}`;
  list.placeholder = `The modules of ${name} that contain it`;
  list.matchOnDescription = true;
  list.matchOnDetail = true;
  list.items = items;
  const here = items[found.here];
  list.activeItems = here === undefined ? [] : [here];
  let chosen: Stop | undefined;
  list.onDidAccept(() => {
    chosen = list.activeItems[0];
    list.hide();
  });
  list.show();
  await new Promise<void>((resolve) => list.onDidHide(() => resolve()));
  list.dispose();
  return chosen;
}
