//! An expression whose type cannot be inferred.

use types::Reason;

use super::{Site, relation};
use crate::{
    body::*,
    diagnostic::{Code, DefDiagnostic},
};

pub(super) fn report(
    site: &Site<'_, '_, '_>,
    argument: Option<usize>,
    reason: Option<&Reason>,
) -> Option<DefDiagnostic> {
    let expr_ref = site.expr_ref()?;
    if let Some(reason) = reason {
        return Some(relation::failed(site.view, expr_ref, "", reason));
    }
    let what = site.view.describe(expr_ref);
    let diagnostic = site.diagnostic(Code::CannotInfer, format!("cannot infer the type of {what}"));
    let Some(call) = site.view.call(expr_ref) else { return Some(diagnostic) };
    let Some(&arg) = argument.and_then(|at| call.args.get(at)) else {
        return Some(diagnostic.help("write the type of the result where it is bound"));
    };
    let arg = ExprRef { unit: site.unit, expr: arg };
    let help = match site.view.variable(arg) {
        Some(_) => format!("write the type of {} where it is bound", site.view.describe(arg)),
        None => "bind the argument with its type: `let %a: Tensor[(…), float32] = …;`".into(),
    };
    Some(diagnostic.related(site.view.range(arg), "its type is unknown").help(help))
}
