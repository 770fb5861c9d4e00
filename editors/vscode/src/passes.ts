// The view *Relay Passes*: the modules of a log, and the changes of each pass.

import * as vscode from "vscode";

import { uriBeyondReach } from "./large.js";
import { changedText, costChanges, costText, isLog, moduleAt, pickModule } from "./modules.js";
import type { Comparisons, ShownComparison } from "./compare.js";
import type { PassError, PassErrors, PassModule } from "./protocol.js";
import { type Running, type Waking, isCancelled, passErrors, passes } from "./requests.js";
import { urisOf } from "./tabs.js";
import { moduleOf, moduleUri, nameOf, titleOf } from "./virtual.js";

const VIEW = "relay.passes";
/** The scheme of the URIs by which VS Code requests the colours of rows. */
const ROW_SCHEME = "relay-pass";
/** The debounce of changes before a log is read again, in milliseconds. */
const REST = 500;

/** A log with its modules. */
interface Log {
  readonly uri: vscode.Uri;
  readonly modules: readonly PassModule[];
}

/** A row of the view. */
interface Row {
  readonly log: Log;
  readonly module: PassModule;
  /** The number of a pass that ran inside that of the module, whose row is the parent. */
  readonly nested?: number;
}

/** The shown passes, for the caller of the command. */
export interface ShownPasses {
  readonly uri: string;
  readonly passes: readonly {
    readonly title: string;
    readonly what: string;
    readonly dim: boolean;
    readonly nested?: readonly string[];
    readonly costs?: readonly string[];
    readonly error?: string;
  }[];
}

