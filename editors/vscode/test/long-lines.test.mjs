// TVM prints all parameters of a network into one line: 186,488 characters in an unrolled LSTM.
import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAtMost } from "./cpu-time.mjs";
import { load, tokenize } from "./textmate.mjs";

const grammar = await load();

const TYPE = "Tensor[(1, 64), float32]";
const parameters = (n) =>
  "def @main(" +
  Array.from({ length: n }, (_, i) => `%lstm.${i}.weight: ${TYPE} /* ty=${TYPE} span=aten::lstm_${i}:0:0 */`).join(", ") +
  ") {";

/** The least of three times. */
function time(text) {
  return Math.min(...[1, 2, 3].map(() => tokenize(grammar, text).total));
}

/** Checks that twice the text takes about twice the time. */
function assertLinear(make, n) {
  time(make(n));
  const [one, four] = [time(make(n)), time(make(4 * n))];
  assertAtMost("four times the text", four, 10 * Math.max(one, 2));
}

test("a header of 186,488 characters is coloured within the half second that VS Code gives a line", () => {
  const line = parameters(2_000);
  assert.ok(line.length > 186_488, `${line.length}`);
  tokenize(grammar, parameters(500)); // Compiles the patterns.
  const { total, state } = tokenize(grammar, line);
  assertAtMost("a header", total, 500);
  assert.equal(state.depth, 1, "nothing stays open after the line");
});

test("time grows linearly with the text", () => {
  assertLinear(parameters, 500);
  // Text with many openings and no ends.
  for (const piece of ["/* ty=", "/* ", "%a::", "%a.1", "%a/", "\"", "'", "meta[", "#[", "(((", "1e", "match ", "- <", "a.b", "a/b", "a=", "@a:", "A", "?"]) {
    assertLinear((n) => piece.repeat(n), 500);
  }
});

test("metadata is skipped", () => {
  const array = `    "${"QUJD".repeat(100_000)}",`;
  const text = `#[version = "0.0.5"]\ndef @main() { () }\n\n#[metadata]\n{\n  "b64ndarrays": [\n${array}\n${array}\n  ]\n}`;
  assertAtMost("metadata", tokenize(grammar, text).total, 1_000);
});
