// The messages between a session and its worker.

/** A message of the protocol. */
export interface Message {
  readonly jsonrpc?: "2.0";
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: any;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The first message to a worker. */
export interface Start {
  readonly module: WebAssembly.Module;
}

/** Marks the end of the messages that restore the state of the session. All other messages are of the protocol. */
export interface Restored {
  readonly restored: true;
}

/** Sent by a worker whose server trapped. All other messages of a worker are of the protocol. */
export interface Ended {
  readonly ended: string;
  /** True if the server was idle at some time after the state had been restored. */
  readonly wasIdle: boolean;
}
