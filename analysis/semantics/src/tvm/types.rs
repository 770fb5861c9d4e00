//! Types in TVM's text format, and annotations that TVM cannot read.

use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
};
use types::{DataType, Dim, Symbol, Type};

use super::Edit;
use crate::{
    body::*,
    db::{Db, SourceFile},
    diagnostic::Diagnostic,
    item::def_at,
    queries,
    view::View,
};

/// `Tuple[A, B]` to `(A, B)`, and `Tuple[A]` to `(A,)`.
pub(super) fn old_tuple(node: Node<'_>) -> Option<Vec<Edit>> {
    let open = node.token(SyntaxKind::L_BRACK)?.range();
    let close = node.token(SyntaxKind::R_BRACK)?.range();
    let end = if node.children().count() == 1 { ",)" } else { ")" };
    Some(vec![(TextRange::new(node.start(), open.end()), "(".to_owned()), (close, end.to_owned())])
}

/// Returns the text of a type in TVM's format; `None` if TVM cannot read it. `names` returns the
/// name of a type parameter.
pub(super) fn written(
    ty: &Type,
    names: &dyn Fn(&types::Param) -> Option<String>,
) -> Option<String> {
    // Long types are not inserted into a text, and visiting their shared parts repeatedly is slow.
    if ty.weight() > 1_000 {
        return None;
    }
    let list = |types: &[Type]| -> Option<String> {
        let types: Option<Vec<String>> = types.iter().map(|ty| written(ty, names)).collect();
        Some(types?.join(", "))
    };
    Some(match ty {
        Type::Tensor(tensor) => {
            if !tensor.shape.iter().all(is_readable) {
                return None;
            }
            match (tensor.rank(), tensor.dtype) {
                // TVM reads a bare `bfloat16` as the name of an algebraic data type.
                (0, DataType::BFLOAT16) => format!("Tensor[(), {}]", tensor.dtype),
                _ => ty.to_string(),
            }
        }
        Type::Tuple(fields) if fields.len() == 1 => format!("({},)", list(fields)?),
        Type::Tuple(fields) => format!("({})", list(fields)?),
        Type::Func(func) => {
            format!("fn ({}) -> {}", list(func.params())?, written(func.ret(), names)?)
        }
        Type::Adt(adt) if adt.args().is_empty() => adt.name().to_string(),
        Type::Adt(adt) => format!("{}[{}]", adt.name(), list(adt.args())?),
        Type::Param(param) if param.kind() == types::Kind::Type => names(param)?,
        Type::Param(_)
        | Type::Index(_)
        | Type::OpenTensor(_)
        | Type::Poly(_)
        | Type::Ref(_)
        | Type::Bound(_)
        | Type::Var(_)
        | Type::Hole
        | Type::Error => return None,
    })
}

/// Returns the text of a type in TVM's format, with the declared names of type parameters.
pub(super) fn written_plain(ty: &Type) -> Option<String> {
    written(ty, &|param| Some(param.name().to_string()))
}

fn is_readable(dim: &Dim) -> bool {
    match dim {
        Dim::Known { .. } | Dim::Any => true,
        Dim::Symbol(symbol) => {
            matches!(&**symbol, Symbol::Variable { name, .. } if name.starts_with("meta["))
        }
        Dim::Var(_) => false,
    }
}

/// Returns the view of the definition that contains `range`.
pub(super) fn view_at(db: &dyn Db, file: SourceFile, range: TextRange) -> Option<View<'_>> {
    let (_, def) = def_at(db, file, range.start())?;
    View::new(db, def).filter(|_| def.range(db).contains_range(range))
}

/// Adds a fix for an annotation with a type that TVM cannot read: writes it in TVM's format, or
/// removes it if TVM infers the type.
pub(super) fn annotation(
    db: &dyn Db,
    file: SourceFile,
    root: Node<'_>,
    range: TextRange,
    diagnostic: Diagnostic,
) -> Diagnostic {
    match annotation_edit(db, file, root, range) {
        Some((title, edit)) => diagnostic.fix(title, [edit]),
        None => diagnostic.help(
            "TVM infers such a type only for a `let`, or if the function reads or writes the \
             reference",
        ),
    }
}

fn annotation_edit(
    db: &dyn Db,
    file: SourceFile,
    root: Node<'_>,
    range: TextRange,
) -> Option<(&'static str, Edit)> {
    let path = root.path_to(range);
    let is_holder = |node: &Node<'_>| {
        matches!(
            node.kind(),
            SyntaxKind::LET_STMT | SyntaxKind::VAR_PAT | SyntaxKind::PARAM | SyntaxKind::RET_TYPE
        )
    };
    let at = path.iter().position(|node| ast::Type::can_cast(node.kind()))?;
    let ty = path[at];
    let holder = *path.get(at.checked_sub(1)?).filter(|node| is_holder(node))?;
    let view = view_at(db, file, range)?;
    let binding = binding_of(&view, holder);
    let bound = binding.map(|binding| view.binding_type(binding));
    if let Some(text) =
        bound.filter(|bound| view.can_name(bound, ty.range())).and_then(written_plain)
    {
        return Some(("Write the type", (ty.range(), text)));
    }
    let may_go = match holder.kind() {
        SyntaxKind::LET_STMT | SyntaxKind::VAR_PAT => true,
        SyntaxKind::PARAM => binding.is_some_and(|binding| is_used_as_reference(&view, binding)),
        // TVM infers the result of a function expression, and of a definition that is never called.
        _ => {
            let around = path.get(at.checked_sub(2)?)?;
            around.kind() == SyntaxKind::FN_EXPR || !is_called(&view)
        }
    };
    if !may_go {
        return None;
    }
    let from = match holder.kind() {
        SyntaxKind::RET_TYPE => {
            let around = path.get(at.checked_sub(2)?)?;
            around.child(SyntaxKind::PARAM_LIST)?.range().end()
        }
        _ => {
            let named = holder
                .children()
                .rfind(|node| matches!(node.kind(), SyntaxKind::NAME | SyntaxKind::VIRTUAL_DEVICE));
            named?.range().end()
        }
    };
    let removed = TextRange::new(from, ty.range().end());
    Some(("Remove the type, which TVM infers", (removed, String::new())))
}

/// Returns the variable that a parameter, a `let` or a pattern binds.
fn binding_of(view: &View<'_>, holder: Node<'_>) -> Option<LocalRef> {
    let name = holder.child(SyntaxKind::NAME)?.range();
    let number = view.unit_at(name.start())?;
    let mut binders = view.unit(number).binders.iter();
    let binder = binders.position(|binder| view.place(number, binder.range) == name)?;
    Some(LocalRef { unit: number, binder: BinderId(binder as u32) })
}

/// Returns true if a parameter is read or written, so that TVM infers a reference type.
fn is_used_as_reference(view: &View<'_>, binding: LocalRef) -> bool {
    view.body.units().any(|(number, unit)| {
        unit.exprs.iter().any(|expr| match expr {
            Expr::RefRead(reference) | Expr::RefWrite(reference, _) => {
                let expr_ref = crate::body::ExprRef { unit: number, expr: *reference };
                view.variable(expr_ref) == Some(binding)
            }
            _ => false,
        })
    })
}

/// Returns true if another definition of the module refers to this one.
fn is_called(view: &View<'_>) -> bool {
    let mut users = queries::users_of(view.db, view.module, view.def.name(view.db));
    users.any(|def| def != view.def)
}
