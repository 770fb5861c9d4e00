//! Sound Relay that TVM would not take, beyond what its reader refuses.

use syntax::TextRange;

use crate::{
    body::*,
    db::{Db, Settings},
    diagnostic::Diagnostic,
    infer::Finding,
    item::{DefKind, Module},
    queries,
    view::View,
};

/// Findings about a module as a whole.
pub(super) fn check_module<'db>(db: &'db dyn Db, module: Module<'db>, found: &mut Vec<Diagnostic>) {
    let items = module.items(db);
    let first = items.first();
    let has_code =
        items.iter().any(|d| matches!(d.kind(db), DefKind::Fn | DefKind::Type | DefKind::Expr));
    if has_code && first.is_some_and(|def| def.kind(db) != DefKind::Version) {
        let start = first.map_or(0.into(), |def| def.start(db));
        let at = TextRange::empty(start);
        found.push(
            Diagnostic::new("tvm-version", at, "TVM needs the version of the text format first")
                .fix("Add the version", [(at, "#[version = \"0.0.5\"]\n".to_owned())]),
        );
    }
    for &def in items {
        if def.kind(db) == DefKind::Expr {
            let start = def.start(db);
            found.push(Diagnostic::new(
                "tvm-bare-expression",
                TextRange::at(start, 0.into()),
                "TVM reads definitions as a module, and this is an expression",
            ));
        }
    }
}

/// Findings about a body.
pub(super) fn check_def(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    from_prelude(view, found);
    missing_types(view, found);
    for (number, unit) in view.body.units.iter().enumerate() {
        self_reference(view, number, unit, found);
        aliases(view, number, unit, found);
    }
    for &(binding, hidden) in &view.scopes.shadows {
        let name = &view.binder(binding).name;
        let graph = |b| view.unit(b).kind == UnitKind::Graph;
        if graph(binding.unit as usize) && graph(hidden.unit as usize) {
            found.push(
                Diagnostic::new(
                    "tvm-graph-variable",
                    view.binding_range(binding),
                    format!("TVM keeps the first value of `{name}` and ignores this one"),
                )
                .related(view.binding_range(hidden), "the first"),
            );
        }
    }
}

/// Names that only the prelude defines.
fn from_prelude(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let db = view.db;
    if view.def.file(db).is_prelude(db) {
        return;
    }
    let mut named: Vec<Name> = Vec::new();
    let mut note = |name: &Name, range: TextRange, found: &mut Vec<Diagnostic>| {
        if !named.contains(name) {
            named.push(name.clone());
            let message =
                format!("`{name}` comes from the prelude, which TVM does not read by itself");
            found.push(
                Diagnostic::new("tvm-prelude", range, message)
                    .help("write the definition into the file"),
            );
        }
    };
    for (number, unit) in view.body.units.iter().enumerate() {
        for (name, expr) in unit.globals() {
            if queries::global(db, view.module, name).is_some_and(|(_, prelude)| prelude) {
                note(name, view.place(number, unit.range(expr)), found);
            }
        }
        let constructors = unit.exprs.iter().enumerate().filter_map(|(i, expr)| match expr {
            Expr::Name(name) => Some((name, unit.ranges[i])),
            Expr::Call(call) => match &unit.call(*call).callee {
                Callee::Name(name) => Some((name, unit.call(*call).callee_range)),
                _ => None,
            },
            _ => None,
        });
        for (name, range) in constructors {
            if view.types.constructor(name).is_some_and(|(adt, _)| adt.from_prelude) {
                note(name, view.place(number, range), found);
            }
        }
        for type_use in &unit.type_uses {
            if view.types.adt(&type_use.name).is_some_and(|adt| adt.from_prelude) {
                note(&type_use.name, view.place(number, type_use.range), found);
            }
        }
    }
}

/// Types that inference finds and TVM does not.
fn missing_types(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let db = view.db;
    let strict = Settings::get(db).strict(db);
    let (name, at) = (view.def.name(db), view.def.name_range(db) + view.def.start(db));
    let general = queries::general_inference(db, view.def);
    let signature = general.signature.as_ref();
    // A sound definition that TVM is sure to type costs nothing here.
    let is_open = view.body.header().is_some_and(|header| {
        let unit = view.unit(0);
        header.params.iter().any(|&binder| unit.binder(binder).annotation.is_none())
    });
    let doubtful = is_open || general.generalised || queries::uses_open_globals(db, view.def);
    if strict || doubtful && !super::has_type_errors(view) {
        let tvm = View { inference: queries::tvm_inference(db, view.def), ..view.clone() };
        if let Some(diagnostic) = unknown_to_tvm(&tvm, strict, signature) {
            found.push(diagnostic);
            return;
        }
    }
    // A call of a global without a written result has no type in TVM.
    if queries::unknown_results(db, view.module).contains(name)
        && let Some(func) = signature.and_then(|ty| ty.as_func())
    {
        let block = view.def.node(db).child(syntax::SyntaxKind::BLOCK);
        let message =
            format!("TVM does not know the result of `{name}` where it is called; it is `{}`", func.ret);
        let mut diagnostic = Diagnostic::new("tvm-annotation", at, message);
        if let Some(block) = block
            && func.ret.is_closed()
            && !func.ret.has_error()
        {
            let at = TextRange::empty(block.start() + view.def.start(db));
            diagnostic =
                diagnostic.fix("Write the result type", [(at, format!("-> {} ", func.ret))]);
        }
        found.push(diagnostic);
    }
}

