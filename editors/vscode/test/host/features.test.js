// Requests that VS Code sends by itself, each through the API of VS Code.
"use strict";
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { run } = require("./modules.js");
const { until } = require("./until.js");

const MODULE = [
  '#[version = "0.0.5"]', // 0
  "type Box { Full(int32), Empty }",
  "def @half(%n: int32) -> int32 {",
  "  %n / 2",
  "}",
  "def @main(%x: Tensor[(2, 3), float32], %p: Tensor[(4, 3), float32], %b: Box) {", // 5
  "  let %y = nn.dense(%x, %p, units=4);",
  "  let %y = nn.relu(%y);",
  "  let %unused = @half(3);",
  "  %0 = nn.softmax(%y) /* ty=Tensor[(2, 4), float32] span=model.py:12 */;",
  "  let %c = (", // 10
  "    add(%0, 1f),",
  "    meta[relay.Constant][0]",
  "  );",
  "  let %k = 1;",
  "  let %l = 2;", // 15
  "  let %m = 3;",
  "  let %o = 4;",
  "  %b",
  "}",
  "#[metadata]", // 20
  "{",
  '  "root": 1',
  "}",
  "",
].join("\n");

const lines = (range) => [range.start.line, range.end.line];

describe("features", () => {
  let document;
  let editor;

  const at = (line, text, more = 0) => {
    const column = document.lineAt(line).text.indexOf(text);
    assert.ok(column >= 0, `${text} in line ${line}`);
    return new vscode.Position(line, column + more);
  };
  const text = (range) => document.getText(range);
  const whole = () => new vscode.Range(0, 0, document.lineCount, 0);

  before(async () => {
    document = await vscode.workspace.openTextDocument({ language: "relay", content: MODULE });
    editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    await until("an answer", async () => (await run("vscode.executeHoverProvider", document.uri, at(6, "%y", 1))).length > 0);
  });

  it("inlay hints, each of which can be switched off", async () => {
    const label = ({ label }) => (typeof label === "string" ? label : label.map((part) => part.value).join(""));
    const hints = async () => {
      const found = await run("vscode.executeInlayHintProvider", document.uri, whole());
      return found.map((hint) => `${hint.position.line}: ${label(hint).trim()}`);
    };
    const all = await hints();
    assert.ok(all.includes("6: : Tensor[(2, 4), float32]"), all.join("\n"));
    assert.ok(all.includes("6: weight:"), all.join("\n"));
    assert.ok(all.includes("19: @main"), all.join("\n"));
    const settings = () => vscode.workspace.getConfiguration("relay.inlayHints");
    const set = (name, value) => settings().update(name, value, vscode.ConfigurationTarget.Global);
    for (const [name, gone] of [
      ["types", /: : Tensor/],
      ["parameters", /: weight:/],
      ["blockEnds", /19: @main/],
    ]) {
      await set(name, false);
      try {
        const left = await until(`hints without ${name}`, async () => {
          const left = await hints();
          return left.some((hint) => gone.test(hint)) ? undefined : left;
        });
        assert.ok(left.length > 0 && left.length < all.length, `${name}: ${left.join("\n")}`);
      } finally {
        await set(name, undefined);
      }
      await until(`hints with ${name}`, async () => (await hints()).length === all.length);
    }
  });

  it("semantic tokens with modifiers", async () => {
    const legend = await run("vscode.provideDocumentSemanticTokensLegend", document.uri);
    const { data } = await run("vscode.provideDocumentSemanticTokens", document.uri);
    const words = new Map();
    let line = 0;
    let column = 0;
    for (let i = 0; i < data.length; i += 5) {
      line += data[i];
      column = data[i] === 0 ? column + data[i + 1] : data[i + 1];
      const word = text(new vscode.Range(line, column, line, column + data[i + 2]));
      const modifiers = legend.tokenModifiers.filter((_, bit) => data[i + 4] & (1 << bit));
      words.set(`${line} ${word}`, [legend.tokenTypes[data[i + 3]], ...modifiers].join(" "));
    }
    const shown = JSON.stringify([...words]);
    assert.match(words.get("6 %y") ?? "", /^variable .*shadowed/, shown);
    assert.match(words.get("8 %unused") ?? "", /^variable .*unused/, shown);
    assert.match(words.get("8 @half") ?? "", /^function/, shown);
    assert.match(words.get("5 %x") ?? "", /^parameter .*(?:declaration|definition)/, shown);
    assert.match(words.get("1 Full") ?? "", /^enumMember .*(?:declaration|definition)/, shown);
  });

  it("highlights", async () => {
    const found = await run("vscode.executeDocumentHighlights", document.uri, at(2, "%n", 1));
    assert.deepEqual(found.map((one) => [one.range.start.line, text(one.range)]), [[2, "%n"], [3, "%n"]]);
    assert.deepEqual(found.map((one) => one.kind), [vscode.DocumentHighlightKind.Write, vscode.DocumentHighlightKind.Read]);
  });

  it("folds", async () => {
    const found = await run("vscode.executeFoldingRangeProvider", document.uri);
    const folds = found.map((fold) => `${fold.start}-${fold.end}`);
    for (const wanted of ["2-3", "5-18", "10-12"]) {
      assert.ok(folds.includes(wanted), `${wanted} in ${folds.join(" ")}`);
    }
    assert.ok(found.some((fold) => fold.start === 20), folds.join(" "));
  });

  it("expands selections", async () => {
    const [found] = await run("vscode.executeSelectionRangeProvider", document.uri, [at(6, "%x", 1)]);
    const texts = [];
    for (let one = found; one !== undefined; one = one.parent) {
      texts.push(text(one.range));
    }
    const wanted = ["%x", "nn.dense(%x, %p, units=4)", "let %y = nn.dense(%x, %p, units=4);"];
    assert.deepEqual(wanted.filter((one) => !texts.includes(one)), [], JSON.stringify(texts.slice(0, 6)));
  });

  it("outlines with types", async () => {
    const found = await run("vscode.executeDocumentSymbolProvider", document.uri);
    assert.deepEqual(found.map((one) => one.name), ["Box", "@half", "@main", "#[metadata]"]);
    assert.deepEqual(found[0].children.map((one) => [one.name, one.detail]), [["Full", "(int32)"], ["Empty", ""]]);
    assert.equal(found[1].detail, "1 parameter → int32");
  });

  it("links", async () => {
    const found = await run("vscode.executeLinkProvider", document.uri, 100);
    const link = found.find((one) => text(one.range).startsWith("meta[relay.Constant]"));
    assert.ok(link, JSON.stringify(found.map((one) => text(one.range))));
    assert.equal(link.target.fragment, "L21");
  });

  it("shows call hierarchies", async () => {
    const [item] = await run("vscode.prepareCallHierarchy", document.uri, at(2, "@half", 1));
    assert.equal(item.name, "@half");
    const incoming = await run("vscode.provideIncomingCalls", item);
    assert.deepEqual(incoming.map((call) => [call.from.name, lines(call.fromRanges[0])]), [["@main", [8, 8]]]);
    const outgoing = await run("vscode.provideOutgoingCalls", incoming[0].from);
    assert.ok(outgoing.some((call) => call.to.name === "@half"));
  });

  it("goes to the definition of a type", async () => {
    const found = await run("vscode.executeTypeDefinitionProvider", document.uri, at(18, "%b", 1));
    assert.deepEqual(found.map((one) => text(one.targetSelectionRange ?? one.targetRange ?? one.range)), ["Box"]);
  });

  it("shows lenses", async () => {
    const found = await run("vscode.executeCodeLensProvider", document.uri, 100);
    const titles = found.map((lens) => `${lens.range.start.line}: ${lens.command?.title}`);
    assert.ok(titles.includes("2: 1 reference"), titles.join("\n"));
    assert.ok(titles.includes("2: ▶ Run"), titles.join("\n"));
    assert.ok(titles.some((title) => /^5: .*parameters, .*MACs$/.test(title)), titles.join("\n"));
  });

  it("formats on typing", async () => {
    const other = await vscode.workspace.openTextDocument({ language: "relay", content: "def @f(%x: int32) {\nlet %y=add(%x,%x);\n%y\n}\n" });
    const found = await run("vscode.executeFormatOnTypeProvider", other.uri, new vscode.Position(1, 18), ";", { tabSize: 2, insertSpaces: true });
    const edit = new vscode.WorkspaceEdit();
    edit.set(other.uri, found ?? []);
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.equal(other.lineAt(1).text, "  let %y = add(%x, %x);");
  });

  it("edits all occurrences of a name", async () => {
    const settings = vscode.workspace.getConfiguration("editor", { languageId: "relay" });
    await settings.update("linkedEditing", true, vscode.ConfigurationTarget.Global);
    try {
      const other = await vscode.workspace.openTextDocument({ language: "relay", content: "def @f(%abc: int32) {\n  add(%abc, %abc)\n}\n" });
      const shown = await vscode.window.showTextDocument(other, vscode.ViewColumn.One);
      await until("a server", async () => (await run("vscode.executeHoverProvider", other.uri, new vscode.Position(0, 9))).length > 0);
      let letters = 0;
      await until("linked names", async () => {
        // The ranges are requested when the cursor rests.
        shown.selection = new vscode.Selection(0, 9, 0, 9);
        await new Promise((resolve) => setTimeout(resolve, 400 * (letters + 1)));
        await run("type", { text: "q" });
        letters += 1;
        await new Promise((resolve) => setTimeout(resolve, 100 * letters));
        const name = /@f\((%\w+)/.exec(other.getText())[1];
        return other.getText().split(name).length === 4;
      });
      assert.ok(letters >= 1);
    } finally {
      await settings.update("linkedEditing", undefined, vscode.ConfigurationTarget.Global);
      editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    }
  });

  it("completes with entries of the server only", async () => {
    const labels = async (content, line, column) => {
      const other = await vscode.workspace.openTextDocument({ language: "relay", content });
      await vscode.window.showTextDocument(other, vscode.ViewColumn.One);
      const place = new vscode.Position(line, column);
      const { items } = await until("completions", async () => {
        const found = await run("vscode.executeCompletionItemProvider", other.uri, place);
        return found.items.length > 0 && found;
      });
      return items.map(({ label }) => (typeof label === "string" ? label : label.label));
    };
    try {
      // Words of the text, such as `%0`, are not offered.
      assert.deepEqual(await labels("#[]\ndef @main(%x: int32) {\n  %0 = %x;\n  %0\n}\n", 0, 2), ['#[version = "0.0.5"]']);
      const items = await labels("d\n", 0, 1);
      assert.equal(items.filter((label) => label === "def").length, 1, items.join(" "));
      const types = await labels("def @main(%x: T) {\n  %x\n}\n", 0, 15);
      assert.equal(types.filter((label) => label === "Tensor").length, 1, types.join(" "));
    } finally {
      editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    }
  });

  it("offers actions", async () => {
    const found = await run("vscode.executeCodeActionProvider", document.uri, new vscode.Range(at(6, "%y", 1), at(6, "%y", 1)));
    const titles = found.map((action) => action.title);
    assert.ok(titles.length > 2, titles.join("\n"));
    assert.ok(titles.some((title) => /type/.test(title)), titles.join("\n"));
  });
});
