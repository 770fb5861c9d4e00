// The status bar item of the active file: its definitions, its errors, and its compatibility with
// TVM.

import * as vscode from "vscode";

import type { HealthCounts } from "./protocol.js";
import { type Running, health } from "./requests.js";

/** The debounce of diagnostics before a request, in milliseconds. */
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

  /** The server has started or ended. */
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
    // The server counts: receiving all symbols and diagnostics of a large module would block the extension
    // host for a second.
    const counts = await health(client, document).catch(() => undefined);
    if (counts?.version === document.version && document === vscode.window.activeTextEditor?.document) {
      this.show(document, counts, counts.first && client.protocol2CodeConverter.asRange(counts.first));
    }
  }

  private show(document: vscode.TextDocument, counts: HealthCounts, first: vscode.Range | null): void {
    const { functions, types, errors, warnings, unresolved, tvm, names, releases } = counts;
    const icon = errors > 0 ? "error" : unresolved + warnings > 0 ? "warning" : "pass";
    const unread = names === tvm ? many(tvm, "name") : many(tvm, "place");
    const printed = releases === null ? undefined : `TVM ${releases}`;
    const against = printed ?? (tvm > 0 ? `TVM cannot read back ${unread}` : undefined);
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
            title: "Go to First",
            command: "editor.action.goToLocations",
            arguments: [document.uri, first.start, [new vscode.Location(document.uri, first)], "goto", ""],
          }
        : "workbench.actions.view.problems";
    const size = document.offsetAt(document.lineAt(document.lineCount - 1).range.end);
    const compatible = tvm > 0 ? `no: ${many(tvm, "incompatibility", "incompatibilities")}` : errors > 0 ? "no, because of the errors" : "yes";
    const table = [
      ["size", `${many(document.lineCount, "line")}, ${size.toLocaleString("en")} characters`],
      ["functions", String(functions)],
      ["types", String(types)],
      ["errors", String(errors)],
      ["warnings", String(warnings)],
      ["unresolved types", String(unresolved)],
      ["printed by TVM", releases ?? "0.14, or written by hand"],
      ["compatible with TVM 0.14", compatible],
    ];
    this.item.tooltip = new vscode.MarkdownString(["| | |", "|---|---|", ...table.map((row) => `| ${row.join(" | ")} |`)].join("\n"));
    this.item.show();
  }
}

function many(count: number, one: string, several = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : several}`;
}
