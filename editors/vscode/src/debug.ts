// Debugs functions: the program of the language server is the debug adapter, too.

import * as vscode from "vscode";
import type { ClientCapabilities, StaticFeature } from "vscode-languageclient";

import { findServer, serverSettings } from "./server.js";

/** The type of configurations. */
const TYPE = "relay";

/** The command of the lens beside *Run*. */
const DEBUG = "relay.debug";

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

/** Registers the debugger of a desktop, where the server is a program. */
export function registerDebugger(context: vscode.ExtensionContext): void {
  const start = (argument: DebugArgument): Thenable<boolean> => {
    const program = vscode.Uri.parse(argument.uri).fsPath;
    const name = `Debug ${argument.function ?? "Relay"}`;
    const configuration = { type: TYPE, name, request: "launch", program, function: argument.function, random: 0 };
    return vscode.debug.startDebugging(undefined, configuration);
  };
  context.subscriptions.push(
    vscode.commands.registerCommand(DEBUG, start),
    vscode.debug.registerDebugConfigurationProvider(TYPE, new Configurations()),
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, new Adapters(context.extensionUri)),
  );
}
