//! Unresolved and duplicate names.

use operators::similar;
use rustc_hash::FxHashMap;
use syntax::{T, TextRange};
use types::Kind;

use super::{checked::Checked, constants, text};
use crate::{
    body::*,
    db::Db,
    diagnostic::{Among, Code, Diagnostic, Related, Role},
    features::UnitFeatures,
    item::{Def, DefKind, Module, module},
    queries,
    tvm::rules,
    view::View,
};

/// Reports duplicate definitions and constructors of a module, and an unreadable metadata section.
pub(super) fn check_module<'db>(db: &'db dyn Db, module: Module<'db>, found: &mut Vec<Diagnostic>) {
    let mut first: FxHashMap<&str, Def<'db>> = FxHashMap::default();
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
                match first.get(name) {
                    Some(&other) => {
                        let there = other.name_range(db) + other.start(db);
                        found.push(
                            Diagnostic::new(
                                Code::DuplicateDefinition,
                                range,
                                format!("duplicate definition of `{name}`"),
                            )
                            .related(there, "first defined here"),
                        );
                    }
                    None => {
                        first.insert(name, def);
                    }
                }
            }
            DefKind::Metadata => {
                if metadata.is_some() {
                    found.push(Diagnostic::new(
                        Code::DuplicateDefinition,
                        TextRange::at(def.start(db), 11.into()),
                        "a module has at most one metadata section",
                    ));
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
                let name = constructor.name.clone();
                if let Some(&there) = constructors.get(&name) {
                    let message = format!("duplicate constructor `{name}`");
                    found.push(
                        Diagnostic::new(Code::DuplicateConstructor, range, message)
                            .related(there, "first defined here"),
                    );
                } else {
                    constructors.insert(name, range);
                }
            }
        }
    }
    let (Some(def), Some(section)) = (metadata, queries::metadata(db, module)) else { return };
    match section.error() {
        None => constants::check(db, module, def, &section, found),
        Some(error) => found.push(
            Diagnostic::new(
                Code::MetadataUnreadable,
                TextRange::at(def.start(db), 11.into()),
                "cannot read the metadata section",
            )
            .help(format!("its JSON is invalid: {error}")),
        ),
    }
}

/// Reports the problems of a type definition, with ranges from its start.
pub(super) fn check_type<'db>(db: &'db dyn Db, def: Def<'db>, found: &mut Vec<Diagnostic>) {
    let Some(type_def) = queries::type_def(db, def) else { return };
    let Some(module) = module(db, def.file(db), def.module(db)) else { return };
    let types = queries::module_types(db, module);
    for type_use in &type_def.uses {
        check_type_use(db, &types, type_use, type_def.range(type_use.range), found);
    }
    for problem in &type_def.problems {
        found.push(text::of_kind(type_def.range(problem.range), "", &problem.kind));
    }
    if type_def.adt.is_extern && !type_def.adt.constructors.is_empty() {
        found.push(Diagnostic::new(
            Code::ExternConstructors,
            def.name_range(db),
            "an external type has no constructors",
        ));
    }
}

