// Runs functions: asks for arguments and shows results.

import * as vscode from "vscode";
import type { ClientCapabilities, StaticFeature } from "vscode-languageclient";

import type { RecalledArguments, RememberedArguments, RunResponse, RunResult } from "./protocol.js";
import { Results } from "./results.js";

/** The commands of the server. */
export const RUN = "relay.run";
export const CLEAR = "relay.clearValues";

/** The time after which a run shows a notification with a cancel button, in milliseconds. */
const LONG = 500;

/** The error codes of cancelled requests, from the client and from the server. */
const CANCELLED = new Set([-32800, -32802]);

/** A weight, or one of the values of the last run. */
export interface ValueArgument {
  /** A place of the variable or the constant; without it, the result of the run is meant. */
  readonly position?: { readonly line: number; readonly character: number };
  /** The number among several values of the variable, from 1. */
  readonly number?: number;
  /** The part of a tuple: `result.0`. */
  readonly part?: string;
}

/** The argument of the command. */
export interface RunArgument {
  readonly uri: string;
  readonly function?: string;
  readonly position?: { readonly line: number; readonly character: number };
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly archives?: readonly string[];
  readonly params?: readonly string[];
  readonly seed?: number;
  readonly exact?: boolean;
  readonly remember?: boolean;
  readonly recall?: boolean;
  /** A value that is wanted instead of a run. */
  readonly value?: ValueArgument;
  /** Shows the values of one call of a function of the last run: that with a number, or a step from the one that is shown. */
  readonly call?: { readonly position: { readonly line: number; readonly character: number }; readonly step: number };
  /** What the view of that value shows, which is then part of the result. */
  readonly view?: { readonly slice?: string | undefined; readonly layout?: string | undefined };
  /** The URI of the `.npy` file to write that value to. */
  readonly save?: string;
}

/** The maximal length of a message about a run, in characters. */
const MAX_LENGTH = 160;

const GO = "Go to the Place";
const DETAILS = "Show Details";

/** Announces that the extension shows the result of `relay.run`. */
export const showsRuns: StaticFeature = {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const experimental = (capabilities.experimental ??= {}) as {
      commands?: { commands?: string[] };
    };
    const commands = (experimental.commands ??= {});
    commands.commands = [...(commands.commands ?? []), RUN];
  },
  initialize(): void {},
  getState: () => ({ kind: "static" }),
  clear(): void {},
};

export class Runner implements vscode.Disposable {
  private readonly output = vscode.window.createOutputChannel("Relay run");
  private readonly results: Results;
  /** The active runs, which *Cancel Run* stops. */
  private readonly sources = new Set<vscode.CancellationTokenSource>();
  /** The number of times that the values of a file were cleared: a run that ends after that shows nothing. */
  private readonly clears = new Map<string, number>();

  constructor(extension: vscode.Uri) {
    this.results = new Results(extension, () => this.output.show(true));
  }

  /** Stops all runs. */
  cancel(): void {
    this.sources.forEach((source) => source.cancel());
  }

  dispose(): void {
    this.cancel();
    this.results.dispose();
    this.output.dispose();
  }

