// Colours for Relay: the highlighter of mdBook does not know it.
(() => {
  "use strict";
  if (!window.hljs) {
    return;
  }
  hljs.registerLanguage("relay", () => ({
    keywords: {
      keyword: "def fn let if else match type extern free_var ref ref_read ref_write",
      literal: "True False",
      type: "Tensor int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bool List Option",
    },
    contains: [
      hljs.COMMENT("//", "$"),
      hljs.COMMENT("/\\*", "\\*/", { contains: ["self"] }),
      { className: "meta", begin: /#\[/, end: /\]/ },
      { className: "string", begin: /"/, end: /"/ },
      { className: "title", begin: /@[A-Za-z_][\w.:]*/ },
      { className: "variable", begin: /%[A-Za-z_0-9][\w.:]*/ },
      { className: "number", begin: /\b\d+(?:\.\d*)?(?:[eE][+-]?\d+)?(?:f\d*|i\d+)?/ },
    ],
  }));
  for (const block of document.querySelectorAll("code.language-relay")) {
    hljs.highlightBlock(block);
  }
})();
