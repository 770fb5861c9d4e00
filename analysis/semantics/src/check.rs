//! The checks of a file: turns syntax errors, problems in bodies and findings of inference into
//! diagnostics.
//!
//! One cause gives one diagnostic: consequences of a reported error are suppressed, or shown as
//! related places of it. The findings of each definition are a query, [`findings_of`], with ranges from
//! the start of the definition, so that an edit does not invalidate what follows it. [`check_file`]
//! puts them together with those of the whole file, and makes their ranges absolute.

pub(crate) mod allows;
mod cascades;
mod cause;
mod check_view;
mod constant_set;
mod constants;
pub(crate) mod context;
mod definition;
mod differ;
pub(crate) mod error_ranges;
pub(crate) mod findings;
mod lints;
mod names;
mod origin;
mod other_names;
mod plural;
mod problems;
mod repair;
mod sigils;
mod site;
mod suggest;
mod syntax_errors;
mod trial;
mod writable;

use std::sync::Arc;

use salsa::plumbing::AsId;
use syntax::TextRange;

use crate::{
    db::{Db, SourceFile},
    diagnostic::{Code, Diagnostic, Severity, apply_levels},
    item::modules,
    queries, tvm,
    view::View,
};
pub use allows::nearest_code;
use cascades::Cascades;
use context::{Context, file_context};
use definition::findings_of;
use error_ranges::may_follow_from_error;
use findings::{other_text, too_many};
pub use origin::{SizeSource, Step, Trail, chain_of, source_of, trail_of};
use suggest::Suggestions;

pub use trial::{is_helpful, retain_helpful_fixes};
pub use writable::writable;

/// The maximum number of diagnostics of a file. If there are more, one further diagnostic gives the
/// number of those left out.
pub const MAX_DIAGNOSTICS: usize = 1_000;

/// Returns the diagnostics of a file in text order, at most [`MAX_DIAGNOSTICS`] of them.
///
/// No query depends on them: comparing them with those before would only compute deferred edits.
#[salsa::tracked(returns(clone), no_eq)]
pub fn check_file(db: &dyn Db, file: SourceFile) -> Arc<Vec<Diagnostic>> {
    let mut found = all_diagnostics(db, file);
    if found.first().is_some_and(|only| only.code == Code::OtherText) {
        db.computed().checked(file.as_id());
        return Arc::new(found);
    }
    file_context(db, file).allows.apply(&mut found);
    apply_levels(file.levels(db), &mut found);
    // All definitions now have their results: those of others can be evicted.
    db.computed().checked(file.as_id());
    if limit(&mut found) {
        apply_levels(file.levels(db), &mut found);
    }
    found.iter_mut().for_each(Diagnostic::shorten);
    Arc::new(found)
}

/// Returns the first syntax error of a file, without an analysis of its definitions.
pub fn first_syntax_error(db: &dyn Db, file: SourceFile) -> Option<Diagnostic> {
    if let Some(other) = other_text::check(db, file) {
        return Some(other);
    }
    let mut found = Vec::new();
    syntax_errors::check(db, file, &mut found);
    let mut first = found.into_iter().min_by_key(|diagnostic| diagnostic.range.start())?;
    first.shorten();
    Some(first)
}

/// Returns true if a comment in the file allows `diagnostic`, which is not one of [`check_file`].
pub fn is_allowed(db: &dyn Db, file: SourceFile, diagnostic: &Diagnostic) -> bool {
    file_context(db, file).allows.allow(diagnostic.code, diagnostic.range.start())
}

