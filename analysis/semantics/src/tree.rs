//! The trees of files.

use std::sync::Arc;

use syntax::{Parse, Text};

use crate::{
    content::{Content, ParseState},
    db::{Db, SourceFile},
    prelude,
};

/// The parse of a file. It is compared by the queries that read parts of it.
#[salsa::tracked(returns(ref), no_eq)]
pub(crate) fn parsed(db: &dyn Db, file: SourceFile) -> ParseState {
    match file.content(db) {
        Content::Text(revision, base) => revision.parsed(base.as_ref()),
        Content::Prelude(number) => ParseState::new(prelude::parse(*number).clone()),
        Content::Closed => ParseState::new(Arc::new(syntax::parse(""))),
    }
}

impl SourceFile {
    /// Returns the tree and the syntax errors.
    pub fn parse(self, db: &dyn Db) -> Arc<Parse> {
        parsed(db, self).parse.clone()
    }

    /// Returns true if the file is closed.
    pub(crate) fn is_closed(self, db: &dyn Db) -> bool {
        matches!(self.content(db), Content::Closed)
    }

    /// Returns the text; that of a file of the prelude or a closed one is empty.
    pub fn text(self, db: &dyn Db) -> Text {
        match self.content(db) {
            Content::Text(revision, _) => revision.text.clone(),
            Content::Prelude(_) | Content::Closed => Text::default(),
        }
    }
}
