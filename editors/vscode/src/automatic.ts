// Large files that open as their code: the code view takes the place of the tab.

import * as vscode from "vscode";

import { CODE_SCHEME, CodeFiles, codeUri, fileOf, minimumSize, openView, sizeOf } from "./code.js";
import { fileBeyondReach, uriBeyondReach } from "./large.js";
import type { Waking } from "./requests.js";
import { nameOf } from "./virtual.js";

const OPEN = "Open Code View";
const WHOLE = "Open Whole File";

/** The start of a metadata section. */
const SECTION = "#[metadata]";
/** The start of the line that replaces it. */
const FOLDED = `${SECTION} folded:`;

/** The size of a file above which VS Code creates no document for extensions, in bytes. */
const BEYOND_REACH = 50 * 2 ** 20;

/** Registers code views. */
export function registerCode(waking: Waking): vscode.Disposable {
  const command = (name: string, run: (uri?: vscode.Uri) => unknown) => vscode.commands.registerCommand(`relay.${name}`, run);
  const files = new CodeFiles(waking);
  const automatic = new Automatic(files);
  return vscode.Disposable.from(
    files,
    vscode.workspace.registerFileSystemProvider(CODE_SCHEME, files, { isCaseSensitive: true }),
    automatic,
    command("openCode", (uri) => {
      const file = uri ?? vscode.window.activeTextEditor?.document.uri ?? uriBeyondReach();
      return file && openView(file);
    }),
    command("openWholeFile", () => automatic.openWhole()),
  );
}

/** Replaces the tabs of large files by their code views, or offers the views. */
class Automatic implements vscode.Disposable {
  /** The files that the user has opened whole, and those that have no code view. */
  private readonly whole = new Set<string>();
  private readonly offered = new Set<string>();
  /** The files whose code is being requested. */
  private readonly pending = new Set<string>();
  private readonly subscriptions: vscode.Disposable;

  constructor(private readonly files: CodeFiles) {
    this.subscriptions = vscode.Disposable.from(
      vscode.workspace.onDidOpenTextDocument((document) => void this.offerDocument(document)),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("relay.codeView")) {
          void this.look();
        }
      }),
      vscode.window.tabGroups.onDidChangeTabs(() => void this.look()),
      vscode.window.tabGroups.onDidChangeTabGroups(() => void this.look()),
    );
    vscode.workspace.textDocuments.forEach((document) => void this.offerDocument(document));
    void this.look();
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  /** Looks at the active tab: VS Code withholds the documents of very large files, but not their tabs. */
  private async look(): Promise<void> {
    if (isAutomatic()) {
      await this.replace(vscode.window.tabGroups.activeTabGroup.activeTab);
      return;
    }
    const file = fileBeyondReach();
    await this.offer(file, async () => file !== undefined && (await sizeOf(file)) > BEYOND_REACH);
  }

  /** Replaces the tab of a file with a large section by its code. */
  private async replace(tab: vscode.Tab | undefined): Promise<void> {
    const file = tab?.input instanceof vscode.TabInputText ? tab.input.uri : undefined;
    if (tab === undefined || file?.scheme !== "file" || !/\.(relay|rly)$/.test(file.path) || tab.isDirty) {
      return;
    }
    const key = file.toString();
    if (this.whole.has(key) || this.pending.has(key)) {
      return;
    }
    this.pending.add(key);
    try {
      const limit = minimumSize();
      if ((await sizeOf(file)) <= limit) {
        return;
      }
      const { sectionBytes } = await this.files.request(file);
      if (sectionBytes.value <= limit) {
        this.files.forget(file);
        this.whole.add(key);
        return;
      }
      const document = await vscode.workspace.openTextDocument(codeUri(file));
      const { viewColumn } = tab.group;
      await vscode.window.showTextDocument(document, { viewColumn, preview: tab.isPreview, preserveFocus: !tab.isActive });
      // The view of a preview has taken its place already.
      const rest = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).filter((other) => other === tab);
      await vscode.window.tabGroups.close(rest, true);
      void this.tell(file, sectionBytes.text);
    } catch {
      // Without a section, with several modules or without a server the tab shows the file itself.
      this.files.forget(file);
      this.whole.add(key);
    } finally {
      this.pending.delete(key);
    }
  }

  /** Says that only code is shown. */
  private async tell(file: vscode.Uri, size: string): Promise<void> {
    if (this.offered.has(file.toString())) {
      return;
    }
    this.offered.add(file.toString());
    const text = `${nameOf(file)} is shown without its ${size} of weights, which stay in the file.`;
    if ((await vscode.window.showInformationMessage(text, WHOLE)) === WHOLE) {
      await this.openWhole(file);
    }
  }

  /** Opens the file of a code view, now and later. */
  async openWhole(file?: vscode.Uri): Promise<void> {
    const active = vscode.window.activeTextEditor?.document.uri;
    const whole = file ?? (active?.scheme === CODE_SCHEME ? fileOf(active) : undefined);
    if (whole === undefined) {
      void vscode.window.showErrorMessage("The active editor shows no code view.");
      return;
    }
    this.whole.add(whole.toString());
    await vscode.commands.executeCommand("vscode.open", whole);
  }

  private async offerDocument(document: vscode.TextDocument): Promise<void> {
    if (document.languageId === "relay" && !isAutomatic()) {
      await this.offer(document.uri, () => hasLargeSection(document));
    }
  }

  private async offer(uri: vscode.Uri | undefined, isLarge: () => Promise<boolean>): Promise<void> {
    if (uri === undefined || uri.scheme !== "file" || this.offered.has(uri.toString()) || !(await isLarge())) {
      return;
    }
    this.offered.add(uri.toString());
    const text = `${nameOf(uri)} has a large metadata section. You can edit its code without the weights.`;
    if ((await vscode.window.showInformationMessage(text, OPEN)) === OPEN) {
      await openView(uri);
    }
  }
}

/** Whether code views replace the tabs of their files. */
function isAutomatic(): boolean {
  return vscode.workspace.getConfiguration("relay").get("codeView.automatic", true);
}

/** Whether the metadata section of a document is larger than the setting says. */
async function hasLargeSection(document: vscode.TextDocument): Promise<boolean> {
  if (document.uri.scheme !== "file") {
    return false;
  }
  const limit = minimumSize();
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
