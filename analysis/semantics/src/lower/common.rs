//! The statements that two versions of a definition have in common.

use syntax::{Node, SyntaxKind, TextSize};
use types::{Flags, Type};

use super::LoweredBody;
use crate::body::{Body, SourceMap, Unit, UnitId};

/// The statements at both ends of a block that are the same nodes as in the previous block.
#[derive(Clone, Copy, Default)]
pub(super) struct Common {
    /// The number of equal slots at the beginning, and the length of the text before the others.
    pub(super) prefix: usize,
    pub(super) prefix_len: TextSize,
    /// The number of equal slots at the end, and the length of the text from the first of them on.
    pub(super) suffix: usize,
    pub(super) suffix_len: TextSize,
}

impl Common {
    /// Compares a block with the previous one by the addresses of its elements. Which slots are equal
    /// follows from their starts, so that nothing else is read for most elements.
    pub(super) fn new(new: Node<'_>, old: &PreviousBody<'_>) -> Option<Common> {
        let (front, back) = new.shared_ends(old.block);
        let starts = &old.source.starts[1..];
        let end = old.block.range().end();
        let mut common = Common::default();
        if front == new.range().len() && front == old.block.range().len() {
            return Some(Common { prefix: starts.len(), prefix_len: front, ..common });
        }
        let before = starts.partition_point(|&start| start < old.block.start() + front);
        if let Some(last) = before.checked_sub(1) {
            // What follows the last equal slot may be its comment.
            common.prefix = last;
            common.prefix_len = starts[last] - old.block.start();
        }
        let first = starts.partition_point(|&start| start < end - back);
        if first < starts.len() {
            // The place of an empty slot does not tell its element.
            if old.source.unit(UnitId(first as u32 + 1)).is_empty() {
                return None;
            }
            common.suffix = starts.len() - first;
            common.suffix_len = end - starts[first];
        }
        Some(common)
    }
}

/// The previous block and the previous body.
pub(super) struct PreviousBody<'p> {
    pub(super) block: Node<'p>,
    pub(super) body: &'p Body,
    pub(super) source: &'p SourceMap,
}

impl<'p> PreviousBody<'p> {
    /// Returns the previous version, if it was lowered with the same type parameters.
    pub(super) fn new(previous: &'p LoweredBody, header: &Unit) -> Option<PreviousBody<'p>> {
        let old = previous.body.header();
        let same = old.map(|f| &f.type_params) == header.header().map(|f| &f.type_params);
        let block = Node::root(&previous.green).child(SyntaxKind::BLOCK).filter(|_| same)?;
        Some(PreviousBody { block, body: &previous.body, source: &previous.source })
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
