// Properties of the manifest and the language configuration that need no editor.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { assertAtMost, cpuTime } from "./cpu-time.mjs";

const read = async (name) => readFile(new URL(`../${name}`, import.meta.url), "utf8");
const manifest = JSON.parse(await read("package.json"));
const language = JSON.parse(await read("language-configuration.json"));
const settings = Object.assign({}, ...manifest.contributes.configuration.map((part) => part.properties));

/** The word at `|`, as selected by a double click. */
function word(marked) {
  const at = marked.indexOf("|");
  const text = marked.replace("|", "");
  const words = new RegExp(language.wordPattern.pattern, "g");
  for (const found of text.matchAll(words)) {
    if (found.index <= at && at < found.index + found[0].length) {
      return found[0];
    }
  }
  return null;
}

test("a double click selects whole names", () => {
  assert.equal(word("add(%aten::lin|ear_3.bias, %x)"), "%aten::linear_3.bias");
  assert.equal(word("%|x: Tensor[(1), float32]"), "%x");
  assert.equal(word("%resnet/co|nv1: T"), "%resnet/conv1");
  assert.equal(word("%layer.0.wei|ght"), "%layer.0.weight");
  assert.equal(word("|@main(%x)"), "@main");
  assert.equal(word("@ma|in//here"), "@main");
  assert.equal(word("|%0 = x"), "%0");
  assert.equal(word("%0.|1"), "1");
  assert.equal(word("nn.co|nv2d(%x)"), "nn.conv2d");
  assert.equal(word("x, meta[relay.Con|stant][0] /* ty"), "meta[relay.Constant][0]");
  assert.equal(word("add(1.5|f16, 2)"), "1.5f16");
  assert.equal(word("%größ|e"), "%größe");
  assert.equal(word("%|)"), null);
});

test("word selection is fast in long lines of TVM", () => {
  const line = "def @main(" + "%weight_1: Tensor[(1, 64), float32], ".repeat(5_000);
  const start = cpuTime();
  assert.equal([...line.matchAll(new RegExp(language.wordPattern.pattern, "g"))].length, 25_002);
  assertAtMost("the words of a line", cpuTime() - start, 1_000);
});

test("indentation follows brackets", () => {
  const more = new RegExp(language.indentationRules.increaseIndentPattern);
  const less = new RegExp(language.indentationRules.decreaseIndentPattern);
  for (const line of ["def @main() {", "  match (%x) { // all", "  add("]) {
    assert.match(line, more);
  }
  for (const line of ["  %0 = add(%x, %y);", "  (1, 2)", "%x }"]) {
    assert.doesNotMatch(line, more);
    assert.doesNotMatch(line, less);
  }
  for (const line of ["}", "  })", "    ] /* end */"]) {
    assert.match(line, less);
  }
});

test("each setting is typed, described, and in the README with its default", async () => {
  const readme = await read("README.md");
  for (const [name, setting] of Object.entries(settings)) {
    assert.ok(setting.type && setting.markdownDescription && "default" in setting, name);
    assert.ok(readme.includes(`\`${name}\``), `${name} is not in the README`);
    if (!name.startsWith("relay.server.")) {
      const shown = typeof setting.default === "string" ? setting.default : JSON.stringify(setting.default);
      assert.match(readme, new RegExp(`\`${name}\` \\| \`${shown.replace("[]", "\\[\\]")}\``), name);
    }
  }
});

test("settings for programs and files need a trusted workspace", () => {
  const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
  assert.deepEqual(
    restricted,
    Object.keys(settings).filter((name) => /^relay\.(server|weights)\./.test(name)),
  );
});

test("each decoration of a comparison has its colours", async () => {
  const marks = await read("src/marks.ts");
  const [, names] = /const MARKS[^=]*= \[([^\]]*)\]/.exec(marks);
  const wanted = names.match(/\w+/g).flatMap((name) => [name, `${name}Ruler`]);
  assert.deepEqual(
    manifest.contributes.colors.map(({ id }) => id),
    [
      ...[...wanted, "changedPart", "note", "filler"].map((name) => `relay.comparison.${name}`),
      ...["level1", "level2", "level3", "level4", "note"].map((name) => `relay.heat.${name}`),
    ],
  );
});

test("the implemented commands are those of the manifest", async () => {
  const files = ["shapes", "type", "why", "reduce", "reading", "example", "extension", "header", "choose", "compare", "passes", "saved", "automatic", "history"];
  const source = (await Promise.all(files.map((name) => read(`src/${name}.ts`)))).join("\n");
  const implemented = [...source.matchAll(/command\("(\w+)"/g)].map((found) => `relay.${found[1]}`);
  // Their names are constants, with which the registered commands are compared in order.
  for (const [file, name, command, after] of [
    ["bind", "BIND", "relay.bindParameters", "relay.openWholeFile"],
    ["bind", "LIFT", "relay.liftConstants", "relay.bindParameters"],
    ["run", "RUN", "relay.run", "relay.history"],
    ["run", "CLEAR", "relay.clearValues", "relay.run"],
    ["debug", "DEBUG_WITH", "relay.debugWith", "relay.runWith"],
    ["tensor", "VIEW", "relay.viewTensor", "relay.debugWith"],
    ["values", "VIEW_BOTH", "relay.viewBothTensors", "relay.viewTensor"],
  ]) {
    assert.ok((await read(`src/${file}.ts`)).includes(`${name} = "${command}"`), command);
    implemented.splice(implemented.indexOf(after) + 1, 0, command);
  }
  assert.deepEqual(implemented, manifest.contributes.commands.map((command) => command.command));
});

test("keys are in the README and limited to Relay files", async () => {
  const readme = await read("README.md");
  for (const { command, key, mac, when } of manifest.contributes.keybindings) {
    const { title } = manifest.contributes.commands.find((known) => known.command === command);
    assert.match(when, /editorLangId == relay|^relay\.comparing$/);
    assert.equal(mac, key.replaceAll("ctrl", "cmd"));
    const shown = key.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
    assert.ok(readme.includes(`*Relay: ${title}* | \`${shown}\``), `${title}: ${shown}`);
  }
});
