// Comparing two modules, through the API of VS Code.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const vscode = require("vscode");
const { A, B, run } = require("./modules.js");
const { until } = require("./until.js");

/** `A` with other names and `let`. */
const RENAMED = A.replaceAll("%0", "%a").replaceAll("%1", "%b").replaceAll("%a =", "let %a =").replaceAll("%b =", "let %b =");
const label = (item) => item.label.replace(/^\$\([\w-]+\) /, "");

/** Calls a function, answering each quick pick with the item of the next label. */
async function answering(labels, act) {
  const { showQuickPick } = vscode.window;
  const asked = [];
  vscode.window.showQuickPick = async (items) => {
    const given = await items;
    asked.push(given.map(label));
    const wanted = labels.shift();
    const found = given.find((item) => label(item) === wanted);
    assert.ok(found, `${wanted} of ${given.map(label)}`);
    return found;
  };
  try {
    return [await act(), asked];
  } finally {
    vscode.window.showQuickPick = showQuickPick;
  }
}

/** The messages during a call. */
async function told(act) {
  const { showInformationMessage } = vscode.window;
  const messages = [];
  vscode.window.showInformationMessage = async (message) => void messages.push(message);
  try {
    return [await act(), messages];
  } finally {
    vscode.window.showInformationMessage = showInformationMessage;
  }
}

async function replace(document, from, to) {
  const at = document.getText().indexOf(from);
  assert.ok(at >= 0, from);
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(document.positionAt(at), document.positionAt(at + from.length)), to);
  assert.ok(await vscode.workspace.applyEdit(edit));
}

/** The editors of both sides, by column. */
function columns() {
  return [vscode.ViewColumn.One, vscode.ViewColumn.Two].map((column) => vscode.window.visibleTextEditors.find(({ viewColumn }) => viewColumn === column));
}

