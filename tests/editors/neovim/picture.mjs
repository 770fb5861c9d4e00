// A picture of Neovim in a terminal: tmux has what is on the screen, and a browser draws it.
//
//   node picture.mjs MODULE OUT.png
//
// RELAY_EDITORS: where `.ci/install-editors neovim vscode helix` has put Neovim, the browser and tmux
// RELAY_TEST_SERVER: the language server
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const [file, out] = process.argv.slice(2).map((name) => path.resolve(name));
const editors = process.env.RELAY_EDITORS;
const { chromium } = createRequire(path.join(editors, "vscode/node_modules/x"))("playwright-core");
const plugin = fileURLToPath(new URL("../../../editors/neovim", import.meta.url));
const room = mkdtempSync(path.join(tmpdir(), "relay-picture-"));
const socket = path.join(room, "tmux");
const tmux = (...words) => execFileSync(path.join(editors, "tmux/usr/bin/tmux"), ["-S", socket, "-f", "/dev/null", ...words], { encoding: "utf8" });
const [COLUMNS, ROWS] = [108, 26];

/** The 16 colours of the terminal, and the cube and the greys after them. */
const NAMED = ["#000", "#c4302b", "#2e8b57", "#b58900", "#2f6fd6", "#8a4fbf", "#138a8a", "#ccc", "#666", "#e25550", "#3fb36f", "#d9a521", "#4f8cf0", "#a96fe0", "#22aeae", "#fff"];
function indexed(n) {
  if (n < 16) {
    return NAMED[n];
  }
  if (n >= 232) {
    return `rgb(${Array(3).fill(8 + (n - 232) * 10)})`;
  }
  const level = (k) => (k === 0 ? 0 : 55 + 40 * k);
  return `rgb(${[Math.floor((n - 16) / 36), Math.floor((n - 16) / 6) % 6, (n - 16) % 6].map(level)})`;
}

/** The screen with its escapes as HTML. */
function html(screen) {
  let style = {};
  const css = () => {
    const [front, back] = style.reverse ? [style.back ?? "#14161b", style.front ?? "#e0e2ea"] : [style.front, style.back];
    return [
      front && `color:${front}`,
      back && `background:${back}`,
      style.bold && "font-weight:bold",
      style.italic && "font-style:italic",
      style.under && "text-decoration:underline wavy #c4302b 1px",
    ].filter(Boolean).join(";");
  };
  const apply = (codes) => {
    const list = codes === "" ? ["0"] : codes.split(";");
    for (let i = 0; i < list.length; i++) {
      const code = Number(list[i].split(":")[0]);
      if (code === 0) style = {};
      else if (code === 1) style.bold = true;
      else if (code === 3) style.italic = true;
      else if (code === 4) style.under = list[i] !== "4:0";
      else if (code === 7) style.reverse = true;
      else if (code === 22) style.bold = false;
      else if (code === 23) style.italic = false;
      else if (code === 24) style.under = false;
      else if (code === 27) style.reverse = false;
      else if (code === 39) style.front = undefined;
      else if (code === 49) style.back = undefined;
      else if (code === 38 || code === 48 || code === 58) {
        const direct = list[i + 1] === "2";
        const value = direct ? `rgb(${list.slice(i + 2, i + 5)})` : indexed(Number(list[i + 2]));
        i += direct ? 4 : 2;
        if (code !== 58) style[code === 38 ? "front" : "back"] = value;
      } else if (code >= 30 && code < 38) style.front = NAMED[code - 30];
      else if (code >= 40 && code < 48) style.back = NAMED[code - 40];
      else if (code >= 90 && code < 98) style.front = NAMED[code - 82];
      else if (code >= 100 && code < 108) style.back = NAMED[code - 92];
    }
  };
  const escaped = (text) => text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
  let body = "";
  for (const part of screen.split(/(\x1b\[[0-9;:]*m)/)) {
    const found = /^\x1b\[([0-9;:]*)m$/.exec(part);
    if (found) {
      apply(found[1]);
    } else if (part) {
      body += `<span style="${css()}">${escaped(part)}</span>`;
    }
  }
  return `<body style="margin:0;background:#14161b"><pre id="screen" style="display:inline-block;margin:0;padding:8px;background:#14161b;color:#e0e2ea;font:13px/1.35 'DejaVu Sans Mono',monospace">${body}</pre>`;
}

let browser;
try {
  symlinkSync(process.env.RELAY_TEST_SERVER, path.join(room, "relay-analyzer"));
  const words = [
    path.join(editors, "neovim/usr/bin/nvim"), "--clean", "--cmd", `'set runtimepath^=${plugin}'`,
    "-c", "'set background=dark termguicolors nowrap laststatus=0 noruler noshowmode number'",
    "-c", "'lua vim.lsp.inlay_hint.enable(true)'", "-c", "'lua vim.diagnostic.config({ virtual_text = false, severity_sort = true })'", file,
  ];
  const home = ["CONFIG", "DATA", "STATE", "CACHE"].map((kind) => `XDG_${kind}_HOME=${room}`).join(" ");
  tmux("new-session", "-d", "-x", String(COLUMNS), "-y", String(ROWS), `env COLORTERM=truecolor PATH=${room}:${process.env.PATH} ${home} ${words.join(" ")}`);
  tmux("set", "-g", "default-terminal", "tmux-256color");
  tmux("set", "-ga", "terminal-overrides", ",*:Tc");
  const seen = (...more) => tmux("capture-pane", "-p", ...more);
  const wait = async (what, holds) => {
    for (const start = Date.now(); !holds(); await new Promise((done) => setTimeout(done, 100))) {
      if (Date.now() - start > 30_000) {
        throw new Error(`waited in vain for ${what}:\n${seen()}`);
      }
    }
  };
  await wait("types", () => seen().includes(": Tensor[(12, 64, 128)"));
  tmux("send-keys", "/%keys,", "Enter");
  tmux("send-keys", ":lua vim.diagnostic.open_float({ width = 78 })", "Enter");
  await wait("the message", () => seen().includes("expects 128"));
  await new Promise((done) => setTimeout(done, 500));
  const program = process.env.CHROMIUM ?? path.join(editors, "vscode/chromium/chromium");
  const env = { ...process.env };
  if (execFileSync("ldd", [program], { encoding: "utf8" }).includes("not found")) {
    env.LD_LIBRARY_PATH = path.join(editors, "vscode/chromium/al2023/lib");
  }
  browser = await chromium.launch({ executablePath: program, env, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  await page.setContent(html(seen("-e")));
  await page.locator("#screen").screenshot({ path: out });
} finally {
  await browser?.close();
  try {
    tmux("kill-server");
  } catch {
    // It had not started.
  }
  rmSync(room, { recursive: true, force: true });
}
