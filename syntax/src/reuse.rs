//! Structural sharing between a full parse and the parse before it.
//!
//! An edit in the header of a definition, or a client that sends the whole text on every change,
//! forces a full parse, although nearly all definitions and statements are unchanged. Those are
//! taken from the old tree. Memos about them stay valid by a comparison of addresses, and memory
//! holds them once: without sharing, memos would keep the old tree alive next to the new one.

use rowan::{GreenNode, GreenNodeData, NodeOrToken};

use crate::{
    SyntaxKind,
    interner::{Child, Element, address, borrowed},
};

/// Returns `new` with its longest prefix and suffix of children that equal those of `old` taken
/// from `old`; the children between them are treated likewise, one level further down.
pub(crate) fn reuse(old: &GreenNodeData, new: GreenNode) -> GreenNode {
    let prefix = old.children().zip(new.children()).take_while(|&(a, b)| is_equal(a, b)).count();
    let shorter = old.children().len().min(new.children().len());
    let suffix = old.children().rev().zip(new.children().rev());
    let suffix = suffix.take(shorter - prefix).take_while(|&(a, b)| is_equal(a, b)).count();

    let (old_count, new_count) = (old.children().len(), new.children().len());
    let old_middle = old.children().skip(prefix).take(old_count - suffix - prefix);
    let middle = new.children().skip(prefix).take(new_count - suffix - prefix);
    let middle: Vec<_> = reuse_each(old_middle, middle).collect();
    let children = || {
        let prefix = old.children().take(prefix);
        prefix.chain(middle.iter().map(borrowed)).chain(old.children().skip(old_count - suffix))
    };
    // Usually all of it is shared already, and the block of a network has thousands of children.
    let is_shared = |(reused, child): (Child<'_>, Child<'_>)| {
        matches!(child, NodeOrToken::Token(_)) || address(reused) == address(child)
    };
    if children().zip(new.children()).all(is_shared) {
        return new;
    }
    let children: Vec<_> = children().map(owned).collect();
    GreenNode::new(new.kind(), children)
}

/// Pairs new children with old ones by position and reuses what each pair has in common.
pub(crate) fn reuse_each<'t>(
    old: impl Iterator<Item = Child<'t>>,
    new: impl Iterator<Item = Child<'t>>,
) -> impl Iterator<Item = Element> {
    let mut old = old;
    new.map(move |child| match (child, old.next()) {
        (NodeOrToken::Node(new), Some(NodeOrToken::Node(old)))
            if new.kind() == old.kind() && is_divisible(SyntaxKind::of(new.kind())) =>
        {
            reuse(old, new.to_owned()).into()
        }
        (child, _) => owned(child),
    })
}

/// Returns true if parts of such a node are worth reusing. These kinds nest at most four levels
/// deep, which bounds the recursion.
fn is_divisible(kind: SyntaxKind) -> bool {
    use SyntaxKind::*;
    matches!(kind, FN_DEF | EXPR_ITEM | BLOCK | CHUNK)
}

/// Returns an owned child.
#[inline]
pub(crate) fn owned(child: Child<'_>) -> Element {
    match child {
        NodeOrToken::Node(node) => NodeOrToken::Node(node.to_owned()),
        NodeOrToken::Token(token) => NodeOrToken::Token(token.to_owned()),
    }
}

/// Compares two subtrees. Iterative, because `PartialEq` of [`GreenNode`] recurses as deep as the
/// text nests.
fn is_equal(a: Child<'_>, b: Child<'_>) -> bool {
    let mut stack = vec![(a, b)];
    while let Some(pair) = stack.pop() {
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
                if a.kind() != b.kind()
                    || a.text_len() != b.text_len()
                    || a.children().len() != b.children().len()
                {
                    return false;
                }
                stack.extend(a.children().zip(b.children()));
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
    fn unedited_statements_and_definitions_are_shared() {
        let after = BEFORE.replace("%b = %a", "%b = (%a, %a)");
        let (old, new) = (parse(BEFORE).green, parse(&after).green);
        let reused = reuse(&old, new.clone());
        assert_eq!(reused, new);
        let (old, reused) = (blocks(&old), blocks(&reused));
        let (before, now) = (statements(old[0]), statements(reused[0]));
        let shared: Vec<bool> = before.iter().zip(&now).map(|(a, b)| a == b).collect();
        assert_eq!(shared, [true, false, true, true]);
        assert!(std::ptr::eq(old[1], reused[1]), "the unedited definition is shared");
    }

    #[test]
    fn reuse_keeps_the_new_tree_after_insertions_and_deletions() {
        for after in [
            BEFORE.replace("  let %b = %a;\n", ""),
            BEFORE.replace("  let %b", "  let %z = 1;\n  let %b"),
            BEFORE.replace("def @g() {\n  1\n}\n", ""),
            String::new(),
            format!("{BEFORE}{BEFORE}"),
        ] {
            let (old, new) = (parse(BEFORE).green, parse(&after).green);
            assert_eq!(reuse(&old, new.clone()), new, "{after}");
            assert_eq!(reuse(&new, old.clone()), old, "{after}");
        }
    }
}
