// Requests of the server that extend the protocol, such as `relay/shapes` and `relay/typeAt`.

import type * as vscode from "vscode";
import type { ClientCapabilities, BaseLanguageClient as LanguageClient, Position, StaticFeature } from "vscode-languageclient";

import type {
  BoundNames,
  CodeView,
  Comparison,
  ConvertedText,
  HealthCounts,
  History,
  ModuleText,
  PassErrors,
  PassLog,
  PassModule,
  Range,
  ReadingView,
  ReducedModule,
  RememberedArguments,
  SavedCode,
  ShapeExplanation,
  ShapeReport,
  TensorView,
  TypeAt,
  ValueComparison,
} from "./protocol.js";

/** Returns the running client, if any. */
export type Running = () => LanguageClient | undefined;

/** Returns the client, and starts it if necessary; undefined if it fails to start. */
export type Waking = () => Promise<LanguageClient | undefined>;

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

/** The report of a document; with the calls that were removed from a module `before`. */
export function shapes(client: LanguageClient, document: vscode.TextDocument, before?: Side): Promise<ShapeReport> {
  return client.sendRequest("relay/shapes", { textDocument: identify(client, document), before });
}

/** The report of a file that VS Code withholds from extensions: the server reads it from disk. */
export function shapesOfFile(client: LanguageClient, uri: vscode.Uri): Promise<ShapeReport> {
  return client.sendRequest("relay/shapesOfFile", { uri: client.code2ProtocolConverter.asUri(uri) });
}

export function whyShape(client: LanguageClient, uri: string, position: Position): Promise<ShapeExplanation | null> {
  return client.sendRequest("relay/whyShape", { textDocument: { uri }, position });
}

/** A diagnostic at a position, or in its line. */
export interface ReductionTarget {
  readonly uri: string;
  readonly position: Position;
  readonly code?: string;
}

export function reduceTo(
  client: LanguageClient,
  target: ReductionTarget,
  token: vscode.CancellationToken,
): Promise<ReducedModule> {
  return client.sendRequest("workspace/executeCommand", { command: "relay.reduce", arguments: [target] }, token);
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

export function compare(client: LanguageClient, before: Side, after: Side): Promise<Comparison> {
  return client.sendRequest("relay/compare", { before, after });
}

/** How both sides of a comparison are run: by default `@main` or the only function, on the remembered arguments of the first one. */
export interface RunChoice extends RememberedArguments {
  readonly function?: string;
  /** Takes no remembered arguments. */
  readonly exact?: boolean;
}

/** Runs a function of both modules, and compares what they compute. */
export function compareValues(client: LanguageClient, before: Side, after: Side, choice: RunChoice): Promise<ValueComparison> {
  return client.sendRequest("relay/compareValues", { before, after, ...choice });
}

/** The values of a pair of calls of both modules, with their difference: the modules are run again. */
export function comparedTensors(
  client: LanguageClient,
  [before, after]: readonly [Side, Side],
  choice: RunChoice,
  pair: { readonly before: Range; readonly after: Range },
  view: { readonly slice?: string | undefined; readonly layout?: string | undefined },
): Promise<TensorView> {
  return client.sendRequest("relay/comparedTensors", { before, after, ...choice, pair, view });
}

/** Runs the modules of a log: the error of each against the first one that can be run. */
export function passErrors(client: LanguageClient, log: vscode.Uri): Promise<PassErrors> {
  return client.sendRequest("relay/passErrors", { textDocument: named(client, log) });
}

/** The code of an error of the protocol. */
const REQUEST_CANCELLED = -32800;

/** True if a request failed because the user cancelled it. */
export function isCancelled(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === REQUEST_CANCELLED;
}

export async function passes(client: LanguageClient, log: vscode.Uri, costs = false): Promise<readonly PassModule[]> {
  const found = await client.sendRequest<PassLog>("relay/passes", { textDocument: named(client, log), costs });
  return found.modules;
}

export async function moduleText(client: LanguageClient, log: vscode.Uri, module: number): Promise<string> {
  const found = await client.sendRequest<ModuleText>("relay/moduleText", { textDocument: named(client, log), module });
  return found.text;
}

/** The text of a module that TVM saved as JSON or in an archive: the server reads the file from disk. */
export async function convertFile(client: LanguageClient, file: vscode.Uri): Promise<string> {
  const uri = client.code2ProtocolConverter.asUri(file);
  const found = await client.sendRequest<ConvertedText>("relay/convertFile", { uri });
  return found.text;
}

/** Reads the code of a file. */
export async function codeView(client: LanguageClient, file: vscode.Uri): Promise<CodeView> {
  return client.sendRequest("relay/codeView", named(client, file));
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
  return (await client.sendRequest<BoundNames>("relay/bindParameters", params)).names;
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
  return (await client.sendRequest<BoundNames>("relay/liftConstants", params)).names;
}

/** With `module`, the position counts from the start of that module. */
export function history(client: LanguageClient, log: vscode.Uri, position: vscode.Position, module?: number): Promise<History> {
  const at = client.code2ProtocolConverter.asPosition(position);
  return client.sendRequest("relay/history", { textDocument: named(client, log), position: at, module });
}

function named(client: LanguageClient, uri: vscode.Uri): { uri: string } {
  return { uri: client.code2ProtocolConverter.asUri(uri) };
}
