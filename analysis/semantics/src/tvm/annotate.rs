//! Definitions and functions whose types TVM cannot infer.

use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use syntax::{
    Node, SyntaxKind, T,
    ast::{self, AstNode},
};
use types::{FuncType, Kind, Param, Signature, Type};

use super::{
    Edit, MergedDiagnostics, insert,
    results::{called_by, unknown_results},
    rules,
    types::written,
    uses::{self, Usage},
};
use crate::{
    body::*,
    check::findings,
    diagnostic::{Code, Diagnostic},
    features::UnitFeatures,
    infer::{Finding, FindingKind, FindingSubject},
    queries,
    view::View,
};

pub(super) fn check(view: &View<'_>, findings: &mut MergedDiagnostics<'_>) {
    // The fixes write the most general types, under TVM's rules too.
    let inference = queries::general_inference(view.db, view.def);
    let view = &view.with_types(inference);
    let mut is_reported = false;
    let param_names = TypeParamNames::default();
    for number in view.body.units_with(UnitFeatures::FUNCTION) {
        let unit = view.unit(number);
        let types = view.unit_types(number);
        let is_poly = |ty: &Type| matches!(ty, Type::Poly(_));
        // Only a written function has constraints without being generalised. Most have neither.
        let has_constraints = || unit.fns.iter().any(|function| !function.relations.is_empty());
        if unit.kind == UnitKind::Header
            || !types.is_generalised() && !has_constraints()
            || !types.binders.iter().any(is_poly)
        {
            continue;
        }
        for expr in &unit.exprs {
            if let Expr::Bind { binder, value, .. } = expr
                && let Expr::Fn(function) = unit.expr(*value)
            {
                let binding = LocalRef { unit: number, binder: *binder };
                is_reported |=
                    bound_function(view, &param_names, binding, *function, *value, findings);
            }
        }
    }
    definition(view, &param_names, is_reported, findings);
}

/// Reports a definition whose type TVM cannot infer. `is_reported` is true if a function in it was
/// reported.
fn definition(
    view: &View<'_>,
    param_names: &TypeParamNames,
    is_reported: bool,
    findings: &mut MergedDiagnostics<'_>,
) {
    let db = view.db;
    let strict = rules::hold(db);
    let name = view.def.name(db);
    let at = view.name_range();
    let node = || view.root();
    let declared = view.body.header().map_or(0, |header| header.type_params.len());
    let signature = view.inference.signature.as_ref();
    let func = || signature.and_then(Type::signature);
    // Queried in any case, so that the memo is dropped if it is no longer needed.
    let tvm = queries::tvm_types(db, view.def).filter(|_| strict || !view.has_type_errors());
    if let Some(tvm) = tvm {
        let tvm = view.with_types(tvm);
        if let Some((number, finding)) = unknown_to_tvm(&tvm, strict) {
            if let Some(func) = func().filter(|func| is_generalised(func, declared)) {
                let message =
                    format!("TVM cannot type `{name}` without annotations; it is `{func}`");
                let diagnostic = Diagnostic::new(Code::TvmAnnotation, at, message);
                let diagnostic = with_use(&tvm, number, finding, diagnostic);
                let used = || uses::of_global(db, view.module, name).0;
                findings.add(general(view, param_names, diagnostic, node(), &func, declared, used));
            } else if !is_reported {
                let diagnostic = unknown(&tvm, number, finding);
                findings.add(with_use(&tvm, number, finding, diagnostic));
            }
            return;
        }
    }
    // TVM gives no type to a call of a global without a declared result.
    if unknown_results(db, view.module).contains(name)
        && let Some(func) = func()
    {
        let diagnostic = Diagnostic::new(
            Code::TvmAnnotation,
            at,
            format!(
                "TVM does not know the result type of `{name}` at its calls; it is `{}`",
                func.func.ret()
            ),
        );
        findings.add(match edits(view, param_names, node(), &func, declared) {
            Some(edits) => diagnostic.fix("Add the result type", edits),
            None => diagnostic.help("TVM's text format cannot express this type"),
        });
    }
}

