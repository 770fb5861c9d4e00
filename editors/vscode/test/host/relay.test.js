// The extension and the real server, through the API of VS Code. `relay.server.path` is set.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { until } = require("./until.js");

const BROKEN = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 5), float32]) {\n  nn.dense(%x, %w, units=4)\n}\n';
const HEADER = '#[version = "0.0.5"]\n';
const FINE = BROKEN.replace("(4, 5)", "(4, 3)");

const errors = (document) =>
  vscode.languages
    .getDiagnostics(document.uri)
    .filter((found) => found.severity === vscode.DiagnosticSeverity.Error)
    .map((found) => `${found.code?.value ?? found.code} at ${document.getText(found.range)}`);

function errorsAre(document, wanted) {
  return until(`errors ${JSON.stringify(wanted)}`, () => {
    const found = errors(document);
    return JSON.stringify(found) === JSON.stringify(wanted);
  }).catch((error) => {
    throw new Error(`${error.message}, found ${JSON.stringify(errors(document))}`);
  });
}

async function untitled(content) {
  const document = await vscode.workspace.openTextDocument({ language: "relay", content });
  await vscode.window.showTextDocument(document);
  return document;
}

async function replace(document, from, to) {
  const at = document.getText().indexOf(from);
  assert.ok(at >= 0, from);
  const edit = new vscode.WorkspaceEdit();
  const range = new vscode.Range(document.positionAt(at), document.positionAt(at + from.length));
  edit.replace(document.uri, range, to);
  assert.ok(await vscode.workspace.applyEdit(edit));
}

async function hover(document, text) {
  const at = document.positionAt(document.getText().lastIndexOf(text));
  const hovers = await vscode.commands.executeCommand("vscode.executeHoverProvider", document.uri, at);
  return hovers.flatMap((found) => found.contents.map((content) => content.value)).join("\n");
}

const settings = () => vscode.workspace.getConfiguration("relay");
const set = (name, value) => settings().update(name, value, vscode.ConfigurationTarget.Global);

