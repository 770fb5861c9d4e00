//! The context of checking a definition.

use std::{cell::Cell, ops::Deref};

use super::origin::Origins;
use crate::view::View;

/// A view of a definition, and what its diagnostics share.
pub(super) struct CheckView<'a, 'db> {
    view: &'a View<'db>,
    /// The origins of sizes and data types.
    pub(super) origins: Origins,
    /// The number of calls for which repairs were sought.
    pub(super) repaired: Cell<usize>,
}

impl<'a, 'db> CheckView<'a, 'db> {
    /// Creates the context of a definition.
    pub(super) fn new(view: &'a View<'db>) -> CheckView<'a, 'db> {
        CheckView { view, origins: Origins::default(), repaired: Cell::new(0) }
    }
}

impl<'db> Deref for CheckView<'_, 'db> {
    type Target = View<'db>;

    fn deref(&self) -> &View<'db> {
        self.view
    }
}
