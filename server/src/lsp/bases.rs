//! A cache of analyses of the sides of comparisons that are not open documents, so that a comparison
//! that follows edits analyses only the edited side.

use std::{
    ops::Deref,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use semantics::{Database, SourceFile};
use syntax::{LineIndex, Parse};

use crate::{analyzer::Analyzer, protocol::Cost, report::diff::cost};

/// The largest number of cached analyses, not counting those in use: two comparisons of two such sides.
const MAX_BASES: usize = 4;
/// The largest total size of the cached texts in bytes. A tree takes several times its text.
const MAX_TEXT: usize = 16 << 20;

/// The largest number of cached costs.
const MAX_COSTS: usize = 8;

/// The cached analyses and costs.
#[derive(Default)]
pub(super) struct Bases {
    /// The analysed texts, the most recent last. One is removed while it is in use, as databases are not
    /// shared between threads.
    texts: Mutex<Vec<Base>>,
    /// The costs of modules by their trees, the most recent last.
    costs: Mutex<Vec<(Weak<Parse>, Option<Cost>)>>,
}

/// An analysed text.
pub(super) struct Base {
    pub(super) text: String,
    pub(super) lines: LineIndex,
    pub(super) analyzer: Analyzer,
}

/// An analysed text in use. Dropping it returns it to the cache, also if the comparison is cancelled,
/// because an unwound query leaves no partial results in its database.
pub(super) struct BorrowedBase {
    bases: Arc<Bases>,
    /// `None` only while it is dropped.
    base: Option<Base>,
}

impl BorrowedBase {
    /// Returns the analysis of a text.
    pub(super) fn new(bases: &Arc<Bases>, text: String) -> BorrowedBase {
        let known = {
            let mut texts = bases.texts.lock();
            let at = texts.iter().position(|base| base.text == text);
            at.map(|at| texts.remove(at))
        };
        let base = known.unwrap_or_else(|| {
            let mut analyzer = Analyzer::default();
            analyzer.parse(&text);
            Base { lines: LineIndex::new(&text), text, analyzer }
        });
        BorrowedBase { bases: bases.clone(), base: Some(base) }
    }
}

impl Deref for BorrowedBase {
    type Target = Base;

    fn deref(&self) -> &Base {
        match &self.base {
            Some(base) => base,
            None => unreachable!("it is taken only by `drop`"),
        }
    }
}

impl Drop for BorrowedBase {
    fn drop(&mut self) {
        let Some(base) = self.base.take().filter(|base| base.text.len() <= MAX_TEXT) else {
            return;
        };
        let mut texts = self.bases.texts.lock();
        if texts.iter().all(|known| known.text != base.text) {
            texts.push(base);
        }
        let size = |texts: &[Base]| texts.iter().map(|base| base.text.len()).sum::<usize>();
        while texts.len() > MAX_BASES || size(&texts) > MAX_TEXT {
            texts.remove(0);
        }
    }
}

impl Bases {
    /// Returns the cost of a run of a module, which is computed once for each tree.
    pub(super) fn cost(&self, db: &Database, file: SourceFile) -> Option<Cost> {
        let parse = file.parse(db);
        let is_same = |of: &Weak<Parse>| std::ptr::eq(of.as_ptr(), Arc::as_ptr(&parse));
        if let Some((_, known)) = self.costs.lock().iter().find(|(of, _)| is_same(of)) {
            return known.clone();
        }
        let found = cost(db, file, None);
        let mut costs = self.costs.lock();
        // The weak reference keeps the address of the tree from being reused.
        costs.retain(|(of, _)| of.strong_count() > 0);
        if costs.len() >= MAX_COSTS {
            costs.remove(0);
        }
        costs.push((Arc::downgrade(&parse), found.clone()));
        found
    }
}
