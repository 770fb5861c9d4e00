// An instance of the WebAssembly module of the language server, and its message buffers.

/** The exports of the module, documented in `web/src/lib.rs`. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  __wasm_call_ctors(): void;
  start(): void;
  allocate(length: number): number;
  receive(): void;
  work(): number;
  take(): number;
  message(): number;
  fault(): number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Thrown if a call into the instance trapped, so that it cannot be used any more. */
export class Lost extends Error {}

export class Instance {
  private readonly exports: Exports;
  private isLost = false;

  constructor(module: WebAssembly.Module) {
    const { exports } = new WebAssembly.Instance(module, { host: { now: () => performance.now() } });
    this.exports = exports as unknown as Exports;
    this.call(() => {
      this.exports.__wasm_call_ctors();
      this.exports.start();
    });
  }

  /** Delivers a message from the client. */
  receive(message: string): void {
    this.call(() => {
      const body = encoder.encode(message);
      const at = this.exports.allocate(body.length) >>> 0;
      new Uint8Array(this.exports.memory.buffer, at, body.length).set(body);
      this.exports.receive();
    });
  }

  /** Does pending work. Returns the milliseconds until there is more, or a negative number if only a message brings more. */
  work(): number {
    return this.call(() => this.exports.work());
  }

  /** Returns the next message for the client, and removes it from the queue. */
  take(): string | undefined {
    return this.call(() => {
      const length = this.exports.take() >>> 0;
      return length === 0 ? undefined : this.read(length);
    });
  }

  private read(length: number): string {
    const at = this.exports.message() >>> 0;
    return decoder.decode(new Uint8Array(this.exports.memory.buffer, at, length));
  }

  private call<R>(work: () => R): R {
    if (this.isLost) {
      throw new Lost("the server has ended");
    }
    try {
      return work();
    } catch (error) {
      this.isLost = true;
      throw new Lost(this.reason(error));
    }
  }

  /** The message of the panic, or of the engine if there was no panic, such as after a stack overflow. */
  private reason(error: unknown): string {
    try {
      const length = this.exports.fault() >>> 0;
      if (length !== 0) {
        return this.read(length);
      }
    } catch {
      // The instance cannot be called any more.
    }
    return `an internal error ended the session (${error instanceof Error ? error.message : String(error)})`;
  }
}
