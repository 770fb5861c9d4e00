//! Comments with another type than the inferred one, and with a part of it.

use types::{Dim, Table, Type, map_leaves};

use crate::{
    body::*,
    diagnostic::{Code, DefDiagnostic},
    lower::printed_type,
    view::View,
};

pub(in crate::check) fn report(
    view: &View<'_>,
    number: UnitId,
    comment: &TypeComment,
) -> DefDiagnostic {
    let types = view.unit_types(number);
    let ty = match comment.subject {
        Subject::Expr(expr) => types.expr(expr),
        Subject::Binder(binder) => types.binder(binder),
    };
    let range = view.place(number, comment.range);
    let (code, message) = match says_less(&comment.text, ty) {
        true => (
            Code::ImpreciseTypeComment,
            format!("this comment says `{}`, and the type is known to be `{ty}`", comment.text),
        ),
        false => (
            Code::StaleTypeComment,
            format!("this comment says `{}`, but the type is `{ty}`", comment.text),
        ),
    };
    DefDiagnostic::new(code, range, message).fix("Correct the comment", [(range, ty.to_string())])
}

/// Returns true if the type in a comment contradicts `ty` nowhere, and leaves parts of it open: with `?`, `_` or the
/// variable of a size. Another release of TVM, or the pass after which the module was printed, knew less.
fn says_less(comment: &str, ty: &Type) -> bool {
    let Some(comment) = printed_type(comment) else { return false };
    let mut table = Table::default();
    let comment = map_leaves(&comment, &mut |leaf| match leaf {
        Type::Tensor(tensor) => {
            let open = |size: &Dim| if size.as_known().is_some() { size.clone() } else { Dim::Any };
            Type::tensor(tensor.shape.iter().map(open), tensor.dtype)
        }
        Type::Hole => {
            let node = table.fresh();
            table.resolve(node)
        }
        other => other.clone(),
    });
    let (comment, ty) = (table.import(&comment), table.import(ty));
    table.unify(comment, ty).is_ok()
}