/// Returns the first finding of TVM's inference that the general inference does not have.
fn unknown_to_tvm<'t>(tvm: &'t View<'_>, strict: bool) -> Option<(UnitId, &'t Finding)> {
    let db = tvm.db;
    let dead = rules::dead_bindings(tvm);
    tvm.body.units().find_map(|(number, unit)| {
        let types = tvm.unit_types(number);
        let is_dead = |range| dead.contains(range);
        let counts = |finding: &&Finding| match finding.kind {
            // A missing result type is reported at its definition.
            FindingKind::Open => {
                let name = called_by(unit, finding);
                !is_dead(tvm.subject_range(number, finding.subject))
                    && !name.is_some_and(|name| queries::is_open_global(db, tvm.module, name))
            }
            // Under TVM's rules, errors are reported as such.
            _ => !strict && finding.is_error(),
        };
        Some((number, types.findings.iter().find(counts)?))
    })
}

/// Adds the last use of a variable, at which TVM reports that it cannot infer its type.
fn with_use(
    tvm: &View<'_>,
    number: UnitId,
    finding: &Finding,
    diagnostic: Diagnostic,
) -> Diagnostic {
    let Finding { kind: FindingKind::Open, subject: FindingSubject::Binder(binder), .. } = *finding
    else {
        return diagnostic;
    };
    diagnostic.with(tvm.last_use_of(LocalRef { unit: number, binder }), |diagnostic, last| {
        let name = &tvm.unit(number).binder(binder).name;
        diagnostic.related(last, format!("TVM cannot infer the type of `{name}` here"))
    })
}

/// Returns the diagnostic for a finding of TVM's inference that an annotation of the definition
/// cannot fix.
fn unknown(tvm: &View<'_>, number: UnitId, finding: &Finding) -> Diagnostic {
    let (at, message) = match (&finding.kind, finding.subject) {
        (FindingKind::Open, subject) => {
            let what = match subject {
                FindingSubject::Binder(binder) => {
                    format!("`{}`", tvm.unit(number).binder(binder).name)
                }
                _ => subject
                    .expr(tvm.unit(number))
                    .map_or_else(String::new, |expr| tvm.describe(ExprRef { unit: number, expr })),
            };
            let at = tvm.subject_range(number, subject);
            (at, format!("TVM cannot infer the type of {what}"))
        }
        _ => {
            let what = "TVM gives a function without declared type parameters a single type";
            match findings::report_alone(tvm, number, finding) {
                Some(other) => (other.range, format!("{what}: {}", other.message)),
                None => (tvm.name_range(), what.to_owned()),
            }
        }
    };
    Diagnostic::new(Code::TvmAnnotation, at, message)
        .help("write the types of the parameters and results of the functions here")
}

/// Reports a function that is bound by `let` and used at several types. Returns true if it is one.
fn bound_function(
    view: &View<'_>,
    param_names: &TypeParamNames,
    binding: LocalRef,
    function: FnId,
    value: ExprId,
    findings: &mut MergedDiagnostics<'_>,
) -> bool {
    let unit = binding.unit;
    let Some(func) = &view.binding_type(binding).signature() else { return false };
    let declared = view.unit(unit).fns[function.index()].type_params.len();
    if !is_generalised(func, declared) {
        return false;
    }
    // If it is used at one type, TVM infers that type.
    let used = uses::of_variable(view, binding).0;
    if matches!(used, Usage::Uniform(_)) {
        return false;
    }
    let name = &view.binder(binding).name;
    let diagnostic = Diagnostic::new(
        Code::TvmAnnotation,
        view.binding_range(binding),
        format!("TVM cannot type `{name}` without annotations; it is `{func}`"),
    );
    let path = view.root().path_to(view.range(ExprRef { unit, expr: value }));
    let Some(node) = path.into_iter().rev().find(|node| node.kind() == SyntaxKind::FN_EXPR) else {
        return false;
    };
    findings.add(general(view, param_names, diagnostic, node, func, declared, || used));
    true
}

