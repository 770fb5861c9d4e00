// What the server is asked beyond the protocol: `relay/shapes`, `relay/typeAt` and their like.

import type * as vscode from "vscode";
import type { ClientCapabilities, BaseLanguageClient as LanguageClient, Position, Range, StaticFeature } from "vscode-languageclient";

/** The client that runs at this moment, if one does. */
export type Running = () => LanguageClient | undefined;

/** The client, which is started where none was needed so far; nothing where it does not start. */
export type Waking = () => Promise<LanguageClient | undefined>;

/** A number; with `?` and symbolic dimensions its text, its terms, and how many summands cannot be told. */
export type Amount =
  | number
  | { readonly text: string; readonly terms: readonly { readonly coefficient: number }[]; readonly untold: number };

/** One call: what it computes, and what that costs. Amounts of memory are in bytes. */
export interface Row {
  readonly binding: string | null;
  readonly operator: string;
  readonly isOperator: boolean;
  readonly type: string;
  readonly range: Range;
  readonly parameters: Amount;
  readonly macs: Amount;
  readonly bytes: Amount;
  readonly liveBytes: Amount;
  readonly span: string | null;
  readonly inputs: readonly Input[];
  readonly attributes?: readonly { readonly name: string; readonly value: string }[];
  readonly untold?: string;
}

/** What a call takes: the result of a row, else one of the function's `sources`. */
export type Input = { readonly row: number } | { readonly source: number };

/** Something that a function is given. */
export interface Source {
  readonly name: string;
  readonly type: string;
  readonly kind: "input" | "weight" | "constant";
  readonly range: Range;
}

/** The calls of one operator, or of one `span=` source, together. */
export interface Group {
  readonly name: string;
  readonly count: number;
  readonly macs: Amount;
  readonly bytes: Amount;
}

/** A function with its calls; `functions` are those that are written inside it. */
export interface FunctionShapes {
  readonly name: string;
  readonly range: Range;
  readonly rows: readonly Row[];
  readonly sources: readonly Source[];
  readonly results: readonly Input[];
  readonly functions: readonly FunctionShapes[];
  readonly total: {
    readonly parameters: Amount;
    readonly parameterBytes: Amount;
    readonly macs: Amount;
    readonly peakBytes: Amount;
    readonly peakRow: number | null;
    readonly calls: number;
  };
  readonly byOperator: readonly Group[];
  readonly bySpan: readonly Group[];
  readonly unknowns: readonly { readonly name: string; readonly what: string }[];
}

/** The answer to `relay/shapes`. */
export interface Report {
  readonly version: number;
  readonly functions: readonly FunctionShapes[];
}

/** The answer to `relay/whyShape`; `null` where no tensor is. */
export interface Why {
  readonly expression: string;
  readonly type: string;
  readonly dimensions: readonly {
    readonly field: number | null;
    readonly axis: number;
    readonly size: string;
    readonly steps: readonly { readonly location: { readonly uri: string; readonly range: Range }; readonly message: string }[];
  }[];
}

/** A place that a line of the answer to `relay/typeAt` leads to, and what happens there. */
interface Place {
  readonly message: string;
  readonly location: { readonly uri: string; readonly range: Range };
}

/** The answer to `relay/typeAt`; `null` where nothing has a type. */
export interface TypeAt {
  readonly version: number;
  readonly range: Range;
  readonly source: string;
  readonly kind: string;
  /** The type, line by line. */
  readonly type: readonly string[];
  readonly tensors: readonly {
    readonly part: string;
    readonly type: string;
    readonly amount: string | null;
    readonly isCut: boolean;
    readonly dimensions: readonly {
      readonly axis: number;
      readonly size: string;
      readonly letter: string | null;
      readonly source: Place | null;
      readonly origin: Place | null;
    }[];
  }[];
  readonly context: readonly { readonly name: string; readonly type: string; readonly location: Place["location"] }[];
  readonly expected: { readonly place: string; readonly type: string | null; readonly note: string | null } | null;
}

