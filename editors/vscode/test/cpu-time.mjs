import assert from "node:assert/strict";

/** The CPU time of the process in milliseconds, which does not depend on what else the machine does. */
export function cpuTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Compares a time, which depends on the machine, with its bar if `RELAY_FIGURES` is set. */
export function assertAtMost(what, milliseconds, bar) {
  if (process.env.RELAY_FIGURES !== undefined) {
    assert.ok(milliseconds <= bar, `${what}: ${milliseconds} of ${bar} ms`);
  }
}
