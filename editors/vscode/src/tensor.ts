// Views of tensors: at a stop of the debugger, of the last run, of weights, and of both sides of a comparison. They are heat
// maps of slices, images, and differences, which the debugger and the language server compute.

import * as vscode from "vscode";

import { panelBeside } from "./page.js";
import type { Page } from "./pages.js";
import type { RunResponse, TensorView } from "./protocol.js";
import { RUN, type RunArgument, type ValueArgument } from "./run.js";

const VIEW = "relay.viewTensor";
const TYPE = "relay.tensor";

/** A variable or a constant, of which a tensor can be shown. */
const NAME = /%[\w.]+|meta\[[\w.]+\]\[\d+\]/;

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
  | { readonly type: "value"; readonly number: number }
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

/** What a source of tensors is asked for. */
export interface Wanted {
  readonly name: string;
  readonly expression?: string;
  readonly variablesReference?: number;
  readonly slice?: string;
  readonly layout?: string | undefined;
  readonly other?: string | undefined;
  /** The number of a value in the last run, from 1. */
  readonly number?: number;
}

/** An answer: the tensor, and which one of several values of a variable in the last run it is. */
export interface Answer {
  readonly tensor: TensorView;
  readonly number?: number;
  readonly count?: number;
}

/** Where tensors come from: a session of the debugger, the last run of a file, its weights, or a comparison. */
interface Source {
  readonly session?: vscode.DebugSession;
  ask(wanted: Wanted): Promise<Answer>;
  /** Writes the whole tensor to a file, and says so; missing if it cannot. */
  readonly save?: (file: vscode.Uri, wanted: Wanted) => Promise<string>;
}

/** What other parts of the extension open: a tensor with its name, by its source or as a value that the server knows. */
export type OpenedTensor = { readonly name: string } & (Source | { readonly uri: string; readonly value: ValueArgument });

function sourceOf(session: vscode.DebugSession): Source {
  return {
    session,
    ask: async (wanted) => {
      const asked = { ...wanted, frameId: frameOf(session) };
      return { tensor: (await session.customRequest("relay/tensor", asked)) as TensorView };
    },
    save: async (file, { expression = "" }) => {
      const line = `save(${expression}, ${JSON.stringify(file.fsPath)})`;
      const asked = { expression: line, context: "repl", frameId: frameOf(session) };
      const answer = (await session.customRequest("evaluate", asked)) as { readonly result: string };
      return answer.result;
    },
  };
}

/** A weight, or a value of the last run, which the server repeats up to the value. */
function lastRun(uri: string, value: ValueArgument): Source {
  const numbered = (number: number | undefined) => ({ ...value, ...(number === undefined ? {} : { number }) });
  const run = async (argument: RunArgument) => {
    const result = await vscode.commands.executeCommand<RunResponse | undefined>(RUN, argument);
    if (result === undefined || result.status === "recalled") {
      throw new Error("relay-analyzer does not run.");
    }
    return result;
  };
  return {
    ask: async ({ slice, layout, number = value.number }) => {
      const { view, title } = await run({ uri, value: numbered(number), view: { slice, layout } });
      if (view === undefined) {
        throw new Error(title);
      }
      return view;
    },
    save: async (file, { number = value.number }) => {
      const { title, status } = await run({ uri, value: numbered(number), save: file.toString() });
      if (status !== "done") {
        throw new Error(title);
      }
      return title;
    },
  };
}

/** A tensor in a panel, which follows the stops of its session. */
class TensorPanel implements vscode.Disposable {
  private readonly panel: vscode.WebviewPanel;
  private readonly subscriptions: vscode.Disposable[];
  private answer: Answer | undefined;
  private problem = "";
  /** The number of the last request: older answers are late. */
  private asked = 0;
  shown: ShownTensor | undefined;

  constructor(
    extension: vscode.Uri,
    private readonly source: Source,
    private wanted: Wanted,
  ) {
    const { session } = source;
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
      const answer = await this.source.ask(wanted);
      if (asked === this.asked) {
        this.wanted = wanted;
        this.answer = answer;
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
    const isDebugged = this.source.session !== undefined;
    const isSaved = this.source.save !== undefined && !(isDebugged && this.wanted.expression === undefined);
    await this.panel.webview.postMessage({ type: "tensor", answer: this.answer, problem: this.problem, isDebugged, isSaved });
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
      case "value":
        void this.ask({ number: message.number });
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
    const numpy = this.answer?.tensor.numpy;
    if (numpy !== undefined) {
      await vscode.env.clipboard.writeText(numpy);
      vscode.window.setStatusBarMessage("Relay: copied the slice as numpy", 5_000);
    }
  }

  private async save(): Promise<void> {
    const { save } = this.source;
    const target = save && (await vscode.window.showSaveDialog({ title: `Save ${this.wanted.name}`, filters: { "numpy array": ["npy"] } }));
    if (save === undefined || target === undefined) {
      return;
    }
    try {
      vscode.window.setStatusBarMessage(`Relay: ${await save(target, this.wanted)}`, 10_000);
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
  const word = editor.document.getWordRangeAtPosition(editor.selection.active, NAME);
  const range = editor.selection.isEmpty ? word : editor.selection;
  const expression = range && editor.document.getText(range).trim();
  return expression ? { name: expression, expression } : undefined;
}

/** The name of the variable or the constant at a place. */
async function nameAt(uri: string, { line, character }: NonNullable<RunArgument["position"]>): Promise<string> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  const word = document.getWordRangeAtPosition(new vscode.Position(line, character), NAME);
  return word ? document.getText(word) : "Tensor";
}

/** True for what other parts of the extension open. */
function isOpened(argument: unknown): argument is OpenedTensor {
  return typeof argument === "object" && argument !== null && ("ask" in argument || ("uri" in argument && "value" in argument));
}

/**
 * Registers the command that opens views of tensors: what is given, or else the one at the cursor, where the debugger has
 * stopped, otherwise of the last run or a weight.
 */
export function registerTensors(extension: vscode.Uri): vscode.Disposable {
  return vscode.commands.registerCommand(VIEW, async (argument: unknown, at?: RunArgument["position"], number?: number) => {
    if (isOpened(argument)) {
      const { name } = argument;
      new TensorPanel(extension, "ask" in argument ? argument : lastRun(argument.uri, argument.value), { name });
      return;
    }
    if (typeof argument === "string" && at !== undefined) {
      // A link in a hover, or the label of a value of the last run.
      const value = { position: at, ...(number === undefined ? {} : { number }) };
      new TensorPanel(extension, lastRun(argument, value), { name: await nameAt(argument, at) });
      return;
    }
    const session = vscode.debug.activeDebugSession;
    let wanted = wantedOf(argument);
    if (session?.type !== "relay" || wanted?.name.startsWith("meta[") === true) {
      const editor = vscode.window.activeTextEditor;
      if (wanted === undefined || editor === undefined) {
        void vscode.window.showWarningMessage("Relay: put the cursor on a variable of the last run or on a weight, or stop in the debugger.");
        return;
      }
      const { line, character } = editor.selection.start;
      new TensorPanel(extension, lastRun(editor.document.uri.toString(), { position: { line, character } }), wanted);
      return;
    }
    if (wanted === undefined) {
      const expression = await vscode.window.showInputBox({ title: "View Tensor", prompt: "A variable or an expression, such as %5 or nn.softmax(%x)" });
      if (!expression?.trim()) {
        return;
      }
      wanted = { name: expression, expression };
    }
    new TensorPanel(extension, sourceOf(session), wanted);
  });
}