/// Returns the diagnostics of a file without a limit on their number. Findings that are merged with
/// others leave out what is allowed; the caller removes the rest of it.
pub(crate) fn all_diagnostics(db: &dyn Db, file: SourceFile) -> Vec<Diagnostic> {
    if let Some(other) = other_text::check(db, file) {
        return vec![other];
    }
    let mut found = Vec::new();
    syntax_errors::check(db, file, &mut found);
    let Context { errors, allows, .. } = file_context(db, file);
    let cascades = Cascades::of(db, file);
    found.retain(|d| !is_syntax_error(d) || !cascades.is_in_skipped_text(errors, d));
    cascades.keep_first(errors, &mut found);
    let mut tvm_findings = Vec::new();
    for &module in modules(db, file) {
        let mut in_module = Vec::new();
        let mut tvm_in_module = Vec::new();
        let mut suggestions = Suggestions::new(db, module);
        names::check_module(db, module, &mut in_module);
        queries::prepare(db, module);
        for &def in module.items(db) {
            let findings = findings_of(db, def);
            tvm_in_module.extend(findings.tvm_in_file(db, def));
            let mut in_def = findings.in_file(db, def);
            if !errors.is_empty() {
                let range = def.range(db);
                let is_broken = errors.touches(range);
                let unbound_from = errors.first_missing_binding(range);
                in_def.retain(|d| {
                    let is_unbound = d.code == Code::UnknownVariable
                        && unbound_from.is_some_and(|from| d.range.start() >= from);
                    !(is_unbound || is_broken && may_follow_from_error(d))
                });
            }
            in_module.append(&mut in_def);
        }
        in_module.retain(|d| {
            let is_broken = errors.touches(d.range)
                || d.code == Code::UnknownVariable && errors.follows(d.range);
            d.severity < Severity::Warning
                || !is_broken
                    && !cascades.explains(errors, d)
                    && !cascades.is_in_skipped_text(errors, d)
        });
        same_names(db, file, &mut in_module);
        in_module.retain_mut(|diagnostic| suggestions.complete(diagnostic));
        found.extend(in_module);
        tvm_findings.push(tvm_in_module);
    }
    let allowed: Vec<allows::AllowedRange> = allows.ranges().collect();
    tvm::check(db, file, errors, &allowed, tvm_findings, &mut found);
    found.sort_by(|a, b| {
        (a.range.start(), b.severity, a.code).cmp(&(b.range.start(), a.severity, b.code))
    });
    found.dedup();
    cause::merge(&mut found);
    found
}

/// Keeps one of several diagnostics about one name that is written wrongly: `Cons(h, _) => %h`, where `h` is meant as
/// `%h`, and a data type that does not exist in several types.
fn same_names(db: &dyn Db, file: SourceFile, found: &mut Vec<Diagnostic>) {
    let is_of_name = |d: &Diagnostic| {
        matches!(d.code, Code::UnknownConstructor | Code::UnknownDtype | Code::UnknownVariable)
    };
    if found.iter().filter(|d| is_of_name(d)).nth(1).is_none() {
        return;
    }
    let text = file.text(db);
    let mut kept: rustc_hash::FxHashMap<String, usize> = rustc_hash::FxHashMap::default();
    let mut at = 0;
    found.sort_by_key(|d| d.range.start());
    let mut more: Vec<(usize, TextRange)> = Vec::new();
    found.retain(|d| {
        let name = text.get(std::ops::Range::<usize>::from(d.range)).unwrap_or_default();
        let repeats = match d.code {
            Code::UnknownDtype => kept.get(name),
            Code::UnknownVariable => name.strip_prefix('%').and_then(|bare| kept.get(bare)),
            _ => None,
        };
        if let Some(&first) = repeats {
            more.push((first, d.range));
            return false;
        }
        if matches!(d.code, Code::UnknownDtype | Code::UnknownConstructor) {
            kept.insert(name.to_owned(), at);
        }
        at += 1;
        true
    });
    for (first, range) in more.into_iter().take(MAX_DIAGNOSTICS) {
        if found[first].related.len() < 6 {
            found[first].add_related(range, "and here");
        }
    }
}

/// Returns true if a diagnostic reports a syntax error.
fn is_syntax_error(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.code, Code::SyntaxError | Code::SecondExpression)
}

/// Reduces the diagnostics to the most severe ones, if there are too many. Returns true if so.
fn limit(found: &mut Vec<Diagnostic>) -> bool {
    if found.len() <= MAX_DIAGNOSTICS {
        return false;
    }
    found.sort_by_key(|d| (std::cmp::Reverse(d.severity), d.range.start()));
    let rest = found.split_off(MAX_DIAGNOSTICS);
    found.sort_by_key(|d| d.range.start());
    let severity = rest.first().map_or(Severity::Hint, |d| d.severity);
    let at = found.last().map_or(TextRange::default(), |d| d.range);
    found.push(too_many::report(at, rest.len(), severity));
    true
}

/// Returns true if inference has no findings in any definition of a file.
pub fn is_fully_typed(db: &dyn Db, file: SourceFile) -> bool {
    queries::all_defs(db, file)
        .filter_map(|def| View::new(db, def))
        .all(|view| view.inference.units.iter().all(|unit| unit.findings.is_empty()))
}
