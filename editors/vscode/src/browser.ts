// The extension in a browser: the server is a module of WebAssembly in a worker.

import * as vscode from "vscode";
import { BrowserMessageReader, BrowserMessageWriter, LanguageClient, type LanguageClientOptions, State } from "vscode-languageclient/browser";

import { Session } from "../../../web/worker/session.js";
import { activate as activateWith, type Launched } from "./extension.js";

export { deactivate } from "./extension.js";

export function activate(context: vscode.ExtensionContext): Promise<void> {
  return activateWith(context, launch);
}

async function launch(context: vscode.ExtensionContext, options: LanguageClientOptions): Promise<Launched> {
  const read = async (name: string) =>
    new Uint8Array(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(context.extensionUri, "dist/web", name)));
  let module: WebAssembly.Module;
  let script: string;
  try {
    const [bytes, source] = await Promise.all([read("relay.wasm"), read("server.js")]);
    module = await WebAssembly.compile(bytes);
    // VS Code makes no worker from the address of an extension that another machine has.
    script = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `The language server of the extension cannot be loaded in this browser: ${reason}.` };
  }
  const create = () => new Worker(script);
  let session: Session | undefined;
  const transports = async () => {
    const { port1, port2 } = new MessageChannel();
    session = new Session(module, create, port2);
    return { reader: new BrowserMessageReader(port1), writer: new BrowserMessageWriter(port1) };
  };
  const client = new LanguageClient("relay", "relay-analyzer", transports, options);
  client.onDidChangeState(({ newState }) => {
    if (newState === State.Stopped) {
      session?.dispose();
      URL.revokeObjectURL(script);
    }
  });
  const { version } = context.extension.packageJSON as { version: string };
  return { client, program: "relay.wasm", version };
}
