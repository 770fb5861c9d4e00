// Packs the extension: for every platform without a server, or for one platform with the server in it. The
// platform `web` is a browser, and its server a module of WebAssembly, which `.ci/build-wasm` has built.
//
//   node scripts/package.mjs [-o FILE]
//   node scripts/package.mjs --target web [--server MODULE] [--max-bytes BYTES] [-o FILE]
//   node scripts/package.mjs --target linux-x64 [--server PROGRAM] [--max-bytes BYTES] [-o FILE]
//
// PROGRAM is what `cargo build --profile dist -p relay-analyzer` has built for that platform; without it,
// that of `target/RUST_TARGET/dist` or `release`, or of `target/dist` or `release` where that is for the
// platform. A package of more bytes than `--max-bytes` is refused.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, readSync, closeSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const extension = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const built = path.join(extension, "../../target");

/** What VS Code calls a platform, what Rust calls it, and what the programs for it begin with. */
const PLATFORMS = {
  "linux-x64": { rust: ["x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl"], kind: "ELF 62" },
  "linux-arm64": { rust: ["aarch64-unknown-linux-gnu", "aarch64-unknown-linux-musl"], kind: "ELF 183" },
  "linux-armhf": { rust: ["arm-unknown-linux-gnueabihf", "armv7-unknown-linux-gnueabihf"], kind: "ELF 40" },
  "alpine-x64": { rust: ["x86_64-unknown-linux-musl"], kind: "ELF 62" },
  "alpine-arm64": { rust: ["aarch64-unknown-linux-musl"], kind: "ELF 183" },
  "darwin-x64": { rust: ["x86_64-apple-darwin"], kind: "Mach-O 16777223" },
  "darwin-arm64": { rust: ["aarch64-apple-darwin"], kind: "Mach-O 16777228" },
  "win32-x64": { rust: ["x86_64-pc-windows-msvc", "x86_64-pc-windows-gnu"], kind: "PE 34404" },
  "win32-arm64": { rust: ["aarch64-pc-windows-msvc"], kind: "PE 43620" },
};

function fail(message) {
  console.error(`package: ${message}`);
  process.exit(1);
}

/** The format of a program and the machine that it is for. */
function kindOf(program) {
  const head = Buffer.alloc(4096);
  const file = openSync(program, "r");
  readSync(file, head, 0, head.length, 0);
  closeSync(file);
  if (head.readUInt32BE(0) === 0x7f454c46) {
    return `ELF ${head.readUInt16LE(18)}`;
  }
  if (head.readUInt32LE(0) === 0xfeedfacf) {
    return `Mach-O ${head.readUInt32LE(4)}`;
  }
  const pe = head.readUInt32LE(0x3c);
  if (head.toString("latin1", 0, 2) === "MZ" && pe + 6 <= head.length && head.toString("latin1", pe, pe + 2) === "PE") {
    return `PE ${head.readUInt16LE(pe + 4)}`;
  }
  return "no program";
}

/** The server for a platform: the one that is named, else one that cargo has built. */
function find(target, named) {
  const { rust, kind } = PLATFORMS[target];
  const name = target.startsWith("win32") ? "relay-analyzer.exe" : "relay-analyzer";
  const folders = [...rust.map((triple) => path.join(built, triple)), built];
  const profiles = ["dist", "release"];
  const places = named ? [named] : folders.flatMap((folder) => profiles.map((profile) => path.join(folder, profile, name)));
  const there = places.filter((place) => existsSync(place));
  if (there.length === 0) {
    fail(`there is no server for ${target}: looked for ${places.join(", ")}`);
  }
  const program = there.find((place) => kindOf(place) === kind);
  return program ?? fail(`${there.join(", ")} is not for ${target}: ${kindOf(there[0])} instead of ${kind}`);
}

/** A server of another version than the extension is a mistake; only that of this machine can be asked. */
function checkVersion(target, program) {
  if (target !== `${process.platform}-${process.arch}`) {
    return;
  }
  const said = execFileSync(program, ["--version"], { encoding: "utf8" }).trim();
  const { version } = JSON.parse(readFileSync(path.join(extension, "package.json"), "utf8"));
  if (said.split(/\s+/)[1] !== version) {
    fail(`${program} says “${said}”, and the extension is ${version}`);
  }
}

/** Where the pages have their pictures: vsce by itself looks for them at the top of the repository. */
function addresses() {
  const { repository } = JSON.parse(readFileSync(path.join(extension, "package.json"), "utf8"));
  const at = (what) => `${repository.url}/${what}/HEAD/${repository.directory}`;
  return ["--baseContentUrl", at("blob"), "--baseImagesUrl", at("raw")];
}

function vsce(args) {
  const require = createRequire(import.meta.url);
  const program = path.join(path.dirname(require.resolve("@vscode/vsce/package.json")), "vsce");
  execFileSync(process.execPath, [program, "package", "--no-dependencies", ...addresses(), ...args], { cwd: extension, stdio: "inherit" });
}

const { values } = parseArgs({
  options: { target: { type: "string" }, server: { type: "string" }, "max-bytes": { type: "string" }, out: { type: "string", short: "o" } },
});
const { target } = values;
/** The language server for browsers, in the package for them alone. */
const WASM = path.join(extension, "dist/web/relay.wasm");
rmSync(WASM, { force: true });
const folder = path.join(extension, "server");
const out = path.resolve(values.out ?? path.join(extension, target ? `relay-analyzer-${target}.vsix` : "relay-analyzer.vsix"));

if (target === undefined) {
  if (values.server !== undefined) {
    fail("a server is for one platform: say which with --target");
  }
  vsce(["-o", out]);
} else if (target === "web") {
  const module = path.resolve(values.server ?? path.join(built, "wasm32-unknown-unknown/web/relay_web.wasm"));
  if (!existsSync(module)) {
    fail(`there is no ${module}: .ci/build-wasm builds it`);
  }
  try {
    mkdirSync(path.dirname(WASM), { recursive: true });
    copyFileSync(module, WASM);
    vsce(["--target", target, "-o", out]);
  } finally {
    rmSync(WASM, { force: true });
  }
} else {
  if (!(target in PLATFORMS)) {
    fail(`there is no platform ${target}; there are web, ${Object.keys(PLATFORMS).join(", ")}`);
  }
  if (existsSync(folder)) {
    fail(`${folder} is in the way: the server for ${target} goes there`);
  }
  const program = find(target, values.server && path.resolve(values.server));
  checkVersion(target, program);
  const copy = path.join(folder, target.startsWith("win32") ? "relay-analyzer.exe" : "relay-analyzer");
  try {
    mkdirSync(folder);
    copyFileSync(program, copy);
    chmodSync(copy, 0o755);
    vsce(["--target", target, "-o", out]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { size } = statSync(out);
if (values["max-bytes"] !== undefined && size > Number(values["max-bytes"])) {
  rmSync(out);
  fail(`the package has ${size} bytes, and may have ${values["max-bytes"]}: is its server the one of the profile \`dist\`?`);
}
