// The dataflow graphs of functions, for pages.

/** The functions of a report and those inside of them, with the names and lines of their calls. */
function functionsOf(report) {
  const flat = (functions) => functions.flatMap((one) => [one, ...flat(one.functions)]);
  const all = flat(report);
  // A copy of each of thousands of calls would take longer than to read the report.
  all.forEach(({ rows }) => rows.forEach((row, at) => Object.assign(row, { at, line: row.range, name: row.binding ?? `#${at}` })));
  return all;
}

/** Saves data as a file of the browser. */
function download(name, data, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([data], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

/** The buttons of a picture, as the shape panel has them. `graph` returns the picture; a status says what was saved. */
function tools(host, one, graph, cost, way) {
  host.innerHTML = `<button title="All of the graph (F)">Fit</button> <button title="As it opens, to be read (0)">Reset</button>
    <button title="Zoom to the selected call and those beside it (S)">Selection</button> <button title="Keeps the selected box marked, and a group open (P)">Pin</button>
    <label>Colour <select></select></label>
    <select aria-label="What is saved"><option value="whole">Whole</option><option value="visible">Visible</option></select>
    <button title="Save the graph as SVG">SVG</button> <button title="Save the graph as PNG">PNG</button> <span role="status"></span>
    <div class="legend" aria-label="Colours"></div>`;
  const [fit, reset, selection, pin, svg, png] = host.querySelectorAll("button");
  const [colour, extent] = host.querySelectorAll("select");
  const file = one.name.replace(/^[@%]/, "").replace(/[^\w.-]/g, "_");
  const save = ({ data, whole }, kind, type) => {
    const what = whole ? extent.selectedOptions[0].text.toLowerCase() : "the visible part, as the whole is too large for an image";
    host.querySelector("span").textContent = `Saved ${what}`;
    download(`${file}.${kind}`, data, type);
  };
  fit.addEventListener("click", () => graph().fit());
  reset.addEventListener("click", () => graph().reset());
  selection.addEventListener("click", () => graph().zoomToSelection());
  pin.addEventListener("click", () => graph().pin());
  svg.addEventListener("click", () => save(exportSvg(graph(), extent.value), "svg", "image/svg+xml"));
  png.addEventListener("click", async () => save(await exportPng(graph(), extent.value), "png", "image/png"));
  offerColours(colour, [one], way);
  const explain = () => showLegend(host.querySelector(".legend"), one, colour.value, cost());
  colour.addEventListener("change", () => {
    explain();
    graph().recolour();
  });
  explain();
  return { colour, explain };
}

/** The number of graphs that are open at first. */
const OPEN = 8;
let opened = 0;
let resolveFirst;
/** The graphs that are laid out, in the order in which they were opened. */
const graphs = [];
/** Resolves once the first graph is on the screen. */
const firstPicture = new Promise((resolve) => (resolveFirst = resolve));

/**
 * The dataflow graph of one of some `functions`, which is laid out once it is open and in sight. `pick` is called with a
 * call that is clicked; `cost` returns the chosen cost, and `way` is how the graph is coloured at first.
 */
function picture(section, one, functions, { pick = () => {}, cost = () => "macs", way = "kind" } = {}) {
  const details = document.createElement("details");
  details.innerHTML = `<summary>Dataflow</summary><div class="tools" role="toolbar" aria-label="Graph"></div><div class="picture"><ul class="reader" role="tree"></ul><canvas tabindex="0" role="application"></canvas><canvas class="minimap" aria-hidden="true" hidden></canvas><div class="tip" hidden></div></div>`;
  const [canvas, minimap] = details.querySelectorAll("canvas");
  const list = details.querySelector("ul");
  const tip = details.querySelector(".tip");
  list.setAttribute("aria-label", `Dataflow of ${one.name}`);
  canvas.setAttribute("aria-label", `Dataflow of ${one.name}: arrows go along it, Enter opens a group, F fits, S zooms to the selection, P pins`);
  let graph;
  const select = (at) => {
    graph.mark(at, true);
    const { kind, row, level } = graph.scene.items[at] ?? {};
    if (kind === "call" && level.scope.one === one) {
      pick(row.at);
    }
  };
  const point = ({ item }, event) => {
    const text = marksOf(graph.scene.items[item]);
    tip.hidden = text === "";
    tip.textContent = text;
    tip.style.left = `${Math.max(0, Math.min(event.offsetX + 12, canvas.clientWidth - tip.offsetWidth))}px`;
    tip.style.top = `${Math.max(0, Math.min(event.offsetY + 12, canvas.clientHeight - tip.offsetHeight))}px`;
  };
  const draw = () => {
    const { colour, explain } = tools(details.querySelector(".tools"), one, () => graph, cost, way);
    const paint = (at) => paintOf(graph.scene, at, colour.value, cost());
    graph = new Graph({ canvas, minimap, list, paint, isBright: () => true, select, open: () => {}, point });
    graphs.push({ graph, explain });
    // It is drawn before the next frame, which is shown before the next timer.
    void graph.show(one.name, one, functions).finally(() => requestAnimationFrame(() => setTimeout(resolveFirst)));
  };
  // A page may have many graphs: those that are not in sight wait.
  const sight = new IntersectionObserver((seen) => {
    if (seen.some(({ isIntersecting }) => isIntersecting)) {
      sight.disconnect();
      draw();
    }
  }, { rootMargin: "200px" });
  section.append(details);
  if (opened === 0) {
    draw();
  } else {
    details.addEventListener("toggle", () => sight.observe(canvas), { once: true });
  }
  details.open = opened++ < OPEN;
  // A call that is chosen in the table is shown in the picture.
  return (row) => graph?.reveal(row);
}

/** The graphs of the functions of a page of another report, coloured in a `way`. */
function drawGraphs(host, way) {
  const functions = functionsOf(JSON.parse(document.getElementById("graphs").textContent));
  for (const one of functions.filter(({ rows }) => rows.length > 0)) {
    const heading = host.appendChild(document.createElement("h2"));
    heading.append(Object.assign(document.createElement("code"), { textContent: one.name }));
    picture(host, one, functions, { way });
  }
}