/// Adds a fix that annotates a function with its most general type `func`, if TVM's text can
/// express it, or else with the single type at which it is used.
fn general(
    view: &View<'_>,
    param_names: &TypeParamNames,
    diagnostic: Diagnostic,
    node: Node<'_>,
    func: &Signature,
    declared: usize,
    used: impl FnOnce() -> Usage,
) -> Diagnostic {
    if func.constraints.is_empty()
        && let Some(edits) = edits(view, param_names, node, func, declared)
    {
        return diagnostic.fix("Add the types", edits);
    }
    if let Usage::Uniform(instance) = used() {
        let func = Signature {
            type_params: func.type_params.iter().take(declared).cloned().collect(),
            func: FuncType::new(instance.args, instance.ret),
            constraints: Box::default(),
        };
        if let Some(edits) = edits(view, param_names, node, &func, declared) {
            return diagnostic.fix("Add the types of its calls", edits);
        }
    }
    diagnostic.help(if func.constraints.is_empty() {
        "TVM's type parameters are of kind `Type` only: write the type of each parameter"
    } else {
        "TVM's text format cannot express the relations in this type: write the type of each parameter"
    })
}

/// Returns true if inference found more type parameters than declared, or relations that must hold
/// at each call.
fn is_generalised(func: &Signature, declared: usize) -> bool {
    func.type_params.len() > declared || !func.constraints.is_empty()
}

/// Returns the insertions of the types that the header of `function` leaves out; `None` if TVM
/// cannot read them.
fn edits(
    view: &View<'_>,
    param_names: &TypeParamNames,
    function: Node<'_>,
    func: &Signature,
    declared: usize,
) -> Option<Vec<Edit>> {
    let list = function.child(SyntaxKind::PARAM_LIST)?;
    let (old, new) = func.type_params.split_at_checked(declared)?;
    let names = fresh_names(view, param_names, new);
    // A function without annotations has as many type parameters as parameters.
    let name_of_new: FxHashMap<&Param, &String> = new.iter().zip(&names).collect();
    let around = OnceCell::new();
    let name_of = |param: &Param| {
        if let Some(name) = name_of_new.get(param) {
            return Some((*name).clone());
        }
        // The name of a parameter of another function may be unbound here, or that of another one.
        let name = param.name();
        let can = match old.iter().find(|known| known.name() == name) {
            Some(own) => own == param,
            None => {
                let around = around.get_or_init(|| view.type_params_around(function.range()));
                view.can_name_param(param, around)
            }
        };
        can.then(|| name.to_string())
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
            // In `(%x)where …` the next word needs a space before it.
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

/// Returns true if an annotation contains `_`.
fn leaves_out(ty: Node<'_>) -> bool {
    ty.descendants().any(|node| node.kind() == SyntaxKind::HOLE_TYPE)
}

/// The names of all type parameters declared in a definition, collected on first use.
#[derive(Default)]
struct TypeParamNames(OnceCell<FxHashSet<SmolStr>>);

impl TypeParamNames {
    fn contains(&self, view: &View<'_>, name: &str) -> bool {
        let names = self.0.get_or_init(|| {
            let functions = view.body.units.iter().flat_map(|unit| &unit.fns);
            let params = functions.flat_map(|function| &function.type_params);
            params.map(|param| param.name().clone()).collect()
        });
        names.contains(name)
    }
}

/// Returns names for type parameters that are unused in the definition.
fn fresh_names(view: &View<'_>, param_names: &TypeParamNames, params: &[Param]) -> Vec<String> {
    let mut given: FxHashSet<String> = FxHashSet::default();
    let mut fresh = |param: &Param| {
        let mut name = param.name().to_string();
        while view.types.adt(&name).is_some()
            || param_names.contains(view, &name)
            || !given.insert(name.clone())
        {
            name.push('_');
        }
        name
    };
    params.iter().map(&mut fresh).collect()
}
