// A session of the protocol that survives its workers: after a panic, a run that reached a limit, or a run that
// the user stopped, a new worker gets the same documents.

import { TextDocument } from "vscode-languageserver-textdocument";

import type { Ended, Message, Restored, Start } from "./messages.js";

/** The used part of a worker. */
export interface WorkerLike {
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  postMessage(message: Start | Restored | Message): void;
  terminate(): void;
}

type Id = number | string;

/** The time for a cancelled run to respond, in milliseconds. */
const GRACE = 200;

const REQUEST_CANCELLED = -32800;
const REQUEST_FAILED = -32803;
const CONTENT_MODIFIED = -32801;

/** Requests whose failure is shown to the user. Editors repeat the others themselves. */
const AWAITED = new Set([
  "workspace/executeCommand",
  "relay/shapes",
  "relay/compare",
  "textDocument/formatting",
  "textDocument/rename",
]);

export class Session {
  private worker: WorkerLike;
  /** The number of workers so far, which makes the identifiers of their requests unique. */
  private generation = 0;
  private initialize: Message | undefined;
  private isInitialized = false;
  private settings: Message | undefined;
  private readonly documents = new Map<string, TextDocument>();
  /** Documents with which a worker was lost. The server gets them again when they change. */
  private readonly suspended = new Set<string>();
  /** The pending requests of the client. */
  private readonly pending = new Map<Id, Message>();
  private readonly told = new Set<string>();
  /** True if the worker has no documents. */
  private isBare = true;
  /** The reason for having no worker: one without documents was lost. The next change of a document starts another. */
  private end: string | undefined;

  constructor(
    private readonly module: WebAssembly.Module,
    private readonly create: () => WorkerLike,
    /** The port of the channel to the client. */
    private readonly client: MessagePort,
  ) {
    this.worker = this.begin();
    this.worker.postMessage({ restored: true });
    client.onmessage = ({ data }: MessageEvent<Message>) => this.receive(data);
  }

  dispose(): void {
    this.worker.terminate();
    this.client.close();
  }

  private send(message: Message): void {
    this.client.postMessage(message);
  }

  private receive(message: Message): void {
    const { id, method } = message;
    const uri: string | undefined = message.params?.textDocument?.uri;
    this.note(message);
    if (method === "$/cancelRequest") {
      this.cancel(message.params.id);
    }
    if (this.end !== undefined) {
      if (method !== undefined && id !== undefined && id !== null) {
        this.fail(id, REQUEST_FAILED, this.end);
      } else if (method === "textDocument/didOpen" || method === "textDocument/didChange") {
        this.restart(undefined, false);
      }
    } else if (method === undefined) {
      const [generation, own] = String(id).split(":");
      // The request came from a previous worker, which does not wait for the response.
      if (Number(generation) === this.generation) {
        this.worker.postMessage({ ...message, id: Number(own) });
      }
    } else if (uri === undefined || !this.suspended.has(uri)) {
      this.isBare &&= method !== "textDocument/didOpen";
      this.worker.postMessage(message);
    } else if (id !== undefined && id !== null) {
      this.fail(id, CONTENT_MODIFIED, "the server has left this document alone until it is changed");
    } else if (this.suspended.delete(uri)) {
      const document = this.documents.get(uri);
      if (document !== undefined) {
        this.open(document);
      }
    }
  }

  /** Ends a worker that does not respond soon: a server that runs a function receives no messages. */
  private cancel(id: Id): void {
    if (this.pending.get(id)?.method === "workspace/executeCommand") {
      setTimeout(() => {
        if (this.pending.has(id)) {
          this.fail(id, REQUEST_CANCELLED, "the run was cancelled");
          this.restart(undefined, false);
        }
      }, GRACE);
    }
  }

  /** Records the state that a new worker needs. */
  private note(message: Message): void {
    const { id, method, params } = message;
    if (id !== undefined && id !== null && method !== undefined) {
      this.pending.set(id, message);
    }
    switch (method) {
      case "initialize":
        this.initialize = message;
        break;
      case "initialized":
        this.isInitialized = true;
        break;
      case "workspace/didChangeConfiguration":
        this.settings = message;
        break;
      case "textDocument/didOpen": {
        const { uri, languageId, version, text } = params.textDocument;
        this.documents.set(uri, TextDocument.create(uri, languageId, version, text));
        break;
      }
      case "textDocument/didChange": {
        const { uri, version } = params.textDocument;
        const document = this.documents.get(uri);
        if (document !== undefined) {
          this.documents.set(uri, TextDocument.update(document, params.contentChanges, version));
        }
        break;
      }
      case "textDocument/didClose":
        this.documents.delete(params.textDocument.uri);
        break;
    }
  }

