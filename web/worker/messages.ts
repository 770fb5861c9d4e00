// What a session and its worker say to each other.

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

/** Follows what a worker is told about the state of the session. All other messages are of the protocol. */
export interface Restored {
  readonly restored: true;
}

/** What a worker sends when it has ended: a call into the server trapped. Else it sends messages of the protocol. */
export interface Ended {
  readonly ended: string;
  /** The server had done all that was to be done, at some time after the state was restored. */
  readonly wasIdle: boolean;
}
