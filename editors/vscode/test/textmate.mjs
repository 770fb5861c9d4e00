// Runs the grammar like VS Code.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

import { cpuTime } from "./cpu-time.mjs";

const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const GRAMMAR = new URL("../syntaxes/relay.tmLanguage.json", import.meta.url);

/** A grammar, with that of Relay and the files of others by their scopes; those that are not the grammar's are injected. */
export async function load(scope = "source.relay", others = {}) {
  const files = { "source.relay": GRAMMAR, ...others };
  const wasm = await readFile(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    // A grammar may include others that are not here.
    loadGrammar: async (name) => files[name] && textmate.parseRawGrammar(await readFile(files[name], "utf8"), "grammar.json"),
    getInjections: (name) => (name === scope ? Object.keys(others).filter((other) => other !== scope) : undefined),
  });
  return registry.loadGrammar(scope);
}

/** Tokenizes a text. Returns the CPU time in milliseconds, and the state after it. */
export function tokenize(grammar, text) {
  let state = null;
  const start = cpuTime();
  for (const line of text.split("\n")) {
    const result = grammar.tokenizeLine2(line, state);
    state = result.ruleStack;
  }
  return { state, total: cpuTime() - start };
}
