//! Diagnostics for the findings of inference.

mod mismatch;

use mismatch::mismatch;
use syntax::{TextRange, TextSize};
use types::{MAX_DEPTH, MAX_WEIGHT, Type, describe};

use super::{checked::Checked, names, relation, text};
use crate::{
    body::*,
    diagnostic::{Among, Code, Diagnostic, Role},
    infer::{Finding, Mismatch},
    queries,
    tvm::rules,
    view::View,
};

pub(super) fn report(
    view: &Checked<'_, '_>,
    unit: UnitId,
    finding: &Finding,
    out: &mut Vec<Diagnostic>,
) {
    let Some(mut diagnostic) = diagnostic(view, unit, finding) else { return };
    let subject = subject(view, unit, finding);
    // TVM reports an error in the value of a graph variable at the last use of the variable.
    let within = || view.last_use_within(ExprRef { unit, expr: subject? });
    if finding.is_error()
        && let Some(last) = within().or_else(|| view.last_use(unit))
    {
        diagnostic = diagnostic.relate(Role::Alternative, last, "the value is used here");
    }
    // It reports an error in the tail expression of a block at the graph bindings before it.
    if finding.is_error()
        && let Some(expr) = subject
        && let Some(first) = rules::start_of_tail(view, view.range(ExprRef { unit, expr }))
    {
        diagnostic =
            diagnostic.relate(Role::Alternative, first, "for TVM, the expression begins here");
    }
    out.push(diagnostic);
}

/// Returns the diagnostic for a finding that is part of the report of another one.
pub(crate) fn report_alone(view: &View<'_>, unit: UnitId, finding: &Finding) -> Option<Diagnostic> {
    let mut reported = Vec::new();
    report(&Checked::new(view), unit, finding, &mut reported);
    reported.pop()
}

/// Returns the expression that a finding reports.
fn subject(view: &Checked<'_, '_>, unit: UnitId, finding: &Finding) -> Option<ExprId> {
    match finding {
        Finding::Relation { expr, .. }
        | Finding::Undecided { expr, .. }
        | Finding::Uncomputable { expr, .. }
        | Finding::Unknown { expr, .. }
        | Finding::NoRule { expr, .. }
        | Finding::Projection { expr, .. }
        | Finding::UnknownName { expr, .. } => Some(*expr),
        Finding::NotCallable { call, .. } | Finding::Arity { call, .. } => Some(*call),
        Finding::Mismatch { what, .. } => match *what {
            Mismatch::Result { value, .. } => Some(value),
            Mismatch::Argument { call, .. } => Some(call),
            _ => view.unit(unit).root,
        },
        _ => None,
    }
}

