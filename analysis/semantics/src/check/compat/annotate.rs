//! Types that inference finds and TVM does not.

use rustc_hash::FxHashSet;
use syntax::{
    Node, SyntaxKind,
    ast::{self, AstNode},
};
use types::{FuncType, Type, TypeParam};

use super::{
    Compat, Edit, insert,
    types::written,
    uses::{self, Used},
};
use crate::{body::*, diagnostic::Diagnostic, item::DefKind, queries, scope::Binding, view::View};

pub(super) fn check(view: &View<'_>, compat: &mut Compat<'_>) {
    if view.def.kind(view.db) == DefKind::Fn {
        definition(view, compat);
    }
    for (number, unit) in view.body.units.iter().enumerate() {
        // Without a function in it, there is nothing to see.
        if unit.kind == UnitKind::Header || unit.fns.is_empty() {
            continue;
        }
        for expr in &unit.exprs {
            if let Expr::Bind { binder, value } = expr
                && let Expr::Fn(function) = unit.expr(*value)
            {
                let binding = Binding { unit: number as u32, binder: *binder };
                bound_function(view, binding, *function, *value, compat);
            }
        }
    }
}

/// A definition without a type that TVM could find.
fn definition(view: &View<'_>, compat: &mut Compat<'_>) {
    let (Some(header), Some(ty)) = (view.body.header(), &view.inference.signature) else { return };
    let Some(func) = ty.as_func() else { return };
    let name = view.def.name(view.db);
    let range = view.def.name_range(view.db) + view.def.start(view.db);
    let node = Node::at(&view.def.green(view.db).0, view.def.start(view.db));
    let declared = header.type_params.len();
    if is_generalised(func, declared) {
        let diagnostic = Diagnostic::new(
            "tvm-annotation",
            range,
            format!("TVM cannot type `{name}` without annotations; it is `{ty}`"),
        );
        let used = || uses::of_global(view.db, view.module, name).0;
        compat.add(general(view, diagnostic, node, func, declared, used));
    } else if header.ret.is_none() && is_called(view) {
        let diagnostic = Diagnostic::new(
            "tvm-annotation",
            range,
            format!(
                "TVM does not know the result of `{name}` where it is called; it is `{}`",
                func.ret
            ),
        );
        compat.add(match edits(view, node, func, declared) {
            Some(edits) => diagnostic.fix("Write the type of the result", edits),
            None => diagnostic.help("TVM's text has no way to write this type"),
        });
    }
}

/// A function bound by `let` and used at several types.
fn bound_function(
    view: &View<'_>,
    binding: Binding,
    function: FnId,
    value: ExprId,
    compat: &mut Compat<'_>,
) {
    let unit = binding.unit as usize;
    let Type::Func(func) = view.binding_type(binding) else { return };
    let declared = view.unit(unit).fns[function.index()].type_params.len();
    if !is_generalised(func, declared) {
        return;
    }
    // Used at one type, it has that type in TVM.
    let used = uses::of_variable(view, binding).0;
    if matches!(used, Used::Alike(_)) {
        return;
    }
    let name = &view.binder(binding).name;
    let diagnostic = Diagnostic::new(
        "tvm-annotation",
        view.binding_range(binding),
        format!("TVM cannot type `{name}` without annotations; it is `{}`", Type::Func(func.clone())),
    );
    let range = view.unit(unit).range(value) + view.body.starts[unit];
    let root = Node::at(&view.def.green(view.db).0, view.def.start(view.db));
    let path = root.path_to(range + view.def.start(view.db));
    let Some(node) = path.into_iter().rev().find(|node| node.kind() == SyntaxKind::FN_EXPR) else {
        return;
    };
    compat.add(general(view, diagnostic, node, func, declared, || used));
}

/// The fix for a function whose most general type is `func`: that type, if TVM can write it, or
/// the one type that the function is used at.
fn general(
    view: &View<'_>,
    diagnostic: Diagnostic,
    node: Node<'_>,
    func: &FuncType,
    declared: usize,
    used: impl FnOnce() -> Used,
) -> Diagnostic {
    if func.constraints.is_empty()
        && let Some(edits) = edits(view, node, func, declared)
    {
        return diagnostic.fix("Write the types", edits);
    }
    if let Used::Alike(instance) = used() {
        let func = FuncType {
            type_params: func.type_params.iter().take(declared).cloned().collect(),
            params: instance.args.into(),
            ret: instance.ret,
            constraints: [].into(),
        };
        if let Some(edits) = edits(view, node, &func, declared) {
            return diagnostic.fix("Write the types that it is called with", edits);
        }
    }
    diagnostic.help(if func.constraints.is_empty() {
        "TVM's type parameters stand for whole types only: write the type of each parameter"
    } else {
        "TVM's text has no words for the relations in this type: write the type of each parameter"
    })
}

