// The selection of modules to compare: *Relay: Compare with…*, and two files of the explorer.

import * as vscode from "vscode";

import type { Comparisons, ShownComparison } from "./compare.js";
import { isLog, moduleAt, modulesOf, pickModule } from "./modules.js";
import type { Running } from "./requests.js";
import { urisOf } from "./tabs.js";
import { TEXT_SCHEME, type VirtualDocuments, moduleOf, moduleUri, nameOf, savedUri, sideName } from "./virtual.js";

/** The used part of the API of VS Code's Git extension. */
interface Git {
  readonly enabled: boolean;
  getAPI(version: 1): {
    getRepository(uri: vscode.Uri): { show(ref: string, path: string): Promise<string> } | null;
    toGitUri(uri: vscode.Uri, ref: string): vscode.Uri;
  };
}

/** An item of the list. `find` returns the base, or nothing if the user cancels. */
interface Base extends vscode.QuickPickItem {
  readonly find: () => Promise<vscode.Uri | undefined>;
}

export function registerCompare(running: Running, virtual: VirtualDocuments, comparisons: Comparisons): vscode.Disposable {
  const command = (name: string, run: (uri?: vscode.Uri, others?: readonly vscode.Uri[]) => unknown) =>
    vscode.commands.registerCommand(`relay.${name}`, run);
  const chooser = new Chooser(running, virtual, comparisons);
  return vscode.Disposable.from(
    command("compareWith", (uri) => chooser.compareWith(uri)),
    command("compareSelected", (_, chosen) => chooser.compareSelected(chosen ?? [])),
    command("runAndCompare", (uri) => chooser.compareWith(uri, true)),
  );
}

class Chooser {
  constructor(
    private readonly running: Running,
    private readonly virtual: VirtualDocuments,
    private readonly comparisons: Comparisons,
  ) {}

  /** Compares a file, by default the active one, and runs both sides if asked. Returns the shown comparison. */
  async compareWith(uri?: vscode.Uri, runs = false): Promise<ShownComparison | undefined> {
    const after = await this.subject(uri ?? vscode.window.activeTextEditor?.document.uri);
    if (after === undefined) {
      return undefined;
    }
    const title = `${runs ? "Run and compare" : "Compare"} ${sideName(after)} with…`;
    const chosen = await vscode.window.showQuickPick(await this.bases(after), { title, placeHolder: "Select the old version" });
    const before = await chosen?.find();
    return before && (runs ? this.comparisons.openAndRun(before, after) : this.comparisons.open(before, after));
  }

  /** Compares two files; the one that was selected first is the old one. */
  async compareSelected(chosen: readonly vscode.Uri[]): Promise<ShownComparison | undefined> {
    const [first, second] = chosen;
    if (first === undefined || second === undefined) {
      void vscode.window.showWarningMessage("Select two files to compare them.");
      return undefined;
    }
    const before = await this.single(first);
    const after = before && (await this.single(second));
    return after && this.comparisons.open(before, after);
  }

  /** The document to compare: in a log, the module at the cursor. */
  private async subject(uri: vscode.Uri | undefined): Promise<vscode.Uri | undefined> {
    if (uri === undefined) {
      void vscode.window.showWarningMessage("Open a Relay file to compare it.");
      return undefined;
    }
    const editor = vscode.window.activeTextEditor;
    const modules = editor?.document.uri.toString() === uri.toString() ? await modulesOf(this.running, uri) : undefined;
    const here = modules && moduleAt(modules, editor?.selection.active.line ?? 0);
    return here === undefined ? this.single(uri) : moduleUri(uri, here);
  }

  /** A file; for a log, one of its modules. */
  private async single(uri: vscode.Uri): Promise<vscode.Uri | undefined> {
    const modules = await modulesOf(this.running, uri);
    return modules === undefined ? uri : pickModule(uri, modules, `Which module of ${nameOf(uri)}?`);
  }

