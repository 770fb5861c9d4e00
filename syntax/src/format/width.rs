//! How wide a piece of text is on one line.

use crate::{Node, NodeOrToken, SyntaxKind};

/// The characters of a node on one line, comments left out: a matter of its tokens alone, so that
/// one layout gives the same answer as another. Stops counting at `most`.
pub(super) fn flat(node: Node<'_>, most: usize) -> usize {
    let mut width = 0;
    let mut stack = vec![NodeOrToken::Node(node)];
    while let Some(element) = stack.pop() {
        match element {
            NodeOrToken::Node(node) => stack.extend(node.elements().rev()),
            NodeOrToken::Token(token) => {
                let kind = token.kind();
                if !kind.is_trivia() {
                    width += token.text().chars().count() + spaces(kind);
                }
            }
        }
        if width > most {
            break;
        }
    }
    width
}

/// The spaces around a token.
fn spaces(kind: SyntaxKind) -> usize {
    use SyntaxKind::*;
    match kind {
        COMMA | COLON => 1,
        THIN_ARROW | FAT_ARROW | PLUS | STAR | EQ2 | NEQ | LT | GT | LE | GE | AMP2 | PIPE2 => 2,
        kind if kind.is_keyword() => 1,
        _ => 0,
    }
}

/// Whether a node holds something that stands on lines of its own: a block, the arms of a `match`.
pub(super) fn has_lines(node: Node<'_>) -> bool {
    node.descendants().any(|node| matches!(node.kind(), SyntaxKind::BLOCK | SyntaxKind::ARM_LIST))
}
