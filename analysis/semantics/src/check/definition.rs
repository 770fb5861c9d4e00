//! The findings of a definition, with ranges from its start.

use std::cell::OnceCell;

use operators::attrs::AttrProblem;
use rustc_hash::{FxHashMap, FxHashSet};
use salsa::plumbing::FromId;
use syntax::{SyntaxKind, TextRange};

use super::{
    cause::{self, Evidence},
    check_view::CheckView,
    context::context_of,
    error_ranges::ErrorRanges,
    findings::{self, Report, relation},
    lints, names, problems, sigils,
    site::ProblemSite,
};
use crate::{
    body::{CallData, Callee, Expr, ExprId, ExprRef, Problem, ProblemKind, RangeId, Unit, UnitId},
    db::{Db, Settings},
    diagnostic::{Code, DefDiagnostic, Diagnostic, InDef, Severity},
    features::UnitFeatures,
    infer::{DependsOn, Finding, FindingKind},
    item::{Def, DefKind},
    queries, tvm,
    view::View,
};

/// The findings of a definition, with ranges from its start.
#[derive(Default, PartialEq, salsa::SalsaValue)]
pub(super) struct Findings {
    diagnostics: Vec<DefDiagnostic>,
    /// The findings that only TVM demands.
    tvm: Vec<tvm::MergedDiagnostic>,
}

impl Findings {
    /// Returns the diagnostics, without those that only TVM demands, with ranges of the file.
    pub(super) fn in_file(&self, db: &dyn Db, def: Def<'_>) -> Vec<Diagnostic> {
        if self.diagnostics.is_empty() {
            return Vec::new();
        }
        let start = def.start(db);
        let in_file = |InDef { def, range }: InDef| {
            range + def.map_or(start, |def| Def::from_id(def).start(db))
        };
        let diagnostics = self.diagnostics.iter().cloned();
        diagnostics.map(|found| found.map_places(|range| range + start, in_file)).collect()
    }

    /// Returns the findings that only TVM demands, with ranges of the file.
    pub(super) fn tvm_in_file(
        &self,
        db: &dyn Db,
        def: Def<'_>,
    ) -> impl Iterator<Item = tvm::MergedDiagnostic> {
        self.tvm.iter().cloned().map(move |mut finding| {
            let in_file = |range| range + def.start(db);
            finding.diagnostic = finding.diagnostic.map_places(in_file, in_file);
            finding
        })
    }
}

/// The findings of a definition. They do not depend on its place in the file, and on other definitions
/// only as far as it uses them.
///
/// Only the list of the file depends on them, which is put together again after each edit.
#[salsa::tracked(returns(ref), no_eq)]
pub(super) fn findings_of<'db>(db: &'db dyn Db, def: Def<'db>) -> Findings {
    let mut findings = Findings::default();
    if let Some(view) = View::relative(db, def) {
        let context = context_of(db, def);
        check_def(&CheckView::new(&view), &context.errors, &mut findings.diagnostics);
        findings.tvm = tvm::check_def(&view, &context.errors, &context.allowed);
    } else if def.kind(db) == DefKind::Type {
        names::check_type(db, def, &mut findings.diagnostics);
    }
    findings
}

/// Returns true for the attributes of a call whose operator the project declares, which may have any.
fn is_of_declared(view: &CheckView<'_, '_>, unit: &Unit, problem: &Problem) -> bool {
    let ProblemKind::AttrsNotTaken { callee_range, .. } = problem.kind else { return false };
    let declared = Settings::get(view.db).operators(view.db);
    unit.calls.iter().any(|call| match &call.callee {
        Callee::Name(name) => call.callee_range == callee_range && declared.get(name).is_some(),
        _ => false,
    })
}

/// The arguments of the calls by name in a unit, each with the range of the callee, collected when they are asked for.
#[derive(Default)]
struct NamedArguments(OnceCell<FxHashMap<TextRange, RangeId>>);

impl NamedArguments {
    /// Returns the callee of a call by name with what only operators take: attributes, a string, or a list.
    fn callee(
        &self,
        view: &CheckView<'_, '_>,
        number: UnitId,
        problem: &Problem,
    ) -> Option<RangeId> {
        match problem.kind {
            ProblemKind::AttrsNotTaken { callee_range, .. } => Some(callee_range),
            ProblemKind::StringValue | ProblemKind::ListValue { .. } => {
                let all = self.0.get_or_init(|| {
                    let calls = view.unit(number).calls.iter();
                    let named = calls.filter(|call| matches!(call.callee, Callee::Name(_)));
                    let place = |arg| view.range(ExprRef { unit: number, expr: arg });
                    let args = |call: &CallData| (call.args.clone(), call.callee_range);
                    let args = named.map(args).flat_map(|(args, callee)| {
                        args.into_iter().map(move |arg| (place(arg), callee))
                    });
                    args.collect()
                });
                all.get(&view.place(number, problem.range)).copied()
            }
            _ => None,
        }
    }
}

/// Returns true for a missing attribute of a call whose arguments have a syntax error: `reshape(%x, [3, 2])`.
fn is_of_broken_call(unit: &Unit, problem: &Problem) -> bool {
    let ProblemKind::Attr { problem: AttrProblem::Missing { .. }, .. } = problem.kind else {
        return false;
    };
    unit.calls.iter().any(|call| call.callee_range == problem.range && !call.whole)
}