describe("comparison", () => {
  const made = [];

  function file(name, text) {
    const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, name);
    fs.writeFileSync(uri.fsPath, text);
    made.push(uri.fsPath);
    return uri;
  }

  afterEach(async () => {
    await run("relay.endComparison");
    await run("workbench.action.revertAndCloseActiveEditor");
    await run("workbench.action.closeAllEditors");
    made.splice(0).forEach((path) => fs.rmSync(path));
  });

  it("shows two files side by side, and jumps from change to change", async () => {
    const uris = [file("one.relay", A), file("two.relay", B)];
    const shown = await run("relay.compareSelected", uris[1], uris);
    assert.deepEqual([shown.equal, shown.stops], [false, 2]);
    const [before, after] = columns();
    assert.deepEqual([before.document.uri.toString(), after.document.uri.toString()], uris.map(String));
    assert.equal(vscode.window.activeTextEditor, after);
    // The cursor is on the first change.
    assert.equal(after.selection.active.line, 3);
    const places = [];
    for (const direction of ["next", "next", "previous"]) {
      const stop = await run(`relay.${direction}Change`);
      places.push([stop.kind, stop.after.start.line, after.document.getText(stop.after)]);
    }
    const softmax = ["changed", 3, "nn.softmax(%0, axis=0)"];
    assert.deepEqual(places, [["added", 4, "exp(%0)"], softmax, ["added", 4, "exp(%0)"]]);
    // From the other side, an insertion is shown where it would be.
    await vscode.window.showTextDocument(before.document, { viewColumn: vscode.ViewColumn.One });
    const stop = await run("relay.nextChange");
    assert.equal(vscode.window.activeTextEditor.document, before.document);
    assert.deepEqual([stop.kind, stop.before.start.line], ["changed", 3]);
  });

  it("finds no changes between structurally equal files", async () => {
    const uris = [file("one.relay", A), file("renamed.relay", RENAMED)];
    const [shown, messages] = await told(() => run("relay.compareSelected", uris[0], uris));
    assert.deepEqual(shown, { equal: true, headline: "equal in structure", stops: 0 });
    assert.deepEqual(messages, ["one.relay and renamed.relay are equal in structure."]);
  });

  it("runs both sides, and jumps from divergence to divergence", async () => {
    const wrong = A.replace("tanh(%x)", "exp(%x)");
    const uris = [file("right.relay", A), file("wrong.relay", wrong)];
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uris[1]));
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uris[0]), { viewColumn: vscode.ViewColumn.Two });
    const [shown] = await answering(["right.relay", "Run and Compare @main"], () => run("relay.runAndCompare", uris[1]));
    const { values } = shown;
    assert.deepEqual([values.equal, values.divergences], [false, 1]);
    assert.match(values.summary, /^first divergence: `exp` in line 3; the modules differ; results: /);
    const words = (notes) => notes.map((note) => note.split(" ")[0]);
    assert.deepEqual([words(values.notes.before), words(values.notes.after)], [["diverges", "inherits", "inherits"], ["diverges", "inherits", "inherits"]]);
    const [before, after] = columns();
    assert.equal(after.selection.active.line, 2);
    after.selection = new vscode.Selection(4, 0, 4, 0);
    assert.equal(await run("relay.previousDivergence"), "exp");
    assert.equal(after.document.getText(new vscode.Range(after.selection.active, after.selection.active.translate(0, 3))), "exp");
    // On the other side, too.
    await vscode.window.showTextDocument(before.document, { viewColumn: vscode.ViewColumn.One });
    assert.equal(await run("relay.nextDivergence"), "exp");
    assert.equal(vscode.window.activeTextEditor.selection.active.line, 2);
    // An edit drops the values; what is right then agrees.
    await replace(after.document, "exp(%x)", "tanh(%x)");
    const [, dropped] = await told(() => run("relay.nextDivergence"));
    assert.deepEqual(dropped, ["The modules were not run: run Relay: Run Both Sides first."]);
    const [again, messages] = await told(() => run("relay.runComparison"));
    assert.deepEqual([again.equal, again.notes], [true, { before: [], after: [] }]);
    assert.deepEqual(messages, ["relay-analyzer: the results agree (3 pairs of calls compared); `%x` is random (seed 0)"]);
  });

  it("runs both sides on the arguments of a form", async () => {
    // They agree on positive numbers.
    const wrong = A.replace("tanh(%x)", "abs(%x)");
    const uris = [file("relu.relay", A.replace("tanh(%x)", "nn.relu(%x)")), file("abs.relay", wrong)];
    for (const [at, uri] of uris.entries()) {
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { viewColumn: at + 1 });
    }
    const { showInputBox } = vscode.window;
    const asked = [];
    const typing = async (text, act) => {
      vscode.window.showInputBox = async ({ title, prompt }) => (asked.push([title, prompt.split(":")[0]]), text);
      try {
        return await told(act);
      } finally {
        vscode.window.showInputBox = showInputBox;
      }
    };
    const field = "%x: Tensor[(2, 4), float32]";
    const form = ["relu.relay", field, "Run and Compare @main"];
    const compare = () => answering(form, () => run("relay.runAndCompare", uris[1]));
    const [[shown, lists], messages] = await typing("[[1, 2, 3, 4], [5, 6, 7, 8]]", compare);
    assert.deepEqual(asked, [["Run and Compare @main With…", "%x"]]);
    assert.deepEqual(lists[1], ["Run and Compare @main", field, "Files of arrays", "Seed of random arguments"]);
    assert.equal(shown.values.equal, true);
    assert.deepEqual(messages, ["relay-analyzer: the results agree (3 pairs of calls compared)"]);
    // They are those of the comparison, and are not remembered beyond it.
    const [again] = await told(() => run("relay.runComparison"));
    assert.equal(again.equal, true);
    await run("relay.endComparison");
    const left = async () => {
      const { showQuickPick } = vscode.window;
      let lists = 0;
      vscode.window.showQuickPick = async (items) => (lists++ === 0 ? (await items).find((item) => label(item) === "relu.relay") : undefined);
      try {
        return await run("relay.runAndCompare", uris[1]);
      } finally {
        vscode.window.showQuickPick = showQuickPick;
      }
    };
    // Escape runs nothing.
    const compared = await left();
    assert.deepEqual([compared.equal, compared.values], [false, undefined]);
    const [drawn] = await told(() => run("relay.runComparison"));
    assert.equal(drawn.equal, false);
  });

  it("asks for the function to run if there are several and no @main", async () => {
    const both = (call) => `${A.replace("@main", "@f")}${A.replace("@main", "@g").replace('#[version = "0.0.5"]\n', "").replace("tanh(%x)", call)}`;
    const uris = [file("several.relay", both("tanh(%x)")), file("others.relay", both("exp(%x)"))];
    await run("relay.compareSelected", uris[0], uris);
    const [same] = await told(() => answering(["@f"], () => run("relay.runComparison")));
    assert.deepEqual([same[0].equal, same[1]], [true, [["@f", "@g"]]]);
    const [other] = await answering(["@g"], () => run("relay.runComparison"));
    assert.deepEqual([other.equal, other.divergences], [false, 1]);
  });

  it("says why two modules cannot be run on the same arguments", async () => {
    const uris = [file("one.relay", A), file("other.relay", A.replaceAll("%x", "%y").replace("float32]) {", "float32], %z: int32) {"))];
    await run("relay.compareSelected", uris[0], uris);
    const { showErrorMessage } = vscode.window;
    const messages = [];
    vscode.window.showErrorMessage = async (message) => void messages.push(message);
    try {
      assert.equal(await run("relay.runComparison"), undefined);
    } finally {
      vscode.window.showErrorMessage = showErrorMessage;
    }
    assert.match(messages.join(), /the functions have different parameters: only the second one has `%y`, `%z`/);
  });

  it("scrolls both sides together", async () => {
    const chain = (first, count) =>
      Array.from({ length: count }, (_, at) => `  %${at} = ${at < first ? "exp" : at % 2 === 0 ? "tanh" : "sigmoid"}(%${at === 0 ? "x" : at - 1});`).join("\n");
    const module = (first, count) =>
      `#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 4), float32]) {\n${chain(first, count)}\n  nn.relu(%${count - 1})\n}\n`;
    const uris = [file("short.relay", module(0, 300)), file("long.relay", module(100, 400))];
    const shown = await run("relay.compareSelected", uris[0], uris);
    assert.equal(shown.headline, "100 expressions added; nothing else changed");
    const [before, after] = columns();
    after.revealRange(new vscode.Range(252, 0, 252, 0), vscode.TextEditorRevealType.AtTop);
    const tops = () => [before, after].map(({ visibleRanges }) => visibleRanges[0].start.line);
    await until("the same place", () => {
      const [short, long] = tops();
      return long > 200 && Math.abs(long - 100 - short) <= 2;
    }).catch((error) => {
      throw new Error(`${error.message}: the tops are ${tops()}`);
    });
  });

  it("follows edits against the saved state, and ends with a side", async () => {
    const uri = file("edited.relay", A);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document);
    const [shown, [bases]] = await answering(["Saved state"], () => run("relay.compareWith"));
    assert.ok(shown.equal);
    assert.deepEqual(bases.filter((base) => base !== "Git HEAD"), ["Choose a File…", "Saved state", "Clipboard"]);
    const [before] = columns();
    assert.equal(before.document.uri.scheme, "relay-text");
    assert.equal(before.document.languageId, "relay");
    assert.equal(before.document.getText(), A);
    await replace(document, "axis=1", "axis=0");
    const changed = await until("the change", async () => (await told(() => run("relay.nextChange")))[0]);
    assert.equal(changed.kind, "changed");
    // The saved text becomes the base.
    await document.save();
    await until("the new base", () => before.document.getText() === document.getText());
    await until("no change", async () => (await told(() => run("relay.nextChange")))[1][0] === "There are no changes.");
    await run("workbench.action.closeActiveEditor");
    await until("the end", async () => (await told(() => run("relay.nextChange")))[1][0]?.startsWith("There is no comparison"));
  });

  it("links the places of the report to both sides", async () => {
    const uris = [file("one.relay", A), file("two.relay", B)];
    await run("relay.compareSelected", uris[0], uris);
    await run("relay.comparisonReport");
    const report = vscode.window.activeTextEditor.document;
    const links = await until("the links", async () => {
      const found = await run("vscode.executeLinkProvider", report.uri);
      return found.length > 0 && found;
    });
    const texts = links.map(({ range }) => report.getText(range));
    assert.deepEqual(texts, ["4:8", "4:8", "5:11"]);
    const follow = async ({ target }) => {
      await run(target.path, ...JSON.parse(target.query));
      const [before, after] = columns();
      return [before, after].map(({ selection }) => [selection.active.line, selection.active.character]);
    };
    assert.deepEqual(await follow(links[0]), [[3, 7], [3, 7]]);
    assert.equal((await follow(links[2]))[1].join(), "4,10");
    assert.equal(vscode.window.activeTextEditor.document.uri.toString(), uris[1].toString());
  });

  it("aligns copies of both sides", async () => {
    const longer = A.replace("  %1 =", "  // Two\n  // lines.\n  %1 =").replace("axis=1", "axis=0");
    const uris = [file("one.relay", A), file("commented.relay", longer)];
    await run("relay.compareSelected", uris[0], uris);
    const shown = await run("relay.alignedComparison");
    assert.deepEqual([shown.equal, shown.stops], [false, 1]);
    const [before, after] = columns().map(({ document }) => document);
    assert.deepEqual([before, after].map(({ uri }) => uri.path), ["/one.relay (aligned).relay", "/commented.relay (aligned).relay"]);
    assert.equal(after.getText(), longer);
    assert.equal(before.getText(), A.replace("  %1 =", "\n\n  %1 ="));
    const softmax = [before, after].map((document) => document.getText().split("\n").findIndex((text) => text.includes("softmax")));
    assert.deepEqual(softmax, [5, 5]);
    const [again, [message]] = await told(() => run("relay.alignedComparison"));
    assert.deepEqual([again, message], [undefined, "This comparison is aligned already."]);
  });

  it("offers the other open editors first", async () => {
    const uris = [file("one.relay", A), file("two.relay", B), file("notes.txt", "notes\n")];
    const untitled = await vscode.workspace.openTextDocument({ language: "relay", content: RENAMED });
    for (const uri of [uris[2], uris[0], untitled.uri, uris[1]]) {
      await vscode.window.showTextDocument(uri, { preview: false });
    }
    const name = untitled.uri.path;
    const [shown, [bases]] = await answering([name], () => run("relay.compareWith"));
    assert.deepEqual(bases.slice(0, 3), ["one.relay", name, "Choose a File…"]);
    assert.deepEqual([shown.equal, shown.stops], [false, 2]);
    assert.equal(columns()[0].document, untitled);
    // It is the active editor that is reverted.
    await vscode.window.showTextDocument(untitled, { viewColumn: vscode.ViewColumn.One });
  });

  it("compares the valid parts of files with syntax errors", async () => {
    const uris = [file("one.relay", A), file("broken.relay", `${B}def @more( {\n`)];
    const shown = await run("relay.compareSelected", uris[0], uris);
    assert.ok(!shown.equal && shown.stops >= 2, JSON.stringify(shown));
    await run("relay.comparisonReport");
    const report = vscode.window.activeTextEditor.document;
    await until("the report", () => /^`one\.relay` → `broken\.relay`: .*\n/.test(report.getText()));
  });

  it("compares with the clipboard, which may not be a module", async () => {
    const uri = file("one.relay", A);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
    await vscode.env.clipboard.writeText(B);
    const [shown] = await answering(["Clipboard"], () => run("relay.compareWith"));
    assert.deepEqual([shown.equal, shown.stops], [false, 2]);
    assert.equal(columns()[0].document.getText(), B);
    await vscode.env.clipboard.writeText("  ");
    await vscode.window.showTextDocument(columns()[1].document);
    const { showWarningMessage } = vscode.window;
    const warnings = [];
    vscode.window.showWarningMessage = async (message) => void warnings.push(message);
    try {
      assert.equal((await answering(["Clipboard"], () => run("relay.compareWith")))[0], undefined);
    } finally {
      vscode.window.showWarningMessage = showWarningMessage;
    }
    assert.deepEqual(warnings, ["There is no text in the clipboard."]);
  });
});
