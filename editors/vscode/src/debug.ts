// Debugs functions: the program of the language server is the debug adapter, too.

import * as path from "node:path";

import * as vscode from "vscode";
import type { ClientCapabilities, StaticFeature } from "vscode-languageclient";

import type { RememberedArguments } from "./protocol.js";
import { fill, recall } from "./run.js";
import { findServer, serverSettings } from "./server.js";

/** The type of configurations. */
const TYPE = "relay";

/** The command of the lens beside *Run*. */
const DEBUG = "relay.debug";

/** The command that asks for arguments first. */
const DEBUG_WITH = "relay.debugWith";

/** The argument of the command. */
interface DebugArgument {
  readonly uri: string;
  readonly function?: string;
}

/** Announces that the extension debugs functions. */
export const debugs: StaticFeature = {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const experimental = (capabilities.experimental ??= {}) as {
      commands?: { commands?: string[] };
    };
    const commands = (experimental.commands ??= {});
    commands.commands = [...(commands.commands ?? []), DEBUG];
  },
  initialize(): void {},
  getState: () => ({ kind: "static" }),
  clear(): void {},
};

/** Returns the configuration of a file that is debugged without a `launch.json`. */
function configurationOf(document: vscode.TextDocument): vscode.DebugConfiguration {
  return { type: TYPE, name: "Debug Relay", request: "launch", program: document.uri.fsPath, random: 0 };
}

class Configurations implements vscode.DebugConfigurationProvider {
  provideDebugConfigurations(): vscode.DebugConfiguration[] {
    return [{ type: TYPE, name: "Debug Relay", request: "launch", program: "${file}", random: 0 }];
  }

  resolveDebugConfiguration(
    _folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): vscode.ProviderResult<vscode.DebugConfiguration> {
    if (configuration.type !== undefined || configuration.request !== undefined) {
      return configuration;
    }
    // F5 without a `launch.json`.
    const document = vscode.window.activeTextEditor?.document;
    if (document?.languageId !== "relay") {
      return undefined;
    }
    return configurationOf(document);
  }
}

class Adapters implements vscode.DebugAdapterDescriptorFactory {
  constructor(private readonly extension: vscode.Uri) {}

  async createDebugAdapterDescriptor(): Promise<vscode.DebugAdapterDescriptor> {
    const settings = serverSettings();
    const server = await findServer(this.extension, settings);
    if ("problem" in server) {
      throw new Error(server.problem);
    }
    return new vscode.DebugAdapterExecutable(server.program, ["dap"], { env: { ...settings.env } });
  }
}

/** The remembered arguments for a configuration, in which the names of files are relative to the program instead. */
function launchArguments({ inputs = {}, archives = [], params = [], seed }: RememberedArguments, program: vscode.Uri) {
  const folder = vscode.workspace.getWorkspaceFolder(program)?.uri.fsPath ?? path.dirname(program.fsPath);
  const absolute = (name: string) => path.resolve(folder, name);
  const input = (value: unknown) => (typeof value === "string" && value.endsWith(".npy") ? absolute(value) : value);
  return {
    inputs: Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, input(value)])),
    archives: archives.map(absolute),
    params: params.map(absolute),
    random: seed ?? 0,
  };
}

/** Starts the debugger on the arguments of the last run; with `asks`, shows the form of *Run Function With…* first. */
async function start(argument: DebugArgument | undefined, asks: boolean): Promise<boolean> {
  const editor = vscode.window.activeTextEditor;
  const uri = argument?.uri ?? (editor?.document.languageId === "relay" ? editor.document.uri.toString() : undefined);
  if (uri === undefined) {
    void vscode.window.showWarningMessage("Relay: there is no function at the cursor to debug.");
    return false;
  }
  const position = argument === undefined ? editor?.selection.active : undefined;
  const place = position && { line: position.line, character: position.character };
  const known = await recall({ uri, ...(argument?.function ? { function: argument.function } : {}), ...(place ? { position: place } : {}) });
  const chosen = asks && known !== undefined ? await fill(known, "Debug") : (known?.remembered ?? {});
  if (chosen === undefined) {
    return false;
  }
  const file = vscode.Uri.parse(uri);
  // A bare expression has no name.
  const named = known?.function.startsWith("@") ? known.function : undefined;
  const chosenFunction = argument?.function ?? named;
  return vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(file), {
    type: TYPE,
    name: `Debug ${chosenFunction ?? "Relay"}`,
    request: "launch",
    program: file.fsPath,
    ...(chosenFunction ? { function: chosenFunction } : {}),
    ...launchArguments(chosen, file),
  });
}

/** The values of variables in the lines of the definition where the program stands, up to there. */
class InlineValues implements vscode.InlineValuesProvider {
  async provideInlineValues(
    document: vscode.TextDocument,
    viewport: vscode.Range,
    { stoppedLocation }: vscode.InlineValueContext,
  ): Promise<vscode.InlineValue[]> {
    const symbols = await vscode.commands.executeCommand<(vscode.DocumentSymbol | vscode.SymbolInformation)[] | undefined>(
      "vscode.executeDocumentSymbolProvider",
      document.uri,
    );
    const ranges = (symbols ?? []).map((symbol) => ("range" in symbol ? symbol.range : symbol.location.range));
    // Variables of other definitions may have the same names.
    const own = ranges.find((range) => range.contains(stoppedLocation.start))?.intersection(viewport);
    if (own === undefined) {
      return [];
    }
    const values: vscode.InlineValue[] = [];
    for (let line = own.start.line; line <= Math.min(own.end.line, stoppedLocation.end.line); line += 1) {
      const known = new Set<string>();
      for (const { 0: name, index } of document.lineAt(line).text.matchAll(/%[\w:/]+/g)) {
        if (!known.has(name)) {
          known.add(name);
          values.push(new vscode.InlineValueVariableLookup(new vscode.Range(line, index, line, index + name.length), name));
        }
      }
    }
    return values;
  }
}

/** Registers the debugger of a desktop, where the server is a program. */
export function registerDebugger(context: vscode.ExtensionContext): void {
  context.subscriptions.push(
    vscode.commands.registerCommand(DEBUG, (argument?: DebugArgument) => start(argument, false)),
    vscode.commands.registerCommand(DEBUG_WITH, (argument?: DebugArgument) => start(argument, true)),
    vscode.debug.registerDebugConfigurationProvider(TYPE, new Configurations()),
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, new Adapters(context.extensionUri)),
    vscode.languages.registerInlineValuesProvider({ language: "relay" }, new InlineValues()),
  );
}