  private async bases(after: vscode.Uri): Promise<Base[]> {
    const place = moduleOf(after);
    const bases = this.openEditors(after);
    if (place !== undefined) {
      const name = nameOf(place.log);
      bases.push({ label: "$(list-ordered) Another module…", description: name, find: () => this.anotherModule(place) });
    }
    bases.push({ label: "$(file) Choose a File…", find: () => this.file() });
    if (after.scheme === "file") {
      const isDirty = vscode.workspace.textDocuments.some(({ uri, isDirty }) => isDirty && uri.toString() === after.toString());
      const description = isDirty ? "the file on disk" : "the file on disk, currently equal";
      bases.push({ label: "$(save) Saved state", description, find: () => Promise.resolve(savedUri(after)) });
    }
    const head = await lastCommit(after);
    if (head !== undefined) {
      bases.push({ label: "$(git-commit) Git HEAD", description: "the last commit", find: head });
    }
    bases.push({ label: "$(clippy) Clipboard", find: () => this.clipboard() });
    return bases;
  }

  /** The other open editors of Relay and of logs, in the order of their tabs, without the copies that comparisons opened. */
  private openEditors(after: vscode.Uri): Base[] {
    const known = new Set([after.toString(), moduleOf(after)?.log.toString()]);
    const open = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.flatMap(urisOf));
    return open.flatMap((uri): Base[] => {
      if (known.has(uri.toString()) || uri.scheme === TEXT_SCHEME || !isRelay(uri)) {
        return [];
      }
      known.add(uri.toString());
      const description = uri.scheme === "file" ? vscode.workspace.asRelativePath(uri) : uri.scheme === "untitled" ? "untitled" : "read-only";
      return [{ label: `$(window) ${sideName(uri)}`, description, find: () => this.single(uri) }];
    });
  }

  private async anotherModule({ log, module }: { log: vscode.Uri; module: number }): Promise<vscode.Uri | undefined> {
    const modules = (await modulesOf(this.running, log)) ?? [];
    // The previous module comes first, as the most frequent choice.
    const others = [...modules.slice(0, module).reverse(), ...modules.slice(module + 1)];
    return pickModule(log, others, `Compare module ${module} of ${nameOf(log)} with…`);
  }

  private async file(): Promise<vscode.Uri | undefined> {
    const filters = { Relay: ["relay", "rly", "txt", "log"], "All Files": ["*"] };
    const [uri] = (await vscode.window.showOpenDialog({ title: "Compare with", openLabel: "Compare", filters })) ?? [];
    return uri && this.single(uri);
  }

  private async clipboard(): Promise<vscode.Uri | undefined> {
    const text = await vscode.env.clipboard.readText();
    if (text.trim() === "") {
      void vscode.window.showWarningMessage("There is no text in the clipboard.");
      return undefined;
    }
    return this.virtual.keep("Clipboard.relay", text);
  }
}

/** True for an open document of Relay or a log. A tab that was not shown since VS Code started has no document yet. */
function isRelay(uri: vscode.Uri): boolean {
  const document = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  return document === undefined ? /\.(relay|rly)$/.test(uri.path) : document.languageId === "relay" || isLog(document);
}

/** Returns the last commit's version of a file; undefined without a repository. */
async function lastCommit(file: vscode.Uri): Promise<Base["find"] | undefined> {
  const extension = vscode.extensions.getExtension<Git>("vscode.git");
  if (extension === undefined || file.scheme !== "file") {
    return undefined;
  }
  const git = await extension.activate();
  const api = git.enabled ? git.getAPI(1) : undefined;
  const repository = api?.getRepository(file);
  if (api === undefined || repository == null) {
    return undefined;
  }
  return async () => {
    try {
      await repository.show("HEAD", file.fsPath);
    } catch {
      void vscode.window.showWarningMessage(`${nameOf(file)} is not in the last commit.`);
      return undefined;
    }
    return api.toGitUri(file, "HEAD");
  };
}
