// The side panel of the graph: details of the selected call, input or output.
"use strict";

const ROLES = { input: "input of the function", output: "result of the function", entry: "value from outside", exit: "values for outside" };

/** Fills `host`. `actions` has `select(item)`, `go(range)` and `close()`. */
function showDetails(host, { scene, at, unknowns, toggle, canOpen }, actions) {
  const item = scene.items[at];
  const { row, group } = item;
  const head = make("header", make("h2", titleOf(item)), button("×", "Close (Esc)", actions.close));
  const parts = [head];
  if (canOpen) {
    parts.push(make("p", button(item.isOpen ? "Close" : "Open", "Opens or closes the box (Space)", toggle)));
  }
  if (group !== undefined) {
    parts.push(make("p", group.kindName ?? group.kind));
  } else if (row === undefined) {
    parts.push(make("p", ROLES[item.kind]));
  } else {
    const swatch = make("i");
    swatch.className = `swatch ${kindOf(row).key}`;
    parts.push(make("p", swatch, kindOf(row).title));
  }
  const facts = [["type", make("code", row?.type ?? item.label)]];
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
  if (group !== undefined) {
    facts.push(["calls", group.calls.text], ["MACs", textOf(group.macs)], ["bytes", textOf(group.bytes)], ["parameters", textOf(group.parameters)]);
    if (group.exceptions > 0) {
      facts.push(["differing", NUMBERS.format(group.exceptions)]);
    }
  }
  if (item.range) {
    facts.push(["line", button(String(item.range.start.line + 1), "Go to the line", () => actions.go(item.range))]);
  }
  parts.push(pairs(facts));
  parts.push(...(row === undefined ? [] : section("Attributes", pairs((row.attributes ?? []).map(({ name, value }) => [name, make("code", value)])))));

  const items = (list) => listOf(list, (at) => ({ ...scene.items[at], act: () => actions.select(at) }));
  const sources = (...kinds) => listOf(item.pills.filter((one) => kinds.includes(one.kind)), (one) => ({ ...one, act: () => actions.go(one.range) }));
  const ends = (one, other) => [...new Set(scene.edges.filter((edge) => edge[one] === at).map((edge) => edge[other]))];
  parts.push(
    ...section("Inputs", items(ends("to", "from"))),
    ...section("Other inputs", sources("input", "jump")),
    ...section("Weights", sources("weight")),
    ...section("Constants", sources("constant")),
    ...section(row === undefined ? "Used by" : "Output, used by", items(ends("from", "to"))),
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
    const { name, type, label, row, act } = describe(one);
    const line = button("", `${name}: ${row?.type ?? type ?? label}`, act);
    line.replaceChildren(make("b", name), ` ${row ? row.operator : ""} `, make("code", label));
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
