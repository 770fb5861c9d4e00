//! Selection ranges: the word, its expression, the call, the statement, the block, the definition,
//! the file.

use semantics::{Db, SourceFile};
use syntax::{Element, Node, NodeOrToken, SyntaxKind, TextRange, TextSize, element_range};

use crate::folding::{self, FoldKind};

/// Returns the ranges around `offset`, the smallest first. Each contains the preceding one.
pub fn ranges(db: &dyn Db, file: SourceFile, offset: TextSize) -> Vec<TextRange> {
    let parse = file.parse(db);
    let root = Node::root(&parse.green);
    let mut found = vec![root.range()];
    let mut node = root;
    loop {
        let mut next = None;
        for element in node.elements() {
            let range = element_range(&element);
            if range.start() > offset {
                break;
            }
            // Between two adjacent tokens, the right one wins if it is a word.
            if range.contains_inclusive(offset)
                && !is_space(&element)
                && (next.is_none() || range.contains(offset) && is_word(&element))
            {
                next = Some(element);
            }
        }
        if let Some(inner) = inside(node)
            && inner.contains_inclusive(offset)
        {
            found.push(inner);
        }
        match next {
            Some(NodeOrToken::Node(child)) => {
                found.push(child.range());
                node = child;
            }
            Some(NodeOrToken::Token(token)) => {
                found.push(token.range());
                break;
            }
            None => break,
        }
    }
    found.dedup();
    // In malformed text a list may overlap its contents; the outer range wins.
    let mut nested: Vec<TextRange> = Vec::with_capacity(found.len());
    for range in found {
        if nested.last().is_none_or(|outer| outer.contains_range(range) && *outer != range) {
            nested.push(range);
        }
    }
    nested.reverse();
    nested
}

fn is_space(element: &Element<'_>) -> bool {
    element.as_token().is_some_and(|token| token.kind() == SyntaxKind::WHITESPACE)
}

fn is_word(element: &Element<'_>) -> bool {
    element.as_token().is_none_or(|token| {
        let text = token.text().as_bytes();
        text.len() > 1 || text.first().is_some_and(u8::is_ascii_alphanumeric)
    })
}

/// Returns the range between the brackets of a block or list.
fn inside(node: Node<'_>) -> Option<TextRange> {
    let is_list = matches!(folding::kind_of(node.kind()), Some(FoldKind::Block | FoldKind::List));
    let (_, content) =
        folding::inside(node).filter(|_| is_list || node.kind() == SyntaxKind::SHAPE)?;
    Some(content)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::Fixture;

    fn check(text: &str, expected: Expect) {
        let fixture = Fixture::new(text);
        let ranges = super::ranges(&fixture.db, fixture.file, fixture.cursor());
        let mut out = String::new();
        let mut inner = syntax::TextRange::empty(fixture.cursor());
        for range in ranges {
            assert!(range.contains_range(inner), "{range:?} around {inner:?}");
            inner = range;
            out += &format!("{:?}\n", &fixture.text[std::ops::Range::<usize>::from(range)]);
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn selection_expands_from_word_to_file() {
        check(
            "def @main(%x: int32) {\n  let %y = add(%x, mul$0tiply(%x, 2));\n  %y\n}\n",
            expect![[r#"
                "multiply"
                "multiply(%x, 2)"
                "%x, multiply(%x, 2)"
                "(%x, multiply(%x, 2))"
                "add(%x, multiply(%x, 2))"
                "let %y = add(%x, multiply(%x, 2));"
                "let %y = add(%x, multiply(%x, 2));\n  %y"
                "{\n  let %y = add(%x, multiply(%x, 2));\n  %y\n}"
                "def @main(%x: int32) {\n  let %y = add(%x, multiply(%x, 2));\n  %y\n}"
                "def @main(%x: int32) {\n  let %y = add(%x, multiply(%x, 2));\n  %y\n}\n"
            "#]],
        );
    }

    #[test]
    fn selection_between_tokens_and_in_malformed_text() {
        check(
            "def @f(%x: Tensor[(2, $03), int8]) { %x }",
            expect![[r#"
            "3"
            "2, 3"
            "(2, 3)"
            "Tensor[(2, 3), int8]"
            "%x: Tensor[(2, 3), int8]"
            "(%x: Tensor[(2, 3), int8])"
            "def @f(%x: Tensor[(2, 3), int8]) { %x }"
        "#]],
        );
        check(
            "def @f() { 1 }\n\n$0",
            expect![[r#"
            "def @f() { 1 }\n\n"
        "#]],
        );
        check(
            "def @f( { (1, $0",
            expect![[r#"
            "def @f( { (1, "
        "#]],
        );
    }
}
