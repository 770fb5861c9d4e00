//! Estimates the width of a node on one line.

use crate::{Node, NodeOrToken, SyntaxKind};

/// Returns the number of characters of a node on one line, without comments. It depends on the
/// tokens alone and not on the white space of the source, which keeps formatting idempotent. The
/// count stops soon after `max`.
pub(super) fn flat(node: Node<'_>, max: usize) -> usize {
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
        if width > max {
            break;
        }
    }
    width
}

/// Returns the number of spaces around a token.
fn spaces(kind: SyntaxKind) -> usize {
    use SyntaxKind::*;
    match kind {
        COMMA | COLON => 1,
        THIN_ARROW | FAT_ARROW | PLUS | STAR | EQ2 | NEQ | LT | GT | LE | GE | AMP2 | PIPE2 => 2,
        kind if kind.is_keyword() => 1,
        _ => 0,
    }
}

/// Returns true if a node contains line breaks in any layout: a block or the arms of a `match`.
pub(super) fn has_lines(node: Node<'_>) -> bool {
    node.descendants().any(|node| matches!(node.kind(), SyntaxKind::BLOCK | SyntaxKind::ARM_LIST))
}
