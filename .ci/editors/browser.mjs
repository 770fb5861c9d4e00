// The browser that `.ci/install-editors vscode` installed in RELAY_EDITORS.
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";

export function launch() {
  const editors = path.join(process.env.RELAY_EDITORS, "vscode");
  const { chromium } = createRequire(path.join(editors, "node_modules/x"))("playwright-core");
  const executablePath = process.env.CHROMIUM ?? path.join(editors, "chromium/chromium");
  const env = { ...process.env };
  // The package includes the libraries that a minimal machine lacks.
  if (execFileSync("ldd", [executablePath], { encoding: "utf8" }).includes("not found")) {
    env.LD_LIBRARY_PATH = path.join(editors, "chromium/al2023/lib");
  }
  return chromium.launch({ executablePath, env, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
}
