//! The earlier results that queries find, and where they put theirs.

use salsa::plumbing::AsId;

use crate::{
    db::{Db, SourceFile},
    infer::TypedBody,
    item::Def,
    key::DefKey,
    lower::LoweredBody,
    previous::PreviousResultsRef,
    scope::ResolvedBody,
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

    pub(super) fn lowered(&self) -> Option<LoweredBody> {
        self.earlier.lowered(&self.key)
    }

    pub(super) fn named(&self) -> Option<ResolvedBody> {
        self.earlier.named(&self.key)
    }

    pub(super) fn inferred(&self) -> Option<TypedBody> {
        self.earlier.inferred(&self.key)
    }

    pub(super) fn record_lowered(self, lowered: LoweredBody) {
        if self.earlier.are_kept() {
            self.db.computed().lowered(self.file.as_id(), self.key, lowered);
        }
    }

    pub(super) fn record_named(self, named: ResolvedBody) {
        if self.earlier.are_kept() {
            self.db.computed().named(self.file.as_id(), self.key, named);
        }
    }

    pub(super) fn record_inferred(self, inferred: TypedBody) {
        if self.earlier.are_kept() {
            self.db.computed().inferred(self.file.as_id(), self.key, inferred);
        }
    }
}
