// The language status item of Relay files: the running server, or the reason that there is none.

import * as vscode from "vscode";

export class Status implements vscode.Disposable {
  private readonly item: vscode.LanguageStatusItem;

  constructor() {
    this.item = vscode.languages.createLanguageStatusItem("relay.server", { language: "relay" });
    this.item.name = "relay-analyzer";
    this.starting();
  }

  starting(): void {
    this.item.busy = true;
    this.item.severity = vscode.LanguageStatusSeverity.Information;
    this.item.text = "relay-analyzer";
    this.item.detail = "starting";
    this.item.command = undefined;
  }

  running(version: string): void {
    this.item.busy = false;
    this.item.severity = vscode.LanguageStatusSeverity.Information;
    this.item.text = `relay-analyzer ${version}`;
    this.item.detail = "running";
    this.item.command = { command: "relay.showServerLog", title: "Log" };
  }

  failed(problem: string): void {
    this.item.busy = false;
    this.item.severity = vscode.LanguageStatusSeverity.Error;
    this.item.text = "relay-analyzer does not run";
    this.item.detail = problem;
    this.item.command = { command: "relay.restartServer", title: "Restart" };
  }

  dispose(): void {
    this.item.dispose();
  }
}