/** The answer to `relay/readingView`: places are a line, the first character, and the one after the last. */
export interface ReadingView {
  readonly version: number;
  readonly hidden: readonly (readonly [number, number, number])[];
  readonly dimmed: readonly (readonly [number, number, number])[];
  /** A line, and the type of its statement in short, where a comment that is hidden says it. */
  readonly shapes: readonly (readonly [number, string])[];
  /** The first and the last line of each chain. */
  readonly chains: readonly (readonly [number, number])[];
  /** What is out of sight of each chain when it is folded. */
  readonly summaries: readonly string[];
}

/** The answer to `relay/health`. */
export interface HealthCounts {
  readonly version: number;
  readonly functions: number;
  readonly types: number;
  readonly errors: number;
  readonly warnings: number;
  readonly unresolved: number;
  /** What TVM does not take, and is sound otherwise. */
  readonly tvm: number;
  /** How many of these are names that TVM prints and does not read back. */
  readonly names: number;
  /** The first of what TVM does not take. */
  readonly first: Range | null;
}

export function health(client: LanguageClient, document: vscode.TextDocument): Promise<HealthCounts> {
  return client.sendRequest("relay/health", { textDocument: identify(client, document) });
}

/** The text with one parameter a line, and long calls wrapped. */
export function readingFormat(client: LanguageClient, document: vscode.TextDocument): Promise<string> {
  return client.sendRequest("relay/readingFormat", { textDocument: identify(client, document) });
}

export function readingView(client: LanguageClient, document: vscode.TextDocument): Promise<ReadingView> {
  return client.sendRequest("relay/readingView", { textDocument: identify(client, document) });
}

export function typeAt(
  client: LanguageClient,
  document: vscode.TextDocument,
  position: vscode.Position,
  token: vscode.CancellationToken,
): Promise<TypeAt | null> {
  const at = client.code2ProtocolConverter.asPosition(position);
  return client.sendRequest("relay/typeAt", { textDocument: identify(client, document), position: at }, token);
}

export function shapes(client: LanguageClient, document: vscode.TextDocument): Promise<Report> {
  return client.sendRequest("relay/shapes", { textDocument: identify(client, document) });
}

/** The report of a file that VS Code keeps from extensions: the server reads it from disk. */
export function shapesOfFile(client: LanguageClient, uri: vscode.Uri): Promise<Report> {
  return client.sendRequest("relay/shapesOfFile", { uri: client.code2ProtocolConverter.asUri(uri) });
}

export function whyShape(client: LanguageClient, uri: string, position: Position): Promise<Why | null> {
  return client.sendRequest("relay/whyShape", { textDocument: { uri }, position });
}

function identify(client: LanguageClient, document: vscode.TextDocument): { uri: string } {
  return client.code2ProtocolConverter.asTextDocumentIdentifier(document);
}

/** Tells the server which commands a click may run: it offers lenses and links for no other. */
export function clickable(commands: readonly string[]): StaticFeature {
  return {
    fillClientCapabilities(capabilities: ClientCapabilities): void {
      const experimental = (capabilities.experimental ??= {}) as { commands?: { commands: string[] } };
      experimental.commands = { commands: [...(experimental.commands?.commands ?? []), ...commands] };
    },
    initialize(): void {},
    getState: () => ({ kind: "static" }),
    clear(): void {},
  };
}

/** A module to compare: a document, or a text of this name. */
export interface Side {
  readonly uri: string;
  readonly text?: string;
  readonly name: string;
}

/** How two expressions belong together. */
export type PairKind = "same" | "changed" | "fused" | "inlined" | "folded" | "expanded";