fn diagnostic(view: &Checked<'_, '_>, unit: UnitId, finding: &Finding) -> Option<Diagnostic> {
    let expr_ref = |expr: ExprId| ExprRef { unit, expr };
    let range = |expr: ExprId| view.range(expr_ref(expr));
    Some(match finding {
        Finding::Relation { expr, reason } => relation::failed(view, expr_ref(*expr), reason),
        // `memory.alloc_tensor` with a shape that is known at run time only: its type is declared.
        Finding::Undecided { reason, .. } if reason.code == Code::TypeNeeded => return None,
        Finding::Undecided { expr, reason } => relation::undecided(view, expr_ref(*expr), reason),
        Finding::Uncomputable { expr, reason } => {
            relation::uncomputable(view, expr_ref(*expr), reason)
        }
        Finding::Unknown { expr, argument, reason } => {
            unknown(view, expr_ref(*expr), *argument, reason.as_deref())
        }
        Finding::UnknownVariable(binder) => {
            let name = &view.unit(unit).binder(*binder).name;
            let at = view.place(unit, view.unit(unit).binder(*binder).range);
            let diagnostic = Diagnostic::new(
                Code::MissingAnnotation,
                at,
                format!("cannot infer the type of `{name}`"),
            )
            .help(format!("write it: `{name}: Tensor[(…), float32]`"));
            let binding = LocalRef { unit, binder: *binder };
            match view.last_use_of(binding) {
                Some(last) => diagnostic.related(last, "it is used here"),
                None => diagnostic,
            }
        }
        // Only TVM cannot infer a type here: `tvm` reports it once for the definition.
        Finding::OpenExpr(_) | Finding::OpenVariable(_) => return None,
        // An undefined type is reported at its annotation.
        Finding::Mismatch { found, expected, .. }
            if !view.types.knows(found) || !view.types.knows(expected) =>
        {
            return None;
        }
        Finding::Mismatch { what, found, expected, conflict } => {
            mismatch(view, unit, *what, found, expected, conflict)
        }
        Finding::Condition { expr, ty } => condition(view, expr_ref(*expr), ty),
        Finding::SelfApplication { call } => Diagnostic::new(
            Code::InfiniteType,
            view.callee_range(expr_ref(*call)),
            "infinite type: this is called with itself",
        ),
        Finding::NotCallable { call, ty } => Diagnostic::new(
            Code::NotCallable,
            view.callee_range(expr_ref(*call)),
            format!("this is {}, which cannot be called", describe(ty)),
        ),
        Finding::HigherRank { expr, ty } => Diagnostic::new(
            Code::HigherRank,
            range(*expr),
            format!(
                "{} has the polymorphic type `{ty}`, but only what `def`, `let` or `%0 =` \
                 binds may be polymorphic",
                view.describe(expr_ref(*expr))
            ),
        )
        .help("write the type at which it is used, without type parameters"),
        Finding::Unproven { expr, constraint } => Diagnostic::new(
            Code::UnprovenRelation,
            range(*expr),
            format!(
                "`{}`: its rule `{constraint}` does not hold for every instance of the type \
                 parameters",
                constraint.relation.operator
            ),
        )
        .help(
            "leave the type of the result out, so that inference adds the rule to the type, or \
             write it: `where …`",
        ),
        Finding::TypeTooLarge { expr } => Diagnostic::new(
            Code::TypeTooLarge,
            range(*expr),
            format!(
                "the type of {} has more than {MAX_WEIGHT} nodes, or nests more than {MAX_DEPTH} \
                 levels deep",
                view.describe(expr_ref(*expr))
            ),
        )
        .help("bind the parts that are needed, and leave the rest out of the tuple"),
        Finding::TooGeneral { expr, open } => Diagnostic::new(
            Code::TypeTooLarge,
            range(*expr),
            format!(
                "the type of {} has {open} unresolved type parameters and relations",
                view.describe(expr_ref(*expr))
            ),
        )
        .help("write the types of the parameters of the functions that are called here"),
        Finding::Budget { expr } => Diagnostic::new(
            Code::InferenceBudget,
            range(*expr),
            format!(
                "the types of `{}` grow too fast: inference stops here, and the rest has no types",
                view.def.name(view.db)
            ),
        )
        .help("write the types of the functions that are called before this place"),
        Finding::NumberRange { expr, value, dtype } => Diagnostic::new(
            Code::NumberRange,
            range(*expr),
            format!("`{value}` is out of range for {dtype}, which is required here"),
        ),
        Finding::Arity { call, expected, found } => arity(view, unit, *call, *expected, *found),
        Finding::NoRule { expr, operator } => Diagnostic::new(
            Code::NoRelation,
            range(*expr),
            format!(
                "the type relation of `{}` is unknown, so its result has no type",
                operator.name
            ),
        ),
        Finding::UnknownName { expr, name } => {
            names::unknown_name(view, view.callee_range(expr_ref(*expr)), name)
        }
        Finding::UnknownGlobal { expr, name } => names::unknown_global(view, range(*expr), name),
        Finding::Projection { expr, index, ty } => projection(view, expr_ref(*expr), *index, ty),
        Finding::UnknownConstructor { range, name } => {
            let at = view.place(unit, *range);
            let diagnostic = Diagnostic::new(
                Code::UnknownConstructor,
                at,
                format!("there is no constructor `{name}`"),
            );
            // The range is that of the pattern, which begins with the name.
            let at = TextRange::at(at.start(), TextSize::of(name.as_str()));
            diagnostic.help(format!("a variable is written `%{name}`")).or_similar(
                name,
                at,
                &[Among::Constructors],
            )
        }
        Finding::PatternArity { range, name, expected, found } => {
            let what = match name {
                Some(name) => format!("`{name}` has"),
                None => "the tuple that is matched on has".into(),
            };
            Diagnostic::new(
                Code::PatternArity,
                view.place(unit, *range),
                format!("{what} {}, the pattern has {found}", text::count(*expected, "field")),
            )
        }
        Finding::PatternType { range, pattern, scrutinee } => Diagnostic::new(
            Code::PatternType,
            view.place(unit, *range),
            format!(
                "this pattern matches {}, but the matched value is {}",
                describe(pattern),
                describe(scrutinee)
            ),
        ),
        Finding::NotExhaustive { expr, missing } => {
            if has_wrong_pattern(view, unit, *expr) {
                return None;
            }
            let list: Vec<String> = missing.iter().map(|m| format!("`{m}`")).collect();
            let at = view.range(expr_ref(*expr));
            let keyword = TextRange::at(at.start(), 5.into());
            Diagnostic::new(
                Code::MatchNotExhaustive,
                keyword,
                format!("non-exhaustive `match`: no arm matches {}", list.join(", ")),
            )
            .help("add the missing arms, or write `match?` if such values are errors at run time")
        }
        Finding::Unreachable { expr, arm } => {
            let Expr::Match(id) = view.unit(unit).expr(*expr) else { return None };
            let arm = view.unit(unit).matches[id.index()].arms.get(*arm)?;
            Diagnostic::new(
                Code::UnreachableArm,
                view.place(unit, arm.pattern.range),
                "unreachable arm: the arms before it match all of its values",
            )
            .unnecessary()
        }
        Finding::TypeArgs { call, expected, found } => Diagnostic::new(
            Code::TypeArguments,
            view.callee_range(expr_ref(*call)),
            format!(
                "{} expects {}, found {found}",
                callee_name(view, unit, *call),
                text::count(*expected, "type argument"),
            ),
        ),
        Finding::TypeArgKind { call, index, expected } => Diagnostic::new(
            Code::KindMismatch,
            view.callee_range(expr_ref(*call)),
            format!(
                "type argument {} of {} must be a {}",
                index + 1,
                callee_name(view, unit, *call),
                text::kind_name(*expected)
            ),
        ),
        Finding::UnknownRelation { range, name } => {
            text::unknown_relation(view.place(unit, *range), name)
        }
        // A section that cannot be read has no entries.
        Finding::Metadata { .. }
            if queries::metadata(view.db, view.module).is_some_and(|m| m.error().is_some()) =>
        {
            return None;
        }
        Finding::Metadata { expr, key, index, .. } => Diagnostic::new(
            Code::MetadataEntry,
            range(*expr),
            format!("the metadata section has no usable entry `meta[{key}][{index}]`"),
        ),
        Finding::UntypedConstant { expr } => Diagnostic::new(
            Code::UntypedConstant,
            range(*expr),
            "the module has no metadata section, so the type of this constant is unknown",
        )
        .help("write its type after it: `/* ty=Tensor[(…), float32] */`"),
    })
}

