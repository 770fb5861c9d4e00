// Waiting for asynchronous effects of VS Code.
"use strict";

/** Returns the first result of `holds`; fails after 60 seconds. */
async function until(what, holds) {
  for (const start = Date.now(); Date.now() - start < 60_000; ) {
    const value = await holds();
    if (value) {
      return value;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited in vain: ${what}`);
}

module.exports = { until };
