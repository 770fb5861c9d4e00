// The page of a run's result: its tensors, the profile, and the values that are NaN or infinite.
(() => {
  "use strict";
  const host = acquireVsCodeApi();
  const main = document.getElementById("result");

  /** The number of rows of a table of times. */
  const ROWS = 12;

  /** An element that can be clicked and reached with the keyboard. */
  function button(text, message) {
    const element = make("button", "link", text);
    element.addEventListener("click", () => host.postMessage(message));
    return element;
  }

  /** A bar whose length is a fraction of the maximum. */
  function bar(share) {
    const element = make("meter");
    element.min = 0;
    element.max = 1;
    element.value = Math.max(share, 0);
    return element;
  }

  function head({ function: name, time, random, warnings }) {
    const parts = [make("b", "", name), make("span", "time", time.text)];
    if (random !== undefined) {
      parts.push(make("span", "note", random));
    }
    parts.push(button("as text", { type: "text" }));
    return [make("header", "", ...parts), ...(warnings ?? []).map((text) => make("p", "warning", text))];
  }

  /** The variables that are not finite, in the order of evaluation: the first one is the likely cause. */
  function trail(found) {
    const rows = found.slice(0, ROWS).map(({ name, range, text }, at) =>
      make(
        "tr",
        at === 0 ? "first" : "",
        make("td", "name", button(name, { type: "go", range })),
        make("td", "", text),
        make("td", "note", at === 0 ? "the first that is not finite" : ""),
      ),
    );
    if (found.length > ROWS) {
      rows.push(make("tr", "", make("td", "note", `… and ${found.length - ROWS} more`)));
    }
    return section("NaN and Inf", make("table", "trail", ...rows));
  }

  function tensor({ name, type, brief, text, scores }) {
    const about = [make("b", "", name), make("code", "type", type ?? ""), make("span", "note", brief ?? "")];
    if (type !== undefined) {
      about.push(button("view", { type: "view", name }));
    }
    const out = make("div", "tensor", make("div", "about", ...about));
    if (scores) {
      const values = scores.map(({ value }) => value);
      const [most, least] = [Math.max(...values), Math.min(0, ...values)];
      const rows = scores.map(({ place, value, text }) =>
        make("tr", "", make("td", "number", place), make("td", "number", text), make("td", "", bar((value - least) / (most - least || 1)))),
      );
      out.append(make("table", "scores", ...rows));
    }
    out.append(make("pre", "", text));
    return out;
  }

  /** The profile, with a selection of groupings. */
  function times(title, rows, total, label) {
    const shown = rows.slice(0, ROWS).map((row) =>
      make(
        "tr",
        "",
        make("td", "name", label(row)),
        make("td", "number", `${row.calls.text}×`),
        make("td", "number", row.time.text),
        make("td", "", bar(row.time.value / (total.time.value || 1))),
      ),
    );
    if (rows.length > ROWS) {
      shown.push(make("tr", "", make("td", "note", `… and ${rows.length - ROWS} more`)));
    }
    return section(title, make("table", "times", ...shown));
  }

  /** What the run did in its time. */
  function parts({ parts, wall }) {
    const rows = parts.map(({ what, time }) =>
      make("tr", "", make("td", "name", what), make("td", "number", time.text), make("td", "", bar(time.value / (wall.value || 1)))),
    );
    return section(`Time of the run: ${wall.text}`, make("table", "times", ...rows));
  }

  function binding({ binding, operator, at }) {
    const name = binding ? `${binding} = ${operator}` : operator;
    return at ? button(name, { type: "go", range: at }) : name;
  }

  function draw(result) {
    const { tensors, profile, notFinite } = result;
    const out = head(result);
    const columns = make("div", "columns");
    if (notFinite?.length > 0) {
      columns.append(trail(notFinite));
    }
    const shown = section("Result", ...tensors.map(tensor));
    shown.className = "result";
    columns.append(shown);
    // A run that was cancelled at its end has no tables.
    if (profile?.total.calls.value > 0) {
      const { operators, layers, bindings, total } = profile;
      // Long loops over scalars are measured partially.
      const first = total.cut ? ` (first ${total.calls.text} calls)` : "";
      columns.append(parts(total));
      columns.append(times(`Time by operator${first}`, operators, total, (row) => row.operator));
      if (layers.length > 0) {
        columns.append(times("Time by layer", layers, total, ({ layer, depth }) => `${"\u2003".repeat(depth)}${layer}`));
      }
      columns.append(times("Slowest calls", bindings, total, binding));
    }
    main.replaceChildren(...out, columns);
  }

  window.addEventListener("message", ({ data }) => {
    if (data.type === "result") {
      draw(data.result);
    }
  });
  host.postMessage({ type: "ready" });
})();
