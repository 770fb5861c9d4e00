//! The statements that two versions of a definition have in common.

use syntax::{
    GreenNodeData, GreenTokenData, Node, NodeOrToken, SyntaxKind, SyntaxNode, TextRange, TextSize,
};

use types::{Flags, Type};

use super::Lowered;
use crate::body::{Body, SourceMap, Unit};

/// The statements at both ends of a block that are the same nodes as in the previous block.
#[derive(Clone, Copy, Default)]
pub(super) struct Common {
    /// The number of elements before the statements that may differ, and the length of their text.
    pub(super) prefix_elements: usize,
    pub(super) prefix_len: TextSize,
    /// The number of elements from the first equal statement after those on.
    pub(super) suffix_elements: usize,
    /// The number of equal slots at the beginning.
    pub(super) prefix: usize,
    /// The number of equal slots at the end.
    pub(super) suffix: usize,
}

impl Common {
    /// Compares a block with the previous one by the addresses of its elements. Which slots are equal
    /// follows from their starts, so that nothing else is read for most elements.
    pub(super) fn new(new: Node<'_>, old: &Old<'_>) -> Option<Common> {
        let (news, olds) = (new.green().children(), old.block.green().children());
        let same = |(a, b): &(GreenElement<'_>, GreenElement<'_>)| is_same_element(*a, *b);
        let (new_len, old_len) = (news.len(), olds.len());
        let equal = news.clone().zip(olds.clone()).take_while(same).count();
        let count = old.slots();
        let slots_before =
            |element: usize| partition(count, |slot| old.element(slot) < Some(element));
        let mut common = Common::default();
        let before = slots_before(equal);
        if equal == new_len && equal == old_len {
            common.prefix_elements = equal;
            common.prefix = before;
            common.prefix_len = old.block.green().text_len();
        } else if let Some(last) = before.checked_sub(1) {
            // What follows the last equal slot may be its comment.
            common.prefix_elements = old.element(last)?;
            common.prefix = last;
            common.prefix_len = old.start(last) - old.block.start();
        }
        let rest = new_len.min(old_len) - common.prefix_elements;
        let equal = news.rev().zip(olds.rev()).take(rest).take_while(same).count();
        let first = slots_before(old_len - equal);
        common.suffix = count - first;
        if first < count {
            common.suffix_elements = old_len - old.element(first)?;
        }
        Some(common)
    }
}

/// Returns the number of the first numbers below `count` for which `holds` is true. It is false for
/// all after those.
fn partition(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

type GreenElement<'t> = NodeOrToken<&'t GreenNodeData, &'t GreenTokenData>;

fn is_same_element(a: GreenElement<'_>, b: GreenElement<'_>) -> bool {
    // No node has the address of a token.
    let address = |element: GreenElement<'_>| match element {
        NodeOrToken::Node(node) => std::ptr::from_ref(node).cast::<()>(),
        NodeOrToken::Token(token) => std::ptr::from_ref(token).cast::<()>(),
    };
    address(a) == address(b)
}

/// The previous block and the previous body.
pub(super) struct Old<'p> {
    pub(super) block: Node<'p>,
    pub(super) body: &'p Body,
    pub(super) source: &'p SourceMap,
    /// Finds elements by offset: green nodes store the offsets of their children, but only red ones
    /// expose them.
    red: SyntaxNode,
}

impl<'p> Old<'p> {
    /// Returns the previous version, if it was lowered with the same type parameters.
    pub(super) fn new(previous: &'p Lowered, header: &Unit) -> Option<Old<'p>> {
        let old = previous.body.header();
        let same = old.map(|f| &f.type_params) == header.header().map(|f| &f.type_params);
        let block = Node::root(&previous.green).child(SyntaxKind::BLOCK).filter(|_| same)?;
        let red = SyntaxNode::new_root(block.green().to_owned());
        Some(Old { block, body: &previous.body, source: &previous.source, red })
    }

    /// Returns the number of slots.
    fn slots(&self) -> usize {
        self.body.units.len() - 1
    }

    /// Returns the start of a slot, relative to the definition.
    fn start(&self, slot: usize) -> TextSize {
        self.source.starts[slot + 1]
    }

    /// Returns the number of the element of a slot, or `None` for an empty one.
    fn element(&self, slot: usize) -> Option<usize> {
        let start = self.start(slot).checked_sub(self.block.start())?;
        let found = self.red.child_or_token_at_range(TextRange::at(start, TextSize::new(1)))?;
        let is_slot = found.as_node().is_some_and(|node| node.kind() != SyntaxKind::ERROR);
        (is_slot && found.text_range().start() == start).then(|| found.index())
    }
}

/// Returns true if equal types are shown equally, too: the names of parameters and symbols take no part
/// in the equality of types.
pub(crate) fn is_shareable(ty: &Type) -> bool {
    let named = Flags::POLY.or(Flags::PARAM).or(Flags::SYMBOL);
    ty.is_closed() && !ty.flags().has(named)
}

/// Takes what is equal in a unit and another one, which shares it with many others: types, texts and
/// attributes. Without it, every statement that was ever edited would hold its own.
pub(super) fn share(unit: &mut Unit, other: &Unit) {
    /// Calls `f` with the elements that have the same place from the beginning, or from the end.
    fn pairs<T>(list: &mut [T], others: &[T], f: impl Fn(&mut T, &T)) {
        list.iter_mut().zip(others).for_each(|(own, other)| f(own, other));
        list.iter_mut().rev().zip(others.iter().rev()).for_each(|(own, other)| f(own, other));
    }
    fn take<T: Clone + PartialEq>(own: &mut T, other: &T) {
        if own == other {
            own.clone_from(other);
        }
    }
    pairs(&mut unit.binders, &other.binders, |own, other| {
        take(&mut own.name, &other.name);
        if other.annotation.as_ref().is_none_or(is_shareable) {
            take(&mut own.annotation, &other.annotation);
        }
    });
    pairs(&mut unit.frees, &other.frees, |own, other| take(&mut own.name, &other.name));
    pairs(&mut unit.type_comments, &other.type_comments, |own, other| {
        take(&mut own.text, &other.text);
    });
    pairs(&mut unit.calls, &other.calls, |own, other| {
        take(&mut own.attrs, &other.attrs);
        take(&mut own.written, &other.written);
    });
}
