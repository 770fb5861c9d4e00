//! Everything that is wrong with a file.
//!
//! One cause, one diagnostic: what follows from something reported is silent. The places of a
//! diagnostic are made here, from the places in units and the starts of units and definitions;
//! everything below works without them.

mod broken;
mod cause;
mod compat;
mod differ;
mod echoes;
mod lints;
mod mistakes;
mod names;
mod origin;
mod relation;
mod suggest;
mod syntax_errors;
mod text;
mod typing;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use syntax::{Node, SyntaxKind, TextRange};

use crate::{
    body::{Callee, Expr, ExprId, ProblemKind, Unit},
    db::{Db, Settings, SourceFile},
    diagnostic::{Diagnostic, Severity, code_of},
    infer::{Finding, Mismatch},
    item::{DefKind, modules},
    queries,
    view::{Spot, View},
};
use broken::{Broken, is_doubtful};
pub(crate) use cause::Cause;
use compat::Compat;
pub use compat::{Converted, apply, to_tvm};
use echoes::Echoes;
use lints::Stretches;
pub use origin::{Source, Step, Trail, chain_of, source_of, trail_of};
use suggest::{Checked, Suggestions};
pub use text::writable;

/// How many diagnostics a file gets at most. Past that, one more says how many were left out.
pub const MAX_DIAGNOSTICS: usize = 1_000;

/// The diagnostics of a file, in the order of the text.
#[salsa::tracked(returns(clone))]
pub fn check_file(db: &dyn Db, file: SourceFile) -> Arc<Vec<Diagnostic>> {
    let mut found = everything(db, file);
    let defs = || queries::all_defs(db, file);
    // The others have no bodies: a version beside one function makes no room for another one.
    let with_bodies = defs().filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Expr));
    db.cache().keep(file, with_bodies.count(), || defs().map(|def| def.key(db)).collect());
    db.cache().keep_types(file, modules(db, file).len());
    limit(&mut found);
    found.iter_mut().for_each(Diagnostic::shorten);
    Arc::new(found)
}

/// The diagnostics of a file, however many.
fn everything(db: &dyn Db, file: SourceFile) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    syntax_errors::check(db, file, &mut found);
    let broken = Broken::of(db, file);
    let nothing_broken = Broken::default();
    let mut notation = Compat::new(&nothing_broken);
    compat::check_notation(db, file, &mut notation);
    notation.finish(&mut found);
    // What a syntax error left behind is no news.
    let mut compat = Compat::new(&broken);
    let echoes = Echoes::of(db, file);
    found.retain(|d| !is_about_grammar(d) || !echoes.is_lost(&broken, d));
    echoes.keep_first(&broken, &mut found);
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
                        check_def(&checked, &broken, &mut in_module);
                        let range = def.range(db);
                        let is_broken = broken.touches(range);
                        let lost = broken.first_lost_binding(range);
                        if is_broken || lost.is_some() {
                            let is_lost = |d: &Diagnostic| {
                                d.code == "unknown-variable"
                                    && lost.is_some_and(|lost| d.range.start() >= lost)
                            };
                            let of_def = in_module.split_off(before).into_iter();
                            in_module.extend(
                                of_def.filter(|d| !(is_lost(d) || is_broken && is_doubtful(d))),
                            );
                        }
                        compat::check_def(&view, &mut compat);
                    }
                }
                DefKind::Type => {
                    names::check_type(db, *module, def, &suggestions, &mut in_module);
                }
                DefKind::Tir | DefKind::Metadata | DefKind::Version => {}
            }
        }
        compat::check_module(db, *module, &mut compat);
        in_module.retain(|d| {
            let is_broken =
                broken.touches(d.range) || d.code == "unknown-variable" && broken.follows(d.range);
            d.severity < Severity::Warning
                || !is_broken && !echoes.holds(&broken, d) && !echoes.is_lost(&broken, d)
        });
        found.extend(in_module);
    }
    compat.finish(&mut found);
    if Settings::get(db).strict(db) {
        for diagnostic in &mut found {
            if code_of(diagnostic.code).is_some_and(|code| code.tvm) {
                diagnostic.severity = Severity::Error;
            }
        }
    }
    found.sort_by(|a, b| {
        (a.range.start(), b.severity, a.code).cmp(&(b.range.start(), a.severity, b.code))
    });
    found.dedup();
    cause::merge(&mut found);
    found
}

fn limit(found: &mut Vec<Diagnostic>) {
    if found.len() <= MAX_DIAGNOSTICS {
        return;
    }
    // Errors are never left out in favour of anything less.
    found.sort_by_key(|d| (std::cmp::Reverse(d.severity), d.range.start()));
    let rest = found.split_off(MAX_DIAGNOSTICS);
    found.sort_by_key(|d| d.range.start());
    let severity = rest.first().map_or(Severity::Hint, |d| d.severity);
    let at = found.last().map_or(TextRange::default(), |d| d.range);
    let message = format!("{} more findings are not shown", rest.len());
    found.push(Diagnostic { severity, ..Diagnostic::new("too-many", at, message) });
}