/// Reports a type name that is not defined, or has the wrong number of arguments.
fn check_type_use(
    db: &dyn Db,
    types: &crate::module::ModuleTypes,
    type_use: &TypeUse,
    range: TextRange,
    found: &mut Vec<Diagnostic>,
) {
    let name = &type_use.name;
    if rules::is_printed_type(db, name) {
        return;
    }
    let what = match type_use.expected {
        Kind::Type => None,
        Kind::Shape => {
            Some(("shape", format!("write a shape as `(2, 3)`, or declare it: `<{name} : Shape>`")))
        }
        _ => Some((
            "size",
            format!("write an unknown size as `?`, or declare it: `<{name} : ShapeVar>`"),
        )),
    };
    if let Some((what, help)) = what {
        let message = format!("there is no {what} `{name}` here");
        found.push(Diagnostic::new(Code::UnknownType, range, message).help(help));
        return;
    }
    let Some(adt) = types.adt(name) else {
        let message = format!("there is no type `{name}`");
        found.push(
            Diagnostic::new(Code::UnknownType, range, message)
                .help(format!("define it: `type {name} {{ … }}`"))
                .or_similar(name, range, &[Among::Types]),
        );
        return;
    };
    let expected = adt.params.len();
    if expected != type_use.args {
        let list: Vec<&str> = adt.params.iter().map(|p| p.name().as_str()).collect();
        found.push(
            Diagnostic::new(
                Code::TypeArguments,
                range,
                format!(
                    "`{name}` expects {}, found {}",
                    text::count(expected, "type argument"),
                    type_use.args
                ),
            )
            .help(format!("write `{name}[{}]`", list.join(", "))),
        );
    }
}