export class Passes implements vscode.Disposable, vscode.TreeDataProvider<Row>, vscode.FileDecorationProvider {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Row>;
  private log: Log | undefined;
  private rows: readonly Row[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private leaving: ReturnType<typeof setTimeout> | undefined;
  /** Costs need the types of every module, so that they are computed when someone asks. */
  private withCosts = false;
  /** The error of each module, whose run someone asked for, until the log changes. */
  private errors: PassErrors | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly running: Running,
    private readonly waking: Waking,
    private readonly comparisons: Comparisons,
  ) {
    this.view = vscode.window.createTreeView(VIEW, { treeDataProvider: this });
    const command = (name: string, run: (row?: Row) => unknown) => vscode.commands.registerCommand(`relay.${name}`, run);
    this.subscriptions = [
      this.changed,
      this.view,
      command("passes", () => this.show()),
      command("passCosts", () => this.show(true)),
      command("hidePassCosts", () => this.show(false)),
      command("passErrors", () => this.showErrors()),
      command("hidePassErrors", () => this.setErrors(undefined)),
      command("openModule", (row) => this.open(row)),
      command("comparePrevious", (row) => this.comparePrevious(row)),
      command("compareModule", (row) => this.compareOther(row)),
      command("showInLog", (row) => this.showInLog(row)),
      vscode.window.registerFileDecorationProvider(this),
      vscode.window.onDidChangeActiveTextEditor((editor) => void this.entered(editor)),
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => closed.length > 0 && this.leaveLater()),
      this.view.onDidChangeVisibility(() => this.mark(vscode.window.activeTextEditor)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.toString() === this.log?.uri.toString()) {
          this.setErrors(undefined);
          this.later(document.uri);
        }
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    clearTimeout(this.leaving);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** The server has started. */
  refresh(): void {
    if (this.log === undefined) {
      void this.entered(vscode.window.activeTextEditor);
    } else {
      this.later(this.log.uri);
    }
  }

  getChildren(row?: Row): Row[] {
    if (row === undefined) {
      return [...this.rows];
    }
    const { log, module } = row;
    return row.nested === undefined ? (module.nested ?? []).map((_, nested) => ({ log, module, nested })) : [];
  }

  getParent({ module, nested }: Row): Row | undefined {
    return nested === undefined ? undefined : this.rows[module.index];
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const { log, module } = row;
    if (row.nested !== undefined) {
      return nestedItem(row, row.nested);
    }
    const item = new vscode.TreeItem(titleOf(module));
    const dim = isDim(module);
    item.id = `${log.uri.toString()}#${module.index}`;
    item.collapsibleState = vscode.TreeItemCollapsibleState[module.nested === undefined ? "None" : "Collapsed"];
    item.description = [changedText(module), ...this.costsOf(row), ...errorText(this.errorOf(module)), `line ${module.line}`].join(" · ");
    item.tooltip = new vscode.MarkdownString(
      [
        `**${module.pass ?? "a module"}**, ${module.functions} function${module.functions === 1 ? "" : "s"}, line ${module.line} of ${nameOf(log.uri)}`,
        `changed: ${changedText(module)}`,
        ...(module.cost === undefined ? [] : [costText(module.cost)]),
      ].join("\n\n"),
    );
    const error = this.errorOf(module);
    if (error !== undefined) {
      item.tooltip.appendMarkdown("\n\nresult: ").appendText(error.detail);
    }
    const color = error?.state === "differs" ? "charts.red" : dim ? "disabledForeground" : "charts.blue";
    item.iconPath = new vscode.ThemeIcon(dim ? "circle-outline" : "circle-filled", new vscode.ThemeColor(color));
    // The colour of a label comes from the decoration of its resource.
    item.resourceUri = vscode.Uri.from({ scheme: ROW_SCHEME, path: `/${module.index}`, query: dim ? "dim" : "" });
    item.contextValue = module.index === 0 ? "first" : "module";
    item.command = { title: "Open", command: "relay.openModule", arguments: [row] };
    return item;
  }

  private costsOf({ log, module }: Row): readonly string[] {
    return costChanges(log.modules[module.index - 1]?.cost, module.cost);
  }

  private errorOf({ index }: PassModule): PassError | undefined {
    return this.errors?.modules.find((module) => module.index === index);
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    const dim = uri.scheme === ROW_SCHEME && uri.query === "dim";
    return dim ? new vscode.FileDecoration(undefined, undefined, new vscode.ThemeColor("disabledForeground")) : undefined;
  }

  /** Shows the passes of the active file, even if VS Code withholds it from extensions. */
  private async show(withCosts = this.withCosts): Promise<ShownPasses | undefined> {
    this.withCosts = withCosts;
    const document = vscode.window.activeTextEditor?.document;
    const uri = document === undefined ? uriBeyondReach() : (moduleOf(document.uri)?.log ?? document.uri);
    if (uri === undefined || (await this.waking()) === undefined) {
      const problem = uri === undefined ? "Open a log of passes to list them." : "relay-analyzer does not run.";
      void vscode.window.showWarningMessage(problem);
      return undefined;
    }
    await vscode.window.withProgress({ location: { viewId: VIEW } }, () => this.read(uri));
    const { log } = this;
    if (log === undefined || log.uri.toString() !== uri.toString()) {
      return undefined;
    }
    if (log.modules.length === 0) {
      void vscode.window.showInformationMessage(`There is no module in ${nameOf(uri)}.`);
    }
    await vscode.commands.executeCommand(`${VIEW}.focus`);
    return this.shown(log);
  }

  private shown(log: Log): ShownPasses {
    const passes = this.rows.map((row) => {
      const { module } = row;
      const nested = module.nested === undefined ? {} : { nested: module.nested };
      const error = this.errorOf(module);
      const shown = { title: titleOf(module), what: changedText(module), dim: isDim(module), ...nested, ...(error && { error: error.text }) };
      return this.withCosts ? { ...shown, costs: this.costsOf(row) } : shown;
    });
    return { uri: log.uri.toString(), passes };
  }

  /** Runs the modules of the log, and shows the error of each. */
  private async showErrors(): Promise<ShownPasses | undefined> {
    const log = this.log ?? ((await this.show()) && this.log);
    const client = this.running();
    if (log === undefined || client === undefined) {
      return undefined;
    }
    try {
      const errors = await vscode.window.withProgress({ location: { viewId: VIEW } }, () => passErrors(client, log.uri));
      if (this.log?.uri.toString() !== log.uri.toString()) {
        return undefined;
      }
      this.setErrors(errors);
      void vscode.window.showInformationMessage(`relay-analyzer: ${errors.summary}`);
      return this.shown(log);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      void (isCancelled(error)
        ? vscode.window.showInformationMessage("The runs were cancelled.")
        : vscode.window.showErrorMessage(`relay-analyzer: ${reason}`));
      return undefined;
    }
  }

  private setErrors(errors: PassErrors | undefined): void {
    this.errors = errors;
    void vscode.commands.executeCommand("setContext", "relay.hasPassErrors", errors !== undefined);
    this.changed.fire(undefined);
  }

  /** Shows the passes of the newly active document, if that is a log or a module of one. */
  private async entered(editor: vscode.TextEditor | undefined): Promise<void> {
    const document = editor?.document;
    const log = document && (moduleOf(document.uri)?.log ?? (isLog(document) ? document.uri : undefined));
    void vscode.commands.executeCommand("setContext", "relay.inLog", log !== undefined);
    if (log !== undefined && log.toString() !== this.log?.uri.toString()) {
      await this.read(log).catch(() => undefined);
    }
    this.mark(editor);
  }

  /** A tab that is replaced is closed before its successor opens. */
  private leaveLater(): void {
    clearTimeout(this.leaving);
    this.leaving = setTimeout(() => this.leave(), REST);
  }

  /** Clears the view if neither the log nor a module of it is open. */
  private leave(): void {
    const log = this.log?.uri.toString();
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    if (log === undefined || tabs.some((tab) => urisOf(tab).some((uri) => (moduleOf(uri)?.log ?? uri).toString() === log))) {
      return;
    }
    clearTimeout(this.timer);
    this.log = undefined;
    this.rows = [];
    this.view.description = "";
    this.view.message = "";
    void vscode.commands.executeCommand("setContext", "relay.hasPasses", false);
    this.changed.fire(undefined);
  }

  private later(uri: vscode.Uri): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.read(uri).catch(() => undefined), REST);
  }

  private async read(uri: vscode.Uri): Promise<void> {
    const client = this.running();
    if (client === undefined) {
      return;
    }
    const log = { uri, modules: await passes(client, uri, this.withCosts) };
    if (this.log?.uri.toString() !== uri.toString()) {
      this.setErrors(undefined);
    }
    await vscode.commands.executeCommand("setContext", "relay.hasPassCosts", this.withCosts);
    this.log = log;
    this.rows = log.modules.map((module) => ({ log, module }));
    await vscode.commands.executeCommand("setContext", "relay.hasPasses", true);
    this.view.description = nameOf(uri);
    const idle = log.modules.filter(isDim).length;
    this.view.message = log.modules.length === 0 ? "There are no modules in this file." : idle === 0 ? "" : `${idle} of ${log.modules.length} without changes.`;
    this.changed.fire(undefined);
    this.mark(vscode.window.activeTextEditor);
  }

  /** Selects the row of the open module without taking focus. */
  private mark(editor: vscode.TextEditor | undefined): void {
    const place = editor && moduleOf(editor.document.uri);
    const isLogItself = editor?.document.uri.toString() === this.log?.uri.toString();
    const index = place !== undefined && place.log.toString() === this.log?.uri.toString() ? place.module : undefined;
    const here = isLogItself ? moduleAt(this.log?.modules ?? [], editor?.selection.active.line ?? 0)?.index : index;
    const row = here === undefined ? undefined : this.rows[here];
    if (row !== undefined && this.view.visible) {
      // The rows may be replaced meanwhile.
      Promise.resolve(this.view.reveal(row, { select: true, focus: false })).catch(() => undefined);
    }
  }

  /** The row of a command: its argument, the selected row, or that of the open module. */
  private rowOf(row: Row | undefined): Row | undefined {
    const open = vscode.window.activeTextEditor && moduleOf(vscode.window.activeTextEditor.document.uri);
    const found = row ?? (open === undefined ? this.view.selection[0] : this.rows[open.module]);
    if (found === undefined) {
      void vscode.window.showWarningMessage("Choose a pass of the view Relay Passes.");
    }
    return found;
  }

  private async open(given?: Row): Promise<void> {
    const row = this.rowOf(given);
    if (row !== undefined) {
      await vscode.window.showTextDocument(moduleUri(row.log.uri, row.module), { preview: true });
    }
  }

  private async comparePrevious(given?: Row): Promise<ShownComparison | undefined> {
    const row = this.rowOf(given);
    const previous = row && row.log.modules[row.module.index - 1];
    if (row === undefined || previous === undefined) {
      if (row !== undefined) {
        void vscode.window.showInformationMessage("This is the first module of the log.");
      }
      return undefined;
    }
    return this.comparisons.open(moduleUri(row.log.uri, previous), moduleUri(row.log.uri, row.module));
  }

  private async compareOther(given?: Row): Promise<ShownComparison | undefined> {
    const row = this.rowOf(given);
    if (row === undefined) {
      return undefined;
    }
    const { log, module } = row;
    const others = log.modules.filter((other) => other !== module);
    const before = await pickModule(log.uri, others, `Compare ${titleOf(module)} with…`);
    return before && this.comparisons.open(before, moduleUri(log.uri, module));
  }

  private async showInLog(given?: Row): Promise<void> {
    const row = this.rowOf(given);
    if (row !== undefined) {
      const selection = new vscode.Range(row.module.line - 1, 0, row.module.line - 1, 0);
      await vscode.commands.executeCommand("vscode.open", row.log.uri, { selection, preview: false });
    }
  }
}

/** The row of a pass inside another one: the log has one module for all of them. */
function nestedItem({ log, module }: Row, nested: number): vscode.TreeItem {
  const item = new vscode.TreeItem(module.nested?.[nested] ?? "");
  item.id = `${log.uri.toString()}#${module.index}.${nested}`;
  item.tooltip = `ran inside ${module.pass ?? "the pass"}, whose module has the changes of both`;
  item.iconPath = new vscode.ThemeIcon("indent");
  item.contextValue = "nested";
  return item;
}

/** The error of a module as a part of its row. */
function errorText(error: PassError | undefined): string[] {
  return error === undefined ? [] : [`max error ${error.text}`];
}

/** True for passes without changes. */
function isDim({ index, changed }: PassModule): boolean {
  return index > 0 && changed.length === 0;
}
