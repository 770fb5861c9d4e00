// Shared by the tests of the extension: a module, the same one after a change, and commands.
"use strict";
const vscode = require("vscode");

exports.A = [
  '#[version = "0.0.5"]',
  "def @main(%x: Tensor[(2, 4), float32]) {",
  "  %0 = tanh(%x);",
  "  %1 = nn.softmax(%0, axis=1);",
  "  add(%1, %0)",
  "}",
  "",
].join("\n");
/** `A` with another axis and an additional call. */
exports.B = exports.A.replace("axis=1", "axis=0").replace("add(%1, %0)", "add(%1, exp(%0))");

exports.run = (command, ...given) => vscode.commands.executeCommand(command, ...given);
