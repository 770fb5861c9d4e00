// Virtual documents: modules of a log, modules that TVM saved, the saved state of a file, the clipboard.
// They are read-only, and follow their source.

import * as vscode from "vscode";

import type { PassModule } from "./protocol.js";
import { type Running, type Waking, convertFile, moduleText } from "./requests.js";

/** The scheme of documents that show a module of a log. */
const MODULE_SCHEME = "relay-module";
/** The scheme of documents that show a module that TVM saved as JSON or in an archive. */
const CONVERTED_SCHEME = "relay-saved";
/** The scheme of documents that show another text. */
export const TEXT_SCHEME = "relay-text";

/** The debounce of changes before a document is updated, in milliseconds. */
const REST = 300;

/** A module of a log, by its number. */
export interface ModulePlace {
  readonly log: vscode.Uri;
  readonly module: number;
}

/** The source of a text in its URI. */
type TextPlace = { readonly saved: string } | { readonly kept: number };

/** Returns `7 FuseOps`, or `7` if the log does not name the pass. */
export function titleOf({ index, pass, before }: Pick<PassModule, "index" | "pass" | "before">): string {
  return [index, before === true ? "before" : undefined, pass].filter((part) => part != null).join(" ");
}

/** The document of a module: `run.log/7 FuseOps.relay`, whose extension determines the language. */
export function moduleUri(log: vscode.Uri, { index, pass }: Pick<PassModule, "index" | "pass">): vscode.Uri {
  const title = titleOf({ index, pass }).replace(/[/\\]/g, "_");
  const query = JSON.stringify({ log: log.toString(), module: index });
  return vscode.Uri.from({ scheme: MODULE_SCHEME, path: `/${nameOf(log)}/${title}.relay`, query });
}

/** The module that a document shows, if any. */
export function moduleOf(uri: vscode.Uri): ModulePlace | undefined {
  if (uri.scheme !== MODULE_SCHEME) {
    return undefined;
  }
  const { log, module } = JSON.parse(uri.query) as { log: string; module: number };
  return { log: vscode.Uri.parse(log), module };
}

/** The document of a module that TVM saved: `net.json.relay`, whose extension determines the language. */
export function convertedUri(file: vscode.Uri): vscode.Uri {
  return vscode.Uri.from({
    scheme: CONVERTED_SCHEME,
    path: `/${nameOf(file)}.relay`,
    query: JSON.stringify({ file: file.toString() }),
  });
}

/** The saved module that a document shows, if any. */
export function convertedFile(uri: vscode.Uri): vscode.Uri | undefined {
  if (uri.scheme !== CONVERTED_SCHEME) {
    return undefined;
  }
  return vscode.Uri.parse((JSON.parse(uri.query) as { file: string }).file);
}

/** The document with the state of a file on disk. */
export function savedUri(file: vscode.Uri): vscode.Uri {
  const stem = nameOf(file).replace(/\.(relay|rly)$/, "");
  return textUri(`${stem} (saved).relay`, { saved: file.toString() });
}

function textUri(name: string, place: TextPlace): vscode.Uri {
  return vscode.Uri.from({ scheme: TEXT_SCHEME, path: `/${name}`, query: JSON.stringify(place) });
}

/** The name of a document for messages. */
export function nameOf(uri: vscode.Uri): string {
  return uri.path.split("/").pop() ?? uri.path;
}

/** The name of a side of a comparison, as in `run.log#7 FuseOps`. */
export function sideName(uri: vscode.Uri): string {
  const place = moduleOf(uri);
  const name = nameOf(uri);
  switch (uri.scheme) {
    case MODULE_SCHEME:
      return `${place === undefined ? "" : nameOf(place.log)}#${name.replace(/\.relay$/, "")}`;
    case CONVERTED_SCHEME:
    case TEXT_SCHEME:
      return name.replace(/\.relay$/, "");
    case "git":
      return `${name} (HEAD)`;
    default:
      return name;
  }
}

