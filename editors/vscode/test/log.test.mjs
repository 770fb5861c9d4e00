// The modules in a log, coloured as VS Code does it: with its own grammar of logs.
//
// RELAY_LOG_GRAMMAR: log.tmLanguage.json of VS Code
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./textmate.mjs";

const log = await load("text.log", {
  "text.log": process.env.RELAY_LOG_GRAMMAR,
  "log.relay.module": new URL("../syntaxes/relay.log.tmLanguage.json", import.meta.url),
});

/** The scopes of the first place of each text. */
function scopes(lines, ...texts) {
  let state = null;
  const found = new Map();
  for (const line of lines) {
    const { ruleStack, tokens } = log.tokenizeLine(line, state);
    state = ruleStack;
    for (const text of texts.filter((text) => !found.has(text) && line.includes(text))) {
      const at = line.indexOf(text);
      found.set(text, tokens.find((token) => token.startIndex <= at && at < token.endIndex).scopes.join(" "));
    }
  }
  return texts.map((text) => found.get(text));
}

const RELAY = /meta\.embedded\.block\.relay/;
const MODULE = ["def @main(%x: int32) {", "  %0 = add(%x, %x);", "  %0", "}"];

test("modules have the colours of Relay, and the lines around them those of logs", () => {
  const lines = ['[10:00:00] a.cc:1: PrintIR(Fold):', '#[version = "0.0.5"]', ...MODULE, '[10:00:01] b.cc:2: warning 17'];
  const [version, global, local, after] = scopes(lines, "0.0.5", "@main", "%0", "warning");
  assert.match(version, /string\.quoted\.double\.relay/);
  assert.match(global, /entity\.name\.function\.global\.relay/);
  assert.match(local, RELAY);
  assert.doesNotMatch(after, RELAY);
});

test("each definition of a module, and one on a line", () => {
  const lines = ["def @one() { 1 }", "INFO after %5", "def @two() {", "  2", "}", "", "def @three() {", "  3", "}", "INFO done with %4"];
  const [one, two, three, ...others] = scopes(lines, "@one", "@two", "@three", "%4", "%5");
  for (const scope of [one, two, three]) {
    assert.match(scope, /entity\.name\.function\.global\.relay/);
  }
  others.forEach((scope) => assert.doesNotMatch(scope, RELAY));
});
