//! Keeps what a text that was parsed as a whole has in common with the parse before.
//!
//! An edit in the header of a definition, or a client that sends the whole text each time, makes a
//! new tree of which nearly everything is what it was. Definitions and statements that are equal
//! are taken from the old tree. What is known of them stays true without a look, and memory holds
//! them once: a tree that was replaced by an equal one would live on beside it, in what has been
//! found out of it.

use rowan::{GreenNode, GreenNodeData, NodeOrToken};

use crate::{
    SyntaxKind,
    interner::{Child, Element, address, borrowed},
};

/// `new`, with those definitions and statements of `old` that it has too, up to the first that
/// differs and behind the last one.
pub(crate) fn adopt(old: &GreenNodeData, new: GreenNode) -> GreenNode {
    let front = old.children().zip(new.children()).take_while(|&(a, b)| same(a, b)).count();
    let shorter = old.children().len().min(new.children().len());
    let back = old.children().rev().zip(new.children().rev());
    let back = back.take(shorter - front).take_while(|&(a, b)| same(a, b)).count();

    let (old_count, new_count) = (old.children().len(), new.children().len());
    // An item that was edited, or its block: what is around the edit stays.
    let inside = old.children().skip(front).take(old_count - back - front);
    let middle = new.children().skip(front).take(new_count - back - front);
    let middle: Vec<_> = adopt_each(inside, middle).collect();
    let pieces = || {
        let front = old.children().take(front);
        front.chain(middle.iter().map(borrowed)).chain(old.children().skip(old_count - back))
    };
    // Nearly always everything is there already, and a network is one block of thousands.
    let is_there = |(piece, child): (Child<'_>, Child<'_>)| {
        matches!(child, NodeOrToken::Token(_)) || address(piece) == address(child)
    };
    if pieces().zip(new.children()).all(is_there) {
        return new;
    }
    let children: Vec<_> = pieces().map(owned).collect();
    GreenNode::new(new.kind(), children)
}

/// Children that came out of an edit, each with what it has in common with the one that stood in its
/// place.
pub(crate) fn adopt_each<'t>(
    old: impl Iterator<Item = Child<'t>>,
    new: impl Iterator<Item = Child<'t>>,
) -> impl Iterator<Item = Element> {
    let mut old = old;
    new.map(move |child| match (child, old.next()) {
        (NodeOrToken::Node(new), Some(NodeOrToken::Node(old)))
            if new.kind() == old.kind() && holds_pieces(SyntaxKind::of(new.kind())) =>
        {
            adopt(old, new.to_owned()).into()
        }
        (child, _) => owned(child),
    })
}

/// What is made of pieces that are understood on their own. They nest three deep, so that nothing
/// here goes deep.
fn holds_pieces(kind: SyntaxKind) -> bool {
    matches!(kind, SyntaxKind::FN_DEF | SyntaxKind::EXPR_ITEM | SyntaxKind::BLOCK)
}

fn owned(child: Child<'_>) -> Element {
    match child {
        NodeOrToken::Node(node) => NodeOrToken::Node(node.to_owned()),
        NodeOrToken::Token(token) => NodeOrToken::Token(token.to_owned()),
    }
}

/// Whether two trees are equal. Without recursion: they are as deep as the text.
fn same(a: Child<'_>, b: Child<'_>) -> bool {
    let mut open = vec![(a, b)];
    while let Some(pair) = open.pop() {
        match pair {
            (NodeOrToken::Token(a), NodeOrToken::Token(b)) => {
                if !std::ptr::eq(a, b) && (a.kind() != b.kind() || a.text() != b.text()) {
                    return false;
                }
            }
            (NodeOrToken::Node(a), NodeOrToken::Node(b)) => {
                if std::ptr::eq(a, b) {
                    continue;
                }
                let alike = a.kind() == b.kind()
                    && a.text_len() == b.text_len()
                    && a.children().len() == b.children().len();
                if !alike {
                    return false;
                }
                open.extend(a.children().zip(b.children()));
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn blocks(green: &GreenNodeData) -> Vec<&GreenNodeData> {
        green
            .children()
            .filter_map(NodeOrToken::into_node)
            .flat_map(|item| item.children().filter_map(NodeOrToken::into_node))
            .filter(|node| SyntaxKind::of(node.kind()) == SyntaxKind::BLOCK)
            .collect()
    }

    fn statements(block: &GreenNodeData) -> Vec<*const GreenNodeData> {
        let nodes = block.children().filter_map(NodeOrToken::into_node);
        nodes.map(std::ptr::from_ref::<GreenNodeData>).collect()
    }

    const BEFORE: &str = "def @f(%x: int32) {\n  let %a = %x;\n  let %b = %a;\n  let %c = %b;\n  %c\n}\n\
                          def @g() {\n  1\n}\n";

    #[test]
    fn what_an_edit_did_not_touch_is_stored_once() {
        let after = BEFORE.replace("%b = %a", "%b = (%a, %a)");
        let (old, new) = (parse(BEFORE).green, parse(&after).green);
        let adopted = adopt(&old, new.clone());
        assert_eq!(adopted, new);
        let (old, adopted) = (blocks(&old), blocks(&adopted));
        let (before, now) = (statements(old[0]), statements(adopted[0]));
        let kept: Vec<bool> = before.iter().zip(&now).map(|(a, b)| a == b).collect();
        assert_eq!(kept, [true, false, true, true]);
        assert!(std::ptr::eq(old[1], adopted[1]), "the other definition is the one it was");
    }

    #[test]
    fn what_came_and_went_leaves_the_rest() {
        for after in [
            BEFORE.replace("  let %b = %a;\n", ""),
            BEFORE.replace("  let %b", "  let %z = 1;\n  let %b"),
            BEFORE.replace("def @g() {\n  1\n}\n", ""),
            String::new(),
            format!("{BEFORE}{BEFORE}"),
        ] {
            let (old, new) = (parse(BEFORE).green, parse(&after).green);
            assert_eq!(adopt(&old, new.clone()), new, "{after}");
            assert_eq!(adopt(&new, old.clone()), old, "{after}");
        }
    }
}
