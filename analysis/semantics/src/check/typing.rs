//! What inference found, in words.

mod mismatch;

use mismatch::mismatch;
use syntax::{TextRange, TextSize};
use types::{MAX_DEPTH, MAX_WEIGHT, Type, describe};

use super::{
    names, relation,
    suggest::{Among, Checked},
    text,
};
use crate::{
    body::*,
    db::Settings,
    diagnostic::Diagnostic,
    infer::{Finding, Mismatch},
    queries,
    scope::Binding,
    view::{Spot, View},
};

/// What is said of the place that TVM names.
pub(super) const VALUE_USED: &str = "the value is used here";

/// What is said of the declared result of a definition.
pub(super) const RESULT_DECLARED: &str = "the result is declared here";

/// What is said of the graph bindings in front of the end of a block.
pub(super) const BLOCK_BEGINS: &str = "for TVM, the expression begins here";

pub(super) fn report(
    view: &Checked<'_, '_>,
    unit: usize,
    finding: &Finding,
    out: &mut Vec<Diagnostic>,
) {
    let Some(mut diagnostic) = diagnostic(view, unit, finding) else { return };
    let subject = subject(view, unit, finding);
    // TVM names the last use of a graph variable for what is wrong with its value.
    let within = || view.last_use_within(Spot { unit, expr: subject? });
    if finding.is_error()
        && let Some(last) = within().or_else(|| view.last_use(unit))
    {
        diagnostic = diagnostic.related(last, VALUE_USED);
    }
    // And for what is wrong with the end of a block, the graph bindings in front of it.
    if finding.is_error()
        && Settings::get(view.db).strict(view.db)
        && let Some(expr) = subject
        && let Some(first) = view.block_start(view.range(Spot { unit, expr }))
    {
        diagnostic = diagnostic.related(first, BLOCK_BEGINS);
    }
    out.push(diagnostic);
}

