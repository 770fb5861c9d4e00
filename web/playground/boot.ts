// Starts the language server, whose worker loads in parallel with the editor.

import { Session } from "../worker/session.js";

declare global {
  interface Window {
    relaySession?: Promise<MessagePort>;
  }
}

/** The client's port of the session. This file runs once on its own, and is also part of the script of the page. */
export const started = (window.relaySession ??= start());

// The page shows errors after it has loaded.
started.catch(() => {});

async function start(): Promise<MessagePort> {
  const module = await compile();
  performance.mark("module");
  const { port1, port2 } = new MessageChannel();
  new Session(module, () => new Worker(new URL("server.js", document.baseURI), { type: "module" }), port2);
  return port1;
}

async function compile(): Promise<WebAssembly.Module> {
  if (typeof WebAssembly !== "object") {
    throw new Error("This browser has no WebAssembly, or it is turned off.");
  }
  const response = await fetch("relay.wasm");
  if (!response.ok) {
    throw new Error(`The language server cannot be loaded: ${response.status} ${response.statusText}.`);
  }
  // Some servers do not know the MIME type of the file.
  return response.headers.get("content-type")?.startsWith("application/wasm")
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}
