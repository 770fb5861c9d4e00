//! Unresolved and duplicate names.

use rustc_hash::FxHashMap;
use syntax::{SyntaxKind, T, TextRange, TextSize};
use types::Kind;

use super::{
    check_view::CheckView,
    constants,
    findings::{
        duplicate_constructor, duplicate_definition, extern_constructors, kind_mismatch,
        metadata_unreadable, type_arguments, unknown_type, unknown_variable,
    },
    problems,
    site::ProblemSite,
};
use crate::{
    body::*,
    db::Db,
    diagnostic::{Code, DefDiagnostic, Diagnostic},
    features::UnitFeatures,
    item::{Def, DefKind, Module, module},
    queries,
    tvm::rules,
};

/// Reports duplicate definitions and constructors of a module, and an unreadable metadata section.
pub(super) fn check_module<'db>(db: &'db dyn Db, module: Module<'db>, found: &mut Vec<Diagnostic>) {
    let mut first: FxHashMap<&str, TextRange> = FxHashMap::default();
    let mut constructors: FxHashMap<Name, TextRange> = FxHashMap::default();
    let mut metadata: Option<Def<'db>> = None;
    for &def in module.items(db) {
        let range = def.name_range(db) + def.start(db);
        match def.kind(db) {
            DefKind::Fn | DefKind::Type | DefKind::Tir => {
                let name = def.name(db).as_str();
                if name.is_empty() {
                    continue;
                }
                let there = *first.entry(name).or_insert(range);
                if there != range {
                    found.push(duplicate_definition::report(name, range, there));
                }
            }
            DefKind::Metadata => {
                if metadata.is_some() {
                    found.push(duplicate_definition::of_metadata(start_of_metadata(db, def)));
                }
                metadata = Some(def);
            }
            DefKind::Expr | DefKind::Version => {}
        }
        if def.kind(db) == DefKind::Type
            && let Some(type_def) = queries::type_def(db, def)
        {
            for (constructor, range) in type_def.constructors() {
                let range = range + def.start(db);
                let there = *constructors.entry(constructor.name.clone()).or_insert(range);
                if there != range {
                    found.push(duplicate_constructor::report(&constructor.name, range, there));
                }
            }
        }
    }
    let (Some(def), Some(section)) = (metadata, queries::metadata(db, module)) else { return };
    let place = start_of_metadata(db, def);
    match section.error() {
        None => constants::check(db, module, (def, place), &section, found),
        Some(error) => found.push(metadata_unreadable::report(place, error)),
    }
}

/// Returns the range of `#[metadata]`.
fn start_of_metadata(db: &dyn Db, section: Def<'_>) -> TextRange {
    TextRange::at(section.start(db), TextSize::of("#[metadata]"))
}

/// Reports the problems of a type definition, with ranges from its start.
pub(super) fn check_type<'db>(db: &'db dyn Db, def: Def<'db>, found: &mut Vec<DefDiagnostic>) {
    let Some(type_def) = queries::type_def(db, def) else { return };
    let Some(module) = module(db, def.file(db), def.module(db)) else { return };
    let types = queries::module_types(db, module);
    for type_use in &type_def.uses {
        check_type_use(db, &types, type_use, type_def.range(type_use.range), found);
    }
    for problem in &type_def.problems {
        found.extend(problems::report(&ProblemSite::of_type(&type_def, problem)));
    }
    if type_def.adt.is_extern && !type_def.adt.constructors.is_empty() {
        found.push(extern_constructors::report(def.name_range(db)));
    }
}

/// Reports a type name that is not defined, or has the wrong number of arguments.
fn check_type_use(
    db: &dyn Db,
    types: &crate::module::ModuleTypes,
    type_use: &TypeUse,
    range: TextRange,
    found: &mut Vec<DefDiagnostic>,
) {
    let name = &type_use.name;
    if rules::is_printed_type(db, name) {
        return;
    }
    if let Some(diagnostic) = unknown_type::of_shape(name, type_use.expected, range) {
        found.push(diagnostic);
        return;
    }
    let Some(adt) = types.adt(name) else {
        found.push(unknown_type::report(name, type_use.args.len(), range));
        return;
    };
    if adt.params.len() != type_use.args.len() {
        found.push(type_arguments::of_type_use(range, name, adt, type_use.args.len()));
        return;
    }
    let args = adt.params.iter().zip(&type_use.args).enumerate();
    for (index, (param, arg)) in args {
        if !crate::adt::is_of_kind(param.kind(), arg) {
            let wrong = (index, param.kind(), arg);
            found.push(kind_mismatch::of_type_use(range, name, wrong));
        }
    }
}

