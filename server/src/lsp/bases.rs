//! The sides of comparisons that are not open documents. The analysis of one is kept, so that a
//! comparison that follows edits analyses only the side that is edited.

use std::{
    ops::Deref,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use semantics::{Database, SourceFile};
use syntax::{LineIndex, Parse};

use crate::{
    analyzer::Analyzer,
    report::diff::{Cost, cost},
};

/// The most analyses that are kept, those in use aside: two comparisons of two such sides.
const MAX_BASES: usize = 4;
/// The most text that is kept analysed, in bytes. A tree takes several times its text.
const MAX_TEXT: usize = 16 << 20;

/// The most costs that are kept.
const MAX_COSTS: usize = 8;

/// What is known of the sides of comparisons.
#[derive(Default)]
pub(super) struct Bases {
    /// The analysed texts, the latest last. One is taken out while it is in use: databases are not
    /// shared between threads.
    texts: Mutex<Vec<Base>>,
    /// The costs of modules by their trees, the latest last.
    costs: Mutex<Vec<(Weak<Parse>, Option<Cost>)>>,
}

/// An analysed text.
pub(super) struct Base {
    pub(super) text: String,
    pub(super) lines: LineIndex,
    pub(super) analyzer: Analyzer,
}

/// An analysed text in use. It goes back when it is dropped, also if the comparison is cancelled:
/// its own database is not, and a query that is unwound leaves nothing in it.
pub(super) struct Borrowed {
    bases: Arc<Bases>,
    /// `None` only while it is dropped.
    base: Option<Base>,
}

impl Borrowed {
    /// Returns the analysis of a text.
    pub(super) fn new(bases: &Arc<Bases>, text: String) -> Borrowed {
        let known = {
            let mut texts = lock(&bases.texts);
            let at = texts.iter().position(|base| base.text == text);
            at.map(|at| texts.remove(at))
        };
        let base = known.unwrap_or_else(|| {
            let mut analyzer = Analyzer::default();
            analyzer.parse(&text);
            Base { lines: LineIndex::new(&text), text, analyzer }
        });
        Borrowed { bases: bases.clone(), base: Some(base) }
    }
}

impl Deref for Borrowed {
    type Target = Base;

    fn deref(&self) -> &Base {
        match &self.base {
            Some(base) => base,
            None => unreachable!("it is taken only when it is dropped"),
        }
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let Some(base) = self.base.take().filter(|base| base.text.len() <= MAX_TEXT) else {
            return;
        };
        let mut texts = lock(&self.bases.texts);
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
        if let Some((_, known)) = lock(&self.costs).iter().find(|(of, _)| is_same(of)) {
            return known.clone();
        }
        let found = cost(db, file, None);
        let mut costs = lock(&self.costs);
        // A tree that is held here weakly shares its place with no other.
        costs.retain(|(of, _)| of.strong_count() > 0);
        if costs.len() >= MAX_COSTS {
            costs.remove(0);
        }
        costs.push((Arc::downgrade(&parse), found.clone()));
        found
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
