// The side panel of the graph: details of the selected call, input or output.
"use strict";

/** Fills `host`. `actions` has `select(item)`, `go(range)` and `close()`. */
function showDetails(host, { scene, at, unknowns }, actions) {
  const item = scene.items[at];
  const { row } = item;
  const head = make("header", make("h2", row?.operator ?? item.name), button("×", "Close (Esc)", actions.close));
  const parts = [head];
  if (row === undefined) {
    parts.push(make("p", item.kind === "input" ? "input of the function" : "result of the function"));
  } else {
    const swatch = make("i");
    swatch.className = `swatch ${kindOf(row).key}`;
    parts.push(make("p", swatch, kindOf(row).title));
  }
  const facts = [["type", make("code", item.type)]];
  if (row !== undefined) {
    facts.unshift(["binding", make("code", row.binding ?? row.name)]);
    facts.push(...COSTS.map(({ title, text }) => [title, text(row)]));
    if (row.undefined) {
      facts.push(["not counted", row.undefined]);
    }
    if (row.span) {
      facts.push(["source", row.span]);
    }
  }
  if (item.range) {
    facts.push(["line", button(String(item.range.start.line + 1), "Go to the line", () => actions.go(item.range))]);
  }
  parts.push(pairs(facts));
  parts.push(...(row === undefined ? [] : section("Attributes", pairs((row.attributes ?? []).map(({ name, value }) => [name, make("code", value)])))));

  const items = (list) => listOf(list, (at) => ({ ...scene.items[at], act: () => actions.select(at) }));
  const sources = (kind) => listOf(item.own.filter((one) => one.kind === kind), (one) => ({ ...one, act: () => actions.go(one.range) }));
  const takers = scene.items.flatMap(({ from }, taker) => (from.includes(at) ? [taker] : []));
  parts.push(
    ...section("Inputs", items([...new Set(item.from)])),
    ...section("Weights", sources("weight")),
    ...section("Constants", sources("constant")),
    ...section(row === undefined ? "Used by" : "Output, used by", items(takers)),
  );
  for (const { name, what } of unknowns) {
    parts.push(make("p", `${name} is ${what}`));
  }
  host.replaceChildren(...parts);
  host.scrollTop = 0;
}

/** The maximal number of listed items: a constant may be used by each of 14,500 calls. */
const LISTED = 100;

function listOf(list, describe) {
  const lines = list.slice(0, LISTED).map((one) => {
    const { name, type, row, act } = describe(one);
    const line = button("", `${name}: ${type}`, act);
    line.replaceChildren(make("b", name), ` ${row ? row.operator : ""} `, make("code", compact(type)));
    return make("li", line);
  });
  if (list.length > LISTED) {
    lines.push(make("li", `and ${NUMBERS.format(list.length - LISTED)} more`));
  }
  return make("ul", ...lines);
}

/** A heading with content; nothing if the content is empty. */
function section(title, content) {
  return content.childElementCount > 0 ? [make("h3", title), content] : [];
}

function pairs(list) {
  return make("dl", ...list.flatMap(([name, value]) => [make("dt", name), make("dd", value)]));
}

function make(tag, ...children) {
  const element = document.createElement(tag);
  element.append(...children);
  return element;
}

function button(text, title, act) {
  const element = make("button", text);
  element.type = "button";
  element.title = title;
  element.addEventListener("click", act);
  return element;
}
