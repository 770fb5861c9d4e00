// Code views: a file system with the code of modules with large metadata sections.

import * as vscode from "vscode";

import type { CodeView, SavedCode } from "./protocol.js";
import { type Waking, codeView, saveCode } from "./requests.js";
import { nameOf } from "./virtual.js";

/** The scheme of code views, whose paths are those of the files. */
export const CODE_SCHEME = "relay-code";

const OVERWRITE = "Save Code Anyway";

/** The code of a file as it was read. */
interface View {
  readonly text: string;
  readonly stamp: string;
  readonly size: number;
}

/** The URI of the code view of a file. */
export function codeUri(file: vscode.Uri): vscode.Uri {
  return vscode.Uri.from({ scheme: CODE_SCHEME, path: file.path });
}

/** The file of a code view. */
export function fileOf(uri: vscode.Uri): vscode.Uri {
  return vscode.Uri.from({ scheme: "file", path: uri.path });
}

/** The size of a section above which code views are offered, in bytes. */
export function minimumSize(): number {
  return vscode.workspace.getConfiguration("relay").get("codeView.minimumSize", 1) * 1e6;
}

/** The files of code views. Writing replaces the code, and the server keeps every other byte. */
export class CodeFiles implements vscode.FileSystemProvider {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  /** The text of each document as last read. */
  private readonly read = new Map<string, View>();
  /** The state of the file on which each document is based: VS Code discards what it reads for an edited document. */
  private readonly stamps = new Map<string, string>();
  /** Views that were requested before their documents. */
  private readonly requested = new Map<string, CodeView>();
  /** The views of files from which a save has dropped constants, until their documents are read again. */
  private readonly renumbered = new Map<string, View>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly waking: Waking) {
    this.subscriptions = [
      this.changed,
      vscode.workspace.onDidOpenTextDocument((document) => this.accept(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.accept(document)),
      vscode.workspace.onDidSaveTextDocument(({ uri }) => this.renumber(uri)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.stamps.delete(uri.toString())),
    ];
  }

  dispose(): void {
    this.subscriptions.forEach((subscription) => subscription.dispose());
  }

  /** Records the state of the file if a document equals the text that was read. */
  private accept(document: vscode.TextDocument): void {
    const view = this.read.get(document.uri.toString());
    if (view !== undefined && !document.isDirty && plain(document.getText()) === plain(view.text)) {
      this.stamps.set(document.uri.toString(), view.stamp);
    }
  }

  /** Lets VS Code read a document again if its constants have other numbers since the save. */
  private renumber(uri: vscode.Uri): void {
    const view = this.renumbered.get(uri.toString());
    if (view !== undefined) {
      this.renumbered.delete(uri.toString());
      // VS Code reads a document whose size differs from that of the save.
      this.read.set(uri.toString(), view);
      this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
    }
  }

  /** Requests the code of a file whose document is opened next. */
  async request(file: vscode.Uri): Promise<CodeView> {
    const view = await codeView(await this.client(), file);
    this.requested.set(codeUri(file).toString(), view);
    return view;
  }

  /** Forgets a request whose document is not opened. */
  forget(file: vscode.Uri): void {
    this.requested.delete(codeUri(file).toString());
  }

  watch(uri: vscode.Uri): vscode.Disposable {
    const file = fileOf(uri);
    const folder = vscode.Uri.joinPath(file, "..");
    const pattern = new vscode.RelativePattern(folder, nameOf(file).replace(/[*?[\]{}]/g, "[$&]"));
    const watcher = vscode.workspace.createFileSystemWatcher(pattern);
    const fire = (type: vscode.FileChangeType) => () => this.changed.fire([{ type, uri }]);
    return vscode.Disposable.from(
      watcher,
      watcher.onDidChange(fire(vscode.FileChangeType.Changed)),
      watcher.onDidCreate(fire(vscode.FileChangeType.Changed)),
      watcher.onDidDelete(fire(vscode.FileChangeType.Deleted)),
    );
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const stat = await vscode.workspace.fs.stat(fileOf(uri));
    return { ...stat, size: this.read.get(uri.toString())?.size ?? 0 };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const client = await this.client();
    try {
      const known = this.requested.get(uri.toString());
      this.requested.delete(uri.toString());
      const { text, stamp } = known ?? (await codeView(client, fileOf(uri)));
      const bytes = new TextEncoder().encode(text);
      this.read.set(uri.toString(), { text, stamp, size: bytes.length });
      const document = documentOf(uri);
      if (document !== undefined) {
        this.accept(document);
      }
      return bytes;
    } catch (error) {
      throw vscode.FileSystemError.Unavailable(`${nameOf(uri)}: ${messageOf(error)}`);
    }
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const client = await this.client();
    const file = fileOf(uri);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(content);
    // Writing without an open document replaces the current code.
    const known = this.stamps.get(uri.toString()) ?? (documentOf(uri) ? null : (await codeView(client, file)).stamp);
    let saved = known === null ? { stamp: null } : await this.saved(saveCode(client, file, known, text), uri);
    while (saved.stamp === null) {
      const problem = `${nameOf(uri)} has changed on disk since its code was read.`;
      const detail = "Saving replaces its code and keeps the weights on disk.";
      const choice = await vscode.window.showWarningMessage(problem, { modal: true, detail }, OVERWRITE);
      if (choice !== OVERWRITE) {
        throw vscode.FileSystemError.Unavailable(problem);
      }
      const current = (await codeView(client, file)).stamp;
      saved = await this.saved(saveCode(client, file, current, text), uri);
    }
    const { stamp } = saved;
    this.read.set(uri.toString(), { text, stamp, size: content.length });
    this.stamps.set(uri.toString(), stamp);
    if (saved.text !== undefined && documentOf(uri) !== undefined) {
      const size = new TextEncoder().encode(saved.text).length;
      this.renumbered.set(uri.toString(), { text: saved.text, stamp, size });
      return;
    }
    this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  private async saved(result: Promise<SavedCode>, uri: vscode.Uri): Promise<SavedCode> {
    try {
      return await result;
    } catch (error) {
      throw vscode.FileSystemError.Unavailable(`${nameOf(uri)}: ${messageOf(error)}`);
    }
  }

  private async client() {
    const client = await this.waking();
    if (client === undefined) {
      throw vscode.FileSystemError.Unavailable("relay-analyzer does not run");
    }
    return client;
  }
}

function documentOf(uri: vscode.Uri): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
}