/// The expression that a finding is about.
fn subject(view: &Checked<'_, '_>, unit: usize, finding: &Finding) -> Option<ExprId> {
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

fn diagnostic(view: &Checked<'_, '_>, unit: usize, finding: &Finding) -> Option<Diagnostic> {
    let spot = |expr: ExprId| Spot { unit, expr };
    let range = |expr: ExprId| view.range(spot(expr));
    Some(match finding {
        Finding::Relation { expr, reason } => relation::failed(view, spot(*expr), reason),
        // `memory.alloc_tensor` with a shape that is known when the program runs: its type is to be
        // written, and has been.
        Finding::Undecided { reason, .. } if reason.code == "type-needed" => return None,
        Finding::Undecided { expr, reason } => relation::undecided(view, spot(*expr), reason),
        Finding::Uncomputable { expr, reason } => relation::uncomputable(view, spot(*expr), reason),
        Finding::Unknown { expr, argument, reason } => {
            unknown(view, spot(*expr), *argument, reason.as_deref())
        }
        Finding::UnknownVariable(binder) => {
            let name = &view.unit(unit).binder(*binder).name;
            let at = view.place(unit, view.unit(unit).binder(*binder).range);
            let diagnostic = Diagnostic::new(
                "missing-annotation",
                at,
                format!("nothing decides the type of `{name}`"),
            )
            .help(format!("write it: `{name}: Tensor[(…), float32]`"));
            let binding = Binding { unit: unit as u32, binder: *binder };
            match view.last_use_of(binding) {
                Some(last) => diagnostic.related(last, "it is used here"),
                None => diagnostic,
            }
        }
        // What TVM alone finds no type for: `tvm` reports it once for all.
        Finding::OpenExpr(_) | Finding::OpenVariable(_) => return None,
        // A type that is not defined is reported where it is written.
        Finding::Mismatch { found, wanted, .. }
            if !view.types.knows(found) || !view.types.knows(wanted) =>
        {
            return None;
        }
        Finding::Mismatch { what, found, wanted, conflict } => {
            mismatch(view, unit, *what, found, wanted, conflict)
        }
        Finding::Condition { expr, ty } => condition(view, spot(*expr), ty),
        Finding::SelfApplication { call } => Diagnostic::new(
            "infinite-type",
            callee_range(view, unit, *call),
            "this is called with itself, so that its type would contain itself",
        ),
        Finding::NotCallable { call, ty } => Diagnostic::new(
            "not-callable",
            callee_range(view, unit, *call),
            format!("this is {}, and cannot be called", describe(ty)),
        ),
        Finding::HigherRank { expr, ty } => Diagnostic::new(
            "higher-rank",
            range(*expr),
            format!(
                "{} is of type `{ty}`, and only what `def`, `let` or `%0 =` binds may be \
                 polymorphic",
                view.describe(spot(*expr))
            ),
        )
        .help("write the type without type parameters, for the one type that it is used at"),
        Finding::Unproven { expr, constraint } => Diagnostic::new(
            "unproven-relation",
            range(*expr),
            format!(
                "`{}`: its rule `{constraint}` does not hold for every type that the type \
                 parameters may be",
                constraint.relation.operator
            ),
        )
        .help(
            "leave the type of the result out, so that the rule becomes a part of the type, or \
             write it: `where …`",
        ),
        Finding::TypeTooLarge { expr } => Diagnostic::new(
            "type-too-large",
            range(*expr),
            format!(
                "the type of {} has more than {MAX_WEIGHT} nodes, or nests more than {MAX_DEPTH} \
                 levels deep",
                view.describe(spot(*expr))
            ),
        )
        .help("name the parts that are needed, and leave the rest out of the tuple"),
        Finding::TooGeneral { expr, open } => Diagnostic::new(
            "type-too-large",
            range(*expr),
            format!(
                "the type of {} has {open} type parameters and relations that nothing has decided",
                view.describe(spot(*expr))
            ),
        )
        .help("write the types of the parameters of the functions that are called here"),
        Finding::Budget { expr } => Diagnostic::new(
            "inference-budget",
            range(*expr),
            format!(
                "the types of `{}` multiply: inference stops here, and what follows has no types",
                view.def.name(view.db)
            ),
        )
        .help("write the types of the functions that are called before this place"),
        Finding::NumberRange { expr, value, dtype } => Diagnostic::new(
            "number-range",
            range(*expr),
            format!("`{value}` does not fit into {dtype}, which is needed here"),
        ),
        Finding::Arity { call, wanted, found } => arity(view, unit, *call, *wanted, *found),
        Finding::NoRule { expr, operator } => Diagnostic::new(
            "no-relation",
            range(*expr),
            format!(
                "the type relation of `{}` is not known here, so its result has no type",
                operator.name
            ),
        ),
        Finding::UnknownName { expr, name } => {
            names::unknown_name(view, callee_range(view, unit, *expr), name)
        }
        Finding::UnknownGlobal { expr, name } => names::unknown_global(view, range(*expr), name),
        Finding::Projection { expr, index, ty } => projection(view, spot(*expr), *index, ty),
        Finding::UnknownConstructor { range, name } => {
            let at = view.place(unit, *range);
            let diagnostic = Diagnostic::new(
                "unknown-constructor",
                at,
                format!("there is no constructor `{name}`"),
            );
            let known = || view.types.constructor_names().map(|name| name.as_str());
            match view.suggestions.nearest(Among::Constructors, name, known) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")).fix(
                    format!("Change to `{near}`"),
                    [(TextRange::at(at.start(), TextSize::of(name.as_str())), near)],
                ),
                None => diagnostic.help(format!("a variable is written `%{name}`")),
            }
        }
        Finding::PatternArity { range, name, wanted, found } => {
            let what = match name {
                Some(name) => format!("`{name}` has"),
                None => "the tuple that is matched on has".into(),
            };
            Diagnostic::new(
                "pattern-arity",
                view.place(unit, *range),
                format!("{what} {}, the pattern has {found}", count(*wanted, "field")),
            )
        }
        Finding::PatternType { range, pattern, scrutinee } => Diagnostic::new(
            "pattern-type",
            view.place(unit, *range),
            format!(
                "this pattern takes {}, but {} is matched on",
                describe(pattern),
                describe(scrutinee)
            ),
        ),
        Finding::NotExhaustive { expr, missing } => {
            if has_wrong_pattern(view, unit, *expr) {
                return None;
            }
            let list: Vec<String> = missing.iter().map(|m| format!("`{m}`")).collect();
            let at = view.range(spot(*expr));
            let keyword = TextRange::at(at.start(), 5.into());
            Diagnostic::new(
                "match-not-exhaustive",
                keyword,
                format!("no arm takes {}", list.join(", ")),
            )
            .help("add the missing arms, or write `match?` if such values are an error")
        }
        Finding::Unreachable { expr, arm } => {
            let Expr::Match(id) = view.unit(unit).expr(*expr) else { return None };
            let arm = view.unit(unit).matches[id.index()].arms.get(*arm)?;
            Diagnostic::new(
                "unreachable-arm",
                view.place(unit, arm.pattern.range),
                "this arm can never run: the arms before it take everything it would",
            )
            .unnecessary()
        }
        Finding::TypeArgs { call, wanted, found } => Diagnostic::new(
            "type-arguments",
            callee_range(view, unit, *call),
            format!(
                "{} takes {}, {}",
                callee_name(view, unit, *call),
                count(*wanted, "type argument"),
                given(*found)
            ),
        ),
        Finding::TypeArgKind { call, index, wanted } => Diagnostic::new(
            "kind-mismatch",
            callee_range(view, unit, *call),
            format!(
                "type argument {} of {} must be a {}",
                index + 1,
                callee_name(view, unit, *call),
                text::kind_words(*wanted)
            ),
        ),
        Finding::UnknownRelation { range, name } => {
            names::unknown_relation(view.suggestions, view.place(unit, *range), name)
        }
        // In a section that cannot be read there are no entries at all.
        Finding::Metadata { .. }
            if queries::metadata(view.db, view.module).is_some_and(|m| m.error().is_some()) =>
        {
            return None;
        }
        Finding::Metadata { expr, key, index, .. } => Diagnostic::new(
            "metadata-entry",
            range(*expr),
            format!("the metadata section has no usable entry `meta[{key}][{index}]`"),
        ),
        Finding::UntypedConstant { expr } => Diagnostic::new(
            "untyped-constant",
            range(*expr),
            "the module has no metadata section, so the type of this constant is not known",
        )
        .help("write its type behind it: `/* ty=Tensor[(…), float32] */`"),
    })
}

