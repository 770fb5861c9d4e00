//! Types that inference finds and TVM does not.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use syntax::{
    Node, SyntaxKind, T,
    ast::{self, AstNode},
};
use types::{FuncType, Kind, Param, Signature, Type};

use super::{
    Compat, Edit, insert,
    types::written,
    uses::{self, Used},
};
use crate::{
    body::*,
    check::{
        has_type_errors, lints,
        suggest::{Checked, Suggestions},
        typing,
    },
    db::Settings,
    diagnostic::Diagnostic,
    infer::Finding,
    queries,
    scope::Binding,
    traits::Traits,
    view::{Spot, View},
};

pub(super) fn check(view: &View<'_>, compat: &mut Compat<'_>) {
    // What could be written down is told by the most general types, under TVM's rules as well.
    let inference = queries::general_inference(view.db, view.def);
    let view = &view.with_types(inference);
    let mut said = false;
    let taken = Taken::default();
    for number in view.scopes.units_with(Traits::FUNCTION) {
        let unit = view.unit(number);
        if unit.kind == UnitKind::Header {
            continue;
        }
        for expr in &unit.exprs {
            if let Expr::Bind { binder, value, .. } = expr
                && let Expr::Fn(function) = unit.expr(*value)
            {
                let binding = Binding { unit: number as u32, binder: *binder };
                said |= bound_function(view, &taken, binding, *function, *value, compat);
            }
        }
    }
    definition(view, &taken, said, compat);
}

/// A definition without a type that TVM could find; `said`, whether something in it is reported
/// already that TVM finds no type for.
fn definition(view: &View<'_>, taken: &Taken, said: bool, compat: &mut Compat<'_>) {
    let db = view.db;
    let strict = Settings::get(db).strict(db);
    let name = view.def.name(db);
    let at = view.def.name_range(db) + view.def.start(db);
    let node = || Node::at(view.def.green(db), view.def.start(db));
    let declared = view.body.header().map_or(0, |header| header.type_params.len());
    let signature = view.inference.signature.as_ref();
    let func = || signature.and_then(Type::signature);
    // Asked in any case, so that it is forgotten where it is not worth knowing any more.
    let tvm = queries::tvm_types(db, view.def).filter(|_| strict || !has_type_errors(view));
    if let Some(tvm) = tvm {
        let tvm = view.with_types(tvm);
        if let Some((number, finding)) = unknown_to_tvm(&tvm, strict) {
            if let Some(func) = func().filter(|func| is_generalised(func, declared)) {
                let message =
                    format!("TVM cannot type `{name}` without annotations; it is `{func}`");
                let diagnostic = Diagnostic::new("tvm-annotation", at, message);
                let diagnostic = with_use(&tvm, number, finding, diagnostic);
                let used = || uses::of_global(db, view.module, name).0;
                compat.add(general(view, taken, diagnostic, node(), &func, declared, used));
            } else if !said {
                let diagnostic = unknown(&tvm, number, finding);
                compat.add(with_use(&tvm, number, finding, diagnostic));
            }
            return;
        }
    }
    // A call of a global without a written result has no type in TVM.
    if queries::unknown_results(db, view.module).contains(name)
        && let Some(func) = func()
    {
        let diagnostic = Diagnostic::new(
            "tvm-annotation",
            at,
            format!(
                "TVM does not know the result of `{name}` where it is called; it is `{}`",
                func.func.ret()
            ),
        );
        compat.add(match edits(view, taken, node(), &func, declared) {
            Some(edits) => diagnostic.fix("Write the type of the result", edits),
            None => diagnostic.help("TVM's text has no way to write this type"),
        });
    }
}