/// Merges the diagnostics of one undeclared type parameter: the first one gets the fix, which declares it, and names
/// the others.
fn merge_undeclared(
    view: &CheckView<'_, '_>,
    uses: Vec<(Name, Kind, DefDiagnostic)>,
    found: &mut Vec<DefDiagnostic>,
) {
    let mut firsts: Vec<(Name, Kind, DefDiagnostic)> = Vec::new();
    for (name, kind, diagnostic) in uses {
        match firsts.iter_mut().find(|(first, _, _)| *first == name) {
            Some((_, _, first)) if first.related.len() < MAX_USES => {
                first.add_related(diagnostic.range, "and here");
            }
            Some(_) => {}
            None => firsts.push((name, kind, diagnostic)),
        }
    }
    for (name, kind, mut diagnostic) in firsts {
        let is_declarable = kind != Kind::Type
            || unknown_type::is_parameter(&name)
                && syntax::dtype_of(&name).is_none()
                && name != "str";
        if is_declarable
            && diagnostic.fixes.is_empty()
            && let Some((at, text)) = declaration(view, &name, kind)
        {
            diagnostic.add_fix(format!("Declare `{name}`"), [(TextRange::empty(at), text)]);
        }
        found.push(diagnostic);
    }
}

/// Returns the place and the text of the declaration of a type parameter: `<t : Type>` after the name of the definition.
fn declaration(view: &CheckView<'_, '_>, name: &str, kind: Kind) -> Option<(TextSize, String)> {
    let item = view.root();
    let declared = format!("{name} : {}", kind.name());
    let node = item
        .child(SyntaxKind::FN_DEF)
        .or_else(|| (item.kind() == SyntaxKind::FN_DEF).then_some(item))?;
    match node.child(SyntaxKind::TYPE_PARAM_LIST) {
        Some(list) => {
            let close = list.tokens().last()?;
            let is_plain = list.token(T!["["]).is_some() && kind == Kind::Type;
            let text = if is_plain { name.to_owned() } else { declared };
            Some((close.range().start(), format!(", {text}")))
        }
        None => {
            let end = node.child(SyntaxKind::NAME)?.range().end();
            Some((end, format!("<{declared}>")))
        }
    }
}

/// Reports unknown types in a body. Returns one diagnostic for each name of an unbound variable.
pub(super) fn check_def(
    view: &CheckView<'_, '_>,
    found: &mut Vec<DefDiagnostic>,
) -> Vec<DefDiagnostic> {
    let mut uses = Vec::new();
    for number in view.body.units_with(UnitFeatures::TYPE_USE) {
        for type_use in &view.unit(number).type_uses {
            let range = view.place(number, type_use.range);
            let mut of_use = Vec::new();
            check_type_use(view.db, &view.types, type_use, range, &mut of_use);
            let named = of_use.into_iter().map(|d| (type_use.name.clone(), type_use.expected, d));
            let (undeclared, others): (Vec<_>, Vec<_>) =
                named.partition(|(_, _, d)| d.code == Code::UnknownType);
            uses.extend(undeclared);
            found.extend(others.into_iter().map(|(_, _, d)| d));
        }
    }
    merge_undeclared(view, uses, found);
    let mut unknown: Vec<DefDiagnostic> = Vec::new();
    let mut known: FxHashMap<&Name, usize> = FxHashMap::default();
    for &(number, free) in &view.scopes.unknown {
        let free_name = &view.unit(number).frees[free.index()];
        match known.get(&free_name.name) {
            Some(&first) => {
                let first = &mut unknown[first];
                if first.related.len() < MAX_USES {
                    first.add_related(view.place(number, free_name.range), "and here");
                }
            }
            None => {
                known.insert(&free_name.name, unknown.len());
                let suggest = unknown.len() < MAX_SUGGESTED;
                unknown.push(unknown_variable::report(view, number, free, suggest));
            }
        }
    }
    unknown
}

/// The maximum number of further uses shown for an unbound variable.
const MAX_USES: usize = 6;
/// The maximum number of unbound variables of a definition for which a similar name is searched:
/// more of them usually mean that the bindings are missing, so that a suggestion does not help.
const MAX_SUGGESTED: usize = 20;

/// Adds the diagnostics of unbound variables. If there is an invalid binder for each of them, they
/// become related places of the binders, which are the likely cause.
pub(super) fn unbound(unknown: Vec<DefDiagnostic>, found: &mut Vec<DefDiagnostic>) {
    let is_binder =
        |d: &DefDiagnostic| matches!(d.code, Code::InvalidBinder | Code::DuplicateParameter);
    let binders: Vec<usize> = (0..found.len()).filter(|&at| is_binder(&found[at])).collect();
    if unknown.len() > binders.len() {
        found.extend(unknown);
        return;
    }
    for (at, unknown) in binders.into_iter().zip(unknown) {
        found[at].add_related(unknown.range, format!("{}: was this meant?", unknown.message));
    }
}
