// Requests of the server that extend the protocol, such as `relay/shapes` and `relay/typeAt`.

import type * as vscode from "vscode";
import type { ClientCapabilities, BaseLanguageClient as LanguageClient, Position, Range, StaticFeature } from "vscode-languageclient";

/** Returns the running client, if any. */
export type Running = () => LanguageClient | undefined;

/** Returns the client, and starts it if necessary; undefined if it fails to start. */
export type Waking = () => Promise<LanguageClient | undefined>;

/** A number; with `?` and symbolic dimensions its text, its terms, and the number of unknown summands. */
export type Amount =
  | number
  | { readonly text: string; readonly terms: readonly { readonly coefficient: number }[]; readonly untold: number };

/** A call with its result and cost. Amounts of memory are in bytes. */
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

/** An input of a call: the result of a row, or one of the `sources` of the function. */
export type Input = { readonly row: number } | { readonly source: number };

/** An input of a function. */
export interface Source {
  readonly name: string;
  readonly type: string;
  readonly kind: "input" | "weight" | "constant";
  readonly range: Range;
}

/** The totals of the calls of one operator or one `span=` source. */
export interface Group {
  readonly name: string;
  readonly count: number;
  readonly macs: Amount;
  readonly bytes: Amount;
}

/** A function with its calls; `functions` are its inner functions. */
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

/** The response to `relay/shapes`. */
export interface Report {
  readonly version: number;
  readonly functions: readonly FunctionShapes[];
}

/** The response to `relay/whyShape`; `null` for expressions that are not tensors. */
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

/** The target of a line in the response to `relay/typeAt`, with a description. */
interface Place {
  readonly message: string;
  readonly location: { readonly uri: string; readonly range: Range };
}

/** The response to `relay/typeAt`; `null` if nothing has a type. */
export interface TypeAt {
  readonly version: number;
  readonly range: Range;
  readonly source: string;
  readonly kind: string;
  /** The lines of the type. */
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
  /** What the elements are like, where the expression is a constant of the metadata section. */
  readonly elements: {
    readonly facts: string;
    readonly first: string;
    readonly distribution: {
      readonly min: number;
      readonly max: number;
      readonly low: string;
      readonly high: string;
      readonly histogram: readonly number[];
    } | null;
  } | null;
}

/** The response to `relay/readingView`. Places are a line, the first character, and the end. */
export interface ReadingView {
  readonly version: number;
  readonly hidden: readonly (readonly [number, number, number])[];
  readonly dimmed: readonly (readonly [number, number, number])[];
  /** A line, and the short type of its statement, from a hidden comment. */
  readonly shapes: readonly (readonly [number, string])[];
  /** The first and the last line of each chain. */
  readonly chains: readonly (readonly [number, number])[];
  /** The summary of each folded chain. */
  readonly summaries: readonly string[];
}

/** The response to `relay/health`. */
export interface HealthCounts {
  readonly version: number;
  readonly functions: number;
  readonly types: number;
  readonly errors: number;
  readonly warnings: number;
  readonly unresolved: number;
  /** The number of TVM incompatibilities that are not errors. */
  readonly tvm: number;
  /** The number of these that are names which TVM prints but cannot read back. */
  readonly names: number;
  /** The first TVM incompatibility. */
  readonly first: Range | null;
}

export function health(client: LanguageClient, document: vscode.TextDocument): Promise<HealthCounts> {
  return client.sendRequest("relay/health", { textDocument: identify(client, document) });
}

/** The text with one parameter per line, and long calls wrapped. */
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

/** The report of a file that VS Code withholds from extensions: the server reads it from disk. */
export function shapesOfFile(client: LanguageClient, uri: vscode.Uri): Promise<Report> {
  return client.sendRequest("relay/shapesOfFile", { uri: client.code2ProtocolConverter.asUri(uri) });
}

export function whyShape(client: LanguageClient, uri: string, position: Position): Promise<Why | null> {
  return client.sendRequest("relay/whyShape", { textDocument: { uri }, position });
}

function identify(client: LanguageClient, document: vscode.TextDocument): { uri: string } {
  return client.code2ProtocolConverter.asTextDocumentIdentifier(document);
}

/** Announces the commands that a click may run, so that the server offers lenses and links for them. */
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

