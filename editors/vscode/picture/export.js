// Exports the picture: the whole or what is visible, as SVG or as PNG. A PNG of the whole that would be too large for a
// browser shows what is visible.
import { paintScene } from "./paint.js";
import { SvgPen } from "./svg.js";

/** The limit on the size of a canvas that browsers support, in pixels. */
const LARGEST = { side: 16_000, area: 48_000_000 };
/** The scale below which names cannot be read. */
const LEGIBLE = 0.7;

/** `part` is `whole` or `visible`. */
export function exportSvg(graph, part = "whole") {
  const pen = new SvgPen();
  const ruler = document.createElement("canvas").getContext("2d");
  const shown = part === "whole" ? graph.scene.bounds : graph.sight();
  const look = graph.look(ruler, shown, 1);
  paintScene(pen, graph.scene, look);
  return { data: pen.svg(shown, look.theme.background), whole: true };
}

export async function exportPng(graph, part = "whole") {
  const whole = imageScale(graph.scene.bounds, 2);
  const isTooLarge = whole < LEGIBLE;
  const shown = part === "whole" && !isTooLarge ? graph.scene.bounds : graph.sight();
  const scale = shown === graph.scene.bounds ? whole : imageScale(shown, Math.max(1, graph.view.scale * 2));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round((shown.right - shown.left) * scale);
  canvas.height = Math.round((shown.bottom - shown.top) * scale);
  const pen = canvas.getContext("2d");
  const look = graph.look(pen, shown, scale);
  pen.fillStyle = look.theme.background;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.setTransform(scale, 0, 0, scale, -shown.left * scale, -shown.top * scale);
  paintScene(pen, graph.scene, look);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return { data: new Uint8Array(await blob.arrayBuffer()), whole: part === "visible" || !isTooLarge };
}

/** The largest scale up to `wanted` at which a part of the plane fits into an image. */
function imageScale({ left, top, right, bottom }, wanted) {
  const [width, height] = [right - left, bottom - top];
  return Math.min(wanted, LARGEST.side / width, LARGEST.side / height, Math.sqrt(LARGEST.area / (width * height)));
}
