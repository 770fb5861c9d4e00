// Text documents of modules saved by TVM, through the API of VS Code.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { run } = require("./modules.js");
const { until } = require("./until.js");

const CASES = path.join(__dirname, "../../../../analysis/saved/tests/cases.jsonl");
const { json: JSON_TEXT, text: TEXT } = fs
  .readFileSync(CASES, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line))
  .find(({ id }) => id === "float-attribute");

/** A tar archive with one file. */
function archive(name, text) {
  const bytes = Buffer.from(text);
  const header = Buffer.alloc(512);
  header.write(name);
  header.write("0000644", 100);
  header.write(bytes.length.toString(8).padStart(11, "0"), 124);
  header.write("        ", 148);
  header.write("0", 156);
  header.write("ustar", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0`, 148);
  return Buffer.concat([header, bytes, Buffer.alloc(1024 + ((512 - (bytes.length % 512)) % 512))]);
}

const trimmed = (document) => document.getText().trimEnd();

describe("modules saved by TVM", () => {
  let count = 0;
  let uri;
  let told;
  let answer;
  const { showInformationMessage, showErrorMessage } = vscode.window;

  beforeEach(() => {
    // VS Code caches files by name.
    uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, `saved ${++count}.json`);
    fs.writeFileSync(uri.fsPath, JSON_TEXT);
    told = [];
    answer = undefined;
    const note = async (...message) => {
      told.push(message);
      return answer;
    };
    vscode.window.showInformationMessage = note;
    vscode.window.showErrorMessage = note;
  });

  afterEach(async () => {
    Object.assign(vscode.window, { showInformationMessage, showErrorMessage });
    await run("workbench.action.closeAllEditors");
    fs.rmSync(uri.fsPath, { force: true });
  });

  it("are offered as text once, if a file begins like one", async () => {
    answer = "Open as Relay";
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document);
    const shown = await until("the text", () => {
      const { document } = vscode.window.activeTextEditor;
      return document.uri.scheme === "relay-saved" && document;
    });
    assert.deepEqual(told, [[`saved ${count}.json is a module that TVM saved.`, "Open as Relay"]]);
    assert.equal(shown.uri.path, `/saved ${count}.json.relay`);
    assert.equal(shown.languageId, "relay");
    assert.equal(trimmed(shown), TEXT.trimEnd());
    // It is offered only once, although changing the language creates another document.
    await vscode.languages.setTextDocumentLanguage(document, "plaintext");
    await vscode.languages.setTextDocumentLanguage(document, "json");
    assert.equal(told.length, 1);
  });

  it("are not offered for other JSON", async () => {
    fs.writeFileSync(uri.fsPath, '{ "root": 1, "nodes": [] }\n');
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
    // One that is opened after it is offered.
    const other = vscode.Uri.joinPath(uri, `../after ${count}.json`);
    fs.writeFileSync(other.fsPath, JSON_TEXT);
    try {
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(other));
      await until("the offer", () => told.length > 0);
      assert.deepEqual(told, [[`after ${count}.json is a module that TVM saved.`, "Open as Relay"]]);
    } finally {
      fs.rmSync(other.fsPath, { force: true });
    }
  });

  it("cannot be edited", async () => {
    await run("relay.openSaved", uri);
    const { document } = vscode.window.activeTextEditor;
    await run("type", { text: "x" });
    await run("deleteLeft");
    assert.equal(trimmed(document), TEXT.trimEnd());
    assert.equal(document.isDirty, false);
    assert.equal(fs.readFileSync(uri.fsPath, "utf8"), JSON_TEXT);
  });

  it("have types and findings", async () => {
    // The declared size of the result differs from that of the operator.
    const at = JSON_TEXT.lastIndexOf('"data":[9,16,11]');
    fs.writeFileSync(uri.fsPath, `${JSON_TEXT.slice(0, at)}"data":[9,9,11]${JSON_TEXT.slice(at + '"data":[9,16,11]'.length)}`);
    const shown = await run("relay.openSaved", uri);
    const { document } = vscode.window.activeTextEditor;
    assert.equal(document.uri.toString(), shown.toString());
    const [found] = await until("a finding", () => {
      const all = vscode.languages.getDiagnostics(shown);
      return all.length > 0 && all;
    });
    assert.equal(found.code?.value ?? found.code, "shape-mismatch");
    const place = document.positionAt(document.getText().indexOf("%x, size"));
    const hovers = await run("vscode.executeHoverProvider", shown, place);
    const text = hovers.flatMap(({ contents }) => contents.map(({ value }) => value)).join("\n");
    assert.match(text, /Tensor\[\(1, 4, 4\), float32\]/);
  });

  it("follow changes of the file on disk", async () => {
    const open = async (file) => {
      await run("relay.openSaved", file);
      return vscode.window.activeTextEditor.document;
    };
    const renamed = JSON_TEXT.replace('"repr_str":"x"', '"repr_str":"renamed"');
    const follows = (document) => until("the change", () => document.getText().includes("@main(%renamed:"));
    const other = vscode.Uri.joinPath(uri, `../after ${count}.json`);
    fs.writeFileSync(other.fsPath, JSON_TEXT);
    try {
      const [document, after] = [await open(uri), await open(other)];
      assert.match(document.getText(), /@main\(%x:/);
      // While the file is incomplete, the text stays, although one that changed after it is read again.
      fs.writeFileSync(uri.fsPath, JSON_TEXT.slice(0, 1000));
      fs.writeFileSync(other.fsPath, renamed);
      await follows(after);
      assert.equal(trimmed(document), TEXT.trimEnd());
      fs.writeFileSync(uri.fsPath, renamed);
      await follows(document);
    } finally {
      fs.rmSync(other.fsPath, { force: true });
    }
  });

  it("are read from archives", async () => {
    const tar = vscode.Uri.joinPath(uri, "../model [1].tar");
    fs.writeFileSync(tar.fsPath, archive("model.json", JSON_TEXT));
    try {
      await run("relay.openSaved", tar);
      const { document } = vscode.window.activeTextEditor;
      assert.equal(document.uri.path, "/model [1].tar.relay");
      assert.equal(trimmed(document), TEXT.trimEnd());
      fs.writeFileSync(tar.fsPath, archive("model.json", JSON_TEXT.replace('"repr_str":"x"', '"repr_str":"renamed"')));
      await until("the change", () => document.getText().includes("@main(%renamed:"));
    } finally {
      fs.rmSync(tar.fsPath);
    }
  });

  it("are opened from the active file", async () => {
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
    await run("relay.openSaved");
    assert.equal(trimmed(vscode.window.activeTextEditor.document), TEXT.trimEnd());
  });

  it("are rejected with the reason", async () => {
    fs.writeFileSync(uri.fsPath, "{}\n");
    assert.equal(await run("relay.openSaved", uri), undefined);
    assert.match(told[0][0], /^saved \d+\.json: .*not saved by TVM/);
  });
});
