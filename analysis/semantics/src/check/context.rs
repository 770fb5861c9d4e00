//! The context of the findings of a definition: syntax errors, from which some of them follow, and comments
//! that allow them.

use std::sync::LazyLock;

use super::{
    allows::{AllowedRange, Allows},
    error_ranges::ErrorRanges,
};
use crate::{
    db::{Db, SourceFile},
    item::Def,
};

/// The syntax errors of a file, and its comments that allow findings.
#[derive(Default, PartialEq)]
pub(super) struct Context {
    pub(super) errors: ErrorRanges,
    pub(super) allows: Allows,
    /// True for a closed file, so that [`has_context`] executes when a file is closed, and no memo of the
    /// time when it was open is left.
    is_closed: bool,
}

/// The context in a definition, with ranges from its start.
#[derive(Default, PartialEq)]
pub(super) struct DefContext {
    pub(super) errors: ErrorRanges,
    pub(super) allowed: Vec<AllowedRange>,
}

/// The context of a file.
#[salsa::tracked(returns(ref))]
pub(super) fn file_context(db: &dyn Db, file: SourceFile) -> Context {
    let parse = file.parse(db);
    let is_closed = file.is_closed(db);
    Context { errors: ErrorRanges::of(&parse), allows: Allows::of(&parse), is_closed }
}

/// True if a file has syntax errors or such comments. While it has none, no definition depends on where
/// they are.
#[salsa::tracked(returns(copy))]
pub(crate) fn has_context(db: &dyn Db, file: SourceFile) -> bool {
    let context = file_context(db, file);
    !context.errors.is_empty() || !context.allows.is_empty()
}

/// The context in a definition.
#[salsa::tracked(returns(ref))]
fn context_inside<'db>(db: &'db dyn Db, def: Def<'db>) -> DefContext {
    let (context, whole) = (file_context(db, def.file(db)), def.range(db));
    DefContext { errors: context.errors.within(whole), allowed: context.allows.within(whole) }
}

/// Returns the context in a definition.
pub(super) fn context_of<'db>(db: &'db dyn Db, def: Def<'db>) -> &'db DefContext {
    static NONE: LazyLock<DefContext> = LazyLock::new(DefContext::default);
    match has_context(db, def.file(db)) {
        true => context_inside(db, def),
        false => &NONE,
    }
}
