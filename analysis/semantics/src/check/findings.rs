//! What a user sees of the findings: for each code, or for each kind that has several codes, a file with its message,
//! labels, help, related places and fixes. [`report`] chooses the file for a finding of inference,
//! [`super::problems::report`] for a problem of lowering, [`super::syntax_errors`] for a syntax error,
//! [`super::lints`] for valid code, [`super::names`] for the names of a module and [`super::allows`] for a comment.
//! The pages of the codes are in `codes.md` of the crate `relay-codes`.

mod argument_count;
pub(super) mod attribute_type;
pub(super) mod attribute_value;
pub(super) mod attributes_not_taken;
mod cannot_infer;
mod condition_type;
pub(super) mod duplicate_attribute;
pub(super) mod duplicate_constant;
pub(super) mod duplicate_constructor;
pub(super) mod duplicate_definition;
pub(super) mod duplicate_parameter;
pub(super) mod extern_constructors;
mod higher_rank;
mod inference_budget;
mod infinite_type;
pub(super) mod invalid_allow;
pub(super) mod invalid_binder;
pub(super) mod kind_mismatch;
mod match_not_exhaustive;
pub(super) mod match_without_arms;
mod metadata_entry;
pub(super) mod metadata_unreadable;
mod mismatch;
mod missing_annotation;
pub(super) mod missing_attribute;
pub(super) mod negative_size;
mod no_relation;
mod not_callable;
pub(super) mod number_range;
pub(super) mod number_suffix;
pub(super) mod open_field;
pub(super) mod other_text;
mod pattern_arity;
mod pattern_type;
mod projection;
pub(super) mod python_call;
pub(super) mod relation;
pub(super) mod shadowed_parameter;
pub(super) mod stale_type_comment;
pub(super) mod syntax_error;
pub(super) mod too_many;
pub(super) mod tvm_detached_attributes;
pub(super) mod type_arguments;
mod type_too_large;
pub(super) mod undefined_result;
pub(super) mod unknown_attribute;
mod unknown_constructor;
pub(super) mod unknown_dtype;
mod unknown_global;
pub(super) mod unknown_kind;
pub(super) mod unknown_name;
pub(super) mod unknown_relation;
pub(super) mod unknown_type;
pub(super) mod unknown_variable;
pub(super) mod unknown_version;
mod unproven_relation;
mod unreachable_arm;
mod untyped_constant;
pub(super) mod unused_allow;
pub(super) mod unused_binding;
pub(super) mod unused_constant;

use syntax::TextRange;

use super::{cause::Evidence, check_view::CheckView};
use crate::{
    body::*,
    diagnostic::{Code, DefDiagnostic, Role},
    infer::{self, Finding, FindingKind, FindingSubject, UnresolvedName},
    tvm::rules,
    view::View,
};

/// The diagnostic of a finding, and what it follows from, if it may share its cause with others.
pub(super) struct Report {
    pub(super) diagnostic: DefDiagnostic,
    pub(super) evidence: Option<Evidence>,
}

impl From<DefDiagnostic> for Report {
    fn from(diagnostic: DefDiagnostic) -> Report {
        Report { diagnostic, evidence: None }
    }
}

/// The place of a finding.
struct Site<'c, 'a, 'db> {
    view: &'c CheckView<'a, 'db>,
    unit: UnitId,
    subject: FindingSubject,
}

impl Site<'_, '_, '_> {
    /// Returns the range of the subject.
    fn at(&self) -> TextRange {
        self.view.subject_range(self.unit, self.subject)
    }

    /// Returns the expression that is the subject, or whose callee is.
    fn expr_ref(&self) -> Option<ExprRef> {
        let expr = self.subject.expr(self.view.unit(self.unit))?;
        Some(ExprRef { unit: self.unit, expr })
    }

    /// Returns the range of an expression of the unit.
    fn range(&self, expr: ExprId) -> TextRange {
        self.view.range(ExprRef { unit: self.unit, expr })
    }

    /// Returns the description of the subject, an expression.
    fn describe(&self) -> Option<String> {
        Some(self.view.describe(self.expr_ref()?))
    }

    /// Returns the name of the callee of the subject for a message.
    fn callee_name(&self) -> Option<String> {
        Some(callee_name(self.view, self.expr_ref()?))
    }

    /// Creates a diagnostic at the subject.
    fn diagnostic(&self, code: Code, message: impl Into<String>) -> DefDiagnostic {
        DefDiagnostic::new(code, self.at(), message)
    }
}

/// Returns the name of the callee of a call for a message.
fn callee_name(view: &View<'_>, call: ExprRef) -> String {
    let text = view.text(view.callee_range(call));
    if text.len() <= 40 { format!("`{text}`") } else { "this function".to_owned() }
}

