// The language server as a module of WebAssembly, in Node.
//
// RELAY_WASM: the module
// RELAY_BERT: a dump of BERT; without it its test is skipped
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

import { Client, createWorker, Instance, Session } from "./bundle.mjs";

/** The largest module that is published, in bytes as it travels. */
const LARGEST = 4_000_000;

const bytes = readFileSync(process.env.RELAY_WASM);
const module = await WebAssembly.compile(bytes);
const uri = "inmemory://test/module.relay";
const open = [];
after(() => open.forEach((session) => session.dispose()));

/** A session with a client that has told it the capabilities. */
async function started(create = createWorker) {
  const { port1, port2 } = new MessageChannel();
  open.push(new Session(module, create, port2));
  const client = new Client(port1);
  const { result } = await client.request("initialize", { processId: null, rootUri: null, capabilities: {} });
  client.notify("initialized", {});
  return { client, capabilities: result.capabilities };
}

const opened = (client, text, version = 1) =>
  client.notify("textDocument/didOpen", { textDocument: { uri, languageId: "relay", version, text } });
const changed = (client, version, contentChanges) =>
  client.notify("textDocument/didChange", { textDocument: { uri, version }, contentChanges });
const diagnostics = (client, version) =>
  client.message("textDocument/publishDiagnostics", (params) => params.uri === uri && params.version === version);
const hover = async (client, line, character) => {
  const { result, error } = await client.request("textDocument/hover", { textDocument: { uri }, position: { line, character } });
  return error?.message ?? JSON.stringify(result?.contents);
};

const SMALL = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 3), float32]) {\n  let %y = nn.relu(%x);\n  add(%y, %y)\n}\n";

test("the module is small enough to be loaded with a page", () => {
  const sizes = {
    plain: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }).length,
  };
  console.log(`module: ${JSON.stringify(sizes)}`);
  assert.ok(sizes.gzip <= LARGEST, JSON.stringify(sizes));
});

test("it asks its host for a clock and for nothing else", () => {
  assert.deepEqual(WebAssembly.Module.imports(module), [{ module: "host", name: "now", kind: "function" }]);
});

test("a session has the features of the server on a desktop", async () => {
  const { client, capabilities } = await started();
  for (const feature of ["hoverProvider", "completionProvider", "renameProvider", "semanticTokensProvider", "inlayHintProvider", "codeActionProvider"]) {
    assert.ok(capabilities[feature], feature);
  }
  opened(client, `${SMALL}def @bad(%x: Tensor[(2, 3), float32]) { add(%x, ones(shape=[4], dtype="float32")) }\n`);
  const found = await diagnostics(client, 1);
  assert.equal(found.diagnostics.length, 1, JSON.stringify(found));
  assert.match(await hover(client, 2, 7), /Tensor\[\(2, 3\), float32\]/);
  const { result: report } = await client.request("relay/shapes", { textDocument: { uri } });
  assert.equal(report.functions[0].total.calls, 2);
  const { result: formatted } = await client.request("textDocument/formatting", { textDocument: { uri }, options: { tabSize: 2, insertSpaces: true } });
  assert.ok(Array.isArray(formatted) || formatted === null);
  // Positions of a change are those of the client; the definition that was wrong goes.
  changed(client, 2, [{ range: { start: { line: 5, character: 0 }, end: { line: 6, character: 0 } }, text: "" }]);
  assert.deepEqual((await diagnostics(client, 2)).diagnostics, []);
  const { error } = await client.request("relay/convertFile", { uri: "file:///module.json" });
  assert.match(error.message, /not a file of this machine/);
  client.close();
});

test("a function runs, and its values are shown", async () => {
  const { client } = await started();
  opened(client, SMALL);
  const { result } = await client.request("workspace/executeCommand", { command: "relay.run", arguments: [{ uri, function: "@main" }] });
  assert.equal(result.status, "done", JSON.stringify(result));
  assert.equal(result.tensors[0].type, "Tensor[(2, 3), float32]");
  assert.ok(result.time.value >= 0 && result.time.value < 10);
  const range = { start: { line: 0, character: 0 }, end: { line: 5, character: 0 } };
  const { result: hints } = await client.request("textDocument/inlayHint", { textDocument: { uri }, range });
  assert.ok(hints.some(({ label }) => JSON.stringify(label).includes("mean")), JSON.stringify(hints));
  client.close();
});

const ENDLESS = "def @f(%n: int32) -> int32 { if (equal(%n, -1)) { 0 } else { @f(add(%n, 1)) } }\ndef @main() { @f(0) }\n";

test("a run that is cancelled ends, and the session goes on with the same text", async () => {
  const { client } = await started();
  opened(client, SMALL);
  await diagnostics(client, 1);
  changed(client, 2, [{ range: { start: { line: 5, character: 0 }, end: { line: 5, character: 0 } }, text: ENDLESS }]);
  let run;
  const answer = client.request("workspace/executeCommand", { command: "relay.run", arguments: [{ uri, function: "@f", inputs: { n: 0 } }] }, (id) => (run = id));
  const later = hover(client, 2, 7);
  await new Promise((resolve) => setTimeout(resolve, 300));
  client.notify("$/cancelRequest", { id: run });
  assert.equal((await answer).error.code, -32800);
  // What was asked meanwhile is answered.
  assert.match(await later, /Tensor\[\(2, 3\), float32\]/);
  // The text is the one after the change.
  assert.match(await hover(client, 5, 6), /int32/);
  assert.match(await hover(client, 2, 7), /Tensor\[\(2, 3\), float32\]/);
  client.close();
});

