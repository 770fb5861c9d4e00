// The overview in a corner: where the visible part is.
import { prepared, themeOf } from "./theme.js";

const SIZE = { width: 130, height: 190, least: 36 };

export class Minimap {
  constructor(canvas, graph) {
    Object.assign(this, { canvas, graph });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.jump(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons > 0 && this.jump(event));
  }

  jump(event) {
    const { bounds } = this.graph.scene;
    const box = this.canvas.getBoundingClientRect();
    const part = (from, to, share) => from + (to - from) * share;
    const x = part(bounds.left, bounds.right, (event.clientX - box.left) / box.width);
    const y = part(bounds.top, bounds.bottom, (event.clientY - box.top) / box.height);
    this.graph.centre(x, y, this.graph.view.scale);
  }

  hide() {
    this.canvas.hidden = true;
  }

  draw() {
    const { graph, canvas } = this;
    const { bounds, nodes, items } = graph.scene;
    const sight = graph.sight();
    const isWhole = sight.left <= bounds.left && sight.right >= bounds.right && sight.top <= bounds.top && sight.bottom >= bounds.bottom;
    canvas.hidden = isWhole;
    if (isWhole) {
      return;
    }
    const [across, down] = [bounds.right - bounds.left, bounds.bottom - bounds.top];
    const room = graph.size();
    const scale = Math.min(Math.min(SIZE.width, room.width / 6) / across, Math.min(SIZE.height, room.height / 3) / down);
    const width = Math.max(SIZE.least, across * scale);
    const height = Math.max(SIZE.least, down * scale);
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    const [sx, sy] = [width / across, height / down];
    const pen = prepared(canvas, width, height);
    const dense = window.devicePixelRatio || 1;
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    const theme = themeOf(pen);
    for (const [at, { x, y, left, right, height }] of nodes.entries()) {
      const { colour, strength } = graph.paint(at);
      const box = [(x - left - bounds.left) * sx, (y - bounds.top) * sy, Math.max(1, (left + right) * sx), Math.max(1, height * sy)];
      if (items[at].isOpen) {
        pen.globalAlpha = 0.6;
        pen.strokeStyle = theme.border;
        pen.lineWidth = 0.7;
        pen.strokeRect(...box);
      } else {
        pen.globalAlpha = (graph.isBright(at) ? 1 : 0.15) * Math.max(0.35, strength);
        pen.fillStyle = theme.colour(colour);
        pen.fillRect(...box);
      }
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = theme.focus;
    pen.lineWidth = 1.5;
    const left = Math.max(1, (sight.left - bounds.left) * sx);
    const top = Math.max(1, (sight.top - bounds.top) * sy);
    const right = Math.min(width - 1, (sight.right - bounds.left) * sx);
    const bottom = Math.min(height - 1, (sight.bottom - bounds.top) * sy);
    const [wide, high] = [Math.max(6, right - left), Math.max(6, bottom - top)];
    const corner = [Math.min(left, width - wide - 1), Math.min(top, height - high - 1)];
    pen.strokeRect(...corner, wide, high);
    pen.globalAlpha = 0.25;
    pen.fillStyle = pen.strokeStyle;
    pen.fillRect(...corner, wide, high);
    pen.globalAlpha = 1;
  }
}
