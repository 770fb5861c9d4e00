//! The earlier results that queries find, and where they put theirs.

use salsa::plumbing::AsId;

use crate::{
    db::{Db, SourceFile},
    item::Def,
    key::DefKey,
    previous::{Entry, PreviousResultsRef},
};

/// The earlier results of a file. All of them are one query: it executes once after each edit, its
/// result equals the one before, and no other query executes because of it. A query for each definition
/// would execute for each.
#[salsa::tracked(returns(ref))]
pub(crate) fn previous(db: &dyn Db, file: SourceFile) -> PreviousResultsRef {
    PreviousResultsRef::new((!file.is_prelude(db)).then(|| file.previous(db)))
}

/// The results of a definition: those that are found, and those that are computed.
pub(super) struct Results<'db> {
    db: &'db dyn Db,
    file: SourceFile,
    key: DefKey,
    earlier: &'db PreviousResultsRef,
}

impl<'db> Results<'db> {
    pub(super) fn of(db: &'db dyn Db, def: Def<'db>) -> Results<'db> {
        let file = def.file(db);
        Results { db, file, key: def.key(db), earlier: previous(db, file) }
    }

    /// Returns the name of the definition.
    pub(super) fn name(&self) -> &str {
        &self.key.name
    }

    /// Returns an earlier result.
    pub(super) fn earlier<T>(&self, part: impl FnOnce(&Entry) -> Option<T>) -> Option<T> {
        self.earlier.get(&self.key, part)
    }

    /// Notes new results, unless the file never changes.
    pub(super) fn record(self, new: Entry) {
        if self.earlier.are_kept() {
            self.db.computed().add(self.file.as_id(), self.key, new);
        }
    }
}
