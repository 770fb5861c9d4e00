// Views of tensors at a stop of the debugger: heat maps of slices, images, and differences. The debugger computes them.

import * as vscode from "vscode";

import { panelBeside } from "./page.js";
import type { Page } from "./pages.js";
import type { TensorView } from "./protocol.js";

const VIEW = "relay.viewTensor";
const TYPE = "relay.tensor";

const PAGE: Page = {
  title: "Tensor",
  styles: ["type.css", "tensor.css"],
  scripts: ["elements.js", "histogram.js", "tensor.js"],
  body: `  <p id="problem" role="alert" hidden></p>
  <main id="tensor" hidden></main>
  <p id="cell" role="status"></p>`,
};

/** A message from the page. */
type FromPage =
  | { readonly type: "ready" }
  | { readonly type: "slice"; readonly slice: string }
  | { readonly type: "layout"; readonly layout: string }
  | { readonly type: "compare" }
  | { readonly type: "copy" }
  | { readonly type: "save" }
  | ({ readonly type: "shown" } & ShownTensor);

/** The content of a view, as last reported by its page. */
export interface ShownTensor {
  readonly slice: string;
  /** The titles of the pictures. */
  readonly titles: readonly string[];
  readonly cells: number;
  readonly problem: string;
}

/** A variable of the view of the debugger, as VS Code passes it to a command. */
interface VariableArgument {
  readonly variable: { readonly name: string; readonly evaluateName?: string; readonly variablesReference: number };
}

/** What the debugger is asked for. */
interface Wanted {
  readonly name: string;
  readonly expression?: string;
  readonly variablesReference?: number;
  readonly slice?: string;
  readonly layout?: string | undefined;
  readonly other?: string | undefined;
}

/** A tensor in a panel, which follows the stops of its session. */
class TensorPanel implements vscode.Disposable {
  private readonly panel: vscode.WebviewPanel;
  private readonly subscriptions: vscode.Disposable[];
  private view: TensorView | undefined;
  private problem = "";
  /** The number of the last request: older answers are late. */
  private asked = 0;
  shown: ShownTensor | undefined;

  constructor(
    extension: vscode.Uri,
    private readonly session: vscode.DebugSession,
    private wanted: Wanted,
  ) {
    this.panel = panelBeside(TYPE, extension, { ...PAGE, title: wanted.name });
    this.subscriptions = [
      this.panel.webview.onDidReceiveMessage((message: FromPage) => this.hear(message)),
      this.panel.onDidDispose(() => this.dispose()),
      // A reference is only valid at its stop, an expression at each.
      vscode.debug.onDidChangeActiveStackItem((item) => {
        if (item instanceof vscode.DebugStackFrame && item.session === session && this.wanted.expression !== undefined) {
          void this.ask({});
        }
      }),
      vscode.debug.onDidTerminateDebugSession((ended) => {
        if (ended === session) {
          void this.post("The debugger has ended: these are the last values.");
        }
      }),
    ];
  }

  dispose(): void {
    this.asked = -1;
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** Asks for the tensor with changes of what is shown. A problem leaves the last view. */
  async ask(changes: Partial<Wanted>): Promise<void> {
    const wanted = { ...this.wanted, ...changes };
    const asked = ++this.asked;
    try {
      const view = (await this.session.customRequest("relay/tensor", { ...wanted, frameId: frameOf(this.session) })) as TensorView;
      if (asked === this.asked) {
        this.wanted = wanted;
        this.view = view;
        await this.post("");
      }
    } catch (error) {
      if (asked === this.asked) {
        await this.post(error instanceof Error ? error.message : String(error));
      }
    }
  }

  private async post(problem: string): Promise<void> {
    this.problem = problem;
    const isNamed = this.wanted.expression !== undefined;
    await this.panel.webview.postMessage({ type: "tensor", view: this.view, problem: this.problem, isNamed });
  }

  private hear(message: FromPage): void {
    switch (message.type) {
      case "ready":
        void this.ask({});
        break;
      case "slice":
        void this.ask({ slice: message.slice });
        break;
      case "layout":
        void this.ask(message.layout === "" ? { layout: undefined } : { layout: message.layout });
        break;
      case "compare":
        void this.compare();
        break;
      case "copy":
        void this.copy();
        break;
      case "save":
        void this.save();
        break;
      case "shown":
        this.shown = message;
        break;
    }
  }

  private async compare(): Promise<void> {
    const typed = await vscode.window.showInputBox({
      title: `Compare ${this.wanted.name} With…`,
      prompt: "A variable or an expression of the same shape; empty to compare with nothing",
      value: this.wanted.other ?? "",
    });
    if (typed !== undefined) {
      await this.ask({ other: typed.trim() === "" ? undefined : typed });
    }
  }

  private async copy(): Promise<void> {
    if (this.view?.numpy !== undefined) {
      await vscode.env.clipboard.writeText(this.view.numpy);
      vscode.window.setStatusBarMessage("Relay: copied the slice as numpy", 5_000);
    }
  }

  private async save(): Promise<void> {
    const { expression } = this.wanted;
    const target = expression && (await vscode.window.showSaveDialog({ title: `Save ${expression}`, filters: { "numpy array": ["npy"] } }));
    if (!target) {
      return;
    }
    try {
      const line = `save(${expression}, ${JSON.stringify(target.fsPath)})`;
      const answer = (await this.session.customRequest("evaluate", { expression: line, context: "repl", frameId: frameOf(this.session) })) as {
        readonly result: string;
      };
      vscode.window.setStatusBarMessage(`Relay: ${answer.result}`, 10_000);
    } catch (error) {
      void vscode.window.showErrorMessage(`Relay: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** The number of the frame that is selected in a session. */
function frameOf(session: vscode.DebugSession): number | undefined {
  const item = vscode.debug.activeStackItem;
  return item instanceof vscode.DebugStackFrame && item.session === session ? item.frameId : undefined;
}

/** What a command is about: a variable of the debugger, or the selection or the variable at the cursor. */
function wantedOf(argument: unknown): Wanted | undefined {
  const variable = (argument as Partial<VariableArgument> | undefined)?.variable;
  if (variable !== undefined) {
    const { name, evaluateName, variablesReference } = variable;
    return evaluateName ? { name: evaluateName, expression: evaluateName } : { name, variablesReference };
  }
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== "relay") {
    return undefined;
  }
  const word = editor.document.getWordRangeAtPosition(editor.selection.active, /%[\w.]+/);
  const range = editor.selection.isEmpty ? word : editor.selection;
  const expression = range && editor.document.getText(range).trim();
  return expression ? { name: expression, expression } : undefined;
}

/** Registers the command that opens views of tensors. */
export function registerTensors(extension: vscode.Uri): vscode.Disposable {
  return vscode.commands.registerCommand(VIEW, async (argument: unknown) => {
    const session = vscode.debug.activeDebugSession;
    if (session?.type !== "relay") {
      void vscode.window.showWarningMessage("Relay: a tensor can be viewed where the debugger has stopped.");
      return;
    }
    let wanted = wantedOf(argument);
    if (wanted === undefined) {
      const expression = await vscode.window.showInputBox({ title: "View Tensor", prompt: "A variable or an expression, such as %5 or nn.softmax(%x)" });
      if (!expression?.trim()) {
        return;
      }
      wanted = { name: expression, expression };
    }
    new TensorPanel(extension, session, wanted);
  });
}
