// What VS Code gives to a page of the extension, for a page in a frame of the playground.
"use strict";

function acquireVsCodeApi() {
  let state;
  return {
    postMessage: (message) => window.parent.postMessage({ page: document.documentElement.id, message }, window.location.origin),
    getState: () => state,
    setState: (next) => {
      state = next;
    },
  };
}
