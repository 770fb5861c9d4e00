//! What the place expects at which an expression stands.

use semantics::{
    Spot, View,
    body::{CallData, Callee, Expr, UnitKind},
};
use types::{Relation, Type, demanded};

use super::pretty::one_line;

/// What a place expects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    /// The place: `` `weight` of `nn.dense` ``.
    pub place: String,
    /// The type that it takes, if what stands around says so.
    pub ty: Option<String>,
    /// What the operator says of it: `` `(units, input_dim)` ``.
    pub note: Option<String>,
}

/// What is expected of the expression at `spot`.
pub(super) fn expected(view: &View<'_>, spot: Spot) -> Option<Expected> {
    let unit = view.unit(spot.unit);
    let argument = unit
        .calls
        .iter()
        .find_map(|call| Some((call, call.args.iter().position(|arg| *arg == spot.expr)?)));
    if let Some((call, position)) = argument {
        return of_argument(view, spot, call, position);
    }
    let plain = |place: String, ty: &Type| Expected { place, ty: Some(one_line(ty)), note: None };
    let binds = unit.exprs.iter().find_map(|expr| match expr {
        Expr::If { cond, .. } if *cond == spot.expr => {
            let place = "the condition of an `if`".to_owned();
            Some(Expected { place, ty: Some("bool".to_owned()), note: None })
        }
        Expr::Bind { binder, value, .. } if *value == spot.expr => {
            let binder = unit.binder(*binder);
            let written = binder.annotation.as_ref()?;
            Some(plain(format!("the annotation of `{}`", binder.name), written))
        }
        _ => None,
    });
    if binds.is_some() {
        return binds;
    }
    if unit.kind == UnitKind::Tail && unit.root == Some(spot.expr) {
        let written = view.body.header()?.ret.as_ref()?;
        return Some(plain(format!("the result of `{}`", view.def.name(view.db)), written));
    }
    None
}

fn of_argument(view: &View<'_>, spot: Spot, call: &CallData, position: usize) -> Option<Expected> {
    match &call.callee {
        Callee::Operator(operator) => {
            // Operators that take any number have one name for all.
            let name = operator.args.get(position).or(operator.args.last());
            let place = match name {
                Some(name) => format!("`{name}` of `{}`", operator.name),
                None => format!("an argument of `{}`", operator.name),
            };
            let note = operator.doc.args.get(position).map(|line| (*line).to_owned());
            let ty = operator.rule.and_then(|(name, solve)| {
                let attrs = call.attrs.clone();
                let relation = Relation { name, operator: operator.name, solve, attrs };
                let types: Vec<Type> = call
                    .args
                    .iter()
                    .map(|&expr| view.ty(Spot { unit: spot.unit, expr }).clone())
                    .collect();
                demanded(&relation, operator.args, &types, position)
            });
            Some(Expected { place, ty: ty.as_ref().map(one_line), note })
        }
        Callee::Name(name) => {
            let (adt, constructor) = view.types.constructor(name)?;
            let field = constructor.fields.get(position)?;
            let place = format!("field {position} of `{name}` of `{}`", adt.name);
            Some(Expected { place, ty: Some(one_line(field)), note: None })
        }
        Callee::Expr(callee) => {
            let callee = Spot { unit: spot.unit, expr: *callee };
            let param = view.ty(callee).signature()?;
            let param = param.func.params().get(position)?;
            let place = format!("parameter {position} of {}", view.describe(callee));
            Some(Expected { place, ty: Some(one_line(param)), note: None })
        }
    }
}
