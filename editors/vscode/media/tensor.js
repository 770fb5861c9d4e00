// The page of a tensor: it draws what the debugger or the language server has computed.
(() => {
  "use strict";
  const host = acquireVsCodeApi();
  const main = document.getElementById("tensor");
  const problem = document.getElementById("problem");
  const status = document.getElementById("cell");

  /** The codes of cells beside the scale. */
  const NAN = 1000;
  const INFINITE = 1001;
  /** The widest picture, in pixels of the page. */
  const WIDTH = 480;

  const colour = (name, fallback) => getComputedStyle(document.body).getPropertyValue(`--vscode-${name}`).trim() || fallback;

  /** The colours of the theme, which are read once for each view. */
  let palette = {};
  function readPalette() {
    palette = {
      nan: colour("errorForeground", "red"),
      infinite: colour("charts-yellow", "yellow"),
      negative: colour("charts-orange", "orange"),
      positive: colour("charts-blue", "blue"),
    };
  }

  function fill(context, cell, x, y) {
    if (cell === NAN || cell === INFINITE) {
      context.globalAlpha = 1;
      context.fillStyle = cell === NAN ? palette.nan : palette.infinite;
    } else {
      context.globalAlpha = Math.abs(cell) / 255;
      context.fillStyle = cell < 0 ? palette.negative : palette.positive;
    }
    context.fillRect(x, y, 1, 1);
  }

  /** The text of a cell for a screen reader and for the line below the pictures. */
  function told(picture, at) {
    const place = `row ${Math.floor(at / picture.columns)}, column ${at % picture.columns}`;
    const cell = picture.cells[at];
    const text = picture.texts?.[at] ?? (cell === NAN ? "NaN" : cell === INFINITE ? "Inf" : "");
    return `${picture.title}: ${place}${text ? `: ${text}` : ""}`;
  }

  function heatMap(picture) {
    const { rows, columns, cells, title, summary } = picture;
    const canvas = make("canvas", "");
    canvas.width = columns;
    canvas.height = rows;
    const zoom = Math.max(1, Math.floor(WIDTH / Math.max(rows, columns, 16)));
    canvas.style.width = `${columns * zoom}px`;
    canvas.style.height = `${rows * zoom}px`;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Heat map of ${title}: ${rows} rows, ${columns} columns, ${summary}. Arrow keys read its cells.`);
    const context = canvas.getContext("2d");
    cells.forEach((cell, at) => fill(context, cell, at % columns, Math.floor(at / columns)));
    let cursor = 0;
    const tell = (at) => {
      cursor = at;
      status.textContent = told(picture, at);
    };
    canvas.addEventListener("mousemove", ({ offsetX, offsetY }) => {
      const column = Math.min(columns - 1, Math.max(0, Math.floor((offsetX / canvas.clientWidth) * columns)));
      const row = Math.min(rows - 1, Math.max(0, Math.floor((offsetY / canvas.clientHeight) * rows)));
      tell(row * columns + column);
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
      if (step !== undefined && cells[cursor + step] !== undefined) {
        event.preventDefault();
        tell(cursor + step);
      }
    });
    return canvas;
  }

  /** The colours of the scale with the numbers at its ends. */
  function legend({ signed, distribution }) {
    if (!distribution) {
      return [];
    }
    const bar = make("canvas", "scale");
    bar.width = 256;
    bar.height = 1;
    bar.setAttribute("aria-hidden", "true");
    const context = bar.getContext("2d");
    const greatest = Math.max(distribution.max, -distribution.min);
    for (let x = 0; x < 256; x += 1) {
      const at = distribution.min + (distribution.max - distribution.min) * (x / 255);
      fill(context, signed ? Math.round((at / greatest) * 255) : x, x, 0);
    }
    return [make("div", "legend", bar, make("div", "ends", make("span", "", distribution.low), make("span", "", distribution.high)))];
  }

  /** The cells as a table. */
  function table({ rows, columns, texts, title }) {
    if (!texts) {
      return [];
    }
    const row = (number) =>
      make("tr", "", ...texts.slice(number * columns, (number + 1) * columns).map((text) => make("td", "number", text)));
    const body = make("tbody", "", ...Array.from({ length: rows }, (_, number) => row(number)));
    const cells = make("table", "", body);
    cells.setAttribute("aria-label", `Elements of ${title}`);
    return [make("details", "", make("summary", "", "Numbers"), make("div", "", cells))];
  }

  function picture(drawn) {
    const children = [make("p", "", drawn.summary)];
    if (drawn.cells.length > 0) {
      children.push(heatMap(drawn), ...legend(drawn));
    }
    if (drawn.reduced) {
      children.push(make("p", "note", drawn.reduced));
    }
    children.push(...table(drawn));
    if (drawn.distribution) {
      children.push(histogramOf(drawn.distribution));
    }
    return section(drawn.title, ...children);
  }

  function image({ layout, width, height, pixels, scale }) {
    const canvas = make("canvas", "");
    canvas.width = width;
    canvas.height = height;
    const zoom = Math.max(1, Math.floor(WIDTH / Math.max(width, height, 16)));
    canvas.style.width = `${width * zoom}px`;
    canvas.style.height = `${height * zoom}px`;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `The tensor as an image in ${layout}: ${scale}`);
    const bytes = Uint8ClampedArray.from(atob(pixels), (letter) => letter.charCodeAt(0));
    canvas.getContext("2d").putImageData(new ImageData(bytes, width, height), 0, 0);
    return section(`Image (${layout})`, canvas, make("p", "note", scale));
  }

  function button(title, isEnabled, message) {
    const element = make("button", "", title);
    element.disabled = !isEnabled;
    element.addEventListener("click", () => host.postMessage({ type: message }));
    return element;
  }

  function labelled(text, control) {
    return make("label", "", `${text} `, control);
  }

  function tools({ tensor: view, number, count }, { isDebugged, isSaved }) {
    const slice = make("input", "slice");
    slice.id = "slice";
    slice.value = view.slice;
    slice.spellcheck = false;
    slice.addEventListener("change", () => host.postMessage({ type: "slice", slice: slice.value }));
    const indices = view.axes.flatMap(({ size, index }, axis) => {
      if (index === undefined || size < 2) {
        return [];
      }
      const input = make("input", "index");
      Object.assign(input, { type: "number", id: `axis-${axis}`, min: "0", max: String(size - 1), value: String(index) });
      input.addEventListener("change", () => {
        const entries = view.axes.map(({ taken }, at) => (at === axis ? input.value : taken));
        host.postMessage({ type: "slice", slice: `[${entries.join(", ")}]` });
      });
      return [labelled(`Axis ${axis}`, input)];
    });
    const values = [];
    if (count > 1) {
      const input = make("input", "index");
      Object.assign(input, { type: "number", id: "value", min: "1", max: String(count), value: String(number) });
      input.addEventListener("change", () => host.postMessage({ type: "value", number: Number(input.value) }));
      values.push(labelled(`Value of ${count}`, input));
    }
    const layouts = make("select", "");
    layouts.id = "layout";
    layouts.append(...["", ...view.layouts].map((layout) => new Option(layout || "no image", layout, false, layout === (view.image?.layout ?? ""))));
    layouts.addEventListener("change", () => host.postMessage({ type: "layout", layout: layouts.value }));
    const bar = make(
      "div",
      "",
      ...values,
      labelled("Slice", slice),
      ...indices,
      ...(view.layouts.length > 0 ? [labelled("Image", layouts)] : []),
      button("Compare with…", isDebugged, "compare"),
      button("Copy as numpy", view.numpy !== undefined, "copy"),
      button("Save .npy…", isSaved, "save"),
    );
    bar.id = "tools";
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", "Slice");
    return bar;
  }

  function show(answer, abilities) {
    const view = answer.tensor;
    // The control that has the focus is replaced.
    const focused = document.activeElement?.id;
    readPalette();
    const pictures = make("div", "");
    pictures.id = "pictures";
    const drawn = [view.picture, view.other, view.difference].filter((one) => one !== undefined);
    pictures.append(...drawn.map(picture), ...(view.image ? [image(view.image)] : []));
    const head = make("header", "", make("code", "source", view.name), make("code", "", view.type), make("span", "kind", view.summary));
    main.replaceChildren(head, tools(answer, abilities), pictures);
    main.hidden = false;
    if (focused) {
      document.getElementById(focused)?.focus();
    }
    return drawn;
  }

  window.addEventListener("message", ({ data }) => {
    if (data.type !== "tensor") {
      return;
    }
    problem.textContent = data.problem;
    problem.hidden = !data.problem;
    const drawn = data.answer ? show(data.answer, data) : [];
    host.postMessage({
      type: "shown",
      slice: data.answer?.tensor.slice ?? "",
      titles: drawn.map(({ title }) => title),
      cells: drawn[0]?.cells.length ?? 0,
      problem: data.problem,
    });
  });
  host.postMessage({ type: "ready" });
})();