describe(`relay-analyzer in VS Code ${vscode.version}`, () => {
  let file;

  before(async () => {
    const folder = vscode.workspace.workspaceFolders[0].uri;
    file = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder, "broken-attention.relay"));
    await vscode.window.showTextDocument(file);
  });

  it("knows the language, which activates it", async () => {
    assert.equal(file.languageId, "relay");
    const extension = vscode.extensions.getExtension("relay-analyzer.relay-analyzer");
    await until("the extension is active", () => extension.isActive);
  });

  it("recognizes a module by its first line", async () => {
    const document = await vscode.workspace.openTextDocument({ content: FINE });
    await until("the language of a module without a name", () => document.languageId === "relay");
  });

  it("shows one error for one cause, with its origin", async () => {
    await errorsAre(file, ["shape-mismatch at %keys"]);
    const [found] = vscode.languages.getDiagnostics(file.uri);
    assert.match(found.message, /64 features/);
    assert.deepEqual(
      found.relatedInformation.map((related) => related.location.range.start.line).sort((a, b) => a - b),
      [8, 9, 9, 11],
    );
  });

  it("hovers, jumps, lists", async () => {
    assert.match(await hover(file, "%keys"), /%keys: Tensor\[\(12, 64, 128\), float32\]/);
    const at = file.positionAt(file.getText().lastIndexOf("%keys"));
    const [definition] = await vscode.commands.executeCommand("vscode.executeDefinitionProvider", file.uri, at);
    assert.equal((definition.targetRange ?? definition.range).start.line, 9);
    const references = await vscode.commands.executeCommand("vscode.executeReferenceProvider", file.uri, at);
    assert.deepEqual(references.map((reference) => reference.range.start.line), [9, 11]);
    const symbols = await vscode.commands.executeCommand("vscode.executeDocumentSymbolProvider", file.uri);
    assert.deepEqual(symbols.map((symbol) => symbol.name), ["@attention"]);
  });

  it("works in an untitled document, and follows its changes", async () => {
    const document = await untitled(BROKEN);
    assert.equal(document.uri.scheme, "untitled");
    await errorsAre(document, ["shape-mismatch at %w"]);
    await replace(document, "(4, 5)", "(4, 3)");
    await errorsAre(document, []);
    assert.match(await hover(document, "nn.dense"), /Tensor\[\(2, 4\), float32\]/);
    await replace(document, "(2, 3)", "(2, 30)");
    await errorsAre(document, ["shape-mismatch at %w"]);
  });

  it("offers to correct a name", async () => {
    const document = await untitled(FINE.replace("nn.dense", "nn.dens"));
    await errorsAre(document, ["unknown-name at nn.dens"]);
    const [found] = vscode.languages.getDiagnostics(document.uri);
    const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", document.uri, found.range);
    const action = actions.find((offered) => offered.edit);
    assert.ok(action, JSON.stringify(actions.map((offered) => offered.title)));
    assert.ok(await vscode.workspace.applyEdit(action.edit));
    await errorsAre(document, []);
  });

  it("applies settings at once", async () => {
    const document = await untitled(BROKEN.replace("{", "{ let %unused = 1;"));
    await errorsAre(document, ["shape-mismatch at %w"]);
    const warnings = () => vscode.languages.getDiagnostics(document.uri).map((found) => found.code?.value ?? found.code);
    const unusedIsReported = (is) =>
      until(`unused-binding: ${is}`, () => warnings().includes("unused-binding") === is);
    await unusedIsReported(true);
    try {
      await set("diagnostics.disabled", ["unused-binding"]);
      await unusedIsReported(false);
      await errorsAre(document, ["shape-mismatch at %w"]);
      await set("diagnostics.disabled", undefined);
      await unusedIsReported(true);
      await set("diagnostics.delivery", "push");
      await replace(document, "(4, 5)", "(4, 6)");
      await errorsAre(document, ["shape-mismatch at %w"]);
    } finally {
      await set("diagnostics.disabled", undefined);
      await set("diagnostics.delivery", undefined);
    }
  });

  it("lets relay.toml decide unset options", async () => {
    const file = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, "relay.toml");
    const document = await untitled(FINE.replace(HEADER, ""));
    await errorsAre(document, []);
    try {
      await vscode.workspace.fs.writeFile(file, new TextEncoder().encode("tvm = true\n"));
      await errorsAre(document, ["tvm-version at "]);
      await set("tvm", false);
      await errorsAre(document, []);
      await set("tvm", undefined);
      await errorsAre(document, ["tvm-version at "]);
    } finally {
      await set("tvm", undefined);
      await vscode.workspace.fs.delete(file);
    }
    await errorsAre(document, []);
  });

  it("runs a function by its lens, shows its values, and removes stale ones", async () => {
    const text = `${HEADER}def @main(%n: int32) -> int32 {\n  let %m = %n + 1;\n  %m * 2\n}\n`;
    const document = await untitled(text);
    const lens = await until("a lens", async () => {
      const lenses = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", document.uri, 100);
      return lenses.find((found) => found.command?.title === "▶ Run");
    });
    assert.equal(lens.command.command, "relay.run");
    const [argument] = lens.command.arguments;
    const result = await vscode.commands.executeCommand(lens.command.command, { ...argument, inputs: { n: 20 } });
    assert.equal(result.status, "done", JSON.stringify(result));
    assert.deepEqual(result.value.data, [42]);
    assert.match(result.text, /42 \(int32\)/);
    const hints = async () => {
      const whole = new vscode.Range(0, 0, document.lineCount, 0);
      const found = await vscode.commands.executeCommand("vscode.executeInlayHintProvider", document.uri, whole);
      const labels = found.map((hint) => (typeof hint.label === "string" ? hint.label : hint.label.map((part) => part.value).join("")));
      return labels.filter((label) => label.startsWith("= "));
    };
    await until("values", async () => JSON.stringify(await hints()) === '["= 20","= 21"]');
    assert.match(await hover(document, "%m"), /in the last run: `21`/);
    // They are at the ends of lines, and the lens shows the duration.
    const ends = async () => {
      const whole = new vscode.Range(0, 0, document.lineCount, 0);
      const found = await vscode.commands.executeCommand("vscode.executeInlayHintProvider", document.uri, whole);
      return found.filter((hint) => String(hint.label).startsWith("= ")).map(({ position }) => document.lineAt(position.line).range.end.isEqual(position));
    };
    assert.deepEqual(await ends(), [true, true]);
    const titles = async () => {
      const lenses = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", document.uri, 100);
      return lenses.map((found) => found.command?.title ?? "");
    };
    await until("the time of the run", async () => (await titles()).some((title) => /^▶ Run · \d+(\.\d+)? [mµ]?s$/.test(title)));
    assert.deepEqual(result.tensors.map(({ name, type, text }) => [name, type, text]), [["result", "int32", "42 (int32)"]]);
    assert.deepEqual(result.profile.operators.map(({ operator, calls }) => [operator, calls.value]).sort(), [["add", 1], ["multiply", 1]]);
    assert.deepEqual(result.notFinite, []);
    await vscode.commands.executeCommand("relay.clearValues");
    await until("no values", async () => (await hints()).length === 0);
    await until("no time", async () => (await titles()).includes("▶ Run"));
    // Without arguments, the command runs the function at the cursor.
    const editor = await vscode.window.showTextDocument(document);
    editor.selection = new vscode.Selection(2, 3, 2, 3);
    const again = await vscode.commands.executeCommand("relay.run");
    assert.deepEqual([again.status, again.drawn], ["done", ["n"]], JSON.stringify(again));
    await replace(document, "%n + 1", "%n + 3");
    await until("no values", async () => (await hints()).length === 0);
    await replace(document, "%n + 3", "%n / 0");
    const { showErrorMessage } = vscode.window;
    let told;
    vscode.window.showErrorMessage = async (...message) => {
      told = message;
      return "Go to the Place";
    };
    try {
      const failed = await vscode.commands.executeCommand("relay.run", argument);
      assert.equal(failed.error.code, "run-operator-failed", JSON.stringify(failed));
      assert.deepEqual(told.slice(1), ["Go to the Place", "Show Details"]);
      assert.ok(told[0].length < 200, told[0]);
      await until("the place", () => document.getText(vscode.window.activeTextEditor.selection) === "%n / 0");
    } finally {
      vscode.window.showErrorMessage = showErrorMessage;
    }
    await errorsAre(document, ["run-operator-failed at %n / 0"]);
  });

  it("goes to the first value that is not finite", async () => {
    const text = `${HEADER}def @main(%x: Tensor[(2), float32]) {\n  let %a = log(%x);\n  let %b = exp(%a);\n  multiply(%a, %b)\n}\n`;
    const document = await untitled(text);
    await errorsAre(document, []);
    const result = await vscode.commands.executeCommand("relay.run", { uri: document.uri.toString(), function: "@main", inputs: { x: [-1, 1] } });
    const trail = result.notFinite.map(({ name, nan, elements, range }) => [name, nan, elements, range.start.line]);
    assert.deepEqual(trail, [["%a", 1, 2, 2], ["%b", 1, 2, 3]]);
  });

  it("works on files that are not on disk", async () => {
    const changed = new vscode.EventEmitter();
    const bytes = new TextEncoder().encode(BROKEN);
    const files = vscode.workspace.registerFileSystemProvider("relay-memory", {
      onDidChangeFile: changed.event,
      watch: () => new vscode.Disposable(() => {}),
      stat: () => ({ type: vscode.FileType.File, ctime: 0, mtime: 0, size: bytes.length }),
      readDirectory: () => [],
      readFile: () => bytes,
      createDirectory() {},
      writeFile() {},
      delete() {},
      rename() {},
    });
    try {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.parse("relay-memory:/net.relay"));
      await vscode.window.showTextDocument(document);
      await errorsAre(document, ["shape-mismatch at %w"]);
      assert.match(await hover(document, "%x"), /Tensor\[\(2, 3\), float32\]/);
      await replace(document, "(4, 5)", "(4, 3)");
      await errorsAre(document, []);
      const result = await vscode.commands.executeCommand("relay.run", { uri: document.uri.toString() });
      assert.deepEqual([result.status, result.drawn], ["done", ["x", "w"]], JSON.stringify(result));
      await vscode.commands.executeCommand("workbench.action.files.revert");
    } finally {
      files.dispose();
    }
  });

  it("fixes all findings of a kind at once", async () => {
    const stale = "/* ty=Tensor[(9), float32] */";
    const text = `${HEADER}def @main(%x: Tensor[(2), float32]) {\n  %0 = nn.relu(%x) ${stale};\n  %1 = nn.relu(%0) ${stale};\n  %1\n}\n`;
    const document = await untitled(text);
    const found = await until("stale comments", () => {
      const all = vscode.languages.getDiagnostics(document.uri);
      return all.length === 2 && all;
    });
    const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", document.uri, found[0].range, "quickfix", 10);
    const all = actions.find(({ title }) => title === "Fix all 2 problems of this kind");
    assert.ok(all?.edit, JSON.stringify(actions.map(({ title }) => title)));
    assert.ok(await vscode.workspace.applyEdit(all.edit));
    await until("no findings", () => vscode.languages.getDiagnostics(document.uri).length === 0);
    assert.equal(document.getText(), text.replaceAll("(9)", "(2)"));
  });

  it("cancels a long run", async () => {
    const text = `${HEADER}def @loop(%n: int32) -> int32 { @loop(%n + 1) }\ndef @main() -> int32 { @loop(0) }\n`;
    const document = await untitled(text);
    await errorsAre(document, []);
    const pending = vscode.commands.executeCommand("relay.run", { uri: document.uri.toString(), function: "@main" });
    // Long enough for the notification with its button.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await vscode.commands.executeCommand("relay.cancelRun");
    const result = await pending;
    assert.equal(result?.status, "cancelled", JSON.stringify(result));
  });

  it("asks for arguments, and stores them next to the files", async () => {
    const folder = vscode.workspace.workspaceFolders[0].uri;
    const uri = vscode.Uri.joinPath(folder, "asks.relay");
    const memory = vscode.Uri.joinPath(folder, ".relay/run.json");
    const first = "def @other(%n: int32) -> int32 { %n }\n";
    const rest = "def @main(%x: Tensor[(2, 2), float32], %n: int32, %l: List[int32]) {\n  (sum(%x), %n * 2, %l)\n}\n";
    fs.writeFileSync(uri.fsPath, HEADER + first + rest);
    const { showInputBox, showQuickPick } = vscode.window;
    const asked = [];
    let fields;
    /** Fills in the form: the label of a field and what is typed in it; then runs, unless the last one is undefined. */
    const answers = (...steps) => {
      vscode.window.showQuickPick = async (items) => {
        fields = items.map(({ label, description }) => [label, description]);
        const [label] = steps[0] ?? ["Run"];
        return steps.length > 0 && steps[0] === undefined ? undefined : items.find((item) => item.label.includes(label));
      };
      vscode.window.showInputBox = async (options) => {
        asked.push(options);
        return steps.shift()[1];
      };
    };
    const ask = () => vscode.commands.executeCommand("relay.runWith");
    const data = (result) => result.value.tuple.slice(0, 2).map((field) => field.data);
    try {
      const document = await vscode.workspace.openTextDocument(uri);
      const editor = await vscode.window.showTextDocument(document);
      await errorsAre(document, []);
      editor.selection = new vscode.Selection(3, 4, 3, 4);
      // Escape runs nothing and stores nothing.
      answers(undefined);
      assert.equal(await ask(), undefined);
      assert.deepEqual(fields, [
        ["$(play) Run @main", undefined],
        ["%x: Tensor[(2, 2), float32]", "random"],
        ["%n: int32", "random"],
        ["%l: List[int32]", "random"],
        ["Files of arrays", "none"],
        ["Seed of random arguments", "0"],
      ]);
      assert.ok(!fs.existsSync(memory.fsPath));
      answers(["%x", "[[1, 2], [3, 4]]"], ["%n", "21"], ["%l", "Cons(1, Nil)"], ["Seed", "3"]);
      const result = await ask();
      assert.match(asked[1].prompt, /^%n: int32: a number, or the path of a \.npy file/);
      assert.equal(result.status, "done", JSON.stringify(result));
      assert.deepEqual(data(result), [[10], [42]]);
      assert.deepEqual([result.function, result.drawn], ["@main", []]);
      const remembered = JSON.parse(fs.readFileSync(memory.fsPath, "utf8"));
      const main = { inputs: { l: "Cons(1, Nil)", n: 21, x: [[1, 2], [3, 4]] }, seed: 3 };
      assert.deepEqual(remembered, { "asks.relay": { "@main": main } });
      // A plain run uses them again.
      const again = await vscode.commands.executeCommand("relay.run");
      assert.deepEqual([data(again), again.drawn], [[[10], [42]], []]);
      // They are the values of the next form; an empty field is random again.
      answers(["%n", "1"], ["%x", ""]);
      assert.deepEqual((await ask()).drawn, ["x"]);
      assert.equal(asked.at(-1).value, "[[1,2],[3,4]]");
      assert.deepEqual(JSON.parse(fs.readFileSync(memory.fsPath, "utf8"))["asks.relay"]["@main"].inputs, { l: "Cons(1, Nil)", n: 1 });
      // The file is read again, as in every new session.
      const noted = { "asks.relay": { "@main": { inputs: { n: 5, l: "[7, 8]" }, archives: ["a.npz"], seed: 9 } } };
      fs.writeFileSync(memory.fsPath, JSON.stringify(noted));
      answers(undefined);
      assert.equal(await ask(), undefined);
      assert.deepEqual(fields.slice(2).map(([, value]) => value), ["5", "[7, 8]", "a.npz", "9"]);
      // The fields are those of the function at the cursor.
      editor.selection = new vscode.Selection(1, 6, 1, 6);
      answers(undefined);
      assert.equal(await ask(), undefined);
      assert.deepEqual(fields[0], ["$(play) Run @other", undefined]);
      editor.selection = new vscode.Selection(3, 4, 3, 4);
      fs.writeFileSync(memory.fsPath, JSON.stringify({ "asks.relay": { "@main": main } }));
      // Invalid arguments are reported and not stored.
      answers(["%n", "2.5"]);
      const wrong = await ask();
      assert.equal(wrong.error.code, "run-input", JSON.stringify(wrong));
      assert.match(wrong.text, /`%n` is of type int32: `2.5` is not a valid int32/);
      assert.equal(wrong.error.range.start.line, 2);
      assert.equal(JSON.parse(fs.readFileSync(memory.fsPath, "utf8"))["asks.relay"]["@main"].inputs.n, 21);
    } finally {
      Object.assign(vscode.window, { showInputBox, showQuickPick });
      fs.rmSync(uri.fsPath, { force: true });
      fs.rmSync(path.dirname(memory.fsPath), { force: true, recursive: true });
    }
  });

  it("stops an endless run", async () => {
    const loop = `${HEADER}def @main(%n: int32) -> int32 { @main(%n + 1) }\n`;
    const document = await untitled(loop);
    await errorsAre(document, []);
    await set("run.time", 0.5);
    try {
      // The server requests the setting a moment later: a run that began before has no limit.
      await until("a run that the limit ends", async () => {
        const run = vscode.commands.executeCommand("relay.run", { uri: document.uri.toString() });
        const limit = setTimeout(() => void vscode.commands.executeCommand("relay.cancelRun"), 5_000);
        const result = await run;
        clearTimeout(limit);
        return result.error?.code === "run-time";
      });
    } finally {
      await set("run.time", undefined);
    }
  });

  it("shows its version, and restarts", async () => {
    const version = await vscode.commands.executeCommand("relay.showServerVersion");
    assert.match(version, /^\d+\.\d+\.\d+/);
    const document = await untitled(BROKEN);
    await errorsAre(document, ["shape-mismatch at %w"]);
    await vscode.commands.executeCommand("relay.restartServer");
    await replace(document, "(4, 5)", "(4, 3)");
    await errorsAre(document, []);
  });

  it("makes an untitled document Relay that begins with a module", async () => {
    for (const begin of ["def @main() {", '#[version = "0.0.5"]']) {
      const document = await vscode.workspace.openTextDocument({ language: "plaintext", content: "" });
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, new vscode.Position(0, 0), `${begin}\n`);
      assert.ok(await vscode.workspace.applyEdit(edit));
      const languageOf = () => vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === document.uri.toString())?.languageId;
      await until(`the language of ${begin}`, () => languageOf() === "relay");
    }
  });

  it("offers to restart the server after repeated crashes", async () => {
    const good = settings().get("server.path");
    const script = path.join(vscode.workspace.workspaceFolders[0].uri.fsPath, "crashes.sh");
    fs.writeFileSync(script, `#!/bin/sh\ncase $1 in --version) exec '${good}' --version ;; esac\nexec timeout 3 '${good}' "$@"\n`, { mode: 0o755 });
    const { showErrorMessage } = vscode.window;
    const told = [];
    vscode.window.showErrorMessage = async (message, ...choices) => void told.push([message, choices]);
    try {
      await set("server.path", script);
      const [, choices] = await until("a message", () => told.find(([message]) => /crashed 5 times/.test(message)));
      assert.deepEqual(choices, ["Restart", "Show Log"]);
    } finally {
      vscode.window.showErrorMessage = showErrorMessage;
      await set("server.path", good);
      fs.rmSync(script);
    }
    const document = await untitled(FINE);
    await until("the server", async () => (await hover(document, "%w")).includes("Tensor[(4, 3), float32]"));
  });

  it("waits for a server, and starts it once it is available", async () => {
    const good = settings().get("server.path");
    try {
      await set("server.path", "/nowhere/relay-analyzer");
      await until("no server", async () => !(await vscode.commands.executeCommand("relay.showServerVersion")));
      // A program, but not a server.
      await set("server.path", process.execPath);
      await vscode.commands.executeCommand("relay.restartServer");
      assert.equal(await vscode.commands.executeCommand("relay.showServerVersion"), undefined);
    } finally {
      await set("server.path", good);
    }
    await until("a server", () => vscode.commands.executeCommand("relay.showServerVersion"));
    const document = await untitled(BROKEN);
    await errorsAre(document, ["shape-mismatch at %w"]);
  });
});
