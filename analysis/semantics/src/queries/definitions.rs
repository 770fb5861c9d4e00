//! The queries before inference: bodies, names, headers, and the modules that they are in.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use types::{PolyType, Type};

use super::{lowered::lowered_body, previous::Results, releases::in_release};
use crate::{
    adt::{Adt, TypeDef},
    body::{Body, Name, Unit},
    db::{Db, Settings, SourceFile},
    item::{Def, DefKind, Module, module, modules},
    lower::lower_type_def,
    module::ModuleTypes,
    previous::Entry,
    scope::{ResolvedBody, Scopes},
};

/// The body of a definition. White space and comments in it do not change it.
#[salsa::tracked(returns(clone))]
pub fn body<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Body> {
    in_release(db, def, lowered_body(db, def))
}

/// The header of a definition. What depends on it alone is not computed again when the body changes.
#[salsa::tracked(returns(clone))]
pub(super) fn header<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Unit> {
    // It has no calls.
    lowered_body(db, def).units[0].clone()
}

/// The body of a definition and its resolved names.
#[salsa::tracked(returns(clone))]
pub(super) fn named<'db>(db: &'db dyn Db, def: Def<'db>) -> ResolvedBody {
    let results = Results::of(db, def);
    let named =
        ResolvedBody::new(body(db, def), results.earlier(|earlier| earlier.named.clone()).as_ref());
    results.record(Entry { named: Some(named.clone()), ..Entry::default() });
    named
}

/// The resolved names of a definition's units. What depends on them alone is not computed again when
/// other parts of the body change.
#[salsa::tracked(returns(clone))]
pub fn scopes<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Scopes> {
    named(db, def).scopes().clone()
}

/// A type definition.
#[salsa::tracked(returns(clone))]
pub fn type_def<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Arc<TypeDef>> {
    lower_type_def(def.node(db)).map(Arc::new)
}

/// The prelude without its tensor arrays.
pub fn prelude(db: &dyn Db) -> Option<Module<'_>> {
    module(db, *Settings::get(db).prelude_files(db).first()?, 0)
}

/// Returns the module of the prelude that defines `name`, if it is not the module itself.
fn prelude_of<'db>(db: &'db dyn Db, file: SourceFile, name: &str) -> Option<Module<'db>> {
    let files = Settings::get(db).prelude_files(db);
    let behind = *files.get(crate::prelude::file_of(name))?;
    (behind != file).then(|| module(db, behind, 0)).flatten()
}

/// The data types that a module sees: its own, then the prelude's.
#[salsa::tracked(returns(clone))]
pub fn module_types<'db>(db: &'db dyn Db, module: Module<'db>) -> Arc<ModuleTypes> {
    let files = Settings::get(db).prelude_files(db);
    let mut types = ModuleTypes::over_prelude(files.first().is_some_and(|f| *f != module.file(db)));
    let from_prelude = module.file(db).is_prelude(db);
    for &def in module.items(db) {
        if def.kind(db) == DefKind::Type
            && let Some(def) = type_def(db, def)
        {
            types.add(Adt { from_prelude, ..def.adt.clone() });
        }
    }
    Arc::new(types)
}

/// The functions that a module defines, by name: their positions among its items.
#[salsa::tracked(returns(ref))]
pub fn module_scope<'db>(db: &'db dyn Db, module: Module<'db>) -> FxHashMap<Name, u32> {
    positions(db, module, &[DefKind::Fn, DefKind::Tir])
}

/// Returns the first item of some kinds with each name, by its position.
fn positions<'db>(db: &'db dyn Db, module: Module<'db>, kinds: &[DefKind]) -> FxHashMap<Name, u32> {
    let mut first = FxHashMap::default();
    for (position, def) in (0..).zip(module.items(db)) {
        if kinds.contains(&def.kind(db)) {
            first.entry(def.name(db).clone()).or_insert(position);
        }
    }
    first
}

/// Returns the function `name` of a module itself, without the prelude.
fn own_global<'db>(db: &'db dyn Db, module: Module<'db>, name: &str) -> Option<Def<'db>> {
    let position = *module_scope(db, module).get(name)?;
    module.items(db).get(position as usize).copied()
}

/// Resolves a global. Returns its definition, and true if that is in the prelude.
pub fn global<'db>(db: &'db dyn Db, module: Module<'db>, name: &str) -> Option<(Def<'db>, bool)> {
    if let Some(def) = own_global(db, module, name) {
        return Some((def, false));
    }
    let found = own_global(db, prelude_of(db, module.file(db), name)?, name)?;
    // `@map` of the prelude takes a `List` of the prelude, not one of the module.
    let fits =
        signature(db, found).is_none_or(|ty| module_types(db, module).redefines_prelude(&ty));
    fits.then_some((found, true))
}