/** Normalises a text like a document: without a byte order mark, and with uniform line breaks. */
function plain(text: string): string {
  return text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Shows a module that was written: its code alone where the file is large and has a section. */
export async function openModule(file: vscode.Uri): Promise<void> {
  const code = (await sizeOf(file)) > minimumSize() ? vscode.workspace.openTextDocument(codeUri(file)) : undefined;
  const document = await code?.then(undefined, () => undefined);
  await vscode.window.showTextDocument(document ?? (await vscode.workspace.openTextDocument(file)), { preview: false });
}

/** The size of a file; 0 if it does not exist. */
export async function sizeOf(uri: vscode.Uri): Promise<number> {
  return vscode.workspace.fs.stat(uri).then((stat) => stat.size, () => 0);
}

/** Shows the code of a file, or an error message. */
export async function openView(file: vscode.Uri): Promise<vscode.Uri | undefined> {
  if (file.scheme === CODE_SCHEME) {
    return file;
  }
  if (file.scheme !== "file") {
    void vscode.window.showErrorMessage(`${nameOf(file)} is not a file on disk.`);
    return undefined;
  }
  const uri = codeUri(file);
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: false });
    return uri;
  } catch (error) {
    void vscode.window.showErrorMessage(messageOf(error));
    return undefined;
  }
}
