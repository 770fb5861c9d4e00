// The colours and the font of the editor, and canvases.
import { legible, strongest } from "./contrast.js";

export function themeOf(pen) {
  const style = getComputedStyle(document.body);
  const probe = document.createElement("canvas").getContext("2d");
  // Colours may be names of the system, which an SVG does not know.
  const colour = (name) => {
    probe.fillStyle = "#888888";
    probe.fillStyle = resolved(style.getPropertyValue(`--vscode-${name}`).trim());
    return probe.fillStyle;
  };
  const family = style.getPropertyValue("--vscode-editor-font-family").trim() || "monospace";
  const font = (size, weight) => `${weight ? `${weight} ` : ""}${size}px ${family}`;
  pen.font = font(12);
  const known = new Map();
  const once = (name) => {
    if (!known.has(name)) {
      known.set(name, colour(name));
    }
    return known.get(name);
  };
  // Themes of high contrast have colours of their own for borders.
  const either = (name, other) => once(style.getPropertyValue(`--vscode-${name}`).trim() === "" ? other : name);
  const behind = { text: once("editor-foreground"), background: once("editor-background") };
  const most = new Map();
  return {
    colour: once,
    /** The strength of a colour with which letters on it can be read. */
    strength(name, wanted) {
      if (!most.has(name)) {
        most.set(name, strongest(behind, once(name)));
      }
      return legible(wanted, most.get(name));
    },
    ...behind,
    font,
    character: pen.measureText("0".repeat(20)).width / 20,
    line: either("contrastBorder", "descriptionForeground"),
    border: either("contrastBorder", "descriptionForeground"),
    focus: either("contrastActiveBorder", "focusBorder"),
    weight: once("editorWidget-background"),
  };
}

/** A colour of the system, as a page has it now: a canvas does not follow the colour scheme of the page. */
function resolved(colour) {
  if (!/^[A-Za-z]+$/.test(colour)) {
    return colour;
  }
  const probe = document.createElement("span");
  probe.style.color = colour;
  probe.hidden = true;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** The context of a cleared canvas, resized to its displayed size. */
export function prepared(canvas, width, height) {
  const dense = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * dense), Math.round(height * dense)];
  if (canvas.width !== across || canvas.height !== down) {
    [canvas.width, canvas.height] = [across, down];
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, across, down);
  return pen;
}
