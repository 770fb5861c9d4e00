//! Sound Relay that TVM would not take, beyond what its reader refuses.

use syntax::TextRange;

use crate::{
    body::*,
    db::Db,
    diagnostic::Diagnostic,
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
    let (Some(header), Some(ty)) = (view.body.header(), &view.inference.signature) else { return };
    let Some(func) = ty.as_func() else { return };
    let declared = header.type_params.len();
    if func.type_params.len() > declared || !func.constraints.is_empty() {
        let name = view.def.name(view.db);
        let range = view.def.name_range(view.db) + view.def.start(view.db);
        found.push(
            Diagnostic::new(
                "tvm-annotation",
                range,
                format!("TVM cannot type `{name}` without annotations; it is `{ty}`"),
            )
            .help("write the types of its parameters and its result"),
        );
        return;
    }
    // A call of a global without a written result has no type in TVM.
    if header.ret.is_none() && is_called(view) {
        let name = view.def.name(view.db);
        let range = view.def.name_range(view.db) + view.def.start(view.db);
        let block = view.def.node(view.db).child(syntax::SyntaxKind::BLOCK);
        let mut diagnostic = Diagnostic::new(
            "tvm-annotation",
            range,
            format!(
                "TVM does not know the result of `{name}` where it is called; it is `{}`",
                func.ret
            ),
        );
        if let Some(block) = block {
            let at = TextRange::empty(block.start() + view.def.start(view.db));
            diagnostic =
                diagnostic.fix("Write the result type", [(at, format!("-> {} ", func.ret))]);
        }
        found.push(diagnostic);
    }
}

fn is_called(view: &View<'_>) -> bool {
    let name = view.def.name(view.db);
    view.module.items(view.db).iter().any(|&def| {
        matches!(def.kind(view.db), DefKind::Fn | DefKind::Expr)
            && queries::body(view.db, def)
                .units
                .iter()
                .any(|unit| unit.globals().any(|(used, _)| used == name))
    })
}

/// `let %a = %a + 1;`: TVM takes the inner `%a` for the new one.
fn self_reference(view: &View<'_>, number: usize, unit: &Unit, found: &mut Vec<Diagnostic>) {
    if unit.kind != UnitKind::Let {
        return;
    }
    let Some(binder) = unit.binds.map(|binder| unit.binder(binder)) else { return };
    let Some(free) = unit.frees.iter().find(|free| free.name == binder.name) else { return };
    found.push(Diagnostic::new(
        "tvm-shadowed-let",
        view.place(number, free.range),
        format!(
            "TVM takes this `{}` for the one that is being bound, not for the one before",
            binder.name
        ),
    ));
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
