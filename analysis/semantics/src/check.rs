//! The checks of a file: turns syntax errors, problems in bodies and findings of inference into
//! diagnostics.
//!
//! One cause gives one diagnostic: consequences of a reported error are suppressed, or shown as
//! related places of it. Absolute ranges are computed here, from ranges inside units and the starts
//! of units and definitions; queries below store relative ranges only, so that an edit does not
//! invalidate what follows it.

pub(crate) mod allows;
mod cascades;
mod cause;
mod constants;
mod differ;
pub(crate) mod error_ranges;
mod lints;
mod mistakes;
mod names;
mod origin;
mod relation;
mod suggest;
mod syntax_errors;
mod text;
pub(crate) mod typing;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use salsa::plumbing::AsId;
use syntax::{Node, SyntaxKind, TextRange};

use crate::{
    body::{Callee, Expr, ExprId, ProblemKind, Unit},
    db::{Db, SourceFile},
    diagnostic::{Code, Diagnostic, Severity, apply_levels},
    features::UnitFeatures,
    infer::{Finding, Mismatch},
    item::{DefKind, modules},
    queries, tvm,
    view::{ExprRef, View},
};
use allows::Allows;
pub use allows::nearest_code;
use cascades::Cascades;
use error_ranges::{ErrorRanges, may_follow_from_error};
pub use origin::{Source, Step, Trail, chain_of, source_of, trail_of};
use suggest::{Checked, Suggestions};
pub use text::writable;

/// The maximum number of diagnostics of a file. If there are more, one further diagnostic gives the
/// number of those left out.
pub const MAX_DIAGNOSTICS: usize = 1_000;

/// Returns the diagnostics of a file in text order, at most [`MAX_DIAGNOSTICS`] of them.
///
/// No query depends on them: comparing them with those before would only compute deferred edits.
#[salsa::tracked(returns(clone), no_eq)]
pub fn check_file(db: &dyn Db, file: SourceFile) -> Arc<Vec<Diagnostic>> {
    let allows = Allows::of(&file.parse(db));
    let mut found = all_diagnostics(db, file, &allows);
    allows.apply(&mut found);
    apply_levels(file.levels(db), &mut found);
    // All definitions now have their results: those of others can be evicted.
    db.computed().checked(file.as_id());
    if limit(&mut found) {
        apply_levels(file.levels(db), &mut found);
    }
    found.iter_mut().for_each(Diagnostic::shorten);
    Arc::new(found)
}

/// Returns true if a comment in the file allows `diagnostic`, which is not one of [`check_file`].
pub fn is_allowed(db: &dyn Db, file: SourceFile, diagnostic: &Diagnostic) -> bool {
    Allows::of(&file.parse(db)).allow(diagnostic.code, diagnostic.range.start())
}