/// Whether inference found more type parameters than are written, or relations that must hold
/// wherever the function is called.
fn is_generalised(func: &FuncType, declared: usize) -> bool {
    func.type_params.len() > declared || !func.constraints.is_empty()
}

/// Whether another definition of the module names this one.
pub(super) fn is_called(view: &View<'_>) -> bool {
    let name = view.def.name(view.db);
    view.module.items(view.db).iter().any(|&def| {
        def != view.def
            && matches!(def.kind(view.db), DefKind::Fn | DefKind::Expr)
            && queries::global_uses(view.db, def).binary_search(name).is_ok()
    })
}

/// Writes what the header of `function` leaves out of its type. Nothing, where TVM cannot read it.
fn edits(
    view: &View<'_>,
    function: Node<'_>,
    func: &FuncType,
    declared: usize,
) -> Option<Vec<Edit>> {
    let list = function.child(SyntaxKind::PARAM_LIST)?;
    let (old, new) = func.type_params.split_at_checked(declared)?;
    let names = fresh_names(view, new);
    let name_of = |param: &TypeParam| {
        let position = new.iter().position(|known| known.id == param.id);
        Some(position.map_or_else(|| param.name.to_string(), |at| names[at].clone()))
    };
    let mut edits = Vec::new();
    if new.iter().any(|param| param.kind != types::Kind::Type) {
        return None;
    }
    if !new.is_empty() {
        let written = function.child(SyntaxKind::TYPE_PARAM_LIST);
        let last = written.and_then(|list| list.children().next_back());
        edits.push(match (written, last) {
            (Some(_), Some(last)) => insert(last.range().end(), format!(", {}", names.join(", "))),
            (Some(empty), None) => (empty.range(), format!("[{}]", names.join(", "))),
            _ => insert(list.start(), format!("[{}]", names.join(", "))),
        });
    }
    debug_assert_eq!(old.len(), declared);
    let params: Vec<ast::Param<'_>> = list.children().filter_map(ast::Param::cast).collect();
    if params.len() != func.params.len() {
        return None;
    }
    for (param, ty) in params.into_iter().zip(&func.params) {
        let known = param.ty().map(|ty| ty.node());
        if known.is_none_or(leaves_out) {
            let text = written(ty, &name_of)?;
            let named = param.node().children().rfind(|node| {
                matches!(node.kind(), SyntaxKind::NAME | SyntaxKind::VIRTUAL_DEVICE)
            })?;
            edits.push(match known {
                Some(known) => (known.range(), text),
                None => insert(named.range().end(), format!(": {text}")),
            });
        }
    }
    let ret = function.child(SyntaxKind::RET_TYPE);
    let known = ret.and_then(ast::RetType::cast).and_then(ast::RetType::ty).map(|ty| ty.node());
    match (ret, known) {
        (None, _) => {
            let text = written(&func.ret, &name_of)?;
            edits.push(insert(list.range().end(), format!(" -> {text}")));
        }
        (Some(_), Some(known)) if leaves_out(known) => {
            edits.push((known.range(), written(&func.ret, &name_of)?));
        }
        _ => {}
    }
    (!edits.is_empty()).then_some(edits)
}

/// Whether a written type leaves something to be found.
fn leaves_out(ty: Node<'_>) -> bool {
    ty.descendants().any(|node| node.kind() == SyntaxKind::HOLE_TYPE)
}

/// Names for type parameters that nothing in the definition is called by.
fn fresh_names(view: &View<'_>, params: &[TypeParam]) -> Vec<String> {
    let in_header = view.body.header().into_iter().flat_map(|header| &header.type_params);
    let in_body = view.body.units.iter().flat_map(|unit| &unit.fns).flat_map(|f| &f.type_params);
    let mut taken: FxHashSet<String> =
        in_header.chain(in_body).map(|param| param.name.to_string()).collect();
    let mut fresh = |param: &TypeParam| {
        let mut name = param.name.to_string();
        while view.types.adt(&name).is_some() || !taken.insert(name.clone()) {
            name.push('_');
        }
        name
    };
    params.iter().map(&mut fresh).collect()
}