  /** The argument for the server: that of a lens, or the function at the cursor. */
  argument(given: unknown): RunArgument | undefined {
    if (typeof given === "object" && given !== null && !(given instanceof vscode.Uri)) {
      return given as RunArgument;
    }
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.languageId !== "relay") {
      void vscode.window.showWarningMessage("Relay: there is no function at the cursor to run.");
      return undefined;
    }
    const { line, character } = editor.selection.active;
    return { uri: editor.document.uri.toString(), position: { line, character } };
  }

  /** Sends the command and shows the result. */
  async run(
    given: unknown,
    send: (argument: RunArgument, token: vscode.CancellationToken) => Promise<unknown>,
  ): Promise<unknown> {
    const argument = this.argument(given);
    if (argument === undefined) {
      return undefined;
    }
    const source = new vscode.CancellationTokenSource();
    this.sources.add(source);
    await this.setRunning();
    const clears = this.clears.get(argument.uri);
    try {
      const pending = send(argument, source.token);
      this.showWhileLong(argument, pending, source);
      const result = (await pending) as RunResponse | undefined;
      const isWanted = clears === this.clears.get(argument.uri);
      if (isWanted && (result?.status === "done" || result?.status === "failed")) {
        await this.show(result, argument);
      } else if (isWanted && result?.status === "cancelled") {
        vscode.window.setStatusBarMessage(result.title, 10_000);
      }
      return result;
    } catch (error) {
      if (CANCELLED.has((error as { code?: number }).code ?? 0)) {
        vscode.window.setStatusBarMessage("Relay: the run was cancelled", 10_000);
        return { status: "cancelled" };
      }
      throw error;
    } finally {
      this.sources.delete(source);
      source.dispose();
      await this.setRunning();
    }
  }

  private setRunning(): Thenable<unknown> {
    return vscode.commands.executeCommand("setContext", "relay.running", this.sources.size > 0);
  }

  /** Shows a notification with a cancel button if the run takes long. */
  private showWhileLong(argument: RunArgument, pending: Promise<unknown>, source: vscode.CancellationTokenSource): void {
    const settled = pending.then(
      () => undefined,
      () => undefined,
    );
    let isSettled = false;
    const timer = setTimeout(() => {
      void this.nameOf(argument).then((name) => {
        const options = { location: vscode.ProgressLocation.Notification, title: `Relay: running ${name}`, cancellable: true };
        if (!isSettled) {
          void vscode.window.withProgress(options, (_, token) => {
            token.onCancellationRequested(() => source.cancel());
            return settled;
          });
        }
      });
    }, LONG);
    void settled.then(() => {
      isSettled = true;
      clearTimeout(timer);
    });
  }

  /** The name that the server gives to what is run. */
  private async nameOf(argument: RunArgument): Promise<string> {
    if (argument.value !== undefined || argument.call !== undefined) {
      return "up to a value";
    }
    const name = argument.function ?? (await recall(argument))?.function;
    return name ?? "the function at the cursor";
  }

  private async show(result: RunResult, { uri, value = {}, call }: RunArgument): Promise<void> {
    this.output.clear();
    this.output.appendLine(result.text);
    if (result.status === "failed") {
      void this.tellFailure(result, vscode.Uri.parse(uri));
    } else {
      vscode.window.setStatusBarMessage(result.title, 10_000);
      if (call === undefined) {
        await this.results.show(result, { uri, value });
      }
    }
  }

  /** Clears the values of the last run of a file, by default the active one. */
  async clear(given: unknown, send: (uri: string) => Promise<unknown>): Promise<unknown> {
    const active = vscode.window.activeTextEditor?.document;
    const uri = typeof given === "string" ? given : active?.languageId === "relay" ? active.uri.toString() : undefined;
    if (uri === undefined) {
      void vscode.window.showWarningMessage("Open a Relay file to clear its values.");
      return undefined;
    }
    this.clears.set(uri, (this.clears.get(uri) ?? 0) + 1);
    await this.results.clear(uri);
    return send(uri);
  }

  /** Shows a short message, with buttons for the place and the details. */
  private async tellFailure({ title, error }: RunResult, uri: vscode.Uri): Promise<void> {
    const line = title.split("\n")[0] ?? "";
    const short = line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1)}…` : line;
    const range = error?.range;
    const choices = range === undefined ? [DETAILS] : [GO, DETAILS];
    const choice = await vscode.window.showErrorMessage(`Relay: ${short}`, ...choices);
    if (choice === DETAILS) {
      this.output.show(false);
    } else if (choice === GO && range !== undefined) {
      const { start, end } = range;
      const selection = new vscode.Range(start.line, start.character, end.line, end.character);
      await vscode.window.showTextDocument(uri, { selection });
    }
  }

  /** Asks which of several values of the variable at the cursor to show. */
  async showValue(): Promise<unknown> {
    const argument = this.argument(undefined);
    if (argument?.position === undefined) {
      return undefined;
    }
    const typed = await vscode.window.showInputBox({
      title: "Show Value of Variable",
      prompt: "The number of the value in the last run, from 1",
      validateInput: (text) => (/^[1-9]\d{0,14}$/.test(text.trim()) ? undefined : "A number from 1"),
    });
    if (typed === undefined) {
      return undefined;
    }
    const value = { position: argument.position, number: Number(typed) };
    return vscode.commands.executeCommand(RUN, { uri: argument.uri, value });
  }

  /** Shows the values of the call after or before the one that is shown, of the function at a place or at the cursor. */
  async showCall(step: 1 | -1, uri?: string, at?: RunArgument["position"]): Promise<unknown> {
    const argument = uri === undefined || at === undefined ? this.argument(undefined) : { uri, position: at };
    if (argument?.position === undefined) {
      return undefined;
    }
    return vscode.commands.executeCommand(RUN, { uri: argument.uri, call: { position: argument.position, step } });
  }

  /** Asks for arguments first, which are saved for the next run. */
  async runWith(): Promise<unknown> {
    const argument = this.argument(undefined);
    if (argument === undefined) {
      return undefined;
    }
    const known = await recall(argument);
    if (known === undefined) {
      // The run reports why the remembered arguments cannot be read.
      return vscode.commands.executeCommand(RUN, argument);
    }
    const chosen = await fill(known);
    return chosen && vscode.commands.executeCommand(RUN, { ...argument, ...chosen, exact: true, remember: true });
  }
}

/** The saved arguments of a function, if there are any and the server returns them. */
export async function recall(argument: RunArgument): Promise<RecalledArguments | undefined> {
  try {
    const asked = { ...argument, recall: true };
    const answer = await vscode.commands.executeCommand<RunResponse | undefined>(RUN, asked);
    return answer?.status === "recalled" ? answer : undefined;
  } catch {
    // The run itself reports the error.
    return undefined;
  }
}

/** A row of the form: a field, or the run. */
interface Field extends vscode.QuickPickItem {
  /** Asks for the value; missing in the row that runs. */
  readonly edit?: () => Thenable<unknown>;
}

/** What the arguments of a form are for, with the icon of its first row. */
const VERBS = { Run: "play", Debug: "debug-alt", "Run and Compare": "run-all" } as const;

/** A form with a field for each parameter, the files of arrays and the seed. Returns the arguments. */
export async function fill(
  { function: name, parameters, remembered }: RecalledArguments,
  verb: keyof typeof VERBS = "Run",
): Promise<RememberedArguments | undefined> {
  const inputs = new Map(Object.entries(remembered.inputs ?? {}));
  let files = [...(remembered.archives ?? []), ...(remembered.params ?? [])];
  let seed = remembered.seed ?? 0;
  const title = `${verb} ${name} With…`;
  const ask = (prompt: string, value: string) => vscode.window.showInputBox({ title, prompt, value, ignoreFocusOut: true });
  const fields = (): Field[] => [
    { label: `$(${VERBS[verb]}) ${verb} ${name}` },
    ...parameters.map((parameter) => {
      const known = inputs.get(parameter.name);
      const value = known === undefined ? "" : written(known);
      const edit = async () => {
        const typed = (await ask(`${parameter.title}: ${parameter.accepts}`, value))?.trim();
        if (typed === "") {
          inputs.delete(parameter.name);
        } else if (typed !== undefined) {
          inputs.set(parameter.name, json(typed));
        }
      };
      return { label: parameter.title, description: value || "random", detail: parameter.accepts, edit };
    }),
    {
      label: "Files of arrays",
      description: files.join(" ") || "none",
      edit: async () => {
        const typed = await ask("Paths of .npz and .params files, separated by blanks", files.join(" "));
        files = typed === undefined ? files : typed.split(/\s+/).filter((file) => file !== "");
      },
    },
    {
      label: "Seed of random arguments",
      description: String(seed),
      edit: async () => {
        const typed = await ask("A number", String(seed));
        seed = typed === undefined ? seed : Number.parseInt(typed, 10) || 0;
      },
    },
  ];
  for (;;) {
    const chosen: Field | undefined = await vscode.window.showQuickPick(fields(), { title, ignoreFocusOut: true, matchOnDescription: true });
    if (chosen?.edit === undefined) {
      const isParams = (file: string) => file.endsWith(".params");
      const archives = files.filter((file) => !isParams(file));
      return chosen && { inputs: Object.fromEntries(inputs), archives, params: files.filter(isParams), seed };
    }
    await chosen.edit();
  }
}

/** The text of a remembered argument. */
function written(known: unknown): string {
  return typeof known === "string" ? known : JSON.stringify(known);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