  private open(document: TextDocument): void {
    this.isBare = false;
    const { uri, languageId, version } = document;
    const textDocument = { uri, languageId, version, text: document.getText() };
    this.worker.postMessage({ jsonrpc: "2.0", method: "textDocument/didOpen", params: { textDocument } });
  }

  /** Starts a worker. The response to `swallowed` is dropped, because the client has one already. */
  private begin(swallowed?: Id | null): WorkerLike {
    const generation = ++this.generation;
    const worker = this.create();
    worker.onmessage = ({ data }: MessageEvent<Message | Ended>) => {
      if (generation !== this.generation) {
        return;
      }
      if ("ended" in data) {
        this.lost(data.ended, data.wasIdle);
      } else if (data.method !== undefined) {
        this.send(data.id === undefined ? data : { ...data, id: `${generation}:${data.id}` });
      } else if (data.id !== undefined && data.id !== null && data.id !== swallowed) {
        this.pending.delete(data.id);
        this.send(data);
      }
    };
    worker.onerror = (event) => {
      event.preventDefault?.();
      if (generation === this.generation) {
        this.tell(`The language server cannot start: ${event.message ?? "its worker does not load"}.`);
      }
    };
    worker.postMessage({ module: this.module });
    return worker;
  }

  private lost(reason: string, wasIdle: boolean): void {
    if (wasIdle || !this.isBare) {
      this.restart(reason, !wasIdle);
      return;
    }
    this.end = `The language server does not run: ${reason}.`;
    for (const id of this.pending.keys()) {
      this.fail(id, REQUEST_FAILED, this.end);
    }
    this.tell(this.end);
  }

  /** Replaces the worker. With `suspend`, the new one gets no documents, because they ended the previous one. */
  private restart(reason: string | undefined, suspend: boolean): void {
    const isAnswered = !this.pending.has(this.initialize?.id ?? "");
    const repeated: Message[] = [];
    for (const [id, message] of this.pending) {
      const { method = "" } = message;
      if (method === "initialize") {
        continue;
      }
      const isAwaited = AWAITED.has(method);
      // Only the run was cancelled.
      if (reason === undefined && !isAwaited) {
        repeated.push(message);
        continue;
      }
      this.fail(id, isAwaited ? REQUEST_FAILED : CONTENT_MODIFIED, (isAwaited && reason) || "the server was started again");
    }
    this.worker.terminate();
    this.isBare = true;
    this.end = undefined;
    this.worker = this.begin(isAnswered ? this.initialize?.id : undefined);
    if (this.initialize !== undefined) {
      this.worker.postMessage(this.initialize);
    }
    if (this.isInitialized) {
      this.worker.postMessage({ jsonrpc: "2.0", method: "initialized", params: {} });
    }
    if (this.settings !== undefined) {
      this.worker.postMessage(this.settings);
    }
    for (const document of this.documents.values()) {
      if (suspend) {
        this.suspended.add(document.uri);
        this.send({ jsonrpc: "2.0", method: "textDocument/publishDiagnostics", params: { uri: document.uri, diagnostics: [] } });
      } else if (!this.suspended.has(document.uri)) {
        this.open(document);
      }
    }
    repeated.forEach((message) => this.worker.postMessage(message));
    this.worker.postMessage({ restored: true });
    if (reason !== undefined) {
      this.tell(`${reason}. The server was started again${suspend ? ", and leaves the text alone until it is changed" : ""}.`);
    }
  }

  /** Shows a message, once. */
  private tell(message: string): void {
    if (!this.told.has(message)) {
      this.told.add(message);
      this.send({ jsonrpc: "2.0", method: "window/showMessage", params: { type: 1, message } });
    }
  }

  private fail(id: Id, code: number, message: string): void {
    this.pending.delete(id);
    this.send({ jsonrpc: "2.0", id, error: { code, message } });
  }
}
