// Relay in the strings of Python, coloured as VS Code does it: with its own grammar of Python.
//
// RELAY_PYTHON_GRAMMAR: MagicPython.tmLanguage.json of VS Code
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./textmate.mjs";

const python = await load("source.python", {
  "source.python": process.env.RELAY_PYTHON_GRAMMAR,
  "python.relay.text": new URL("../syntaxes/relay.python-text.tmLanguage.json", import.meta.url),
  "python.relay.string": new URL("../syntaxes/relay.python.tmLanguage.json", import.meta.url),
});

/** The scopes of the first place of each text, in lines of Python. */
function scopes(lines, ...texts) {
  let state = null;
  const found = new Map();
  for (const line of lines) {
    const result = python.tokenizeLine(line, state);
    state = result.ruleStack;
    for (const text of texts) {
      const at = line.indexOf(text);
      if (at >= 0 && !found.has(text)) {
        found.set(text, result.tokens.find((token) => token.startIndex <= at && at < token.endIndex).scopes);
      }
    }
  }
  return texts.map((text) => found.get(text).join(" "));
}

const RELAY = /meta\.embedded\.block\.relay/;

test("a string over lines, and the Python after it", () => {
  const [global, call, after] = scopes(
    ["mod = relay.fromtext(", '    """', "def @main(%x: int32) { add(%x, 1) }", '""", fast=True)', "after = len(mod)"],
    "@main",
    "add",
    "len",
  );
  assert.match(global, RELAY);
  assert.match(global, /entity\.name\.function\.global\.relay/);
  assert.match(call, RELAY);
  assert.doesNotMatch(after, RELAY);
  assert.match(after, /support\.function\.builtin\.python/);
});

test("each way to write a string, with escapes", () => {
  for (const string of ["'1 + %x'", '"1 + %x"', "r'1 + %x'", '"""1 + %x"""', "R'''1 + %x'''", "  # why\n  '1 + %x'"]) {
    const lines = [...`e = tvm.relay.parse(${string})`.split("\n"), "other = '%y'"];
    const [local, other] = scopes(lines, "%x", "%y");
    assert.match(local, /variable\.other\.local\.relay/, string);
    assert.doesNotMatch(other, RELAY, string);
  }
  const [escape] = scopes(['relay.parse_expr("let %a = 1;\\n %a")'], "\\n");
  assert.match(escape, /constant\.character\.escape\.python/);
});

test("a module that says what it is", () => {
  const [global] = scopes(['M = """#[version = "0.0.5"]', "def @main() { 1 }", '"""'], "@main");
  assert.match(global, RELAY);
});

test("a cell of a notebook", () => {
  const [global] = scopes(["%%relay", "def @main() { 1 }"], "@main");
  assert.match(global, RELAY);
});

test("other calls, names, comments and strings are Python's", () => {
  for (const line of ["relay.fromtext(text, '%x')", "ast.parse('%x')", "# relay.fromtext('%x')", "s = \"relay.fromtext('%x')\""]) {
    const [found, after] = scopes([line, "after = '%y'"], "%x", "%y");
    assert.doesNotMatch(found, RELAY, line);
    assert.doesNotMatch(after, RELAY, line);
  }
});

test("a module after the first line of a string", () => {
  const [global, after] = scopes(["M = '''", '#[version = "0.0.5"]', "def @main() { 1 }", "'''", "after = len(M)"], "@main", "len");
  assert.match(global, RELAY);
  assert.match(global, /entity\.name\.function\.global\.relay/);
  assert.match(after, /support\.function\.builtin\.python/);
  assert.doesNotMatch(after, RELAY);
});
