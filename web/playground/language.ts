// Relay in Monaco: a tokeniser for the time before the semantic tokens arrive, brackets, and the theme.

import { editor, languages } from "monaco-editor/editor";

export const RELAY = "relay";

export function register(): void {
  languages.register({ id: RELAY, extensions: [".relay", ".rly"], aliases: ["Relay"] });
  languages.setLanguageConfiguration(RELAY, {
    comments: { lineComment: "//", blockComment: ["/*", "*/"] },
    brackets: [["{", "}"], ["[", "]"], ["(", ")"]],
    autoClosingPairs: [
      { open: "{", close: "}" },
      { open: "[", close: "]" },
      { open: "(", close: ")" },
      { open: '"', close: '"', notIn: ["string", "comment"] },
    ],
    wordPattern: /[%@]?[\w$][\w$:./-]*/,
  });
  languages.setMonarchTokensProvider(RELAY, {
    keywords: ["def", "let", "fn", "if", "else", "match", "type", "extern", "free_var", "True", "False"],
    tokenizer: {
      root: [
        [/\/\/.*$/, "comment"],
        [/\/\*/, "comment", "@comment"],
        [/#\[.*$/, "annotation"],
        [/#.*$/, "comment"],
        [/"(?:[^"\\]|\\.)*"?/, "string"],
        [/[%][\w.:/-]+/, "variable"],
        [/@[\w.]+/, "function"],
        [/-?\d+(?:\.\d*)?(?:e[+-]?\d+)?[a-z]*\d*/, "number"],
        [/[A-Z]\w*/, { cases: { "@keywords": "keyword", "@default": "type" } }],
        [/[a-z_][\w.]*/, { cases: { "@keywords": "keyword", "@default": "identifier" } }],
      ],
      comment: [
        [/[^*/]+/, "comment"],
        [/\/\*/, "comment", "@push"],
        [/\*\//, "comment", "@pop"],
        [/./, "comment"],
      ],
    },
  });
  for (const [name, base, colours] of [
    ["relay-light", "vs", { variable: "001080", function: "795e26", type: "267f99", keyword: "af00db", number: "098658", string: "a31515", comment: "6a737d", property: "0070c1" }],
    ["relay-dark", "vs-dark", { variable: "9cdcfe", function: "dcdcaa", type: "4ec9b0", keyword: "c586c0", number: "b5cea8", string: "ce9178", comment: "8b949e", property: "4fc1ff" }],
  ] as const) {
    const { variable, property, ...others } = colours;
    // The semantic token types of the server, and the token types of the tokeniser.
    const same = { parameter: variable, variable, operator: colours.function, method: colours.function, property, typeParameter: colours.type, struct: colours.type, enum: colours.type, enumMember: property, annotation: colours.keyword, ...others };
    editor.defineTheme(name, {
      base,
      inherit: true,
      rules: Object.entries(same).map(([token, foreground]) => ({ token, foreground })),
      colors: {},
    });
  }
}