/// The first thing that TVM finds no type for, or finds wrong in a sound definition.
fn unknown_to_tvm<'t>(tvm: &'t View<'_>, strict: bool) -> Option<(usize, &'t Finding)> {
    let db = tvm.db;
    let dead = lints::dead_bindings(tvm);
    tvm.inference.units.iter().enumerate().find_map(|(number, types)| {
        let unit = tvm.unit(number);
        let is_dead = |range| dead.hold(range);
        let counts = |finding: &&Finding| match finding {
            Finding::OpenVariable(binder) => {
                !is_dead(tvm.place(number, unit.binder(*binder).range))
            }
            // The missing result is reported where it is missing.
            Finding::OpenExpr(expr) => {
                let name = queries::called_by(unit, finding);
                !is_dead(tvm.range(Spot { unit: number, expr: *expr }))
                    && !name.is_some_and(|name| queries::is_open_global(db, tvm.module, name))
            }
            // Under TVM's rules these are reported as what they are.
            finding => !strict && finding.is_error(),
        };
        Some((number, types.findings.iter().find(counts)?))
    })
}

/// Adds the place that TVM names for a variable without a type: where it is used last.
fn with_use(
    tvm: &View<'_>,
    number: usize,
    finding: &Finding,
    diagnostic: Diagnostic,
) -> Diagnostic {
    let Finding::OpenVariable(binder) = finding else { return diagnostic };
    match tvm.last_use_of(Binding { unit: number as u32, binder: *binder }) {
        Some(last) => {
            let name = &tvm.unit(number).binder(*binder).name;
            diagnostic.related(last, format!("TVM finds no type for `{name}` here"))
        }
        None => diagnostic,
    }
}

/// What TVM finds no type for, where there is nothing to write down for the definition as a whole.
fn unknown(tvm: &View<'_>, number: usize, finding: &Finding) -> Diagnostic {
    let (at, message) = match finding {
        Finding::OpenVariable(binder) => {
            let binder = tvm.unit(number).binder(*binder);
            let at = tvm.place(number, binder.range);
            (at, format!("TVM finds no type for `{}`", binder.name))
        }
        Finding::OpenExpr(expr) => {
            let spot = Spot { unit: number, expr: *expr };
            (tvm.range(spot), format!("TVM finds no type for {}", tvm.describe(spot)))
        }
        finding => {
            let mut reported = Vec::new();
            let suggestions = Suggestions::default();
            let checked = Checked::new(tvm, &suggestions);
            typing::report(&checked, number, finding, &mut reported);
            let what = "TVM gives a function one type only, unless its type parameters are written";
            match reported.pop() {
                Some(other) => (other.range, format!("{what}: here {}", other.message)),
                None => (tvm.def.name_range(tvm.db) + tvm.def.start(tvm.db), what.to_owned()),
            }
        }
    };
    Diagnostic::new("tvm-annotation", at, message)
        .help("write the types of the parameters and results of the functions here")
}

/// A function bound by `let` and used at several types. Says whether this is one.
fn bound_function(
    view: &View<'_>,
    taken: &Taken,
    binding: Binding,
    function: FnId,
    value: ExprId,
    compat: &mut Compat<'_>,
) -> bool {
    let unit = binding.unit as usize;
    let Some(func) = &view.binding_type(binding).signature() else { return false };
    let declared = view.unit(unit).fns[function.index()].type_params.len();
    if !is_generalised(func, declared) {
        return false;
    }
    // Used at one type, it has that type in TVM.
    let used = uses::of_variable(view, binding).0;
    if matches!(used, Used::Alike(_)) {
        return false;
    }
    let name = &view.binder(binding).name;
    let diagnostic = Diagnostic::new(
        "tvm-annotation",
        view.binding_range(binding),
        format!("TVM cannot type `{name}` without annotations; it is `{func}`"),
    );
    let range = view.unit(unit).range(value) + view.body.starts[unit];
    let root = Node::at(view.def.green(view.db), view.def.start(view.db));
    let path = root.path_to(range + view.def.start(view.db));
    let Some(node) = path.into_iter().rev().find(|node| node.kind() == SyntaxKind::FN_EXPR) else {
        return false;
    };
    compat.add(general(view, taken, diagnostic, node, func, declared, || used));
    true
}