/// Returns what a user sees of a finding; `None` if another finding says it.
pub(super) fn report(view: &CheckView<'_, '_>, unit: UnitId, finding: &Finding) -> Option<Report> {
    use FindingKind::*;
    let site = &Site { view, unit, subject: finding.subject };
    let mut report = match &finding.kind {
        Unresolved(UnresolvedName::Operator(name)) => unknown_name::report(site, name)?.into(),
        Unresolved(UnresolvedName::Global(name)) => unknown_global::report(site, name)?.into(),
        Unresolved(UnresolvedName::Constructor(name)) => {
            unknown_constructor::report(site, name).into()
        }
        Unresolved(UnresolvedName::Metadata { key, index }) => {
            metadata_entry::report(site, key, *index)?.into()
        }
        Remark(infer::Remark::Undecided(reason)) => relation::undecided(site, reason)?.into(),
        Remark(infer::Remark::Uncomputable(reason)) => relation::uncomputable(site, reason)?.into(),
        Remark(infer::Remark::NoRule(operator)) => no_relation::report(site, operator).into(),
        Remark(infer::Remark::Unreachable) => unreachable_arm::report(site).into(),
        Remark(infer::Remark::UntypedConstant) => untyped_constant::report(site).into(),
        Relation { operator, reason } => relation::report(site, operator, reason)?,
        Unknown { argument, reason } => {
            cannot_infer::report(site, *argument, reason.as_deref())?.into()
        }
        UnknownVariable => missing_annotation::report(site)?.into(),
        // `tvm` reports it once for the definition.
        Open => return None,
        Mismatch { what, found, expected, conflict } => {
            mismatch::report(site, *what, found, expected, conflict)?
        }
        Condition(ty) => condition_type::report(site, ty),
        NotCallable(ty) => not_callable::report(site, ty).into(),
        SelfApplication => infinite_type::report(site).into(),
        HigherRank(ty) => higher_rank::report(site, ty)?.into(),
        Unproven(constraint) => unproven_relation::report(site, constraint).into(),
        TooLarge(limit) => type_too_large::report(site, *limit)?.into(),
        Budget => inference_budget::report(site).into(),
        NumberRange { value, dtype } => number_range::report(site, *value, *dtype).into(),
        Arity { expected, found } => argument_count::report(site, *expected, *found)?,
        ValueAttributes { operator, missing } => {
            missing_attribute::report(site, operator, missing).into()
        }
        Projection { index, ty } => projection::report(site, *index, ty).into(),
        PatternArity { name, expected, found } => {
            pattern_arity::report(site, name.as_ref(), *expected, *found).into()
        }
        PatternType { pattern, scrutinee } => pattern_type::report(site, pattern, scrutinee).into(),
        NotExhaustive(missing) => match_not_exhaustive::report(site, missing)?.into(),
        TypeArgs { expected, found } => type_arguments::report(site, *expected, *found)?.into(),
        TypeArgKind { index, expected } => kind_mismatch::report(site, *index, *expected)?.into(),
    };
    if finding.is_error() {
        report.diagnostic = with_places_of_value(site, report.diagnostic);
    }
    Some(report)
}

/// Returns the diagnostic for a finding that is part of the report of another one.
pub(crate) fn report_alone(
    view: &View<'_>,
    unit: UnitId,
    finding: &Finding,
) -> Option<DefDiagnostic> {
    Some(report(&CheckView::new(view), unit, finding)?.diagnostic)
}

/// Adds the other places at which TVM reports an error in a value.
fn with_places_of_value(site: &Site<'_, '_, '_>, mut diagnostic: DefDiagnostic) -> DefDiagnostic {
    let value = match site.subject {
        FindingSubject::Value(_) | FindingSubject::Call(_) | FindingSubject::Statement => {
            site.expr_ref()
        }
        FindingSubject::Expr(_)
        | FindingSubject::Callee(_)
        | FindingSubject::Binder(_)
        | FindingSubject::Pattern(_) => None,
    };
    // An error in the value of a graph variable is reported at the last use of the variable.
    let within = value.and_then(|value| site.view.last_use_within(value));
    if let Some(last) = within.or_else(|| site.view.last_use(site.unit)) {
        diagnostic = diagnostic.relate(Role::Alternative, last, "the value is used here");
    }
    // An error in the tail expression of a block is reported at the graph bindings before it.
    if let Some(first) =
        value.and_then(|value| rules::start_of_tail(site.view, site.view.range(value)))
    {
        diagnostic =
            diagnostic.relate(Role::Alternative, first, "for TVM, the expression begins here");
    }
    diagnostic
}
