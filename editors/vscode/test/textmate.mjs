// Runs the grammar like VS Code.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const GRAMMAR = new URL("../syntaxes/relay.tmLanguage.json", import.meta.url);

export async function load() {
  const wasm = await readFile(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(await readFile(GRAMMAR, "utf8"), GRAMMAR.pathname),
  });
  return registry.loadGrammar("source.relay");
}

/** Tokenizes a text. Returns the time of the slowest line in milliseconds, and the lines that timed out. */
export function tokenize(grammar, text, limit = 0) {
  let state = null;
  let slowest = 0;
  let stopped = 0;
  const total = performance.now();
  for (const line of text.split("\n")) {
    const start = performance.now();
    const result = grammar.tokenizeLine2(line, state, limit);
    slowest = Math.max(slowest, performance.now() - start);
    stopped += result.stoppedEarly ? 1 : 0;
    state = result.ruleStack;
  }
  return { slowest, stopped, state, total: performance.now() - total };
}