/// Returns the diagnostics of a file without a limit on their number. Findings that are merged with
/// others leave out what is allowed; the caller removes the rest of it.
pub(crate) fn all_diagnostics(db: &dyn Db, file: SourceFile, allows: &Allows) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    syntax_errors::check(db, file, &mut found);
    let errors = ErrorRanges::of(db, file);
    let cascades = Cascades::of(db, file);
    found.retain(|d| !is_syntax_error(d) || !cascades.is_in_skipped_text(&errors, d));
    cascades.keep_first(&errors, &mut found);
    for module in modules(db, file) {
        let mut in_module = Vec::new();
        let suggestions = Suggestions::default();
        names::check_module(db, *module, &mut in_module);
        for &def in module.items(db) {
            match def.kind(db) {
                DefKind::Fn | DefKind::Expr => {
                    if let Some(view) = View::new(db, def) {
                        let before = in_module.len();
                        let checked = Checked::new(&view, &suggestions);
                        check_def(&checked, &errors, &mut in_module);
                        let range = def.range(db);
                        let is_broken = errors.touches(range);
                        let unbound_from = errors.first_missing_binding(range);
                        if is_broken || unbound_from.is_some() {
                            let is_unbound = |d: &Diagnostic| {
                                d.code == Code::UnknownVariable
                                    && unbound_from.is_some_and(|from| d.range.start() >= from)
                            };
                            let of_def = in_module.split_off(before).into_iter();
                            in_module.extend(of_def.filter(|d| {
                                !(is_unbound(d) || is_broken && may_follow_from_error(d))
                            }));
                        }
                    }
                }
                DefKind::Type => {
                    names::check_type(db, *module, def, &suggestions, &mut in_module);
                }
                DefKind::Tir | DefKind::Metadata | DefKind::Version => {}
            }
        }
        in_module.retain(|d| {
            let is_broken = errors.touches(d.range)
                || d.code == Code::UnknownVariable && errors.follows(d.range);
            d.severity < Severity::Warning
                || !is_broken
                    && !cascades.explains(&errors, d)
                    && !cascades.is_in_skipped_text(&errors, d)
        });
        found.extend(in_module);
    }
    tvm::check(db, file, &errors, allows, &mut found);
    found.sort_by(|a, b| {
        (a.range.start(), b.severity, a.code).cmp(&(b.range.start(), a.severity, b.code))
    });
    found.dedup();
    cause::merge(&mut found);
    found
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
    let message = format!("{} more findings are not shown", rest.len());
    found.push(Diagnostic { severity, ..Diagnostic::new(Code::TooMany, at, message) });
    true
}

/// Checks a function or a bare expression.
fn check_def(view: &Checked<'_, '_>, errors: &ErrorRanges, found: &mut Vec<Diagnostic>) {
    let mut all: Vec<cause::Found> = Vec::new();
    let mut in_def = Vec::new();
    let unknown = names::check_def(view, &mut in_def);
    let dropped = tvm::rules::dropped_bindings(view);
    // Attributes that a callee does not take, each with the range of the callee.
    let mut rejected_attrs: Vec<(TextRange, TextRange)> = Vec::new();
    // A type that exceeds the limit usually exceeds it in every later unit: one report is enough.
    let mut is_too_large = false;
    for number in units_with_findings(view) {
        let unit = view.unit(number);
        for problem in &unit.problems {
            in_def.push(text::problem(view, number, problem));
            if let ProblemKind::AttrsNotTaken { callee_range, .. } = problem.kind {
                let place = |range| view.place(number, range);
                rejected_attrs.push((place(problem.range), place(callee_range)));
            }
        }
        for finding in &view.unit_types(number).findings {
            // A syntax error inside a call or a body may change the number of arguments or the tail
            // expression.
            let whole = match finding {
                Finding::Arity { call, .. } => view.range(ExprRef { unit: number, expr: *call }),
                Finding::Mismatch { what: Mismatch::Result { .. }, .. } => view.def.range(view.db),
                _ => TextRange::default(),
            };
            if !whole.is_empty() && errors.is_inside(whole) {
                continue;
            }
            if matches!(finding, Finding::TypeTooLarge { .. } | Finding::TooGeneral { .. })
                && std::mem::replace(&mut is_too_large, true)
            {
                continue;
            }
            // The parameters of a function with a syntax error in its header are unknown.
            if finding_call(finding).is_some_and(|call| calls_broken(view, errors, unit, call)) {
                continue;
            }
            let before = in_def.len();
            typing::report(view, number, finding, &mut in_def);
            if in_def.len() > before
                && finding.is_error()
                && let Some((cause, part)) = cause::of(view, number, finding, before)
            {
                in_def[before].cause = Some(Box::new(cause));
                all.push(part);
            }
            if !finding.is_unresolved_name() {
                for diagnostic in &mut in_def[before..] {
                    if dropped.contains(diagnostic.range) {
                        diagnostic.severity = diagnostic.severity.min(Severity::Warning);
                    }
                }
            }
        }
    }
    // A binding that seems unused may be the one that an unknown name was meant to refer to.
    let all_resolved = unknown.is_empty();
    cause::fold(view, &all, &mut in_def);
    cause::fold_calls(view, &mut in_def);
    names::unbound(unknown, &mut in_def);
    // `nn.dens(%x, %w, units=4)`: the unknown name is the cause, not its attributes.
    if !rejected_attrs.is_empty() {
        let mut unknown: Vec<TextRange> =
            in_def.iter().filter(|d| is_unresolved(d.code)).map(|d| d.range).collect();
        unknown.sort_by_key(|range| range.start());
        rejected_attrs.retain(|(_, callee)| {
            let from = unknown.partition_point(|range| range.start() < callee.start());
            let mut near = unknown[from..].iter().take_while(|r| r.start() <= callee.end());
            near.any(|range| callee.contains_range(*range))
        });
        let silent: FxHashSet<TextRange> = rejected_attrs.iter().map(|(attr, _)| *attr).collect();
        in_def.retain(|d| d.code != Code::AttributesNotTaken || !silent.contains(&d.range));
    }
    found.append(&mut in_def);
    let before = found.len();
    lints::check_def(view, found);
    if !all_resolved {
        let lints = found.split_off(before);
        found.extend(lints.into_iter().filter(|lint| !lint.unnecessary));
    }
}