/// Checks a function or a bare expression.
fn check_def(view: &CheckView<'_, '_>, errors: &ErrorRanges, found: &mut Vec<DefDiagnostic>) {
    let mut all: Vec<Evidence> = Vec::new();
    let mut in_def = Vec::new();
    let unknown = names::check_def(view, &mut in_def);
    let dropped = tvm::rules::dropped_bindings(view);
    // Attributes, strings and lists that a callee does not take, each with the range of the callee.
    let mut rejected: Vec<(TextRange, TextRange)> = Vec::new();
    // A type that exceeds the limit usually exceeds it in every later unit: one report is enough.
    let mut is_too_large = false;
    let mut unresolved = sigils::UnresolvedNames::default();
    for number in units_with_findings(view) {
        let unit = view.unit(number);
        unresolved.begin();
        let named = NamedArguments::default();
        for problem in &unit.problems {
            if is_of_declared(view, unit, problem) || is_of_broken_call(unit, problem) {
                continue;
            }
            let Some(diagnostic) = problems::report(&ProblemSite::of_unit(view, number, problem))
            else {
                continue;
            };
            in_def.push(diagnostic);
            if let Some(callee) = named.callee(view, number, problem) {
                let place = |range| view.place(number, range);
                rejected.push((place(problem.range), place(callee)));
            }
        }
        // The diagnostics of calls in which a relation fails.
        let mut failed: FxHashMap<ExprId, usize> = FxHashMap::default();
        let expr_ref = |finding: &Finding| {
            let expr = finding.subject.expr(unit)?;
            Some(ExprRef { unit: number, expr })
        };
        for finding in &view.unit_types(number).findings {
            if follows_from_syntax_error(view, errors, number, finding.depends_on) {
                continue;
            }
            if matches!(finding.kind, FindingKind::TooLarge(_))
                && std::mem::replace(&mut is_too_large, true)
            {
                continue;
            }
            if let (FindingKind::Relation { operator, reason }, Some(expr_ref)) =
                (&finding.kind, expr_ref(finding))
                && let Some(&first) = failed.get(&expr_ref.expr)
                && relation::add_to_call(view, expr_ref, (operator, reason), &mut in_def[first])
            {
                continue;
            }
            let Some(Report { mut diagnostic, evidence }) = findings::report(view, number, finding)
            else {
                continue;
            };
            let at = in_def.len();
            if let FindingKind::Unresolved(name) = &finding.kind {
                unresolved.add(name, &diagnostic);
            } else if dropped.contains(diagnostic.range) {
                diagnostic.severity = diagnostic.severity.min(Severity::Warning);
            }
            if let (FindingKind::Relation { .. }, Some(expr_ref)) =
                (&finding.kind, expr_ref(finding))
            {
                failed.entry(expr_ref.expr).or_insert(at);
            }
            if let Some(mut evidence) = evidence {
                diagnostic.cause = Some(Box::new(std::mem::take(&mut evidence.cause)));
                evidence.at = at;
                all.push(evidence);
            }
            in_def.push(diagnostic);
        }
    }
    // A binding that seems unused may be the one that an unknown name was meant to refer to.
    let all_resolved = unknown.is_empty();
    cause::fold(view, &all, &mut in_def);
    cause::fold_calls(view, &mut in_def);
    names::unbound(unknown, &mut in_def);
    // `nn.dens(%x, %w, units=4)`: the unknown name is the cause, not its attributes.
    if !rejected.is_empty() {
        let is_cause = |d: &&DefDiagnostic| is_unresolved(d.code) || d.code == Code::PythonCall;
        let mut unknown: Vec<TextRange> = in_def.iter().filter(is_cause).map(|d| d.range).collect();
        unknown.sort_by_key(|range| range.start());
        rejected.retain(|(_, callee)| {
            let from = unknown.partition_point(|range| range.start() < callee.start());
            let mut near = unknown[from..].iter().take_while(|r| r.start() <= callee.end());
            near.any(|range| callee.contains_range(*range))
        });
        let silent: FxHashSet<TextRange> = rejected.iter().map(|(part, _)| *part).collect();
        let is_part = |code| matches!(code, Code::AttributesNotTaken | Code::SyntaxError);
        in_def.retain(|d| !is_part(d.code) || !silent.contains(&d.range));
    }
    unresolved.fold(&mut in_def);
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
    let mut units: Vec<UnitId> = view.body.units_with(UnitFeatures::PROBLEM).collect();
    units.extend(view.inference.units_with_findings().map(|(unit, _)| unit));
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

/// Returns true if a finding may follow from a syntax error: inside a call or a body, it may change the number of
/// arguments or the tail expression; in the header of a function, its parameters.
fn follows_from_syntax_error(
    view: &CheckView<'_, '_>,
    errors: &ErrorRanges,
    unit: UnitId,
    depends_on: DependsOn,
) -> bool {
    if errors.is_empty() {
        return false;
    }
    let is_inside = |range: TextRange| !range.is_empty() && errors.is_inside(range);
    match depends_on {
        DependsOn::ArgumentCount(call) => {
            is_inside(view.range(ExprRef { unit, expr: call }))
                || calls_broken(view, view.unit(unit), call)
        }
        DependsOn::Body(_) => is_inside(view.root().range()),
        DependsOn::Call(call) => calls_broken(view, view.unit(unit), call),
        DependsOn::Text | DependsOn::Value(_) | DependsOn::Operands(_) | DependsOn::Matched => {
            false
        }
    }
}

/// Returns true if `call` calls a definition with a syntax error in its header.
fn calls_broken(view: &CheckView<'_, '_>, unit: &Unit, call: ExprId) -> bool {
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