/// Returns the name of the callee of a call for a message.
fn callee_name(view: &Checked<'_, '_>, unit: UnitId, call: ExprId) -> String {
    let text = view.text(view.callee_range(ExprRef { unit, expr: call }));
    if text.len() <= 40 { format!("`{text}`") } else { "this function".into() }
}

/// Returns true if a pattern of a `match` is ill-typed. The match is not reported as non-exhaustive
/// then.
fn has_wrong_pattern(view: &Checked<'_, '_>, unit: UnitId, expr: ExprId) -> bool {
    let Expr::Match(id) = view.unit(unit).expr(expr) else { return false };
    let data = &view.unit(unit).matches[id.index()];
    view.unit_types(unit).findings.iter().any(|finding| match finding {
        Finding::PatternArity { range, .. }
        | Finding::PatternType { range, .. }
        | Finding::UnknownConstructor { range, .. } => data.has_pattern(*range),
        _ => false,
    })
}

fn unknown(
    view: &Checked<'_, '_>,
    expr_ref: ExprRef,
    argument: Option<usize>,
    reason: Option<&types::Reason>,
) -> Diagnostic {
    if let Some(reason) = reason {
        return relation::failed(view, expr_ref, reason);
    }
    let what = view.describe(expr_ref);
    let at = view.range(expr_ref);
    let diagnostic =
        Diagnostic::new(Code::CannotInfer, at, format!("cannot infer the type of {what}"));
    let Expr::Call(call) = view.unit(expr_ref.unit).expr(expr_ref.expr) else { return diagnostic };
    let call = view.unit(expr_ref.unit).call(*call);
    let arg = argument.and_then(|at| call.args.get(at));
    match arg {
        Some(&arg) => {
            let arg = ExprRef { unit: expr_ref.unit, expr: arg };
            let help = match view.variable(arg) {
                Some(_) => format!("write the type of {} where it is bound", view.describe(arg)),
                None => {
                    "bind the argument with its type: `let %a: Tensor[(…), float32] = …;`".into()
                }
            };
            diagnostic.related(view.range(arg), "its type is unknown").help(help)
        }
        None => diagnostic.help("write the type of the result where it is bound"),
    }
}

