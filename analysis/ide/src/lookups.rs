//! Lookups in definitions that several features share.

use operators::Operator;
use semantics::{
    Db, ExprRef, SourceFile, View, all_defs,
    body::{
        Binder, BinderId, Body, CallData, Callee, Expr, ExprId, Function, LocalRef, Name, Unit,
        UnitId,
    },
};
use syntax::{Node, SyntaxKind, TextRange};

/// Returns the views of the definitions of a file.
pub(crate) fn views(db: &dyn Db, file: SourceFile) -> impl Iterator<Item = View<'_>> {
    all_defs(db, file).filter_map(move |def| View::new(db, def))
}

/// Returns the variables of a definition with their binders.
pub(crate) fn bindings<'v>(view: &'v View<'_>) -> impl Iterator<Item = (LocalRef, &'v Binder)> {
    view.body.units().flat_map(|(unit, data)| bindings_of(unit, data))
}

/// Returns the variables that a unit binds, with their binders.
pub(crate) fn bindings_of(unit: UnitId, data: &Unit) -> impl Iterator<Item = (LocalRef, &Binder)> {
    let numbered = (0..).zip(&data.binders);
    numbered.map(move |(at, binder)| (LocalRef { unit, binder: BinderId(at) }, binder))
}

/// Returns the expressions of a unit, also those that are not written in the text.
pub(crate) fn exprs_of(unit: UnitId, data: &Unit) -> impl Iterator<Item = ExprRef> + use<> {
    (0..data.exprs.len() as u32).map(move |at| ExprRef { unit, expr: ExprId(at) })
}

/// Returns the names of the variables that a unit binds or takes from other units.
pub(crate) fn names_in(unit: &Unit) -> impl Iterator<Item = &Name> {
    let binders = unit.binders.iter().map(|binder| &binder.name);
    binders.chain(unit.frees.iter().map(|free| &free.name))
}

/// Returns the arguments of a call in a unit.
pub(crate) fn args_of(unit: UnitId, call: &CallData) -> impl Iterator<Item = ExprRef> {
    call.args.iter().map(move |&expr| ExprRef { unit, expr })
}

/// Returns the innermost node around a range of the file whose kind satisfies `is_kind`.
pub(crate) fn node_around<'db>(
    view: &View<'db>,
    range: TextRange,
    is_kind: impl Fn(SyntaxKind) -> bool,
) -> Option<Node<'db>> {
    let path = view.def.node(view.db).path_to(range - view.def.start(view.db));
    path.into_iter().rev().find(|node| is_kind(node.kind()))
}

/// Returns the call of an operator that an expression is.
pub(crate) fn operator_call<'v>(
    view: &'v View<'_>,
    expr_ref: ExprRef,
) -> Option<(&'v CallData, &'static Operator)> {
    let call = view.call(expr_ref)?;
    match call.callee {
        Callee::Operator(operator) => Some((call, operator)),
        _ => None,
    }
}

/// Returns the function expression that is the value of an expression, with its unit.
pub(crate) fn function_of<'v>(
    view: &'v View<'_>,
    expr_ref: ExprRef,
) -> Option<(UnitId, &'v Function)> {
    let value = view.resolve(expr_ref);
    let unit = view.unit(value.unit);
    match unit.expr(value.expr) {
        Expr::Fn(id) => Some((value.unit, unit.fns.get(id.index())?)),
        _ => None,
    }
}

/// Returns the names of the parameters of a function in a unit.
pub(crate) fn param_names(unit: &Unit, function: &Function) -> Vec<String> {
    function.params.iter().map(|&param| unit.binder(param).name.to_string()).collect()
}

/// Returns the names of the parameters of the function expression that is the value of an expression.
pub(crate) fn value_names(view: &View<'_>, expr_ref: ExprRef) -> Vec<String> {
    let function = function_of(view, expr_ref);
    function.map_or_else(Vec::new, |(unit, function)| param_names(view.unit(unit), function))
}

/// Returns the names of the parameters of a definition.
pub(crate) fn header_names(body: &Body) -> Vec<String> {
    body.header().map_or_else(Vec::new, |header| param_names(body.unit(UnitId::HEADER), header))
}
