//! Names of one statement that lack their sigil, which is one mistake.
//!
//! ```text
//! let %y = match (%l) { Cons(h, t) => add(h, 1), Nil => x };
//! ```
//!
//! The fix of the first error writes all of them: `%h`, `%t`, `%h` and `%x`.

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{TextRange, TextSize};

use super::cause::remove;
use crate::{
    body::Name,
    diagnostic::{Code, DefDiagnostic},
    infer::UnresolvedName,
};

/// The names that refer to nothing, by statement, each with the range of its diagnostic.
#[derive(Default)]
pub(super) struct UnresolvedNames(Vec<Vec<(TextRange, Name)>>);

impl UnresolvedNames {
    /// Begins a statement.
    pub(super) fn begin(&mut self) {
        if self.0.last().is_none_or(|names| !names.is_empty()) {
            self.0.push(Vec::new());
        }
    }

    /// Adds the diagnostic of a name of the statement.
    pub(super) fn add(&mut self, name: &UnresolvedName, diagnostic: &DefDiagnostic) {
        let name = match name {
            UnresolvedName::Operator(name)
            | UnresolvedName::Global(name)
            | UnresolvedName::Constructor(name) => name,
            // It has no sigil.
            UnresolvedName::Metadata { .. } => return,
        };
        if let Some(names) = self.0.last_mut() {
            names.push((diagnostic.range, name.clone()));
        }
    }

    /// Makes one diagnostic of those of a statement that a sigil resolves, and of the uses of a variable whose pattern
    /// lacks it. Takes time in proportion to the diagnostics.
    pub(super) fn fold(self, found: &mut Vec<DefDiagnostic>) {
        let statements: Vec<_> = self.0.into_iter().filter(|names| names.len() > 1).collect();
        if statements.is_empty() {
            return;
        }
        let is_name = |d: &DefDiagnostic| {
            matches!(d.code, Code::UnknownName | Code::UnknownGlobal | Code::UnknownConstructor)
        };
        let numbered = found.iter().enumerate().filter(|(_, d)| is_name(d));
        let indices: FxHashMap<TextRange, usize> =
            numbered.map(|(index, d)| (d.range, index)).collect();
        let mut folded = FxHashSet::default();
        for names in &statements {
            fold(names, &indices, found, &mut folded);
        }
        remove(found, &folded);
    }
}

/// Folds the diagnostics of a statement into the first one, and adds the numbers of the others to `folded`.
fn fold(
    names: &[(TextRange, Name)],
    indices: &FxHashMap<TextRange, usize>,
    found: &mut [DefDiagnostic],
    folded: &mut FxHashSet<usize>,
) {
    // The names with the spelling that the fix gives them.
    let mut spellings: FxHashMap<&str, String> = FxHashMap::default();
    let mut first = None;
    for (range, name) in names {
        let Some(&index) = indices.get(range) else { continue };
        let Some(fix) = found[index].fixes.first() else { continue };
        let [(_, to)] = &fix.edits[..] else { continue };
        if to.strip_prefix(['%', '@']) == Some(name.trim_start_matches('@')) {
            first.get_or_insert((index, to.clone()));
            spellings.insert(name, to.clone());
        }
    }
    let Some((first, own)) = first else { return };
    for (range, name) in names {
        let (Some(&index), Some(to)) = (indices.get(range), spellings.get(name.as_str())) else {
            continue;
        };
        if index == first || !folded.insert(index) {
            continue;
        }
        // The range of a pattern with fields begins with its name.
        let range = TextRange::at(range.start(), TextSize::of(name.as_str()));
        let kept = &mut found[first];
        kept.add_related(range, format!("`{to}` here, too"));
        let fix = &mut kept.fixes[0];
        if *to != own {
            fix.title = "Write the sigils of all names".to_owned();
        }
        fix.edits.push((range, to.clone()));
    }
}
