// The item in the status bar about the file at hand: what it holds, what is wrong with it, and whether
// TVM would take it.

import * as vscode from "vscode";

import { type HealthCounts, type Running, health } from "./protocol.js";

/** How long findings must rest before they are counted, in milliseconds. */
const REST = 200;

export class Health implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("relay.health", vscode.StatusBarAlignment.Right, 90);
  private readonly subscriptions: vscode.Disposable[];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly running: Running) {
    this.item.name = "Relay: Health of the File";
    this.item.command = "workbench.actions.view.problems";
    this.subscriptions = [
      this.item,
      vscode.window.onDidChangeActiveTextEditor(() => this.later()),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        const shown = vscode.window.activeTextEditor?.document.uri.toString();
        if (uris.some((uri) => uri.toString() === shown)) {
          this.later();
        }
      }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document === vscode.window.activeTextEditor?.document) {
          this.later();
        }
      }),
    ];
    this.later();
  }

  /** The server has started, or has ended. */
  refresh(): void {
    this.later();
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.update(), REST);
  }

  private async update(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    const client = this.running();
    if (document?.languageId !== "relay" || client === undefined) {
      this.item.hide();
      return;
    }
    // The server counts: to be given each symbol and finding of a large module takes a second of this
    // process, in which no extension answers.
    const counts = await health(client, document).catch(() => undefined);
    if (counts?.version === document.version && document === vscode.window.activeTextEditor?.document) {
      this.show(document, counts, counts.first && client.protocol2CodeConverter.asRange(counts.first));
    }
  }

  private show(document: vscode.TextDocument, counts: HealthCounts, first: vscode.Range | null): void {
    const { functions, types, errors, warnings, unresolved, tvm, names } = counts;
    const icon = errors > 0 ? "error" : unresolved + warnings > 0 ? "warning" : "pass";
    const unread = names === tvm ? many(tvm, "name") : many(tvm, "place");
    const against = tvm > 0 ? `TVM cannot re-read ${unread}` : undefined;
    const holds = many(functions, "function");
    const parts =
      errors > 0
        ? [holds, many(errors, "error")]
        : unresolved + warnings > 0
          ? [holds, against]
          : ["OK", against ?? holds];
    this.item.text = `$(${icon}) ${parts.filter(Boolean).join(" · ")}`;
    this.item.command =
      errors === 0 && first !== null
        ? {
            title: "Go to the first",
            command: "editor.action.goToLocations",
            arguments: [document.uri, first.start, [new vscode.Location(document.uri, first)], "goto", ""],
          }
        : "workbench.actions.view.problems";
    const size = document.offsetAt(document.lineAt(document.lineCount - 1).range.end);
    const compatible = tvm > 0 ? `no: ${many(tvm, "finding")} against it` : errors > 0 ? "not with these errors" : "nothing was found against it";
    const table = [
      ["size", `${many(document.lineCount, "line")}, ${size.toLocaleString("en")} characters`],
      ["functions", String(functions)],
      ["types", String(types)],
      ["errors", String(errors)],
      ["warnings", String(warnings)],
      ["unresolved types", String(unresolved)],
      ["TVM 0.14 takes it", compatible],
    ];
    this.item.tooltip = new vscode.MarkdownString(["| | |", "|---|---|", ...table.map((row) => `| ${row.join(" | ")} |`)].join("\n"));
    this.item.show();
  }
}

function many(count: number, what: string): string {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}