/** The answer to `relay/compare`. */
export interface Comparison {
  readonly equal: boolean;
  /** What happened, in a sentence. */
  readonly headline: string;
  readonly report: string;
  readonly functions: readonly {
    readonly pairs: readonly {
      readonly before: Range;
      readonly after: Range;
      readonly kind: PairKind;
      readonly changes?: readonly { readonly text: string; readonly before: Range | null; readonly after: Range | null }[];
    }[];
    readonly removed: readonly { readonly range: Range; readonly operator: string }[];
    readonly added: readonly { readonly range: Range; readonly operator: string }[];
  }[];
  /** Names of the sides that cannot be read whole. */
  readonly broken: readonly string[];
}

/** A module of a log. */
export interface PassModule {
  readonly index: number;
  readonly pass: string | null;
  /** The line of the log that it begins on, from 1. */
  readonly line: number;
  /** The functions that are not what they were in the module before. */
  readonly changed: readonly string[];
  readonly functions: number;
  /** The header says that the pass comes after this module. */
  readonly before?: boolean;
  /** The log ends, or goes on with something else, in the middle of it. */
  readonly cut?: boolean;
  /** What a run of it costs, if it was asked for and is known. */
  readonly cost?: Cost;
}

/** What a run of a module costs; amounts are texts, since sizes may be unknown. */
export interface Cost {
  readonly function: string;
  readonly calls: number;
  readonly params: string;
  readonly macs: string;
  readonly peak: string;
}

/** The answer to `relay/history`; ranges count from the start of each module. */
export interface History {
  /** Which of the stops the question was about. */
  readonly here: number;
  readonly stops: readonly {
    readonly module: number;
    readonly pass: string | null;
    readonly range: Range;
    readonly text: string;
    readonly kind: PairKind | null;
    readonly changes: readonly string[] | null;
  }[];
  /** The module before the first stop has nothing that belongs to it. */
  readonly new: boolean;
  /** The module after the last stop has nothing that belongs to it. */
  readonly gone: boolean;
}

export function compare(client: LanguageClient, before: Side, after: Side): Promise<Comparison> {
  return client.sendRequest("relay/compare", { before, after });
}

export async function passes(client: LanguageClient, log: vscode.Uri, costs = false): Promise<readonly PassModule[]> {
  const found = await client.sendRequest<{ modules: PassModule[] }>("relay/passes", { textDocument: named(client, log), costs });
  return found.modules;
}

export async function moduleText(client: LanguageClient, log: vscode.Uri, module: number): Promise<string> {
  const found = await client.sendRequest<{ text: string }>("relay/moduleText", { textDocument: named(client, log), module });
  return found.text;
}

/** The text of a module that TVM saved as JSON or in an archive: the server reads the file from disk. */
export async function convertFile(client: LanguageClient, file: vscode.Uri): Promise<string> {
  const uri = client.code2ProtocolConverter.asUri(file);
  const found = await client.sendRequest<{ text: string }>("relay/convertFile", { uri });
  return found.text;
}

/** The code of a file with one line for its metadata section, and the state of the file. */
export async function codeView(client: LanguageClient, file: vscode.Uri): Promise<{ readonly text: string; readonly stamp: string }> {
  return client.sendRequest("relay/codeView", named(client, file));
}

/** Writes the code of a file in that state; gives the new state, `null` where the file is in another one. */
export async function saveCode(client: LanguageClient, file: vscode.Uri, stamp: string, text: string): Promise<string | null> {
  const saved = await client.sendRequest<{ stamp: string | null }>("relay/saveCode", { ...named(client, file), stamp, text });
  return saved.stamp;
}

/** With `module`, the position counts from the start of that module. */
export function history(client: LanguageClient, log: vscode.Uri, position: vscode.Position, module?: number): Promise<History> {
  const at = client.code2ProtocolConverter.asPosition(position);
  return client.sendRequest("relay/history", { textDocument: named(client, log), position: at, module });
}

function named(client: LanguageClient, uri: vscode.Uri): { uri: string } {
  return { uri: client.code2ProtocolConverter.asUri(uri) };
}
