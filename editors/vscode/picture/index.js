// What the pages take from the bundle of the picture.
import workerSource from "worker:./worker.js";

import { exportPng, exportSvg } from "./export.js";
import { Graph } from "./graph.js";
import { Arranger } from "./levels.js";
import { MemoryChart } from "./memory.js";
import { titleOf } from "./paint.js";

const arranger = new Arranger(workerSource);

Object.assign(globalThis, { Graph: class extends Graph {
  constructor(options) {
    super({ arranger, ...options });
  }
}, exportPng, exportSvg, titleOf, MemoryChart });
