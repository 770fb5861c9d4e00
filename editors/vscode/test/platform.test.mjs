// The package for a platform contains a server and can run it.
//
// RELAY_TEST_SERVER: a server for Linux on x86-64
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const extension = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const server = process.env.RELAY_TEST_SERVER;
const folder = mkdtempSync(path.join(tmpdir(), "relay-package-"));
const vsix = path.join(folder, "relay.vsix");

const pack = (...args) => {
  const ran = spawnSync(process.execPath, [path.join(extension, "scripts/package.mjs"), ...args], { encoding: "utf8" });
  return { status: ran.status, said: ran.stdout + ran.stderr };
};

/** The files of a package: name, mode and a function for the contents. */
async function entries(file) {
  const require = createRequire(createRequire(import.meta.url).resolve("@vscode/vsce/package.json"));
  const yauzl = require("yauzl");
  const zip = await new Promise((resolve, reject) => {
    yauzl.open(file, { autoClose: false, lazyEntries: false }, (error, zip) => (error ? reject(error) : resolve(zip)));
  });
  const found = new Map();
  zip.on("entry", (entry) => found.set(entry.fileName, entry));
  await new Promise((resolve) => zip.on("end", resolve));
  const read = (name) =>
    new Promise((resolve, reject) => {
      zip.openReadStream(found.get(name), (error, stream) => {
        const parts = [];
        stream?.on("data", (part) => parts.push(part)).on("end", () => resolve(Buffer.concat(parts)));
        if (error) {
          reject(error);
        }
      });
    });
  return { found, read, close: () => zip.close() };
}

before(() => assert.ok(server && existsSync(server), "set RELAY_TEST_SERVER"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("a package for linux-x64 contains the server, which runs", async () => {
  const { status, said } = pack("--target", "linux-x64", "--server", server, "-o", vsix);
  assert.equal(status, 0, said);
  assert.ok(!existsSync(path.join(extension, "server")), "nothing is left behind");
  const { found, read, close } = await entries(vsix);
  const names = [...found.keys()];
  for (const name of ["package.json", "dist/extension.js", "media/type.js", "media/shapes.js", "syntaxes/relay.tmLanguage.json", "server/relay-analyzer"]) {
    assert.ok(names.includes(`extension/${name}`), `${name} is not in ${names.join(" ")}`);
  }
  assert.deepEqual(names.filter((name) => /node_modules|\.ts$|\/test\/|\/scripts\//.test(name)), []);
  assert.match(String(await read("extension.vsixmanifest")), /TargetPlatform="linux-x64"/);
  const program = found.get("extension/server/relay-analyzer");
  assert.equal((program.externalFileAttributes >>> 16) & 0o111, 0o111, "it may be executed");
  const copy = path.join(folder, "relay-analyzer");
  writeFileSync(copy, await read("extension/server/relay-analyzer"));
  chmodSync(copy, 0o755);
  const { version } = JSON.parse(readFileSync(path.join(extension, "package.json"), "utf8"));
  assert.equal(execFileSync(copy, ["--version"], { encoding: "utf8" }).split(/\s+/)[1], version);
  close();
});

test("pictures of the README are in the repository, those of the walkthrough in the package", async () => {
  const { found, read, close } = await entries(vsix);
  const names = [...found.keys()];
  assert.ok(names.includes("extension/media/walkthrough/errors.png"), names.join(" "));
  assert.deepEqual(names.filter((name) => name.endsWith(".gif")), []);
  const addresses = [...String(await read("extension/readme.md")).matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, address]) => address);
  assert.ok(addresses.length >= 4, addresses.join(" "));
  for (const address of addresses) {
    const [, file] = /^https:\/\/github\.com\/.+\/raw\/HEAD\/(editors\/vscode\/.+)$/.exec(address);
    assert.ok(existsSync(path.join(extension, "../..", file)), address);
  }
  close();
});

test("a package that is too large is rejected", () => {
  const { size } = statSync(vsix);
  const out = path.join(folder, "large.vsix");
  const { status, said } = pack("--target", "linux-x64", "--server", server, "--max-bytes", String(size - 1_000), "-o", out);
  assert.equal(status, 1, said);
  assert.match(said, /the package has \d+ bytes, and may have \d+/);
  assert.ok(!existsSync(out));
});

test("a server for another platform is rejected", () => {
  const script = path.join(folder, "script");
  writeFileSync(script, "#!/bin/sh\n");
  const refused = (args, reason) => {
    const { status, said } = pack(...args, "-o", path.join(folder, "none.vsix"));
    assert.equal(status, 1, said);
    assert.match(said, reason);
    assert.ok(!existsSync(path.join(extension, "server")));
  };
  refused(["--target", "darwin-arm64", "--server", server], /is not for darwin-arm64: ELF 62 instead of Mach-O/);
  refused(["--target", "linux-x64", "--server", script], /no program instead of ELF 62/);
  refused(["--target", "linux-x64", "--server", "/nowhere"], /there is no server for linux-x64/);
  refused(["--target", "toaster"], /there is no platform toaster/);
  refused(["--server", server], /say which with --target/);
});