/// The fix for a function whose most general type is `func`: that type, if TVM can write it, or
/// the one type that the function is used at.
fn general(
    view: &View<'_>,
    taken: &Taken,
    diagnostic: Diagnostic,
    node: Node<'_>,
    func: &Signature,
    declared: usize,
    used: impl FnOnce() -> Used,
) -> Diagnostic {
    if func.constraints.is_empty()
        && let Some(edits) = edits(view, taken, node, func, declared)
    {
        return diagnostic.fix("Write the types", edits);
    }
    if let Used::Alike(instance) = used() {
        let func = Signature {
            type_params: func.type_params.iter().take(declared).cloned().collect(),
            func: FuncType::new(instance.args, instance.ret),
            constraints: Box::default(),
        };
        if let Some(edits) = edits(view, taken, node, &func, declared) {
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
fn is_generalised(func: &Signature, declared: usize) -> bool {
    func.type_params.len() > declared || !func.constraints.is_empty()
}

/// Writes what the header of `function` leaves out of its type. Nothing, where TVM cannot read it.
fn edits(
    view: &View<'_>,
    taken: &Taken,
    function: Node<'_>,
    func: &Signature,
    declared: usize,
) -> Option<Vec<Edit>> {
    let list = function.child(SyntaxKind::PARAM_LIST)?;
    let (old, new) = func.type_params.split_at_checked(declared)?;
    let names = fresh_names(view, taken, new);
    let name_of = |param: &Param| {
        let position = new.iter().position(|known| known == param);
        Some(position.map_or_else(|| param.name().to_string(), |at| names[at].clone()))
    };
    let mut edits = Vec::new();
    if new.iter().any(|param| param.kind() != Kind::Type) {
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
    let func = &func.func;
    if params.len() != func.params().len() {
        return None;
    }
    for (param, ty) in params.into_iter().zip(func.params()) {
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
            let text = written(func.ret(), &name_of)?;
            // `(%x)where …`: what follows at once stays a word of its own.
            let next = function.token_at(list.range().end());
            let is_apart = next.is_none_or(|t| t.kind().is_trivia() || t.kind() == T!["{"]);
            let space = if is_apart { "" } else { " " };
            edits.push(insert(list.range().end(), format!(" -> {text}{space}")));
        }
        (Some(_), Some(known)) if leaves_out(known) => {
            edits.push((known.range(), written(func.ret(), &name_of)?));
        }
        _ => {}
    }
    (!edits.is_empty()).then_some(edits)
}

/// Whether a written type leaves something to be found.
fn leaves_out(ty: Node<'_>) -> bool {
    ty.descendants().any(|node| node.kind() == SyntaxKind::HOLE_TYPE)
}

/// The type parameters that are written anywhere in a definition, once they have been asked for.
#[derive(Default)]
struct Taken(OnceCell<FxHashSet<SmolStr>>);

impl Taken {
    fn holds(&self, view: &View<'_>, name: &str) -> bool {
        let names = self.0.get_or_init(|| {
            let in_header = view.body.header().into_iter().flat_map(|header| &header.type_params);
            let functions = view.body.units.iter().flat_map(|unit| &unit.fns);
            let in_body = functions.flat_map(|function| &function.type_params);
            in_header.chain(in_body).map(|param| param.name().clone()).collect()
        });
        names.contains(name)
    }
}

/// Names for type parameters that nothing in the definition is called by.
fn fresh_names(view: &View<'_>, taken: &Taken, params: &[Param]) -> Vec<String> {
    let mut given: FxHashSet<String> = FxHashSet::default();
    let mut fresh = |param: &Param| {
        let mut name = param.name().to_string();
        while view.types.adt(&name).is_some()
            || taken.holds(view, &name)
            || !given.insert(name.clone())
        {
            name.push('_');
        }
        name
    };
    params.iter().map(&mut fresh).collect()
}
