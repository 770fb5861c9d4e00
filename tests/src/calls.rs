//! Calls of operators to try relations on: those of the markdown pages, and variations of them.

use semantics::{
    Database, DefKind, Spot, View, all_defs,
    body::{Callee, Expr, ExprId},
};
use syntax::ParseLimits;
use types::{Attrs, Dim, Relation, Type};

use crate::{corpus, mdtest};

/// A call whose relation held, with the types around it.
#[derive(Clone, Debug)]
pub struct Call {
    /// The operator.
    pub operator: &'static operators::Operator,
    /// Its attributes.
    pub attrs: Attrs,
    /// The types of the arguments.
    pub args: Vec<Type>,
    /// The type of the result.
    pub result: Type,
}

impl Call {
    /// Its type relation.
    pub fn relation(&self) -> Option<Relation> {
        let (name, solve) = self.operator.rule?;
        let (operator, attrs) = (self.operator.name, self.attrs.clone());
        Some(Relation { name, operator, solve, attrs })
    }
}

/// The sound calls of all markdown pages about operators.
pub fn of_pages() -> Vec<Call> {
    let pages = mdtest::pages(&corpus::here().join("mdtest/operators"));
    let blocks = pages.iter().flat_map(|(_, page)| mdtest::blocks(page));
    blocks.flat_map(|block| of_text(&block.text)).collect()
}

/// The sound calls of a text.
pub fn of_text(text: &str) -> Vec<Call> {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    let computing = |kind| matches!(kind, DefKind::Fn | DefKind::Expr);
    let mut calls = Vec::new();
    for def in all_defs(&db, file).filter(|def| computing(def.kind(&db))) {
        let Some(view) = View::new(&db, def) else { continue };
        for (number, unit) in view.body.units.iter().enumerate() {
            if !view.unit_types(number).findings.is_empty() {
                continue;
            }
            for (index, expr) in unit.exprs.iter().enumerate() {
                let Expr::Call(id) = expr else { continue };
                let data = unit.call(*id);
                let Callee::Operator(operator) = data.callee else { continue };
                let ty = |expr: ExprId| view.ty(Spot { unit: number, expr }).clone();
                let call = Call {
                    operator,
                    attrs: data.attrs.clone(),
                    args: data.args.iter().map(|&arg| ty(arg)).collect(),
                    result: ty(ExprId(index as u32)),
                };
                let is_sound = |ty: &Type| ty.is_closed() && !ty.has_error();
                if call.args.iter().all(is_sound) && is_sound(&call.result) {
                    calls.push(call);
                }
            }
        }
    }
    calls
}

/// `ty` with every size changed by `change`.
pub fn map_sizes(ty: &Type, change: &mut dyn FnMut(&Dim) -> Dim) -> Type {
    match ty {
        Type::Tensor(tensor) if !tensor.shape.is_empty() => {
            Type::tensor(tensor.shape.iter().map(change).collect::<Vec<_>>(), tensor.dtype)
        }
        Type::Tuple(fields) => {
            Type::tuple(fields.iter().map(|field| map_sizes(field, change)).collect::<Vec<_>>())
        }
        other => other.clone(),
    }
}