/** A module to compare: a document, or a text with a name. */
export interface Side {
  readonly uri: string;
  readonly text?: string;
  readonly name: string;
}

/** The relation of two corresponding expressions. */
export type PairKind = "same" | "changed" | "fused" | "inlined" | "folded" | "expanded";

/** The response to `relay/compare`. */
export interface Comparison {
  readonly equal: boolean;
  /** A summary of the changes in one sentence. */
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
  /** The names of the sides with syntax errors. */
  readonly broken: readonly string[];
}

/** A module of a log. */
export interface PassModule {
  readonly index: number;
  readonly pass: string | null;
  /** The first line in the log, from 1. */
  readonly line: number;
  /** The functions that differ from the previous module. */
  readonly changed: readonly string[];
  readonly functions: number;
  /** True if the module was printed before the pass. */
  readonly before?: boolean;
  /** True if the module is truncated. */
  readonly cut?: boolean;
  /** The cost of running it, if requested and known. */
  readonly cost?: Cost;
}

/** The cost of running a module. Amounts are texts, since sizes may be unknown. */
export interface Cost {
  readonly function: string;
  readonly calls: number;
  readonly params: string;
  readonly macs: string;
  readonly peak: string;
}

/** The response to `relay/history`. Ranges are relative to the start of each module. */
export interface History {
  /** The index of the stop at which the history was requested. */
  readonly here: number;
  readonly stops: readonly {
    readonly module: number;
    readonly pass: string | null;
    readonly range: Range;
    readonly text: string;
    readonly kind: PairKind | null;
    readonly changes: readonly string[] | null;
  }[];
  /** True if the module before the first stop has no counterpart. */
  readonly new: boolean;
  /** True if the module after the last stop has no counterpart. */
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

/** The code of a file with one line for its metadata section, the state of the file, and the length of the section. */
export interface CodeView {
  readonly text: string;
  readonly stamp: string;
  readonly sectionBytes: number;
}

/** Reads the code of a file. */
export async function codeView(client: LanguageClient, file: vscode.Uri): Promise<CodeView> {
  return client.sendRequest("relay/codeView", named(client, file));
}

/** The result of writing the code of a file. */
export interface SavedCode {
  /** The new state of the file; `null` if the file was not in the expected state. */
  readonly stamp: string | null;
  /** The new text if constants were dropped: their successors have other numbers. */
  readonly text?: string;
}

/** Writes the code of a file that is in the state `stamp`. */
export async function saveCode(client: LanguageClient, file: vscode.Uri, stamp: string, text: string): Promise<SavedCode> {
  return client.sendRequest("relay/saveCode", { ...named(client, file), stamp, text });
}

/** Writes a module whose parameters are constants where an array has their name; gives the names. */
export async function bindParameters(
  client: LanguageClient,
  document: vscode.Uri,
  files: readonly vscode.Uri[],
  output: vscode.Uri,
): Promise<readonly string[]> {
  const uri = (file: vscode.Uri) => client.code2ProtocolConverter.asUri(file);
  const params = { ...named(client, document), files: files.map(uri), output: uri(output) };
  return (await client.sendRequest<{ names: string[] }>("relay/bindParameters", params)).names;
}

/** Writes a module whose constants are parameters, and the tensors to `arrays`; gives the names. */
export async function liftConstants(
  client: LanguageClient,
  document: vscode.Uri,
  output: vscode.Uri,
  arrays: vscode.Uri,
): Promise<readonly string[]> {
  const uri = (file: vscode.Uri) => client.code2ProtocolConverter.asUri(file);
  const params = { ...named(client, document), output: uri(output), params: uri(arrays) };
  return (await client.sendRequest<{ names: string[] }>("relay/liftConstants", params)).names;
}

/** With `module`, the position counts from the start of that module. */
export function history(client: LanguageClient, log: vscode.Uri, position: vscode.Position, module?: number): Promise<History> {
  const at = client.code2ProtocolConverter.asPosition(position);
  return client.sendRequest("relay/history", { textDocument: named(client, log), position: at, module });
}

function named(client: LanguageClient, uri: vscode.Uri): { uri: string } {
  return { uri: client.code2ProtocolConverter.asUri(uri) };
}
