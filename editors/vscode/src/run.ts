// Runs functions: asks for arguments and shows results.

import * as vscode from "vscode";
import type { ClientCapabilities, StaticFeature } from "vscode-languageclient";

import type { RecalledArguments, Remembered, RunResponse, RunResult } from "./protocol.js";
import { Results } from "./results.js";

/** The commands of the server. */
export const RUN = "relay.run";
export const CLEAR = "relay.clearValues";

/** The time after which a run shows a notification with a cancel button, in milliseconds. */
const LONG = 500;

/** The error codes of cancelled requests, from the client and from the server. */
const CANCELLED = new Set([-32800, -32802]);

/** The argument of the command. */
interface RunArgument {
  readonly uri: string;
  readonly function?: string;
  readonly position?: { readonly line: number; readonly character: number };
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly archives?: readonly string[];
  readonly params?: readonly string[];
  readonly seed?: number;
  readonly remember?: boolean;
  readonly recall?: boolean;
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
  /** The last input by document and function. */
  private readonly typed = new Map<string, string>();
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
        await this.show(result, vscode.Uri.parse(argument.uri));
      }
      return result;
    } catch (error) {
      if (CANCELLED.has((error as { code?: number }).code ?? 0)) {
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
    const what = argument.function ?? "the function at the cursor";
    const options = { location: vscode.ProgressLocation.Notification, title: `Relay: running ${what}`, cancellable: true };
    const timer = setTimeout(() => {
      void vscode.window.withProgress(options, (_, token) => {
        token.onCancellationRequested(() => source.cancel());
        return settled;
      });
    }, LONG);
    void settled.then(() => clearTimeout(timer));
  }

  private async show(result: RunResult, uri: vscode.Uri): Promise<void> {
    this.output.clear();
    this.output.appendLine(result.text);
    if (result.status === "failed") {
      void this.tellFailure(result, uri);
    } else {
      vscode.window.setStatusBarMessage(result.title, 10_000);
      await this.results.show(result);
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

  /** The saved arguments of a function, if there are any and the server returns them. */
  private async recall(argument: RunArgument): Promise<RecalledArguments | undefined> {
    try {
      const asked = { ...argument, recall: true };
      const answer = await vscode.commands.executeCommand<RunResponse | undefined>(RUN, asked);
      return answer?.status === "recalled" ? answer : undefined;
    } catch {
      // The run itself reports the error.
      return undefined;
    }
  }

  /** Asks for arguments first, which are saved for the next run. */
  async runWith(): Promise<unknown> {
    const argument = this.argument(undefined);
    if (argument === undefined) {
      return undefined;
    }
    const known = await this.recall(argument);
    const place = JSON.stringify([argument.uri, known?.function]);
    const typed = await vscode.window.showInputBox({
      title: "Run Function With…",
      prompt: "Numbers, lists, .npy, .npz and .params files; seed=… for random others",
      placeHolder: "x=image.npy n=3 weights.params seed=1",
      value: prefill(this.typed.get(place), known?.remembered),
      ignoreFocusOut: true,
    });
    if (typed === undefined) {
      return undefined;
    }
    this.typed.set(place, typed);
    return vscode.commands.executeCommand(RUN, { ...argument, ...parse(typed), remember: true });
  }
}

/**
 * The initial value of the prompt: the saved arguments, or the last input of this session if it is
 * equivalent to them.
 */
export function prefill(typed: string | undefined, known: Remembered | undefined): string {
  const text = known === undefined ? "" : written(known);
  if (text === "") {
    return typed ?? "seed=0";
  }
  return typed !== undefined && written(parse(typed)) === text ? typed : text;
}

/** Formats arguments, as the inverse of `parse`. */
export function written(known: Remembered): string {
  const inputs = Object.entries(known.inputs ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const value = (given: unknown): string =>
    typeof given === "string" ? given : JSON.stringify(given);
  return [
    ...inputs.map(([name, given]) => `${name}=${value(given)}`),
    ...(known.archives ?? []),
    ...(known.params ?? []),
    ...(known.seed === undefined ? [] : [`seed=${known.seed}`]),
  ].join(" ");
}

/** `x=image.npy n=[1, 2] weights.params seed=1` */
export function parse(text: string): Partial<RunArgument> {
  const inputs: Record<string, unknown> = {};
  const archives: string[] = [];
  const params: string[] = [];
  let seed: number | undefined;
  // Blanks separate arguments only before a name or a file: `[1, 2]` is one argument.
  const parts = text.trim().split(/\s+(?=[^\s=[\]]+(?:=|\.npz\b|\.params\b))/);
  for (const part of parts.filter((found) => found !== "")) {
    const at = part.indexOf("=");
    const name = part.slice(0, Math.max(at, 0)).trim().replace(/^%/, "");
    const value = part.slice(at + 1).trim();
    if (at >= 0 && name === "seed") {
      seed = Number.parseInt(value, 10) || 0;
    } else if (at >= 0) {
      inputs[name] = json(value);
    } else if (value.endsWith(".npz")) {
      archives.push(value);
    } else {
      params.push(value);
    }
  }
  return {
    inputs,
    ...(archives.length > 0 && { archives }),
    ...(params.length > 0 && { params }),
    ...(seed !== undefined && { seed }),
  };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