/// A function or a bare expression.
fn check_def(view: &Checked<'_, '_>, broken: &Broken, found: &mut Vec<Diagnostic>) {
    let mut all: Vec<cause::Found> = Vec::new();
    let mut in_def = Vec::new();
    let unknown = names::check_def(view, &mut in_def);
    // TVM looks at what is used: a graph binding that nothing uses is no part of the module.
    let strict = Settings::get(view.db).strict(view.db);
    let dead = if strict { lints::dead_bindings(view) } else { Stretches::default() };
    // Attributes that a callee does not take, and where that callee stands.
    let mut not_taken: Vec<(TextRange, TextRange)> = Vec::new();
    // What grows past a limit grows past it again a little later.
    let mut is_too_large = false;
    for (number, unit) in view.body.units.iter().enumerate() {
        for problem in &unit.problems {
            in_def.push(text::problem(view, number, problem));
            if let ProblemKind::AttrsNotTaken { callee_range, .. } = problem.kind {
                let place = |range| view.place(number, range);
                not_taken.push((place(problem.range), place(callee_range)));
            }
        }
        for finding in &view.unit_types(number).findings {
            // How many arguments there are, and what the last expression is, a syntax error
            // within decides.
            let whole = match finding {
                Finding::Arity { call, .. } => view.range(Spot { unit: number, expr: *call }),
                Finding::Mismatch { what: Mismatch::Result { .. }, .. } => view.def.range(view.db),
                _ => TextRange::default(),
            };
            if !whole.is_empty() && broken.is_inside(whole) {
                continue;
            }
            if matches!(finding, Finding::TypeTooLarge { .. } | Finding::TooGeneral { .. })
                && std::mem::replace(&mut is_too_large, true)
            {
                continue;
            }
            // What a function takes whose header cannot be read is not known.
            if finding_call(finding).is_some_and(|call| calls_broken(view, broken, unit, call)) {
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
            if !finding.is_about_name() {
                for diagnostic in &mut in_def[before..] {
                    if dead.hold(diagnostic.range) {
                        diagnostic.severity = diagnostic.severity.min(Severity::Warning);
                    }
                }
            }
        }
    }
    // What seems unused may be what an unknown name was meant for.
    let is_settled = unknown.is_empty();
    cause::fold(view, &all, &mut in_def);
    cause::fold_calls(view, &mut in_def);
    names::unbound(unknown, &mut in_def);
    // `nn.dens(%x, %w, units=4)`: what the name stands for takes the attributes, or not.
    if !not_taken.is_empty() {
        let mut unknown: Vec<TextRange> =
            in_def.iter().filter(|d| d.code.starts_with("unknown-")).map(|d| d.range).collect();
        unknown.sort_by_key(|range| range.start());
        not_taken.retain(|(_, callee)| {
            let from = unknown.partition_point(|range| range.start() < callee.start());
            let mut near = unknown[from..].iter().take_while(|r| r.start() <= callee.end());
            near.any(|range| callee.contains_range(*range))
        });
        let silent: FxHashSet<TextRange> = not_taken.iter().map(|(attr, _)| *attr).collect();
        in_def.retain(|d| d.code != "attributes-not-taken" || !silent.contains(&d.range));
    }
    found.append(&mut in_def);
    let before = found.len();
    lints::check_def(view, found);
    if !is_settled {
        let lints = found.split_off(before);
        found.extend(lints.into_iter().filter(|lint| !lint.unnecessary));
    }
}

/// Whether a finding may follow from a syntax error before it.
fn is_about_grammar(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.code, "syntax-error" | "second-expression")
}

/// The call whose arguments a finding is about.
fn finding_call(finding: &Finding) -> Option<ExprId> {
    match finding {
        Finding::Arity { call, .. }
        | Finding::NotCallable { call, .. }
        | Finding::Mismatch { what: Mismatch::Argument { call, .. }, .. } => Some(*call),
        _ => None,
    }
}

/// Whether a call is one of a definition with a syntax error in its header.
fn calls_broken(view: &Checked<'_, '_>, broken: &Broken, unit: &Unit, call: ExprId) -> bool {
    if broken.is_empty() {
        return false;
    }
    let Expr::Call(id) = unit.expr(call) else { return false };
    let Callee::Expr(callee) = unit.call(*id).callee else { return false };
    let Expr::Global(name) = unit.expr(callee) else { return false };
    let Some((def, _)) = queries::global(view.db, view.module, name) else { return false };
    let node = Node::at(def.green(view.db), def.start(view.db));
    let body = node.child(SyntaxKind::BLOCK).map_or(node.range().end(), |body| body.start());
    let header = TextRange::new(node.start(), body);
    def.file(view.db) == view.def.file(view.db) && broken.first_inside(header).is_some()
}

/// Whether a definition has an error that its types tell.
pub fn has_type_errors(view: &View<'_>) -> bool {
    view.inference.units.iter().any(|unit| unit.findings.iter().any(Finding::is_error))
}

/// The module's data types, for suggestions.
fn type_names(view_types: &crate::module::ModuleTypes) -> impl Iterator<Item = &str> {
    view_types.adts().map(|adt| adt.name.as_str())
}

/// Whether a module is complete: nothing in it is unknown for want of a rule.
pub fn is_fully_typed(db: &dyn Db, file: SourceFile) -> bool {
    queries::all_defs(db, file)
        .filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Expr))
        .filter_map(|def| View::new(db, def))
        .all(|view| view.inference.units.iter().all(|unit| unit.findings.is_empty()))
}
