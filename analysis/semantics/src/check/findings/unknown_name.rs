//! A name that is neither an operator nor a constructor.

use operators::Operator;
use syntax::TextRange;

use super::{Site, missing_attribute, python_call};
use crate::{
    body::*,
    check::{check_view::CheckView, other_names, site::ProblemSite},
    diagnostic::{Code, DefDiagnostic, ExternalName, NameSet, insert},
    queries,
    tvm::rules,
};

pub(super) fn report(site: &Site<'_, '_, '_>, name: &str) -> Option<DefDiagnostic> {
    let (view, range, expr_ref) = (site.view, site.at(), site.expr_ref()?);
    let diagnostic = undefined(range, name);
    // A missing sigil.
    let global = format!("@{name}");
    // A function of the prelude is less likely than an operator of another library: `concat`.
    let is_own = || queries::module_scope(view.db, view.module).contains_key(global.as_str());
    let is_other = other_names::operator(name).is_some();
    if queries::global(view.db, view.module, &global).is_some() && (!is_other || is_own()) {
        let help = format!("`{global}` is a function of this module; it needs its sigil");
        return Some(diagnostic.help(help).change(range, global));
    }
    let local = format!("%{name}");
    if view.binds_name(&local) {
        let help = format!("`{local}` is a variable here; it needs its sigil");
        return Some(diagnostic.help(help).change(range, local));
    }
    // A call in Python's notation, and by the name without the module: `softmax(%x, 1)`.
    let meaning = view.call(expr_ref).and_then(|call| view.unit(expr_ref.unit).unqualified(call));
    if let Some(call) = meaning.and_then(|meaning| meaning.call.as_ref()) {
        let diagnostic = python_call::report(range, call.operator.name);
        return Some(python_call::with_call(diagnostic, view, expr_ref.unit, call));
    }
    if let Some(dtype) = syntax::dtype_of(name).filter(|_| !name.contains('"')) {
        return Some(converted(view, expr_ref, diagnostic, dtype));
    }
    if let Some((to, help)) = name_of_other_languages(name) {
        return Some(diagnostic.help(help).change(range, to));
    }
    if let Some(other) = other_names::foreign_name(name) {
        return Some(match other.name {
            Some(to) => {
                let mut edits = vec![(range, to.to_owned())];
                edits.extend(missing_attribute::optional_attributes(view, expr_ref, to));
                diagnostic.help(other.help).fix(format!("Change to `{to}`"), edits)
            }
            None => diagnostic.help(other.help),
        });
    }
    let diagnostic =
        diagnostic.or_similar(name, range, &[NameSet::Constructors, NameSet::Operators]);
    if !is_printed(view, expr_ref) {
        return Some(diagnostic);
    }
    Some(diagnostic.or_external(ExternalName {
        code: Code::ExternalOperator,
        message: format!("TVM has no operator `{name}`: its type is taken from the comment"),
        help: "an operator of another compiler; its calls are neither checked nor run",
    }))
}

/// An operator with the modules of Python before its name: `relay.nn.relu`.
pub(in crate::check) fn with_modules(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
) -> DefDiagnostic {
    let to = operator.name;
    undefined(site.range, &site.text())
        .help(format!("it is `{to}` in Relay"))
        .change(site.range, to)
}

/// Returns the diagnostic without help.
fn undefined(range: TextRange, name: &str) -> DefDiagnostic {
    let message = format!("there is no operator or constructor `{name}`");
    DefDiagnostic::new(Code::UnknownName, range, message)
}

/// Returns the keyword of Relay for a name of another language, and the help text.
fn name_of_other_languages(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "read" | "deref" => ("ref_read", "`ref_read` reads the value of a reference"),
        "write" | "assign" => ("ref_write", "`ref_write` sets the value of a reference"),
        _ => return None,
    })
}

/// Adds the fix for `float32(%n)`, a conversion.
fn converted(
    view: &CheckView<'_, '_>,
    expr_ref: ExprRef,
    diagnostic: DefDiagnostic,
    dtype: &str,
) -> DefDiagnostic {
    let diagnostic =
        diagnostic.help(format!("a conversion is written `cast(…, dtype=\"{dtype}\")`"));
    let args = view.call(expr_ref).map_or(&[][..], |call| &call.args);
    let &[value] = args else { return diagnostic };
    let end = view.range(ExprRef { unit: expr_ref.unit, expr: value }).end();
    let callee = (view.callee_range(expr_ref), "cast".to_owned());
    diagnostic.fix("Call `cast`", [callee, insert(end, format!(", dtype=\"{dtype}\""))])
}

/// Returns true if a comment states the type of an expression or of a call with it, which a compiler prints that
/// knows all names: `call_lowered(@tvmgen_default_fused_add, (%x,)) /* ty=Tensor[(4), float32] */`. Under TVM's
/// rules that is no excuse.
pub(super) fn is_printed(view: &CheckView<'_, '_>, expr_ref: ExprRef) -> bool {
    if rules::hold(view.db) {
        return false;
    }
    let unit = view.unit(expr_ref.unit);
    let concerns = |about: ExprId| {
        about == expr_ref.expr
            || view.call(ExprRef { unit: expr_ref.unit, expr: about }).is_some_and(|call| {
                matches!(call.callee, Callee::Expr(callee) if callee == expr_ref.expr)
                    || call.args.contains(&expr_ref.expr)
            })
    };
    // Most statements have few comments.
    unit.type_comments.iter().take(1_000).any(|comment| match comment.subject {
        Subject::Expr(about) => concerns(about),
        Subject::Binder(_) => false,
    })
}
