//! The type that the context of an expression expects.

use semantics::{
    ExprRef, View,
    body::{CallData, Callee, Expr, UnitKind},
};
use types::{Relation, Type, infer_argument};

use crate::{hover::type_text, lookups::args_of};

/// The expectation of a context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpectedType {
    /// The context: `` `weight` of `nn.dense` ``.
    pub place: String,
    /// The expected type, if the context determines it.
    pub ty: Option<String>,
    /// The documentation of the argument of an operator: `` `(units, input_dim)` ``.
    pub note: Option<String>,
}

impl ExpectedType {
    fn new(place: String, ty: String) -> ExpectedType {
        ExpectedType { place, ty: Some(ty), note: None }
    }
}

/// Returns the expectation of the context of an expression.
pub(super) fn expected(view: &View<'_>, expr_ref: ExprRef) -> Option<ExpectedType> {
    let unit = view.unit(expr_ref.unit);
    let argument = unit
        .calls
        .iter()
        .find_map(|call| Some((call, call.args.iter().position(|arg| *arg == expr_ref.expr)?)));
    if let Some((call, position)) = argument {
        return of_argument(view, expr_ref, call, position);
    }
    let binds = unit.exprs.iter().find_map(|expr| match expr {
        Expr::If { cond, .. } if *cond == expr_ref.expr => {
            Some(ExpectedType::new("the condition of an `if`".to_owned(), "bool".to_owned()))
        }
        Expr::Bind { binder, value, .. } if *value == expr_ref.expr => {
            let binder = unit.binder(*binder);
            let written = binder.annotation.as_ref()?;
            let place = format!("the annotation of `{}`", binder.name);
            Some(ExpectedType::new(place, type_text(written)))
        }
        _ => None,
    });
    if binds.is_some() {
        return binds;
    }
    if unit.kind == UnitKind::Tail && unit.root == Some(expr_ref.expr) {
        let written = view.body.header()?.ret.as_ref()?;
        let place = format!("the result of `{}`", view.def.name(view.db));
        return Some(ExpectedType::new(place, type_text(written)));
    }
    None
}

fn of_argument(
    view: &View<'_>,
    expr_ref: ExprRef,
    call: &CallData,
    position: usize,
) -> Option<ExpectedType> {
    match &call.callee {
        Callee::Operator(operator) => {
            // A variadic operator has one name for all arguments.
            let name = operator.args.get(position).or(operator.args.last());
            let place = match name {
                Some(name) => format!("`{name}` of `{}`", operator.name),
                None => format!("an argument of `{}`", operator.name),
            };
            let note = operator.doc.args.get(position).map(|line| (*line).to_owned());
            let ty = operator.rule.and_then(|(name, solve)| {
                let attrs = call.attrs.clone();
                let relation = Relation { name, operator: operator.name, solve, attrs };
                let types: Vec<Type> =
                    args_of(expr_ref.unit, call).map(|arg| view.ty(arg).clone()).collect();
                infer_argument(&relation, operator.args, &types, position)
            });
            Some(ExpectedType { place, ty: ty.as_ref().map(type_text), note })
        }
        Callee::Name(name) => {
            let (adt, constructor) = view.types.constructor(name)?;
            let field = constructor.fields.get(position)?;
            let place = format!("field {position} of `{name}` of `{}`", adt.name);
            Some(ExpectedType::new(place, type_text(field)))
        }
        Callee::Expr(callee) => {
            let callee = ExprRef { unit: expr_ref.unit, expr: *callee };
            let param = view.ty(callee).signature()?;
            let param = param.func.params().get(position)?;
            let place = format!("parameter {position} of {}", view.describe(callee));
            Some(ExpectedType::new(place, type_text(param)))
        }
    }
}
