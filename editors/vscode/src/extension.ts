// A thin client: it starts the server, and shows why if it cannot.

import * as vscode from "vscode";
import {
  type BaseLanguageClient as LanguageClient,
  CloseAction,
  DidChangeConfigurationNotification,
  ErrorAction,
  ExecuteCommandRequest,
  type LanguageClientOptions,
  State,
} from "vscode-languageclient";

import { registerCode } from "./automatic.js";
import { registerBinding } from "./bind.js";
import { registerCompare } from "./choose.js";
import { Comparisons } from "./compare.js";
import { READING_SCHEME, WrappedHeaders } from "./header.js";
import { CLEAR, RUN, type RunArgument, Runner, showsRuns } from "./run.js";
import { Status } from "./status.js";
import { hasEmbedded, onlyInRelay, selector } from "./embedded.js";
import { registerDetection } from "./detect.js";
import { registerExample } from "./example.js";
import { Health } from "./health.js";
import { registerHistory } from "./history.js";
import { isLog } from "./modules.js";
import { Passes } from "./passes.js";
import { clickable } from "./requests.js";
import { Reading } from "./reading.js";
import { registerReduce } from "./reduce.js";
import { isSavedModule, registerSaved } from "./saved.js";
import { writtenSettings } from "./settings.js";
import { ShapePanel } from "./shapes.js";
import { registerTensors } from "./tensor.js";
import { TypePanel } from "./type.js";
import { TEXT_SCHEME, VirtualDocuments } from "./virtual.js";
import { CLICKABLE, LINKS, registerWhy } from "./why.js";

const INSTALL = "https://github.com/relay-analyzer/relay-analyzer/blob/main/editors/README.md";

/** The schemes of documents without diagnostics. */
const SILENT = new Set([READING_SCHEME, TEXT_SCHEME]);

/** Other languages that activate the extension. */
const WAKING = new Set(["log", "json", "python", "markdown", "plaintext"]);

/** The number of crashes within a time, in milliseconds, after which the server is not restarted by itself. */
const CRASHES = 5;
const CRASH_TIME = 180_000;

/** A client whose server can be started, or the reason why there is none. */
export type Launched =
  | { readonly client: LanguageClient; readonly program: string; readonly version: string }
  | { readonly problem: string };

/** Makes a client: the server is a program beside VS Code, or a module in the browser. */
export type Launch = (context: vscode.ExtensionContext, options: LanguageClientOptions) => Promise<Launched>;

let relay: Relay | undefined;

function isQuiet(argument: RunArgument | undefined): boolean {
  return argument?.view !== undefined || argument?.save !== undefined;
}

export async function activate(context: vscode.ExtensionContext, launch: Launch): Promise<void> {
  const started = new Relay(context, launch);
  context.subscriptions.push(registerDetection());
  relay = started;
  if (!isIdle()) {
    await started.restart();
    return;
  }
  const wake = () => {
    if (hasOurs()) {
      waiting.dispose();
      void started.awake();
    }
  };
  // Relay may also be written into a file of Python that is open.
  const waiting = vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(wake),
    vscode.workspace.onDidSaveTextDocument(wake),
  );
  context.subscriptions.push(waiting);
}

/** Logs, JSON, Python and Markdown activate the extension, but most of them are not Relay: the server does not start for them. */
function isIdle(): boolean {
  return vscode.workspace.textDocuments.some(({ languageId }) => WAKING.has(languageId)) && !hasOurs();
}

function hasOurs(): boolean {
  return vscode.workspace.textDocuments.some(
    (document) =>
      document.languageId === "relay" || isLog(document) || isSavedModule(document) || hasEmbedded(document),
  );
}

export async function deactivate(): Promise<void> {
  await relay?.stop();
  relay = undefined;
}

