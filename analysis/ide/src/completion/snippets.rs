//! Completion of keywords and snippets.

use super::{Item, ItemKind, List, item};

/// Returns the version header, which TVM requires first.
pub(super) fn version_header() -> Item {
    Item {
        detail: Some("the version header".into()),
        ..item("#[version = \"0.0.5\"]", ItemKind::Keyword)
    }
}

/// The keywords that start an expression: the class, the label, the description and the snippet.
const EXPRESSIONS: &[(u8, &str, &str, &str)] = &[
    (7, "fn", "a function", "fn (${1:%x}: ${2:float32}) {\n  $0\n}"),
    (7, "if", "a conditional", "if (${1:cond}) {\n  ${2:then}\n} else {\n  ${3:otherwise}\n}$0"),
    (7, "match", "a match", "match (${1:value}) {\n  ${2:pattern} => ${3:value},\n}$0"),
    (
        8,
        "match?",
        "a match that may be incomplete",
        "match? (${1:value}) {\n  ${2:pattern} => ${3:value},\n}$0",
    ),
    (8, "ref", "a new reference", "ref(${1:value})$0"),
    (8, "ref_read", "the value of a reference", "ref_read(${1:reference})$0"),
    (8, "ref_write", "a new value for a reference", "ref_write(${1:reference}, ${2:value})$0"),
];

impl List<'_, '_> {
    fn snippet(&mut self, class: u8, label: &str, detail: &str, text: &str) {
        let detail = self.abilities.snippets.then(|| detail.to_owned());
        let entry = Item { detail, ..item(label, ItemKind::Keyword) };
        self.add(class, 0, self.expanded(entry, text.to_owned()));
    }

    /// Adds the keywords that start an item.
    pub(super) fn items_of_module(&mut self) {
        self.snippet(
            0,
            "def",
            "a function",
            "def @${1:main}(${2:%x}: ${3:Tensor[(1, 3, 224, 224), float32]}) {\n  $0\n}",
        );
        self.snippet(1, "type", "a data type", "type ${1:T}[${2:A}] {\n  ${3:C}($2),\n}$0");
        self.snippet(2, "extern type", "an external type", "extern type ${1:T}$0");
        self.add(3, 0, version_header());
    }

    /// Adds the keywords that start a statement.
    pub(super) fn statement_keywords(&mut self) {
        // Once a letter is typed, `let` precedes the operators.
        let class = if self.typed.is_empty() { 2 } else { 0 };
        self.snippet(class, "let", "a binding", "let ${1:%x} = ${2:value};\n$0");
        self.snippet(9, "free_var", "a free variable", "free_var ${1:%x}: ${2:float32};\n$0");
    }

    /// Adds the keywords that start an expression.
    pub(super) fn expr_keywords(&mut self) {
        if self.typed.starts_with(['%', '@']) {
            return;
        }
        for (class, label, detail, text) in EXPRESSIONS {
            self.snippet(*class, label, detail, text);
        }
        self.add(8, 0, item("True", ItemKind::Keyword));
        self.add(8, 1, item("False", ItemKind::Keyword));
    }

    /// Adds examples of the shape in a tensor type.
    pub(super) fn shapes(&mut self) {
        let shapes = [
            (
                "(1, 3, 224, 224)",
                "an image, channels first",
                "(${1:1}, ${2:3}, ${3:224}, ${4:224})",
            ),
            ("(1, 224, 224, 3)", "an image, channels last", "(${1:1}, ${2:224}, ${3:224}, ${4:3})"),
            ("(1, 128, 768)", "batch, sequence, features", "(${1:1}, ${2:128}, ${3:768})"),
            (
                "(64, 64, 3, 3)",
                "a kernel: out, in, height, width",
                "(${1:64}, ${2:64}, ${3:3}, ${4:3})",
            ),
            ("(1, 64)", "a matrix", "(${1:1}, ${2:64})"),
            ("(64)", "a vector", "(${1:64})"),
            ("(?, 64)", "an unknown size", "(?, ${1:64})"),
        ];
        for (order, (label, detail, text)) in shapes.into_iter().enumerate() {
            let entry = Item { detail: Some(detail.to_owned()), ..item(label, ItemKind::Snippet) };
            self.add(0, order as u32, self.expanded(entry, text.to_owned()));
        }
    }
}
