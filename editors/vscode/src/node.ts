// The extension with a program as the server: VS Code on a desktop, or on another machine.

import type * as vscode from "vscode";
import { type Executable, LanguageClient, type LanguageClientOptions, TransportKind } from "vscode-languageclient/node";

import { debugs, registerDebugger } from "./debug.js";
import { activate as activateWith, type Launched } from "./extension.js";
import { findServer, serverSettings } from "./server.js";

export { deactivate } from "./extension.js";

export function activate(context: vscode.ExtensionContext): Promise<void> {
  registerDebugger(context);
  return activateWith(context, launch);
}

async function launch(context: vscode.ExtensionContext, options: LanguageClientOptions): Promise<Launched> {
  const settings = serverSettings();
  const server = await findServer(context.extensionUri, settings);
  if ("problem" in server) {
    return server;
  }
  const executable: Executable = {
    command: server.program,
    args: ["lsp", ...settings.args],
    transport: TransportKind.stdio,
    options: { env: { ...process.env, ...settings.env } },
  };
  const client = new LanguageClient("relay", "relay-analyzer", executable, options);
  client.registerFeature(debugs);
  return { ...server, client };
}