class Relay {
  private readonly log = vscode.window.createOutputChannel("relay-analyzer", { log: true });
  private readonly trace = vscode.window.createOutputChannel("relay-analyzer trace", { log: true });
  private readonly status = new Status();
  private readonly runner: Runner;
  private client: LanguageClient | undefined;
  private version: string | undefined;
  /** The times of recent crashes. */
  private crashes: readonly number[] = [];
  /** The queue of starts and stops. */
  private queue: Promise<void> = Promise.resolve();
  /** True once the server was requested. */
  private wasStarted = false;
  private readonly health = new Health(() => this.client);
  private readonly reading = new Reading(() => this.client);
  private readonly headers = new WrappedHeaders(() => this.client, this.reading);
  private readonly virtual = new VirtualDocuments(() => this.client, () => this.awake());
  private readonly comparisons = new Comparisons(
    () => this.client,
    () => this.awake(),
    this.virtual,
    () => this.shapes.refresh(),
  );
  private readonly passes = new Passes(() => this.client, () => this.awake(), this.comparisons);
  private readonly shapes: ShapePanel;
  private readonly type: TypePanel;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly launch: Launch,
  ) {
    const command = (name: string, run: (uri?: string, at?: RunArgument["position"]) => unknown) =>
      vscode.commands.registerCommand(`relay.${name}`, run);
    this.runner = new Runner(context.extensionUri);
    this.shapes = new ShapePanel(
      () => this.client,
      context.extensionUri,
      (document) => this.comparisons.before(document),
    );
    this.type = new TypePanel(() => this.client, context.extensionUri);
    context.subscriptions.push(
      this.health,
      this.reading,
      this.headers,
      this.shapes,
      this.type,
      registerTensors(context.extensionUri),
      registerExample(context.extensionUri),
      registerWhy(() => this.client),
      registerReduce(() => this.client),
      registerBinding(() => this.client),
      this.virtual,
      this.comparisons,
      this.passes,
      registerCompare(() => this.client, this.virtual, this.comparisons),
      registerHistory(() => this.client),
      registerSaved(() => this.awake()),
      registerCode(() => this.awake()),
      this.log,
      this.trace,
      this.status,
      this.runner,
      command("restartServer", () => this.restart()),
      command("showServerLog", () => this.log.show()),
      command("showServerVersion", () => this.showVersion()),
      command("runWith", () => this.runner.runWith()),
      command("showValue", () => this.runner.showValue()),
      command("nextCall", (uri, at) => this.runner.showCall(1, uri, at)),
      command("previousCall", (uri, at) => this.runner.showCall(-1, uri, at)),
      command("cancelRun", () => this.runner.cancel()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        // The running server is notified of all other settings.
        if (change.affectsConfiguration("relay.server") || change.affectsConfiguration("relay.embedded")) {
          void this.restart();
        }
      }),
    );
  }

  /** Returns the client, and starts the server if necessary. */
  async awake(): Promise<LanguageClient | undefined> {
    await (this.wasStarted ? this.queue : this.restart());
    return this.client;
  }

  restart(): Promise<void> {
    this.wasStarted = true;
    return this.enqueue(async () => {
      await this.stopClient();
      await this.startClient();
    });
  }

  stop(): Promise<void> {
    return this.enqueue(() => this.stopClient());
  }

  private enqueue(task: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(task, task);
    return this.queue;
  }

  private async startClient(): Promise<void> {
    this.status.starting();
    const launched = await this.launch(this.context, {
      documentSelector: selector(),
      outputChannel: this.log,
      traceOutputChannel: this.trace,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue }),
        closed: () => this.crashed(),
      },
      markdown: { isTrusted: { enabledCommands: LINKS } },
      middleware: {
        executeCommand: (name, args, next) => {
          const send = (argument: unknown, token?: vscode.CancellationToken) =>
            client.sendRequest(ExecuteCommandRequest.type, { command: name, arguments: [argument] }, token);
          switch (name) {
            case RUN:
              // A view of a value and a file with it are no results to show.
              return isQuiet(args[0] as RunArgument | undefined) ? send(args[0]) : this.runner.run(args[0], send).finally(() => this.shapes.refresh());
            case CLEAR:
              return this.runner.clear(args[0], send).finally(() => this.shapes.refresh());
            default:
              return next(name, args);
          }
        },
        // The diagnostics of a file are not repeated for read-only copies of it.
        handleDiagnostics: (uri, diagnostics, next) => next(uri, SILENT.has(uri.scheme) ? [] : diagnostics),
        provideDiagnostics: (document, previous, token, next) =>
          SILENT.has((document instanceof vscode.Uri ? document : document.uri).scheme)
            ? undefined
            : next(document, previous, token),
        provideFoldingRanges: async (document, context, token, next) => {
          const ranges = await next(document, context, token);
          return ranges && this.reading.besideChains(document, ranges);
        },
        workspace: {
          configuration: ({ items }) => items.map(() => writtenSettings(this.context.extension)),
          didChangeConfiguration: async () => {
            // A change of `relay.server` stops this client: telling it would start it again.
            await new Promise((resolve) => setTimeout(resolve, 0));
            if (client === this.client) {
              // The server then requests the settings.
              await client.sendNotification(DidChangeConfigurationNotification.type, { settings: null });
            }
          },
        },
      },
    });
    if ("problem" in launched) {
      this.fail(launched.problem);
      return;
    }
    const { client, program, version } = launched;
    this.log.info(`relay-analyzer ${version}: ${program}`);
    client.registerFeature(showsRuns);
    client.registerFeature(onlyInRelay(client));
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        this.status.running(version);
        this.shapes.refresh();
        this.type.refresh();
        this.reading.refresh();
        this.health.refresh();
        this.comparisons.refresh();
        this.passes.refresh();
      } else if (newState === State.Starting) {
        this.status.starting();
      } else if (client === this.client) {
        this.status.failed("The server has stopped; see its log.");
      }
    });
    client.registerFeature(clickable(CLICKABLE));
    this.client = client;
    this.version = version;
    try {
      await client.start();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.fail(`${program} does not start: ${reason}.`);
    }
  }

  /** Decides what happens after a crash: the server is restarted, unless it has crashed repeatedly. */
  private crashed(): { action: CloseAction; handled: true } {
    const now = Date.now();
    this.crashes = [...this.crashes.filter((time) => now - time < CRASH_TIME), now];
    if (this.crashes.length < CRASHES) {
      return { action: CloseAction.Restart, handled: true };
    }
    this.crashes = [];
    const problem = `The server has crashed ${CRASHES} times in three minutes, and was not restarted.`;
    this.offer(problem, { Restart: () => this.restart(), "Show Log": () => this.log.show() });
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private async stopClient(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.version = undefined;
    if (client === undefined) {
      return;
    }
    try {
      await client.dispose();
    } catch (error) {
      // The client was starting or has crashed, and is discarded in either case.
      this.log.warn(`stopping the server: ${String(error)}`);
    }
  }

  /** Shows a problem with possible actions. */
  private fail(problem: string): void {
    this.offer(problem, {
      "How to Install": () => vscode.env.openExternal(vscode.Uri.parse(INSTALL)),
      "Open Settings": () =>
        vscode.commands.executeCommand("workbench.action.openSettings", "relay.server.path"),
      Retry: () => this.restart(),
    });
  }

  private offer(problem: string, actions: Record<string, () => unknown>): void {
    this.health.refresh();
    this.status.failed(problem);
    this.log.error(problem);
    // Not awaited: the message stays until the user chooses.
    void vscode.window
      .showErrorMessage(`${problem} Relay files have syntax highlighting only.`, ...Object.keys(actions))
      .then((choice) => choice !== undefined && actions[choice]?.());
  }

  private showVersion(): string | undefined {
    const version = this.version;
    if (version === undefined) {
      void vscode.window.showWarningMessage("relay-analyzer does not run.");
    } else {
      void vscode.window.showInformationMessage(`relay-analyzer ${version}`);
    }
    return version;
  }
}
