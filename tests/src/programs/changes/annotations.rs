//! Annotates definitions with their most general types.

use ide::edit::Edits;
use semantics::{
    DefKind, View,
    body::{BinderKind, Expr, LocalRef},
};
use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
};
use types::{Flags, Kind, Type};

use super::Change;
use crate::programs::meaning::Program;

/// Annotates all definitions whose types can be written; `None` if there are none.
///
/// The text format cannot express reference types, variables for the data types of numbers, and
/// relations with attributes.
pub fn general(program: &Program) -> Option<Change> {
    let parse = syntax::parse(&program.text);
    let root = Node::root(&parse.green);
    let mut edits = Edits::new();
    for view in program.views() {
        if view.def.kind(view.db) == DefKind::Fn {
            edits.extend(header(&view, root).unwrap_or_default());
        }
    }
    (!edits.is_empty()).then(|| Change::edited(&program.text, edits))
}

/// Writes the type that a variable is displayed with as its annotation; `None` if there is no such
/// variable. The variable is one of those whose types can be written: a type with the parameters
/// that inference gives to an enclosing function cannot, and neither can that of `let %e = Nil;`,
/// which is a list of any type without being a function.
pub fn displayed(program: &Program, at: usize) -> Option<Change> {
    let mut edits = Edits::new();
    for view in program.views() {
        for (number, unit) in view.body.units() {
            for expr in &unit.exprs {
                let Expr::Bind { binder, .. } = expr else { continue };
                let data = unit.binder(*binder);
                if data.annotation.is_some() || data.kind != BinderKind::Let {
                    continue;
                }
                let ty = view.unit_types(number).binder(*binder);
                let range = view.binding_range(LocalRef { unit: number, binder: *binder });
                if !is_displayed_whole(ty) || !view.can_name(ty, range) {
                    continue;
                }
                edits.push((TextRange::empty(range.end()), format!(": {ty}")));
            }
        }
    }
    let count = edits.len();
    let edit = edits.into_iter().nth(at.checked_rem(count)?)?;
    Some(Change::edited(&program.text, vec![edit]))
}

fn is_displayed_whole(ty: &Type) -> bool {
    let mut whole = ty.is_closed() && ty.weight() < 1_000;
    types::for_each_part(ty, Flags::ALL, &mut |part| {
        whole &= match part {
            Type::Hole | Type::Error => false,
            Type::Poly(_) => part.is_function(),
            _ => true,
        };
    });
    whole && ty.is_rank_1()
}

fn header(view: &View<'_>, root: Node<'_>) -> Option<Edits> {
    let range = view.def.node(view.db).range() + view.def.start(view.db);
    let node = root.children().find(|node| node.range() == range)?;
    let def = ast::FnDef::cast(node)?;
    if def.type_params().is_some() || def.where_clause().is_some() || def.body().is_none() {
        return None;
    }
    // The type of a `_` has no name in the rest.
    let header = node.descendants().filter(|inner| inner.kind() == SyntaxKind::HOLE_TYPE);
    if header.into_iter().next().is_some() {
        return None;
    }
    let signature = view.inference.signature.as_ref()?.signature()?;
    let mut edits = Edits::new();
    let list = def.params()?;
    for (param, ty) in list.params().zip(signature.func.params()) {
        if param.ty().is_none() {
            let end = param.name()?.range().end();
            edits.push((TextRange::empty(end), format!(": {}", written(ty)?)));
        }
    }
    let mut after = match def.ret() {
        Some(_) => String::new(),
        None => format!(" -> {}", written(signature.func.ret())?),
    };
    let end = def.ret().map_or(list.range().end(), |ret| ret.range().end());
    let mut rules = Vec::new();
    for constraint in &signature.constraints {
        let is_plain = matches!(constraint.relation.name, "Broadcast" | "BroadcastComp");
        let args: Option<Vec<String>> = constraint.args.iter().map(written).collect();
        let args = args.filter(|_| is_plain)?;
        rules.push(format!("{}({})", constraint.relation.name, args.join(", ")));
    }
    if !rules.is_empty() {
        after += &format!(" where {}", rules.join(", "));
    }
    if !after.is_empty() {
        edits.push((TextRange::empty(end), after));
    }
    let names: Option<Vec<&str>> = signature
        .type_params
        .iter()
        .map(|param| (param.kind() == Kind::Type).then(|| param.name().as_str()))
        .collect();
    let names = names?;
    if !names.is_empty() {
        let end = def.name()?.range().end();
        let brackets = if rules.is_empty() { ("[", "]") } else { ("<", ">") };
        edits.push((
            TextRange::empty(end),
            format!("{}{}{}", brackets.0, names.join(", "), brackets.1),
        ));
    }
    Some(edits)
}

/// Formats a type.
fn written(ty: &Type) -> Option<String> {
    let mut can = ty.is_closed() && !ty.flags().has(Flags::POLY);
    types::for_each_part(ty, Flags::ALL, &mut |part| {
        can &= !matches!(part, Type::Ref(_) | Type::Hole | Type::Error);
    });
    can.then(|| semantics::writable(ty)).flatten()
}
