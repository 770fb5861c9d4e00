//! Changes of trees: what queries have computed before becomes the earlier results of the file (see
//! [`crate::previous`]).

use std::sync::Arc;

use rustc_hash::FxHashSet;
use salsa::{
    Setter,
    plumbing::{AsId, FromId},
};
use syntax::Parse;

use crate::{
    db::{Database, Source, SourceFile},
    item::{DefKind, modules},
    key::DefKey,
    previous::{News, Previous},
};

impl Database {
    /// Replaces the tree of a file. The same tree is no change.
    pub fn set_parse(&mut self, file: SourceFile, parse: Arc<Parse>) {
        if !Arc::ptr_eq(&file.parse(self), &parse) {
            self.keep_results(file);
            file.set_source(self).to(Source::Parsed(parse));
        }
    }

    /// Removes the text of a file, which has been closed, with all results.
    pub fn clear(&mut self, file: SourceFile) {
        self.forget_results(file);
        self.set_parse(file, Arc::new(syntax::parse("")));
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
        let Some(News { results, is_checked }) = self.take_news(file) else { return };
        // In a file that was checked, this computes nothing.
        let existing = is_checked.then(|| self.existing(file));
        let is_full = |results: &Previous| {
            existing.is_some_and(|(defs, modules)| results.exceeds(defs, modules))
        };
        if results.is_empty() && !is_full(file.previous(self)) {
            return;
        }
        // No memo keeps it alive, so that it is moved out of the input.
        let mut previous = Arc::unwrap_or_clone(file.set_previous(self).to(Arc::default()));
        previous.update(results);
        if is_full(&previous)
            && let Some((_, modules)) = existing
        {
            previous.retain(&self.keys(file), modules);
        }
        file.set_previous(self).to(Arc::new(previous));
    }

    /// Takes what queries have computed in a file, after those of other handles have ended.
    fn take_news(&mut self, file: SourceFile) -> Option<News> {
        self.finish_queries()?.take(file.as_id())
    }

    /// Returns the numbers of definitions with bodies, and of modules, in a file.
    fn existing(&self, file: SourceFile) -> (usize, usize) {
        let modules = modules(self, file);
        let items = modules.iter().flat_map(|module| module.items(self));
        let has_body = |kind: DefKind| matches!(kind, DefKind::Fn | DefKind::Expr);
        (items.filter(|def| has_body(def.kind(self))).count(), modules.len())
    }

    /// Returns the definitions of a file.
    fn keys(&self, file: SourceFile) -> FxHashSet<DefKey> {
        let items = modules(self, file).iter().flat_map(|module| module.items(self));
        items.map(|def| def.key(self)).collect()
    }

    /// Forgets the earlier results of a file, for tests: no result may depend on them.
    #[doc(hidden)]
    pub fn forget_results(&mut self, file: SourceFile) {
        drop(self.take_news(file));
        if !file.previous(self).is_empty() {
            file.set_previous(self).to(Arc::default());
        }
    }

    /// Moves each of the earlier results of `files` to another definition, for tests: no result may
    /// depend on it.
    #[doc(hidden)]
    pub fn permute_results(&mut self, files: &[SourceFile]) {
        files.iter().for_each(|file| self.keep_results(*file));
        let mut all: Vec<Previous> =
            files.iter().map(|file| Previous::clone(file.previous(self))).collect();
        Previous::permute(&mut all);
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