/// The first thing that TVM finds no type for, or finds wrong in a sound definition.
fn unknown_to_tvm(
    tvm: &View<'_>,
    strict: bool,
    signature: Option<&types::Type>,
) -> Option<Diagnostic> {
    let db = tvm.db;
    let dead = super::lints::dead_bindings(tvm);
    let (number, finding) = tvm.inference.units.iter().enumerate().find_map(|(number, types)| {
        let unit = tvm.unit(number);
        let is_dead = |range| dead.iter().any(|dead| dead.contains_range(range));
        let counts = |finding: &&Finding| match finding {
            Finding::OpenVariable(binder)
                if is_dead(tvm.place(number, unit.binder(*binder).range)) =>
            {
                false
            }
            Finding::OpenExpr(expr)
                if is_dead(tvm.range(crate::view::Spot { unit: number, expr: *expr })) =>
            {
                false
            }
            Finding::OpenVariable(_) => true,
            // The missing result is reported where it is missing.
            Finding::OpenExpr(_) => {
                let name = queries::called_by(unit, finding);
                !name.is_some_and(|name| queries::is_open_global(db, tvm.module, name))
            }
            // Under TVM's rules these are reported as what they are.
            finding => !strict && finding.is_error(),
        };
        Some((number, types.findings.iter().find(counts)?))
    })?;
    let header = tvm.body.header();
    let declared = header.map_or(0, |header| header.type_params.len());
    if let Some(func) = signature.and_then(|ty| ty.as_func())
        && (func.type_params.len() > declared || !func.constraints.is_empty())
    {
        let (name, start) = (tvm.def.name(db), tvm.def.start(db));
        let message = format!(
            "TVM cannot type `{name}` without annotations; it is `{}`",
            types::Type::from(func.clone())
        );
        return Some(
            Diagnostic::new("tvm-annotation", tvm.def.name_range(db) + start, message)
                .help("write the types of its parameters and its result"),
        );
    }
    let mut reported = Vec::new();
    let (at, message) = match finding {
        Finding::OpenVariable(binder) => {
            let binder = tvm.unit(number).binder(*binder);
            let at = tvm.place(number, binder.range);
            (at, format!("TVM finds no type for `{}`", binder.name))
        }
        Finding::OpenExpr(expr) => {
            let spot = crate::view::Spot { unit: number, expr: *expr };
            (tvm.range(spot), format!("TVM finds no type for {}", tvm.describe(spot)))
        }
        finding => {
            super::typing::report(tvm, number, finding, &mut reported);
            let other = reported.pop()?;
            let what = "TVM gives a function one type only, unless its type parameters are written";
            (other.range, format!("{what}: here {}", other.message))
        }
    };
    Some(
        Diagnostic::new("tvm-annotation", at, message)
            .help("write the types of the parameters and results of the functions here"),
    )
}

/// `let %a = %a + 1;`: TVM takes the inner `%a` for the new one.
fn self_reference(view: &View<'_>, number: usize, unit: &Unit, found: &mut Vec<Diagnostic>) {
    let name_of = |expr: &Expr| match expr {
        Expr::Bound(binder) => Some((&unit.binder(*binder).name, unit.binder(*binder).range)),
        Expr::Free(free) => Some((&unit.frees[free.index()].name, TextRange::default())),
        _ => None,
    };
    for expr in &unit.exprs {
        let Expr::Bind { binder, value } = expr else { continue };
        let (bound, value_range) = (unit.binder(*binder), unit.range(*value));
        if bound.kind != BinderKind::Let || matches!(unit.expr(*value), Expr::Fn(_)) {
            continue;
        }
        let inner = unit.exprs.iter().zip(&unit.ranges).find(|(expr, range)| {
            name_of(expr).is_some_and(|(name, bound_at)| {
                // Inside the value, and bound outside of it.
                *name == bound.name
                    && value_range.contains_range(**range)
                    && (bound_at.is_empty() || !value_range.contains_range(bound_at))
            })
        });
        let Some((_, &range)) = inner else { continue };
        found.push(Diagnostic::new(
            "tvm-shadowed-let",
            view.place(number, range),
            format!(
                "TVM takes this `{}` for the one that is being bound, not for the one before",
                bound.name
            ),
        ));
    }
}

/// `mul`, `sub`, `div`: the manual's names.
fn aliases(view: &View<'_>, number: usize, unit: &Unit, found: &mut Vec<Diagnostic>) {
    for call in &unit.calls {
        let Callee::Operator(operator) = &call.callee else { continue };
        if call.infix {
            continue;
        }
        let range = view.place(number, call.callee_range);
        if usize::from(call.callee_range.len()) < operator.name.len()
            && call.callee_range.len() == 3.into()
        {
            found.push(
                Diagnostic::new(
                    "tvm-operator-name",
                    range,
                    format!("TVM calls this operator `{}`", operator.name),
                )
                .fix(format!("Change to `{}`", operator.name), [(range, operator.name.to_owned())]),
            );
        }
    }
}