/// Reports unknown types in a body. Returns one diagnostic for each name of an unbound variable.
pub(super) fn check_def(view: &Checked<'_, '_>, found: &mut Vec<Diagnostic>) -> Vec<Diagnostic> {
    for number in view.scopes.units_with(UnitFeatures::TYPE_USE) {
        for type_use in &view.unit(number).type_uses {
            let range = view.place(number, type_use.range);
            check_type_use(view.db, &view.types, type_use, range, found);
        }
    }
    let mut unknown: Vec<Diagnostic> = Vec::new();
    let mut known: FxHashMap<&Name, usize> = FxHashMap::default();
    for &(number, free) in &view.scopes.unknown {
        let free_name = &view.unit(number).frees[free.index()];
        match known.get(&free_name.name) {
            Some(&first) => {
                let first = &mut unknown[first];
                if first.related.len() < MAX_USES {
                    let place = view.place(number, free_name.range);
                    first.related.push(Related {
                        range: place,
                        message: "and here".to_owned(),
                        role: Role::Detail,
                    });
                }
            }
            None => {
                known.insert(&free_name.name, unknown.len());
                let suggest = unknown.len() < MAX_SUGGESTED;
                unknown.push(unknown_variable(view, number, free, suggest));
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
pub(super) fn unbound(unknown: Vec<Diagnostic>, found: &mut Vec<Diagnostic>) {
    let is_binder =
        |d: &Diagnostic| matches!(d.code, Code::InvalidBinder | Code::DuplicateParameter);
    let binders: Vec<usize> = (0..found.len()).filter(|&at| is_binder(&found[at])).collect();
    if unknown.len() > binders.len() {
        found.extend(unknown);
        return;
    }
    for (at, unknown) in binders.into_iter().zip(unknown) {
        let message = format!("{}: was this meant?", unknown.message);
        found[at].related.push(Related { range: unknown.range, message, role: Role::Detail });
    }
}

fn unknown_variable(view: &View<'_>, number: UnitId, free: FreeId, suggest: bool) -> Diagnostic {
    let unit = view.unit(number);
    let name = &unit.frees[free.index()].name;
    let range = view.place(number, unit.frees[free.index()].range);
    let graph = name.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    let kind = if graph { "graph variable" } else { "variable" };
    let mut diagnostic =
        Diagnostic::new(Code::UnknownVariable, range, format!("there is no {kind} `{name}` here"));
    if !suggest {
        return diagnostic;
    }
    // A later binding, or one in an inner block that has ended.
    let bit = name_bit(name);
    let mut similar_units = view.body.units().filter(|(_, u)| u.name_summary & bit != 0);
    let later = similar_units.find_map(|(other, unit)| {
        let binder = unit.binders.iter().find(|binder| binder.name.as_str() == name.as_str())?;
        Some(view.place(other, binder.range))
    });
    if let Some(there) = later {
        let message = format!("`{name}` is bound here, out of scope");
        return diagnostic.related(there, message);
    }
    // `%a/` is a name that includes the slash.
    let trimmed = name.trim_end_matches('/');
    if trimmed != name && visible(view, number).any(|known| known == trimmed) {
        diagnostic =
            diagnostic.help(format!("`/` is part of the name; put a space after `{trimmed}`"));
        // A division needs a right operand.
        let is_operand = view.root().token_from(range.end()).is_some_and(|next| {
            !next.kind().is_fixed() || matches!(next.kind(), T!["("] | T!["-"] | T!["{"])
        });
        return match is_operand {
            true => diagnostic.fix("Put a space before the `/`", [(range, format!("{trimmed} /"))]),
            false => diagnostic,
        };
    }
    if let Some(near) = similar::nearest(name, visible(view, number)) {
        return diagnostic
            .help(format!("did you mean `{near}`?"))
            .fix(format!("Change to `{near}`"), [(range, near.to_owned())]);
    }
    // The right name with the wrong sigil.
    let bare = &name[1..];
    if queries::global(view.db, view.module, &format!("@{bare}")).is_some() {
        return diagnostic
            .help(format!("`@{bare}` is a global"))
            .fix(format!("Change to `@{bare}`"), [(range, format!("@{bare}"))]);
    }
    diagnostic
}

/// Returns the names of the variables bound before a unit and inside it. A name that is bound again
/// occurs again.
fn visible<'v>(view: &'v View<'_>, number: UnitId) -> impl Iterator<Item = &'v str> {
    let (header, statements) = match &view.body.units[..number.index()] {
        [header, statements @ ..] => (Some(header), statements),
        [] => (None, &[][..]),
    };
    let params = header.into_iter().flat_map(|unit| {
        let params = unit.header().into_iter().flat_map(|header| &header.params);
        params.map(|&binder| unit.binder(binder))
    });
    let before = statements.iter().filter_map(|unit| Some(unit.binder(unit.binds?)));
    let names = params.chain(before).chain(&view.unit(number).binders);
    names.map(|binder| binder.name.as_str())
}

/// Returns the diagnostic for an unknown operator or constructor.
pub(super) fn unknown_name(view: &Checked<'_, '_>, range: TextRange, name: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::UnknownName,
        range,
        format!("there is no operator or constructor `{name}`"),
    );
    let change = |diagnostic: Diagnostic, to: String, help: String| {
        diagnostic.help(help).fix(format!("Change to `{to}`"), [(range, to)])
    };
    if let Some((to, help)) = super::mistakes::name_of_other_languages(name) {
        let diagnostic = diagnostic.help(help);
        return match to {
            Some(to) => diagnostic.fix(format!("Change to `{to}`"), [(range, to.to_owned())]),
            None => diagnostic,
        };
    }
    // A missing sigil.
    let global = format!("@{name}");
    if queries::global(view.db, view.module, &global).is_some() {
        let help = format!("`{global}` is a function of this module; it needs its sigil");
        return change(diagnostic, global, help);
    }
    let local = format!("%{name}");
    if view.binds_name(&local) {
        let help = format!("`{local}` is a variable here; it needs its sigil");
        return change(diagnostic, local, help);
    }
    diagnostic.or_similar(name, range, &[Among::Constructors, Among::Operators])
}

/// Returns the diagnostic for a global that the module does not define.
pub(super) fn unknown_global(view: &Checked<'_, '_>, range: TextRange, name: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::new(Code::UnknownGlobal, range, format!("the module does not define `{name}`"));
    let diagnostic = diagnostic.or_similar(name, range, &[Among::Globals]);
    let bare = &name[1..];
    let constructor = view.types.constructor(bare).is_some();
    if constructor || operators::find(bare).is_some() {
        let what = if constructor { "a constructor" } else { "an operator" };
        return diagnostic
            .help(format!("`{bare}` is {what}, which has no sigil"))
            .fix(format!("Change to `{bare}`"), [(range, bare.to_owned())]);
    }
    diagnostic
}
