//! The findings of a definition, with ranges from its start.

use rustc_hash::FxHashSet;
use syntax::{SyntaxKind, TextRange, TextSize};

use super::{
    cause, checked::Checked, context::context_of, error_ranges::ErrorRanges, lints, names, text,
    typing,
};
use crate::{
    body::{Callee, Expr, ExprId, ExprRef, ProblemKind, Unit, UnitId},
    db::Db,
    diagnostic::{Code, Diagnostic, Severity},
    features::UnitFeatures,
    infer::{Finding, Mismatch},
    item::{Def, DefKind},
    queries, tvm,
    view::{OtherRanges, View},
};

/// The findings of a definition, in the coordinates of the definition.
#[derive(Default, PartialEq, salsa::SalsaValue)]
pub(super) struct Findings<'db> {
    diagnostics: Vec<Diagnostic>,
    /// The findings that only TVM demands.
    tvm: Vec<tvm::Finding>,
    /// The ranges of other definitions that they mention.
    others: OtherRanges<'db>,
}

impl<'db> Findings<'db> {
    /// Returns the diagnostics, without those that only TVM demands, with ranges of the file.
    pub(super) fn in_file(&self, db: &'db dyn Db, def: Def<'db>) -> Vec<Diagnostic> {
        if self.diagnostics.is_empty() {
            return Vec::new();
        }
        let mut diagnostics = self.diagnostics.clone();
        let start = def.start(db);
        diagnostics.iter_mut().for_each(|diagnostic| self.move_to(db, start, diagnostic));
        diagnostics
    }

    /// Returns the findings that only TVM demands, with ranges of the file.
    pub(super) fn tvm_in_file(
        &self,
        db: &'db dyn Db,
        def: Def<'db>,
    ) -> impl Iterator<Item = tvm::Finding> {
        self.tvm.iter().cloned().map(move |mut finding| {
            self.move_to(db, def.start(db), &mut finding.diagnostic);
            finding
        })
    }

    fn move_to(&self, db: &dyn Db, start: TextSize, diagnostic: &mut Diagnostic) {
        diagnostic.map_ranges(|range| self.others.in_file(db, start, range));
    }
}

/// The findings of a definition. They do not depend on its place in the file, and on other definitions
/// only as far as it uses them.
///
/// Only the list of the file depends on them, which is put together again after each edit.
#[salsa::tracked(returns(ref), no_eq)]
pub(super) fn findings_of<'db>(db: &'db dyn Db, def: Def<'db>) -> Findings<'db> {
    let mut findings = Findings::default();
    match def.kind(db) {
        DefKind::Fn | DefKind::Expr => {
            let Some(view) = View::relative(db, def) else { return findings };
            let context = context_of(db, def);
            check_def(&Checked::new(&view), &context.errors, &mut findings.diagnostics);
            findings.tvm = tvm::check_def(&view, &context.errors, &context.allowed);
            findings.others = view.other_ranges();
        }
        DefKind::Type => names::check_type(db, def, &mut findings.diagnostics),
        DefKind::Tir | DefKind::Metadata | DefKind::Version => {}
    }
    findings
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
                Finding::Mismatch { what: Mismatch::Result { .. }, .. } => view.root().range(),
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
fn units_with_findings(view: &View<'_>) -> Vec<UnitId> {
    let mut units: Vec<UnitId> = view.scopes.units_with(UnitFeatures::PROBLEM).collect();
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
    let node = def.node(view.db);
    let body = node.child(SyntaxKind::BLOCK).map_or(node.range().end(), |body| body.start());
    let header = TextRange::new(node.start(), body);
    def.file(view.db) == view.def.file(view.db)
        && context_of(view.db, def).errors.first_inside(header).is_some()
}
