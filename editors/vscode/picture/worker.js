// The worker that arranges levels, one after the other.
import { arrange } from "./arrange.js";

self.onmessage = ({ data: { id, level } }) => self.postMessage({ id, found: arrange(level) });
