// The playground: an editor, the language server in a worker, and the views of shapes and results.

import { editor, MarkerSeverity, Uri } from "monaco-editor/editor";

import type { FunctionShapes, RunResponse, RunResult, ShapeReport } from "../../editors/vscode/src/protocol.js";
import { started } from "./boot.js";
import { Client } from "./client.js";
import { register, RELAY } from "./language.js";
import { fragment, shared } from "./share.js";

declare const SAMPLES: Readonly<Record<string, string>>;

/** The debounce of shape reports, in milliseconds. */
const REST = 300;
/** The delay before a run shows its stop button, in milliseconds. */
const LONG = 300;
/** The maximum size of an opened file. The server has a smaller limit, with a diagnostic. */
const LARGEST = 256 << 20;

const byId = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;
const TABS = ["shapes", "results"] as const;

register();
// The worker for links and words in Monaco.
(globalThis as { MonacoEnvironment?: unknown }).MonacoEnvironment = {
  getWorker: () => new Worker(new URL("editor.js", document.baseURI), { type: "module" }),
};

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const theme = () => (dark.matches ? "relay-dark" : "relay-light");
dark.addEventListener("change", () => editor.setTheme(theme()));

const model = editor.createModel("", RELAY, Uri.parse("inmemory://playground/module.relay"));
const uri = model.uri.toString(true);
const view = editor.create(byId("editor"), {
  model,
  theme: theme(),
  "semanticHighlighting.enabled": true,
  automaticLayout: true,
  minimap: { enabled: false },
  fontSize: 13,
  // Headers that TVM prints are lines of thousands of characters.
  wordWrap: "on",
  wordWrapColumn: 120,
  inlayHints: { maximumLength: 64 },
  scrollBeyondLastLine: false,
  stickyScroll: { enabled: false },
  largeFileOptimizations: false,
} as editor.IStandaloneEditorConstructionOptions);

let client: Client | undefined;
let toastTimer: number | undefined;
let shapesTimer: number | undefined;

function toast(text: string, isError = false): void {
  const box = byId("toast");
  box.textContent = text;
  box.className = isError ? "error" : "";
  box.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => (box.hidden = true), isError ? 20_000 : 4_000);
}

function failed(error: unknown): void {
  toast(error instanceof Error ? error.message : String(error), true);
}

/** Replaces the text in the editor. */
function show(text: string): void {
  model.setValue(text);
  view.setScrollPosition({ scrollTop: 0, scrollLeft: 0 });
  view.setPosition({ lineNumber: 1, column: 1 });
  view.focus();
  // The result belongs to the previous text.
  tab("shapes");
}

async function open(file: File): Promise<void> {
  if (file.size > LARGEST) {
    throw new Error(`${file.name} has ${file.size >> 20} MB: the playground opens files of up to ${LARGEST >> 20} MB.`);
  }
  show(await file.text());
  history.replaceState(null, "", location.pathname);
}

// Views.

function tab(name: (typeof TABS)[number]): void {
  for (const one of TABS) {
    byId(one).hidden = one !== name;
    byId(`show-${one}`).setAttribute("aria-selected", String(one === name));
  }
}

function post(page: (typeof TABS)[number], message: unknown): void {
  byId<HTMLIFrameElement>(page).contentWindow?.postMessage(message, location.origin);
}

const flat = (one: FunctionShapes): FunctionShapes[] => [{ ...one, functions: [] }, ...one.functions.flatMap(flat)];

async function reportShapes(): Promise<void> {
  const version = model.getVersionId();
  try {
    const report = await client?.request<ShapeReport>("relay/shapes", { textDocument: { uri } });
    if (report !== undefined && model.getVersionId() === version) {
      post("shapes", { type: "report", uri, functions: report.functions.flatMap(flat) });
    }
  } catch (error) {
    if (model.getVersionId() === version) {
      post("shapes", { type: "problem", text: error instanceof Error ? error.message : String(error) });
    }
  }
}

