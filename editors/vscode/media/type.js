// The page of the type at the cursor: its type, the axes of each tensor, and the variables in use.
(() => {
  "use strict";
  const host = acquireVsCodeApi();
  const info = document.getElementById("info");

  /** A text in which `code` is in backquotes. */
  function prose(text) {
    const parts = text.split("`");
    return parts.map((part, at) => (at % 2 === 1 ? make("code", "", part) : part));
  }

  /** A link to a place of the text. */
  function link(location, ...children) {
    const element = make("a", "", ...children);
    element.href = "#";
    element.addEventListener("click", (event) => {
      event.preventDefault();
      host.postMessage({ type: "go", location });
    });
    return element;
  }

  const TOKEN = /(%[\w.:/]+|@[\w.:/]+)|\b(Tensor|fn|ref|where|[A-Z]\w*)\b|\b((?:bfloat|float|uint|int)\d+|bool)\b|(\d+|\?)/g;
  const COLOURS = ["", "name", "keyword", "dtype", "size"];

  /** A type with syntax highlighting. */
  function coloured(text) {
    const out = [];
    let end = 0;
    for (const found of text.matchAll(TOKEN)) {
      out.push(text.slice(end, found.index));
      const kind = found.findIndex((group, at) => at > 0 && group !== undefined);
      out.push(make("span", COLOURS[kind], found[0]));
      end = found.index + found[0].length;
    }
    out.push(text.slice(end));
    return out;
  }

  function axis({ axis, size, letter, source, origin }) {
    const from = make("td", "from");
    if (source) {
      from.append(link(source.location, ...prose(source.message)));
    }
    if (origin) {
      from.append(make("span", "then", " ← "), link(origin.location, ...prose(origin.message)));
    }
    return make("tr", "axis", make("td", "number", String(axis)), make("td", "letter", letter ?? ""), make("td", "size", size), from);
  }

  function tensor({ part, type, amount, dimensions, isCut }) {
    const head = make("p", "tensor");
    if (part) {
      head.append(make("b", "", part), ": ", make("code", "type", ...coloured(type)));
    }
    if (part && amount) {
      head.append(make("span", "amount", `, ${amount}`));
    }
    const rows = dimensions.map(axis);
    if (isCut) {
      rows.push(make("tr", "", make("td", "", "…")));
    }
    const out = part ? make("div", "", head) : make("div", "");
    if (rows.length > 0) {
      out.append(make("table", "axes", make("tbody", "", ...rows)));
    }
    return out;
  }

  function variable({ name, type, location }) {
    return make("tr", "", make("td", "name", link(location, name)), make("td", "type", ...coloured(type)));
  }

  function expected({ place, type, note }) {
    const out = [make("p", "", ...prose(place), ...(type ? [": ", make("code", "type", ...coloured(type))] : []))];
    if (note) {
      out.push(make("p", "note", ...prose(note)));
    }
    return section("Expected here", ...out);
  }

  function elements({ facts, first, distribution }) {
    const out = [];
    if (distribution) {
      out.push(histogramOf(distribution));
    }
    if (facts) {
      out.push(make("p", "", facts));
    }
    out.push(make("p", "first", first));
    return section("Elements", ...out);
  }

  function show(found) {
    document.getElementById("nothing").hidden = true;
    const whole = found.tensors.find(({ part }) => part === "");
    const kind = make("span", "kind", ...prose(found.kind), ...(whole?.amount ? [`, ${whole.amount}`] : []));
    const children = [
      make("header", "", make("code", "source", ...coloured(found.source)), kind),
      make("pre", "type", ...coloured(found.type.join("\n"))),
    ];
    if (found.elements) {
      children.push(elements(found.elements));
    }
    // A scalar has none.
    const shaped = found.tensors.filter(({ dimensions }) => dimensions.length > 0);
    if (shaped.length > 0) {
      children.push(section("Dimensions", ...shaped.map(tensor)));
    }
    if (found.expected) {
      children.push(expected(found.expected));
    }
    if (found.context.length > 0) {
      children.push(section("Context", make("table", "context", make("tbody", "", ...found.context.map(variable)))));
    }
    info.replaceChildren(...children);
    info.hidden = false;
    const axes = found.tensors.reduce((sum, one) => sum + one.dimensions.length, 0);
    const bars = info.querySelectorAll(".bar").length;
    host.postMessage({ type: "shown", source: found.source, lines: found.type, axes, bars });
  }

  window.addEventListener("message", ({ data }) => {
    if (data.type === "info") {
      show(data.info);
    }
  });
  host.postMessage({ type: "ready" });
})();