export class VirtualDocuments implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly kept = new Map<number, string>();
  private count = 0;
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();
  /** Of the files that TVM saved and that are shown: programs write them, and no editor. */
  private readonly watchers = new Map<string, vscode.FileSystemWatcher>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly running: Running,
    private readonly waking: Waking,
  ) {
    this.subscriptions = [
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(MODULE_SCHEME, this),
      vscode.workspace.registerTextDocumentContentProvider(CONVERTED_SCHEME, this),
      vscode.workspace.registerTextDocumentContentProvider(TEXT_SCHEME, this),
      vscode.workspace.onDidOpenTextDocument(({ uri }) => this.watch(uri)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.unwatch(uri)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.later(document.uri)),
      vscode.workspace.onDidSaveTextDocument(({ uri }) => this.later(uri)),
    ];
  }

  dispose(): void {
    this.timers.forEach((timer) => clearTimeout(timer));
    this.watchers.forEach((watcher) => watcher.dispose());
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** Creates a document for a text; the extension of its name determines the language. */
  keep(name: string, text: string): vscode.Uri {
    this.kept.set(++this.count, text);
    return textUri(name, { kept: this.count });
  }

  /** Replaces the text of such a document. */
  replace(uri: vscode.Uri, text: string): void {
    const place = JSON.parse(uri.query) as TextPlace;
    if ("kept" in place) {
      this.kept.set(place.kept, text);
      this.changed.fire(uri);
    }
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const place = moduleOf(uri);
    if (place !== undefined) {
      const client = this.running();
      if (client === undefined) {
        throw new Error("relay-analyzer does not run.");
      }
      return moduleText(client, place.log, place.module);
    }
    const file = convertedFile(uri);
    if (file !== undefined) {
      const client = await this.waking();
      if (client === undefined) {
        throw new Error("relay-analyzer does not run.");
      }
      // While a program writes the file, the previous text stays.
      const before = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
      const text = convertFile(client, file);
      return before === undefined ? text : text.catch(() => before.getText());
    }
    const text = JSON.parse(uri.query) as TextPlace;
    return "kept" in text
      ? (this.kept.get(text.kept) ?? "")
      : new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.parse(text.saved)));
  }

  /** Watches the file that a document shows, inside or outside of the workspace. */
  private watch(uri: vscode.Uri): void {
    const file = convertedFile(uri);
    const key = uri.toString();
    if (file === undefined || this.watchers.has(key)) {
      return;
    }
    const pattern = new vscode.RelativePattern(vscode.Uri.joinPath(file, ".."), globOf(nameOf(file)));
    const watcher = vscode.workspace.createFileSystemWatcher(pattern, false, false, true);
    watcher.onDidCreate(() => this.later(file));
    watcher.onDidChange(() => this.later(file));
    this.watchers.set(key, watcher);
  }

  private unwatch(uri: vscode.Uri): void {
    const key = uri.toString();
    this.watchers.get(key)?.dispose();
    this.watchers.delete(key);
  }

  /** A file has changed or was saved, so documents that show it must be updated. */
  private later(source: vscode.Uri): void {
    const shown = vscode.workspace.textDocuments.filter(({ uri }) => sourceOf(uri) === source.toString());
    for (const { uri } of shown) {
      const key = uri.toString();
      clearTimeout(this.timers.get(key));
      this.timers.set(key, setTimeout(() => this.changed.fire(uri), REST));
    }
  }
}

/** The URI of the file that a virtual document shows. */
function sourceOf(uri: vscode.Uri): string | undefined {
  if (uri.scheme === TEXT_SCHEME) {
    const text = JSON.parse(uri.query) as TextPlace;
    return "saved" in text ? text.saved : undefined;
  }
  return (convertedFile(uri) ?? moduleOf(uri)?.log)?.toString();
}

/** The glob pattern that matches exactly a name. */
function globOf(name: string): string {
  return name.replace(/[*?[\]{}]/g, "[$&]");
}
