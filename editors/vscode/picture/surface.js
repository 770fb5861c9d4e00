// What every canvas of the picture listens to: its size, the theme and the pointer.

/** The movement in pixels that is tolerated during a click. */
const STILL = 3;

/** Calls `redraw` after the size of a canvas has changed, and `recolour` after the theme has. */
export function follow(canvas, { redraw, recolour }) {
  new ResizeObserver(redraw).observe(canvas);
  // The theme is a class of the body, or a setting of the browser.
  new MutationObserver(recolour).observe(document.body, { attributeFilter: ["class"] });
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
    window.matchMedia(query).addEventListener("change", recolour);
  }
}

/**
 * Calls `drag` with the pixels that the pointer moves while it is pressed, `click` with what it was released at if it
 * did not move, and `point` with what is under it, with the event. `at` returns what is at the place of an event, and
 * `nothing` stands for nothing.
 */
export function listenToPointer(canvas, { at, nothing, drag, click, point }) {
  let from;
  let moved = false;
  canvas.addEventListener("pointerdown", (event) => {
    from = { x: event.clientX, y: event.clientY };
    moved = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (from !== undefined) {
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      if (moved || Math.abs(dx) + Math.abs(dy) > STILL) {
        moved = true;
        canvas.classList.add("dragged");
        drag(dx, dy);
        from = { x: event.clientX, y: event.clientY };
      }
    }
    point(from === undefined ? at(event) : nothing, event);
  });
  canvas.addEventListener("pointerup", (event) => {
    from = undefined;
    canvas.classList.remove("dragged");
    if (!moved) {
      click(at(event));
    }
  });
  canvas.addEventListener("pointerleave", (event) => point(nothing, event));
}
