// Elements of the pages of results and of types.
"use strict";

/** Creates an element with a class and with children, which are elements or texts. */
function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) {
    element.className = name;
  }
  element.append(...children);
  return element;
}

/** Creates a section with a heading. */
function section(title, ...children) {
  return make("section", "", make("h2", "", title), ...children);
}
