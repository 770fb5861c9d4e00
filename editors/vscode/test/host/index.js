// The entry point of the tests in VS Code's extension host.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

exports.run = () =>
  new Promise((resolve, reject) => {
    const module_ = require("mocha");
    const Mocha = module_.default ?? module_;
    const mocha = new Mocha({ ui: "bdd", timeout: 90_000, color: false });
    for (const file of fs.readdirSync(__dirname)) {
      if (file.endsWith(".test.js")) {
        mocha.addFile(path.join(__dirname, file));
      }
    }
    mocha.run((failures) => (failures ? reject(new Error(`${failures} failed`)) : resolve()));
  });
