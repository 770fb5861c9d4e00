// The client of the session: that of Monaco, and the requests of the page.

import { createTransportToWorker, MonacoLspClient } from "../node_modules/monaco-editor/esm/external/monaco-lsp-client/out/index.js";

import type { Message } from "../worker/messages.js";

/** The commands of lenses and links that the page runs. */
const COMMANDS = ["relay.run"];

/** An object with the interface of a worker, for Monaco. */
class Wire extends EventTarget {
  constructor(private readonly send: (message: Message) => void) {
    super();
  }

  postMessage(message: Message): void {
    this.send(message);
  }

  deliver(message: Message): void {
    this.dispatchEvent(new MessageEvent("message", { data: message }));
  }
}

export interface Listener {
  message(text: string, isError: boolean): void;
  diagnostics(params: { uri: string; version?: number; diagnostics: readonly { severity?: number; message: string }[] }): void;
}

export class Client {
  private readonly waiting = new Map<string, { resolve: (result: any) => void; reject: (error: Error) => void }>();
  private requests = 0;
  /** The identifier of `initialize`, whose response is modified. */
  private initialize: Message["id"];

  constructor(
    private readonly port: MessagePort,
    listener: Listener,
  ) {
    const wire = new Wire((message) => port.postMessage(this.adapted(message)));
    port.onmessage = ({ data }: MessageEvent<Message>) => {
      const request = typeof data.id === "string" && data.method === undefined ? this.waiting.get(data.id) : undefined;
      if (request !== undefined) {
        this.waiting.delete(data.id as string);
        data.error === undefined ? request.resolve(data.result) : request.reject(new Error(data.error.message));
        return;
      }
      switch (data.method) {
        case "window/showMessage":
          listener.message(data.params.message, data.params.type === 1);
          return;
        case "window/logMessage":
          console.info(data.params.message);
          return;
        case "textDocument/publishDiagnostics":
          listener.diagnostics(data.params);
          break;
      }
      wire.deliver(data.id === this.initialize && data.method === undefined ? withoutPull(data) : data);
    };
    new MonacoLspClient(createTransportToWorker(wire as unknown as Worker));
  }

  /** Sends a request of the page. */
  request<R>(method: string, params: unknown): Promise<R> {
    const id = `page-${++this.requests}`;
    return new Promise<R>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.port.postMessage({ jsonrpc: "2.0", id, method, params });
    });
  }

  notify(method: string, params: unknown): void {
    this.port.postMessage({ jsonrpc: "2.0", method, params });
  }

  /** Cancels the requests of the page. */
  cancel(): void {
    for (const id of this.waiting.keys()) {
      this.notify("$/cancelRequest", { id });
    }
  }

  /** Disables pulled diagnostics, which Monaco requests half a second after a change; published ones arrive at once. */
  private adapted(message: Message): Message {
    if (message.method !== "initialize") {
      return message;
    }
    this.initialize = message.id;
    const { capabilities } = message.params;
    const { diagnostic: _, ...textDocument } = capabilities.textDocument;
    const experimental = { commands: { commands: COMMANDS } };
    return { ...message, params: { ...message.params, capabilities: { ...capabilities, textDocument, experimental } } };
  }
}

function withoutPull(message: Message): Message {
  const result = message.result as { capabilities?: Record<string, unknown> } | undefined;
  const { diagnosticProvider: _, ...capabilities } = result?.capabilities ?? {};
  return result === undefined ? message : { ...message, result: { ...result, capabilities } };
}
