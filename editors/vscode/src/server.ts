// Finds the program of the language server, and checks that it runs.

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";

import * as vscode from "vscode";

const PROGRAM = process.platform === "win32" ? "relay-analyzer.exe" : "relay-analyzer";

/** The timeout of `--version`, in milliseconds. */
const PATIENCE = 10_000;

/** A program that responds, or the reason that there is none. */
export type Server =
  | { readonly program: string; readonly version: string }
  | { readonly problem: string };

/** The settings of the server. */
export interface ServerSettings {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export function serverSettings(): ServerSettings {
  const settings = vscode.workspace.getConfiguration("relay.server");
  return {
    path: settings.get<string>("path", "").trim(),
    args: settings.get<string[]>("args", []),
    env: settings.get<Record<string, string>>("env", {}),
  };
}

/**
 * Returns the program that the settings name, by default the bundled program or the one on `PATH`. It runs
 * once for its version, to detect an invalid program early.
 */
export async function findServer(
  extension: vscode.Uri,
  settings: ServerSettings,
): Promise<Server> {
  if (settings.path !== "") {
    const program = expand(settings.path);
    const server = await ask(program, settings.env);
    if ("problem" in server) {
      return { problem: `The setting relay.server.path names ${program}, but ${server.problem}.` };
    }
    return server;
  }
  const bundled = vscode.Uri.joinPath(extension, "server", PROGRAM).fsPath;
  if (await isFile(bundled)) {
    const server = await ask(bundled, settings.env);
    if ("problem" in server) {
      return { problem: `The bundled server does not run: ${server.problem}.` };
    }
    return server;
  }
  for (const folder of searchPath(settings.env)) {
    const program = path.join(folder, PROGRAM);
    if (await isExecutable(program)) {
      const server = await ask(program, settings.env);
      if ("problem" in server) {
        return { problem: `${program} does not run: ${server.problem}.` };
      }
      return server;
    }
  }
  return { problem: "The program relay-analyzer is not on PATH." };
}

/** `~/bin/relay-analyzer`, `${workspaceFolder}/target/release/relay-analyzer`, `${env:HOME}/…`. */
function expand(setting: string): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  return setting
    .replace(/^~(?=$|[/\\])/, () => os.homedir())
    .replaceAll("${workspaceFolder}", folder)
    .replaceAll("${userHome}", os.homedir())
    .replace(/\$\{env:(\w+)\}/g, (_, name: string) => process.env[name] ?? "");
}

function searchPath(env: Readonly<Record<string, string>>): string[] {
  const all = env["PATH"] ?? process.env["PATH"] ?? "";
  return all.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
}

async function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function isExecutable(file: string): Promise<boolean> {
  const runs = await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
  return runs && (await isFile(file));
}

/** Runs `relay-analyzer --version` in a folder outside of the workspace. */
function ask(program: string, env: Readonly<Record<string, string>>): Promise<Server> {
  const options = {
    timeout: PATIENCE,
    windowsHide: true,
    cwd: os.tmpdir(),
    env: { ...process.env, ...env },
  };
  return new Promise((resolve) => {
    execFile(program, ["--version"], options, (error, stdout) => {
      const [name, version] = stdout.trim().split(/\s+/);
      if (name === "relay-analyzer" && version !== undefined) {
        resolve({ program, version });
      } else if (error === null) {
        resolve({ problem: "it is not relay-analyzer: it does not support `--version`" });
      } else if (error.code === "ENOENT") {
        resolve({ problem: "there is no such file" });
      } else if (error.code === "EACCES") {
        resolve({ problem: "it is not executable" });
      } else if (error.killed === true) {
        resolve({ problem: `it did not respond within ${PATIENCE / 1000} seconds` });
      } else {
        resolve({ problem: error.message.trim().replace(/\s*\n\s*/g, "; ") });
      }
    });
  });
}
