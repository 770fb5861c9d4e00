// A canvas context that generates SVG.

/** Implements the methods of a canvas context and generates SVG. */
export class SvgPen {
  constructor() {
    this.parts = [];
    this.path = [];
    this.globalAlpha = 1;
    this.lineWidth = 1;
    this.textAlign = "left";
    this.dash = [];
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  beginPath() {
    this.path = [];
  }

  moveTo(x, y) {
    this.path.push(`M${short(x)} ${short(y)}`);
  }

  lineTo(x, y) {
    this.path.push(`L${short(x)} ${short(y)}`);
  }

  bezierCurveTo(...places) {
    this.path.push(`C${places.map(short).join(" ")}`);
  }

  closePath() {
    this.path.push("Z");
  }

  roundRect(x, y, width, height, radius) {
    const arc = (dx, dy) => `a${radius} ${radius} 0 0 1 ${dx} ${dy}`;
    const [across, down] = [short(width - 2 * radius), short(height - 2 * radius)];
    this.path.push(
      `M${short(x + radius)} ${short(y)}h${across}${arc(radius, radius)}v${down}${arc(-radius, radius)}`,
      `h${-across}${arc(-radius, -radius)}v${-down}${arc(radius, -radius)}Z`,
    );
  }

  stroke() {
    if (this.path.length > 0) {
      const style = `stroke="${escapeXml(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}" opacity="${short(this.globalAlpha)}"`;
      const dash = this.dash.length > 0 ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
      this.parts.push(`<path d="${this.path.join("")}" fill="none" ${style}${dash}/>`);
    }
  }

  fill() {
    if (this.path.length > 0) {
      this.parts.push(`<path d="${this.path.join("")}" fill="${escapeXml(this.fillStyle)}" opacity="${short(this.globalAlpha)}"/>`);
    }
  }

  fillRect(x, y, width, height) {
    const box = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<rect ${box} fill="${escapeXml(this.fillStyle)}" opacity="${short(this.globalAlpha)}"/>`);
  }

  fillText(text, x, y) {
    const [, weight, size, family] = /^(bold )?(\d+)px (.*)$/.exec(this.font);
    const font = `font-family="${escapeXml(family)}" font-size="${size}"${weight ? ' font-weight="bold"' : ""}`;
    const anchor = { center: ' text-anchor="middle"', right: ' text-anchor="end"' }[this.textAlign] ?? "";
    const place = `x="${short(x)}" y="${short(y)}" dominant-baseline="central"${anchor}`;
    this.parts.push(`<text ${place} ${font} fill="${escapeXml(this.fillStyle)}" opacity="${short(this.globalAlpha)}">${escapeXml(text)}</text>`);
  }

  /** The image of a part of the plane. */
  svg({ left, top, right, bottom }, background) {
    const [width, height] = [right - left, bottom - top].map(short);
    const view = `viewBox="${short(left)} ${short(top)} ${width} ${height}" width="${width}" height="${height}"`;
    const ground = `<rect x="${short(left)}" y="${short(top)}" width="${width}" height="${height}" fill="${escapeXml(background)}"/>`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${view}>\n${ground}\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

/** A number with at most two decimals. */
function short(number) {
  return Math.round(number * 100) / 100;
}

function escapeXml(text) {
  return String(text).replace(/[&<>"]/g, (found) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[found]);
}