function shapesLater(): void {
  clearTimeout(shapesTimer);
  shapesTimer = window.setTimeout(() => void reportShapes(), REST);
}

function go(range: { start: { line: number; character: number } }, stay: boolean): void {
  const position = { lineNumber: range.start.line + 1, column: range.start.character + 1 };
  view.setPosition(position);
  view.revealPositionInCenterIfOutsideViewport(position);
  if (!stay) {
    view.focus();
  }
}

function download(name: string, data: string | Uint8Array<ArrayBuffer>): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([data]));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

let result: RunResult | undefined;

window.addEventListener("message", ({ data, origin }) => {
  if (origin !== location.origin || typeof data?.page !== "string") {
    return;
  }
  const { type, range, stay, name, data: saved } = data.message;
  if (type === "ready" && data.page === "shapes") {
    shapesLater();
  } else if (type === "ready" && result !== undefined) {
    post("results", { type: "result", result });
  } else if (type === "go") {
    go(range, stay ?? false);
  } else if (type === "save") {
    download(name, saved);
  } else if (type === "text" && result !== undefined) {
    download("result.txt", result.text);
  }
});

// Running.

async function run(argument: object): Promise<void> {
  if (client === undefined) {
    return;
  }
  byId<HTMLButtonElement>("run").disabled = true;
  const timer = window.setTimeout(() => (byId("stop").hidden = false), LONG);
  try {
    const answer = await client.request<RunResponse>("workspace/executeCommand", { command: "relay.run", arguments: [argument] });
    if (answer.status === "done") {
      result = answer;
      post("results", { type: "result", result });
      tab("results");
    } else {
      toast(answer.status === "recalled" ? answer.function : answer.text, true);
    }
  } catch (error) {
    failed(error);
  } finally {
    clearTimeout(timer);
    byId("stop").hidden = true;
    byId<HTMLButtonElement>("run").disabled = false;
  }
}

/** Runs the definition at the cursor, or the main function. */
async function runHere(): Promise<void> {
  const { lineNumber = 1, column = 1 } = view.getPosition() ?? {};
  const line = lineNumber - 1;
  try {
    type Symbol = { range: { start: { line: number }; end: { line: number } } };
    const symbols = await client?.request<Symbol[] | null>("textDocument/documentSymbol", { textDocument: { uri } });
    const isInside = symbols?.some(({ range }) => range.start.line <= line && line <= range.end.line) ?? false;
    await run(isInside ? { uri, position: { line, character: column - 1 } } : { uri });
  } catch (error) {
    failed(error);
  }
}

editor.registerCommand("relay.run", (_, argument) => void run(argument ?? { uri }));
view.addAction({ id: "relay.runHere", label: "Relay: Run Function", contextMenuGroupId: "navigation", run: () => runHere() });

// The toolbar.

const samples = byId<HTMLSelectElement>("samples");
samples.append(new Option("Example…", ""), ...Object.keys(SAMPLES).map((name) => new Option(name, name)));
samples.addEventListener("change", () => {
  const text = SAMPLES[samples.value];
  samples.value = "";
  if (text !== undefined) {
    history.replaceState(null, "", location.pathname);
    show(text);
  }
});
byId("open").addEventListener("click", () => byId("file").click());
byId<HTMLInputElement>("file").addEventListener("change", ({ target }) => {
  const input = target as HTMLInputElement;
  const file = input.files?.[0];
  input.value = "";
  if (file !== undefined) {
    open(file).catch(failed);
  }
});
byId("run").addEventListener("click", () => void runHere());
byId("stop").addEventListener("click", () => client?.cancel());
byId("share").addEventListener("click", async () => {
  try {
    history.replaceState(null, "", await fragment(model.getValue()));
    await navigator.clipboard.writeText(location.href).then(
      () => toast("The link is copied. The text is in it, and on no server."),
      () => toast("The text is in the address of this page: copy it from there."),
    );
  } catch (error) {
    failed(error);
  }
});
byId<HTMLInputElement>("tvm").addEventListener("change", ({ target }) =>
  client?.notify("workspace/didChangeConfiguration", { settings: { tvm: (target as HTMLInputElement).checked } }),
);
for (const one of TABS) {
  byId(`show-${one}`).addEventListener("click", () => tab(one));
}

