//! The edits of a fix, which may be computed on first use.

use std::{
    fmt,
    ops::{Deref, DerefMut},
    sync::OnceLock,
};

use syntax::{GreenNode, Node, TextRange, TextSize};

/// A range of the text and its replacement.
pub(crate) type Edit = (TextRange, String);

/// Returns an insertion.
pub(crate) fn insert(at: TextSize, text: impl Into<String>) -> Edit {
    (TextRange::empty(at), text.into())
}

/// Returns the insertions of parentheses around a range.
pub(crate) fn parenthesise(range: TextRange) -> [Edit; 2] {
    [insert(range.start(), "("), insert(range.end(), ")")]
}

/// Derives edits from the root of a tree.
type Compute = fn(Node<'_>) -> Vec<Edit>;

/// The edits of a fix: ranges to replace, each with the new text.
///
/// A fix that changes a whole file is offered after every keystroke and applied once in a while.
/// Its edits are computed from the tree when they are first read.
#[derive(Clone, Default)]
pub struct Edits {
    edits: OnceLock<Vec<Edit>>,
    deferred: Option<(GreenNode, Compute)>,
}

impl Edits {
    /// Returns edits that `compute` derives from a tree when they are first read.
    pub(crate) fn deferred(tree: GreenNode, compute: Compute) -> Edits {
        Edits { edits: OnceLock::new(), deferred: Some((tree, compute)) }
    }

    /// Returns true if the edits are computed when they are first read.
    pub(crate) fn is_deferred(&self) -> bool {
        self.deferred.is_some()
    }
}

impl Deref for Edits {
    type Target = Vec<Edit>;

    fn deref(&self) -> &Vec<Edit> {
        self.edits.get_or_init(|| match &self.deferred {
            Some((tree, compute)) => compute(Node::root(tree)),
            None => Vec::new(),
        })
    }
}

impl DerefMut for Edits {
    fn deref_mut(&mut self) -> &mut Vec<Edit> {
        // After a change, they no longer follow from the tree.
        let edits = match self.edits.take() {
            Some(edits) => edits,
            None => std::mem::take(self).to_vec(),
        };
        *self = Edits::from(edits);
        self.edits.get_mut().expect("the edits were just set")
    }
}

impl From<Vec<Edit>> for Edits {
    fn from(edits: Vec<Edit>) -> Edits {
        Edits { edits: OnceLock::from(edits), deferred: None }
    }
}

impl FromIterator<Edit> for Edits {
    fn from_iter<I: IntoIterator<Item = Edit>>(edits: I) -> Edits {
        Edits::from(Vec::from_iter(edits))
    }
}

impl IntoIterator for Edits {
    type Item = Edit;
    type IntoIter = std::vec::IntoIter<Edit>;

    fn into_iter(mut self) -> Self::IntoIter {
        std::mem::take(&mut *self).into_iter()
    }
}

impl PartialEq for Edits {
    fn eq(&self, other: &Edits) -> bool {
        **self == **other
    }
}

impl Eq for Edits {}

impl fmt::Debug for Edits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