fn condition(view: &Checked<'_, '_>, expr_ref: ExprRef, ty: &Type) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::ConditionType,
        view.range(expr_ref),
        format!("the condition of an `if` must be a scalar `bool`, but this is {}", describe(ty)),
    );
    match ty.as_tensor() {
        Some(tensor) if tensor.dtype.is_bool() && tensor.rank() > 0 => {
            diagnostic.help("reduce it to one value first: `all(…)` or `any(…)`")
        }
        Some(tensor) if tensor.rank() == 0 => diagnostic.help("compare it: `… != 0`"),
        Some(_) => diagnostic.help("compare elements and reduce: `all(equal(…, …))`"),
        None => diagnostic,
    }
}

fn arity(
    view: &Checked<'_, '_>,
    unit: UnitId,
    call: ExprId,
    expected: usize,
    found: usize,
) -> Diagnostic {
    let callee = callee_name(view, unit, call);
    let mut diagnostic = Diagnostic::new(
        Code::ArgumentCount,
        view.callee_range(ExprRef { unit, expr: call }),
        format!("{callee} expects {}, found {found}", text::count(expected, "argument")),
    );
    if let Expr::Call(call) = view.unit(unit).expr(call) {
        let data = view.unit(unit).call(*call);
        if let Callee::Operator(operator) = &data.callee
            && expected > 0
        {
            let names: Vec<&str> = operator.args.to_vec();
            diagnostic = diagnostic.help(format!("its arguments are {}", names.join(", ")));
        }
        if found > expected
            && let Some(&extra) = data.args.get(expected)
        {
            let extra = ExprRef { unit, expr: extra };
            diagnostic = diagnostic.related(view.range(extra), "unexpected argument");
        }
    }
    diagnostic
}

fn projection(view: &Checked<'_, '_>, expr_ref: ExprRef, index: u32, ty: &Type) -> Diagnostic {
    let at = view.range(expr_ref);
    match ty {
        Type::Tuple(fields) => {
            let last = fields.len().saturating_sub(1);
            Diagnostic::new(
                Code::Projection,
                at,
                format!(
                    "the tuple has {}, but no field {index}",
                    text::count(fields.len(), "field")
                ),
            )
            .help(if fields.is_empty() {
                "the empty tuple has no fields".to_owned()
            } else {
                format!("its fields are .0 to .{last}")
            })
        }
        other => Diagnostic::new(
            Code::Projection,
            at,
            format!("only tuples have fields, but this is {}", describe(other)),
        ),
    }
}
