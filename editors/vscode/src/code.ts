// Code views: a file system with the code of modules with large metadata sections.

import * as vscode from "vscode";

import { fileBeyondReach, uriBeyondReach } from "./large.js";
import { type Waking, codeView, saveCode } from "./protocol.js";
import { nameOf } from "./virtual.js";

/** The scheme of code views, whose paths are those of the files. */
export const CODE_SCHEME = "relay-code";

const OPEN = "Open Code View";
const OVERWRITE = "Save Code Anyway";

/** The start of a metadata section. */
const SECTION = "#[metadata]";
/** The start of the line that replaces it. */
const FOLDED = `${SECTION} folded:`;

/** The size of a file above which VS Code creates no document for extensions, in bytes. */
const BEYOND_REACH = 50 * 2 ** 20;

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
function fileOf(uri: vscode.Uri): vscode.Uri {
  return vscode.Uri.from({ scheme: "file", path: uri.path });
}

/** The files of code views. Writing replaces the code, and the server keeps every other byte. */
class CodeFiles implements vscode.FileSystemProvider {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  /** The text of each document as last read. */
  private readonly read = new Map<string, View>();
  /** The state of the file on which each document is based: VS Code discards what it reads for an edited document. */
  private readonly stamps = new Map<string, string>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly waking: Waking) {
    this.subscriptions = [
      this.changed,
      vscode.workspace.onDidOpenTextDocument((document) => this.accept(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.accept(document)),
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
      const { text, stamp } = await codeView(client, fileOf(uri));
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
    let stamp = known && (await this.saved(saveCode(client, file, known, text), uri));
    while (stamp === null) {
      const problem = `${nameOf(uri)} has changed on disk since its code was read.`;
      const detail = "Saving replaces its code and keeps the weights on disk.";
      const choice = await vscode.window.showWarningMessage(problem, { modal: true, detail }, OVERWRITE);
      if (choice !== OVERWRITE) {
        throw vscode.FileSystemError.Unavailable(problem);
      }
      const current = (await codeView(client, file)).stamp;
      stamp = await this.saved(saveCode(client, file, current, text), uri);
    }
    this.read.set(uri.toString(), { text, stamp, size: content.length });
    this.stamps.set(uri.toString(), stamp);
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

  private async saved(result: Promise<string | null>, uri: vscode.Uri): Promise<string | null> {
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

export function registerCode(waking: Waking): vscode.Disposable {
  const command = (name: string, run: (uri?: vscode.Uri) => unknown) => vscode.commands.registerCommand(`relay.${name}`, run);
  const offered = new Set<string>();
  const offer = async (uri: vscode.Uri | undefined, isLarge: () => Promise<boolean>): Promise<void> => {
    if (uri === undefined || uri.scheme !== "file" || offered.has(uri.toString()) || !(await isLarge())) {
      return;
    }
    offered.add(uri.toString());
    const text = `${nameOf(uri)} has a large metadata section. You can edit its code without the weights.`;
    if ((await vscode.window.showInformationMessage(text, OPEN)) === OPEN) {
      await openView(uri);
    }
  };
  const offerDocument = (document: vscode.TextDocument) =>
    document.languageId === "relay" ? offer(document.uri, () => hasLargeSection(document)) : undefined;
  const offerTab = () => {
    const uri = fileBeyondReach();
    return offer(uri, async () => uri !== undefined && (await sizeOf(uri)) > BEYOND_REACH);
  };
  vscode.workspace.textDocuments.forEach((document) => void offerDocument(document));
  void offerTab();
  const files = new CodeFiles(waking);
  return vscode.Disposable.from(
    files,
    vscode.workspace.registerFileSystemProvider(CODE_SCHEME, files, { isCaseSensitive: true }),
    command("openCode", (uri) => {
      const file = uri ?? vscode.window.activeTextEditor?.document.uri ?? uriBeyondReach();
      return file && openView(file);
    }),
    vscode.workspace.onDidOpenTextDocument((document) => void offerDocument(document)),
    vscode.window.tabGroups.onDidChangeTabs(() => void offerTab()),
  );
}

/** Shows a module that was written: its code alone where the file is large and has a section. */
export async function openModule(file: vscode.Uri): Promise<void> {
  const limit = vscode.workspace.getConfiguration("relay").get("codeView.minimumSize", 1) * 1e6;
  const code = (await sizeOf(file)) > limit ? vscode.workspace.openTextDocument(codeUri(file)) : undefined;
  const document = await code?.then(undefined, () => undefined);
  await vscode.window.showTextDocument(document ?? (await vscode.workspace.openTextDocument(file)), { preview: false });
}

/** Whether the metadata section of a document is larger than the setting says. */
async function hasLargeSection(document: vscode.TextDocument): Promise<boolean> {
  if (document.uri.scheme !== "file") {
    return false;
  }
  const limit = vscode.workspace.getConfiguration("relay").get("codeView.minimumSize", 1) * 1e6;
  const size = await sizeOf(document.uri);
  if (size <= limit) {
    return false;
  }
  for (let line = 0; line < document.lineCount; line++) {
    const text = document.lineAt(line).text;
    if (text.startsWith(SECTION)) {
      const code = document.offsetAt(new vscode.Position(line, 0));
      return !text.startsWith(FOLDED) && size - code > limit;
    }
  }
  return false;
}

/** The size of a file; 0 if it does not exist. */
async function sizeOf(uri: vscode.Uri): Promise<number> {
  return vscode.workspace.fs.stat(uri).then((stat) => stat.size, () => 0);
}

/** Shows the code of a file, or an error message. */
async function openView(file: vscode.Uri): Promise<vscode.Uri | undefined> {
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
