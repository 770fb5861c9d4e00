//! Calls of operators for tests of relations: those of the markdown tests, and variations of them.

use std::collections::HashMap;

use semantics::{
    Database, DefKind, ExprRef, SourceFile, View, all_defs,
    body::{Callee, Expr, ExprId},
};
use syntax::ParseLimits;
use types::{AttrType, AttrValue, Attrs, Dim, Relation, State, Type, probe};

use crate::{corpus, mdtest};

/// A call whose relation holds, with its types.
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

/// Returns the valid calls of all markdown tests of operators.
pub fn of_pages() -> Vec<Call> {
    let pages = mdtest::pages(&corpus::here().join("mdtest/operators"));
    let blocks = pages.iter().flat_map(|(_, page)| mdtest::blocks(page));
    blocks.flat_map(|block| of_text(&block.text)).collect()
}

/// Returns the valid calls of a text.
pub fn of_text(text: &str) -> Vec<Call> {
    let db = Database::new();
    of_file(&db, db.add_file(text, ParseLimits::default()))
}

/// Returns the valid calls of a file.
pub fn of_file(db: &Database, file: SourceFile) -> Vec<Call> {
    let computing = |kind| matches!(kind, DefKind::Fn | DefKind::Expr);
    let mut calls = Vec::new();
    for def in all_defs(db, file).filter(|def| computing(def.kind(db))) {
        let Some(view) = View::new(db, def) else { continue };
        for (number, unit) in view.body.units() {
            if !view.unit_types(number).findings.is_empty() {
                continue;
            }
            for (index, expr) in unit.exprs.iter().enumerate() {
                let Expr::Call(id) = expr else { continue };
                let data = unit.call(*id);
                let Callee::Operator(operator) = data.callee else { continue };
                let ty = |expr: ExprId| view.ty(ExprRef { unit: number, expr }).clone();
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

/// Returns valid variations of `call` with other sizes, ranks, layouts and attributes: those of
/// `attempts` random variations that the relation accepts.
pub fn variations(call: &Call, rng: &mut fastrand::Rng, attempts: usize) -> Vec<Call> {
    let mut found: Vec<Call> = Vec::new();
    for _ in 0..attempts {
        let mut other = call.clone();
        if let Some(schema) = call.attrs.schema() {
            let values: Vec<AttrValue> = schema
                .fields
                .iter()
                .zip(call.attrs.values())
                .map(|(field, value)| match (field.ty, value) {
                    (AttrType::Layout, AttrValue::Str(layout)) if rng.u8(0..3) == 0 => {
                        AttrValue::Str(relaid(layout, &mut other.args, rng).into())
                    }
                    (AttrType::Choice(choices), AttrValue::Str(_)) if rng.bool() => {
                        AttrValue::Str(choices[rng.usize(0..choices.len())].into())
                    }
                    _ => changed(value, rng),
                })
                .collect();
            other.attrs = Attrs::new(schema, values);
        }
        // Equal sizes stay equal.
        let (factor, more) = (rng.i64(1..4), rng.i64(0..3));
        let mut sizes: HashMap<i64, i64> = HashMap::new();
        let mut resize = |dim: &Dim| match dim.as_known() {
            Some(size) if size > 1 => {
                let new = *sizes.entry(size).or_insert_with(|| match rng.u8(0..3) {
                    0 => size * factor,
                    1 => size + more,
                    _ => size,
                });
                Dim::known(new)
            }
            _ => dim.clone(),
        };
        other.args = other.args.iter().map(|ty| map_sizes(ty, &mut resize)).collect();
        if rng.u8(0..4) == 0 {
            other.args = other.args.iter().map(one_axis_more).collect();
        }
        let Some(relation) = other.relation() else { continue };
        let (state, types) = probe(&relation, other.operator.args, &other.args);
        if matches!(state, State::Solved)
            && let Some(result) = types.last().filter(|ty| ty.is_closed() && !ty.has_error())
        {
            found.push(Call { result: result.clone(), ..other });
        }
    }
    found
}

/// Another value of the kind, or the same.
fn changed(value: &AttrValue, rng: &mut fastrand::Rng) -> AttrValue {
    if rng.u8(0..4) != 0 {
        return value.clone();
    }
    match value {
        AttrValue::Bool(value) => AttrValue::Bool(!value),
        AttrValue::Int { wide, .. } => AttrValue::Int { value: rng.i64(-2..5), wide: *wide },
        AttrValue::List(values) => {
            AttrValue::List(values.iter().map(|value| changed(value, rng)).collect())
        }
        other => other.clone(),
    }
}

/// Exchanges two axes of a layout such as `"NCHW"`, also in the shapes of arguments of the same rank.
fn relaid(layout: &str, args: &mut [Type], rng: &mut fastrand::Rng) -> String {
    let mut axes: Vec<char> = layout.chars().collect();
    if axes.is_empty() || axes.iter().any(|axis| !axis.is_ascii_uppercase()) {
        return layout.to_owned();
    }
    let (a, b) = (rng.usize(0..axes.len()), rng.usize(0..axes.len()));
    axes.swap(a, b);
    if let Some(Type::Tensor(tensor)) = args.first_mut()
        && tensor.shape.len() == axes.len()
    {
        let mut shape: Vec<Dim> = tensor.shape.to_vec();
        shape.swap(a, b);
        args[0] = Type::tensor(shape, tensor.dtype);
    }
    axes.into_iter().collect()
}

/// Prepends an axis of size 2 to a tensor type.
fn one_axis_more(ty: &Type) -> Type {
    match ty {
        Type::Tensor(tensor) => {
            let shape = std::iter::once(Dim::known(2)).chain(tensor.shape.iter().cloned());
            Type::tensor(shape.collect::<Vec<_>>(), tensor.dtype)
        }
        Type::Tuple(fields) => Type::tuple(fields.iter().map(one_axis_more).collect::<Vec<_>>()),
        other => other.clone(),
    }
}
