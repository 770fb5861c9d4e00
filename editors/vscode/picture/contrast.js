// How strong a colour may be behind letters that are to be read.

/** The ratio of the luminances of letters and of what is behind them from which WCAG calls letters of this size legible. */
const LEGIBLE = 4.5;
/** The greatest strength of a colour, and that up to which each one is legible. */
const [MOST, PLAIN] = [0.75, 0.25];

/** Red, green, blue and opacity of `#rrggbb` or `rgba(r, g, b, a)`, the forms that a canvas has. */
function partsOf(colour) {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour);
  if (hex) {
    return [...hex.slice(1).map((part) => Number.parseInt(part, 16)), 1];
  }
  const [red = 0, green = 0, blue = 0, opacity = 1] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return [red, green, blue, opacity];
}

function luminance([red, green, blue]) {
  const [r, g, b] = [red, green, blue].map((part) => (part <= 10.3 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The ratio of the luminances of two colours. */
function contrast(a, b) {
  const [one, other] = [luminance(a), luminance(b)];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

/** The strength of a colour over a background at most at which `text` can be read. */
export function strongest({ text, background }, colour) {
  const [letters, behind, own] = [text, background, colour].map(partsOf);
  for (let strength = MOST; strength > PLAIN; strength -= 0.05) {
    const mixed = [0, 1, 2].map((at) => behind[at] + (own[at] - behind[at]) * strength * own[3]);
    if (contrast(letters, mixed) >= LEGIBLE) {
      return strength;
    }
  }
  return PLAIN;
}

/** A strength as it is drawn: in proportion between the plain one and the strongest. */
export function legible(strength, most) {
  return strength <= PLAIN ? strength : PLAIN + ((Math.min(strength, MOST) - PLAIN) * (most - PLAIN)) / (MOST - PLAIN);
}