test("a run that reaches a limit in a kernel is ended with its worker, and says so", async () => {
  const { client } = await started();
  client.notify("workspace/didChangeConfiguration", { settings: { run: { time: 0.3 } } });
  opened(client, "def @main(%x: Tensor[(3000, 3000), float32]) { nn.dense(%x, %x, units=3000) }\n");
  const { result, error } = await client.request("workspace/executeCommand", { command: "relay.run", arguments: [{ uri, function: "@main" }] });
  // A kernel that cannot unwind is left by a trap, which the panic hook explains.
  assert.match(error?.message ?? JSON.stringify(result), /^the run was ended: .*time limit/);
  await client.message("window/showMessage", ({ message }) => message.includes("started again"));
  assert.match(await hover(client, 0, 11), /3000/);
  client.close();
});

/** A worker that answers `initialize`, and is lost when it is told what contains `BAD`. */
function fragile(log) {
  return () => {
    let isRestored = false;
    const worker = {
      onmessage: null,
      onerror: null,
      terminate() {},
      postMessage(message) {
        const send = (data) => setImmediate(() => worker.onmessage({ data }));
        log.push(message.method ?? Object.keys(message)[0]);
        if (message.method === "initialize") {
          send({ jsonrpc: "2.0", id: message.id, result: { capabilities: {} } });
        } else if ("restored" in message) {
          isRestored = true;
        } else if (JSON.stringify(message).includes("BAD")) {
          send({ ended: "it is bad", wasIdle: isRestored });
        } else if (message.id !== undefined) {
          send({ jsonrpc: "2.0", id: message.id, result: "fine" });
        }
      },
    };
    return worker;
  };
}

test("a text with which the server is lost twice is left alone until it changes", async () => {
  const log = [];
  const { client } = await started(fragile(log));
  opened(client, "BAD");
  const { message } = await client.message("window/showMessage", (params) => params.message.includes("leaves the text alone"));
  assert.match(message, /it is bad/);
  // No restart without end.
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(log.filter((what) => what === "module").length, 3, log.join(" "));
  assert.match(await hover(client, 0, 0), /left this document alone/);
  changed(client, 2, [{ text: "good" }]);
  assert.equal(await hover(client, 0, 0), undefined);
  assert.equal(log.at(-2), "textDocument/didOpen");
  client.close();
});

test("a server that cannot start says so, and is not started without end", async () => {
  const { port1, port2 } = new MessageChannel();
  let count = 0;
  const create = () => {
    count += 1;
    const worker = { onmessage: null, onerror: null, terminate() {}, postMessage: () => {} };
    setImmediate(() => worker.onmessage({ data: { ended: "it does not fit", wasIdle: false } }));
    return worker;
  };
  open.push(new Session(module, create, port2));
  const client = new Client(port1);
  const { error } = await client.request("initialize", { capabilities: {} });
  assert.match(error.message, /does not run: it does not fit/);
  await client.message("window/showMessage", ({ message }) => message.includes("it does not fit"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(count, 1);
  client.close();
});

test("deep nesting is an answer and no end", async () => {
  const { client } = await started();
  const deep = (depth) => `def @main(%x: int32) { ${"(".repeat(depth)}%x${")".repeat(depth)} }\n${"fn () { ".repeat(depth)}1${" }".repeat(depth)}`;
  opened(client, deep(250));
  const found = await diagnostics(client, 1);
  assert.ok(Array.isArray(found.diagnostics));
  changed(client, 2, [{ text: deep(100_000) }]);
  await diagnostics(client, 2);
  assert.deepEqual(client.received.filter(({ method }) => method === "window/showMessage"), []);
  client.close();
});

test("a keystroke in BERT", { skip: process.env.RELAY_BERT ? false : "RELAY_BERT is not set" }, () => {
  const instance = new Instance(module);
  const send = (message) => {
    instance.receive(JSON.stringify({ jsonrpc: "2.0", ...message }));
    const answers = [];
    for (;;) {
      const wait = instance.work();
      for (let text = instance.take(); text !== undefined; text = instance.take()) {
        answers.push(text);
      }
      if (wait < 0) {
        return answers;
      }
    }
  };
  send({ id: 1, method: "initialize", params: { processId: null, rootUri: null, capabilities: {} } });
  send({ method: "initialized", params: {} });
  const text = readFileSync(process.env.RELAY_BERT, "utf8");
  const began = performance.now();
  send({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId: "relay", version: 1, text } } });
  const cold = performance.now() - began;
  const lines = text.split("\n");
  // The argument of a call in the middle loses its name, and gets it back.
  const line = lines.findIndex((text, at) => at > lines.length * 0.6 && text.includes("(%"));
  const times = [];
  for (let version = 2; version < 242; version++) {
    const at = { line, character: lines[line].indexOf("(%") + 2 };
    const start = performance.now();
    const [range, inserted] = version % 2 === 0 ? [{ start: at, end: at }, "_"] : [{ start: at, end: { ...at, character: at.character + 1 } }, ""];
    const answers = send({ method: "textDocument/didChange", params: { textDocument: { uri, version }, contentChanges: [{ range, text: inserted }] } });
    times.push(performance.now() - start);
    assert.ok(answers.some((answer) => answer.includes(`"version":${version}`)));
  }
  const middle = (times) => times.toSorted((a, b) => a - b)[times.length >> 1];
  // The engine compiles what is used often again, at first.
  const median = middle(times.slice(40));
  console.log(`bert: opened in ${cold.toFixed(0)} ms; a keystroke takes ${median.toFixed(1)} ms, one of the first forty ${middle(times.slice(0, 40)).toFixed(1)} ms`);
  assert.ok(median <= 16, `${median} ms`);
});
