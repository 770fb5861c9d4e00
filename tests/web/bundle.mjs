// The sources of the worker and of the session, bundled for Node.
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Worker as Thread } from "node:worker_threads";

const web = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../web");
const { buildSync } = createRequire(path.join(web, "x"))("esbuild");

function bundle(file, format) {
  const { outputFiles } = buildSync({ entryPoints: [path.join(web, file)], bundle: true, format, target: "es2022", write: false, absWorkingDir: web });
  return outputFiles[0].text;
}

const load = (file) => import(`data:text/javascript;base64,${Buffer.from(bundle(file, "esm")).toString("base64")}`);
export const { Instance, Lost } = await load("worker/instance.ts");
export const { Session } = await load("worker/session.ts");

/** What a worker of a browser has, on a thread of Node. */
const PRELUDE = `
  const { parentPort } = require("node:worker_threads");
  globalThis.postMessage = (message) => parentPort.postMessage(message);
  parentPort.on("message", (data) => globalThis.onmessage?.({ data }));
`;
const script = PRELUDE + bundle("worker/main.ts", "iife");

/** A worker with the server in it. */
export function createWorker() {
  const thread = new Thread(script, { eval: true });
  const worker = {
    onmessage: null,
    onerror: null,
    postMessage: (message) => thread.postMessage(message),
    terminate: () => void thread.terminate(),
  };
  thread.on("message", (data) => worker.onmessage?.({ data }));
  thread.on("error", (error) => worker.onerror?.(error));
  return worker;
}

/** A client of a session, with the messages of the server that are not answers. */
export class Client {
  received = [];
  #port;
  #waiting = new Map();
  #watching = new Set();
  #next = 1;

  constructor(port) {
    this.#port = port;
    port.onmessage = ({ data }) => {
      if (data.method === undefined) {
        this.#waiting.get(data.id)?.(data);
        this.#waiting.delete(data.id);
        return;
      }
      if (data.id !== undefined) {
        port.postMessage({ jsonrpc: "2.0", id: data.id, result: null });
      }
      this.received.push(data);
      this.#watching.forEach((look) => look());
    };
  }

  notify(method, params) {
    this.#port.postMessage({ jsonrpc: "2.0", method, params });
  }

  /** Sends a request; gives the answer with its `result` or `error`. `sent` is told its identifier. */
  request(method, params, sent = () => {}) {
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#port.postMessage({ jsonrpc: "2.0", id, method, params });
      sent(id);
    });
  }

  /** Waits for a message of the server. */
  message(method, holds = () => true, patience = 60_000) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no ${method}: ${JSON.stringify(this.received).slice(0, 2000)}`)), patience);
      const look = () => {
        const found = this.received.find((message) => message.method === method && holds(message.params));
        if (found !== undefined) {
          clearTimeout(timer);
          this.#watching.delete(look);
          this.received.splice(this.received.indexOf(found), 1);
          resolve(found.params);
        }
      };
      this.#watching.add(look);
      look();
    });
  }

  close() {
    this.#port.close();
  }
}
