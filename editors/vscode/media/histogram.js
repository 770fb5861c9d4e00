// Histograms of the pages of types and of tensors.
"use strict";

function drawSvg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, String(value)));
  element.append(...children);
  return element;
}

/** The picture of a histogram: a bar for each part of the range, with a line at 0 where it is in the range. */
function histogramOf({ min, max, low, high, histogram }) {
  const WIDTH = 320;
  const HEIGHT = 96;
  const most = Math.max(...histogram, 1);
  const step = WIDTH / histogram.length;
  /** A number in few characters. */
  const short = (number) => String(Number(number.toPrecision(4)));
  // Halves, since the width of the greatest range is infinite.
  const at = (share) => 2 * (min / 2 + (max / 2 - min / 2) * share);
  const bars = histogram.map((count, number) => {
    // The least count that is there is seen.
    const height = count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT);
    const [from, to] = [number, number + 1].map((end) => short(at(end / histogram.length)));
    const title = drawSvg("title", {}, `${from} to ${to}: ${count.toLocaleString("en-US")}`);
    const bar = drawSvg("rect", { class: "bar", x: number * step, y: HEIGHT - height, width: step * 0.86, height });
    // All of the column has the text.
    const column = drawSvg("rect", { class: "column", x: number * step, y: 0, width: step, height: HEIGHT });
    return drawSvg("g", {}, title, column, bar);
  });
  const zero = -(min / 2) / (max / 2 - min / 2);
  if (min < 0 && max > 0) {
    bars.push(drawSvg("line", { class: "zero", x1: zero * WIDTH, x2: zero * WIDTH, y1: 0, y2: HEIGHT }));
  }
  const label = `Histogram of the elements from ${low} to ${high}`;
  const size = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" };
  const svg = drawSvg("svg", { ...size, class: "histogram", role: "img", "aria-label": label }, ...bars);
  const ends = make("div", "ends", make("span", "", low));
  if (min < 0 && max > 0) {
    const mark = make("span", "origin", "0");
    mark.style.left = `${zero * 100}%`;
    // Beside an end it would be on top of its number.
    mark.hidden = zero < 0.2 || zero > 0.8;
    ends.append(mark);
  }
  ends.append(make("span", "", high));
  return make("figure", "", svg, ends);
}