/// Returns the units that lowering or inference has findings about, in order.
fn units_with_findings(view: &View<'_>) -> Vec<usize> {
    let mut units: Vec<usize> = view.scopes.units_with(UnitFeatures::PROBLEM).collect();
    units.extend(view.inference.remarkable_units().map(|(unit, _)| unit));
    units.sort_unstable();
    units.dedup();
    units
}

/// Returns true for the codes of names that refer to nothing.
fn is_unresolved(code: Code) -> bool {
    matches!(
        code,
        Code::UnknownVariable
            | Code::UnknownGlobal
            | Code::UnknownName
            | Code::UnknownConstructor
            | Code::UnknownType
            | Code::UnknownDtype
            | Code::UnknownKind
            | Code::UnknownRelation
            | Code::UnknownAttribute
    )
}

/// Returns true if a diagnostic reports a syntax error.
fn is_syntax_error(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.code, Code::SyntaxError | Code::SecondExpression)
}

/// Returns the call whose arguments `finding` reports.
fn finding_call(finding: &Finding) -> Option<ExprId> {
    match finding {
        Finding::Arity { call, .. }
        | Finding::NotCallable { call, .. }
        | Finding::Mismatch { what: Mismatch::Argument { call, .. }, .. } => Some(*call),
        _ => None,
    }
}

/// Returns true if `call` calls a definition with a syntax error in its header.
fn calls_broken(view: &Checked<'_, '_>, errors: &ErrorRanges, unit: &Unit, call: ExprId) -> bool {
    if errors.is_empty() {
        return false;
    }
    let Expr::Call(id) = unit.expr(call) else { return false };
    let Callee::Expr(callee) = unit.call(*id).callee else { return false };
    let Expr::Global(name) = unit.expr(callee) else { return false };
    let Some((def, _)) = queries::global(view.db, view.module, name) else { return false };
    let node = Node::at(def.green(view.db), def.start(view.db));
    let body = node.child(SyntaxKind::BLOCK).map_or(node.range().end(), |body| body.start());
    let header = TextRange::new(node.start(), body);
    def.file(view.db) == view.def.file(view.db) && errors.first_inside(header).is_some()
}

/// Returns the names of the data types of a module, for suggestions.
fn type_names(types: &crate::module::ModuleTypes) -> impl Iterator<Item = &str> {
    types.adts().map(|adt| adt.name.as_str())
}

/// Returns true if inference has no findings in any definition of a file.
pub fn is_fully_typed(db: &dyn Db, file: SourceFile) -> bool {
    queries::all_defs(db, file)
        .filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Expr))
        .filter_map(|def| View::new(db, def))
        .all(|view| view.inference.units.iter().all(|unit| unit.findings.is_empty()))
}