fn count(n: usize, what: &str) -> String {
    match n {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

fn given(n: usize) -> String {
    match n {
        0 => "none is given".to_owned(),
        1 => "1 is given".to_owned(),
        n => format!("{n} are given"),
    }
}

/// What a message calls the callee of a call.
fn callee_name(view: &Checked<'_, '_>, unit: usize, call: ExprId) -> String {
    let text = view.text(callee_range(view, unit, call));
    if text.len() <= 40 { format!("`{text}`") } else { "this function".into() }
}

/// Whether a pattern of a `match` is wrong by itself: what it leaves out is not told then.
fn has_wrong_pattern(view: &Checked<'_, '_>, unit: usize, expr: ExprId) -> bool {
    let Expr::Match(id) = view.unit(unit).expr(expr) else { return false };
    // The arms are in the order of the text.
    let arms = &view.unit(unit).matches[id.index()].arms;
    let is_in_arm = |range: TextRange| {
        let until = arms.partition_point(|arm| arm.pattern.range.start() <= range.start());
        until.checked_sub(1).is_some_and(|at| arms[at].pattern.range.contains_range(range))
    };
    view.unit_types(unit).findings.iter().any(|finding| match finding {
        Finding::PatternArity { range, .. }
        | Finding::PatternType { range, .. }
        | Finding::UnknownConstructor { range, .. } => is_in_arm(*range),
        _ => false,
    })
}

/// Where what is called stands; for anything but a call, where the expression stands.
pub(super) fn callee_range(view: &View<'_>, unit: usize, expr: ExprId) -> TextRange {
    match view.unit(unit).expr(expr) {
        Expr::Call(call) => view.place(unit, view.unit(unit).call(*call).callee_range),
        _ => view.range(Spot { unit, expr }),
    }
}

fn unknown(
    view: &Checked<'_, '_>,
    spot: Spot,
    argument: Option<usize>,
    reason: Option<&types::Reason>,
) -> Diagnostic {
    if let Some(reason) = reason {
        return relation::failed(view, spot, reason);
    }
    let what = view.describe(spot);
    let at = view.range(spot);
    let diagnostic =
        Diagnostic::new("cannot-infer", at, format!("nothing decides the type of {what}"));
    let Expr::Call(call) = view.unit(spot.unit).expr(spot.expr) else { return diagnostic };
    let call = view.unit(spot.unit).call(*call);
    let arg = argument.and_then(|at| call.args.get(at));
    match arg {
        Some(&arg) => {
            let arg = Spot { unit: spot.unit, expr: arg };
            let help = match view.variable(arg) {
                Some(_) => format!("write the type of {} where it is bound", view.describe(arg)),
                None => {
                    "bind the argument with its type: `let %a: Tensor[(…), float32] = …;`".into()
                }
            };
            diagnostic.related(view.range(arg), "its type is not known").help(help)
        }
        None => diagnostic.help("write the type of the result where it is bound"),
    }
}

fn condition(view: &Checked<'_, '_>, spot: Spot, ty: &Type) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        "condition-type",
        view.range(spot),
        format!(
            "the condition of an `if` must be one truth value (`bool`), this is {}",
            describe(ty)
        ),
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
    unit: usize,
    call: ExprId,
    wanted: usize,
    found: usize,
) -> Diagnostic {
    let callee = callee_name(view, unit, call);
    let mut diagnostic = Diagnostic::new(
        "argument-count",
        callee_range(view, unit, call),
        format!("{callee} takes {}, {}", count(wanted, "argument"), given(found)),
    );
    if let Expr::Call(call) = view.unit(unit).expr(call) {
        let data = view.unit(unit).call(*call);
        if let Callee::Operator(operator) = &data.callee
            && wanted > 0
        {
            let names: Vec<&str> = operator.args.to_vec();
            diagnostic = diagnostic.help(format!("its arguments are {}", names.join(", ")));
        }
        if found > wanted
            && let Some(&extra) = data.args.get(wanted)
        {
            let extra = Spot { unit, expr: extra };
            diagnostic = diagnostic.related(view.range(extra), "one too many");
        }
    }
    diagnostic
}

fn projection(view: &Checked<'_, '_>, spot: Spot, index: u32, ty: &Type) -> Diagnostic {
    let at = view.range(spot);
    match ty {
        Type::Tuple(fields) => {
            let last = fields.len().saturating_sub(1);
            Diagnostic::new(
                "projection",
                at,
                format!(
                    "the tuple has {}, there is no field {index}",
                    count(fields.len(), "field")
                ),
            )
            .help(if fields.is_empty() {
                "the empty tuple has nothing to project".to_owned()
            } else {
                format!("its fields are .0 to .{last}")
            })
        }
        other => Diagnostic::new(
            "projection",
            at,
            format!("only tuples have fields, and this is {}", describe(other)),
        ),
    }
}