/// Resolves a data type. Returns its definition, and true if that is in the prelude.
pub fn data_type<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    name: &str,
) -> Option<(Def<'db>, bool)> {
    let own = |module: Module<'db>| {
        let position = *type_scope(db, module).get(name)?;
        module.items(db).get(position as usize).copied()
    };
    if let Some(def) = own(module) {
        return Some((def, module.file(db).is_prelude(db)));
    }
    own(prelude_of(db, module.file(db), name)?).map(|def| (def, true))
}

/// Returns true if the type of a definition may have constraints that its signature does not show:
/// those of shape, size and data type parameters, and of a `where` clause.
fn has_rules(header: &crate::body::Function) -> bool {
    let is_part = |param: &types::Param| param.kind() != types::Kind::Type;
    !header.relations.is_empty() || header.type_params.iter().any(is_part)
}

/// The type that other definitions see, if it is independent of the body.
#[salsa::tracked(returns(clone))]
pub(crate) fn closed_signature<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Type> {
    signature(db, def).filter(|_| !header(db, def).header().is_some_and(has_rules))
}

/// The type of a definition by its header, if the header is complete.
#[salsa::tracked(returns(clone))]
pub fn signature<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Type> {
    let unit = header(db, def);
    let header = unit.header()?;
    let params = header.params.iter().map(|&binder| unit.binder(binder).annotation.clone());
    let params: Option<Vec<Type>> = params.map(|ty| ty.filter(Type::is_closed)).collect();
    let func = Type::func(params?, header.ret.clone().filter(Type::is_closed)?);
    Some(PolyType::close(&header.type_params, Vec::new(), &func))
}

/// Returns true if all parameters of a definition are annotated, so that its result follows from its body.
/// The result of `def @f<s : Shape>(%x: Tensor[s, float32])` may follow from its calls only.
pub(crate) fn has_typed_params<'db>(db: &'db dyn Db, def: Def<'db>) -> bool {
    let unit = header(db, def);
    unit.header().is_none_or(|header| {
        !has_rules(header)
            && (header.ret.is_some() || header.type_params.is_empty())
            && header
                .params
                .iter()
                .all(|&binder| unit.binder(binder).annotation.as_ref().is_some_and(Type::is_closed))
    })
}

/// The globals that a definition uses.
#[salsa::tracked(returns(ref))]
pub(crate) fn global_uses<'db>(db: &'db dyn Db, def: Def<'db>) -> Vec<Name> {
    scopes(db, def).globals.clone()
}

/// The users of each global in a module: their positions among its items, in order.
#[salsa::tracked(returns(ref))]
fn users<'db>(db: &'db dyn Db, module: Module<'db>) -> FxHashMap<Name, Vec<u32>> {
    let mut users: FxHashMap<Name, Vec<u32>> = FxHashMap::default();
    for (position, &def) in module.items(db).iter().enumerate() {
        if def.kind(db).has_body() {
            for name in global_uses(db, def) {
                users.entry(name.clone()).or_default().push(position as u32);
            }
        }
    }
    users
}

/// Returns the users of a global in a module, in order.
pub fn users_of<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    name: &str,
) -> impl Iterator<Item = Def<'db>> {
    let positions = users(db, module).get(name).into_iter().flatten();
    positions.filter_map(move |&position| module.items(db).get(position as usize).copied())
}

/// The data types that a module defines, by name: their positions among its items.
#[salsa::tracked(returns(ref))]
fn type_scope<'db>(db: &'db dyn Db, module: Module<'db>) -> FxHashMap<Name, u32> {
    positions(db, module, &[DefKind::Type])
}

/// Returns the type of a global, as far as its header gives it.
pub(super) fn written_type<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Type> {
    let unit = header(db, def);
    let header = unit.header()?;
    let params = header.params.iter().map(|&binder| unit.binder(binder).annotation.clone());
    let params = params.map(|ty| ty.unwrap_or(Type::Hole));
    let func = Type::func(params, header.ret.clone().unwrap_or(Type::Hole));
    Some(PolyType::close(&header.type_params, Vec::new(), &func))
}

/// True if a definition uses globals with incomplete headers.
#[salsa::tracked(returns(copy))]
pub(crate) fn uses_open_globals<'db>(db: &'db dyn Db, def: Def<'db>) -> bool {
    let Some(module) = module(db, def.file(db), def.module(db)) else { return false };
    global_uses(db, def).iter().any(|name| is_open_global(db, module, name))
}

/// Returns true if a module's own definition of `name` has an incomplete header.
pub(crate) fn is_open_global<'db>(db: &'db dyn Db, module: Module<'db>, name: &str) -> bool {
    own_global(db, module, name).is_some_and(|def| signature(db, def).is_none())
}

/// Returns the definitions of a file, module by module.
pub fn all_defs<'db>(db: &'db dyn Db, file: SourceFile) -> impl Iterator<Item = Def<'db>> {
    modules(db, file).iter().flat_map(move |module| module.items(db).iter().copied())
}
