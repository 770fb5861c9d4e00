// Exports the dataflow graph: SVG of the whole graph; PNG of the whole graph, or of the visible part if it is too large.
"use strict";

/** The limit on the size of a canvas that browsers support, in pixels. */
const LARGEST = { side: 16_000, area: 48_000_000 };

function exportSvg(graph) {
  const pen = new SvgPen();
  const ruler = document.createElement("canvas").getContext("2d");
  const { bounds } = graph.scene;
  const look = graph.look(ruler, bounds, 1);
  paintGraph(pen, graph.scene, look);
  return { data: pen.svg(bounds, look.theme.background), whole: true };
}

async function exportPng(graph) {
  const whole = imageScale(graph.scene.bounds, 2);
  const isWhole = whole >= LEGIBLE;
  const part = isWhole ? graph.scene.bounds : graph.sight();
  const scale = isWhole ? whole : imageScale(part, Math.max(1, graph.view.scale * 2));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round((part.right - part.left) * scale);
  canvas.height = Math.round((part.bottom - part.top) * scale);
  const pen = canvas.getContext("2d");
  const look = graph.look(pen, part, scale);
  pen.fillStyle = look.theme.background;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.setTransform(scale, 0, 0, scale, -part.left * scale, -part.top * scale);
  paintGraph(pen, graph.scene, look);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return { data: new Uint8Array(await blob.arrayBuffer()), whole: isWhole };
}

/** The largest scale up to `wanted` at which a part of the plane fits into an image. */
function imageScale({ left, top, right, bottom }, wanted) {
  const [width, height] = [right - left, bottom - top];
  return Math.min(wanted, LARGEST.side / width, LARGEST.side / height, Math.sqrt(LARGEST.area / (width * height)));
}
