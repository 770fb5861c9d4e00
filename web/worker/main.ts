// The worker: an instance of the server, and the tasks in which it works.

import { Instance, Lost } from "./instance.js";
import type { Ended, Message, Restored, Start } from "./messages.js";

/** The used part of a worker's global scope; the DOM types describe that of a page. */
const scope = globalThis as unknown as {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: Message | Ended): void;
};

// A task after the messages that have arrived. Nested timers would be delayed by four milliseconds.
const { port1, port2 } = new MessageChannel();
port1.onmessage = turn;

let instance: Instance | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let isScheduled = false;
let isRestored = false;
let wasIdle = false;

scope.onmessage = ({ data }: MessageEvent<Start | Restored | Message>) =>
  guarded(() => {
    if ("module" in data) {
      instance = new Instance(data.module);
    } else if ("restored" in data) {
      isRestored = true;
      schedule();
    } else {
      instance?.receive(JSON.stringify(data));
      schedule();
    }
  });

function schedule(): void {
  clearTimeout(timer);
  if (!isScheduled) {
    isScheduled = true;
    port2.postMessage(null);
  }
}

function turn(): void {
  isScheduled = false;
  guarded(() => {
    const wait = instance?.work() ?? -1;
    for (let text = instance?.take(); text !== undefined; text = instance?.take()) {
      scope.postMessage(JSON.parse(text));
    }
    wasIdle ||= isRestored && wait !== 0;
    if (wait === 0) {
      schedule();
    } else if (wait > 0) {
      timer = setTimeout(schedule, wait);
    }
  });
}

function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Lost)) {
      throw error;
    }
    instance = undefined;
    scope.onmessage = null;
    scope.postMessage({ ended: error.message, wasIdle });
  }
}
