//! Changes of texts. With each, the results of queries become the earlier results of the file (see
//! [`crate::previous`]).

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use rustc_hash::FxHashSet;
use salsa::{
    Setter,
    plumbing::{AsId, FromId},
};
use syntax::{Edit, ParseLimits, Text};

use crate::{
    check::{check_file, context::has_context},
    content::{Base, Content, EditBatch, ParseState, Revision},
    db::{Database, SourceFile},
    diagnostic::Levels,
    key::DefKey,
    previous::{NewResults, PreviousResults},
    queries::{all_defs, previous::previous},
    tree::parsed,
};

impl Database {
    /// Sets the text of a file. Nothing is kept of the tree before.
    pub fn set_text(&mut self, file: SourceFile, text: impl Into<Text>, limits: ParseLimits) {
        self.set_content(file, Revision { text: text.into(), limits }, None);
    }

    /// Replaces the text of a file by its next version. The definitions and statements that both have
    /// are shared, so that what follows from them is not computed again.
    pub fn replace_text(&mut self, file: SourceFile, text: impl Into<Text>, limits: ParseLimits) {
        let base = self.last_parse(file).map(|parsed| Base { parsed, edits: None });
        self.set_content(file, Revision { text: text.into(), limits }, base);
    }

    /// Edits the text of a file, of which `editing` is the continuation. If it was not parsed yet, it is
    /// parsed now.
    pub fn edit(&mut self, file: SourceFile, editing: EditBatch) {
        if editing.is_unchanged() {
            return;
        }
        let limits = match file.content(self) {
            Content::Text(revision, _) => revision.limits,
            Content::Prelude(_) | Content::Closed => ParseLimits::default(),
        };
        let parsed = self.last_parse(file);
        let (text, edits) = editing.finish();
        let base = parsed.map(|parsed| Base { parsed, edits: Some(edits) });
        self.set_content(file, Revision { text, limits }, base);
    }

    /// Applies one edit to the text of a file. Its range must be inside the text, on character
    /// boundaries.
    pub fn apply(&mut self, file: SourceFile, edit: &Edit) {
        let mut editing = EditBatch::new(file.text(self));
        editing.edit(edit);
        self.edit(file, editing);
    }

    fn set_content(&mut self, file: SourceFile, revision: Revision, base: Option<Base>) {
        self.keep_results(file);
        file.set_content(self).to(Content::Text(revision, base));
    }

    /// Returns the parse of the current text; `None` if the parser panics.
    fn last_parse(&self, file: SourceFile) -> Option<ParseState> {
        catch_unwind(AssertUnwindSafe(|| parsed(self, file).clone())).ok()
    }

    /// Adds closed files. Salsa's records of them stay: if each were allocated among the trees of a text, it
    /// would keep a page of the heap when they are freed.
    pub fn add_closed_files(&self, count: usize) -> Vec<SourceFile> {
        let add = |_| {
            let (levels, results) = (Levels::default(), PreviousResults::none());
            let file = SourceFile::new(self, Content::Closed, false, None, levels, results);
            // The first memo allocates the table of memos.
            previous(self, file);
            file
        };
        (0..count).map(add).collect()
    }

    /// Closes a file: removes its text. The file itself stays, for the next text: the database never frees
    /// files. What was computed from the text is freed with the next text, or by
    /// [`free_closed`](Self::free_closed).
    pub fn close(&mut self, file: SourceFile) {
        self.forget_results(file);
        file.set_content(self).to(Content::Closed);
        self.set_section(file, None);
        self.set_levels(file, &Levels::default());
    }

    /// Frees what was computed from the texts of closed files.
    ///
    /// Salsa deletes the definitions of a file, and the memos about them, when the query that creates
    /// them executes again. No one asks about a closed file, so this does, for each query of a file. It
    /// takes all files together: the new memos of each would otherwise be allocated between the trees
    /// that those before it have freed, and keep their pages.
    pub fn free_closed(&mut self, files: &[SourceFile]) {
        for &file in files {
            check_file(self, file);
            has_context(self, file);
            previous(self, file);
        }
        self.free_replaced();
    }

    /// Frees what newer results have replaced: earlier results, and memos. Salsa keeps memos until the
    /// next revision, because another handle could borrow them; `&mut self` rules that out. After a `/`
    /// that turns half of a long module into a comment is deleted again, all its memos would exist
    /// twice.
    pub fn free_replaced(&mut self) {
        let files = self.finish_queries().map_or_else(Vec::new, |computed| computed.files());
        for file in files {
            self.keep_results(SourceFile::from_id(file));
        }
        salsa::Database::trigger_lru_eviction(self);
    }

    /// Makes the results that queries have computed in a file its earlier results. Those of definitions
    /// that no longer exist are evicted: each letter typed in `def @attention` makes another one.
    fn keep_results(&mut self, file: SourceFile) {
        let Some(NewResults { results, is_checked }) = self.take_news(file) else { return };
        // In a file that was checked, this computes nothing.
        let existing = is_checked.then(|| self.existing(file));
        let is_full = |results: &PreviousResults| existing.is_some_and(|defs| results.len() > defs);
        if results.is_empty() && !is_full(file.previous(self)) {
            return;
        }
        // No memo keeps it alive, so that it is moved out of the input.
        let mut previous =
            Arc::unwrap_or_clone(file.set_previous(self).to(PreviousResults::none()));
        previous.update(results);
        if is_full(&previous) {
            previous.retain(&self.keys(file));
        }
        file.set_previous(self).to(Arc::new(previous));
    }

    /// Takes what queries have computed in a file, after those of other handles have ended.
    fn take_news(&mut self, file: SourceFile) -> Option<NewResults> {
        self.finish_queries()?.take(file.as_id())
    }

    /// Returns the number of definitions with bodies in a file.
    fn existing(&self, file: SourceFile) -> usize {
        all_defs(self, file).filter(|def| def.kind(self).has_body()).count()
    }

    /// Returns the definitions of a file.
    fn keys(&self, file: SourceFile) -> FxHashSet<DefKey> {
        all_defs(self, file).map(|def| def.key(self)).collect()
    }

    /// Forgets the earlier results of a file, for tests: no result may depend on them.
    #[doc(hidden)]
    pub fn forget_results(&mut self, file: SourceFile) {
        drop(self.take_news(file));
        if !file.previous(self).is_empty() {
            file.set_previous(self).to(PreviousResults::none());
        }
    }

    /// Moves each of the earlier results of `files` to another definition, for tests: no result may
    /// depend on it.
    #[doc(hidden)]
    pub fn permute_results(&mut self, files: &[SourceFile]) {
        files.iter().for_each(|file| self.keep_results(*file));
        let mut all: Vec<PreviousResults> =
            files.iter().map(|file| PreviousResults::clone(file.previous(self))).collect();
        PreviousResults::permute(&mut all);
        for (file, previous) in files.iter().zip(all) {
            file.set_previous(self).to(Arc::new(previous));
        }
    }

    /// Returns the number of definitions of a file with results that are kept, for tests.
    #[doc(hidden)]
    pub fn count_results(&mut self, file: SourceFile) -> usize {
        let mut keys: FxHashSet<DefKey> = file.previous(self).keys().cloned().collect();
        let news = self.finish_queries().and_then(|computed| computed.get(file.as_id()));
        keys.extend(news.into_iter().flat_map(|news| news.results.keys().cloned()));
        keys.len()
    }
}
