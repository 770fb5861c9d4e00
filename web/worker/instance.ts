// One instance of the language server: the module of WebAssembly, and how messages get in and out.

/** The functions of the module; `web/src/lib.rs` says what each does. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  __wasm_call_ctors(): void;
  start(): void;
  room(length: number): number;
  receive(): void;
  work(): number;
  take(): number;
  message(): number;
  fault(): number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The instance is lost: a call into it trapped. */
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

  /** Gives it a message of the client. */
  receive(message: string): void {
    this.call(() => {
      const body = encoder.encode(message);
      const at = this.exports.room(body.length) >>> 0;
      new Uint8Array(this.exports.memory.buffer, at, body.length).set(body);
      this.exports.receive();
    });
  }

  /** Lets it work: gives the milliseconds until there is more to do, negative if that is after a message. */
  work(): number {
    return this.call(() => this.exports.work());
  }

  /** Takes the next message for the client. */
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

  /** The message of the panic; that of the engine where there was none, as when the stack is full. */
  private reason(error: unknown): string {
    try {
      const length = this.exports.fault() >>> 0;
      if (length !== 0) {
        return this.read(length);
      }
    } catch {
      // Nothing can be called any more.
    }
    return `an internal error ended the session (${error instanceof Error ? error.message : String(error)})`;
  }
}
