//! The context of checking a definition.

use std::ops::Deref;

use super::origin::Origins;
use crate::view::View;

/// A view of a definition, and what its diagnostics share.
pub(super) struct Checked<'a, 'db> {
    view: &'a View<'db>,
    /// The origins of sizes and data types.
    pub(super) origins: Origins,
}

impl<'a, 'db> Checked<'a, 'db> {
    /// Creates the context of a definition.
    pub(super) fn new(view: &'a View<'db>) -> Checked<'a, 'db> {
        Checked { view, origins: Origins::default() }
    }
}

impl<'db> Deref for Checked<'_, 'db> {
    type Target = View<'db>;

    fn deref(&self) -> &View<'db> {
        self.view
    }
}