// Dropping files.

const isFile = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
window.addEventListener("dragover", (event) => {
  if (isFile(event)) {
    event.preventDefault();
    byId("drop").hidden = false;
  }
}, true);
window.addEventListener("dragleave", (event) => {
  if (event.relatedTarget === null) {
    byId("drop").hidden = true;
  }
}, true);
window.addEventListener("drop", (event) => {
  byId("drop").hidden = true;
  const file = event.dataTransfer?.files[0];
  if (file !== undefined) {
    event.preventDefault();
    event.stopPropagation();
    open(file).catch(failed);
  }
}, true);

// The server.

model.onDidChangeContent(shapesLater);
view.onDidChangeCursorPosition(({ position }) => post("shapes", { type: "cursor", line: position.lineNumber - 1, character: position.column - 1 }));

function counted(): void {
  const markers = editor.getModelMarkers({ resource: model.uri });
  const [errors, warnings] = [MarkerSeverity.Error, MarkerSeverity.Warning].map((severity) => markers.filter((marker) => marker.severity === severity).length);
  const status = byId("status");
  status.textContent = errors === 0 && warnings === 0 ? "No problems" : `${errors} ${errors === 1 ? "error" : "errors"}, ${warnings} ${warnings === 1 ? "warning" : "warnings"}`;
  status.className = errors === 0 ? "" : "errors";
}
editor.onDidChangeMarkers(() => counted());

async function start(): Promise<void> {
  performance.mark("editor");
  try {
    model.setValue((await shared(location.hash)) ?? Object.values(SAMPLES)[0] ?? "");
  } catch (error) {
    failed(error);
  }
  try {
    client = new Client(await started, {
      message: toast,
      diagnostics: ({ version }) => {
        performance.mark("diagnostics");
        checked?.(version);
        // Diagnostics that Monaco already shows do not change its markers.
        queueMicrotask(counted);
      },
    });
    shapesLater();
  } catch (error) {
    byId("status").textContent = "The language server does not run.";
    failed(error);
  }
}

/** Listeners for the diagnostics of each version. */
let checked: ((version: number | undefined) => void) | undefined;

/**
 * For tests: measures the time from a change in the middle of the text to its diagnostics, in milliseconds. The
 * change alternately breaks and restores the name of an argument, since unchanged diagnostics are not sent.
 */
function keystroke(): Promise<number> {
  const from = Math.ceil(model.getLineCount() * 0.6);
  const [found] = model.findMatches("\\(%", { startLineNumber: from, startColumn: 1, endLineNumber: model.getLineCount(), endColumn: 1 }, true, true, null, false, 1);
  const { endLineNumber: lineNumber, endColumn: column } = found?.range ?? { endLineNumber: 1, endColumn: 1 };
  const isWrong = model.getLineContent(lineNumber)[column - 1] === "_";
  const range = { startLineNumber: lineNumber, endLineNumber: lineNumber, startColumn: column, endColumn: column + (isWrong ? 1 : 0) };
  return new Promise((resolve) => {
    const begin = performance.now();
    checked = (version) => {
      if (version === model.getVersionId()) {
        checked = undefined;
        resolve(performance.now() - begin);
      }
    };
    model.applyEdits([{ range, text: isWrong ? "" : "_" }]);
  });
}
(window as { relayMeasures?: unknown }).relayMeasures = { keystroke };

window.addEventListener("hashchange", () =>
  shared(location.hash).then((text) => text !== undefined && show(text), failed),
);
void start();
