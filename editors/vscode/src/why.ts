// The commands of the server's lenses and links: references of a definition, and origins of a shape.

import * as vscode from "vscode";
import type { Location, Position } from "vscode-languageclient";

import { BIND, LIFT } from "./bind.js";
import type { ShapeExplanation } from "./protocol.js";
import { REDUCE_TO } from "./reduce.js";
import { type Running, whyShape } from "./requests.js";

/** The commands of links in hovers. */
export const LINKS = ["relay.whyShape", "relay.viewTensor", "relay.previousCall", "relay.nextCall"];

/** The commands of the extension that the server may name. */
export const CLICKABLE = [...LINKS, "relay.showReferences", "relay.wrapHeader", BIND, LIFT, REDUCE_TO, "editor.action.triggerParameterHints"];

export function registerWhy(running: Running): vscode.Disposable {
  const command = (name: string, run: (uri?: string, at?: Position) => unknown) =>
    vscode.commands.registerCommand(`relay.${name}`, run);
  return vscode.Disposable.from(
    command("whyShape", (uri, at) => why(running, uri, at)),
    // Only a lens provides the arguments, so the command is in no menu.
    vscode.commands.registerCommand("relay.showReferences", (uri: string, at: Position, places: Location[]) =>
      showReferences(running, uri, at, places),
    ),
  );
}

async function showReferences(running: Running, uri: string, at: Position, places: Location[]): Promise<void> {
  const convert = running()?.protocol2CodeConverter;
  if (convert !== undefined) {
    await vscode.commands.executeCommand(
      "editor.action.showReferences",
      convert.asUri(uri),
      convert.asPosition(at),
      places.map((place) => convert.asLocation(place)),
    );
  }
}

/** A step of the chain in the list. */
interface Step extends vscode.QuickPickItem {
  readonly place?: vscode.Location;
}

/** Explains the shape at a position: that of a link in a hover, or the cursor. */
async function why(running: Running, uri?: string, at?: Position): Promise<void> {
  const client = running();
  if (client === undefined) {
    void vscode.window.showWarningMessage("relay-analyzer does not run.");
    return;
  }
  const editor = vscode.window.activeTextEditor;
  if (uri === undefined || at === undefined) {
    if (editor?.document.languageId !== "relay") {
      void vscode.window.showWarningMessage("Put the cursor on an expression of a Relay file.");
      return;
    }
    uri = client.code2ProtocolConverter.asUri(editor.document.uri);
    at = client.code2ProtocolConverter.asPosition(editor.selection.active);
  }
  const found = await whyShape(client, uri, at);
  if (found === null || found.dimensions.length === 0) {
    const what = found === null ? "There is no tensor here." : `${found.expression}: ${found.type} has no axes.`;
    void vscode.window.showInformationMessage(what);
    return;
  }
  const steps = listed(found, (place) => client.protocol2CodeConverter.asLocation(place));
  const document = await vscode.workspace.openTextDocument(client.protocol2CodeConverter.asUri(uri));
  await pick(`Why ${found.expression}: ${found.type}`, steps, document);
}

/** Lists each axis with the origin of its size and the steps that passed it on. */
function listed(found: ShapeExplanation, locate: (place: Location) => vscode.Location): Step[] {
  return found.dimensions.flatMap(({ field, axis, size, steps }) => {
    const where = field === null ? `axis ${axis}` : `field ${field}, axis ${axis}`;
    const head: Step = { label: `${where}: ${size}`, kind: vscode.QuickPickItemKind.Separator };
    const items = steps.map(({ location, message }): Step => {
      const place = locate(location);
      return { label: message, description: `line ${place.range.start.line + 1}`, place };
    });
    return [head, ...items];
  });
}

/** Reveals the selected step. Accepting goes there, and cancelling restores the cursor. */
async function pick(title: string, steps: Step[], document: vscode.TextDocument): Promise<void> {
  const editor = await vscode.window.showTextDocument(document, { preserveFocus: true });
  const { selections, visibleRanges } = editor;
  const mark = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor("editor.findMatchHighlightBackground"),
  });
  const list = vscode.window.createQuickPick<Step>();
  list.title = title;
  list.placeholder = "The origin of the size of each axis";
  list.matchOnDescription = true;
  list.items = steps;
  let chosen: vscode.Location | undefined;
  list.onDidChangeActive(([step]) => {
    if (step?.place !== undefined) {
      editor.setDecorations(mark, [step.place.range]);
      editor.revealRange(step.place.range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
  });
  list.onDidAccept(() => {
    chosen = list.activeItems[0]?.place;
    list.hide();
  });
  list.show();
  await new Promise<void>((resolve) => list.onDidHide(() => resolve()));
  list.dispose();
  mark.dispose();
  if (chosen !== undefined) {
    await vscode.window.showTextDocument(document, { selection: chosen.range });
  } else {
    editor.selections = selections;
    if (visibleRanges[0] !== undefined) {
      editor.revealRange(visibleRanges[0], vscode.TextEditorRevealType.AtTop);
    }
  }
}
